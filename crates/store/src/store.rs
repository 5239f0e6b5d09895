//! Sessions and their transactions.

use std::fmt;
use std::sync::{Arc, Mutex};

use isonomy_workload::StoreLevel;
use rustc_hash::FxHashMap;

use crate::options::{Choice, Options};

/// A store that many sessions share.
#[derive(Debug)]
pub struct Store<V> {
    options: Options,
    state: Arc<Mutex<FxHashMap<Box<str>, Option<V>>>>,
}

impl<V> Clone for Store<V> {
    fn clone(&self) -> Self {
        Store { options: self.options.clone(), state: Arc::clone(&self.state) }
    }
}

/// Why a transaction cannot go on. It had no effect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The level does not allow it to commit; it may be tried again.
    #[error("{0}")]
    Conflict(&'static str),
    /// Another transaction did not end for too long.
    #[error("{0}")]
    Busy(String),
}

/// A place in a transaction to go back to.
#[derive(Clone, Copy, Debug)]
pub struct Savepoint(usize);

impl<V: Clone + fmt::Display> Store<V> {
    /// An empty store.
    pub fn new(options: Options) -> Self {
        Store { options, state: Arc::default() }
    }

    /// How it behaves.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// A new session.
    pub fn session(&self) -> Session<V> {
        Session { store: self.clone(), open: false, writes: Vec::new() }
    }

    /// From now on every session sees all that is committed so far.
    pub fn settle(&self) {}
}

/// One client of a store.
#[derive(Debug)]
pub struct Session<V> {
    store: Store<V>,
    open: bool,
    writes: Vec<(Box<str>, Option<V>)>,
}

impl<V: Clone + fmt::Display> Session<V> {
    /// Begins a transaction at the store's level; waits for its turn. One that is open is rolled back.
    pub fn begin(&mut self) -> Result<(), StoreError> {
        self.begin_with(self.store.options.level, self.store.options.choice)
    }

    /// Begins a transaction at a level of its own, with a choice of its own.
    pub fn begin_with(&mut self, _level: StoreLevel, _choice: Choice) -> Result<(), StoreError> {
        self.rollback();
        self.open = true;
        Ok(())
    }

    /// Whether a transaction is open.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// How the reads of the open transaction choose from now on.
    pub fn choose(&mut self, _choice: Choice) {}

    /// What a key holds: anything that the level allows.
    pub fn read(&mut self, key: &str) -> Result<Option<V>, StoreError> {
        if let Some((_, value)) = self.writes.iter().rev().find(|write| &*write.0 == key) {
            return Ok(value.clone());
        }
        Ok(self.newest(key))
    }

    /// What the last commit of a key left there, whatever the level allows; nothing is noted. For what databases check beside
    /// transactions.
    pub fn newest(&self, key: &str) -> Option<V> {
        self.store.state.lock().expect("not poisoned").get(key).cloned().flatten()
    }

    /// Sets what a key holds; `None` is what it held at first.
    pub fn write(&mut self, key: &str, value: Option<V>) -> Result<(), StoreError> {
        self.writes.push((key.into(), value));
        Ok(())
    }

    /// Notes this place in the open transaction.
    pub fn savepoint(&self) -> Savepoint {
        Savepoint(self.writes.len())
    }

    /// Takes back what was written since.
    pub fn rollback_to(&mut self, savepoint: Savepoint) {
        self.writes.truncate(savepoint.0);
    }

    /// Commits, if the level allows it. Either way the transaction is over.
    pub fn commit(&mut self) -> Result<(), StoreError> {
        let mut state = self.store.state.lock().expect("not poisoned");
        for (key, value) in self.writes.drain(..) {
            state.insert(key, value);
        }
        self.open = false;
        Ok(())
    }

    /// Gives the open transaction up, if there is one.
    pub fn rollback(&mut self) {
        self.writes.clear();
        self.open = false;
    }
}
