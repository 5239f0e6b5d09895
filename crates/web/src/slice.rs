//! A few of the transactions of a history, however many there are.

use isonomy::{Event, History, Key, Outcome, SessionId, TxnId, Value};
use serde::Serialize;

/// The most that are given at a time.
pub(crate) const MOST: usize = 200;

/// The most events that are told of each.
const EVENTS: usize = 200;

/// What to look for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Query {
    /// How many of those that fit are left out first.
    pub(crate) offset: usize,
    pub(crate) limit: usize,
    /// Of this session, as the history calls it.
    pub(crate) session: Option<String>,
    /// With an event of this key, as the history calls it.
    pub(crate) key: Option<String>,
}

/// What was found.
#[derive(Debug, Serialize)]
pub(crate) struct Slice {
    /// How many fit.
    pub(crate) total: usize,
    pub(crate) offset: usize,
    pub(crate) transactions: Vec<Row>,
}

/// A transaction.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) session: String,
    pub(crate) outcome: &'static str,
    pub(crate) start: Option<i64>,
    pub(crate) finish: Option<i64>,
    pub(crate) events: Vec<String>,
    /// Events that are not told, there being too many.
    pub(crate) more: usize,
}

/// Finds the transactions that fit, in the order of sessions.
pub(crate) fn slice(history: &History, query: &Query) -> Slice {
    let limit = query.limit.clamp(1, MOST);
    let none = || Slice { total: 0, offset: query.offset, transactions: Vec::new() };
    let session = match &query.session {
        None => None,
        Some(name) => match history.sessions().find(|&session| history.session_name(session).to_string() == *name) {
            Some(session) => Some(session),
            None => return none(),
        },
    };
    let key = match &query.key {
        None => None,
        Some(name) => match keys(history).find(|&key| history.key_name(key).to_string() == *name) {
            Some(key) => Some(key),
            None => return none(),
        },
    };
    let fitting = |txn: &TxnId| key.is_none_or(|key| history.events(*txn).any(|event| is_of(history, event, key)));
    let (mut total, mut found) = (0, Vec::new());
    let mut take = |txn: TxnId| {
        if total >= query.offset && found.len() < limit {
            found.push(row(history, txn));
        }
        total += 1;
    };
    match (session, key) {
        // The usual case must not go through all of a large history.
        (None, None) => {
            total = history.transaction_count();
            found = history.transactions().skip(query.offset).take(limit).map(|txn| row(history, txn)).collect();
        }
        (Some(session), _) => of_session(history, session).filter(fitting).for_each(take),
        (None, Some(_)) => history.transactions().filter(fitting).for_each(&mut take),
    }
    Slice { total, offset: query.offset, transactions: found }
}

fn of_session(history: &History, session: SessionId) -> impl Iterator<Item = TxnId> + use<> {
    history.transactions_of(session)
}

fn keys(history: &History) -> impl Iterator<Item = Key> + use<> {
    (0..history.key_count() as u32).map(Key)
}

fn is_of(history: &History, event: Event<'_>, key: Key) -> bool {
    let of = |value: Value| history.key_of(value) == key;
    match event {
        Event::Read(value)
        | Event::Write(value)
        | Event::Append(value)
        | Event::Insert(value)
        | Event::Delete(value) => of(value),
        Event::ReadList { key: read, .. } => read == key,
        Event::Range { rows, .. } => rows.iter().any(|&row| of(row)),
        Event::CompareAndSet { new, .. } => of(new),
    }
}

fn row(history: &History, txn: TxnId) -> Row {
    let times = history.times(txn);
    let events = history.events(txn);
    let count = events.len();
    Row {
        name: history.transaction_name(txn).to_string(),
        session: history.session_name(history.session_of(txn)).to_string(),
        outcome: match history.outcome(txn) {
            Outcome::Committed => "committed",
            Outcome::Aborted => "aborted",
            Outcome::Indeterminate => "indeterminate",
        },
        start: times.start,
        finish: times.finish,
        events: events.take(EVENTS).map(|event| told(history, event)).collect(),
        more: count.saturating_sub(EVENTS),
    }
}

/// An event in the notation of `hist`, or close to it.
fn told(history: &History, event: Event<'_>) -> String {
    let key = |value: Value| history.key_name(history.key_of(value));
    let datum = |value: Value| history.datum(value);
    let simple = |word: &str, value: Value| format!("{word}({},{})", key(value), datum(value));
    match event {
        Event::Read(value) => simple("r", value),
        Event::Write(value) => simple("w", value),
        Event::Append(value) => simple("append", value),
        Event::Insert(value) => simple("insert", value),
        Event::Delete(value) => format!("delete({})", key(value)),
        Event::ReadList { key, elements } => {
            format!("r({},[{}])", history.key_name(key), some(elements, |value| datum(value).to_string()))
        }
        Event::Range { lo, hi, rows } => {
            format!("range({lo}..{hi})=[{}]", some(rows, |value| format!("{}:{}", key(value), datum(value))))
        }
        Event::CompareAndSet { expected, new, succeeded } => {
            let failed = if succeeded { "" } else { " failed" };
            format!("cas({},{},{}){failed}", key(new), datum(expected), datum(new))
        }
    }
}

/// The first of a list, and that there are more.
fn some(values: &[Value], tell: impl Fn(Value) -> String) -> String {
    const SHOWN: usize = 20;
    let mut told: Vec<String> = values.iter().take(SHOWN).map(|&value| tell(value)).collect();
    if values.len() > SHOWN {
        told.push(format!("… {} more", values.len() - SHOWN));
    }
    told.join(" ")
}

#[cfg(test)]
mod tests {
    use isonomy::HistoryBuilder;

    use super::*;

    fn history() -> History {
        let mut builder = HistoryBuilder::new();
        for number in 0..10 {
            builder.transaction("alice").read("x", None::<i64>).write("y", number).commit();
            builder.transaction("bob").write("x", number).commit();
        }
        builder.finish().unwrap()
    }

    #[test]
    fn slices_are_what_was_asked_for() {
        let history = history();
        let ask = |offset, limit, session: Option<&str>, key: Option<&str>| {
            let query = Query { offset, limit, session: session.map(Into::into), key: key.map(Into::into) };
            let Slice { total, transactions, .. } = slice(&history, &query);
            (total, transactions.len())
        };
        assert_eq!(ask(0, 3, None, None), (20, 3));
        assert_eq!(ask(19, 3, None, None), (20, 1));
        assert_eq!(ask(99, 3, None, None), (20, 0));
        assert_eq!(ask(8, 5, Some("alice"), None), (10, 2));
        assert_eq!(ask(0, 50, None, Some("x")), (20, 20));
        assert_eq!(ask(0, 50, Some("bob"), Some("y")), (0, 0));
        assert_eq!(ask(0, 50, Some("carol"), None), (0, 0));
        assert_eq!(ask(0, 0, None, None), (20, 1));
        let first = &slice(&history, &Query { limit: 1, ..Query::default() }).transactions[0];
        assert_eq!(first.events, ["r(x,_)", "w(y,0)"]);
    }
}
