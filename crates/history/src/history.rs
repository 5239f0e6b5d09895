//! The history itself: flat columns, and views on them.

use std::fmt;
use std::ops::Range;

use crate::builder::InitialRule;
use crate::derived::Derived;
use crate::error::{Place, WriteAt};
use crate::event::{Compound, Event, EventId, Kind, Outcome, Times};
use crate::names::{Datum, Name, Names, Texts};
use crate::values::Values;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an index of a vector.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// A key, numbered by first appearance.
    Key,
    /// A value of one particular key: equal values of different keys have different ids.
    Value,
    /// A session, numbered by first appearance.
    SessionId,
    /// A transaction, numbered session by session and in session order within each.
    TxnId
}

/// Everything observed in one run.
///
/// Transactions of all outcomes are here; which of them count is in [`Derived`].
pub struct History {
    pub(crate) texts: Texts,
    pub(crate) keys: Names,
    pub(crate) session_names: Names,
    /// For each session the file it came from, where there are several.
    pub(crate) session_files: Vec<Option<Box<str>>>,
    pub(crate) values: Values,
    pub(crate) initial: InitialRule,
    /// `sessions[s]..sessions[s + 1]` are the transactions of session `s`.
    pub(crate) sessions: Vec<u32>,
    pub(crate) events_of: Vec<Range<u32>>,
    /// All transactions in the order of the input, which is that of their events in memory.
    pub(crate) as_given: Vec<TxnId>,
    pub(crate) outcomes: Vec<Outcome>,
    /// Empty where no transaction has times.
    pub(crate) times: Vec<Times>,
    /// The line on which each transaction begins; empty where there are no lines.
    pub(crate) lines: Vec<u32>,
    /// What the file calls each transaction; empty where it does not.
    pub(crate) labels: Vec<i64>,
    pub(crate) kinds: Vec<Kind>,
    pub(crate) columns: Vec<u32>,
    pub(crate) compounds: Vec<Compound>,
    pub(crate) compound_values: Vec<Value>,
    pub(crate) bounds: Names,
    pub(crate) event_total: usize,
    pub(crate) derived: Derived,
}

impl History {
    /// What follows from the history and every checker needs.
    pub fn derived(&self) -> &Derived {
        &self.derived
    }

    /// All sessions.
    pub fn sessions(&self) -> impl ExactSizeIterator<Item = SessionId> + use<> {
        (0..self.sessions.len() as u32 - 1).map(SessionId)
    }

    /// How many transactions there are, of all outcomes.
    pub fn transaction_count(&self) -> usize {
        self.events_of.len()
    }

    /// How many events there are, in transactions of all outcomes.
    pub fn event_count(&self) -> usize {
        self.event_total
    }

    /// How many keys occur.
    pub fn key_count(&self) -> usize {
        self.keys.len()
    }

    /// How many different values of keys occur.
    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    /// All transactions, session by session.
    pub fn transactions(&self) -> impl ExactSizeIterator<Item = TxnId> + use<> {
        (0..self.events_of.len() as u32).map(TxnId)
    }

    /// All transactions in the order of the input, which agrees with session order.
    pub fn transactions_as_given(&self) -> &[TxnId] {
        &self.as_given
    }

    /// The transactions of a session, in session order. They are numbered consecutively.
    pub fn transactions_of(
        &self,
        session: SessionId,
    ) -> impl ExactSizeIterator<Item = TxnId> + DoubleEndedIterator + Clone + use<> {
        (self.sessions[session.index()]..self.sessions[session.index() + 1]).map(TxnId)
    }

    /// The session of a transaction.
    pub fn session_of(&self, txn: TxnId) -> SessionId {
        SessionId(self.sessions.partition_point(|&first| first <= txn.0) as u32 - 1)
    }

    /// The position of a transaction in its session, from 0.
    pub fn position(&self, txn: TxnId) -> u32 {
        txn.0 - self.sessions[self.session_of(txn).index()]
    }

    /// How a transaction ended.
    pub fn outcome(&self, txn: TxnId) -> Outcome {
        self.outcomes[txn.index()]
    }

    /// When a transaction ran.
    pub fn times(&self, txn: TxnId) -> Times {
        self.times.get(txn.index()).copied().unwrap_or_default()
    }

