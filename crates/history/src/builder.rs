//! Building a history, event by event.

use std::ops::Range;

use crate::derived::Derived;
use crate::error::HistoryError;
use crate::event::{Compound, Kind, Outcome, Times};
use crate::history::{History, TxnId, Value};
use crate::names::{Datum, Name, Names, Texts};
use crate::values::{Interner, MAX_KEYS};

/// Which values of a key are its initial one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialRule {
    /// Keys are absent at first: only `null` is the initial value.
    Absent,
    /// Every key holds this number at first; writing it is an error.
    Declared(i64),
    /// Every key holds this number at first, except keys to which it is also written (PolySI's text and its relatives).
    UnlessWritten(i64),
    /// The first value of a key that is read and written by nobody is its initial one, unless the key is also read as
    /// absent (Viper's logs).
    Unwritten,
}

/// Builds a [`History`].
///
/// [`transaction`](Self::transaction) reads best in code. Readers of files use the calls below it, one per event.
pub struct HistoryBuilder {
    pub(crate) texts: Texts,
    pub(crate) keys: Names,
    pub(crate) session_names: Names,
    pub(crate) session_files: Vec<Option<Box<str>>>,
    file: Option<Box<str>>,
    pub(crate) interner: Interner,
    initial: InitialRule,
    limit: usize,

    /// The transaction to which events are added.
    current: usize,
    pub(crate) session_of: Vec<u32>,
    pub(crate) events_of: Vec<Range<u32>>,
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) times: Vec<Times>,
    lines: Vec<u32>,
    labels: Vec<i64>,

    pub(crate) kinds: Vec<Kind>,
    pub(crate) columns: Vec<u32>,
    pub(crate) compounds: Vec<Compound>,
    pub(crate) compound_values: Vec<Value>,
    pub(crate) bounds: Names,
    /// Slots of `kinds` that belong to no transaction any more: a resumed transaction moved away.
    holes: usize,
    error: Option<HistoryError>,
}

impl Default for HistoryBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl HistoryBuilder {
    /// An empty history; its keys are absent at first.
    pub fn new() -> Self {
        HistoryBuilder {
            texts: Texts::default(),
            keys: Names::default(),
            session_names: Names::default(),
            session_files: Vec::new(),
            file: None,
            interner: Interner::new(),
            initial: InitialRule::Absent,
            limit: usize::MAX,
            current: 0,
            session_of: Vec::new(),
            events_of: Vec::new(),
            outcomes: Vec::new(),
            times: Vec::new(),
            lines: Vec::new(),
            labels: Vec::new(),
            kinds: Vec::new(),
            columns: Vec::new(),
            compounds: Vec::new(),
            compound_values: Vec::new(),
            bounds: Names::default(),
            holes: 0,
            error: None,
        }
    }

    /// Says which values are initial. Must come before the first event.
    pub fn set_initial(&mut self, rule: InitialRule) {
        assert!(self.kinds.is_empty(), "the initial value is declared before the first event");
        self.initial = rule;
    }

    /// Fails the build cleanly when the history would need more than this many bytes.
    pub fn set_memory_limit(&mut self, bytes: usize) {
        self.limit = bytes;
    }

    /// Makes room for an input of about this many bytes of text. A guess, for speed only.
    pub(crate) fn expect_input(&mut self, bytes: u64) {
        // An event takes some 25 bytes in the formats of the field, and about half of them write.
        let values = usize::try_from(bytes / 52).unwrap_or(0).min(self.limit / 64);
        if values > 1 << 12 {
            self.interner.expect(values);
        }
    }

    /// Names the file that the following sessions come from, where a history has several.
    pub fn set_file(&mut self, file: &str) {
        self.file = Some(file.into());
    }

