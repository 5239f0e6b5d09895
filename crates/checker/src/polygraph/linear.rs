//! Begins and commits in a topological order, when the order of versions is known: linear time, but for the sorting of times, and no graph.
//!
//! Edges are read off the problem as they are needed. Real time needs none: whatever must wait for all that happened before it waits at a
//! [`Gate`], which opens as those that it waits for come through in the order of their times.

use rustc_hash::{FxHashMap, FxHashSet};

use super::problem::Problem;
use super::times::happens_before;
use crate::chains::NONE;

/// Orders all transactions by their commits; or finds the nodes of a cycle, each before the next and the last before the first.
/// `overwriter` is who wrote the version after each version, initial ones too, or [`NONE`].
pub(crate) fn order(problem: &Problem, overwriter: &[u32]) -> Result<Vec<u32>, Vec<u32>> {
    let mut sorting = Sorting::new(problem, overwriter);
    sorting.run();
    let rules = problem.rules;
    if sorting.ready.len() < sorting.waits_for.len() {
        return Err(Rest::of(sorting).short_cycle());
    }
    let commits = sorting.ready.into_iter().filter(|&node| rules.commit(rules.txn(node)) == node);
    Ok(commits.map(|node| rules.txn(node)).collect())
}

/// In [`Sorting::waits_for`]: the node has come through.
const THROUGH: u32 = u32::MAX;

struct Sorting<'a> {
    problem: &'a Problem,
    overwriter: &'a [u32],
    /// How many edges from nodes that have not come through, and how many closed gates, each node waits for.
    waits_for: Vec<u32>,
    /// Nodes that wait for nothing any more, in the order in which they come through.
    ready: Vec<u32>,
    gates: Vec<Gate>,
}

/// Nodes that must come after all those that surely happened before them.
struct Gate {
    /// Who is waited for, by the latest moment at which they happened.
    sources: Vec<(i64, u32)>,
    /// Who waits, by the earliest moment, each with how many of the sources it waits for.
    targets: Vec<(u32, u32)>,
    /// How many sources have come through before the first that has not.
    through: usize,
    /// How many targets wait no more.
    released: usize,
}

impl Gate {
    fn new(mut sources: Vec<(i64, u32)>, mut targets: Vec<(i64, u32)>, drift: i64) -> Self {
        // Stable sorts make use of sessions, whose times ascend.
        sources.sort_by_key(|&(latest, _)| latest);
        targets.sort_by_key(|&(earliest, _)| earliest);
        let mut before = 0;
        let mut waiting = Vec::with_capacity(targets.len());
        for (earliest, node) in targets {
            before += sources[before..]
                .iter()
                .take_while(|&&(latest, _)| happens_before((latest, latest), (earliest, earliest), drift))
                .count();
            if before > 0 {
                waiting.push((before as u32, node));
            }
        }
        Gate { sources, targets: waiting, through: 0, released: 0 }
    }
}

impl<'a> Sorting<'a> {
    fn new(problem: &'a Problem, overwriter: &'a [u32]) -> Self {
        let rules = problem.rules;
        let mut waits_for = vec![0u32; rules.nodes(problem.count()) as usize];
        for txn in 0..problem.count() {
            let reads = problem.reads.of(txn);
            let known = reads.iter().filter(|&&version| version < problem.written()).count();
            let seen = problem.seen.of(txn).len();
            let previous = usize::from(problem.previous[txn as usize] != NONE);
            waits_for[rules.begin(txn) as usize] += (known + seen + previous) as u32;
            if !rules.one_node {
                waits_for[rules.commit(txn) as usize] += 1;
            }
        }
        for (version, &later) in overwriter.iter().enumerate().filter(|&(_, &later)| later != NONE) {
            let readers = problem.readers.of(version as u32);
            let others = readers.len() - usize::from(readers.binary_search(&later).is_ok());
            waits_for[rules.commit(later) as usize] += others as u32;
            if (version as u32) < problem.written() {
                waits_for[rules.overwrite(later) as usize] += 1;
            }
        }
        let gates = gates(problem);
        for gate in &gates {
            gate.targets.iter().for_each(|&(_, node)| waits_for[node as usize] += 1);
        }
        let ready = (0..waits_for.len() as u32).filter(|&node| waits_for[node as usize] == 0).collect();
        Sorting { problem, overwriter, waits_for, ready, gates }
    }

