//! The sessions of clients that come and go.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Instant;

use axum::http::StatusCode;
use isonomy_sql::Datum;
use isonomy_store::{Session, Store, StoreError};
use rustc_hash::FxHashMap;

use super::problem::Problem;
use super::requests::{Begin, Operation, Transaction};
use crate::clients::Counts;
use crate::config::Limits;
use crate::random;

/// The JSON of a value, or that there is none.
pub(super) type Json = Option<Box<str>>;

/// All sessions, by name.
#[derive(Debug)]
pub(super) struct Sessions {
    store: Store<Datum>,
    limits: Limits,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    sessions: FxHashMap<String, Arc<Mutex<Client>>>,
    counts: Counts,
    closed: bool,
}

/// A session and when it was last used.
#[derive(Debug)]
pub(super) struct Client {
    session: Session<Datum>,
    used: Instant,
    /// Whether its transaction was rolled back because nothing came for too long; its next request is told.
    expired: bool,
}

impl Sessions {
    pub(super) fn new(store: Store<Datum>, limits: Limits) -> Self {
        Sessions { store, limits, table: Mutex::default() }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // Nothing in here is left half done by a panic.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn counts(&self) -> Counts {
        let table = self.table();
        Counts { open: table.sessions.len(), ..table.counts }
    }

    /// The store that all share.
    pub(super) fn store(&self) -> &Store<Datum> {
        &self.store
    }

    /// Makes a session, under a name that nobody can guess.
    pub(super) fn create(&self) -> Result<String, Problem> {
        let client = Client { session: self.store.session(), used: Instant::now(), expired: false };
        let mut table = self.table();
        if table.closed || table.sessions.len() >= self.limits.connections {
            table.counts.refused += 1;
            return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "there are too many sessions already"));
        }
        let name = random::name();
        table.counts.total += 1;
        table.sessions.insert(name.clone(), Arc::new(Mutex::new(client)));
        Ok(name)
    }

    /// Ends a session: its transaction is rolled back.
    pub(super) fn remove(&self, name: &str) -> Result<(), Problem> {
        let removed = self.table().sessions.remove(name);
        // Dropped here, after the table is free again.
        removed.map(drop).ok_or_else(|| unknown(name))
    }

    /// Does something in a session.
    pub(super) fn in_session<T>(
        &self,
        name: &str,
        work: impl FnOnce(&mut Client) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let client = self.table().sessions.get(name).cloned().ok_or_else(|| unknown(name))?;
        let mut client = match client.try_lock() {
            Ok(client) => client,
            Err(TryLockError::WouldBlock) => {
                return Err(Problem::new(StatusCode::LOCKED, "another request of this session is under way"));
            }
            Err(TryLockError::Poisoned(_)) => {
                // Something panicked in it, and nobody knows what it did.
                self.table().sessions.remove(name);
                return Err(unknown(name));
            }
        };
        client.used = Instant::now();
        let done = work(&mut client);
        client.used = Instant::now();
        done
    }

    /// Runs a whole transaction: what each operation answers.
    pub(super) fn transact(&self, transaction: &Transaction) -> Result<Vec<Json>, Problem> {
        let (begin, operations) = (transaction.begin(), transaction.operations()?);
        if let Some(name) = &transaction.session {
            return self.in_session(name, |client| client.transact(&begin, &operations, &self.store));
        }
        let mut client = Client { session: self.store.session(), used: Instant::now(), expired: false };
        client.transact(&begin, &operations, &self.store)
    }

    /// Rolls back transactions that are left alone, and removes sessions that are.
    pub(super) fn sweep(&self) {
        let all: Vec<(String, Arc<Mutex<Client>>)> =
            self.table().sessions.iter().map(|(name, client)| (name.clone(), Arc::clone(client))).collect();
        for (name, client) in all {
            // One that is in use is not left alone.
            let Ok(mut client) = client.try_lock() else { continue };
            let alone = client.used.elapsed();
            if client.session.is_open() && alone > self.limits.abandoned {
                client.session.rollback();
                client.expired = true;
            }
            if alone > self.limits.forgotten {
                self.table().sessions.remove(&name);
            }
        }
    }

    /// Ends all sessions.
    pub(super) fn close(&self) {
        let sessions = {
            let mut table = self.table();
            table.closed = true;
            std::mem::take(&mut table.sessions)
        };
        drop(sessions);
    }
}

impl Client {
    pub(super) fn begin(&mut self, begin: &Begin, store: &Store<Datum>) -> Result<(), Problem> {
        self.expired = false;
        if self.session.is_open() {
            return Err(Problem::bad("a transaction is open already; commit it or roll it back first"));
        }
        let options = store.options();
        let (level, choice) = (begin.level(options.level)?, begin.choice(options.choice)?);
        Ok(self.session.begin_with(level, choice)?)
    }

    /// What a key holds.
    pub(super) fn read(&mut self, key: &str) -> Result<Json, Problem> {
        self.within(|session| Ok(session.read(&named(key))?.map(|datum| json(&datum))))
    }

    /// Sets what a key holds.
    pub(super) fn write(&mut self, key: &str, value: &str) -> Result<(), Problem> {
        let value = (value != "null").then(|| Datum::Text(value.into()));
        self.within(|session| session.write(&named(key), value))
    }

    pub(super) fn commit(&mut self) -> Result<(), Problem> {
        self.expect_open()?;
        Ok(self.session.commit()?)
    }

    /// Gives the transaction up. One that is over already is as well.
    pub(super) fn rollback(&mut self) {
        self.expired = false;
        self.session.rollback();
    }

    fn expect_open(&mut self) -> Result<(), Problem> {
        if std::mem::take(&mut self.expired) {
            let message = "the transaction was rolled back: no request came for too long";
            return Err(Problem::new(StatusCode::CONFLICT, message));
        }
        if self.session.is_open() { Ok(()) } else { Err(Problem::bad("no transaction is open; begin one first")) }
    }

    /// Does something in the open transaction, or in one of its own.
    fn within<T>(&mut self, work: impl FnOnce(&mut Session<Datum>) -> Result<T, StoreError>) -> Result<T, Problem> {
        if self.expired {
            self.expect_open()?;
        }
        if self.session.is_open() {
            return Ok(work(&mut self.session)?);
        }
        self.session.begin()?;
        let done = work(&mut self.session).and_then(|value| self.session.commit().map(|()| value));
        // After an error that is all that is left to do; after a commit it changes nothing.
        self.session.rollback();
        Ok(done?)
    }

    fn transact(
        &mut self,
        begin: &Begin,
        operations: &[Operation],
        store: &Store<Datum>,
    ) -> Result<Vec<Json>, Problem> {
        self.begin(begin, store)?;
        let mut step = |operation: &Operation| match operation {
            Operation::Read(read) => self.read(&read.key),
            Operation::Write(write) => self.write(&write.key, write.value.get()).map(|()| None),
        };
        let values = operations.iter().map(&mut step).collect::<Result<_, _>>();
        let done = values.and_then(|values| self.commit().map(|()| values));
        self.rollback();
        done
    }
}

/// Keys of HTTP are beside those of SQL.
fn named(key: &str) -> String {
    format!("kv/{key}")
}

fn json(datum: &Datum) -> Box<str> {
    match datum {
        Datum::Text(text) => (**text).into(),
        // Nothing else is written under these names.
        other => other.to_string().into(),
    }
}

fn unknown(name: &str) -> Problem {
    Problem::new(StatusCode::NOT_FOUND, format!("there is no session `{name}`"))
}
