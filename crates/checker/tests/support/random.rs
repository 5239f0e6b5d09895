//! Random histories, from a seed.
//!
//! A toy store runs transactions of several sessions in turns. How it answers a read is drawn once for each history, from
//! serial to causal with stale snapshots, and now and then an answer is wrong: so that at every level a good part of the
//! histories hold and a good part do not.

use isonomy_history::{Datum, History, HistoryBuilder, InitialRule, Name, NamedEvent, Outcome, Times};

/// SplitMix64: small, seeded, good enough.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(crate) fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// What random histories are like. Numbers are the most; each history draws its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) sessions: usize,
    pub(crate) transactions: usize,
    /// Events of a transaction.
    pub(crate) events: usize,
    pub(crate) registers: usize,
    pub(crate) lists: usize,
    /// Whether there are inserts, deletes, ranges and compare-and-sets, besides reads and writes.
    pub(crate) rich: bool,
    /// Whether some transactions abort or stay indeterminate.
    pub(crate) outcomes: bool,
    pub(crate) times: bool,
}

impl Shape {
    /// Of everything some.
    pub(crate) const MIXED: Shape = Shape {
        sessions: 4,
        transactions: 8,
        events: 4,
        registers: 3,
        lists: 2,
        rich: true,
        outcomes: true,
        times: true,
    };
    /// Registers, reads and writes only, all committed.
    pub(crate) const PLAIN: Shape = Shape { lists: 0, rich: false, outcomes: false, ..Shape::MIXED };
    /// Lists only.
    pub(crate) const LISTS: Shape = Shape { registers: 0, rich: false, ..Shape::MIXED };
    /// One event of one register in each transaction.
    pub(crate) const SINGLE_OBJECT: Shape = Shape { events: 1, registers: 2, lists: 0, ..Shape::MIXED };
}

const REGISTERS: [i64; 4] = [10, 20, 30, 40];
const LISTS: [&str; 3] = ["l", "m", "n"];

/// How the store answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// One transaction after another.
    Serial,
    /// Each read sees all that is committed.
    Latest,
    /// All reads see what was committed at the begin; of two concurrent writers of a key the second aborts.
    Snapshot,
    /// The same without the aborts.
    LooseSnapshot,
    /// All reads see a prefix of the commits, with those of the session.
    OldSnapshot,
    /// All reads see some commits, with all that those saw and those of the session.
    Causal,
    /// All reads see the session's commits and any others.
    Atomic,
    /// Each read sees any commits.
    Any,
}

/// One committed or aborted transaction's last word on a key.
#[derive(Clone, Debug)]
struct Version {
    key: usize,
    values: Vec<i64>,
}

struct Running {
    session: usize,
    outcome: Outcome,
    times: Times,
    steps_left: usize,
    /// The commits it sees, by number.
    sees: Vec<bool>,
    /// Its own writes, in order: the key, the value, and whether it is a tombstone.
    own: Vec<(usize, i64, bool)>,
    events: Vec<NamedEvent<'static>>,
}

struct Store {
    rng: Rng,
    shape: Shape,
    mode: Mode,
    noise: usize,
    /// The chance that a session goes on after a step, in percent: the more, the less do transactions overlap.
    patience: usize,
    rule: InitialRule,
    registers: usize,
    lists: usize,
    next_value: i64,
    now: i64,
    /// For each commit what it wrote, what it saw, and its session.
    commits: Vec<(Vec<Version>, Vec<bool>, usize)>,
    /// All values ever written to each key, for noise.
    written: Vec<Vec<i64>>,
}

