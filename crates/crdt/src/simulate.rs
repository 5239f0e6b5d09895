//! Replicas that really run: histories that a type allows, and, with a planted bug, histories that it may not allow.
//!
//! Each replica answers queries from what it holds, changes it at once for its own updates, and sends these to all
//! others, which apply them later: after all updates that their origin had applied before (causal delivery). The types
//! are implemented as in practice, with tags, version vectors, Lamport timestamps and tombstones, and know nothing of
//! the definitions by which histories are checked.

mod array;
mod bug;
mod counter;
mod network;
mod random;
mod register;
mod set;

pub use bug::{Bug, UnknownBug};
pub(crate) use random::Random;

use std::collections::VecDeque;

use crate::data_type::DataType;
use crate::history::{History, HistoryBuilder, Label, NamedOperation};
use network::{Network, Received};

/// How many elements an array shows before more are removed than inserted.
const LONG: usize = 200;
/// How many values there are if they are not unique.
const FEW: usize = 3;
/// How many of the latest updates per replica attract queries. Most of what can be asked of many objects is never
/// changed, and tells nothing.
const RECENT: usize = 2;
/// How often what is not in a set is removed all the same.
const IDLE: f64 = 0.15;

/// Replicas, what they are asked, and how they hear of each other.
///
/// ```
/// use isonomy_crdt::{DataType, Simulation};
///
/// let history = Simulation { replicas: 4, ..Simulation::new(DataType::Counter, 100, 7) }.run();
/// assert_eq!((history.replicas().len(), history.len()), (4, 100));
/// ```
#[derive(Clone, Debug)]
pub struct Simulation {
    /// The type.
    pub data_type: DataType,
    /// How many replicas; at least one.
    pub replicas: usize,
    /// How many operations on all replicas together.
    pub operations: usize,
    /// How many objects; at least one. An array is alone.
    pub objects: usize,
    /// How many of the operations are queries, from 0 to 1.
    pub query_share: f64,
    /// How eagerly updates are delivered, from 0 (never) to 1: how likely a replica hears of each other one before each
    /// of its operations. It then hears of some of the updates that are under way.
    pub delivery: f64,
    /// Where randomness starts. The same simulation gives the same history.
    pub seed: u64,
    /// What is wrong with the replicas, if anything.
    pub bug: Option<Bug>,
    /// Whether no value is written twice to registers; if not, there are only few.
    pub unique_values: bool,
}

impl Simulation {
    /// Three replicas without bugs that hear of each other now and then.
    pub fn new(data_type: DataType, operations: usize, seed: u64) -> Self {
        Simulation {
            data_type,
            replicas: 3,
            operations,
            objects: 8,
            // The reads of an array return all of it, so there are fewer of them.
            query_share: if data_type == DataType::Rga { 0.05 } else { 0.6 },
            delivery: 0.5,
            seed,
            bug: None,
            unique_values: true,
        }
    }

    /// Runs the replicas.
    pub fn run(&self) -> History {
        let replicas = self.replicas.max(1);
        let objects = self.objects.max(1);
        let mut random = Random::new(self.seed);
        let victim = random.below(replicas);
        let states = (0..replicas).map(|replica| {
            // Conflicts are decided wrongly in one place; other bugs are those of the network or of one receiver.
            let wrong = self.bug == Some(Bug::WrongTieBreak) && replica == victim;
            State::new(self.data_type, objects, replicas, wrong)
        });
        let mut run = Run {
            simulation: self,
            objects: (0..objects).map(|object| Label::Text(format!("x{object}").into())).collect(),
            names: (0..replicas).map(|replica| Label::Text(format!("r{replica}").into())).collect(),
            states: states.collect(),
            network: Network::new(replicas, self.bug == Some(Bug::NonCausalDelivery)),
            clocks: vec![0; replicas],
            victim,
            written: 0,
            recent: VecDeque::new(),
            random,
        };
        let mut builder = HistoryBuilder::new(self.data_type);
        for _ in 0..self.operations {
            let replica = run.random.below(replicas);
            run.hear(replica);
            let operation = run.operate(replica);
            builder.push(run.names[replica].clone(), operation).expect("replicas only do what their type can");
        }
        builder.finish()
    }
}

