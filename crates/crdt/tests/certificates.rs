//! Evidence that was tampered with is refused, unless it is still evidence; and never does it end in a panic.

mod common;

use common::{Random, decide, history, show};
use isonomy_crdt::reduction::{self, Formula, Literal};
use isonomy_crdt::{
    Bound, Bug, Counterexample, DataType, History, OpId, ReplicaId, Simulation, Verdict, Witness, certify, oracle,
};

/// Small enough for brute force.
fn simulated(random: &mut Random, data_type: DataType, bug: bool) -> History {
    let bugs: Vec<Bug> = Bug::ALL.into_iter().filter(|bug| bug.applies_to(data_type)).collect();
    let simulation = Simulation {
        replicas: 2 + random.below(2),
        objects: 1,
        query_share: 0.4,
        delivery: 0.7,
        unique_values: random.flip(),
        bug: bug.then(|| bugs[random.below(bugs.len())]),
        ..Simulation::new(data_type, 7, random.next())
    };
    simulation.run()
}

/// A number near another one, or far out of range.
fn near(random: &mut Random, number: u32) -> u32 {
    match random.below(6) {
        0 => u32::MAX,
        1 => 0,
        2 => number.wrapping_add(7),
        3 | 4 => number.wrapping_sub(1),
        _ => number.wrapping_add(1),
    }
}

fn tamper_with_witness(random: &mut Random, witness: &mut Witness) {
    let operations = witness.seen.len().min(witness.order.len());
    match random.below(6) {
        0 if operations > 1 => witness.order.swap(random.below(operations), random.below(operations)),
        1 => drop(witness.order.pop()),
        2 => drop(witness.seen.pop()),
        3 if operations > 0 => drop(witness.seen[random.below(operations)].pop()),
        4 if operations > 0 => {
            let at = random.below(operations);
            witness.order[at].0 = near(random, witness.order[at].0);
        }
        _ if operations > 0 => {
            let seen = &mut witness.seen[random.below(operations)];
            let at = random.below(seen.len().max(1));
            if let Some(count) = seen.get_mut(at) {
                *count = near(random, *count);
            }
        }
        _ => {}
    }
}

fn random_bound(random: &mut Random, history: &History) -> Bound {
    let op = OpId(random.below(history.len() + 1) as u32);
    let replicas = history.replicas().len() + usize::from(random.below(20) == 0);
    let replica = ReplicaId(random.below(replicas) as u32);
    let number = if random.below(20) == 0 { u32::MAX } else { random.below(4) as u32 };
    match random.below(if history.data_type() == DataType::LwwRegister { 4 } else { 2 }) {
        0 => Bound::Saw(op, replica, number),
        1 => Bound::SawAtMost(op, replica, number),
        2 => Bound::ChoseFrom(op, number),
        _ => Bound::ChoseUpTo(op, number),
    }
}

fn tamper_with_counterexample(random: &mut Random, history: &History, counterexample: &mut Counterexample) {
    let (operations, steps) = (counterexample.operations.len(), counterexample.steps.len());
    match random.below(6) {
        0 if operations > 0 => drop(counterexample.operations.remove(random.below(operations))),
        1 if operations > 0 => {
            let at = random.below(operations);
            counterexample.operations[at].0 = near(random, counterexample.operations[at].0);
        }
        2 if steps > 0 => drop(counterexample.steps.remove(random.below(steps))),
        3 if steps > 0 => {
            let step = &mut counterexample.steps[random.below(steps)];
            step.pop();
        }
        4 if steps > 0 => {
            let step = random.below(steps);
            let at = random.below(counterexample.steps[step].len().max(1));
            if let Some(bound) = counterexample.steps[step].get_mut(at) {
                *bound = random_bound(random, history);
            }
        }
        _ => {
            let step = (0..1 + random.below(2)).map(|_| random_bound(random, history)).collect();
            counterexample.steps.insert(random.below(steps + 1), step);
        }
    }
}

/// How many of the tampered ones are refused, and how many are still evidence. The claim itself stays true, so that
/// nothing false is accepted; see below for that.
fn tampered(random: &mut Random, history: &History, times: usize) -> [usize; 2] {
    let verdict = decide(history);
    let mut counts = [0; 2];
    for _ in 0..times {
        let mut other = verdict.clone();
        for _ in 0..1 + random.below(2) {
            match &mut other {
                Verdict::Holds(witness) => tamper_with_witness(random, witness),
                Verdict::Violated(it) => tamper_with_counterexample(random, history, it),
                Verdict::Undecided => unreachable!("the budget was unlimited"),
            }
        }
        counts[usize::from(certify(history, &other).is_ok())] += 1;
    }
    counts
}

#[test]
fn tampering_is_refused() {
    for data_type in DataType::ALL {
        let mut random = Random(77 + data_type as u64);
        let [mut refused, mut accepted] = [0, 0];
        for round in 0..100 {
            let history = simulated(&mut random, data_type, round % 2 == 0);
            let counts = tampered(&mut random, &history, 20);
            (refused, accepted) = (refused + counts[0], accepted + counts[1]);
        }
        assert!(refused > 5 * accepted, "{data_type}: {refused} refused, {accepted} accepted");
    }
}

