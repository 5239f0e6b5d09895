//! One client's transactions, as it runs them.

use std::sync::Arc;

use isonomy_history::{Datum, Name, NamedEvent, Outcome, Times, formats};

use super::pending::{HEAD, Slot};
use super::{RecordError, Shared};

/// Records the transactions of one session, one after the other.
///
/// Reads are told when their answer is there, writes before they are sent. An error means that nothing more can be recorded, and then nothing
/// more should be sent either.
#[derive(Debug)]
pub struct SessionRecorder {
    shared: Arc<Shared>,
    /// `{"session":"name","txn":`
    prefix: Vec<u8>,
    /// How many transactions have begun.
    number: u64,
    slot: Slot,
    open: bool,
    /// How much of `events` is in the slot; nothing before the first write.
    put: usize,
    times: Times,
    /// The events so far, as they stand in the line.
    events: Vec<u8>,
    /// Where the last event begins.
    last: usize,
    /// Room for the head of a slot, and then a line.
    line: Vec<u8>,
}

impl SessionRecorder {
    pub(super) fn new(shared: Arc<Shared>, name: Name<'_>) -> Self {
        let mut prefix = b"{\"session\":".to_vec();
        formats::write_jsonl_name(&mut prefix, name);
        prefix.extend_from_slice(b",\"txn\":");
        SessionRecorder {
            shared,
            prefix,
            number: 0,
            slot: Slot::default(),
            open: false,
            put: 0,
            times: Times::default(),
            events: Vec::new(),
            last: 0,
            line: Vec::new(),
        }
    }

    /// A transaction begins: call it before anything is sent. Returns the time, in nanoseconds since the recorder began.
    pub fn begin(&mut self) -> i64 {
        debug_assert!(!self.open, "a session has one transaction at a time");
        self.open = true;
        self.put = 0;
        self.number += 1;
        self.events.clear();
        let now = self.shared.now();
        self.times = Times { start: Some(now), ..Times::default() };
        now
    }

