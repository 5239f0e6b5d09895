//! `mock:LEVEL`: a store in this process that gives a level and rarely more. For demonstrations, and to test the testers.

use std::sync::{Arc, Mutex, MutexGuard};

use isonomy_workload::{Conflict, SimulatedClient, SimulatedStore, StoreLevel};

use crate::database::{Ability, Database, Description, Isolation, Key, Row, Session, Value};
use crate::error::Error;

/// A simulated store of some level.
#[derive(Debug)]
pub struct Mock {
    level: StoreLevel,
    made: Mutex<Made>,
}

/// The store of the current run.
#[derive(Debug)]
struct Made {
    store: Arc<Mutex<SimulatedStore>>,
    /// Each run has other choices.
    seed: u64,
}

impl Mock {
    /// An empty store.
    pub fn new(level: StoreLevel) -> Self {
        let store = Arc::new(Mutex::new(SimulatedStore::new(level, 0)));
        Mock { level, made: Mutex::new(Made { store, seed: 0 }) }
    }

    pub(crate) fn open(urls: &[&str], isolation: Option<&str>) -> Result<Box<dyn Database>, Error> {
        let [url] = urls else { return Err(Error::Refused("a simulated store has one node".into())) };
        let level = match (url.split_once(':'), isolation) {
            (None | Some((_, "")), Some(isolation)) => isolation,
            (Some((_, level)), None) => level,
            (None, None) => "",
            (Some(_), Some(_)) => {
                return Err(Error::Refused(format!("`{url}` names its level already; it takes no isolation")));
            }
        };
        let level =
            level.parse().map_err(|error: isonomy_workload::UnknownStoreLevel| Error::Refused(error.to_string()))?;
        Ok(Box::new(Mock::new(level)))
    }

    fn made(&self) -> MutexGuard<'_, Made> {
        self.made.lock().expect("nothing panics with the lock")
    }
}

impl Database for Mock {
    fn describe(&self) -> Result<Description, Error> {
        let name = self.level.name();
        Ok(Description {
            product: "simulated store".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            isolation: Isolation { name: name.into(), promises: Some(name) },
        })
    }

    fn can(&self, ability: Ability) -> bool {
        match ability {
            Ability::Lists | Ability::Ranges | Ability::CompareAndSet => true,
        }
    }

    fn prepare(&self) -> Result<(), Error> {
        let mut made = self.made();
        made.seed += 1;
        made.store = Arc::new(Mutex::new(SimulatedStore::new(self.level, made.seed)));
        Ok(())
    }

    fn connect(&self, _session: u32) -> Result<Box<dyn Session>, Error> {
        let store = Arc::clone(&self.made().store);
        let client = store.lock().expect("nothing panics with the lock").client();
        Ok(Box::new(MockSession { store, client }))
    }
}

struct MockSession {
    store: Arc<Mutex<SimulatedStore>>,
    client: SimulatedClient,
}

impl MockSession {
    fn ask<T>(&mut self, ask: impl FnOnce(&mut SimulatedStore, &mut SimulatedClient) -> T) -> T {
        ask(&mut self.store.lock().expect("nothing panics with the lock"), &mut self.client)
    }
}

impl From<Conflict> for Error {
    fn from(conflict: Conflict) -> Self {
        Error::Aborted(conflict.to_string())
    }
}

impl Session for MockSession {
    fn begin(&mut self) -> Result<(), Error> {
        self.ask(|store, client| store.begin(client));
        Ok(())
    }

    fn read(&mut self, key: Key) -> Result<Option<Value>, Error> {
        Ok(self.ask(|store, client| store.read(client, key)))
    }

    fn write(&mut self, key: Key, value: Value) -> Result<(), Error> {
        Ok(self.ask(|store, client| store.write(client, key, value))?)
    }

    fn append(&mut self, key: Key, element: Value) -> Result<(), Error> {
        Ok(self.ask(|store, client| store.append(client, key, element))?)
    }

    fn read_list(&mut self, key: Key) -> Result<Vec<Value>, Error> {
        Ok(self.ask(|store, client| store.read_list(client, key)))
    }

    fn insert(&mut self, key: Key, value: Value) -> Result<(), Error> {
        Ok(self.ask(|store, client| store.insert(client, key, value))?)
    }

    fn delete(&mut self, key: Key, tombstone: Value) -> Result<(), Error> {
        Ok(self.ask(|store, client| store.delete(client, key, tombstone))?)
    }

    fn range(&mut self, lo: Key, hi: Key) -> Result<Vec<Row>, Error> {
        Ok(self.ask(|store, client| store.range(client, lo, hi)))
    }

    fn compare_and_set(&mut self, key: Key, expected: Option<Value>, new: Value) -> Result<bool, Error> {
        Ok(self.ask(|store, client| store.compare_and_set(client, key, expected, new))?)
    }

    fn commit(&mut self) -> Result<(), Error> {
        Ok(self.ask(|store, client| store.commit(client))?)
    }

    fn rollback(&mut self) -> Result<(), Error> {
        self.ask(|store, client| store.rollback(client));
        Ok(())
    }
}
