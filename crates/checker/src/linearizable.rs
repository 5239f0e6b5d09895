//! Linearizability: strict serializability of each object by itself, where every transaction is one operation.
//!
//! What was read puts the operations of an object into *blocks*: a write, the reads of its version, the compare-and-set that replaced it,
//! the reads of that version, and so on. Nothing else that has a version can come inside a block. So each block has to agree with real time
//! by itself, from its end to its beginning (Wei et al., ICDE 2025, whose lightweight transactions make one block); and blocks have to be
//! put in a row. One must come before another if any operation of it finished before any of the other started. If two must come before each
//! other, there is no such row, and else there is (Gibbons and Korach 1997): sorted by the sum of the earliest finish and the latest
//! start, for if `finish(a) < start(b)` and not `finish(b) < start(a)`, the sum of `a` is smaller. Linear, but for the sorting.
//!
//! Only where sessions overlap in time does their order say more than the clocks, and the general engine is asked.

use isonomy_history::{Event, History, Key, TxnId};

use crate::anomaly::Anomaly;
use crate::chains::{NONE, continues_session};
use crate::check::{Options, Stage};
use crate::lists::Lists;
use crate::polygraph::{Answer, Outcome, Question, times_of};
use crate::verdict::{Counterexample, Reason, Verdict, Witness};

/// For each key the transactions that are one operation on it; `None` if some are not of one operation on one register.
pub(crate) fn objects(history: &History) -> Option<Lists> {
    let derived = history.derived();
    let mut object_of = vec![NONE; history.transaction_count()];
    for txn in history.transactions().filter(|&txn| derived.counts(txn)) {
        object_of[txn.index()] = object(history, txn)?.0;
    }
    Some(Lists::new(history.key_count(), |add| {
        for (txn, &object) in object_of.iter().enumerate().filter(|&(_, &object)| object != NONE) {
            add(object, txn as u32);
        }
    }))
}

/// The key of a transaction that is one operation on one register.
fn object(history: &History, txn: TxnId) -> Option<Key> {
    let mut events = history.events(txn);
    let (event, None) = (events.next()?, events.next()) else { return None };
    match event {
        Event::Read(value) | Event::Write(value) | Event::Insert(value) | Event::Delete(value) => {
            Some(history.key_of(value))
        }
        Event::CompareAndSet { new, .. } => Some(history.key_of(new)),
        Event::Append(_) | Event::ReadList { .. } | Event::Range { .. } => None,
    }
}

/// Decides each object by itself. Reads are not wrong by themselves.
pub(crate) fn check(history: &History, objects: &Lists, session_order: bool, options: &Options<'_>) -> Verdict {
    (options.stage)(Stage::Determine);
    let violated = |core: Vec<TxnId>| {
        let question = Question::of_object(history, core.clone(), session_order, options.clock_drift);
        Verdict::Violated(named(question.explain(core, options)))
    };
    let mut registers = match Registers::new(history, options.clock_drift) {
        Ok(registers) => registers,
        Err(lost) => return violated(lost),
    };
    let mut order = Vec::with_capacity(history.derived().count());
    for key in 0..history.key_count() as u32 {
        let txns = objects.of(key);
        if (options.stop)() {
            return Verdict::Undecided(Reason::Stopped);
        }
        let row = if options.ablation.guess { registers.row(Key(key), txns, session_order) } else { Row::Open };
        match row {
            Row::Order(found) => order.extend(found.into_iter().map(TxnId)),
            Row::Violated(core) => return violated(core),
            Row::Open => match by_engine(history, txns, session_order, options) {
                Outcome::Order(found) => order.extend(found),
                Outcome::Stopped => return Verdict::Undecided(Reason::Stopped),
                Outcome::Violated(core) => return violated(core),
            },
        }
    }
    Verdict::Holds(Witness { order })
}

/// Decides an object as any history.
fn by_engine(history: &History, txns: &[u32], session_order: bool, options: &Options<'_>) -> Outcome {
    let finish = |txn: &u32| history.times(TxnId(*txn)).finish.unwrap_or(i64::MAX);
    let mut likely = txns.to_vec();
    likely.sort_by_key(finish);
    let all = txns.iter().map(|&txn| TxnId(txn)).collect();
    let question = Question::of_object(history, all, session_order, options.clock_drift);
    if !options.ablation.guess {
        match question.by_constraints(options) {
            Answer::Order(order) => return Outcome::Order(order),
            Answer::Stopped => return Outcome::Stopped,
            Answer::Violated => {}
        }
    }
    (options.stage)(Stage::Solve);
    question.if_determined().unwrap_or_else(|| question.decide(&likely, true, options))
}

