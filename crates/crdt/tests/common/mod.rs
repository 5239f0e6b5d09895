//! What the tests of the checker share: histories as text, seeded randomness, and verdicts whose evidence was checked.

#![allow(dead_code, reason = "no test uses all of it")]

use isonomy_crdt::{
    Budget, DataType, Effort, Format, History, HistoryBuilder, LabelId, NamedOperation, OpId, Operation, Verdict,
    certify, check, read, write,
};

/// A history in notation.
pub(crate) fn history(data_type: DataType, text: &str) -> History {
    read(text.as_bytes(), Some(data_type), None).unwrap_or_else(|error| panic!("{error}: {text}"))
}

pub(crate) fn show(history: &History) -> String {
    let mut text = Vec::new();
    write(history, Format::Notation, &mut text).unwrap();
    format!("{}: {}", history.data_type(), String::from_utf8(text).unwrap())
}

/// The verdict, within the budget, its evidence checked.
pub(crate) fn decide_within(history: &History, budget: &mut Budget<'_>) -> Verdict {
    let verdict = check(history, budget, &mut Effort::default());
    if !matches!(verdict, Verdict::Undecided) {
        certify(history, &verdict).unwrap_or_else(|fault| panic!("{fault}: {verdict:?}\n{}", show(history)));
    }
    verdict
}

pub(crate) fn decide(history: &History) -> Verdict {
    decide_within(history, &mut Budget::unlimited())
}

/// SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub(crate) fn flip(&mut self) -> bool {
        self.below(2) == 0
    }
}

/// An operation by its names; lists keep only some elements.
pub(crate) fn named(history: &History, op: OpId, listed: impl Fn(LabelId) -> bool) -> NamedOperation {
    let name = |label: LabelId| history.label(label).clone();
    match history.operation(op) {
        Operation::Add(x) => NamedOperation::Add(name(x)),
        Operation::Remove(x) => NamedOperation::Remove(name(x)),
        Operation::Contains(x, answer) => NamedOperation::Contains(name(x), answer),
        Operation::Write(x, value) => NamedOperation::Write(name(x), name(value)),
        Operation::Read(x, values) => NamedOperation::Read(name(x), values.iter().map(|&value| name(value)).collect()),
        Operation::Increment(x) => NamedOperation::Increment(name(x)),
        Operation::Decrement(x) => NamedOperation::Decrement(name(x)),
        Operation::Count(x, count) => NamedOperation::Count(name(x), count),
        Operation::Insert(after, element) => NamedOperation::Insert(after.map(name), name(element)),
        Operation::Delete(element) => NamedOperation::Delete(name(element)),
        Operation::List(list) => NamedOperation::List(
            list.iter().filter(|&&element| listed(element)).map(|&element| name(element)).collect(),
        ),
    }
}

/// A history with some of its operations changed or left out.
pub(crate) fn changed(history: &History, change: impl Fn(OpId) -> Option<NamedOperation>) -> History {
    let mut builder = HistoryBuilder::new(history.data_type());
    for replica in history.replicas() {
        for op in history.operations_of(replica) {
            if let Some(operation) = change(op) {
                builder.push(history.replica_label(replica).clone(), operation).expect("it fits the type");
            }
        }
    }
    builder.finish()
}

/// Some of the operations. The elements of an array go with their additions, from lists as well.
pub(crate) fn only(history: &History, kept: &[OpId]) -> History {
    let gone = |element| {
        history.operations().any(|op| {
            matches!(history.operation(op), Operation::Insert(_, other) if other == element) && !kept.contains(&op)
        })
    };
    changed(history, |op| kept.contains(&op).then(|| named(history, op, |element| !gone(element))))
}
