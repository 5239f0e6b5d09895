//! Drives replicas at random and records what they answer.

use isonomy_crdt::{DataType, HistoryBuilder, Label, NamedOperation};
use isonomy_workload::Rng;

use crate::error::Error;
use crate::library::Library;
use crate::run::{Recorded, Run, Step};
use crate::system::{Answer, System, Update, open};

/// What a replica sends to another one. Either way it is all that the other one lacks, so delivery is causal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Its whole state: Automerge saves and loads, Yrs encodes everything, `crdts` merges states (but not lists).
    States,
    /// The operations that the other one lacks.
    Operations,
}

/// A random test of one data type of one library. The same trial has the same run.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The library.
    pub library: Library,
    /// The type; the library must offer it.
    pub data_type: DataType,
    /// What replicas send to each other.
    pub delivery: Delivery,
    /// The number of replicas.
    pub replicas: u32,
    /// The number of operations; the queries after a final synchronisation come on top.
    pub operations: u32,
    /// The number of objects: elements, flags, registers or counters. A list is alone.
    pub objects: u32,
    /// The share of queries among the operations.
    pub query_share: f64,
    /// The share of removals, disablings and decrements among the updates.
    pub remove_share: f64,
    /// The share of deliveries among all steps, which is less than 1.
    pub sync_share: f64,
    /// Whether all values are different. Elements of lists always are. For sets and flags it is about what is stored
    /// in Automerge, which ignores a write of the value that is there already.
    pub unique_values: bool,
    /// Whether in the end all replicas receive everything and are asked about every object.
    pub final_sync: bool,
    /// The seed.
    pub seed: u64,
}

impl Trial {
    /// A small trial.
    pub fn new(library: Library, data_type: DataType) -> Self {
        Trial {
            library,
            data_type,
            delivery: Delivery::Operations,
            replicas: 3,
            operations: 30,
            objects: 2,
            query_share: 0.4,
            remove_share: 0.3,
            sync_share: 0.25,
            unique_values: true,
            final_sync: true,
            seed: 0,
        }
    }

    /// Runs it.
    ///
    /// # Errors
    ///
    /// The library does not offer the type, the numbers make no sense, or the library refuses an operation.
    pub fn run(&self) -> Result<Run, Error> {
        self.check()?;
        // What is drawn for the ids does not disturb what is drawn for the steps.
        let system = open(self, &mut Rng::stream(self.seed, 1))?;
        let clocks = vec![vec![0; self.replicas as usize]; self.replicas as usize];
        let rng = Rng::stream(self.seed, 0);
        let mut driver = Driver { trial: self, rng, system, clocks, steps: Vec::new(), fresh: 0 };
        driver.run()?;
        let mut history = HistoryBuilder::new(self.data_type);
        for recorded in driver.steps.iter().filter_map(Step::operation) {
            history.push(replica_label(recorded.replica), recorded.operation.clone())?;
        }
        Ok(Run { data_type: self.data_type, steps: driver.steps, history: history.finish() })
    }

    fn check(&self) -> Result<(), Error> {
        if self.library.offer(self.data_type).is_none() {
            let offers: Vec<&str> = self.library.offers().iter().map(|offer| offer.data_type.name()).collect();
            let offers = offers.join(", ").into();
            return Err(Error::NotOffered { library: self.library, data_type: self.data_type, offers });
        }
        let share = |share: f64| (0.0..=1.0).contains(&share);
        if self.replicas == 0 || self.objects == 0 {
            Err(Error::Shape("a trial needs a replica and an object"))
        } else if !share(self.query_share) || !share(self.remove_share) || !share(self.sync_share) {
            Err(Error::Shape("shares are between 0 and 1"))
        } else if self.sync_share > 0.95 {
            Err(Error::Shape("a trial with more than 95 % deliveries gets nothing done"))
        } else {
            Ok(())
        }
    }
}

/// What the history calls a replica.
pub(crate) fn replica_label(replica: u32) -> Label {
    format!("r{replica}").as_str().into()
}

fn object_label(object: usize) -> Label {
    format!("x{object}").as_str().into()
}

struct Driver<'t> {
    trial: &'t Trial,
    rng: Rng,
    system: Box<dyn System>,
    /// Of each replica, how many operations of each replica it has.
    clocks: Vec<Vec<u32>>,
    steps: Vec<Step>,
    fresh: i64,
}

