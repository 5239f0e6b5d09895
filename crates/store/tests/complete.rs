//! A store shows exactly what its level allows: every run satisfies it, and everything that satisfies it comes up (Theorem 4.2.1 of the
//! thesis, with its rules as they are repaired here).

mod support;

use std::collections::BTreeSet;

use isonomy_checker::{IsolationLevel, Verdict, check};
use isonomy_history::{History, HistoryBuilder, Outcome as Ending};
use isonomy_store::{Options, StoreLevel};
use isonomy_workload::Rng;

use support::Operation::{Read, Write};
use support::{Outcome, Program, all_outcomes, random, value};

/// A program with what its reads returned.
fn history(program: &Program, outcome: &[Outcome]) -> History {
    let mut history = HistoryBuilder::new();
    for (session, transactions) in program.iter().enumerate() {
        let mut reads = outcome[session].iter();
        for (number, operations) in transactions.iter().enumerate() {
            history.begin((session as i64).into());
            history.set_outcome(Ending::Committed);
            for (place, operation) in operations.iter().enumerate() {
                match operation {
                    Read(key) => history.read(i64::from(*key).into(), reads.next().unwrap().map(i64::from).into()),
                    Write(key) => {
                        history.write(i64::from(*key).into(), i64::from(value(session, number, place)).into())
                    }
                }
            }
        }
    }
    history.finish().unwrap()
}

/// Whether some order of the transactions has every write before whoever reads it and every session in its order. Without session order a level
/// may allow that a session reads what it will only write later; nobody can show that.
fn can_run(program: &Program, outcome: &[Outcome]) -> bool {
    let mut written = BTreeSet::from([None]);
    let (mut next, mut read) = (vec![0; program.len()], vec![0; program.len()]);
    let mut moved = true;
    while moved {
        moved = false;
        for (session, transactions) in program.iter().enumerate() {
            let Some(operations) = transactions.get(next[session]) else { continue };
            let writes = operations.iter().enumerate().filter(|(_, operation)| matches!(operation, Write(_)));
            let writes: BTreeSet<_> = writes.map(|(place, _)| Some(value(session, next[session], place))).collect();
            let reads = operations.iter().filter(|operation| matches!(operation, Read(_))).count();
            let returned = &outcome[session][read[session]..read[session] + reads];
            if returned.iter().all(|value| written.contains(value) || writes.contains(value)) {
                written.extend(writes);
                next[session] += 1;
                read[session] += reads;
                moved = true;
            }
        }
    }
    next.iter().zip(program).all(|(&next, transactions)| next == transactions.len())
}

/// All outcomes that a level allows, by trying all values for all reads.
fn allowed(program: &Program, level: IsolationLevel, session_order: bool) -> BTreeSet<Vec<Outcome>> {
    let mut values: Vec<Vec<Option<u32>>> = vec![vec![None]; 2];
    for (session, transactions) in program.iter().enumerate() {
        for (number, operations) in transactions.iter().enumerate() {
            for (place, operation) in operations.iter().enumerate() {
                if let Write(key) = operation {
                    values[*key as usize].push(Some(value(session, number, place)));
                }
            }
        }
    }
    let reads: Vec<(usize, u8)> = (program.iter().enumerate())
        .flat_map(|(session, transactions)| transactions.iter().flatten().map(move |operation| (session, operation)))
        .filter_map(|(session, operation)| match operation {
            Read(key) => Some((session, *key)),
            Write(_) => None,
        })
        .collect();
    let options = isonomy_checker::Options { session_order, ..Default::default() };
    let mut found = BTreeSet::new();
    let mut digits = vec![0; reads.len()];
    loop {
        let mut outcome = vec![Vec::new(); program.len()];
        for (&(session, key), &digit) in reads.iter().zip(&digits) {
            outcome[session].push(values[key as usize][digit]);
        }
        if can_run(program, &outcome)
            && let Verdict::Holds(_) = check(&history(program, &outcome), level, &options)
        {
            found.insert(outcome);
        }
        let Some(place) = (0..digits.len()).find(|&place| digits[place] + 1 < values[reads[place].1 as usize].len())
        else {
            return found;
        };
        digits[place] += 1;
        digits[..place].fill(0);
    }
}

