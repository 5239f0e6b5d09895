//! Times the solver on the polygraphs of random histories, and on random choices near the edge of what can be satisfied.
//!
//! `cargo run --release -p isonomy-solver --example polygraphs [histories|large|random] [unguided] [eager]`

#![allow(clippy::print_stdout, reason = "a program for measurements")]

use std::time::Instant;

use isonomy_solver::{Budget, Outcome, Solver, minimal_lemmas, refute};

#[path = "../tests/support/polygraph.rs"]
mod polygraph;

use polygraph::{Polygraph, Rng, Shape};

/// Edges between random nodes: one on either side.
fn random(nodes: usize, choices: usize, seed: u64) -> Polygraph {
    let mut rng = Rng(seed);
    let mut edge = || {
        let from = rng.below(nodes);
        (from as u32, ((from + 1 + rng.below(nodes - 1)) % nodes) as u32)
    };
    let choices = (0..choices).map(|_| (vec![edge()], vec![edge()])).collect();
    Polygraph { nodes, known: Vec::new(), choices }
}

fn run(name: &str, polygraph: &Polygraph, arguments: &[String]) {
    let has = |word: &str| arguments.iter().any(|argument| argument == word);
    let started = Instant::now();
    let mut solver =
        if has("unguided") { Solver::new(polygraph.nodes) } else { Solver::with_order(&polygraph::order(polygraph)) };
    if !polygraph.known.iter().all(|&(from, to)| solver.add_edge(from, to).is_ok()) {
        println!("{name}: known edges have a cycle");
        return;
    }
    for (if_true, if_false) in &polygraph.choices {
        let &(from, to) = if_true.last().expect("either side has edges");
        let phase = has("unguided") || solver.position(from) < solver.position(to);
        let choice = solver.add_choice(if_true, if_false, phase);
        if has("eager") {
            // Says nothing, but a choice in a clause is always decided.
            solver.add_clause(&[choice.is(true), choice.is(false)]);
        }
    }
    let built = started.elapsed();
    let mut budget = Budget::new(3_000_000_000);
    let outcome = solver.solve(&mut budget);
    let all = started.elapsed();
    let n = solver.statistics();
    println!(
        "{name}: {} choices, {outcome:?}, {:.4} s ({:.4} to build), {} units, {} conflicts, {} decisions, {} edges, {} visited, {} examined",
        polygraph.choices.len(),
        all.as_secs_f64(),
        built.as_secs_f64(),
        budget.spent(),
        n.conflicts,
        n.decisions,
        n.edges_inserted,
        n.nodes_visited,
        n.choices_examined,
    );
    if outcome == Outcome::Unsatisfiable {
        let started = Instant::now();
        let lemmas = solver.lemmas();
        let picked = minimal_lemmas(lemmas, &[], &mut Budget::new(300_000_000));
        let minimal = started.elapsed();
        let tree = refute(lemmas, &picked, &[], &mut Budget::new(300_000_000));
        let literals: usize = picked.iter().map(|&index| lemmas[index].literals.len()).sum();
        println!(
            "    {} of {} lemmas, {literals} literals, {:.4} s; proof of {:?} cases, {:.4} s",
            picked.len(),
            lemmas.len(),
            minimal.as_secs_f64(),
            tree.map(|tree| tree.cases.len()),
            (started.elapsed() - minimal).as_secs_f64(),
        );
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mode = arguments.first().map_or("histories", String::as_str);
    if mode == "random" {
        for (nodes, choices) in [
            (20, 80),
            (30, 120),
            (30, 150),
            (30, 200),
            (50, 180),
            (50, 200),
            (50, 220),
            (50, 250),
            (100, 350),
            (300, 850),
        ] {
            for seed in 0..3 {
                run(&format!("random {nodes}/{choices} #{seed}"), &random(nodes, choices, seed), &arguments);
            }
        }
        return;
    }
    let sizes: &[(usize, usize, u64)] = if mode == "large" {
        &[(10_000, 5_000, 0), (5_000, 500, 0), (20_000, 10_000, 0), (10_000, 1_000, 0)]
    } else {
        &[
            (200, 100, 0),
            (1_000, 500, 0),
            (2_000, 1_000, 0),
            (2_000, 300, 0),
            (5_000, 2_500, 0),
            (300, 10, 5),
            (100, 50, 5),
            (100, 50, 20),
            (100, 200, 20),
            (200, 400, 30),
            (200, 800, 60),
            (1000, 500, 1),
            (1000, 500, 5),
        ]
    };
    for &(transactions, keys, stale) in sizes {
        for seed in 0..3 {
            let shape = Shape { transactions, keys, sessions: 20, operations: 8, stale, seed };
            let name = format!("{transactions}/{keys} stale {stale} #{seed}");
            run(&name, &polygraph::polygraph(shape), &arguments);
        }
    }
}
