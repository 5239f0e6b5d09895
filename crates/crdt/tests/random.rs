//! The search agrees with brute force on random histories that are too large to try them all.
//!
//! Histories of 6 to 9 operations (last-writer-wins registers 6 or 7, since brute force tries all orders of their writes)
//! on 2 or 3 replicas, with 1 to 3 objects and few values. Random answers are mostly
//! wrong; simulated replicas of which one answer was changed are mostly almost right. Every verdict has evidence, and
//! every counterexample is as small as its description says.

mod common;

use common::{Random, changed, decide, named, only, show};
use isonomy_crdt::{
    Bug, Counterexample, DataType, History, HistoryBuilder, Label, NamedOperation, OpId, Operation, Simulation,
    Verdict, oracle,
};

const OBJECTS: [&str; 3] = ["x", "y", "z"];
const ELEMENTS: [&str; 5] = ["a", "b", "c", "d", "e"];

fn object(random: &mut Random, objects: usize) -> Label {
    OBJECTS[random.below(objects)].into()
}

fn value(random: &mut Random) -> Label {
    Label::Int(1 + random.below(3) as i64)
}

/// Any operation of a type; `inserted` elements of an array exist so far, on any replica.
fn operation(random: &mut Random, data_type: DataType, objects: usize, inserted: &mut usize) -> NamedOperation {
    let x = object(random, objects);
    let kind = random.below(5);
    match data_type {
        DataType::OrSet | DataType::RwSet | DataType::EwFlag | DataType::DwFlag => match kind {
            0 | 1 => NamedOperation::Add(x),
            2 => NamedOperation::Remove(x),
            _ => NamedOperation::Contains(x, random.flip()),
        },
        DataType::MvRegister | DataType::LwwRegister if kind < 3 => NamedOperation::Write(x, value(random)),
        DataType::MvRegister => NamedOperation::Read(x, (0..random.below(3)).map(|_| value(random)).collect()),
        DataType::LwwRegister => NamedOperation::Read(x, (0..1.min(random.below(6))).map(|_| value(random)).collect()),
        DataType::Counter => match kind {
            0 | 1 => NamedOperation::Increment(x),
            2 => NamedOperation::Decrement(x),
            _ => NamedOperation::Count(x, random.below(5) as i64 - 1),
        },
        DataType::Rga => edit(random, kind, inserted),
    }
}

fn edit(random: &mut Random, kind: usize, inserted: &mut usize) -> NamedOperation {
    // One in so many refers to what may come later, or never.
    let known = if random.below(12) == 0 { ELEMENTS.len() } else { *inserted };
    let any = |random: &mut Random| (known > 0).then(|| Label::from(ELEMENTS[random.below(known)]));
    match (kind, any(random)) {
        (3, Some(element)) => NamedOperation::Delete(element),
        (0..3, after) if *inserted < ELEMENTS.len() - 1 => {
            *inserted += 1;
            let element = ELEMENTS[*inserted - 1];
            NamedOperation::Insert(
                after.filter(|after| *after != element.into() && random.below(3) > 0),
                element.into(),
            )
        }
        _ => {
            let mut list = ELEMENTS[..known].to_vec();
            list.sort_by_key(|_| random.next());
            list.truncate(random.below(known + 1));
            NamedOperation::List(list.into_iter().map(Label::from).collect())
        }
    }
}

fn size(random: &mut Random, data_type: DataType) -> usize {
    6 + random.below(if data_type == DataType::LwwRegister { 2 } else { 4 })
}

fn random_history(random: &mut Random, data_type: DataType) -> History {
    let (replicas, objects) = (2 + random.below(2), 1 + random.below(3));
    let mut builder = HistoryBuilder::new(data_type);
    let mut inserted = 0;
    for _ in 0..size(random, data_type) {
        let replica = ["p", "q", "r"][random.below(replicas)];
        let operation = operation(random, data_type, objects, &mut inserted);
        builder.push(replica.into(), operation).expect("it fits the type");
    }
    builder.finish()
}

/// Replicas as they should be, or with a bug, and then one answer is another one.
fn almost_right(random: &mut Random, data_type: DataType) -> History {
    let bugs: Vec<Bug> = Bug::ALL.into_iter().filter(|bug| bug.applies_to(data_type)).collect();
    let simulation = Simulation {
        replicas: 2 + random.below(2),
        objects: 1 + random.below(2),
        query_share: 0.4,
        delivery: 0.7,
        unique_values: random.flip(),
        bug: random.flip().then(|| bugs[random.below(bugs.len())]),
        ..Simulation::new(data_type, size(random, data_type), random.next())
    };
    let history = simulation.run();
    let queries: Vec<OpId> = history.operations().filter(|&op| history.operation(op).is_query()).collect();
    if queries.is_empty() || random.below(4) == 0 {
        return history;
    }
    let victim = queries[random.below(queries.len())];
    let flipped = flip(random, &history, victim);
    changed(&history, |op| Some(if op == victim { flipped.clone() } else { named(&history, op, |_| true) }))
}

