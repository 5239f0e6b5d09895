//! Guess an order of commits, find where it is wrong, repair; in rounds.
//!
//! A guess is wrong where the order of versions that it means closes cycles: in strongly connected parts of the graph. While
//! such a part is large, the pairs of versions in it are compared with what is known ([`Clocks`]); pairs that can be in one order only are
//! facts, and the next guess obeys them. Small parts are solved exactly, by themselves ([`region`]); if one has no solution, neither has
//! the whole, and if it has, the next guess obeys that, as long as it fits: a part that turns out to be wrong in spite of it grows
//! by those it is tangled with, and is solved anew. Parts only grow, so that this ends, at the latest with the whole history as one.

use isonomy_solver::Budget;
use rustc_hash::{FxHashMap, FxHashSet};

use super::clocks::{Chains, Clocks, topological};
use super::core::{Facts, Trace};
use super::graph;
use super::problem::Problem;
use super::region::{self, Answer};
use super::{replay, simulate};
use crate::chains::NONE;
use crate::check::{Options, Stage};
use crate::lists::Lists;

/// How to go about it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Whether to look for facts.
    pub(crate) prune: bool,
    /// Parts of more nodes than this are first reduced by facts.
    pub(crate) small: usize,
    /// Whether the seed itself is the first guess.
    pub(crate) trust_seed: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { prune: true, small: 4000, trust_seed: false }
    }
}

/// Facts are looked for in components of at most so many nodes times chains; larger ones are searched at once.
const MOST_CLOCKS: usize = 400_000_000;

/// How a problem came out.
pub(crate) enum Decision {
    /// An order of commits that shows that the level holds.
    Order(Vec<u32>),
    /// Transactions that violate the level by themselves.
    Violated(Vec<u32>),
    /// The caller stopped it.
    Stopped,
}

/// What solving parts has shown so far.
struct Regions {
    /// The region of each transaction, or [`NONE`].
    of: Vec<u32>,
    all: Vec<Region>,
}

/// Transactions that were found tangled. A region that was merged into another is empty.
#[derive(Default)]
struct Region {
    /// Those on cycles: of no other region.
    core: Vec<u32>,
    /// Those and the writers of what they read: these may be of other regions too.
    members: Vec<u32>,
    /// The order of versions of its core, among each other and with the others': pairs.
    pairs: Vec<(u32, u32)>,
}

