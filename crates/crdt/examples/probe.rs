#![allow(missing_docs, clippy::print_stdout)]
use isonomy_crdt::*;
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let data_type: DataType = args[1].parse().unwrap();
    let ops: usize = args[2].parse().unwrap();
    let replicas: usize = args[3].parse().unwrap();
    let objects: usize = args[4].parse().unwrap();
    let seeds: u64 = args[5].parse().unwrap();
    let unique = args[6] == "u";
    let bug: Option<Bug> = args.get(7).and_then(|b| b.parse().ok());
    for seed in 0..seeds {
        let history = Simulation { replicas, objects, bug, unique_values: unique, ..Simulation::new(data_type, ops, seed) }.run();
        let start = Instant::now();
        let mut effort = Effort::default();
        let stop = move || start.elapsed().as_secs() > 20;
        let mut budget = Budget::unlimited().with_stop(&stop);
        let verdict = check(&history, &mut budget, &mut effort);
        let took = start.elapsed();
        let start = Instant::now();
        let certified = certify(&history, &verdict);
        let extra = if let Verdict::Violated(c) = &verdict { format!("{} ops minimal {} steps {}", c.operations.len(), c.minimal, c.steps.len()) } else { String::new() };
        println!("{data_type} seed {seed}: {} {:?} {:?} certify {:?} {:?} {extra}", verdict.name(), took, effort, certified.is_ok(), start.elapsed());
    }
}