    /// Begins a transaction; it commits, aborts or stays indeterminate at the end of the chain of calls.
    pub fn transaction<'n>(&mut self, session: impl Into<Name<'n>>) -> TransactionBuilder<'_> {
        self.begin(session.into());
        TransactionBuilder { builder: self }
    }

    /// Begins a transaction. Until the next one begins, events belong to it; it is committed unless said otherwise.
    pub fn begin(&mut self, session: Name<'_>) -> TxnId {
        let session = self.session_names.intern(session, &mut self.texts);
        if session as usize == self.session_files.len() {
            self.session_files.push(self.file.clone());
        }
        let start = self.kinds.len() as u32;
        self.session_of.push(session);
        self.events_of.push(start..start);
        self.outcomes.push(Outcome::Committed);
        self.current = self.events_of.len() - 1;
        TxnId(self.current as u32)
    }

    /// Goes on with a transaction that others interrupted. `txn` is what [`begin`](Self::begin) returned.
    pub fn resume(&mut self, txn: TxnId) {
        let events = self.events_of[txn.index()].clone();
        self.current = txn.index();
        if events.end as usize == self.kinds.len() {
            return;
        }
        self.interner.flush(&mut self.columns);
        let start = self.kinds.len() as u32;
        self.holes += events.len();
        self.kinds.extend_from_within(events.start as usize..events.end as usize);
        self.columns.extend_from_within(events.start as usize..events.end as usize);
        self.events_of[txn.index()] = start..self.kinds.len() as u32;
    }

    /// The session of a transaction that was begun before.
    pub(crate) fn session_name(&self, txn: TxnId) -> Name<'_> {
        self.session_names.get(self.session_of[txn.index()], &self.texts)
    }

    /// Whether the current transaction is the last begun, of this session, and ended so.
    pub(crate) fn last_is(&self, session: Name<'_>, outcome: Outcome) -> bool {
        !self.events_of.is_empty()
            && self.current == self.events_of.len() - 1
            && self.outcomes[self.current] == outcome
            && self.session_name(TxnId(self.current as u32)) == session
    }

    /// The line on which a transaction that was begun before begins.
    pub(crate) fn line(&self, txn: TxnId) -> u32 {
        self.lines.get(txn.index()).copied().unwrap_or(0)
    }

    /// The current transaction begins on this line of the input.
    pub fn set_line(&mut self, line: u64) {
        let line = u32::try_from(line).unwrap_or(0);
        fill(&mut self.lines, self.current, 0)[self.current] = line;
    }

    /// The input's own number for the current transaction. Give it to all or to none.
    pub fn set_label(&mut self, label: i64) {
        fill(&mut self.labels, self.current, -1)[self.current] = label;
    }

    /// When the current transaction ran.
    pub fn set_times(&mut self, times: Times) {
        if times != Times::default() {
            fill(&mut self.times, self.current, Times::default())[self.current] = times;
        }
    }

    /// How the current transaction ended.
    pub fn set_outcome(&mut self, outcome: Outcome) {
        self.outcomes[self.current] = outcome;
    }

    /// The current transaction read this value.
    #[inline]
    pub fn read(&mut self, key: Name<'_>, value: Datum<'_>) {
        self.simple(Kind::Read, key, value);
    }

    /// The current transaction wrote this value.
    #[inline]
    pub fn write(&mut self, key: Name<'_>, value: Datum<'_>) {
        self.simple(Kind::Write, key, value);
    }

    /// The current transaction appended this element to the key's list.
    pub fn append(&mut self, key: Name<'_>, element: Datum<'_>) {
        self.simple(Kind::Append, key, element);
    }

    /// The current transaction inserted the key with this value.
    pub fn insert(&mut self, key: Name<'_>, value: Datum<'_>) {
        self.simple(Kind::Insert, key, value);
    }

    /// The current transaction deleted the key, leaving this tombstone.
    pub fn delete(&mut self, key: Name<'_>, tombstone: Datum<'_>) {
        self.simple(Kind::Delete, key, tombstone);
    }

    /// The current transaction read the key's whole list.
    pub fn read_list<'n>(&mut self, key: Name<'_>, elements: impl IntoIterator<Item = Datum<'n>>) {
        let key = self.key(key);
        let start = self.compound_values.len() as u32;
        for element in elements {
            let value = self.intern(key, element);
            self.compound_values.push(value);
        }
        self.compound(Kind::ReadList, Compound { key, lo: 0, hi: 0, start, end: 0 });
    }

    /// The current transaction read all keys from `lo` to `hi`, both included, and got these.
    pub fn range<'n>(&mut self, lo: Name<'_>, hi: Name<'_>, rows: impl IntoIterator<Item = (Name<'n>, Datum<'n>)>) {
        let lo = self.bounds.intern(lo, &mut self.texts);
        let hi = self.bounds.intern(hi, &mut self.texts);
        let start = self.compound_values.len() as u32;
        for (key, value) in rows {
            let key = self.key(key);
            let value = self.intern(key, value);
            self.compound_values.push(value);
        }
        self.compound(Kind::Range, Compound { key: 0, lo, hi, start, end: 0 });
    }

    /// The current transaction compared the key with `expected` and, if it `succeeded`, set it to `new`.
    pub fn compare_and_set(&mut self, key: Name<'_>, expected: Datum<'_>, new: Datum<'_>, succeeded: bool) {
        let key = self.key(key);
        let start = self.compound_values.len() as u32;
        for datum in [expected, new] {
            let value = self.intern(key, datum);
            self.compound_values.push(value);
        }
        let kind = if succeeded { Kind::CasSucceeded } else { Kind::CasFailed };
        self.compound(kind, Compound { key, lo: 0, hi: 0, start, end: 0 });
    }

    #[inline]
    fn simple(&mut self, kind: Kind, key: Name<'_>, datum: Datum<'_>) {
        let key = self.key(key);
        let datum = self.effective(datum);
        let target = self.push(kind, 0);
        self.interner.later(key, datum, &mut self.texts, target, &mut self.columns);
    }

    fn compound(&mut self, kind: Kind, mut compound: Compound) {
        compound.end = self.compound_values.len() as u32;
        self.compounds.push(compound);
        self.push(kind, self.compounds.len() as u32 - 1);
    }

    #[inline]
    fn push(&mut self, kind: Kind, column: u32) -> u32 {
        let at = self.kinds.len();
        debug_assert_eq!(self.events_of[self.current].end as usize, at, "the current transaction is the last");
        if at & 0xffff == 0 {
            self.check_limits();
        }
        self.kinds.push(kind);
        self.columns.push(column);
        self.events_of[self.current].end = at as u32 + 1;
        at as u32
    }

    #[inline]
    fn key(&mut self, key: Name<'_>) -> u32 {
        self.keys.intern(key, &mut self.texts)
    }

    fn intern(&mut self, key: u32, datum: Datum<'_>) -> Value {
        let datum = self.effective(datum);
        Value(self.interner.now(key, datum, &mut self.texts))
    }

    #[inline]
    fn effective<'a>(&self, datum: Datum<'a>) -> Datum<'a> {
        match (self.initial, datum) {
            (InitialRule::Declared(initial), Datum::Int(i)) if i == initial => Datum::Initial,
            _ => datum,
        }
    }

    pub(crate) fn check_limits(&mut self) {
        let too_many = |what, limit| Some(HistoryError::TooMany { what, limit });
        let events = u64::from(u32::MAX) - 1;
        self.error = if self.bytes() > self.limit {
            Some(HistoryError::TooLarge { limit: self.limit >> 20 })
        } else if self.kinds.len().max(self.compound_values.len()) as u64 + 0x10000 > events {
            too_many("events", events)
        } else if self.keys.len() + 0x10000 > MAX_KEYS {
            too_many("keys", MAX_KEYS as u64)
        } else if self.events_of.len() as u64 > u64::from(Derived::MAX_TRANSACTIONS) - 0x10000 {
            too_many("transactions", u64::from(Derived::MAX_TRANSACTIONS))
        } else {
            return;
        };
    }

    /// What the finished history will need at its largest: the columns, and what is derived from them.
    fn bytes(&self) -> usize {
        let derived =
            self.kinds.len() * 6 + self.interner.len() * 4 + self.keys.len() * 12 + self.compound_values.len() * 8;
        self.kinds.len() * 5
            + self.compounds.len() * 20
            + self.compound_values.len() * 4
            + self.events_of.len() * 24
            + self.times.len() * 64
            + self.interner.bytes()
            + self.keys.bytes()
            + self.texts.bytes()
            + derived
    }

    /// Drops transactions and events, but keeps all names and values interned: a writer has written them.
    pub(crate) fn forget_events(&mut self) {
        self.session_of.clear();
        self.events_of.clear();
        self.outcomes.clear();
        self.times.clear();
        self.kinds.clear();
        self.columns.clear();
        self.compounds.clear();
        self.compound_values.clear();
        self.holes = 0;
    }

    /// Whether the history can still be built. Readers ask now and then, to stop early.
    pub fn status(&self) -> Result<(), HistoryError> {
        self.error.clone().map_or(Ok(()), Err)
    }

    /// Checks what was given and derives what all checkers need.
    pub fn finish(mut self) -> Result<History, HistoryError> {
        self.check_limits();
        self.status()?;
        self.interner.flush(&mut self.columns);
        let sessions = self.session_names.len();
        let transactions = self.events_of.len();

        // Number the transactions session by session: a counting sort, stable within each session.
        let mut first = vec![0u32; sessions + 1];
        for &session in &self.session_of {
            first[session as usize + 1] += 1;
        }
        for session in 0..sessions {
            first[session + 1] += first[session];
        }
        let mut next = first.clone();
        let mut given = vec![0u32; transactions];
        for (txn, &session) in self.session_of.iter().enumerate() {
            given[next[session as usize] as usize] = txn as u32;
            next[session as usize] += 1;
        }
        // And the way back: passes over all events go through them as they came, which is how they lie in memory.
        let mut as_given = vec![TxnId(0); transactions];
        for (txn, &old) in given.iter().enumerate() {
            as_given[old as usize] = TxnId(txn as u32);
        }
        drop((next, std::mem::take(&mut self.session_of)));

        let mut history = History {
            sessions: first,
            events_of: permuted(&self.events_of, &given),
            as_given,
            outcomes: permuted(&self.outcomes, &given),
            times: permuted(fill_if_used(&mut self.times, transactions, Times::default()), &given),
            lines: permuted(fill_if_used(&mut self.lines, transactions, 0), &given),
            labels: permuted(fill_if_used(&mut self.labels, transactions, -1), &given),
            texts: self.texts,
            keys: self.keys,
            session_names: self.session_names,
            session_files: self.session_files,
            values: self.interner.finish(),
            initial: self.initial,
            event_total: self.kinds.len() - self.holes,
            kinds: self.kinds,
            columns: self.columns,
            compounds: self.compounds,
            compound_values: self.compound_values,
            bounds: self.bounds,
            derived: Derived::default(),
        };
        for txn in history.transactions() {
            let known: Vec<i64> = history.times(txn).in_order().into_iter().flatten().collect();
            if let Some(pair) = known.windows(2).find(|pair| pair[0] > pair[1]) {
                return Err(HistoryError::TimesBackwards {
                    at: history.write_at(txn),
                    earlier: pair[0],
                    later: pair[1],
                });
            }
        }
        history.derived = Derived::of(&history)?;
        Ok(history)
    }
}