/// The proofs of these have many steps. A changed step may well follow too, and an additional one does no harm.
#[test]
fn tampering_with_long_proofs() {
    for data_type in DataType::ALL {
        let literal = |variable, negated| Literal { variable, negated };
        let clause = |negated| [literal(0, negated), literal(1, negated), literal(2, negated)];
        let formula = Formula::new(3, vec![clause(false), clause(true)]).unwrap();
        let Some(history) = reduction::history(&formula, data_type) else { continue };
        let [refused, _] = tampered(&mut Random(3), &history, 100);
        assert!(refused > 0, "{data_type}");
    }
}

/// What operations see in some execution, and the order of that.
fn execute(random: &mut Random, history: &History) -> Witness {
    let replicas: Vec<Vec<OpId>> = history.replicas().map(|replica| history.operations_of(replica).collect()).collect();
    let mut known = vec![vec![0; replicas.len()]; replicas.len()];
    let mut witness = Witness { seen: vec![Vec::new(); history.len()], order: Vec::new() };
    while witness.order.len() < history.len() {
        let replica = random.below(replicas.len());
        let Some(&op) = replicas[replica].get(known[replica][replica] as usize) else { continue };
        for other in (0..replicas.len()).filter(|&other| other != replica) {
            // Up to any of the operations that the other one has done.
            let count = random.below(known[other][other] as usize + 1);
            if let Some(last) = count.checked_sub(1) {
                let mut seen: Vec<u32> = witness.seen[replicas[other][last].0 as usize].clone();
                seen[other] = count as u32;
                known[replica].iter_mut().zip(seen).for_each(|(known, seen)| *known = seen.max(*known));
            }
        }
        witness.seen[op.0 as usize] = known[replica].clone();
        witness.order.push(op);
        known[replica][replica] += 1;
    }
    witness
}

/// Executions at random explain nothing that brute force does not explain, and all of what asks nothing.
#[test]
fn nobody_explains_what_is_false() {
    for data_type in DataType::ALL {
        let mut random = Random(4321 + data_type as u64);
        let mut explained = 0;
        for round in 0..300 {
            let history = simulated(&mut random, data_type, round % 4 > 0);
            let admitted = oracle::admits(&history);
            for _ in 0..40 {
                let witness = execute(&mut random, &history);
                if certify(&history, &Verdict::Holds(witness)).is_ok() {
                    assert!(admitted, "{}", show(&history));
                    explained += 1;
                }
            }
        }
        assert!(explained > 100, "{data_type}: {explained}");
    }
}

/// A proof that is made up, step by step of what is accepted, and of any operations that may be left out, must not show
/// that nothing explains a history that has an explanation.
#[test]
fn nobody_proves_what_is_false() {
    for data_type in DataType::ALL {
        let mut random = Random(1234 + data_type as u64);
        let mut taken = 0;
        for _ in 0..60 {
            let history = simulated(&mut random, data_type, false);
            assert!(oracle::admits(&history), "{}", show(&history));
            for _ in 0..4 {
                taken += invent(&mut random, &history);
            }
        }
        assert!(taken > 100, "{data_type}: hardly anything was accepted");
    }
}

/// Invents a proof; how many of its steps were accepted.
fn invent(random: &mut Random, history: &History) -> usize {
    let everything = random.flip();
    let operations = history.operations().filter(|_| everything || random.below(4) > 0).collect();
    let mut proof = Counterexample { operations, minimal: false, steps: Vec::new() };
    for _ in 0..60 {
        let step = (0..1 + random.below(3)).map(|_| random_bound(random, history)).collect();
        proof.steps.push(step);
        match certify(history, &Verdict::Violated(proof.clone())) {
            Ok(()) => panic!("{proof:?} is no proof: {}", show(history)),
            Err(fault) if fault.0.contains("without a contradiction") => {}
            Err(_) => drop(proof.steps.pop()),
        }
    }
    proof.steps.len()
}

/// Only one number of what the read saw gives its answer; out of the range of a replica there is none.
#[test]
fn every_number_matters() {
    let seen = "p: read(x)=1 read(x)=2 / q: inc(x) inc(x) inc(x)";
    let history = history(DataType::Counter, seen);
    let Verdict::Holds(witness) = decide(&history) else { panic!("{seen}") };
    for (op, replica) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 1), (3, 1), (4, 1)] {
        for count in [0, 1, 2, 3, 4, u32::MAX] {
            let mut other = witness.clone();
            let old = std::mem::replace(&mut other.seen[op][replica], count);
            assert_eq!(certify(&history, &Verdict::Holds(other)).is_ok(), count == old, "{op} {replica} {count}");
        }
    }
}

#[test]
fn nonsense_is_refused() {
    for data_type in DataType::ALL {
        let history = simulated(&mut Random(5), data_type, false);
        let nothing = Witness { seen: Vec::new(), order: Vec::new() };
        assert!(certify(&history, &Verdict::Holds(nothing)).is_err());
        let wild = Witness {
            seen: vec![vec![u32::MAX; history.replicas().len()]; history.len()],
            order: vec![OpId(u32::MAX); history.len()],
        };
        assert!(certify(&history, &Verdict::Holds(wild)).is_err());
        for operations in [vec![], vec![OpId(u32::MAX)], vec![OpId(1), OpId(0)], vec![OpId(0), OpId(0)]] {
            let claim = Counterexample { operations, minimal: true, steps: vec![vec![]] };
            assert!(certify(&history, &Verdict::Violated(claim)).is_err());
        }
        assert!(certify(&history, &Verdict::Undecided).is_err());
    }
}