/// Of one object there is no other story: who read too old a version read it too late, unless an update was lost.
fn named(counterexample: Counterexample) -> Counterexample {
    let anomaly = match counterexample.anomaly {
        Anomaly::LostUpdate => Anomaly::LostUpdate,
        _ => Anomaly::RealTimeViolation,
    };
    Counterexample { anomaly, ..counterexample }
}

/// How the operations of an object can be put in a row.
enum Row {
    Order(Vec<u32>),
    /// These cannot.
    Violated(Vec<TxnId>),
    /// Times alone do not tell.
    Open,
}

/// What was read of all objects. A version is the transaction that wrote it; after all transactions come the initial versions of all keys.
struct Registers<'h> {
    history: &'h History,
    clock_drift: i64,
    /// For each version the compare-and-set that replaced it, or [`NONE`].
    replaced_by: Vec<u32>,
    /// For each version the reads of it.
    readers: Lists,
    /// When each transaction started at the earliest and finished at the latest.
    times: Vec<(i64, i64)>,
    /// Where each transaction stands in the row of its object: scratch.
    place: Vec<u32>,
}

/// Operations that nothing else can come between.
struct Block {
    /// The initial state is one, and was there before everything.
    has_initial: bool,
    earliest_finish: i128,
    latest_start: i128,
    /// Which operations of the object, as they were collected.
    operations: std::ops::Range<usize>,
}

impl<'h> Registers<'h> {
    /// Fails with two transactions that replaced one version, and its writer.
    fn new(history: &'h History, clock_drift: i64) -> Result<Self, Vec<TxnId>> {
        let derived = history.derived();
        let count = history.transaction_count();
        let mut replaced_by = vec![NONE; count + history.key_count()];
        let version_read = |txn: TxnId| {
            let read = derived.reads(txn).first()?;
            let initial = || count as u32 + read.key().expect("a register was read").0;
            Some(read.from().map_or_else(initial, |from| from.0))
        };
        let counting = || history.transactions().filter(|&txn| derived.counts(txn));
        for txn in counting().filter(|&txn| !derived.writes(txn).is_empty()) {
            let Some(version) = version_read(txn) else { continue };
            let other = std::mem::replace(&mut replaced_by[version as usize], txn.0);
            if other != NONE {
                let writer = ((version as usize) < count).then_some(TxnId(version));
                let mut lost: Vec<TxnId> = [TxnId(other), txn].into_iter().chain(writer).collect();
                lost.sort_unstable();
                return Err(lost);
            }
        }
        let readers = Lists::new(replaced_by.len(), |add| {
            for txn in counting().filter(|&txn| derived.writes(txn).is_empty()) {
                if let Some(version) = version_read(txn) {
                    add(version, txn.0);
                }
            }
        });
        let mut times = vec![(0, 0); count];
        for txn in counting() {
            times[txn.index()] = times_of(history, txn);
        }
        Ok(Registers { history, clock_drift, replaced_by, readers, times, place: vec![0; count] })
    }

    fn start(&self, txn: u32) -> i128 {
        i128::from(self.times[txn as usize].0)
    }

    /// After this moment nothing that starts can come before it.
    fn finish(&self, txn: u32) -> i128 {
        i128::from(self.times[txn as usize].1) + i128::from(self.clock_drift)
    }

    fn row(&mut self, key: Key, txns: &[u32], session_order: bool) -> Row {
        let derived = self.history.derived();
        let mut operations = Vec::with_capacity(txns.len());
        let mut blocks = Vec::new();
        // What failed has no version, and may come inside a block.
        let mut loose = Vec::new();
        let initial = self.replaced_by.len() as u32 - self.history.key_count() as u32 + key.0;
        if !self.readers.of(initial).is_empty() || self.replaced_by[initial as usize] != NONE {
            blocks.push(self.block(initial, &mut operations));
        }
        for &txn in txns {
            match (derived.reads(TxnId(txn)).is_empty(), derived.writes(TxnId(txn)).is_empty()) {
                (true, true) => loose.push(txn),
                (true, false) => blocks.push(self.block(txn, &mut operations)),
                (false, _) => {}
            }
        }
        if operations.len() + loose.len() < txns.len() {
            // Some replaced each other in a circle.
            return Row::Open;
        }
        if let Some(core) = blocks.iter().find_map(|block| self.disagreement(&operations[block.operations.clone()])) {
            return Row::Violated(core);
        }
        blocks.sort_by_key(|block| block.earliest_finish + block.latest_start);
        let mut last = 0;
        for at in 0..blocks.len() {
            if blocks[last].latest_start > blocks[at].earliest_finish && last != at {
                let mut core = self.extremes(&blocks[last], &operations);
                core.extend(self.extremes(&blocks[at], &operations));
                core.sort_unstable();
                return Row::Violated(core);
            }
            if blocks[at].latest_start > blocks[last].latest_start {
                last = at;
            }
        }
        let row = blocks.into_iter().flat_map(|block| operations[block.operations].iter().copied()).collect();
        let row = self.with_loose(row, loose);
        if session_order && !self.keeps_sessions(txns, &row) { Row::Open } else { Row::Order(row) }
    }