/// A column that not every transaction has, long enough for `index`.
fn fill<T: Clone>(column: &mut Vec<T>, index: usize, default: T) -> &mut Vec<T> {
    if column.len() <= index {
        column.resize(index + 1, default);
    }
    column
}

fn fill_if_used<T: Clone>(column: &mut Vec<T>, length: usize, default: T) -> &[T] {
    if !column.is_empty() {
        column.resize(length, default);
    }
    column
}

fn permuted<T: Clone>(column: &[T], given: &[u32]) -> Vec<T> {
    if column.is_empty() { Vec::new() } else { given.iter().map(|&txn| column[txn as usize].clone()).collect() }
}

/// A transaction under construction. Its last call says how it ended.
#[must_use = "a transaction ends with `commit`, `abort` or `indeterminate`"]
pub struct TransactionBuilder<'b> {
    builder: &'b mut HistoryBuilder,
}

impl TransactionBuilder<'_> {
    /// It read this value; `None` is the initial state.
    pub fn read<'n>(self, key: impl Into<Name<'n>>, value: impl Into<Datum<'n>>) -> Self {
        self.builder.read(key.into(), value.into());
        self
    }

    /// It wrote this value.
    pub fn write<'n>(self, key: impl Into<Name<'n>>, value: impl Into<Datum<'n>>) -> Self {
        self.builder.write(key.into(), value.into());
        self
    }

    /// It appended this element to the key's list.
    pub fn append<'n>(self, key: impl Into<Name<'n>>, element: impl Into<Datum<'n>>) -> Self {
        self.builder.append(key.into(), element.into());
        self
    }

    /// It read the key's whole list.
    pub fn read_list<'n, T: Into<Datum<'n>>>(
        self,
        key: impl Into<Name<'n>>,
        elements: impl IntoIterator<Item = T>,
    ) -> Self {
        self.builder.read_list(key.into(), elements.into_iter().map(Into::into));
        self
    }

    /// It inserted the key with this value.
    pub fn insert<'n>(self, key: impl Into<Name<'n>>, value: impl Into<Datum<'n>>) -> Self {
        self.builder.insert(key.into(), value.into());
        self
    }

    /// It deleted the key, leaving this tombstone.
    pub fn delete<'n>(self, key: impl Into<Name<'n>>, tombstone: impl Into<Datum<'n>>) -> Self {
        self.builder.delete(key.into(), tombstone.into());
        self
    }

    /// It read all keys from `lo` to `hi`, both included, and got these.
    pub fn range<'n, K: Into<Name<'n>>, V: Into<Datum<'n>>>(
        self,
        lo: impl Into<Name<'n>>,
        hi: impl Into<Name<'n>>,
        rows: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        self.builder.range(lo.into(), hi.into(), rows.into_iter().map(|(key, value)| (key.into(), value.into())));
        self
    }

    /// It compared the key with `expected` and, if it `succeeded`, set it to `new`.
    pub fn compare_and_set<'n>(
        self,
        key: impl Into<Name<'n>>,
        expected: impl Into<Datum<'n>>,
        new: impl Into<Datum<'n>>,
        succeeded: bool,
    ) -> Self {
        self.builder.compare_and_set(key.into(), expected.into(), new.into(), succeeded);
        self
    }

    /// It ran from `start` to `finish`.
    pub fn at(self, start: i64, finish: i64) -> Self {
        self.times(Times { start: Some(start), finish: Some(finish), ..Times::default() })
    }

    /// When it ran, in full.
    pub fn times(self, times: Times) -> Self {
        self.builder.set_times(times);
        self
    }

    /// It committed.
    pub fn commit(self) {
        self.builder.set_outcome(Outcome::Committed);
    }

    /// It aborted.
    pub fn abort(self) {
        self.builder.set_outcome(Outcome::Aborted);
    }

    /// Its client never learnt how it ended.
    pub fn indeterminate(self) {
        self.builder.set_outcome(Outcome::Indeterminate);
    }
}