const LEVELS: [(StoreLevel, IsolationLevel); 6] = [
    (StoreLevel::ReadCommitted, IsolationLevel::ReadCommitted),
    (StoreLevel::ReadAtomic, IsolationLevel::ReadAtomic),
    (StoreLevel::Causal, IsolationLevel::Causal),
    (StoreLevel::Prefix, IsolationLevel::Prefix),
    (StoreLevel::SnapshotIsolation, IsolationLevel::SnapshotIsolation),
    (StoreLevel::Serializable, IsolationLevel::Serializable),
];

fn compare(program: &Program) -> [usize; 6] {
    LEVELS.map(|(level, as_checked)| {
        let mut count = 0;
        for session_order in [true, false] {
            let shown = all_outcomes(program, &Options { level, session_order, ..Options::default() });
            let allowed = allowed(program, as_checked, session_order);
            let of = |outcome| format!("{level}, session order {session_order}: {outcome:?} of {program:?}");
            if let Some(outcome) = shown.difference(&allowed).next() {
                panic!("shown and not allowed at {}", of(outcome));
            }
            // From prefix up commits are ordered as they happen, so a session's own order is never seen reversed.
            let complete = session_order
                || matches!(level, StoreLevel::ReadCommitted | StoreLevel::ReadAtomic | StoreLevel::Causal);
            if let Some(outcome) = allowed.difference(&shown).next().filter(|_| complete) {
                panic!("allowed and never shown at {}", of(outcome));
            }
            count += shown.len();
        }
        count
    })
}

#[test]
fn small_programs_show_all_that_is_allowed_and_nothing_else() {
    let mut rng = Rng::new(4);
    let mut total = [0; 6];
    for _ in 0..1000 {
        for (total, count) in total.iter_mut().zip(compare(&random(&mut rng))) {
            *total += count;
        }
    }
    assert!(
        total.is_sorted_by(|weaker, stronger| weaker > stronger),
        "each level shows less than the one before: {total:?}"
    );
}

#[test]
fn the_programs_of_the_thesis() {
    let store_buffer = vec![vec![vec![Write(0), Read(1)]], vec![vec![Write(1), Read(0)]]];
    let lost_update = vec![vec![vec![Read(0), Write(0)]], vec![vec![Read(0), Write(0)]]];
    let both_initial = vec![vec![None], vec![None]];
    let shows =
        |program, level| all_outcomes(program, &Options { level, ..Options::default() }).contains(&both_initial);
    assert!(shows(&store_buffer, StoreLevel::Causal));
    assert!(!shows(&store_buffer, StoreLevel::Serializable));
    assert!(shows(&lost_update, StoreLevel::Causal) && shows(&lost_update, StoreLevel::Prefix));
    assert!(!shows(&lost_update, StoreLevel::SnapshotIsolation) && !shows(&lost_update, StoreLevel::Serializable));
    compare(&store_buffer);
    compare(&lost_update);
}

/// At the three levels that ask for some order of commits, one order of transactions shows as much as another.
#[test]
fn even_one_order_of_transactions_shows_what_another_order_of_commits_explains() {
    // Two blind writers, and a reader who sees the first after the second.
    let program = vec![vec![vec![Write(0)]], vec![vec![Write(0)]], vec![vec![Read(0)], vec![Read(0)]]];
    for level in [StoreLevel::ReadCommitted, StoreLevel::ReadAtomic, StoreLevel::Causal] {
        let backwards = (0..200).any(|seed| {
            let store = isonomy_store::Store::new(Options { level, seed, ..Options::default() });
            let outcome = support::one_run(&program, &store, |_| 0).unwrap();
            outcome[2] == [Some(value(1, 0, 0)), Some(value(0, 0, 0))]
        });
        assert!(backwards, "{level}");
    }
}