/// The history of this seed.
pub(crate) fn random_history(shape: &Shape, seed: u64) -> History {
    let mut rng = Rng::new(seed);
    let modes = [
        Mode::Serial,
        Mode::Latest,
        Mode::Snapshot,
        Mode::Snapshot,
        Mode::Snapshot,
        Mode::LooseSnapshot,
        Mode::OldSnapshot,
        Mode::OldSnapshot,
        Mode::Causal,
        Mode::Causal,
        Mode::Atomic,
        Mode::Atomic,
        Mode::Any,
    ];
    let rules = [InitialRule::Declared(0), InitialRule::UnlessWritten(0), InitialRule::Unwritten];
    let registers = if shape.registers == 0 { 0 } else { 1 + rng.below(shape.registers) };
    let lists = if registers == 0 { 1 + rng.below(shape.lists) } else { rng.below(shape.lists + 1) };
    let store = Store {
        mode: *rng.pick(&modes),
        noise: *rng.pick(&[0, 0, 0, 0, 3, 10, 25]),
        patience: *rng.pick(&[0, 50, 80, 95]),
        rule: if rng.percent(70) { InitialRule::Absent } else { *rng.pick(&rules) },
        shape: *shape,
        registers,
        lists,
        next_value: 1,
        now: 0,
        commits: Vec::new(),
        written: vec![Vec::new(); registers + lists],
        rng,
    };
    store.run()
}

impl Store {
    fn run(mut self) -> History {
        let sessions = 1 + self.rng.below(self.shape.sessions).max(self.rng.below(self.shape.sessions));
        let mut left = 1 + self.rng.below(self.shape.transactions).max(self.rng.below(self.shape.transactions));
        let mut running: Vec<Option<Running>> = (0..sessions).map(|_| None).collect();
        let mut done = Vec::new();
        let mut session = 0;
        while left > 0 || running.iter().any(Option::is_some) {
            let stay = self.mode == Mode::Serial || self.rng.percent(self.patience);
            if !stay || running[session].is_none() {
                session = self.rng.below(sessions);
            }
            self.now += self.rng.below(4) as i64;
            match running[session].take() {
                None if left == 0 => {}
                None => {
                    left -= 1;
                    running[session] = Some(self.begin(session));
                }
                Some(mut txn) if txn.steps_left > 0 => {
                    self.step(&mut txn);
                    running[session] = Some(txn);
                }
                Some(txn) => done.push(self.end(txn)),
            }
        }
        self.build(done)
    }

    fn begin(&mut self, session: usize) -> Running {
        let steps_left = 1 + self.rng.below(self.shape.events).max(self.rng.below(self.shape.events));
        let times = Times { start: Some(self.now), ..Times::default() };
        let sees = self.visible(session);
        let outcome = Outcome::Committed;
        Running { session, outcome, times, steps_left, sees, own: Vec::new(), events: Vec::new() }
    }

    fn visible(&mut self, session: usize) -> Vec<bool> {
        let count = self.commits.len();
        let last_own = self.commits.iter().rposition(|commit| commit.2 == session).map_or(0, |own| own + 1);
        match self.mode {
            Mode::Serial | Mode::Latest | Mode::Snapshot | Mode::LooseSnapshot => vec![true; count],
            Mode::OldSnapshot => {
                let upto = last_own + self.rng.below(count - last_own + 1);
                (0..count).map(|commit| commit < upto).collect()
            }
            Mode::Any => (0..count).map(|_| self.rng.percent(60)).collect(),
            Mode::Causal | Mode::Atomic => {
                let mut sees: Vec<bool> =
                    (0..count).map(|commit| self.commits[commit].2 == session || self.rng.percent(30)).collect();
                if self.mode == Mode::Causal {
                    // Later commits saw earlier ones only, so that one pass backwards is enough.
                    for commit in (0..count).rev() {
                        if sees[commit] {
                            for (seen, &also) in sees.iter_mut().zip(&self.commits[commit].1) {
                                *seen |= also;
                            }
                        }
                    }
                }
                sees
            }
        }
    }

