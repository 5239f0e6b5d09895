//! All anomalous patterns of a history, not only the first: what C4 and Plume report.
//!
//! Patterns are those of causal consistency: faulty reads, cycles of session and write-read order, and for each read of `x` from `t1` the visible
//! writers `t2` of `x` that `t1` precedes, be it causally or in the version order that all reads together demand. The rules
//! are those of C4's Algorithm 2 with its gaps closed: `t1`, `t2` and the reader are different; a pair that is causally ordered
//! is reported as such and not once more by version order.
//!
//! Output-sensitive: along a session, visible writers that `t1` precedes are the last ones, so the search ends at the first that is not.

use isonomy_history::{Event, FaultKind, History, Key, ReadFault, TxnId, Value, Writer};
use rustc_hash::FxHashMap;

use crate::anomaly::Anomaly;
use crate::chains::{Chains, NONE};
use crate::verdict::Party;

/// The most numbers of clocks: four gibibytes.
const MOST_CLOCKS: usize = 1 << 30;

/// All patterns found, in groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patterns {
    /// One for each kind, in the order of the table of anomalies.
    pub groups: Vec<Group>,
    /// Whether stale reads were left out, because there are too many sessions to keep track of what each has seen.
    pub partial: bool,
}

/// The instances of one pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// What it is called here.
    pub anomaly: Anomaly,
    /// Its letter among the twelve patterns of C4, if it has one.
    pub c4: Option<char>,
    /// Its letter among the fourteen patterns of Plume, if it has one.
    pub plume: Option<char>,
    /// How many there are.
    pub count: u64,
    /// The first of them.
    pub instances: Vec<Instance>,
}

/// A pattern at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instance {
    /// A read that is wrong by itself.
    Read(ReadFault),
    /// Transactions that precede each other.
    Cycle(Vec<TxnId>),
    /// `reader` read `key` from `stale`, although it saw `missed`, which replaced that version.
    Stale {
        /// The key.
        key: Key,
        /// Whose version was read.
        stale: Party,
        /// Whose version was missed.
        missed: TxnId,
        /// Who read.
        reader: TxnId,
    },
}

