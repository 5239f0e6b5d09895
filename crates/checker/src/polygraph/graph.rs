//! Graphs of begins and commits.

use rustc_hash::{FxHashMap, FxHashSet};

use super::problem::Problem;
use super::times::happens_before;
use crate::chains::NONE;
use crate::lists::Lists;

/// For each written and each initial version the next one of its key, or [`NONE`].
pub(crate) fn next_versions(problem: &Problem, order: &[u32]) -> Vec<u32> {
    let mut next = vec![NONE; problem.written() as usize + problem.keys.len()];
    let mut current: Vec<u32> = (0..problem.keys.len() as u32).map(|key| problem.written() + key).collect();
    for &txn in order {
        for version in problem.versions_by(txn) {
            let before = std::mem::replace(&mut current[problem.key[version as usize] as usize], version);
            next[before as usize] = version;
        }
    }
    next
}

/// Calls `add` for each edge that holds whatever the order of versions: begin to commit, session, write-read, lists, real time.
/// Returns how many helper nodes real time took, numbered from `helpers` on.
fn known_edges(problem: &Problem, helpers: u32, add: &mut dyn FnMut(u32, u32)) -> u32 {
    let rules = problem.rules;
    for txn in 0..problem.count() {
        if !rules.one_node {
            add(rules.begin(txn), rules.commit(txn));
        }
        let following = problem.following[txn as usize];
        if following != NONE {
            add(rules.commit(txn), rules.begin(following));
        }
        for version in problem.versions_by(txn) {
            problem.readers.of(version).iter().for_each(|&reader| add(rules.commit(txn), rules.begin(reader)));
        }
        problem.seen_by.of(txn).iter().for_each(|&reader| add(rules.commit(txn), rules.begin(reader)));
    }
    for &(before, after) in &problem.listed {
        ordered_edges(problem, before, after, add);
    }
    if rules.needs_times() { real_time_edges(problem, helpers, add) } else { 0 }
}

/// An end of each transaction: when it happened, and its node.
type Ends<'a> = &'a dyn Fn(u32) -> ((i64, i64), u32);

/// Real time in linear size: events that others come before stand in a chain of helpers, by the time they may first have happened; each
/// event leads to the first helper that surely came after it.
fn real_time_edges(problem: &Problem, helpers: u32, add: &mut dyn FnMut(u32, u32)) -> u32 {
    let rules = problem.rules;
    let moments = &problem.moments;
    let count = problem.count();
    let mut used = 0;
    let mut chain = |targets: Ends<'_>, sources: &[Ends<'_>]| {
        let first = helpers + used;
        let mut sorted: Vec<u32> = (0..count).collect();
        sorted.sort_by_key(|&txn| targets(txn).0.0);
        for (at, &txn) in sorted.iter().enumerate() {
            let helper = first + at as u32;
            add(helper, targets(txn).1);
            if at + 1 < sorted.len() {
                add(helper, helper + 1);
            }
        }
        for source in sources {
            for txn in 0..count {
                let (moment, node) = source(txn);
                let after =
                    sorted.partition_point(|&other| !happens_before(moment, targets(other).0, rules.clock_drift));
                if after < sorted.len() {
                    add(node, first + after as u32);
                }
            }
        }
        used += count;
    };
    let begin = |txn: u32| (moments[txn as usize].begin, rules.begin(txn));
    let commit = |txn: u32| (moments[txn as usize].commit, rules.commit(txn));
    if rules.real_commits {
        chain(&commit, &[&begin, &commit]);
    }
    if rules.real_begins {
        chain(&begin, &[&commit]);
    }
    used
}

/// How many helper nodes real time takes.
fn real_time_helpers(problem: &Problem) -> u32 {
    (u32::from(problem.rules.real_commits) + u32::from(problem.rules.real_begins)) * problem.count()
}

/// How many nodes graphs have: those of transactions, a helper for each key, and those of real time.
fn node_count(problem: &Problem) -> u32 {
    problem.rules.nodes(problem.count()) + problem.keys.len() as u32 + real_time_helpers(problem)
}

