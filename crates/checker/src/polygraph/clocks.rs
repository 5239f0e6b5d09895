//! Which nodes come before which, by chains: for every node, how far in each session begins and commits precede it.

use super::problem::{Lists, Problem};
use crate::chains::NONE;

/// Transactions in chains, each totally ordered by what is known.
pub(crate) struct Chains {
    pub(crate) chain: Vec<u32>,
    pub(crate) position: Vec<u32>,
    pub(crate) count: usize,
}

impl Chains {
    /// Sessions, where they are respected.
    pub(crate) fn of(problem: &Problem) -> Self {
        let mut chains = Chains { chain: Vec::new(), position: Vec::new(), count: 0 };
        for &previous in &problem.previous {
            let (chain, position) = match chains.position.get(previous as usize) {
                Some(position) => (chains.chain[previous as usize], position + 1),
                None => {
                    chains.count += 1;
                    (chains.count as u32 - 1, 0)
                }
            };
            chains.chain.push(chain);
            chains.position.push(position);
        }
        chains
    }
}

/// For each of some nodes how many transactions of some chains begin, and how many commit, before it.
pub(crate) struct Clocks {
    /// The row of each node, or [`NONE`].
    row: Vec<u32>,
    /// The column of each chain, or [`NONE`].
    column: Vec<u32>,
    width: usize,
    begins: Vec<u32>,
    commits: Vec<u32>,
}

/// The most bytes of rows at a time.
const MOST_BYTES: usize = 1 << 30;

/// A topological order of graphs over the same nodes, given by successors; or `None` if there is a cycle.
pub(crate) fn topological(graphs: &[&Lists]) -> Option<Vec<u32>> {
    let nodes = graphs[0].len();
    let mut missing = vec![0u32; nodes];
    for graph in graphs {
        graph.items().iter().for_each(|&next| missing[next as usize] += 1);
    }
    let mut order: Vec<u32> = Vec::with_capacity(nodes);
    order.extend((0..nodes as u32).filter(|&node| missing[node as usize] == 0));
    let mut at = 0;
    while let Some(&node) = order.get(at) {
        at += 1;
        for next in graphs.iter().flat_map(|graph| graph.of(node)) {
            missing[*next as usize] -= 1;
            if missing[*next as usize] == 0 {
                order.push(*next);
            }
        }
    }
    (order.len() == nodes).then_some(order)
}

impl Clocks {
    /// Room for clocks of graphs of so many nodes.
    pub(crate) fn new(nodes: usize, chains: &Chains) -> Self {
        let column = vec![NONE; chains.count];
        Clocks { row: vec![NONE; nodes], column, width: 0, begins: Vec::new(), commits: Vec::new() }
    }

    /// Calls `visit` with clocks of the nodes given, which must stand in a topological order and hold all nodes on paths between
    /// any two of them. Where they are too large for memory, with a few chains at a time: [`keeps`](Self::keeps) says which.
    pub(crate) fn visit(
        &mut self,
        problem: &Problem,
        graphs: &[&Lists],
        nodes: &[u32],
        chains: &Chains,
        mut visit: impl FnMut(&Self),
    ) {
        let rules = problem.rules;
        let of_transactions = rules.nodes(problem.count());
        for (row, &node) in nodes.iter().enumerate() {
            self.row[node as usize] = row as u32;
        }
        let of_nodes = nodes.iter().filter(|&&node| node < of_transactions);
        let mut present: Vec<u32> = of_nodes.map(|&node| chains.chain[rules.txn(node) as usize]).collect();
        present.sort_unstable();
        present.dedup();
        let at_a_time = (MOST_BYTES / 8 / nodes.len().max(1)).max(1);
        for some in present.chunks(at_a_time) {
            self.width = some.len();
            some.iter().enumerate().for_each(|(column, &chain)| self.column[chain as usize] = column as u32);
            self.fill(problem, graphs, nodes, chains);
            visit(self);
            some.iter().for_each(|&chain| self.column[chain as usize] = NONE);
        }
        nodes.iter().for_each(|&node| self.row[node as usize] = NONE);
    }