    /// Collects the operations of a block, which begins with a version that replaced no other.
    fn block(&self, version: u32, operations: &mut Vec<u32>) -> Block {
        let from = operations.len();
        let has_initial = version as usize >= self.history.transaction_count();
        let mut version = version;
        while version != NONE {
            if (version as usize) < self.history.transaction_count() {
                operations.push(version);
            }
            let reads = operations.len();
            operations.extend(self.readers.of(version));
            operations[reads..].sort_by_key(|&txn| self.start(txn));
            version = self.replaced_by[version as usize];
        }
        let mine = &operations[from..];
        let earliest_finish = mine.iter().map(|&txn| self.finish(txn)).min().expect("a block has operations");
        Block {
            has_initial,
            earliest_finish: if has_initial { i128::from(i64::MIN) * 4 } else { earliest_finish },
            latest_start: mine.iter().map(|&txn| self.start(txn)).max().expect("a block has operations"),
            operations: from..operations.len(),
        }
    }

    /// Operations of a block that cannot be in the order that the block has.
    fn disagreement(&self, block: &[u32]) -> Option<Vec<TxnId>> {
        let mut earliest_finish = i128::MAX;
        for (at, &txn) in block.iter().enumerate().rev() {
            if self.start(txn) > earliest_finish {
                let later = |&other: &u32| self.finish(other) < self.start(txn);
                let until = at + 1 + block[at + 1..].iter().position(later).expect("one finished so early");
                return Some(self.links(block, at, until));
            }
            earliest_finish = earliest_finish.min(self.finish(txn));
        }
        None
    }

    /// The operation of a block that finished first, the one that started last, and what links them.
    fn extremes(&self, block: &Block, operations: &[u32]) -> Vec<TxnId> {
        let operations = &operations[block.operations.clone()];
        let all = 0..operations.len();
        let first = all.clone().min_by_key(|&at| self.finish(operations[at])).expect("a block has operations");
        let last = all.max_by_key(|&at| self.start(operations[at])).expect("a block has operations");
        let first = if block.has_initial { 0 } else { first };
        self.links(operations, first.min(last), first.max(last))
    }

    /// Two operations of a block and what shows that they are in this order, ascending.
    fn links(&self, block: &[u32], first: usize, last: usize) -> Vec<TxnId> {
        let derived = self.history.derived();
        let writes = |txn: &u32| !derived.writes(TxnId(*txn)).is_empty();
        // A read is of what was written last before it.
        let from = block[..=first].iter().rposition(writes);
        let between = from.unwrap_or(0)..last + 1;
        let needed = between.filter(|&at| at == first || at == last || writes(&block[at]));
        let mut txns: Vec<TxnId> = needed.map(|at| TxnId(block[at])).collect();
        txns.sort_unstable();
        txns
    }

    /// Puts operations that have no version where their times allow it. There is such a place: if something before it had started after it
    /// finished, and something after it finished before it started, these two would be in the wrong order.
    fn with_loose(&self, row: Vec<u32>, mut loose: Vec<u32>) -> Vec<u32> {
        if loose.is_empty() {
            return row;
        }
        loose.sort_by_key(|&txn| self.start(txn));
        // From each place on, who finishes first.
        let mut earliest_finish = vec![i128::MAX; row.len() + 1];
        for (at, &txn) in row.iter().enumerate().rev() {
            earliest_finish[at] = earliest_finish[at + 1].min(self.finish(txn));
        }
        let mut all = Vec::with_capacity(row.len() + loose.len());
        let mut loose = loose.into_iter().peekable();
        for (at, txn) in row.into_iter().enumerate() {
            while let Some(early) = loose.next_if(|&early| earliest_finish[at] >= self.start(early)) {
                all.push(early);
            }
            all.push(txn);
        }
        all.extend(loose);
        all
    }

    /// Whether sessions are in order. `txns` are sorted by sessions.
    fn keeps_sessions(&mut self, txns: &[u32], row: &[u32]) -> bool {
        for (at, &txn) in row.iter().enumerate() {
            self.place[txn as usize] = at as u32;
        }
        let continues = continues_session(self.history, txns.iter().map(|&txn| TxnId(txn)));
        let mut last = 0;
        txns.iter().zip(continues).all(|(&txn, continues)| {
            let before = std::mem::replace(&mut last, self.place[txn as usize]);
            !continues || before < last
        })
    }
}
