//! From evidence to panels: who takes part, and what is to be seen of them.
//!
//! A circle is one panel: its edges, and with thin arrows what they rest on. A proof by cases begins with a panel of what is known in all of them,
//! and has a small one for each case.

use isonomy_checker::{Case, Counterexample, Edge, Evidence, Explanation, Topic, Why, events};
use isonomy_history::{Event, EventId, FaultKind, History, Key, ReadFault, TxnId, Writer};

use crate::draft::{self, Draft, Role};
use crate::model::Panel;

/// Of more cases only the first is drawn: a wall of panels says less than the story.
const MOST_CASES: usize = 4;

pub(crate) fn panels(history: &History, counterexample: &Counterexample, explanation: &Explanation<'_>) -> Vec<Panel> {
    match &counterexample.evidence {
        Evidence::Read(fault) => vec![faulty_read(history, fault, explanation)],
        Evidence::Cycle(edges) => {
            let mut draft = Draft::new(history);
            for edge in edges {
                draft.edge(edge, Role::Main);
            }
            for edge in edges {
                draft.reasons(edge);
            }
            observed(&mut draft, explanation);
            vec![draft.finish(None, true)]
        }
        Evidence::Refutation(refutation) => refuted(history, &refutation.cases, explanation),
    }
}

/// The panel of a read that is wrong by itself.
pub(crate) fn faulty_read(history: &History, fault: &ReadFault, explanation: &Explanation<'_>) -> Panel {
    let mut draft = Draft::new(history);
    explanation.transactions.iter().for_each(|participant| draft.party(Some(participant.txn)));
    let written = fault.value.map(|value| (value, history.derived().writer(value)));
    if let Some((value, Writer::Txn(writer))) = written {
        let write = events::write_of(history, writer, value);
        let ends = [write, Some(fault.event)];
        draft.arrow(wrote(writer, fault.txn, fault.key), Role::Main, ends);
        // That the value was replaced is seen only beside what replaced it.
        if fault.kind == FaultKind::Intermediate {
            events::last_write(history, writer, fault.key).into_iter().for_each(|event| draft.event(event));
        }
    }
    if let FaultKind::NotMyOwnWrite | FaultKind::NotMyLastWrite | FaultKind::NonRepeatable = fault.kind {
        // The nearest event before is what the read contradicts.
        let before = events::before(history, fault.txn, fault.key, fault.event);
        before.into_iter().for_each(|event| draft.event(event));
    }
    if let FaultKind::IncompatibleOrder(other) = fault.kind {
        draft.bad_event(other);
        opposite_orders(history, &mut draft, fault, other);
    }
    draft.bad_event(fault.event);
    observed(&mut draft, explanation);
    draft.finish(None, true)
}

/// Shows who read from those whose outcome nobody knows, where the story says so.
pub(crate) fn observed(draft: &mut Draft<'_>, explanation: &Explanation<'_>) {
    for step in &explanation.steps {
        if let Topic::Observed { writer, reader, key } = step.topic {
            draft.read(Some(writer), Some(reader), key, Role::Reason);
        }
    }
}

/// One wrote what the other read.
fn wrote(writer: TxnId, reader: TxnId, key: Key) -> Edge {
    Edge { from: Some(writer), to: Some(reader), why: Why::WriteRead(key) }
}

/// Shows who appended the first two elements that two lists have in different order.
fn opposite_orders(history: &History, draft: &mut Draft<'_>, fault: &ReadFault, other: EventId) {
    let list = |id: EventId| match history.event(id) {
        Event::ReadList { elements, .. } => elements,
        _ => &[],
    };
    let (this, that) = (list(fault.event), list(other));
    let owner = history.transactions().find(|&txn| history.event_ids(txn).any(|id| id == other));
    let differ = this.iter().zip(that).find(|(a, b)| a != b);
    for value in differ.into_iter().flat_map(|(a, b)| [*a, *b]) {
        let Writer::Txn(writer) = history.derived().writer(value) else { continue };
        let write = events::write_of(history, writer, value);
        for (elements, reader, event) in [(this, Some(fault.txn), fault.event), (that, owner, other)] {
            if let Some(reader) = reader
                && elements.contains(&value)
            {
                draft.arrow(wrote(writer, reader, fault.key), Role::Main, [write, Some(event)]);
            }
        }
    }
}