    fn step(&mut self, txn: &mut Running) {
        txn.steps_left -= 1;
        if matches!(self.mode, Mode::Latest | Mode::Any) {
            txn.sees = self.visible(txn.session);
        }
        let key = self.rng.below(self.registers + self.lists);
        let event = if key >= self.registers {
            let name = Name::Text(LISTS[key - self.registers]);
            if self.rng.percent(50) {
                NamedEvent::Append(name, Datum::Int(self.write(txn, key, false)))
            } else {
                NamedEvent::ReadList(name, self.list(txn, key).into_iter().map(Datum::Int).collect())
            }
        } else {
            let name = Name::Int(REGISTERS[key]);
            match self.rng.below(if self.shape.rich { 100 } else { 60 }) {
                0..35 => NamedEvent::Read(name, self.value(txn, key)),
                35..60 => NamedEvent::Write(name, Datum::Int(self.write(txn, key, false))),
                60..67 => NamedEvent::Insert(name, Datum::Int(self.write(txn, key, false))),
                67..74 => NamedEvent::Delete(name, Datum::Int(self.write(txn, key, true))),
                74..90 if self.shape.events > 1 => self.range(txn),
                _ => self.compare_and_set(txn, key),
            }
        };
        txn.events.push(event);
        if txn.times.began.is_none() {
            txn.times.began = Some(self.now);
        }
    }

    fn write(&mut self, txn: &mut Running, key: usize, tombstone: bool) -> i64 {
        let mut value = self.next_value;
        self.next_value += 1;
        let rule_allows = matches!(self.rule, InitialRule::UnlessWritten(0)) && key < self.registers;
        if rule_allows && self.written[key].is_empty() && self.rng.percent(20) {
            value = 0;
        }
        self.written[key].push(value);
        txn.own.push((key, value, tombstone));
        value
    }

    fn seen_versions<'s>(&'s self, txn: &'s Running, key: usize) -> impl Iterator<Item = &'s Version> {
        let commits = self.commits.iter().zip(&txn.sees).filter(|(_, sees)| **sees);
        commits.flat_map(|(commit, _)| &commit.0).filter(move |version| version.key == key)
    }

    fn list(&mut self, txn: &Running, key: usize) -> Vec<i64> {
        let mut list: Vec<i64> = self.seen_versions(txn, key).flat_map(|version| version.values.clone()).collect();
        list.extend(txn.own.iter().filter(|own| own.0 == key).map(|own| own.1));
        if self.rng.percent(self.noise) {
            match self.rng.below(5) {
                0 => _ = list.pop(),
                1 if !list.is_empty() => _ = list.remove(self.rng.below(list.len())),
                2 if list.len() > 1 => {
                    let at = self.rng.below(list.len() - 1);
                    list.swap(at, at + 1);
                }
                3 => {
                    let at = self.rng.below(list.len() + 1);
                    list.truncate(at);
                }
                _ if !self.written[key].is_empty() => list.push(*self.rng.pick(&self.written[key])),
                _ => {}
            }
        }
        list
    }

