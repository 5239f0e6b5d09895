//! Histories of replicated data types: how long until a verdict, and until its evidence is checked.
//!
//! Histories are simulated, so a case needs no file; each is checked in a process of its own, which the harness starts with
//! `--simulate`. There is no peer.

use std::io::Write;
use std::process::Command;
use std::time::Instant;

use isonomy_crdt::{Budget, Bug, DataType, Effort, Simulation, Verdict, certify, check};
use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::arguments::Arguments;
use crate::measure::{self, End, Output};
use crate::sets::Size;

pub(crate) const LEGEND: &str = "\
Simulated replicas. `check` is the wall time until the verdict, in seconds, and with it the evidence: for violations, a
counterexample that no operation can be left out of. `decisions` are steps that were tried, `conflicts` those that turned out wrong.
`certify` is the time of checking the evidence again. `peak` is the memory of the whole process in MiB, with making the
history. Medians over several seeds; `verdicts` are those of all of them. `size` is that of the largest counterexample.

";

pub(crate) const COLUMNS: [&str; 10] =
    ["input", "operations", "replicas", "check", "decisions", "conflicts", "certify", "peak", "size", "verdicts"];

/// A kind of history; the seed is still open.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) size: Size,
    simulation: Simulation,
}

impl Case {
    pub(crate) fn all() -> Vec<Case> {
        let mut cases = Vec::new();
        for data_type in [DataType::LwwRegister, DataType::MvRegister, DataType::Rga] {
            for (operations, size) in
                [(1_000, Size::Smoke), (10_000, Size::Default), (100_000, Size::Default), (1_000_000, Size::Full)]
            {
                cases.push(Case::new("", size, large(data_type, operations)));
            }
            for bug in [Bug::LostUpdate, Bug::NonCausalDelivery, Bug::WrongTieBreak] {
                let simulation = Simulation { bug: Some(bug), ..large(data_type, 100_000) };
                cases.push(Case::new(&format!("-{bug}"), Size::Default, simulation));
            }
        }
        for data_type in [DataType::OrSet, DataType::RwSet, DataType::EwFlag, DataType::DwFlag, DataType::Counter] {
            for replicas in [3, 5] {
                for operations in [300, 1_000, 3_000] {
                    let simulation = Simulation { replicas, ..Simulation::new(data_type, operations, 0) };
                    cases.push(Case::new(&format!("-r{replicas}"), Size::Default, simulation));
                }
            }
        }
        for data_type in [DataType::LwwRegister, DataType::MvRegister] {
            for operations in [300, 1_000] {
                let simulation = Simulation { unique_values: false, ..Simulation::new(data_type, operations, 0) };
                cases.push(Case::new("-repeated", Size::Default, simulation));
            }
        }
        cases
    }

    fn new(suffix: &str, size: Size, simulation: Simulation) -> Case {
        let operations = crate::sets::thousands(simulation.operations as u64);
        Case { name: format!("{}-{operations}{suffix}", simulation.data_type), size, simulation }
    }

    /// What is known of the verdict: replicas without a bug do what their type says. A bug need not show.
    fn is_wrong(&self, verdict: &str) -> bool {
        verdict == "violated" && self.simulation.bug.is_none()
    }
}

fn large(data_type: DataType, operations: usize) -> Simulation {
    Simulation { replicas: 5, objects: 20, ..Simulation::new(data_type, operations, 0) }
}

/// One run, as its process tells it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Sample {
    input: String,
    seed: u64,
    verdict: String,
    check: f64,
    certify: f64,
    decisions: u64,
    conflicts: u64,
    size: usize,
    /// In bytes; the harness adds it.
    #[serde(default)]
    peak: u64,
}