impl Patterns {
    fn add(&mut self, kind: (Anomaly, Option<char>, Option<char>), most: usize, instance: impl FnOnce() -> Instance) {
        let of = |group: &Group| (group.anomaly, group.c4, group.plume);
        let index = self.groups.iter().position(|group| of(group) == kind).unwrap_or_else(|| {
            let (anomaly, c4, plume) = kind;
            self.groups.push(Group { anomaly, c4, plume, count: 0, instances: Vec::new() });
            self.groups.len() - 1
        });
        let group = &mut self.groups[index];
        group.count += 1;
        if group.instances.len() < most {
            group.instances.push(instance());
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }
}

/// Finds all patterns; keeps at most `most` instances of each.
pub fn all_anomalies(history: &History, session_order: bool, most: usize) -> Patterns {
    let mut patterns = Patterns::default();
    let faults = history.derived().faults();
    for fault in faults {
        patterns.add(fault_letters(fault.kind), most, || Instance::Read(*fault));
    }
    for faults in faults.chunk_by(|a, b| a.txn == b.txn) {
        for fault in not_repeatable_after_write(history, faults[0].txn) {
            patterns.add(fault_letters(fault.kind), most, || Instance::Read(fault));
        }
    }
    let mut search = Search::new(history, session_order);
    search.cycles(&mut patterns, most);
    if search.find_clocks() {
        search.stale_reads(&mut patterns, most);
    } else {
        patterns.partial = true;
    }
    patterns.groups.sort_by_key(|group| (group.anomaly, group.c4, group.plume));
    patterns
}

/// Reads that differ from the read of the key before them, with no write in between, after the transaction wrote the key. One of
/// the two is not its own write; faults say only that.
fn not_repeatable_after_write(history: &History, txn: TxnId) -> Vec<ReadFault> {
    let mut found = Vec::new();
    // For each key written so far, what was read since.
    let mut since: FxHashMap<Key, Option<Value>> = FxHashMap::default();
    for (event, what) in history.event_ids(txn).zip(history.events(txn)) {
        match what {
            Event::Write(value)
            | Event::Insert(value)
            | Event::Delete(value)
            | Event::CompareAndSet { new: value, succeeded: true, .. } => {
                since.insert(history.key_of(value), None);
            }
            Event::Read(value) => {
                let key = history.key_of(value);
                let Some(last) = since.get_mut(&key) else { continue };
                let last = last.replace(value);
                if last.is_some_and(|last| last != value) {
                    found.push(ReadFault { txn, event, key, value: Some(value), kind: FaultKind::NonRepeatable });
                }
            }
            _ => {}
        }
    }
    found
}

fn fault_letters(kind: FaultKind) -> (Anomaly, Option<char>, Option<char>) {
    let (c4, plume) = match kind {
        FaultKind::ThinAir => (Some('a'), Some('a')),
        FaultKind::Aborted => (Some('b'), Some('b')),
        FaultKind::Future => (Some('c'), Some('c')),
        FaultKind::NotMyOwnWrite => (Some('d'), Some('d')),
        FaultKind::NotMyLastWrite => (None, Some('e')),
        FaultKind::Intermediate => (Some('e'), Some('f')),
        FaultKind::NonRepeatable => (Some('f'), Some('j')),
        FaultKind::DuplicateElement | FaultKind::IncompatibleOrder(_) => (None, None),
    };
    (Anomaly::of_fault(kind), c4, plume)
}

struct Search<'h> {
    history: &'h History,
    chains: Chains,
    /// Faulty reads show that their writer was visible, too: pairs of reader and writer, sorted.
    shown: Vec<(u32, u32)>,
    /// The strongly connected component of each transaction under session and write-read order.
    causal: Components,
    /// For each component, how many transactions of each chain precede or are in it.
    clocks: Vec<u32>,
}

impl<'h> Search<'h> {
    fn new(history: &'h History, session_order: bool) -> Self {
        let derived = history.derived();
        let chains = Chains::of(history, session_order);
        let mut shown: Vec<(u32, u32)> = derived
            .faults()
            .iter()
            .filter(|fault| matches!(fault.kind, FaultKind::NotMyOwnWrite | FaultKind::Intermediate))
            .filter_map(|fault| match derived.writer(fault.value?) {
                Writer::Txn(writer) if derived.counts(writer) && writer != fault.txn => Some((fault.txn.0, writer.0)),
                _ => None,
            })
            .collect();
        shown.sort_unstable();
        shown.dedup();
        let mut search = Search { history, chains, shown, causal: Components::default(), clocks: Vec::new() };
        search.causal = components(history, |txn, visit| search.sources(txn, visit));
        search
    }

    /// The transactions that directly precede one: its session's last and those it reads from.
    fn sources(&self, txn: u32, visit: &mut dyn FnMut(u32)) {
        let previous = self.chains.previous[txn as usize];
        if previous != NONE {
            visit(previous);
        }
        for from in self.history.derived().reads(TxnId(txn)).iter().filter_map(|read| read.from()) {
            visit(from.0);
        }
        let first = self.shown.partition_point(|&(reader, _)| reader < txn);
        for &(_, writer) in self.shown[first..].iter().take_while(|&&(reader, _)| reader == txn) {
            visit(writer);
        }
    }