/// A query with another answer.
fn flip(random: &mut Random, history: &History, op: OpId) -> NamedOperation {
    let values = |kind: fn(Operation<'_>) -> Option<isonomy_crdt::LabelId>| -> Vec<Label> {
        history.operations().filter_map(|op| kind(history.operation(op))).map(|id| history.label(id).clone()).collect()
    };
    let written = |random: &mut Random| {
        let written = values(|operation| if let Operation::Write(_, value) = operation { Some(value) } else { None });
        if written.is_empty() { Label::Int(1) } else { written[random.below(written.len())].clone() }
    };
    match named(history, op, |_| true) {
        NamedOperation::Contains(x, answer) => NamedOperation::Contains(x, !answer),
        NamedOperation::Count(x, count) => NamedOperation::Count(x, count + if random.flip() { 1 } else { -1 }),
        NamedOperation::Read(x, mut read) => {
            if history.data_type() == DataType::LwwRegister {
                read = if random.below(4) == 0 { Vec::new() } else { vec![written(random)] };
            } else if read.is_empty() || random.flip() {
                read.push(written(random));
            } else {
                read.remove(random.below(read.len()));
            }
            NamedOperation::Read(x, read)
        }
        NamedOperation::List(mut list) => {
            let inserted =
                values(|operation| if let Operation::Insert(_, element) = operation { Some(element) } else { None });
            match random.below(3) {
                0 if list.len() > 1 => list.swap(0, 1),
                1 if !list.is_empty() => drop(list.remove(random.below(list.len()))),
                _ if !inserted.is_empty() => {
                    list.insert(random.below(list.len() + 1), inserted[random.below(inserted.len())].clone());
                }
                _ => {}
            }
            NamedOperation::List(list)
        }
        other => other,
    }
}

/// Whether an operation may be left out of what is kept, whoever explains the whole explaining the rest; by the
/// description of counterexamples, written again.
fn may_go(history: &History, kept: &[OpId], op: OpId) -> bool {
    let queries = || kept.iter().map(|&op| history.operation(op)).filter(|operation| operation.is_query());
    match history.operation(op) {
        Operation::Add(x) => queries().all(|query| query != Operation::Contains(x, true)),
        Operation::Remove(x) => queries().all(|query| query != Operation::Contains(x, false)),
        Operation::Write(x, value) => {
            queries().all(|query| !matches!(query, Operation::Read(y, values) if x == y && values.contains(&value)))
        }
        Operation::Increment(x) | Operation::Decrement(x) => queries().all(|query| query.object() != Some(x)),
        Operation::Delete(element) => {
            queries().all(|query| matches!(query, Operation::List(list) if list.contains(&element)))
        }
        _ => true,
    }
}

/// What is kept without an operation; an element goes with its removals and with what was put after it.
fn without(history: &History, kept: &[OpId], op: OpId) -> Vec<OpId> {
    let mut kept = kept.to_vec();
    let mut going = vec![op];
    while let Some(op) = going.pop() {
        kept.retain(|&other| other != op);
        let Operation::Insert(_, element) = history.operation(op) else { continue };
        going.extend(kept.iter().filter(|&&other| match history.operation(other) {
            Operation::Insert(after, _) => after == Some(element),
            Operation::Delete(deleted) => deleted == element,
            _ => false,
        }));
    }
    kept
}

fn is_minimal(history: &History, counterexample: &Counterexample) {
    let kept = &counterexample.operations;
    assert!(counterexample.minimal, "the budget was unlimited: {}", show(history));
    assert!(!oracle::admits(&only(history, kept)), "{kept:?} show nothing: {}", show(history));
    for &op in kept.iter().filter(|&&op| may_go(history, kept, op)) {
        let rest = only(history, &without(history, kept, op));
        assert!(oracle::admits(&rest), "{op:?} of {kept:?} is not needed: {}", show(history));
    }
}

fn agree(data_type: DataType, histories: usize, make: fn(&mut Random, DataType) -> History) {
    let mut random = Random(data_type as u64);
    let mut admitted = 0;
    for _ in 0..histories {
        let history = make(&mut random, data_type);
        let expected = oracle::admits(&history);
        match decide(&history) {
            Verdict::Holds(_) => assert!(expected, "brute force finds no explanation: {}", show(&history)),
            Verdict::Violated(counterexample) => {
                assert!(!expected, "brute force finds an explanation: {}", show(&history));
                is_minimal(&history, &counterexample);
            }
            Verdict::Undecided => panic!("the budget was unlimited: {}", show(&history)),
        }
        admitted += usize::from(expected);
    }
    // Neither nearly all nor nearly none, so that both kinds of mistake would show.
    assert!((histories / 50..histories - histories / 50).contains(&admitted), "{admitted} of {histories}");
}

#[test]
fn random_answers() {
    for data_type in DataType::ALL {
        agree(data_type, 500, random_history);
    }
}

#[test]
fn answers_that_are_almost_right() {
    for data_type in DataType::ALL {
        agree(data_type, 500, almost_right);
    }
}