/// The graph of a total order of versions: known edges, and for each version edges to the next one of its key, from its writer and from
/// its readers. Those to later ones follow. The nodes are those of [`known`], and each path there is one here.
pub(crate) fn full(problem: &Problem, next: &[u32]) -> Lists {
    let rules = problem.rules;
    let nodes = rules.nodes(problem.count());
    Lists::new(node_count(problem) as usize, |add| {
        known_edges(problem, nodes + problem.keys.len() as u32, add);
        for (version, &after) in next.iter().enumerate() {
            if after == NONE {
                continue;
            }
            if (version as u32) < problem.written() {
                ordered_edges(problem, version as u32, after, add);
            } else {
                initial_edges(problem, version as u32 - problem.written(), &[after], add);
            }
        }
    })
}

/// Whoever read the initial version of a key began before its writers committed.
fn initial_edges(problem: &Problem, key: u32, versions: &[u32], add: &mut dyn FnMut(u32, u32)) {
    let rules = problem.rules;
    let readers = problem.readers.of(problem.written() + key);
    if readers.is_empty() || versions.is_empty() {
        return;
    }
    let helper = rules.nodes(problem.count()) + key;
    for &reader in readers {
        if rules.one_node && problem.version_of(reader, key).is_some() {
            // Its own version must not be behind the helper.
            let writers = versions.iter().map(|&version| problem.writer[version as usize]);
            writers
                .filter(|&writer| writer != reader)
                .for_each(|writer| add(rules.begin(reader), rules.commit(writer)));
        } else {
            add(rules.begin(reader), helper);
        }
    }
    versions.iter().for_each(|&version| add(helper, rules.commit(problem.writer[version as usize])));
}

/// The graph of what holds whatever the order of versions. Beyond the nodes of transactions it has a helper for each key, then those of
/// real time.
pub(crate) fn known(problem: &Problem) -> Lists {
    let nodes = problem.rules.nodes(problem.count());
    Lists::new(node_count(problem) as usize, |add| {
        known_edges(problem, nodes + problem.keys.len() as u32, add);
        for key in 0..problem.keys.len() as u32 {
            initial_edges(problem, key, problem.versions().of(key), add);
        }
    })
}

/// The edges of versions that are known, or assumed, to precede others.
pub(crate) fn ordered(problem: &Problem, nodes: usize, pairs: &[(u32, u32)]) -> Lists {
    Lists::new(nodes, |add| {
        pairs.iter().for_each(|&(before, after)| ordered_edges(problem, before, after, add));
    })
}

/// The edges that follow if one version precedes another of its key.
pub(crate) fn ordered_edges(problem: &Problem, before: u32, after: u32, add: &mut dyn FnMut(u32, u32)) {
    let rules = problem.rules;
    let later = problem.writer[after as usize];
    add(rules.commit(problem.writer[before as usize]), rules.overwrite(later));
    for &reader in problem.readers.of(before) {
        if reader != later {
            add(rules.begin(reader), rules.commit(later));
        }
    }
}

