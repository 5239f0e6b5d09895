//! What all sessions share: keys and their versions, the order of commits, and what happened so far.

use isonomy_history::{Datum, NamedEvent, Outcome, Record, Sink, Times};
use isonomy_workload::{Rng, StoreLevel};

use crate::committed::Committed;
use crate::draw;
use crate::keys::{KeyId, ValueId, Version};
use crate::open::{Event, Open, Snapshot};
use crate::options::{Choice, Options};
use crate::order::{Node, Past, UNFROZEN};
use crate::replay::{Cue, Ended, ReadChoice, Script};
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
struct Done {
    session: u32,
    number: u32,
    level: StoreLevel,
    committed: bool,
    start: i64,
    finish: i64,
    events: Box<[Event]>,
}

pub(crate) struct State<V> {
    pub(crate) options: Options,
    committed: Committed,
    values: Vec<Option<V>>,
    /// Which transaction a node is.
    transactions: Vec<u32>,
    clients: Vec<Client>,
    chains: u32,
    /// Everybody has seen what is below this position.
    settled: u32,
    done: Vec<Done>,
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
                let (version, allowed) = match &mut open.snapshot {
                    Snapshot::Weak(_) => self.read_weak(open, id),
                    Snapshot::Strong(_) => self.read_strong(open, id)?,
                };
                self.note_read(open, id, version);
                (version, allowed)
            }
        };
        let stale = self.committed.key(id).newest() != version;
        self.counts.reads += 1;
        self.counts.stale += u64::from(stale);
        open.reads += 1;
        open.events.push(Event::Read { key: id, version, allowed: allowed as u32, stale });
        Ok(version.and_then(|version| self.values[version.value as usize].clone()))
    }

    /// Sets what a key holds.
    pub(crate) fn write(&mut self, open: &mut Open, name: &str, value: Option<V>) -> Result<(), Stale> {
        let id = self.committed.keys.id(name);
        if let Snapshot::Strong(_) = open.snapshot {
            self.catch_up(open);
            let Snapshot::Strong(strong) = &mut open.snapshot else { unreachable!("just tested") };
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
    pub(crate) fn commit(&mut self, open: Open) -> Result<(), Stale> {
        let mut open = open;
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

    /// Tells all transactions that have ended.
    pub(crate) fn write_history(&self, sink: &mut dyn Sink) -> std::io::Result<()> {
        let mut texts = Vec::new();
        for done in &self.done {
            sink.take(&self.record(done, &mut texts))?;
        }
        sink.end()
    }

    /// The choices of all transactions that have ended.
    pub(crate) fn run(&self) -> Vec<Ended> {
        self.done.iter().map(|done| self.ended(done)).collect()
    }

    fn read_weak(&mut self, open: &mut Open, id: KeyId) -> (Option<Version>, usize) {
        let Snapshot::Weak(weak) = &mut open.snapshot else { unreachable!("asked for such a snapshot") };
        let mut allowed = weak.allowed(id, &open.past, &self.committed);
        let count = allowed.len();
        let cue = cue(self.script.as_ref(), open.session, open.number, open.reads, &self.committed.key(id).name);
        if let Some(Cue::From(from)) = cue {
            let version = from.and_then(|from| self.version_from(id, from));
            let Snapshot::Weak(weak) = &mut open.snapshot else { unreachable!("as above") };
            if from.is_some() == version.is_some() && admit(weak, id, version, &open.past, &mut self.committed) {
                return (version, count);
            }
        }
        let choice = match cue {
            Some(Cue::Newest) => Choice::Newest,
            Some(_) => {
                self.counts.strayed += 1;
                Choice::Newest
            }
            None => open.choice,
        };
        let Snapshot::Weak(weak) = &mut open.snapshot else { unreachable!("as above") };
        if self.chooser.is_none() || cue.is_some() {
            let mut rng = rng_of(&self.options, open.session, open.number, open.reads);
            let (transactions, done) = (&self.transactions, &self.done);
            let session_of = |version: Version| done[transactions[version.node as usize] as usize].session;
            let mut attempt = 0;
            while let Some(version) =
                draw::draw(choice, self.committed.key(id), &mut allowed, attempt, &mut rng, session_of)
            {
                if admit(weak, id, version, &open.past, &mut self.committed) {
                    return (version, count);
                }
                if attempt == 0 && choice != Choice::Latest {
                    weak.find_limits(&self.committed);
                    allowed = weak.allowed(id, &open.past, &self.committed);
                }
                attempt += 1;
            }
        }
        let key = self.committed.key(id);
        let allowed = weak.allowed(id, &open.past, &self.committed);
        let mut admitted = Vec::new();
        for version in draw::all(key, &allowed) {
            let demands = weak.demands(id, version.map(|version| version.node), &open.past, &self.committed);
            if let Some(added) = demands.and_then(|edges| self.committed.order.add(&edges).ok()) {
                self.committed.order.take_back(added);
                admitted.push(version);
            }
        }
        let chosen = match (&mut self.chooser, admitted.len()) {
            (_, 0) => unreachable!("the last version in sight is always allowed"),
            (_, 1) => 0,
            (Some(chooser), count) if cue.is_none() => chooser.choose(count),
            (_, count) => rng_of(&self.options, open.session, open.number, open.reads).below(count as u64) as usize,
        };
        let count = admitted.len();
        let admitted = admit(weak, id, admitted[chosen], &open.past, &mut self.committed).then_some(admitted[chosen]);
        (admitted.expect("it was admitted a moment ago"), count)
    }

    fn read_strong(&mut self, open: &mut Open, id: KeyId) -> Result<(Option<Version>, usize), Stale> {
        self.catch_up(open);
        let Snapshot::Strong(strong) = &mut open.snapshot else { unreachable!("asked for such a snapshot") };
        let key = self.committed.key(id);
        let mut allowed = strong.allowed(id, &self.committed)?;
        let count = allowed.len();
        let cue = cue(self.script.as_ref(), open.session, open.number, open.reads, &key.name);
        let scripted = match cue {
            Some(Cue::From(None)) if allowed.initial => Some(None),
            Some(Cue::From(Some(from))) => {
                let version = self.version_from(id, from);
                version.filter(|_| draw::all(key, &allowed).contains(&version)).map(Some)
            }
            _ => None,
        };
        if matches!(cue, Some(Cue::From(_) | Cue::Unknown)) && scripted.is_none() {
            self.counts.strayed += 1;
        }
        let version = match (scripted, &mut self.chooser) {
            (Some(version), _) => version,
            (None, Some(chooser)) if cue.is_none() => {
                let all = draw::all(key, &allowed);
                if let [only] = all[..] { only } else { all[chooser.choose(all.len())] }
            }
            (None, _) => {
                let choice = if cue.is_some() { Choice::Newest } else { open.choice };
                let mut rng = rng_of(&self.options, open.session, open.number, open.reads);
                let (transactions, done) = (&self.transactions, &self.done);
                let session_of = |version: Version| done[transactions[version.node as usize] as usize].session;
                draw::draw(choice, key, &mut allowed, 0, &mut rng, session_of).expect("a prefix has some version")
            }
        };
        strong.read(id, version.map(|version| version.node), &self.committed);
        Ok((version, count))
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
        if !matches!(open.snapshot, Snapshot::Strong(_)) {
            return Ok(());
        }
        self.catch_up(open);
        let writes = open.final_writes();
        let Snapshot::Strong(strong) = &mut open.snapshot else { unreachable!("just tested") };
        for (key, _) in &writes {
            strong.write(*key, &self.committed)?;
        }
        strong.commit(!writes.is_empty(), &self.committed.order)
    }

    fn catch_up(&mut self, open: &mut Open) {
        self.freeze(true);
        if let Snapshot::Strong(strong) = &mut open.snapshot {
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

    fn version_from(&self, id: KeyId, (session, number): (u32, u32)) -> Option<Version> {
        let versions = self.committed.key(id).chains().iter().flat_map(|(_, versions)| versions);
        let mut versions = versions.copied();
        versions.find(|version| self.source(*version) == (session, number))
    }

    /// The session and number of the transaction that wrote a version.
    fn source(&self, version: Version) -> (u32, u32) {
        let done = &self.done[self.transactions[version.node as usize] as usize];
        (done.session, done.number)
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

    /// A transaction as part of a history. Values are told apart by their number, because applications write the same ones again.
    fn record<'r>(&'r self, done: &Done, texts: &'r mut Vec<String>) -> Record<'r> {
        texts.clear();
        for event in &done.events {
            if let Some(value) = event.value() {
                texts.push(format!("{}#{value}", self.text(value).as_deref().unwrap_or("null")));
            }
        }
        let mut texts = texts.iter();
        let mut datum = |value: Option<ValueId>| match value {
            Some(_) => Datum::Text(texts.next().expect("each value has a text")),
            None => Datum::Initial,
        };
        let events = done.events.iter().map(|event| {
            let key = self.committed.key(event.key()).name.as_ref().into();
            match event {
                Event::Wrote(..) => NamedEvent::Write(key, datum(event.value())),
                Event::Own(..) | Event::Read { .. } => NamedEvent::Read(key, datum(event.value())),
            }
        });
        let outcome = if done.committed { Outcome::Committed } else { Outcome::Aborted };
        let times = Times { start: Some(done.start), finish: Some(done.finish), ..Times::default() };
        Record { session: done.session.into(), outcome, times, events: events.collect() }
    }

    fn ended(&self, done: &Done) -> Ended {
        let reads = done.events.iter().filter_map(|event| match *event {
            Event::Read { key, version, allowed, stale } => Some(ReadChoice {
                key: self.committed.key(key).name.to_string(),
                value: version.and_then(|version| self.text(version.value)),
                from: version.map(|version| self.source(version)),
                allowed: u64::from(allowed),
                stale,
            }),
            _ => None,
        });
        let (session, number, committed) = (done.session, done.number, done.committed);
        Ended { session, number, level: done.level.name().into(), committed, reads: reads.collect() }
    }

    fn text(&self, value: ValueId) -> Option<String> {
        self.values[value as usize].as_ref().map(ToString::to_string)
    }
}

/// Whether a read may return a version: if so, it is noted.
fn admit(weak: &mut Weak, id: KeyId, version: Option<Version>, past: &Past, committed: &mut Committed) -> bool {
    let node = version.map(|version| version.node);
    let demands = weak.demands(id, node, past, committed);
    let Some(added) = demands.and_then(|edges| committed.order.add(&edges).ok()) else { return false };
    if added.is_news() {
        weak.find_limits(committed);
    }
    weak.read(id, node, committed);
    true
}

fn cue(script: Option<&Script>, session: u32, number: u32, read: u32, key: &str) -> Option<Cue> {
    script.map(|script| script.cue(session, number, read as usize, key))
}

/// What a read draws depends on who reads, not on who came before.
fn rng_of(options: &Options, session: u32, number: u32, read: u32) -> Rng {
    let place = (u64::from(session) << 48) ^ (u64::from(number) << 20) ^ u64::from(read);
    Rng::stream(options.seed, place ^ (1 << 63))
}