    /// Whether any transaction has a time.
    pub fn has_times(&self) -> bool {
        !self.times.is_empty()
    }

    /// The ids of a transaction's events, in program order. They are consecutive.
    pub fn event_ids(&self, txn: TxnId) -> impl ExactSizeIterator<Item = EventId> + DoubleEndedIterator + use<> {
        self.events_of[txn.index()].clone().map(EventId)
    }

    /// The events of a transaction, in program order.
    pub fn events(&self, txn: TxnId) -> impl ExactSizeIterator<Item = Event<'_>> {
        self.event_ids(txn).map(|id| self.event(id))
    }

    /// One event.
    pub fn event(&self, id: EventId) -> Event<'_> {
        let column = self.columns[id.0 as usize];
        let value = Value(column);
        match self.kinds[id.0 as usize] {
            Kind::Read => Event::Read(value),
            Kind::Write => Event::Write(value),
            Kind::Append => Event::Append(value),
            Kind::Insert => Event::Insert(value),
            Kind::Delete => Event::Delete(value),
            Kind::ReadList => {
                let (compound, elements) = self.compound(column);
                Event::ReadList { key: Key(compound.key), elements }
            }
            Kind::Range => {
                let (compound, rows) = self.compound(column);
                let bound = |id| self.bounds.get(id, &self.texts);
                Event::Range { lo: bound(compound.lo), hi: bound(compound.hi), rows }
            }
            kind @ (Kind::CasSucceeded | Kind::CasFailed) => {
                let (_, values) = self.compound(column);
                Event::CompareAndSet { expected: values[0], new: values[1], succeeded: kind == Kind::CasSucceeded }
            }
        }
    }

    pub(crate) fn compound(&self, column: u32) -> (Compound, &[Value]) {
        let compound = self.compounds[column as usize];
        (compound, &self.compound_values[compound.start as usize..compound.end as usize])
    }

    /// The key a value belongs to.
    #[inline]
    pub fn key_of(&self, value: Value) -> Key {
        Key(self.values.key(value.0))
    }

    /// What the file calls a key.
    pub fn key_name(&self, key: Key) -> Name<'_> {
        self.keys.get(key.0, &self.texts)
    }

    /// What the file calls a session.
    pub fn session_name(&self, session: SessionId) -> Name<'_> {
        self.session_names.get(session.0, &self.texts)
    }

    /// What the file says the key held.
    pub fn datum(&self, value: Value) -> Datum<'_> {
        self.values.datum(value.0, &self.texts)
    }

    /// What keys hold at first, where that is one value for all.
    pub fn initial(&self) -> InitialRule {
        self.initial
    }

    /// The file's own number for a transaction, where it has one.
    pub fn label(&self, txn: TxnId) -> Option<i64> {
        self.labels.get(txn.index()).copied()
    }

    /// The name of a transaction for people: `T949` if the file numbers transactions, else `T(session,position)`.
    pub fn transaction_name(&self, txn: TxnId) -> TransactionName<'_> {
        TransactionName { history: self, txn }
    }

    /// Where in the input a transaction stands.
    pub fn place(&self, txn: TxnId) -> Place {
        Place {
            file: self.session_files[self.session_of(txn).index()].clone(),
            line: self.lines.get(txn.index()).copied().map_or(0, u64::from),
        }
    }

    pub(crate) fn write_at(&self, txn: TxnId) -> WriteAt {
        WriteAt {
            place: self.place(txn),
            session: self.session_name(self.session_of(txn)).to_string().into(),
            transaction: self.position(txn) + 1,
        }
    }
}

/// Displays as the name of a transaction; see [`History::transaction_name`].
#[derive(Clone, Copy, Debug)]
pub struct TransactionName<'h> {
    history: &'h History,
    txn: TxnId,
}

impl fmt::Display for TransactionName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.history.label(self.txn) {
            Some(label) if label >= 0 => write!(f, "T{label}"),
            _ => {
                let session = self.history.session_of(self.txn);
                write!(f, "T({},{})", self.history.session_name(session), self.history.position(self.txn) + 1)
            }
        }
    }
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("History")
            .field("sessions", &self.sessions().len())
            .field("transactions", &self.transaction_count())
            .field("events", &self.event_count())
            .finish_non_exhaustive()
    }
}