/// Strongly connected components of more than one node, as lists of nodes.
pub(crate) fn components(graph: &[&Lists]) -> Vec<Vec<u32>> {
    let nodes = graph[0].len();
    let mut index = vec![NONE; nodes];
    let mut low = vec![0u32; nodes];
    let mut open: Vec<u32> = Vec::new();
    let mut stack: Vec<(u32, u32)> = Vec::new();
    let mut found = Vec::new();
    let mut count = 0;
    // A node that has left `open` has the largest low link, so that edges to it change nothing.
    for root in 0..nodes as u32 {
        if index[root as usize] != NONE {
            continue;
        }
        stack.push((root, 0));
        index[root as usize] = count;
        low[root as usize] = count;
        count += 1;
        open.push(root);
        while let Some(&mut (node, ref mut at)) = stack.last_mut() {
            let mut descended = false;
            while let Some(next) = successor(graph, node, *at) {
                *at += 1;
                if index[next as usize] == NONE {
                    index[next as usize] = count;
                    low[next as usize] = count;
                    count += 1;
                    open.push(next);
                    stack.push((next, 0));
                    descended = true;
                    break;
                }
                low[node as usize] = low[node as usize].min(low[next as usize]);
            }
            if descended {
                continue;
            }
            stack.pop();
            let mine = low[node as usize];
            if let Some(&mut (parent, _)) = stack.last_mut() {
                low[parent as usize] = low[parent as usize].min(mine);
            }
            if mine == index[node as usize] {
                let first = open.iter().rposition(|&other| other == node).expect("an open node is on the stack");
                if open.len() - first > 1 {
                    found.push(open[first..].to_vec());
                }
                for done in open.drain(first..) {
                    low[done as usize] = NONE;
                }
            }
        }
    }
    found
}

/// The transactions that a cycle of known edges needs, ascending: those on it, and those whose versions were overwritten.
pub(crate) fn cycle_transactions(problem: &Problem, cycle: &[u32]) -> Vec<u32> {
    let rules = problem.rules;
    let nodes: Vec<u32> = cycle.iter().copied().filter(|&node| node < rules.nodes(problem.count())).collect();
    let mut txns: Vec<u32> = nodes.iter().map(|&node| rules.txn(node)).collect();
    for (at, &from) in nodes.iter().enumerate() {
        let to = nodes[(at + 1) % nodes.len()];
        let (reader, later) = (rules.txn(from), rules.txn(to));
        if reader == later || from != rules.begin(reader) || to != rules.commit(later) {
            continue;
        }
        // Lists show what was read, and what came later.
        let missed = problem.listed.iter().filter(|&&(before, after)| {
            problem.writer[after as usize] == later && problem.reads.of(reader).binary_search(&before).is_ok()
        });
        txns.extend(missed.map(|&(before, _)| problem.writer[before as usize]));
    }
    txns.sort_unstable();
    txns.dedup();
    txns
}

/// A successor of a node in several graphs of the same nodes, by its index.
#[inline]
pub(crate) fn successor(graphs: &[&Lists], node: u32, at: u32) -> Option<u32> {
    let mut at = at as usize;
    for graph in graphs {
        let successors = graph.of(node);
        match successors.get(at) {
            Some(&next) => return Some(next),
            None => at -= successors.len(),
        }
    }
    None
}

/// A short cycle of a graph that has one: the shortest through some of the nodes of its smallest component.
pub(crate) fn short_cycle(graphs: &[&Lists]) -> Vec<u32> {
    /// Visits that may be spent.
    const EFFORT: usize = 20_000;
    let smallest = components(graphs).into_iter().min_by_key(Vec::len).expect("there is a cycle");
    let inside: FxHashSet<u32> = smallest.iter().copied().collect();
    let mut best: Vec<u32> = Vec::new();
    let mut effort = EFFORT;
    let mut parent: FxHashMap<u32, u32> = FxHashMap::default();
    for &start in &smallest {
        if effort == 0 && !best.is_empty() {
            break;
        }
        parent.clear();
        let mut level = vec![start];
        let mut length = 1;
        // A node of this level closes a cycle of as many nodes as there were levels.
        'search: while !level.is_empty() && (best.is_empty() || length < best.len()) {
            let mut next_level = Vec::new();
            for &node in &level {
                for &next in graphs.iter().flat_map(|graph| graph.of(node)) {
                    if next == start {
                        best = vec![node];
                        while *best.last().expect("it has one") != start {
                            best.push(parent[best.last().expect("it has one")]);
                        }
                        best.reverse();
                        break 'search;
                    }
                    if inside.contains(&next) && !parent.contains_key(&next) {
                        parent.insert(next, node);
                        next_level.push(next);
                        effort = effort.saturating_sub(1);
                    }
                }
            }
            level = next_level;
            length += 1;
        }
    }
    best
}
