//! Counterexamples are minimal: no transaction of one can be spared.
//!
//! What is left of a history when only the transactions of a counterexample remain, and of these only the events that its explanation
//! shows, violates the level. Without any one of these transactions, and without the reads of what that one wrote, the level holds.
//!
//! The reads go with the writer because a read that nobody explains would be a violation of its own, and a worse one.

#![allow(clippy::print_stderr, reason = "sizes are for whoever runs the tests")]

mod shared;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use isonomy_checker::{Counterexample, Explanation, IsolationLevel as L, Options, Verdict, check, explain};
use isonomy_history::{
    Datum, Event, EventId, FaultKind, History, HistoryBuilder, NamedEvent, Record, Sink, TxnId, Value, Writer,
};
use isonomy_workload::{HistorySpec, Preset};
use shared::{corpus, histories, load, relative};

/// The levels that need no times.
const LEVELS: [L; 6] = [L::ReadCommitted, L::ReadAtomic, L::Causal, L::Prefix, L::SnapshotIsolation, L::Serializable];

/// A history with some of its transactions, and of these with some events.
struct Part<'h> {
    history: &'h History,
    txns: BTreeSet<TxnId>,
    events: BTreeSet<EventId>,
    /// Who is left out, of those that were here.
    left_out: Option<TxnId>,
    /// Whether a value that nobody wrote stays.
    thin_air: bool,
}

impl<'h> Part<'h> {
    fn of(history: &'h History, explanation: &Explanation<'_>) -> Self {
        Part {
            history,
            txns: explanation.transactions.iter().map(|one| one.txn).collect(),
            events: explanation.transactions.iter().flat_map(|one| one.event_ids.iter().copied()).collect(),
            left_out: None,
            thin_air: explanation.anomaly == isonomy_checker::Anomaly::of_fault(FaultKind::ThinAir),
        }
    }

    fn without(&self, txn: TxnId) -> Self {
        let txns = self.txns.iter().copied().filter(|&other| other != txn).collect();
        Part { history: self.history, txns, events: self.events.clone(), left_out: Some(txn), thin_air: self.thin_air }
    }

    fn explains(&self, value: Value) -> bool {
        match self.history.derived().writer(value) {
            Writer::Txn(writer) => self.txns.contains(&writer) && self.shows_write(writer, value),
            Writer::Initial => true,
            _ => self.thin_air,
        }
    }

    /// Whether the event that wrote a value is one of those that are left.
    fn shows_write(&self, writer: TxnId, value: Value) -> bool {
        let mut shown = self.history.event_ids(writer).filter(|id| self.events.contains(id));
        shown.any(|id| match self.history.event(id) {
            Event::Write(written) | Event::Append(written) | Event::Insert(written) | Event::Delete(written) => {
                written == value
            }
            Event::CompareAndSet { new, .. } => new == value,
            Event::Read(_) | Event::ReadList { .. } | Event::Range { .. } => false,
        })
    }

    /// What is left of an event. A range that loses rows becomes reads of the others: it would else say that they were not there.
    fn event(&self, event: Event<'h>) -> Vec<NamedEvent<'h>> {
        let history = self.history;
        let name = |value: Value| history.key_name(history.key_of(value));
        match event {
            Event::Read(value) if !self.explains(value) => Vec::new(),
            // A list is a read of the version that it ends with.
            Event::ReadList { elements, .. }
                if elements.last().is_some_and(|&last| {
                    self.left_out.is_some_and(|txn| history.derived().writer(last) == Writer::Txn(txn))
                }) =>
            {
                Vec::new()
            }
            // Besides, it shows which appends it has and which it has not, so that the others may go.
            Event::ReadList { key, elements } => {
                let left = elements.iter().filter(|&&element| self.explains(element));
                vec![NamedEvent::ReadList(history.key_name(key), left.map(|&element| history.given(element)).collect())]
            }
            Event::Range { lo, hi, rows } if !rows.iter().all(|&row| self.explains(row)) => {
                let written = self.txns.iter().flat_map(|&txn| history.derived().writes(txn));
                let in_range = written.filter(|&&key| (lo..=hi).contains(&history.key_name(key)));
                let absent: BTreeSet<_> =
                    in_range.filter(|&&key| !rows.iter().any(|&row| history.key_of(row) == key)).collect();
                let absent = absent.into_iter().map(|&key| NamedEvent::Read(history.key_name(key), Datum::Initial));
                let found = rows.iter().filter(|&&row| self.explains(row));
                found.map(|&row| NamedEvent::Read(name(row), history.given(row))).chain(absent).collect()
            }
            Event::CompareAndSet { expected, new, succeeded: true } if !self.explains(expected) => {
                vec![NamedEvent::Write(name(new), history.given(new))]
            }
            event => vec![history.named(event)],
        }
    }

    fn build(&self) -> History {
        let history = self.history;
        let mut builder = HistoryBuilder::new();
        for &txn in history.transactions_as_given().iter().filter(|txn| self.txns.contains(txn)) {
            let shown = history.event_ids(txn).filter(|id| self.events.contains(id));
            let events = shown.flat_map(|id| self.event(history.event(id))).collect();
            builder.take(&Record { events, ..history.record(txn) }).expect("it was part of a history");
        }
        builder.finish().expect("a part of a history is one")
    }
}

/// What is wrong with a counterexample, and how many transactions it has.
fn examine(history: &History, level: L, counterexample: &Counterexample) -> (Option<String>, usize) {
    let explanation = explain(history, counterexample);
    let part = Part::of(history, &explanation);
    let size = part.txns.len();
    let violated = |part: &Part<'_>| {
        let history = part.build();
        match check(&history, level, &Options::default()) {
            Verdict::Violated(counterexample) => Some(explain(&history, &counterexample).to_string()),
            Verdict::Holds(_) | Verdict::Undecided(_) => None,
        }
    };
    if violated(&part).is_none() {
        return (Some(format!("is not enough\n{explanation}")), size);
    }
    let spared = part.txns.iter().find_map(|&txn| Some((txn, violated(&part.without(txn))?)));
    let told = |(txn, still): (TxnId, String)| {
        format!("can spare {}\n{explanation}and without it:\n{still}", history.transaction_name(txn))
    };
    (spared.map(told), size)
}