    fn initial(&mut self, key: usize) -> Datum<'static> {
        match self.rule {
            InitialRule::Absent => Datum::Initial,
            InitialRule::Declared(initial) | InitialRule::UnlessWritten(initial) => {
                if self.rng.percent(50) {
                    Datum::Initial
                } else {
                    Datum::Int(initial)
                }
            }
            InitialRule::Unwritten => {
                if self.rng.percent(self.noise) {
                    Datum::Int(2000)
                } else {
                    Datum::Int(1000 + key as i64)
                }
            }
        }
    }

    /// What a register holds for the transaction, now and then something else.
    fn value(&mut self, txn: &Running, key: usize) -> Datum<'static> {
        if self.rng.percent(self.noise) {
            if self.rng.percent(5) {
                return Datum::Int(777);
            }
            if !self.written[key].is_empty() && self.rng.percent(75) {
                return Datum::Int(*self.rng.pick(&self.written[key]));
            }
            return self.initial(key);
        }
        let own = txn.own.iter().rfind(|own| own.0 == key).map(|own| own.1);
        let seen = self.seen_versions(txn, key).last().map(|version| version.values[version.values.len() - 1]);
        match own.or(seen) {
            Some(value) => Datum::Int(value),
            None => self.initial(key),
        }
    }

    fn range(&mut self, txn: &Running) -> NamedEvent<'static> {
        let (a, b) = (self.rng.below(self.registers), self.rng.below(self.registers));
        let (lo, hi) = (a.min(b), a.max(b));
        let mut rows = Vec::new();
        for (key, &name) in REGISTERS.iter().enumerate().take(hi + 1).skip(lo) {
            let deleted = txn.own.iter().rfind(|own| own.0 == key).is_some_and(|own| own.2);
            let value = self.value(txn, key);
            let initial = match (self.rule, value) {
                (_, Datum::Initial) => true,
                (InitialRule::Declared(i) | InitialRule::UnlessWritten(i), Datum::Int(value)) => i == value,
                (InitialRule::Unwritten, Datum::Int(value)) => value >= 1000,
                _ => false,
            };
            let left_out = (initial && self.rng.percent(80)) || (deleted && self.rng.percent(50));
            if !left_out && !self.rng.percent(self.noise / 2) {
                rows.push((Name::Int(name), value));
            }
        }
        NamedEvent::Range { lo: Name::Int(REGISTERS[lo] - 1), hi: Name::Int(REGISTERS[hi]), rows }
    }

    fn compare_and_set(&mut self, txn: &mut Running, key: usize) -> NamedEvent<'static> {
        let succeeded = self.rng.percent(70);
        let expected = if succeeded || self.written[key].is_empty() {
            self.value(txn, key)
        } else {
            Datum::Int(*self.rng.pick(&self.written[key]))
        };
        let new = if succeeded {
            self.write(txn, key, false)
        } else {
            self.next_value += 1;
            self.next_value - 1
        };
        NamedEvent::CompareAndSet { key: Name::Int(REGISTERS[key]), expected, new: Datum::Int(new), succeeded }
    }

    fn end(&mut self, mut txn: Running) -> Running {
        txn.times.committing = Some(self.now);
        self.now += self.rng.below(3) as i64;
        txn.times.finish = Some(self.now);
        let mut versions: Vec<Version> = Vec::new();
        for &(key, value, _) in &txn.own {
            match versions.iter_mut().find(|version| version.key == key) {
                Some(version) => version.values.push(value),
                None => versions.push(Version { key, values: vec![value] }),
            }
        }
        let unseen = |commit: &usize| !txn.sees.get(*commit).is_some_and(|&sees| sees);
        let conflict = (0..self.commits.len()).filter(unseen).any(|commit| {
            self.commits[commit].0.iter().any(|theirs| versions.iter().any(|ours| ours.key == theirs.key))
        });
        if self.mode == Mode::Snapshot && conflict || self.shape.outcomes && self.rng.percent(8) {
            txn.outcome = Outcome::Aborted;
        }
        let commits = txn.outcome == Outcome::Committed;
        if self.shape.outcomes && self.rng.percent(12) {
            txn.outcome = Outcome::Indeterminate;
            txn.times.finish = None;
            if self.rng.percent(50) {
                txn.times.committing = None;
            }
        }
        if commits {
            let mut sees = txn.sees.clone();
            sees.resize(self.commits.len(), false);
            self.commits.push((versions, sees, txn.session));
        }
        txn
    }

    fn build(mut self, done: Vec<Running>) -> History {
        let mut builder = HistoryBuilder::new();
        builder.set_initial(self.rule);
        let inner_bounds = self.rng.percent(40);
        let wrong_clocks = self.rng.percent(15);
        let gaps = self.rng.percent(5);
        for txn in done {
            builder.begin(Name::Int(txn.session as i64));
            builder.set_outcome(txn.outcome);
            let shift = if wrong_clocks { self.rng.below(7) as i64 - 3 } else { 0 };
            let mut times = txn.times;
            if !inner_bounds || self.rng.percent(10) {
                (times.began, times.committing) = (None, None);
            }
            if gaps && self.rng.percent(20) {
                times = Times::default();
            }
            let moved = |time: Option<i64>| time.map(|time| time + shift);
            if self.shape.times {
                builder.set_times(Times {
                    start: moved(times.start),
                    began: moved(times.began),
                    committing: moved(times.committing),
                    finish: moved(times.finish),
                });
            }
            txn.events.iter().for_each(|event| builder.event(event));
        }
        builder.finish().expect("values are unique, and rows lie in their ranges")
    }
}