/// Simulates, checks, certifies, and prints what it took.
pub(crate) fn simulate(arguments: &Arguments, name: &str) -> Result<(), Failure> {
    let case = Case::all().into_iter().find(|case| case.name == name);
    let case = case.ok_or_else(|| format!("there is no history `{name}`"))?;
    let seed = arguments.seed;
    let history = Simulation { seed, ..case.simulation }.run();
    let start = Instant::now();
    let late = || start.elapsed() > arguments.timeout();
    let mut effort = Effort::default();
    let verdict = check(&history, &mut Budget::unlimited().with_stop(&late), &mut effort);
    let seconds = start.elapsed().as_secs_f64();
    let start = Instant::now();
    if !matches!(verdict, Verdict::Undecided) {
        certify(&history, &verdict).map_err(|fault| format!("{name}, seed {seed}: {fault}"))?;
    }
    let sample = Sample {
        input: case.name,
        seed,
        verdict: verdict.name().to_owned(),
        check: seconds,
        certify: start.elapsed().as_secs_f64(),
        decisions: effort.decisions,
        conflicts: effort.conflicts,
        size: if let Verdict::Violated(it) = &verdict { it.operations.len() } else { 0 },
        peak: 0,
    };
    let mut out = std::io::stdout().lock();
    serde_json::to_writer(&mut out, &sample)?;
    writeln!(out)?;
    Ok(())
}

/// Checks a case with several seeds; the samples, the row of the table, and whether all went as it should.
pub(crate) fn run(arguments: &Arguments, case: &Case) -> Result<(Vec<Sample>, String, bool), Failure> {
    std::fs::create_dir_all(&arguments.data)?;
    let output = Output::within(&arguments.data);
    let mut samples = Vec::new();
    let mut failed = 0;
    for seed in 0..u64::from(arguments.repeats.get()) {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["--simulate", &case.name, "--seed", &seed.to_string()]);
        command.args(["--timeout", &arguments.timeout().as_secs().to_string()]);
        // It stops by itself; certifying and simulating take some time too.
        let (end, usage) = measure::run(&mut command, &output, 4 * arguments.timeout())?;
        if end == End::Exited(0) {
            let sample: Sample = serde_json::from_str(&std::fs::read_to_string(&output.stdout)?)?;
            samples.push(Sample { peak: usage.peak_memory, ..sample });
        } else {
            crate::say(&format!("{}: {end:?}: {}", case.name, std::fs::read_to_string(&output.stderr)?.trim()));
            failed += 1;
        }
    }
    let good = failed == 0 && samples.iter().all(|sample| !case.is_wrong(&sample.verdict));
    let line = line(case, &samples);
    Ok((samples, line, good))
}

fn line(case: &Case, samples: &[Sample]) -> String {
    let median = |number: fn(&Sample) -> f64| {
        let mut numbers: Vec<f64> = samples.iter().map(number).collect();
        numbers.sort_by(f64::total_cmp);
        numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
    };
    let verdicts: Vec<String> = ["holds", "violated", "undecided"]
        .into_iter()
        .map(|verdict| (verdict, samples.iter().filter(|sample| sample.verdict == verdict).count()))
        .filter(|&(_, count)| count > 0)
        .map(|(verdict, count)| format!("{count} {verdict}"))
        .collect();
    let largest = samples.iter().map(|sample| sample.size).max().filter(|&size| size > 0);
    format!(
        "| {} | {} | {} | {:.3} | {:.0} | {:.0} | {:.3} | {:.0} | {} | {} |",
        case.name,
        case.simulation.operations,
        case.simulation.replicas,
        median(|sample| sample.check),
        median(|sample| sample.decisions as f64),
        median(|sample| sample.conflicts as f64),
        median(|sample| sample.certify),
        median(|sample| sample.peak as f64) / f64::from(1 << 20),
        largest.map_or_else(|| "–".to_owned(), |size| size.to_string()),
        verdicts.join(", "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<String> = Case::all().into_iter().map(|case| case.name).collect();
        names.sort();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
        assert!(names.contains(&"rga-100k-lost-update".to_owned()));
    }

    #[test]
    fn rows_have_medians() {
        let case = Case::all().swap_remove(0);
        let sample = |check, verdict: &str| Sample {
            input: case.name.clone(),
            seed: 0,
            verdict: verdict.to_owned(),
            check,
            certify: 0.5,
            decisions: 3,
            conflicts: 2,
            size: 0,
            peak: 3 << 20,
        };
        let samples = [sample(3.0, "holds"), sample(1.0, "undecided"), sample(2.0, "holds")];
        assert_eq!(
            line(&case, &samples),
            "| lww-register-1k | 1000 | 5 | 2.000 | 3 | 2 | 0.500 | 3 | – | 2 holds, 1 undecided |"
        );
        assert!(case.is_wrong("violated") && !case.is_wrong("undecided"));
    }
}