/// Decides a problem whose known edges may have cycles. `seed` is an order of all transactions near which a solution may be.
pub(crate) fn decide(
    problem: &Problem,
    seed: &[u32],
    part: &dyn Fn(&[u32]) -> Problem,
    settings: Settings,
    options: &Options<'_>,
) -> Decision {
    let Options { stop, stage, counted, .. } = *options;
    stage(Stage::Guess);
    let mut rank = vec![0u32; seed.len()];
    for (at, &txn) in seed.iter().enumerate() {
        rank[txn as usize] = at as u32;
    }
    let known = graph::known(problem);
    let chains = Chains::of(problem);
    let mut facts = Facts::default();
    let mut fact_graph = graph::ordered(problem, known.len(), &[]);
    let mut topological_order = match topological(&[&known]) {
        Some(order) => order,
        None => {
            let cycle = graph::short_cycle(&[&known]);
            return Decision::Violated(graph::cycle_transactions(problem, &cycle));
        }
    };
    let mut regions = Regions { of: vec![NONE; seed.len()], all: Vec::new() };
    let mut seek_facts = settings.prune;
    let mut searched = 0;
    for round in 0.. {
        if stop() {
            return Decision::Stopped;
        }
        stage(Stage::Guess);
        counted("rounds", u64::from(round) + 1);
        let assumed: Vec<(u32, u32)> = regions.all.iter().flat_map(|region| &region.pairs).copied().collect();
        let mut obeyed = facts.pairs.clone();
        obeyed.extend_from_slice(&assumed);
        let order =
            if round == 0 && settings.trust_seed { seed.to_vec() } else { simulate::simulate(problem, &rank, &obeyed) };
        let complete = order.len() == seed.len();
        if complete && replay::holds(problem, &order) {
            return Decision::Order(order);
        }
        let mut neighbours: Vec<(u32, u32)>;
        let components = if complete {
            for (at, &txn) in order.iter().enumerate() {
                rank[txn as usize] = at as u32;
            }
            let next = graph::next_versions(problem, &order);
            let full = graph::full(problem, &next);
            let after = next.iter().enumerate().take(problem.written() as usize);
            neighbours = after.filter(|(_, after)| **after != NONE).map(|(v, &after)| (v as u32, after)).collect();
            let components = graph::components(&[&full]);
            if components.is_empty() {
                // The order of versions is right; that of the commits must be brought in line with it.
                let order = topological(&[&full]).expect("there is no cycle");
                let commits = order.into_iter().filter(|&node| is_commit(problem, node));
                return Decision::Order(commits.map(|node| problem.rules.txn(node)).collect());
            }
            components
        } else {
            // What the regions assume contradicts itself.
            let assumed = graph::ordered(problem, known.len(), &assumed);
            neighbours = obeyed;
            graph::components(&[&known, &fact_graph, &assumed])
        };
        neighbours.extend_from_slice(&problem.listed);
        let suspects = suspects(problem, known.len(), &neighbours, &components);
        if seek_facts && complete && components.iter().any(|component| component.len() > settings.small) {
            stage(Stage::Prune);
            let before = facts.pairs.len();
            let known_now = Known { graphs: &[&known, &fact_graph], order: &topological_order, chains: &chains };
            if let Some((one, other)) = find_facts(problem, &known_now, &components, &suspects, round, &mut facts) {
                return Decision::Violated(Trace::new(problem, &known, &facts, &topological_order).pair(one, other));
            }
            let found = facts.pairs.len() - before;
            counted("facts", facts.pairs.len() as u64);
            // When there is little left to be found so, searching is quicker.
            seek_facts = found * 16 >= suspects.len();
            if found > 0 {
                fact_graph = graph::ordered(problem, known.len(), &facts.pairs);
                match topological(&[&known, &fact_graph]) {
                    Some(order) => topological_order = order,
                    None => {
                        let cycle = graph::short_cycle(&[&known, &fact_graph]);
                        let trace = Trace::new(problem, &known, &facts, &topological_order);
                        return Decision::Violated(trace.cycle(&cycle));
                    }
                }
                continue;
            }
        }
        let by_version = Lists::new(problem.written() as usize, |add| {
            facts.pairs.iter().for_each(|&(before, after)| add(before, after));
        });
        let mut writers: Vec<Vec<u32>> = vec![Vec::new(); components.len()];
        for suspect in &suspects {
            // Whoever read a version has to do with its writer, even if that is on no cycle.
            let both = [suspect.one, suspect.other].map(|version| problem.writer[version as usize]);
            writers[suspect.component as usize].extend(both);
        }
        stage(Stage::Solve);
        searched += components.len() as u64;
        counted("parts_searched", searched);
        // A transaction may begin in one component and commit in another: all are made one before any is solved.
        let first = regions.all.len();
        for (component, writers) in components.iter().zip(writers) {
            regions.add(transactions(problem, component), writers);
        }
        for region in first..regions.all.len() {
            let members = std::mem::take(&mut regions.all[region].members);
            if members.is_empty() {
                continue;
            }
            let part = part(&members);
            let rank = |txn: u32| rank[members[txn as usize] as usize];
            let local = local_facts(problem, &by_version, &members, &part);
            let mut budget = Budget::unlimited().with_stop(stop);
            match region::solve(&part, &local, &rank, &mut budget) {
                Answer::Order(order) => regions.settle(problem, region, members, &order),
                Answer::Refuted(refuted) => {
                    let trace = Trace::new(problem, &known, &facts, &topological_order);
                    return Decision::Violated(trace.refuted(&part, &members, &refuted));
                }
                Answer::Stopped => return Decision::Stopped,
            }
        }
    }
    unreachable!("regions grow until one is solved or refuted")
}

/// The facts between versions of some transactions, in the numbers of the problem that these make by themselves.
fn local_facts(problem: &Problem, by_version: &Lists, members: &[u32], part: &Problem) -> Vec<(u32, u32)> {
    let mut local = Vec::new();
    let inside = |version: u32| members.binary_search(&problem.writer[version as usize]).ok();
    for (index, &txn) in members.iter().enumerate() {
        for (at, version) in problem.versions_by(txn).enumerate() {
            for &after in by_version.of(version) {
                if let Some(later) = inside(after) {
                    // A transaction has all its versions in every problem that it is part of, in the same order.
                    let number = after - problem.versions_by(problem.writer[after as usize]).start;
                    let before = part.versions_by(index as u32).start + at as u32;
                    local.push((before, part.versions_by(later as u32).start + number));
                }
            }
        }
    }
    local
}

pub(crate) fn is_commit(problem: &Problem, node: u32) -> bool {
    let rules = problem.rules;
    node < rules.nodes(problem.count()) && node == rules.commit(rules.txn(node))
}

/// The transactions of some nodes, ascending.
pub(crate) fn transactions(problem: &Problem, nodes: &[u32]) -> Vec<u32> {
    let of_transactions = problem.rules.nodes(problem.count());
    let mut txns: Vec<u32> =
        nodes.iter().filter(|&&node| node < of_transactions).map(|&node| problem.rules.txn(node)).collect();
    txns.sort_unstable();
    txns.dedup();
    txns
}

/// Neighbouring versions whose order takes part in a cycle.
struct Suspect {
    one: u32,
    other: u32,
    component: u32,
}

