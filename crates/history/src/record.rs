//! Transactions by name, one at a time: what flows between generators, recorders, files and histories.

use std::io;

use crate::builder::{HistoryBuilder, InitialRule};
use crate::event::{Event, Outcome, Times};
use crate::history::{History, TxnId};
use crate::names::{Datum, Name};

/// A transaction by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Its session.
    pub session: Name<'a>,
    /// How it ended.
    pub outcome: Outcome,
    /// When it ran.
    pub times: Times,
    /// What it observed, in program order.
    pub events: Vec<NamedEvent<'a>>,
}

/// An event by name; see [`Event`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are those of `Event`")]
pub enum NamedEvent<'a> {
    Read(Name<'a>, Datum<'a>),
    Write(Name<'a>, Datum<'a>),
    Append(Name<'a>, Datum<'a>),
    ReadList(Name<'a>, Vec<Datum<'a>>),
    Insert(Name<'a>, Datum<'a>),
    Delete(Name<'a>, Datum<'a>),
    Range { lo: Name<'a>, hi: Name<'a>, rows: Vec<(Name<'a>, Datum<'a>)> },
    CompareAndSet { key: Name<'a>, expected: Datum<'a>, new: Datum<'a>, succeeded: bool },
}

/// Takes transactions in an order that agrees with session order: a file being written, or a history being built.
pub trait Sink {
    /// Takes one transaction.
    fn take(&mut self, record: &Record<'_>) -> io::Result<()>;

    /// Takes what comes after the last transaction. Nothing may follow.
    fn end(&mut self) -> io::Result<()>;
}

impl Sink for HistoryBuilder {
    fn take(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.begin(record.session);
        self.set_outcome(record.outcome);
        self.set_times(record.times);
        for event in &record.events {
            self.event(event);
        }
        self.status().map_err(io::Error::other)
    }

    fn end(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl HistoryBuilder {
    /// Adds an event to the current transaction.
    pub fn event(&mut self, event: &NamedEvent<'_>) {
        match *event {
            NamedEvent::Read(key, value) => self.read(key, value),
            NamedEvent::Write(key, value) => self.write(key, value),
            NamedEvent::Append(key, element) => self.append(key, element),
            NamedEvent::ReadList(key, ref elements) => self.read_list(key, elements.iter().copied()),
            NamedEvent::Insert(key, value) => self.insert(key, value),
            NamedEvent::Delete(key, tombstone) => self.delete(key, tombstone),
            NamedEvent::Range { lo, hi, ref rows } => self.range(lo, hi, rows.iter().copied()),
            NamedEvent::CompareAndSet { key, expected, new, succeeded } => {
                self.compare_and_set(key, expected, new, succeeded);
            }
        }
    }
}

impl History {
    /// A transaction by name.
    pub fn record(&self, txn: TxnId) -> Record<'_> {
        Record {
            session: self.session_name(self.session_of(txn)),
            outcome: self.outcome(txn),
            times: self.times(txn),
            events: self.events(txn).map(|event| self.named(event)).collect(),
        }
    }

    /// An event by name.
    pub fn named<'h>(&'h self, event: Event<'h>) -> NamedEvent<'h> {
        let pair = |value| (self.key_name(self.key_of(value)), self.given(value));
        match event {
            Event::Read(value) => NamedEvent::Read(pair(value).0, pair(value).1),
            Event::Write(value) => NamedEvent::Write(pair(value).0, pair(value).1),
            Event::Append(value) => NamedEvent::Append(pair(value).0, pair(value).1),
            Event::Insert(value) => NamedEvent::Insert(pair(value).0, pair(value).1),
            Event::Delete(value) => NamedEvent::Delete(pair(value).0, pair(value).1),
            Event::ReadList { key, elements } => {
                NamedEvent::ReadList(self.key_name(key), elements.iter().map(|&value| self.given(value)).collect())
            }
            Event::Range { lo, hi, rows } => {
                NamedEvent::Range { lo, hi, rows: rows.iter().map(|&row| pair(row)).collect() }
            }
            Event::CompareAndSet { expected, new, succeeded } => NamedEvent::CompareAndSet {
                key: pair(new).0,
                expected: self.given(expected),
                new: self.given(new),
                succeeded,
            },
        }
    }

    /// A value as it must be written so that [`InitialRule::Absent`] holds: the initial value of its key, however the
    /// input spelt it, is [`Datum::Initial`].
    pub fn given(&self, value: crate::Value) -> Datum<'_> {
        match (self.initial(), self.derived().writer(value)) {
            (InitialRule::Absent, _) => self.datum(value),
            (_, crate::Writer::Initial) => Datum::Initial,
            _ => self.datum(value),
        }
    }
}