/// Examines all levels of a history. Levels that are violated by the same are asked once.
fn examine_all(history: &History, name: &str, levels: &[L], wrong: &mut String, sizes: &mut Vec<usize>) {
    let mut known: Vec<Counterexample> = Vec::new();
    for &level in levels {
        let Verdict::Violated(counterexample) = check(history, level, &Options::default()) else { continue };
        if known.contains(&counterexample) {
            continue;
        }
        let (flaw, size) = examine(history, level, &counterexample);
        sizes.push(size);
        if let Some(flaw) = flaw {
            *wrong += &format!("{name}: {level}: {flaw}\n");
        }
        known.push(counterexample);
    }
}

fn report(what: &str, mut sizes: Vec<usize>) {
    sizes.sort_unstable();
    let (median, most) = (sizes.get(sizes.len() / 2), sizes.last());
    eprintln!("{what}: {} counterexamples, median {median:?}, most {most:?} transactions", sizes.len());
}

#[test]
fn of_the_corpus() {
    let (mut wrong, mut sizes) = (String::new(), Vec::new());
    for path in histories(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus")) {
        if path.extension().is_some_and(|extension| extension == "hist") {
            examine_all(&load(&path), &path.display().to_string(), &L::ALL, &mut wrong, &mut sizes);
        }
    }
    report("corpus", sizes);
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn of_known_bugs_and_of_dbcop() {
    let Some(root) = corpus() else { return };
    let (mut wrong, mut sizes) = (String::new(), Vec::new());
    for name in ["polysi-artifact/violations", "c4/bugs", "isovista/history/bugs", "c4/testcase/text"] {
        for path in histories(&root.join(name)) {
            examine_all(&load(&path), &relative(&root, &path), &LEVELS, &mut wrong, &mut sizes);
        }
    }
    report("known bugs", std::mem::take(&mut sizes));
    let table = fs::read_to_string(root.join("dbcop-verifier/expected.tsv")).expect("the table is part of the corpus");
    for row in table.lines().skip(1) {
        let name = row.split('\t').next().expect("a row has columns");
        let history = load(&root.join("dbcop-verifier").join(name));
        examine_all(&history, name, &LEVELS, &mut wrong, &mut sizes);
    }
    report("dbcop", sizes);
    assert!(wrong.is_empty(), "{wrong}");
}

/// Stores that promise too little, asked for more.
#[test]
fn of_generated_histories() {
    let presets = [
        Preset::A,
        Preset::BlindRw,
        Preset::GeneralRw,
        Preset::ListAppend,
        Preset::RangeRqh,
        Preset::RangeIdh,
        Preset::Mini,
    ];
    let (mut wrong, mut sizes) = (String::new(), Vec::new());
    for seed in 0..210 {
        let preset = presets[seed as usize % presets.len()];
        let store = ["read-committed", "read-atomic", "causal", "prefix", "snapshot-isolation"][seed as usize % 5];
        let level = store.parse().expect("it is a store");
        let mut spec = HistorySpec { transactions: 150, sessions: 6, level, seed, ..preset.spec() };
        spec.workload.keys = spec.workload.keys.min(20 + 2 * seed);
        let mut builder = HistoryBuilder::new();
        spec.generate(&mut builder).expect("the specification is sound");
        let history = builder.finish().expect("no value is written twice");
        examine_all(&history, &format!("{preset}, {store}, seed {seed}"), &LEVELS, &mut wrong, &mut sizes);
    }
    report("generated", sizes);
    assert!(wrong.is_empty(), "{wrong}");
}
