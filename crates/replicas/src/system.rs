//! Some replicas of one library, all of one type.

mod automerge;
mod crdts;
mod yrs;

use isonomy_crdt::DataType;
use isonomy_workload::Rng;

use crate::error::Error;
use crate::library::Library;
use crate::trial::{Delivery, Trial};

/// A change, in terms that every library has: lists are indexed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Update {
    /// Sets and flags: an odd stamp adds or enables, an even one removes or disables.
    Mark { object: usize, stamp: i64 },
    /// Registers.
    Write { object: usize, value: i64 },
    /// Counters: plus or minus one.
    Count { object: usize, by: i64 },
    /// Lists.
    Insert { index: usize, element: i64 },
    /// Lists.
    Delete { index: usize },
}

/// What a replica says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Present(bool),
    Values(Vec<i64>),
    Count(i64),
    List(Vec<i64>),
}

/// Replicas, by their numbers.
pub(crate) trait System {
    /// Changes one replica.
    fn update(&mut self, replica: usize, update: Update) -> Result<(), Error>;

    /// Asks one replica about an object.
    fn ask(&mut self, replica: usize, object: usize) -> Result<Answer, Error>;

    /// Brings all that one replica has to another one.
    fn deliver(&mut self, from: usize, to: usize) -> Result<(), Error>;
}

/// The replicas that a trial asks for. Their ids are drawn, because libraries decide conflicts by them.
pub(crate) fn open(trial: &Trial, rng: &mut Rng) -> Result<Box<dyn System>, Error> {
    let ids = draw_ids(trial.replicas as usize, rng);
    match trial.library {
        Library::Automerge => Ok(Box::new(automerge::Documents::new(trial, &ids)?)),
        Library::Yrs => Ok(Box::new(yrs::Documents::new(trial, &ids))),
        Library::Crdts => Ok(crdts::open(trial, &ids)),
    }
}

/// Distinct ids in random order. Yrs allows 53 bits; 32 are enough for all.
fn draw_ids(count: usize, rng: &mut Rng) -> Vec<u32> {
    let mut ids = Vec::with_capacity(count);
    while ids.len() < count {
        let id = rng.below(1 << 32) as u32;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

/// Whether an element is in a set, or a flag enabled, when these are the stamps of the updates that were not overwritten.
fn present(data_type: DataType, stamps: &[i64]) -> bool {
    let added = |stamp: &i64| stamp % 2 != 0;
    match data_type {
        DataType::RwSet | DataType::DwFlag => !stamps.is_empty() && stamps.iter().all(added),
        _ => stamps.iter().any(added),
    }
}

/// What a library that returns all conflicting values says of sets, flags and registers.
fn answer(data_type: DataType, values: Vec<i64>) -> Answer {
    match data_type {
        DataType::MvRegister | DataType::LwwRegister => Answer::Values(values),
        _ => Answer::Present(present(data_type, &values)),
    }
}

fn failed(library: Library, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::Library { library, cause: cause.into() }
}