    fn run(&mut self) {
        let (problem, rules) = (self.problem, self.problem.rules);
        let mut at = 0;
        while let Some(&node) = self.ready.get(at) {
            at += 1;
            self.waits_for[node as usize] = THROUGH;
            let txn = rules.txn(node);
            if node == rules.begin(txn) {
                if !rules.one_node {
                    self.release(rules.commit(txn));
                }
                for &version in problem.reads.of(txn) {
                    let later = self.overwriter[version as usize];
                    if later != NONE && later != txn {
                        self.release(rules.commit(later));
                    }
                }
            }
            if node == rules.commit(txn) {
                let following = problem.following[txn as usize];
                if following != NONE {
                    self.release(rules.begin(following));
                }
                problem.seen_by.of(txn).iter().for_each(|&reader| self.release(rules.begin(reader)));
                for version in problem.versions_by(txn) {
                    problem.readers.of(version).iter().for_each(|&reader| self.release(rules.begin(reader)));
                    let later = self.overwriter[version as usize];
                    if later != NONE {
                        self.release(rules.overwrite(later));
                    }
                }
            }
            self.open_gates();
        }
    }

    fn open_gates(&mut self) {
        for index in 0..self.gates.len() {
            let gate = &mut self.gates[index];
            let come = |&&(_, node): &&(i64, u32)| self.waits_for[node as usize] == THROUGH;
            gate.through += gate.sources[gate.through..].iter().take_while(come).count();
            while let Some(&(count, node)) = self.gates[index].targets.get(self.gates[index].released)
                && count as usize <= self.gates[index].through
            {
                self.gates[index].released += 1;
                self.release(node);
            }
        }
    }

    #[inline]
    fn release(&mut self, node: u32) {
        let count = &mut self.waits_for[node as usize];
        *count -= 1;
        if *count == 0 {
            self.ready.push(node);
        }
    }
}

fn gates(problem: &Problem) -> Vec<Gate> {
    let rules = problem.rules;
    if !rules.needs_times() {
        return Vec::new();
    }
    let moments = || (0..problem.count()).zip(&problem.moments);
    let begin_latest = || moments().map(|(txn, m)| (m.begin.1, rules.begin(txn))).collect();
    let begin_earliest = || moments().map(|(txn, m)| (m.begin.0, rules.begin(txn))).collect();
    let commit_latest = || moments().map(|(txn, m)| (m.commit.1, rules.commit(txn))).collect();
    let commit_earliest = || moments().map(|(txn, m)| (m.commit.0, rules.commit(txn))).collect();
    let mut gates = Vec::new();
    if rules.real_commits {
        gates.push(Gate::new(begin_latest(), commit_earliest(), rules.clock_drift));
        gates.push(Gate::new(commit_latest(), commit_earliest(), rules.clock_drift));
    }
    if rules.real_begins {
        gates.push(Gate::new(commit_latest(), begin_earliest(), rules.clock_drift));
    }
    gates
}

/// What cannot be sorted: every node waits for another that cannot be sorted either, so whoever walks back comes around.
struct Rest<'a> {
    sorting: Sorting<'a>,
    /// The version before each written version, or [`NONE`].
    before: Vec<u32>,
    /// For each gate, of each node that waits there, how many sources it waits for.
    waiting: Vec<FxHashMap<u32, u32>>,
}

impl<'a> Rest<'a> {
    /// Visits that may be spent on a shorter cycle.
    const EFFORT: usize = 200_000;

    fn of(sorting: Sorting<'a>) -> Self {
        let mut before = vec![NONE; sorting.problem.written() as usize];
        let problem = sorting.problem;
        for (version, &later) in sorting.overwriter.iter().enumerate().filter(|&(_, &later)| later != NONE) {
            let after = problem.version_of(later, problem.key_of(version as u32)).expect("it wrote the key");
            before[after as usize] = version as u32;
        }
        let unreleased =
            |gate: &Gate| gate.targets[gate.released..].iter().map(|&(count, node)| (node, count)).collect();
        let waiting = sorting.gates.iter().map(unreleased).collect();
        Rest { sorting, before, waiting }
    }

