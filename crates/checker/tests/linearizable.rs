//! Registers: blocks put in a row against the general engine, on histories larger than the oracle can take, and each verdict certified.

mod support;

use isonomy_checker::certify::certify;
use isonomy_checker::{Ablation, IsolationLevel, Options, Terms, Verdict, check};
use isonomy_history::{Datum, History, HistoryBuilder, Name, Outcome, Times};
use support::random::Rng;

const LEVEL: IsolationLevel = IsolationLevel::Linearizable;

struct Client {
    free_at: i64,
    name: i64,
}

/// Clients of registers that are linearizable, except that now and then one answers with what it held before, or a clock is wrong.
fn registers(seed: u64) -> History {
    let mut rng = Rng::new(seed);
    let operations = 20 + rng.below(200);
    let keys = 1 + rng.below(3) as i64;
    // Few compare-and-sets: many short blocks. Many: few long ones.
    let (updates, plain) = (rng.below(100), rng.below(60));
    let errors = [0, 0, 1, 5][rng.below(4)];
    let mut clients: Vec<Client> = (0..2 + rng.below(8) as i64).map(|name| Client { free_at: 0, name }).collect();
    let mut held: Vec<Vec<Option<i64>>> = vec![vec![None]; keys as usize];
    let mut history = HistoryBuilder::new();
    let mut now = 0;
    for value in 1..=operations as i64 {
        // The moment of the operation, and around it the time that its client waited.
        now += rng.below(4) as i64;
        let at = rng.below(clients.len());
        let client = &mut clients[at];
        let start = (now - rng.below(30) as i64).max(client.free_at).min(now);
        let mut finish = now + rng.below(30) as i64;
        client.free_at = finish;
        if rng.percent(errors) {
            finish = start + (finish - start) / 2;
        }
        let key = rng.below(keys as usize);
        let versions = &mut held[key];
        let back = if rng.percent(errors) { 1 + rng.below(3) } else { 0 };
        let current = versions[versions.len().saturating_sub(1 + back)];
        let datum = |value: Option<i64>| value.map_or(Datum::Initial, Datum::Int);
        history.begin(Name::Int(client.name));
        let (key, new) = (Name::Int(key as i64), Datum::Int(value));
        let mut unknown = false;
        if rng.percent(updates) {
            history.compare_and_set(key, datum(current), new, true);
            versions.push(Some(value));
            unknown = rng.percent(5);
        } else if rng.percent(10) {
            history.compare_and_set(key, Datum::Int(-value), new, false);
        } else if rng.percent(plain) {
            history.write(key, new);
            versions.push(Some(value));
            unknown = rng.percent(5);
        } else {
            history.read(key, datum(current));
        }
        let times = Times { start: Some(start), finish: (!unknown).then_some(finish), ..Times::default() };
        history.set_times(times);
        if unknown {
            history.set_outcome(Outcome::Indeterminate);
            // What is unknown may still happen, so its client goes on as another.
            client.name += 100;
        }
    }
    history.finish().expect("no value is written twice")
}

#[test]
fn rows_of_blocks_agree_with_the_general_engine() {
    let mut outcomes = [0; 2];
    for seed in 0..4000 {
        let history = registers(seed);
        let terms = Terms { session_order: seed % 3 != 0, clock_drift: if seed % 5 == 0 { 4 } else { 0 } };
        let options =
            Options { session_order: terms.session_order, clock_drift: terms.clock_drift, ..Options::default() };
        let general = Ablation { guess: false, ..Ablation::default() };
        let [row, constraints] = [options, Options { ablation: general, ..options }].map(|options| {
            let verdict = check(&history, LEVEL, &options);
            if let Err(flaw) = certify(&history, LEVEL, terms, &verdict) {
                panic!("seed {seed}, {terms:?}: {flaw}\n{}", support::shown(&history));
            }
            matches!(verdict, Verdict::Holds(_))
        });
        assert_eq!(row, constraints, "seed {seed}, {terms:?}\n{}", support::shown(&history));
        outcomes[usize::from(row)] += 1;
    }
    assert!(outcomes[0] > 500 && outcomes[1] > 500, "both outcomes occur: {outcomes:?}");
}

/// One chain, and one register with many reads: a size at which anything quadratic would be noticed.
#[test]
fn long_chains_are_no_trouble() {
    let count = 200_000;
    let mut history = HistoryBuilder::new();
    for at in 0..count {
        let key = Name::Int(0);
        history.begin(Name::Int(at % 50));
        match at {
            0 => history.insert(key, Datum::Int(0)),
            _ => history.compare_and_set(key, Datum::Int(at - 1), Datum::Int(at), true),
        }
        history.set_times(Times { start: Some(10 * at), finish: Some(10 * at + 400), ..Times::default() });
    }
    let history = history.finish().expect("no value is written twice");
    assert!(matches!(check(&history, LEVEL, &Options::default()), Verdict::Holds(_)));
}