impl Driver<'_> {
    fn run(&mut self) -> Result<(), Error> {
        let replicas = self.trial.replicas as usize;
        let mut left = self.trial.operations;
        while left > 0 {
            let replica = self.index(replicas);
            if replicas > 1 && self.rng.chance(self.trial.sync_share) {
                let to = (replica + 1 + self.index(replicas - 1)) % replicas;
                self.deliver(replica, to)?;
                continue;
            }
            left -= 1;
            let object = self.index(self.trial.objects as usize);
            if self.rng.chance(self.trial.query_share) {
                self.query(replica, object)?;
            } else {
                self.update(replica, object)?;
            }
        }
        if self.trial.final_sync { self.finish() } else { Ok(()) }
    }

    fn index(&mut self, length: usize) -> usize {
        self.rng.below(length as u64) as usize
    }

    /// All replicas receive everything, by way of the first, and answer everything.
    fn finish(&mut self) -> Result<(), Error> {
        let replicas = self.trial.replicas as usize;
        for other in 1..replicas {
            self.deliver(other, 0)?;
        }
        for other in 1..replicas {
            self.deliver(0, other)?;
        }
        let objects = if self.trial.data_type == DataType::Rga { 1 } else { self.trial.objects as usize };
        for replica in 0..replicas {
            for object in 0..objects {
                self.query(replica, object)?;
            }
        }
        Ok(())
    }

    fn deliver(&mut self, from: usize, to: usize) -> Result<(), Error> {
        self.system.deliver(from, to)?;
        let sent = self.clocks[from].clone();
        for (count, sent) in self.clocks[to].iter_mut().zip(sent) {
            *count = sent.max(*count);
        }
        self.steps.push(Step::Delivery { from: from as u32, to: to as u32 });
        Ok(())
    }

    fn query(&mut self, replica: usize, object: usize) -> Result<(), Error> {
        let label = object_label(object);
        let int = |values: Vec<i64>| values.into_iter().map(Label::Int).collect();
        let operation = match self.system.ask(replica, object)? {
            Answer::Present(present) => NamedOperation::Contains(label, present),
            Answer::Values(values) => NamedOperation::Read(label, int(values)),
            Answer::Count(count) => NamedOperation::Count(label, count),
            Answer::List(elements) => NamedOperation::List(int(elements)),
        };
        self.record(replica, operation);
        Ok(())
    }

    fn update(&mut self, replica: usize, object: usize) -> Result<(), Error> {
        let label = object_label(object);
        let remove = self.rng.chance(self.trial.remove_share);
        let (update, operation) = match self.trial.data_type {
            DataType::OrSet | DataType::RwSet | DataType::EwFlag | DataType::DwFlag => {
                let fresh = if self.trial.unique_values { self.fresh() } else { 0 };
                let update = Update::Mark { object, stamp: 2 * fresh + i64::from(!remove) };
                (update, if remove { NamedOperation::Remove(label) } else { NamedOperation::Add(label) })
            }
            DataType::MvRegister | DataType::LwwRegister => {
                let value = if self.trial.unique_values { self.fresh() } else { self.index(3) as i64 };
                (Update::Write { object, value }, NamedOperation::Write(label, value.into()))
            }
            DataType::Counter if remove => (Update::Count { object, by: -1 }, NamedOperation::Decrement(label)),
            DataType::Counter => (Update::Count { object, by: 1 }, NamedOperation::Increment(label)),
            DataType::Rga => self.edit(replica, remove)?,
        };
        self.system.update(replica, update)?;
        self.record(replica, operation);
        Ok(())
    }

    /// An update of a list: at a random place of what the replica shows.
    fn edit(&mut self, replica: usize, remove: bool) -> Result<(Update, NamedOperation), Error> {
        let Answer::List(elements) = self.system.ask(replica, 0)? else { unreachable!("lists answer with lists") };
        if remove && !elements.is_empty() {
            let index = self.index(elements.len());
            return Ok((Update::Delete { index }, NamedOperation::Delete(elements[index].into())));
        }
        let index = self.index(elements.len() + 1);
        let element = self.fresh();
        let after = index.checked_sub(1).map(|before| elements[before].into());
        Ok((Update::Insert { index, element }, NamedOperation::Insert(after, element.into())))
    }

    fn fresh(&mut self) -> i64 {
        self.fresh += 1;
        self.fresh
    }

    fn record(&mut self, replica: usize, operation: NamedOperation) {
        let seen = self.clocks[replica].clone();
        self.clocks[replica][replica] += 1;
        self.steps.push(Step::Operation(Recorded { replica: replica as u32, operation, seen }));
    }
}
