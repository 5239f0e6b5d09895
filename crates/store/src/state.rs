//! What all sessions share: keys and their versions, the order of commits, and what happened so far.

use isonomy_history::Record;
use isonomy_workload::{Rng, StoreLevel};

use crate::choose::ReadPlace;
use crate::committed::Committed;
use crate::keys::{KeyId, ValueId, Version};
use crate::open::{Event, Open, Snapshot};
use crate::options::{Choice, Options};
use crate::order::{Node, Past, UNFROZEN};
use crate::replay::{Ended, Script};
use crate::strong::{Stale, Strong};
use crate::weak::{Sight, Weak};

/// Decides what reads return, instead of chance.
pub trait Chooser: Send {
    /// One of so many values, at least two; 0 is the one that was committed last.
    fn choose(&mut self, allowed: usize) -> usize;
}

/// Is told of every transaction when it has ended.
pub type Listener = Box<dyn FnMut(&Record<'_>, &Ended) + Send>;

/// What happened in a store so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Sessions that have begun a transaction.
    pub sessions: u32,
    /// Transactions that committed.
    pub committed: u64,
    /// Transactions that did not.
    pub aborted: u64,
    /// Reads of what others wrote, and of the initial state.
    pub reads: u64,
    /// Reads that returned something although something newer was committed.
    pub stale: u64,
    /// Reads that a script did not foresee, and turns that it foresaw and that did not come.
    pub strayed: u64,
}

/// What a session has done so far.
#[derive(Debug, Default)]
struct Client {
    past: Past,
    /// What its next transaction comes right after.
    predecessors: Vec<Node>,
    /// All below this position was seen or done.
    seen: u32,
    chain: u32,
    begun: u32,
}

#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) session: u32,
    pub(crate) number: u32,
    pub(crate) level: StoreLevel,
    pub(crate) committed: bool,
    pub(crate) start: i64,
    pub(crate) finish: i64,
    pub(crate) events: Box<[Event]>,
}

pub(crate) struct State<V> {
    pub(crate) options: Options,
    pub(crate) committed: Committed,
    pub(crate) values: Vec<Option<V>>,
    /// Which transaction a node is.
    pub(crate) transactions: Vec<u32>,
    clients: Vec<Client>,
    chains: u32,
    /// Everybody has seen what is below this position.
    settled: u32,
    pub(crate) done: Vec<Done>,
    pub(crate) counts: Counts,
    clock: i64,
    rng: Rng,
    pub(crate) chooser: Option<Box<dyn Chooser>>,
    pub(crate) script: Option<Script>,
    pub(crate) listener: Option<Listener>,
}

impl<V: Clone + std::fmt::Display> State<V> {
    pub(crate) fn new(options: Options) -> Self {
        let rng = Rng::stream(options.seed, 12);
        State {
            options,
            committed: Committed::default(),
            values: Vec::new(),
            transactions: Vec::new(),
            clients: Vec::new(),
            chains: 0,
            settled: 0,
            done: Vec::new(),
            counts: Counts::default(),
            clock: 0,
            rng,
            chooser: None,
            script: None,
            listener: None,
        }
    }

    /// Makes all that is committed part of what every session sees.
    pub(crate) fn settle(&mut self) {
        self.freeze(true);
        self.settled = self.committed.order.frozen();
    }

    /// How many commits a session that begins now has seen, if new sessions see what was committed before.
    pub(crate) fn seen_by_newcomers(&mut self) -> u32 {
        if self.options.fresh_sessions {
            self.freeze(true);
            self.committed.order.frozen()
        } else {
            0
        }
    }

    /// A new session that has seen so many commits. Sessions are numbered from 1.
    pub(crate) fn enter(&mut self, seen: u32) -> u32 {
        let past = Past { settled: seen, ..Past::default() };
        self.clients.push(Client { past, seen, chain: self.chains, ..Client::default() });
        self.chains += 1;
        self.counts.sessions += 1;
        self.clients.len() as u32
    }

    pub(crate) fn begin(&mut self, session: u32, level: StoreLevel, choice: Choice) -> Open {
        let settled = self.settled;
        let start = self.tick();
        let session_order = self.options.session_order;
        let client = &mut self.clients[session as usize - 1];
        client.begun += 1;
        let number = client.begun;
        client.past.settled = client.past.settled.max(settled);
        let mut past = Past { settled: client.past.settled, ..Past::default() };
        if session_order {
            past.clone_from(&client.past);
        }
        let chain = session_order.then_some(client.chain);
        let sight = match level {
            StoreLevel::ReadCommitted => Some(Sight::ReadCommitted),
            StoreLevel::ReadAtomic => Some(Sight::ReadAtomic),
            StoreLevel::Causal => Some(Sight::Causal),
            _ => None,
        };
        let snapshot = match sight {
            Some(sight) => Snapshot::Weak(Weak::new(sight, chain, past.settled)),
            None => {
                self.freeze(true);
                self.forget_frozen(session);
                let seen = if session_order { self.clients[session as usize - 1].seen } else { 0 };
                Snapshot::Strong(Strong::new(level, seen.max(past.settled), &self.committed.order))
            }
        };
        Open::new(session, number, level, choice, start, past, snapshot)
    }

