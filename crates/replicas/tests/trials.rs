//! Every library at every type that it offers: trials run, repeat and converge. And what is known to deviate does.

use isonomy_crdt::{DataType, NamedOperation};
use isonomy_replicas::{Delivery, Error, Library, Recorded, Run, Step, Trial};

fn offers() -> impl Iterator<Item = (Library, DataType)> {
    Library::ALL.into_iter().flat_map(|library| library.offers().iter().map(move |offer| (library, offer.data_type)))
}

/// A trial that varies with its seed in more than what is drawn.
fn trial(library: Library, data_type: DataType, seed: u64) -> Trial {
    let delivery = if seed.is_multiple_of(2) { Delivery::States } else { Delivery::Operations };
    let replicas = 1 + (seed % 4) as u32;
    Trial { seed, delivery, replicas, operations: 12, ..Trial::new(library, data_type) }
}

fn final_answers(trial: &Trial, run: &Run) -> Vec<Vec<NamedOperation>> {
    let objects = if trial.data_type == DataType::Rga { 1 } else { trial.objects as usize };
    let operations: Vec<&Recorded> = run.steps.iter().filter_map(Step::operation).collect();
    let last = &operations[trial.operations as usize..];
    last.chunks(objects).map(|answers| answers.iter().map(|answer| answer.operation.clone()).collect()).collect()
}

/// The values of a register in conflict come in any order.
fn sorted(mut answers: Vec<NamedOperation>) -> Vec<NamedOperation> {
    for answer in &mut answers {
        if let NamedOperation::Read(_, values) = answer {
            values.sort();
        }
    }
    answers
}

/// These two lists are not RGAs, and the order of this map is its own for each key: see below.
const DEVIANT: [(Library, DataType); 3] =
    [(Library::Yrs, DataType::LwwRegister), (Library::Yrs, DataType::Rga), (Library::Crdts, DataType::Rga)];

#[test]
fn replicas_converge_and_answer_as_their_type_says() {
    for (library, data_type) in offers() {
        for seed in 0..50 {
            let trial = trial(library, data_type, seed);
            let run = trial.run().unwrap();
            let answers = final_answers(&trial, &run);
            assert_eq!(answers.len(), trial.replicas as usize);
            assert_eq!(run.history.len(), trial.operations as usize + answers.concat().len());
            let deviation = run.deviation().filter(|_| !DEVIANT.contains(&(library, data_type)));
            assert_eq!(deviation, None, "{library} {data_type} {seed}\n{run}");
            let first = sorted(answers[0].clone());
            for answer in answers {
                assert_eq!(sorted(answer), first, "{library} {data_type} {seed}\n{run}");
            }
        }
    }
}

#[test]
fn same_seed_same_run() {
    for (library, data_type) in offers() {
        for seed in 0..4 {
            let trial = trial(library, data_type, seed);
            assert_eq!(trial.run().unwrap().steps, trial.run().unwrap().steps);
        }
    }
}

/// The program of a trial up to the queries at the end, and how it deviates.
fn finding(trial: &Trial) -> (String, String) {
    let run = trial.run().unwrap();
    let program: Vec<String> = run.to_string().lines().map(str::to_owned).collect();
    let deviation = run.deviation().map_or_else(String::new, |deviation| deviation.to_string());
    (program.join("; "), deviation)
}

fn check(trial: &Trial, program: &str, deviation: &str) {
    let found = finding(trial);
    assert!(found.0.starts_with(program), "{}", found.0);
    assert_eq!(found.1, deviation);
}

/// A trial that asks only in the end.
fn small(library: Library, data_type: DataType, replicas: u32, operations: u32, seed: u64) -> Trial {
    Trial { replicas, operations, seed, query_share: 0.0, ..Trial::new(library, data_type) }
}