/// When an update happened, by the clock of Lamport; no two are equal, so that it is also the name of the update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Stamp {
    clock: u32,
    replica: u32,
}

/// Whether `a` wins over `b`. A replica with the bug prefers the lower name where clocks are equal.
fn newer(a: Stamp, b: Stamp, wrong: bool) -> bool {
    if wrong && a.clock == b.clock { a.replica < b.replica } else { a > b }
}

/// What a replica is asked to change. Objects, values and elements are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Update {
    Add(usize),
    Remove(usize),
    Write(usize, usize),
    Increment(usize),
    Decrement(usize),
    Insert(Option<usize>, usize),
    Delete(usize),
}

/// What the origin of an update knew of the object.
#[derive(Clone, Debug)]
enum Context {
    Nothing,
    /// Sets and flags: the updates that it replaces.
    Tags(Vec<Stamp>),
    /// Multi-value registers: how many writes of each replica it includes, itself among them.
    Version(Vec<u32>),
}

/// An update as it travels.
#[derive(Clone, Debug)]
struct Message {
    update: Update,
    stamp: Stamp,
    context: Context,
}

/// What a replica holds.
enum State {
    Set(set::Set),
    MultiValue(register::MultiValue),
    LastWriter(register::LastWriter),
    Counter(counter::Counter),
    Array(array::Array),
}

impl State {
    fn new(data_type: DataType, objects: usize, replicas: usize, wrong: bool) -> State {
        match data_type {
            DataType::OrSet | DataType::EwFlag => State::Set(set::Set::new(objects, true, wrong)),
            DataType::RwSet | DataType::DwFlag => State::Set(set::Set::new(objects, false, wrong)),
            DataType::MvRegister => State::MultiValue(register::MultiValue::new(objects, replicas, wrong)),
            DataType::LwwRegister => State::LastWriter(register::LastWriter::new(objects, wrong)),
            DataType::Counter => State::Counter(counter::Counter::new(objects)),
            DataType::Rga => State::Array(array::Array::new(wrong)),
        }
    }

    fn context(&self, update: Update, replica: usize) -> Context {
        match self {
            State::Set(set) => set.context(update),
            State::MultiValue(register) => register.context(update, replica),
            State::LastWriter(_) | State::Counter(_) | State::Array(_) => Context::Nothing,
        }
    }

    fn apply(&mut self, message: &Message) {
        match self {
            State::Set(set) => set.apply(message),
            State::MultiValue(register) => register.apply(message),
            State::LastWriter(register) => register.apply(message),
            State::Counter(counter) => counter.apply(message),
            State::Array(array) => array.apply(message),
        }
    }

    /// Takes back the last removal that was marked so.
    fn revive(&mut self) {
        match self {
            State::Set(set) => set.revive(),
            State::Array(array) => array.revive(),
            State::MultiValue(_) | State::LastWriter(_) | State::Counter(_) => {}
        }
    }

    /// Applies a removal that will be taken back.
    fn apply_loosely(&mut self, message: &Message) {
        match self {
            State::Set(set) => set.apply_loosely(message),
            State::Array(array) => array.apply_loosely(message),
            State::MultiValue(_) | State::LastWriter(_) | State::Counter(_) => self.apply(message),
        }
    }
}

/// A simulation under way.
struct Run<'s> {
    simulation: &'s Simulation,
    objects: Vec<Label>,
    names: Vec<Label>,
    states: Vec<State>,
    network: Network,
    clocks: Vec<u32>,
    /// The replica that has the bug, if it is one of a single replica.
    victim: usize,
    /// How many values were written or elements inserted.
    written: usize,
    /// The objects of the latest updates of all replicas.
    recent: VecDeque<usize>,
    random: Random,
}

