//! From bare transactions to evidence: the reason of each edge of a cycle.

use isonomy_history::{Event, History, Key, TxnId, Value, Writer};

use crate::chains::NONE;
use crate::level::IsolationLevel;
use crate::saturation::{Inferred, Saturated};
use crate::verdict::{Edge, Party, Step, Why};

/// The reasons of a cycle. Sessions are transitive, so that runs of session edges become one.
pub(crate) fn cycle(saturated: &Saturated<'_>, level: IsolationLevel, cycle: &[u32]) -> Vec<Edge> {
    let view = &saturated.view;
    let session = |from: TxnId, to: TxnId| {
        view.chains.are_sessions && from < to && view.chains.chain[from.index()] == view.chains.chain[to.index()]
    };
    let cycle = without_detours(cycle, |from, to| {
        session(TxnId(from), TxnId(to))
            || view.derived.reads(TxnId(to)).iter().any(|read| read.from() == Some(TxnId(from)))
    });
    let length = cycle.len();
    let at = |index: usize| TxnId(cycle[index % length]);
    // Begin where a run of session edges ends, so that no run is cut in two.
    let first = (0..length).find(|&i| !session(at(i + length - 1), at(i)) && session(at(i), at(i + 1))).unwrap_or(0);
    let mut edges: Vec<Edge> = Vec::new();
    let mut index = first;
    while index < first + length {
        let from = at(index);
        let mut next = index + 1;
        if session(from, at(next)) {
            while next < first + length && session(from, at(next + 1)) && at(next + 1) != from {
                next += 1;
            }
            edges.push(Edge { from: Some(from), to: Some(at(next)), why: Why::Session });
        } else {
            let to = at(next);
            edges.push(Edge { from: Some(from), to: Some(to), why: why(saturated, level, from, to) });
        }
        index = next;
    }
    edges
}

/// A cycle without what can be left out because one transaction directly precedes a later one of the cycle.
fn without_detours(cycle: &[u32], precedes: impl Fn(u32, u32) -> bool) -> Vec<u32> {
    /// Every pair is tried. Cycles are short as a rule; what is longer than this nobody reads to its end anyway.
    const MOST: usize = 1_000;
    let mut cycle = cycle.to_vec();
    let mut first = 0;
    while cycle.len() > 2 && cycle.len() <= MOST && first < cycle.len() {
        let length = cycle.len();
        // The longest way ahead; all the way round would be no cycle.
        let ahead = (2..length).rev().find(|&ahead| precedes(cycle[first], cycle[(first + ahead) % length]));
        match ahead {
            Some(ahead) => {
                cycle.rotate_left(first);
                cycle.drain(1..ahead);
                first = 0;
            }
            None => first += 1,
        }
    }
    cycle
}

fn why(saturated: &Saturated<'_>, level: IsolationLevel, from: TxnId, to: TxnId) -> Why {
    let derived = saturated.view.derived;
    if let Some(key) = key_read(saturated.view.history, to, from) {
        return Why::WriteRead(key);
    }
    if let Some(edge) = derived.version_edges().iter().find(|edge| edge.before == from && edge.after == to) {
        return Why::Version(edge.key);
    }
    let inferred = saturated.reason(from, to).expect("an edge is known or inferred");
    overwritten(saturated, level, inferred)
}

/// A key that one transaction reads from another, list elements included.
pub(crate) fn key_read(history: &History, reader: TxnId, writer: TxnId) -> Option<Key> {
    let reads = history.derived().reads(reader);
    let from_writer = |read: &&isonomy_history::ExternalRead| read.from() == Some(writer);
    let whole = reads.iter().filter(from_writer).find_map(|read| read.key());
    whole.or_else(|| {
        reads.iter().any(|read| read.from() == Some(writer)).then(|| {
            let wrote = |value: &&Value| history.derived().writer(**value) == Writer::Txn(writer);
            let lists = history.events(reader).filter_map(|event| match event {
                Event::ReadList { key, elements } => elements.iter().find(wrote).map(|_| key),
                _ => None,
            });
            lists.into_iter().next().expect("an observed element stands in a list")
        })
    })
}