    /// Finds the clocks. Whether there is room for them.
    fn find_clocks(&mut self) -> bool {
        let width = self.chains.count;
        if width.saturating_mul(self.causal.members.len()) > MOST_CLOCKS {
            return false;
        }
        let mut clocks = vec![0u32; self.causal.members.len() * width];
        // Components are numbered so that those that precede come first.
        for (component, members) in self.causal.members.iter().enumerate() {
            let (before, rest) = clocks.split_at_mut(component * width);
            let clock = &mut rest[..width];
            for &txn in members {
                self.sources(txn, &mut |source| {
                    let from = self.causal.of[source as usize] as usize;
                    if from != component {
                        for (mine, theirs) in clock.iter_mut().zip(&before[from * width..][..width]) {
                            *mine = (*mine).max(*theirs);
                        }
                    }
                });
                let own = &mut clock[self.chains.chain[txn as usize] as usize];
                *own = (*own).max(self.chains.position[txn as usize] + 1);
            }
        }
        self.clocks = clocks;
        true
    }

    /// Whether one transaction happens before another.
    fn precedes(&self, before: TxnId, after: TxnId) -> bool {
        let component = self.causal.of[after.index()] as usize;
        let known = self.clocks[component * self.chains.count + self.chains.chain[before.index()] as usize];
        before != after && known > self.chains.position[before.index()]
    }

    fn cycles(&self, patterns: &mut Patterns, most: usize) {
        for members in self.causal.members.iter().filter(|members| members.len() > 1) {
            let letters = (Anomaly::CyclicInformationFlow, Some('g'), Some('g'));
            patterns.add(letters, most, || Instance::Cycle(members.iter().copied().map(TxnId).collect()));
        }
    }

    /// The visible writers of a key in each chain, latest first.
    fn visible_writers(&self, reader: TxnId, key: Key, mut visit: impl FnMut(&mut dyn Iterator<Item = TxnId>)) {
        let mut writers = self.history.derived().writers(key);
        let visible = |writer: &TxnId| *writer != reader && self.precedes(*writer, reader);
        while let Some(&first) = writers.first() {
            let chain = self.chains.chain[first.index()];
            let same = |writer: &TxnId| self.chains.are_sessions && self.chains.chain[writer.index()] == chain;
            let end = writers.partition_point(same).max(1);
            visit(&mut writers[..end].iter().rev().copied().filter(visible));
            writers = &writers[end..];
        }
    }

    fn stale_reads(&self, patterns: &mut Patterns, most: usize) {
        let derived = self.history.derived();
        let mut edges: Vec<(u32, u32)> = derived.version_edges().iter().map(|e| (e.after.0, e.before.0)).collect();
        self.each_read(|reader, key, from| {
            let Some(from) = from else { return };
            self.visible_writers(reader, key, |writers| {
                for last in writers.filter(|&writer| writer != from).take(1) {
                    edges.push((from.0, last.0));
                }
            });
        });
        edges.sort_unstable();
        edges.dedup();
        let arbitration = components(self.history, |txn, visit| {
            self.sources(txn, visit);
            let first = edges.partition_point(|&(head, _)| head < txn);
            for &(_, tail) in edges[first..].iter().take_while(|&&(head, _)| head == txn) {
                visit(tail);
            }
        });
        self.each_read(|reader, key, stale| {
            self.visible_writers(reader, key, |writers| {
                for missed in writers {
                    let causally = match stale {
                        None => true,
                        Some(stale) if stale == missed => continue,
                        Some(stale) => self.precedes(stale, missed),
                    };
                    let ordered = |stale: TxnId| arbitration.of[stale.index()] == arbitration.of[missed.index()];
                    if !causally && !stale.is_some_and(ordered) {
                        break;
                    }
                    let letters = self.letters(reader, key, stale, missed, causally);
                    patterns.add(letters, most, || Instance::Stale { key, stale, missed, reader });
                }
            });
        });
    }

    fn each_read(&self, mut visit: impl FnMut(TxnId, Key, Party)) {
        let derived = self.history.derived();
        for reader in self.history.transactions().filter(|&txn| derived.counts(txn)) {
            let reads = derived.reads(reader);
            for (at, read) in reads.iter().enumerate() {
                // A version that is read again is one observation.
                if let Some(key) = read.key()
                    && !reads[..at].contains(read)
                {
                    visit(reader, key, read.from());
                }
            }
        }
    }

