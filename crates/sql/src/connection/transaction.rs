//! Transactions, as clients see them.
//!
//! The store's transaction begins when the first row is touched, because beginning may mean waiting for others. Until then `BEGIN` only
//! notes that one is wanted.

use isonomy_store::{Choice, Savepoint, StoreLevel};
use sqlparser::ast::Statement;

use super::{Connection, Status};
use crate::engine::Dialect;
use crate::error::{Error, Kind, Result};

/// A transaction that a client began.
#[derive(Debug, Default)]
pub(super) struct Transaction {
    pub(super) failed: bool,
    /// Whether the store gave it up; then there is nothing to go back to.
    lost: bool,
    savepoints: Vec<Mark>,
}

#[derive(Debug)]
struct Mark {
    name: String,
    /// `None` if nothing was touched yet.
    place: Option<Savepoint>,
    cleared: usize,
}

impl Connection {
    /// The level and the choice of the next transaction.
    pub(super) fn level_and_choice(&self) -> (StoreLevel, Choice) {
        let options = self.engine.store().options();
        (self.settings.level_or(options.level), self.settings.choice_or(options.choice))
    }

    /// Runs a statement in the open transaction, or in one of its own.
    pub(super) fn in_transaction<T>(&mut self, act: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.transaction.is_none() && !self.settings.autocommit {
            self.transaction = Some(Transaction::default());
        }
        if self.transaction.is_some() {
            return act(self);
        }
        let outcome = act(self);
        let ended = match &outcome {
            Ok(_) if self.session.is_open() => self.session.commit().map_err(Error::from),
            _ => {
                self.session.rollback();
                Ok(())
            }
        };
        self.over();
        ended.and(outcome)
    }

    fn over(&mut self) {
        self.cleared.clear();
        self.settings.end_transaction();
    }

    /// Notes that a statement failed, and returns its error.
    pub(super) fn failed(&mut self, error: Error) -> Error {
        let Some(transaction) = &mut self.transaction else { return error };
        let lost = error.ends_transaction();
        transaction.lost |= lost;
        match self.dialect {
            Dialect::PostgreSql => transaction.failed = true,
            // MySQL goes on, unless there is nothing left to go on with.
            Dialect::MySql if lost => {
                self.session.rollback();
                self.transaction = None;
                self.over();
            }
            Dialect::MySql => {}
        }
        error
    }

    /// In a failed transaction, nothing but its end is accepted.
    pub(super) fn refuse_if_failed(&self, statement: &Statement) -> Result<()> {
        let ends = matches!(statement, Statement::Commit { .. } | Statement::Rollback { .. });
        if self.status() == Status::Failed && !ends {
            let message = "current transaction is aborted, commands ignored until end of transaction block";
            return Err(Kind::FailedTransaction.error(message));
        }
        Ok(())
    }

    /// `BEGIN`. In PostgreSQL a second one does nothing; in MySQL it commits the first.
    pub(super) fn begin(&mut self) -> Result<()> {
        if self.dialect == Dialect::MySql {
            self.commit()?;
        }
        self.transaction.get_or_insert_default();
        Ok(())
    }

    /// `COMMIT`; of a failed transaction, a rollback. Says whether it committed.
    pub(super) fn commit(&mut self) -> Result<bool> {
        let failed = self.transaction.take().is_some_and(|transaction| transaction.failed || transaction.lost);
        let outcome = if failed || !self.session.is_open() {
            self.session.rollback();
            Ok(!failed)
        } else {
            self.session.commit().map(|()| true).map_err(Error::from)
        };
        self.over();
        outcome
    }

    /// `ROLLBACK`.
    pub(super) fn rollback(&mut self) {
        self.transaction = None;
        self.session.rollback();
        self.over();
    }

    pub(super) fn savepoint(&mut self, name: String) -> Result<()> {
        let place = self.session.is_open().then(|| self.session.savepoint());
        let cleared = self.cleared.len();
        match &mut self.transaction {
            Some(transaction) => transaction.savepoints.push(Mark { name, place, cleared }),
            None if self.dialect == Dialect::MySql => {}
            None => return Err(outside("SAVEPOINT")),
        }
        Ok(())
    }

    /// Goes back to a savepoint, which stays.
    pub(super) fn rollback_to(&mut self, name: &str) -> Result<()> {
        let Some(transaction) = &mut self.transaction else { return Err(outside("ROLLBACK TO SAVEPOINT")) };
        let at = transaction.savepoints.iter().rposition(|mark| mark.name == name).ok_or_else(|| missing(name))?;
        if transaction.lost {
            let message = "the transaction was rolled back as a whole; there is no savepoint to go back to";
            return Err(Kind::FailedTransaction.error(message));
        }
        transaction.savepoints.truncate(at + 1);
        transaction.failed = false;
        let mark = &transaction.savepoints[at];
        self.cleared.truncate(mark.cleared);
        match mark.place {
            Some(place) if self.session.is_open() => self.session.rollback_to(place),
            // Nothing was touched before it, so nothing needs to be kept.
            _ => self.session.rollback(),
        }
        Ok(())
    }

    pub(super) fn release(&mut self, name: &str) -> Result<()> {
        let Some(transaction) = &mut self.transaction else { return Err(outside("RELEASE SAVEPOINT")) };
        let at = transaction.savepoints.iter().rposition(|mark| mark.name == name).ok_or_else(|| missing(name))?;
        transaction.savepoints.truncate(at);
        Ok(())
    }
}

fn outside(what: &str) -> Error {
    Kind::NoTransaction.error(format!("{what} can only be used in transaction blocks"))
}

fn missing(name: &str) -> Error {
    Kind::NoSavepoint.error(format!("savepoint \"{name}\" does not exist"))
}