fn overwritten(saturated: &Saturated<'_>, level: IsolationLevel, inferred: Inferred) -> Why {
    let Inferred { before, reader, key, after } = inferred;
    let history = saturated.view.history;
    let seen = match level {
        IsolationLevel::ReadCommitted => {
            let through = key_read_before(history, reader, before, key, after);
            vec![Step { from: before, to: reader, key: Some(through.expect("it was read before")) }]
        }
        IsolationLevel::ReadAtomic => {
            vec![Step { from: before, to: reader, key: key_read(history, reader, before) }]
        }
        _ => path(saturated, before, reader),
    };
    Why::Overwritten { key, reader, seen }
}

/// The edges of a stale read of the initial state.
pub(crate) fn stale_initial(saturated: &Saturated<'_>, level: IsolationLevel, inferred: Inferred) -> Vec<Edge> {
    let before = Some(inferred.before);
    let overwritten = overwritten(saturated, level, inferred);
    vec![Edge { from: before, to: None, why: overwritten }, Edge { from: None, to: before, why: Why::Initial }]
}

/// Whether `reader` reads something from `seen` before it reads `key` from `stale`.
pub(crate) fn read_before(history: &History, reader: TxnId, seen: TxnId, key: Key, stale: Party) -> bool {
    key_read_before(history, reader, seen, key, stale).is_some()
}

/// The key through which `reader` sees `seen` before it reads `key` from `stale`.
fn key_read_before(history: &History, reader: TxnId, seen: TxnId, key: Key, stale: Party) -> Option<Key> {
    let reads = history.derived().reads(reader);
    let last = reads.iter().rposition(|read| read.key() == Some(key) && read.from() == stale)?;
    // Rows of one range are read at once.
    let last = reads[..=last].iter().rposition(|read| !read.is_same_event())?;
    let mut before = reads[..last].iter().filter(|read| read.from() == Some(seen));
    let first = before.next()?;
    first.key().or_else(|| before.find_map(|read| read.key())).or_else(|| key_read(history, reader, seen))
}

/// The shortest path of session and write-read edges from one transaction to another that it happens before.
fn path(saturated: &Saturated<'_>, from: TxnId, to: TxnId) -> Vec<Step> {
    let view = &saturated.view;
    let chains = &view.chains;
    let session =
        |a: TxnId, b: TxnId| chains.are_sessions && a < b && chains.chain[a.index()] == chains.chain[b.index()];
    // Backwards from `to`; a session's transactions are reached from the latest one met, all in one step.
    let mut next = vec![NONE; view.history.transaction_count()];
    let mut queue = std::collections::VecDeque::from([to]);
    next[to.index()] = to.0;
    'search: while let Some(txn) = queue.pop_front() {
        if session(from, txn) {
            next[from.index()] = txn.0;
            break;
        }
        let mut earlier = chains.previous[txn.index()];
        // Earlier ones of the session that have sources of their own are entered one by one, but count as one step each way: paths
        // through sessions are collapsed below.
        while earlier != NONE && next[earlier as usize] == NONE {
            next[earlier as usize] = txn.0;
            queue.push_back(TxnId(earlier));
            earlier = chains.previous[earlier as usize];
        }
        for source in view.derived.reads(txn).iter().filter_map(|read| read.from()) {
            if next[source.index()] == NONE {
                next[source.index()] = txn.0;
                if source == from {
                    break 'search;
                }
                queue.push_back(source);
            }
        }
    }
    let mut steps = Vec::new();
    let mut at = from;
    while at != to {
        let then = TxnId(next[at.index()]);
        let key = if session(at, then) { None } else { key_read(view.history, then, at) };
        steps.push(Step { from: at, to: then, key });
        at = then;
    }
    steps
}