    /// Calls `visit` for each node that this one waits for, until it says true.
    fn any_predecessor(&self, node: u32, mut visit: impl FnMut(u32) -> bool) -> bool {
        let problem = self.sorting.problem;
        let rules = problem.rules;
        let txn = rules.txn(node);
        let waits = |node: u32| self.sorting.waits_for[node as usize] != THROUGH;
        let mut visit = |node: u32| waits(node) && visit(node);
        let before = |version: u32| Some(self.before[version as usize]).filter(|&before| before != NONE);
        let writer =
            |version: u32| (version < problem.written()).then(|| rules.commit(problem.writer[version as usize]));
        if node == rules.commit(txn) {
            let missed = problem.versions_by(txn).filter_map(before).flat_map(|before| problem.readers.of(before));
            if missed.filter(|&&reader| reader != txn).any(|&reader| visit(rules.begin(reader))) {
                return true;
            }
        }
        if node == rules.begin(txn) {
            let mut read = problem.reads.of(txn).iter().filter_map(|&version| writer(version));
            if read.any(&mut visit) || problem.seen.of(txn).iter().any(|&seen| visit(rules.commit(seen))) {
                return true;
            }
            let previous = problem.previous[txn as usize];
            if previous != NONE && visit(rules.commit(previous)) {
                return true;
            }
        } else if visit(rules.begin(txn)) {
            return true;
        }
        if node == rules.overwrite(txn)
            && problem.versions_by(txn).filter_map(before).filter_map(writer).any(&mut visit)
        {
            return true;
        }
        self.sorting.gates.iter().zip(&self.waiting).any(|(gate, waiting)| {
            let until = waiting.get(&node).map_or(gate.through, |&count| count as usize);
            gate.sources[gate.through..until].iter().any(|&(_, source)| visit(source))
        })
    }

    /// A short cycle: the shortest through some of the nodes of one that is found by walking back.
    fn short_cycle(&self) -> Vec<u32> {
        let cycle = self.cycle();
        let mut best = cycle.clone();
        let mut effort = Self::EFFORT;
        for &start in &cycle {
            if effort == 0 || best.len() <= 2 {
                break;
            }
            if let Some(shorter) = self.cycle_through(start, best.len(), &mut effort) {
                best = shorter;
            }
        }
        best
    }

    fn cycle(&self) -> Vec<u32> {
        let waits = |node: &u32| self.sorting.waits_for[*node as usize] != THROUGH;
        // What happened first among those that real time holds up is near what holds it up.
        let first = self.sorting.gates.iter().filter_map(|gate| gate.sources.get(gate.through)).map(|&(_, node)| node);
        let mut nodes = first.chain(0..self.sorting.waits_for.len() as u32);
        let mut node = nodes.find(waits).expect("something cannot be sorted");
        let mut walked = Vec::new();
        let mut place: FxHashMap<u32, usize> = FxHashMap::default();
        while place.insert(node, walked.len()).is_none() {
            walked.push(node);
            let from = node;
            self.any_predecessor(from, |predecessor| {
                node = predecessor;
                true
            });
        }
        let first = walked.iter().position(|&walked| walked == node).expect("it was there before");
        let mut cycle = walked.split_off(first);
        cycle.reverse();
        cycle
    }

    /// The shortest cycle through a node, if it is shorter than `length` and found with what `effort` remains.
    fn cycle_through(&self, start: u32, length: usize, effort: &mut usize) -> Option<Vec<u32>> {
        // Towards `start`, from those found on the way back.
        let mut towards: FxHashMap<u32, u32> = FxHashMap::default();
        let mut level = vec![start];
        let mut met: FxHashSet<u32> = FxHashSet::default();
        for _ in 1..length {
            let mut further = Vec::new();
            for &node in &level {
                let closes = self.any_predecessor(node, |predecessor| {
                    *effort = effort.saturating_sub(1);
                    if predecessor != start && met.insert(predecessor) {
                        towards.insert(predecessor, node);
                        further.push(predecessor);
                    }
                    predecessor == start || *effort == 0
                });
                if *effort == 0 {
                    return None;
                }
                if closes {
                    let mut cycle = vec![start];
                    let mut at = node;
                    while at != start {
                        cycle.push(at);
                        at = towards[&at];
                    }
                    return Some(cycle);
                }
            }
            level = further;
        }
        None
    }
}