/// A version order that a case supposes.
pub(crate) type Supposed = (Key, TxnId, TxnId);

fn refuted(history: &History, cases: &[Case], explanation: &Explanation<'_>) -> Vec<Panel> {
    let leaves = leaves(cases);
    let drawn = if leaves.len() > MOST_CASES { 1 } else { leaves.len() };
    let mut known = Draft::new(history);
    for edge in leaves.iter().take(drawn).flat_map(|leaf| leaf.edges) {
        fact(history, &mut known, edge);
    }
    observed(&mut known, explanation);
    let mut panels = vec![known.finish(Some("What is known".into()), true)];
    let span = panels[0].clock;
    let others =
        if drawn < leaves.len() { format!(" of {}, the others not drawn", leaves.len()) } else { String::new() };
    for (index, leaf) in leaves.iter().enumerate().take(drawn) {
        let mut draft = Draft::new(history);
        for edge in leaf.edges {
            draft.edge(edge, Role::Main);
        }
        let caption = caption(history, &format!("Case {}{others}", index + 1), &leaf.supposed);
        // All panels tell times from the same moment on.
        panels.push(Panel { clock: span, ..draft.finish(Some(caption), false) });
    }
    panels
}

/// Adds what an edge says that holds in every case.
pub(crate) fn fact(history: &History, known: &mut Draft<'_>, edge: &Edge) {
    match edge.why {
        Why::Assumed(key) => {
            for txn in [edge.from, edge.to].into_iter().flatten() {
                known.party(Some(txn));
                events::last_write(history, txn, key).into_iter().for_each(|event| known.event(event));
            }
        }
        Why::AntiDependency { key, over } => {
            // What was missed depends on the case; what was read instead does not.
            known.read(over, edge.from, key, Role::Reason);
            if let Some(missed) = edge.to {
                known.party(edge.to);
                events::last_write(history, missed, key).into_iter().for_each(|event| known.event(event));
            }
        }
        _ => {
            known.edge(edge, Role::Reason);
            known.reasons(edge);
        }
    }
}

/// A case that a cycle closes.
pub(crate) struct Leaf<'c> {
    /// Its index.
    pub(crate) case: usize,
    pub(crate) supposed: Vec<Supposed>,
    pub(crate) edges: &'c [Edge],
}

/// The cycles that close the cases, each with what is supposed there, in the order of the tree.
pub(crate) fn leaves(cases: &[Case]) -> Vec<Leaf<'_>> {
    let mut found = Vec::new();
    // Evidence that nobody certified may lead to a case twice, or to one that is not there.
    let mut met = vec![false; cases.len()];
    let mut todo = vec![(0, Vec::new())];
    while let Some((case, supposed)) = todo.pop() {
        if met.get(case) != Some(&false) {
            continue;
        }
        met[case] = true;
        match &cases[case] {
            Case::Closed(edges) => found.push(Leaf { case, supposed, edges }),
            Case::Split { key, first, second, before, after } => {
                let with = |fact: Supposed| supposed.iter().copied().chain([fact]).collect::<Vec<_>>();
                todo.push((*after, with((*key, *second, *first))));
                todo.push((*before, with((*key, *first, *second))));
            }
        }
    }
    found
}

/// What a case supposes, in words, after what it is called.
pub(crate) fn caption(history: &History, name: &str, supposed: &[Supposed]) -> String {
    // Most proofs speak of one key, which is then said once.
    let shared = supposed.first().map(|first| first.0).filter(|&key| supposed.iter().all(|other| other.0 == key));
    let one = |&(key, first, second): &Supposed| {
        let [first, second] = [first, second].map(|txn| draft::name(history, txn));
        let order = format!("{first} before {second}");
        if shared.is_some() { order } else { format!("{order} on {}", draft::key(history, key)) }
    };
    let place = shared.map_or(String::new(), |key| format!(", on {}", draft::key(history, key)));
    let orders = supposed.iter().map(one).collect::<Vec<_>>().join(", ");
    if orders.is_empty() { name.to_string() } else { format!("{name}{place}: {orders}") }
}