    /// A read was answered. Nothing is a key that was never written.
    pub fn read<'a>(&mut self, key: impl Into<Name<'a>>, value: impl Into<Datum<'a>>) {
        self.has_begun();
        self.event(&NamedEvent::Read(key.into(), value.into()));
    }

    /// A read of a list was answered.
    pub fn read_list<'a>(
        &mut self,
        key: impl Into<Name<'a>>,
        elements: impl IntoIterator<Item = impl Into<Datum<'a>>>,
    ) {
        self.has_begun();
        self.event(&NamedEvent::ReadList(key.into(), elements.into_iter().map(Into::into).collect()));
    }

    /// A read of all keys from `lo` to `hi` was answered.
    pub fn range<'a>(
        &mut self,
        lo: impl Into<Name<'a>>,
        hi: impl Into<Name<'a>>,
        rows: impl IntoIterator<Item = (impl Into<Name<'a>>, impl Into<Datum<'a>>)>,
    ) {
        self.has_begun();
        let rows = rows.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        self.event(&NamedEvent::Range { lo: lo.into(), hi: hi.into(), rows });
    }

    /// A write is about to be sent.
    pub fn write<'a>(&mut self, key: impl Into<Name<'a>>, value: impl Into<Datum<'a>>) -> Result<(), RecordError> {
        self.sending(&NamedEvent::Write(key.into(), value.into()))
    }

    /// An element is about to be appended to a list.
    pub fn append<'a>(&mut self, key: impl Into<Name<'a>>, element: impl Into<Datum<'a>>) -> Result<(), RecordError> {
        self.sending(&NamedEvent::Append(key.into(), element.into()))
    }

    /// An insert is about to be sent.
    pub fn insert<'a>(&mut self, key: impl Into<Name<'a>>, value: impl Into<Datum<'a>>) -> Result<(), RecordError> {
        self.sending(&NamedEvent::Insert(key.into(), value.into()))
    }

    /// A delete is about to be sent. It leaves a tombstone with a value of its own.
    pub fn delete<'a>(&mut self, key: impl Into<Name<'a>>, tombstone: impl Into<Datum<'a>>) -> Result<(), RecordError> {
        self.sending(&NamedEvent::Delete(key.into(), tombstone.into()))
    }

    /// A compare-and-set is about to be sent; [`compared`](Self::compared) tells what came of it.
    pub fn compare_and_set<'a>(
        &mut self,
        key: impl Into<Name<'a>>,
        expected: impl Into<Datum<'a>>,
        new: impl Into<Datum<'a>>,
    ) -> Result<(), RecordError> {
        // Until the answer comes it may have succeeded. If it did not, nobody will read its value.
        let (key, expected, new) = (key.into(), expected.into(), new.into());
        self.sending(&NamedEvent::CompareAndSet { key, expected, new, succeeded: true })
    }

    /// The compare-and-set that was the last event was answered.
    pub fn compared(&mut self, succeeded: bool) {
        self.has_begun();
        if self.shared.kept.is_none() {
            return;
        }
        let last = &self.events[self.last..];
        debug_assert!(last.starts_with(b"[\"cas\","), "the last event is a compare-and-set");
        if !succeeded && last.ends_with(b",true]") {
            self.events.truncate(self.events.len() - b"true]".len());
            self.events.extend_from_slice(b"false]");
        }
    }

    /// The commit is about to be sent.
    pub fn committing(&mut self) -> Result<(), RecordError> {
        let now = self.shared.now();
        // A transaction that has read nothing may have begun at any time until now.
        self.times.began.get_or_insert(now);
        self.times.committing = Some(now);
        // Without writes nobody can have seen it, and it is not missed. After a write that was the last event, all is there.
        if self.put > 0 && self.put < self.events.len() { self.put() } else { Ok(()) }
    }

    /// The commit was confirmed. Returns the time.
    pub fn committed(&mut self) -> Result<i64, RecordError> {
        let now = self.shared.now();
        self.times.finish = Some(now);
        self.end(Outcome::Committed).map(|()| now)
    }

    /// The transaction surely has no effect.
    pub fn aborted(&mut self) -> Result<(), RecordError> {
        self.times.finish = Some(self.shared.now());
        self.end(Outcome::Aborted)
    }

    /// Nobody knows whether the transaction has an effect, or will have one. A client that goes on does so in a new session, because this
    /// transaction may take effect after the next one.
    pub fn unknown(&mut self) -> Result<(), RecordError> {
        self.end(Outcome::Indeterminate)
    }

    /// Databases take their snapshot as late as the first read, so the begin lies before its answer.
    fn has_begun(&mut self) {
        if self.times.began.is_none() {
            self.times.began = Some(self.shared.now());
        }
    }

    fn event(&mut self, event: &NamedEvent<'_>) {
        debug_assert!(self.open, "events are in transactions");
        if self.shared.kept.is_none() {
            return;
        }
        if !self.events.is_empty() {
            self.events.push(b',');
        }
        self.last = self.events.len();
        formats::write_jsonl_event(&mut self.events, event);
    }

    fn sending(&mut self, event: &NamedEvent<'_>) -> Result<(), RecordError> {
        self.event(event);
        self.put()
    }

    /// Puts the transaction so far among the open ones.
    fn put(&mut self) -> Result<(), RecordError> {
        if self.shared.kept.is_some() {
            self.format(Outcome::Indeterminate);
            self.put = self.events.len();
        }
        let Some(kept) = &self.shared.kept else { return Ok(()) };
        kept.pending.put(&mut self.slot, &mut self.line).map_err(|error| kept.fail(kept.pending.path(), &error))
    }

    fn end(&mut self, outcome: Outcome) -> Result<(), RecordError> {
        debug_assert!(self.open, "the transaction has begun");
        if self.shared.kept.is_some() {
            self.format(outcome);
        }
        if let Some(kept) = &self.shared.kept {
            kept.append(&self.shared.path, &self.line[HEAD..])?;
        }
        self.open = false;
        Ok(())
    }

    /// Makes the line, after room for the head of a slot.
    fn format(&mut self, outcome: Outcome) {
        let line = &mut self.line;
        line.resize(HEAD, 0);
        line.extend_from_slice(&self.prefix);
        let mut digits = itoa::Buffer::new();
        line.extend_from_slice(digits.format(self.number).as_bytes());
        line.extend_from_slice(match outcome {
            Outcome::Committed => &b",\"status\":\"committed\""[..],
            Outcome::Aborted => b",\"status\":\"aborted\"",
            Outcome::Indeterminate => b",\"status\":\"indeterminate\"",
        });
        for (field, time) in ["start", "began", "committing", "finish"].into_iter().zip(self.times.in_order()) {
            let Some(time) = time else { continue };
            for part in [",\"", field, "\":", digits.format(time)] {
                line.extend_from_slice(part.as_bytes());
            }
        }
        line.extend_from_slice(b",\"ops\":[");
        line.extend_from_slice(&self.events);
        line.extend_from_slice(b"]}\n");
    }
}

impl Drop for SessionRecorder {
    fn drop(&mut self) {
        if self.open {
            // Whoever leaves in the middle does not know the end. If this cannot be written, the slot still has it.
            let _ = self.unknown();
        }
        if let Some(kept) = self.shared.kept.as_ref().filter(|_| !self.open) {
            kept.pending.give_back(self.slot);
        }
    }
}