    fn letters(
        &self,
        reader: TxnId,
        key: Key,
        stale: Party,
        missed: TxnId,
        causally: bool,
    ) -> (Anomaly, Option<char>, Option<char>) {
        let reads = self.history.derived().reads(reader);
        let direct = |read: &&isonomy_history::ExternalRead| read.from() == Some(missed) && read.key() != Some(key);
        let through_read = reads.iter().any(|read| direct(&read));
        let at = reads.iter().rposition(|read| read.key() == Some(key) && read.from() == stale).unwrap_or(0);
        let at = reads[..=at].iter().rposition(|read| !read.is_same_event()).unwrap_or(0);
        let before = reads[..at].iter().any(|read| direct(&read));
        let session = self.chains.are_sessions
            && missed < reader
            && self.chains.chain[missed.index()] == self.chains.chain[reader.index()];
        let c4 = match (stale, through_read, causally) {
            (None, _, _) => 'j',
            (_, true, true) => 'h',
            (_, true, false) => 'i',
            (_, false, true) => 'k',
            (_, false, false) => 'l',
        };
        let (anomaly, plume) = match (before, through_read, session) {
            (true, _, _) => (Anomaly::NonMonotonicRead, ['h', 'i']),
            (_, true, _) => (Anomaly::FracturedRead, ['k', 'l']),
            (_, _, true) => (Anomaly::SessionGuaranteeViolation, ['k', 'l']),
            _ => (Anomaly::CausalityViolation, ['m', 'n']),
        };
        let anomaly = if causally { anomaly } else { Anomaly::VersionOrderConflict };
        (anomaly, Some(c4), Some(plume[usize::from(!causally)]))
    }
}

/// Strongly connected components, numbered so that those that precede come first.
#[derive(Default)]
struct Components {
    of: Vec<u32>,
    members: Vec<Vec<u32>>,
}

/// Tarjan's algorithm on the graph of predecessors, without recursion.
fn components(history: &History, predecessors: impl Fn(u32, &mut dyn FnMut(u32))) -> Components {
    let transactions = history.transaction_count();
    let mut components = Components { of: vec![NONE; transactions], members: Vec::new() };
    let mut index = vec![NONE; transactions];
    let mut low = vec![0u32; transactions];
    let mut next_index = 0;
    let mut path = Vec::new();
    // A transaction, and its predecessors that are still to be visited.
    let mut stack: Vec<(u32, Vec<u32>)> = Vec::new();
    for root in history.transactions().filter(|&txn| history.derived().counts(txn)) {
        let mut entered = (index[root.index()] == NONE).then_some(root.0);
        loop {
            if let Some(txn) = entered.take() {
                index[txn as usize] = next_index;
                low[txn as usize] = next_index;
                next_index += 1;
                path.push(txn);
                let mut before = Vec::new();
                predecessors(txn, &mut |p| before.push(p));
                stack.push((txn, before));
            }
            let Some((txn, before)) = stack.last_mut() else { break };
            let txn = *txn;
            if let Some(p) = before.pop() {
                if index[p as usize] == NONE {
                    entered = Some(p);
                } else if components.of[p as usize] == NONE {
                    low[txn as usize] = low[txn as usize].min(index[p as usize]);
                }
                continue;
            }
            stack.pop();
            if let Some(&(parent, _)) = stack.last() {
                low[parent as usize] = low[parent as usize].min(low[txn as usize]);
            }
            if low[txn as usize] == index[txn as usize] {
                let first = path.iter().rposition(|&t| t == txn).expect("it is on the path");
                let members = path.split_off(first);
                for &member in &members {
                    components.of[member as usize] = components.members.len() as u32;
                }
                components.members.push(members);
            }
        }
    }
    components
}