impl Run<'_> {
    /// A replica hears of some updates of others.
    fn hear(&mut self, replica: usize) {
        for origin in 0..self.states.len() {
            if origin == replica || !self.random.chance(self.simulation.delivery) {
                continue;
            }
            let waiting = self.network.waiting(replica, origin);
            let count = if waiting == 0 { 0 } else { 1 + self.random.below(waiting) };
            for _ in 0..count {
                let Some(received) = self.network.receive(replica, origin, &mut self.random) else { break };
                self.take(replica, &received);
            }
        }
    }

    fn take(&mut self, replica: usize, received: &Received) {
        let message = &received.message;
        self.clocks[replica] = self.clocks[replica].max(message.stamp.clock);
        let state = &mut self.states[replica];
        let bug = self.simulation.bug.filter(|_| replica == self.victim);
        state.revive();
        match bug {
            Some(Bug::LostUpdate) if self.random.chance(bug::RATE) => {}
            Some(Bug::TombstoneLoss) if self.random.chance(bug::RATE) => state.apply_loosely(message),
            _ => state.apply(message),
        }
    }

    fn operate(&mut self, replica: usize) -> NamedOperation {
        if self.random.chance(self.simulation.query_share) {
            let object = self.interesting();
            return self.query(replica, object);
        }
        let object = self.random.below(self.objects.len());
        self.recent.push_back(object);
        if self.recent.len() > RECENT * self.states.len() {
            self.recent.pop_front();
        }
        let update = self.choose(replica, object);
        let context = self.states[replica].context(update, replica);
        self.clocks[replica] += 1;
        let message =
            Message { update, stamp: Stamp { clock: self.clocks[replica], replica: replica as u32 }, context };
        self.states[replica].apply(&message);
        self.network.send(replica, message);
        self.named(update)
    }

    fn query(&self, replica: usize, object: usize) -> NamedOperation {
        let x = self.objects[object].clone();
        match &self.states[replica] {
            State::Set(set) => NamedOperation::Contains(x, set.contains(object)),
            State::MultiValue(register) => NamedOperation::Read(x, register.values(object).map(value).collect()),
            State::LastWriter(register) => {
                NamedOperation::Read(x, register.value(object).map(value).into_iter().collect())
            }
            State::Counter(counter) => NamedOperation::Count(x, counter.count(object)),
            State::Array(array) => NamedOperation::List(array.list().into_iter().map(element).collect()),
        }
    }

    /// An object to ask about: one that was changed lately, or any.
    fn interesting(&mut self) -> usize {
        if self.recent.is_empty() || self.random.chance(0.5) {
            return self.random.below(self.objects.len());
        }
        self.recent[self.random.below(self.recent.len())]
    }

    fn choose(&mut self, replica: usize, object: usize) -> Update {
        let second = self.random.chance(0.5);
        match &self.states[replica] {
            State::Set(set) if second && (set.contains(object) || self.random.chance(IDLE)) => Update::Remove(object),
            State::Set(_) => Update::Add(object),
            State::Counter(_) if second => Update::Decrement(object),
            State::Counter(_) => Update::Increment(object),
            State::MultiValue(_) | State::LastWriter(_) if self.simulation.unique_values => {
                self.written += 1;
                Update::Write(object, self.written)
            }
            State::MultiValue(_) | State::LastWriter(_) => Update::Write(object, 1 + self.random.below(FEW)),
            State::Array(array) => {
                let shown = array.shown();
                let pick = (!shown.is_empty()).then(|| shown[self.random.below(shown.len())]);
                // One in four removes while the array is short, three in four once it is long.
                let removes = if shown.len() < LONG {
                    second && self.random.chance(0.5)
                } else {
                    second || self.random.chance(0.5)
                };
                if let Some(pick) = pick.filter(|_| removes) {
                    return Update::Delete(pick);
                }
                let at_front = self.random.chance(0.2);
                self.written += 1;
                Update::Insert(pick.filter(|_| !at_front), self.written)
            }
        }
    }

    fn named(&self, update: Update) -> NamedOperation {
        let object = |object: usize| self.objects[object].clone();
        match update {
            Update::Add(x) => NamedOperation::Add(object(x)),
            Update::Remove(x) => NamedOperation::Remove(object(x)),
            Update::Write(x, written) => NamedOperation::Write(object(x), value(written)),
            Update::Increment(x) => NamedOperation::Increment(object(x)),
            Update::Decrement(x) => NamedOperation::Decrement(object(x)),
            Update::Insert(after, new) => NamedOperation::Insert(after.map(element), element(new)),
            Update::Delete(old) => NamedOperation::Delete(element(old)),
        }
    }
}

fn value(value: usize) -> Label {
    Label::Int(value as i64)
}

fn element(element: usize) -> Label {
    Label::Text(format!("e{element}").into())
}

#[cfg(test)]
mod tests;
