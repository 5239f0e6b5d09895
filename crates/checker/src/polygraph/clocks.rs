//! Which nodes come before which, by chains: for every node, how far in each session begins and commits precede it.

use super::problem::Problem;
use crate::chains::NONE;
use crate::lists::Lists;

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

/// For each of some nodes how many transactions of some chains begin, and how many commit, before it; of those that have a node among
/// them.
pub(crate) struct Clocks {
    /// The row of each node, or [`NONE`].
    row: Vec<u32>,
    /// The column of each chain, or [`NONE`].
    column: Vec<u32>,
    /// How many of its chain come before each transaction; [`NONE`] for those without a node.
    place: Vec<u32>,
    width: usize,
    /// Row by row the begins of all columns, then their commits. Narrow numbers, for this is a matter of memory.
    counts: Vec<u16>,
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
        Clocks {
            row: vec![NONE; nodes],
            column: vec![NONE; chains.count],
            place: vec![NONE; chains.chain.len()],
            width: 0,
            counts: Vec::new(),
        }
    }

    /// Calls `visit` with clocks of the nodes given, which must stand in a topological order and hold all nodes on paths between
    /// any two of them. Where they are too large for memory, with a few chains at a time: [`keeps`](Self::keeps) says which. Chains too
    /// long to be counted are left out.
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
        let mut txns: Vec<u32> = of_nodes.map(|&node| rules.txn(node)).collect();
        txns.sort_unstable_by_key(|&txn| (chains.chain[txn as usize], chains.position[txn as usize]));
        txns.dedup();
        let mut present = Vec::new();
        for chain in txns.chunk_by(|&one, &other| chains.chain[one as usize] == chains.chain[other as usize]) {
            if chain.len() < usize::from(u16::MAX) {
                chain.iter().enumerate().for_each(|(place, &txn)| self.place[txn as usize] = place as u32);
                present.push(chains.chain[chain[0] as usize]);
            }
        }
        let at_a_time = (MOST_BYTES / 4 / nodes.len().max(1)).max(1);
        for some in present.chunks(at_a_time) {
            self.width = some.len();
            some.iter().enumerate().for_each(|(column, &chain)| self.column[chain as usize] = column as u32);
            self.fill(problem, graphs, nodes, chains);
            visit(self);
            some.iter().for_each(|&chain| self.column[chain as usize] = NONE);
        }
        nodes.iter().for_each(|&node| self.row[node as usize] = NONE);
        txns.iter().for_each(|&txn| self.place[txn as usize] = NONE);
    }

    fn fill(&mut self, problem: &Problem, graphs: &[&Lists], nodes: &[u32], chains: &Chains) {
        let (rules, width) = (problem.rules, self.width);
        let of_transactions = rules.nodes(problem.count());
        self.counts.clear();
        self.counts.resize(nodes.len() * 2 * width, 0);
        for (row, &node) in nodes.iter().enumerate() {
            let from = row * 2 * width;
            // A node comes before itself.
            if node < of_transactions {
                let txn = rules.txn(node);
                let column = self.column[chains.chain[txn as usize] as usize];
                if column != NONE {
                    let (own, count) = (from + column as usize, self.place[txn as usize] as u16 + 1);
                    if node == rules.begin(txn) {
                        self.counts[own] = self.counts[own].max(count);
                    }
                    if node == rules.commit(txn) {
                        self.counts[own + width] = self.counts[own + width].max(count);
                    }
                }
            }
            for &next in graphs.iter().flat_map(|graph| graph.of(node)) {
                let into = self.row[next as usize];
                if into != NONE {
                    merge(&mut self.counts, into as usize * 2 * width, from, 2 * width);
                }
            }
        }
    }

    /// Whether a transaction has a node here, and its chain is among those kept.
    #[inline]
    pub(crate) fn keeps(&self, chains: &Chains, txn: u32) -> bool {
        self.place[txn as usize] != NONE && self.column[chains.chain[txn as usize] as usize] != NONE
    }

    /// Whether a transaction that is kept begins before a node, or at it.
    #[inline]
    pub(crate) fn begins_before(&self, chains: &Chains, txn: u32, node: u32) -> bool {
        self.is_before(chains, txn, node, 0)
    }

    /// Whether a transaction that is kept commits before a node, or at it.
    #[inline]
    pub(crate) fn commits_before(&self, chains: &Chains, txn: u32, node: u32) -> bool {
        self.is_before(chains, txn, node, self.width)
    }

    #[inline]
    fn is_before(&self, chains: &Chains, txn: u32, node: u32, offset: usize) -> bool {
        let column = self.column[chains.chain[txn as usize] as usize] as usize;
        let row = self.row[node as usize] as usize * 2 * self.width;
        u32::from(self.counts[row + offset + column]) > self.place[txn as usize]
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
fn merge(rows: &mut [u16], into: usize, from: usize, width: usize) {
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