/// The second addition writes the value that is there already, which Automerge does not count as a write. So the
/// removal has overwritten all there is.
#[test]
fn automerge_forgets_an_addition_of_what_is_there() {
    let trial = Trial {
        objects: 1,
        unique_values: false,
        remove_share: 0.5,
        ..small(Library::Automerge, DataType::OrSet, 2, 3, 46)
    };
    let program = "r1: add(x0); r1 -> r0; r1: add(x0); r0: remove(x0); r1 -> r0";
    check(&trial, program, "r0: contains(x0) = false, expected true");
}

/// Of concurrent writes the one whose replica has the greater id wins, with all that was written after having seen it.
/// That is a good order for each register, but there is no one order for both.
#[test]
fn yrs_orders_the_writes_of_each_key_alone() {
    let trial = small(Library::Yrs, DataType::LwwRegister, 3, 4, 4837);
    let program = "r1: write(x0, 1); r1: write(x1, 2); r0: write(x1, 3); r0 -> r2; r2: write(x0, 4); r1 -> r0";
    let cycle = "no order has r1: write(x0, 1) < r1: write(x1, 2) < r0: write(x1, 3) < r2: write(x0, 4) \
                 < r1: write(x0, 1)";
    check(&trial, program, cycle);
}

/// Of elements put at the same place at the same time, that of the smaller id stands first, and which ids are compared
/// depends on who had seen what.
#[test]
fn yrs_arrays_are_not_growable_arrays() {
    let trial = Trial { objects: 1, remove_share: 0.0, ..small(Library::Yrs, DataType::Rga, 3, 5, 226) };
    let cycle = "no order has r0: addAfter(_, 2) < r2: addAfter(1, 4) < r1: addAfter(1, 3) < r1: addAfter(_, 5) \
                 < r0: addAfter(_, 2)";
    check(&trial, "r1: addAfter(_, 1); r2 -> r0; r0: addAfter(_, 2)", cycle);
}

/// What is inserted where something was removed is put after what was removed, and not after what stands before it.
#[test]
fn yrs_inserts_behind_what_was_removed() {
    let trial = Trial { objects: 1, remove_share: 0.4, ..small(Library::Yrs, DataType::Rga, 2, 4, 1604) };
    let program = "r0: addAfter(_, 1); r0 -> r1; r0: remove(1); r0: addAfter(_, 2); r1: addAfter(1, 3); \
                   r1 -> r0; r0 -> r1; r0: read() = [3, 2]";
    let cycle = "no order has r0: addAfter(_, 1) < r0: remove(1) < r0: addAfter(_, 2) < r0: addAfter(_, 1)";
    check(&trial, program, cycle);
}

/// Places are fractions, so what two replicas append is interleaved.
#[test]
fn crdts_lists_interleave() {
    let deviating = |seed: &u64| {
        let trial = Trial { remove_share: 0.0, ..small(Library::Crdts, DataType::Rga, 2, 3, *seed) };
        !finding(&trial).1.is_empty()
    };
    let seed = (0..200).find(deviating).expect("a few in a hundred do");
    let trial = Trial { remove_share: 0.0, ..small(Library::Crdts, DataType::Rga, 2, 3, seed) };
    let program = "r0: addAfter(_, 1); r1: addAfter(_, 2); r0: addAfter(1, 3); r1 -> r0; r0 -> r1; \
                   r0: read() = [1, 2, 3]";
    let cycle = "no order has r0: addAfter(_, 1) < r1: addAfter(_, 2) < r0: addAfter(_, 1)";
    check(&trial, program, cycle);
}

#[test]
fn senseless_trials_are_refused() {
    let error = Trial::new(Library::Yrs, DataType::Counter).run().unwrap_err();
    assert_eq!(error.to_string(), "yrs offers no counter; it offers lww-register, rga");
    let set = Trial::new(Library::Crdts, DataType::OrSet);
    for wrong in [
        Trial { replicas: 0, ..set.clone() },
        Trial { query_share: f64::NAN, ..set.clone() },
        Trial { sync_share: 1.0, ..set.clone() },
    ] {
        assert!(matches!(wrong.run(), Err(Error::Shape(_))));
    }
}