    fn fill(&mut self, problem: &Problem, graphs: &[&Lists], nodes: &[u32], chains: &Chains) {
        let (rules, width) = (problem.rules, self.width);
        let of_transactions = rules.nodes(problem.count());
        for rows in [&mut self.begins, &mut self.commits] {
            rows.clear();
            rows.resize(nodes.len() * width, 0);
        }
        for (row, &node) in nodes.iter().enumerate() {
            let from = row * width;
            // A node comes before itself.
            if node < of_transactions {
                let txn = rules.txn(node);
                let column = self.column[chains.chain[txn as usize] as usize];
                if column != NONE {
                    let (own, count) = (from + column as usize, chains.position[txn as usize] + 1);
                    if node == rules.begin(txn) {
                        self.begins[own] = self.begins[own].max(count);
                    }
                    if node == rules.commit(txn) {
                        self.commits[own] = self.commits[own].max(count);
                    }
                }
            }
            for &next in graphs.iter().flat_map(|graph| graph.of(node)) {
                let into = self.row[next as usize];
                if into != NONE {
                    merge(&mut self.begins, into as usize * width, from, width);
                    merge(&mut self.commits, into as usize * width, from, width);
                }
            }
        }
    }

    /// Whether a transaction's chain is among those kept.
    #[inline]
    pub(crate) fn keeps(&self, chains: &Chains, txn: u32) -> bool {
        self.column[chains.chain[txn as usize] as usize] != NONE
    }

    /// Whether a transaction begins before a node, or at it. Its chain must be among those kept.
    #[inline]
    pub(crate) fn begins_before(&self, chains: &Chains, txn: u32, node: u32) -> bool {
        let column = self.column[chains.chain[txn as usize] as usize] as usize;
        self.begins[self.row[node as usize] as usize * self.width + column] > chains.position[txn as usize]
    }

    /// Whether a transaction commits before a node, or at it. Its chain must be among those kept.
    #[inline]
    pub(crate) fn commits_before(&self, chains: &Chains, txn: u32, node: u32) -> bool {
        let column = self.column[chains.chain[txn as usize] as usize] as usize;
        self.commits[self.row[node as usize] as usize * self.width + column] > chains.position[txn as usize]
    }

    /// Whether the clocks know a node.
    #[inline]
    pub(crate) fn has(&self, node: u32) -> bool {
        self.row[node as usize] != NONE
    }

    /// Whether it is impossible that one version precedes another: whether an edge that would follow closes a cycle among the nodes.
    /// Edges from chains that are not kept are left out.
    pub(crate) fn excludes(&self, problem: &Problem, chains: &Chains, before: u32, after: u32) -> bool {
        let rules = problem.rules;
        let (earlier, later) = (problem.writer[before as usize], problem.writer[after as usize]);
        if !self.keeps(chains, later) {
            return false;
        }
        let end = rules.commit(earlier);
        let overwrites = self.has(end)
            && if rules.conflict {
                self.begins_before(chains, later, end)
            } else {
                self.commits_before(chains, later, end)
            };
        let missed = |&reader: &u32| {
            let begin = rules.begin(reader);
            reader != later && self.has(begin) && self.commits_before(chains, later, begin)
        };
        overwrites || problem.readers.of(before).iter().any(missed)
    }
}

#[inline]
fn merge(rows: &mut [u32], into: usize, from: usize, width: usize) {
    let (target, source) = if into < from {
        let (low, high) = rows.split_at_mut(from);
        (&mut low[into..into + width], &high[..width])
    } else {
        let (low, high) = rows.split_at_mut(into);
        (&mut high[..width], &low[from..from + width])
    };
    for (mine, &theirs) in target.iter_mut().zip(source) {
        *mine = (*mine).max(theirs);
    }
}
