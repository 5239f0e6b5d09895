//! What recording costs: the same workload with a recorder and without one, in turns, and the ratio of their throughputs.
//!
//! `cargo run --release -p isonomy-driver --example overhead [URL|postgres|mariadb|redis|etcd] [PRESET] [TRANSACTIONS] [ROUNDS] [SESSIONS]`
//!
//! A kind of throw-away servers is started for the purpose.

#![allow(clippy::print_stdout, reason = "a program for measurements")]

use std::error::Error;
use std::sync::atomic::AtomicBool;
use std::{env, fs, process};

use isonomy_cluster::{Kind, Server};
use isonomy_driver::run::{Plan, Watch, run};
use isonomy_driver::{Database, Recorder, open};
use isonomy_workload::Preset;

/// Committed transactions a second.
fn throughput(database: &dyn Database, plan: &Plan, recorder: Recorder) -> Result<f64, Box<dyn Error>> {
    let watch = Watch { stop: &AtomicBool::new(false), progress: &mut |_| {} };
    let summary = run(database, plan, &recorder, watch)?;
    recorder.finish()?;
    Ok(summary.rate())
}

/// A quarter of the numbers is smaller than the first, half than the second, three quarters than the third.
fn quartiles(mut numbers: Vec<f64>) -> [f64; 3] {
    numbers.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| numbers[numbers.len() * quarter / 4])
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let what = arguments.next().unwrap_or_else(|| "mock:serializable".into());
    let preset: Preset = arguments.next().unwrap_or_else(|| "mini".into()).parse()?;
    let transactions = arguments.next().map_or(Ok(20_000), |number| number.parse())?;
    let rounds = arguments.next().map_or(Ok(10), |number| number.parse::<u64>())?.max(1);
    let sessions = arguments.next().map_or(Ok(8), |number| number.parse())?;

    let server = Kind::ALL.into_iter().find(|kind| kind.name() == what).map(Server::start).transpose()?;
    let urls = server.as_ref().map_or_else(|| vec![what], Server::urls);
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let database = open(&urls, None)?;
    let path = env::temp_dir().join(format!("isonomy-overhead-{}.jsonl", process::id()));
    let plan = Plan::new(preset.spec().workload, sessions, transactions);
    // The first run of all is for warming up.
    throughput(&*database, &plan, Recorder::of_nothing())?;

    let (mut with, mut without, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for seed in 0..rounds {
        let plan = Plan { seed, ..plan.clone() };
        let recorded = || throughput(&*database, &plan, Recorder::create(&path)?);
        let bare = || throughput(&*database, &plan, Recorder::of_nothing());
        // Who comes first has an advantage or a disadvantage; take turns in that too.
        let (recorded, bare) = if seed % 2 == 0 {
            let recorded = recorded()?;
            (recorded, bare()?)
        } else {
            let bare = bare()?;
            (recorded()?, bare)
        };
        println!("{seed}: {recorded:.0}/s recorded, {bare:.0}/s not: {:.3}", recorded / bare);
        with.push(recorded);
        without.push(bare);
        ratios.push(recorded / bare);
    }
    fs::remove_file(&path)?;
    let (with, without, [low, ratio, high]) = (quartiles(with)[1], quartiles(without)[1], quartiles(ratios));
    println!(
        "medians of {rounds}: {with:.0}/s recorded, {without:.0}/s not; ratio {ratio:.3}, half of them in {low:.3} to {high:.3}"
    );
    println!("a transaction costs {:.1} µs more", 1e6 / with - 1e6 / without);
    Ok(())
}
