//! What happened, for others: as a history, and as a record of choices.

use std::fmt::Display;
use std::io;

use isonomy_history::{Datum, NamedEvent, Outcome, Record, Sink, Times};

use crate::keys::{ValueId, Version};
use crate::open::Event;
use crate::replay::{Ended, Newest, ReadChoice};
use crate::state::{Done, State};

impl<V: Clone + Display> State<V> {
    /// Tells all transactions that have ended.
    pub(crate) fn write_history(&self, sink: &mut dyn Sink) -> io::Result<()> {
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

    /// The session and number of the transaction that wrote a version.
    pub(crate) fn source(&self, version: Version) -> (u32, u32) {
        let done = &self.done[self.transactions[version.node as usize] as usize];
        (done.session, done.number)
    }

    /// A transaction as part of a history. Values are told apart by their number, because applications write the same ones again.
    pub(crate) fn record<'r>(&'r self, done: &Done, texts: &'r mut Vec<String>) -> Record<'r> {
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

    pub(crate) fn ended(&self, done: &Done) -> Ended {
        let reads = done.events.iter().filter_map(|event| match *event {
            Event::Read { key, version, allowed, newest } => Some(ReadChoice {
                key: self.committed.key(key).name.to_string(),
                value: version.and_then(|version| self.text(version.value)),
                from: version.map(|version| self.source(version)),
                allowed: u64::from(allowed),
                newest: newest.map(|newest| Newest { from: self.source(newest), value: self.text(newest.value) }),
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