/// For each component those of some pairs of versions that have an edge in it. A pair may have to do with several.
fn suspects(problem: &Problem, nodes: usize, pairs: &[(u32, u32)], components: &[Vec<u32>]) -> Vec<Suspect> {
    let mut component = vec![NONE; nodes];
    for (index, members) in components.iter().enumerate() {
        members.iter().for_each(|&node| component[node as usize] = index as u32);
    }
    let mut suspects = Vec::new();
    for &(one, other) in pairs {
        let mut last = NONE;
        graph::ordered_edges(problem, one, other, &mut |from, to| {
            let component =
                if component[from as usize] == component[to as usize] { component[to as usize] } else { NONE };
            if component != NONE && component != last {
                suspects.push(Suspect { one, other, component });
                last = component;
            }
        });
    }
    suspects
}

/// Adds the facts among some pairs; returns a pair that cannot be in either order. Paths between nodes of a component stay in it, so
/// that each can be looked at by itself.
fn find_facts(
    problem: &Problem,
    known: &Known<'_>,
    components: &[Vec<u32>],
    suspects: &[Suspect],
    round: u32,
    facts: &mut Facts,
) -> Option<(u32, u32)> {
    let mut component = vec![NONE; known.order.len()];
    for (index, members) in components.iter().enumerate() {
        members.iter().for_each(|&node| component[node as usize] = index as u32);
    }
    let mut members: Vec<Vec<u32>> = components.iter().map(|members| Vec::with_capacity(members.len())).collect();
    for &node in known.order {
        if component[node as usize] != NONE {
            members[component[node as usize] as usize].push(node);
        }
    }
    let of_component = Lists::new(components.len(), |add| {
        suspects.iter().enumerate().for_each(|(index, suspect)| add(suspect.component, index as u32));
    });
    // For each pair whether the first cannot precede the second, and the second not the first.
    let mut excluded = vec![(false, false); suspects.len()];
    let mut clocks = Clocks::new(known.order.len(), known.chains);
    for (index, members) in members.iter().enumerate() {
        if members.len().saturating_mul(known.chains.count.min(members.len())) > MOST_CLOCKS {
            continue;
        }
        clocks.visit(problem, known.graphs, members, known.chains, |clocks| {
            for &suspect in of_component.of(index as u32) {
                let Suspect { one, other, .. } = suspects[suspect as usize];
                let excluded = &mut excluded[suspect as usize];
                excluded.0 |= clocks.excludes(problem, known.chains, one, other);
                excluded.1 |= clocks.excludes(problem, known.chains, other, one);
            }
        });
    }
    let mut already: FxHashSet<(u32, u32)> = facts.pairs.iter().copied().collect();
    for (&Suspect { one, other, .. }, &excluded) in suspects.iter().zip(&excluded) {
        let fact = match excluded {
            (true, true) => return Some((one, other)),
            (true, false) => (other, one),
            (false, true) => (one, other),
            (false, false) => continue,
        };
        if already.insert(fact) {
            facts.pairs.push(fact);
            facts.rounds.push(round);
        }
    }
    None
}

/// What is known before a round.
struct Known<'a> {
    graphs: &'a [&'a Lists],
    /// A topological order of the graphs.
    order: &'a [u32],
    chains: &'a Chains,
}

impl Regions {
    /// A new region of transactions that are tangled and others that they have to do with, and of all regions that the former are of.
    fn add(&mut self, tangled: Vec<u32>, others: Vec<u32>) {
        let mut core = tangled;
        let mut members = others;
        for at in 0..core.len() {
            let region = self.of[core[at] as usize];
            if region != NONE {
                let region = std::mem::take(&mut self.all[region as usize]);
                region.core.iter().for_each(|&txn| self.of[txn as usize] = NONE);
                core.extend(region.core);
                members.extend(region.members);
            }
        }
        members.extend_from_slice(&core);
        for txns in [&mut core, &mut members] {
            txns.sort_unstable();
            txns.dedup();
        }
        core.iter().for_each(|&txn| self.of[txn as usize] = self.all.len() as u32);
        self.all.push(Region { core, members, pairs: Vec::new() });
    }

    /// Keeps the order of commits that was found for a region, given by indices into its members.
    fn settle(&mut self, problem: &Problem, region: usize, members: Vec<u32>, order: &[u32]) {
        // For each key the last version of the core, and those of others since.
        let mut last: FxHashMap<u32, (u32, Vec<u32>)> = FxHashMap::default();
        let mut pairs = Vec::new();
        for &index in order {
            let txn = members[index as usize];
            let in_core = self.of[txn as usize] == region as u32;
            for version in problem.versions_by(txn) {
                let (before, since) = last.entry(problem.key[version as usize]).or_insert((NONE, Vec::new()));
                pairs.extend((*before != NONE).then_some((*before, version)));
                if in_core {
                    pairs.extend(since.drain(..).map(|other| (other, version)));
                    *before = version;
                } else {
                    since.push(version);
                }
            }
        }
        let settled = &mut self.all[region];
        settled.members = members;
        settled.pairs = pairs;
    }
}