    /// What a key holds.
    pub(crate) fn read(&mut self, open: &mut Open, name: &str) -> Result<Option<V>, Stale> {
        let id = self.committed.keys.id(name);
        if let Some(own) = open.own(id) {
            open.events.push(Event::Own(id, own));
            return Ok(self.values[own as usize].clone());
        }
        let (version, allowed) = match open.known.get(&id) {
            Some(&known) => (known, 1),
            None => {
                self.catch_up(open);
                let place = ReadPlace { session: open.session, number: open.number, read: open.reads };
                let (version, allowed) = match &mut open.snapshot {
                    Snapshot::Weak(weak) => self.read_weak(weak, &open.past, open.choice, place, id),
                    Snapshot::Strong(strong) => self.read_strong(strong, open.choice, place, id)?,
                };
                self.note_read(open, id, version);
                (version, allowed)
            }
        };
        let newest = self.committed.key(id).newest().filter(|newest| Some(*newest) != version);
        self.counts.reads += 1;
        self.counts.stale += u64::from(newest.is_some());
        open.reads += 1;
        open.events.push(Event::Read { key: id, version, allowed: allowed as u32, newest });
        Ok(version.and_then(|version| self.values[version.value as usize].clone()))
    }

    /// Sets what a key holds.
    pub(crate) fn write(&mut self, open: &mut Open, name: &str, value: Option<V>) -> Result<(), Stale> {
        let id = self.committed.keys.id(name);
        self.catch_up(open);
        if let Snapshot::Strong(strong) = &mut open.snapshot {
            strong.write(id, &self.committed)?;
        }
        self.values.push(value);
        open.write(id, self.values.len() as ValueId - 1);
        Ok(())
    }

    /// What was committed last at a key.
    pub(crate) fn newest(&self, name: &str) -> Option<V> {
        let version = self.committed.key(self.committed.keys.find(name)?).newest()?;
        self.values[version.value as usize].clone()
    }

    /// Commits, if the level allows it.
    pub(crate) fn commit(&mut self, mut open: Open) -> Result<(), Stale> {
        if let Err(stale) = self.decide(&mut open) {
            self.end(open, false);
            return Err(stale);
        }
        let at = open.session as usize - 1;
        let writes = open.final_writes();
        let session_order = self.options.session_order;
        if let Snapshot::Strong(strong) = &open.snapshot
            && session_order
        {
            self.clients[at].seen = self.clients[at].seen.max(strong.low());
        }
        if session_order {
            self.clients[at].predecessors.append(&mut open.sources);
            self.forget_frozen(open.session);
            self.clients[at].past.clone_from(&open.past);
        }
        if !writes.is_empty() {
            let is_strong = matches!(open.snapshot, Snapshot::Strong(_));
            let chain = if session_order {
                self.clients[at].chain
            } else {
                self.chains += 1;
                self.chains - 1
            };
            let predecessors = if session_order { &self.clients[at].predecessors } else { &open.sources };
            let node = self.committed.add(chain, open.past.clone(), predecessors, &writes);
            self.transactions.push(self.done.len() as u32);
            if session_order {
                let client = &mut self.clients[at];
                client.past.clock.raise(chain, node + 1);
                client.predecessors.clear();
                client.predecessors.push(node);
            }
            if is_strong || self.committed.order.is_crowded() {
                self.freeze(is_strong);
            }
        }
        self.end(open, true);
        Ok(())
    }

    /// Gives a transaction up.
    pub(crate) fn rollback(&mut self, open: Open) {
        self.end(open, false);
    }

    fn note_read(&mut self, open: &mut Open, id: KeyId, version: Option<Version>) {
        if let Some(Version { node, .. }) = version {
            open.past.join(self.committed.order.past(node));
            open.past.clock.raise(self.committed.order.chain(node), node + 1);
            if open.sources.last() != Some(&node) {
                open.sources.push(node);
            }
        }
        let repeats = match &open.snapshot {
            Snapshot::Weak(weak) => weak.repeats(),
            Snapshot::Strong(_) => true,
        };
        if repeats {
            open.known.insert(id, version);
        }
    }

    /// Whether a transaction may commit.
    fn decide(&mut self, open: &mut Open) -> Result<(), Stale> {
        self.catch_up(open);
        let writes = open.final_writes();
        if let Snapshot::Strong(strong) = &mut open.snapshot {
            for &(key, _) in &writes {
                strong.write(key, &self.committed)?;
            }
            strong.commit(!writes.is_empty(), &self.committed.order)?;
        }
        Ok(())
    }

    /// Tells a snapshot that is a prefix of the commits how many there are.
    fn catch_up(&mut self, open: &mut Open) {
        if let Snapshot::Strong(strong) = &mut open.snapshot {
            self.committed.freeze(true, &mut self.rng);
            strong.catch_up(&self.committed);
        }
    }

    fn freeze(&mut self, all: bool) {
        self.committed.freeze(all, &mut self.rng);
    }

    /// What has a position comes before all that follows; it need not be named.
    fn forget_frozen(&mut self, session: u32) {
        let client = &mut self.clients[session as usize - 1];
        let (order, seen) = (&self.committed.order, &mut client.seen);
        client.predecessors.retain(|&node| match order.position(node) {
            UNFROZEN => true,
            position => {
                *seen = (*seen).max(position + 1);
                false
            }
        });
        client.predecessors.sort_unstable();
        client.predecessors.dedup();
    }

    fn end(&mut self, open: Open, committed: bool) {
        let finish = self.tick();
        let Open { session, number, level, start, events, .. } = open;
        self.counts.committed += u64::from(committed);
        self.counts.aborted += u64::from(!committed);
        self.done.push(Done { session, number, level, committed, start, finish, events: events.into() });
        if let Some(mut listener) = self.listener.take() {
            let done = self.done.last().expect("just pushed");
            listener(&self.record(done, &mut Vec::new()), &self.ended(done));
            self.listener = Some(listener);
        }
    }

    fn tick(&mut self) -> i64 {
        self.clock += 1;
        self.clock
    }
}
