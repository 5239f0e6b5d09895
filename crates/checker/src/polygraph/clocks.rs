//! Which nodes come before which, by chains: for every node, how far in each session begins and commits precede it.

use super::problem::{Lists, Problem};

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

/// For each node how many transactions of some chains begin, and how many commit, before it.
pub(crate) struct Clocks {
    first: usize,
    width: usize,
    begins: Vec<u32>,
    commits: Vec<u32>,
}

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
    /// The clocks of `width` chains from `first` on, for graphs whose nodes are those of the problem, and helpers.
    pub(crate) fn new(
        problem: &Problem,
        graphs: &[&Lists],
        order: &[u32],
        chains: &Chains,
        first: usize,
        width: usize,
    ) -> Self {
        let rules = problem.rules;
        let nodes = graphs[0].len();
        let mut clocks = Clocks { first, width, begins: vec![0; nodes * width], commits: vec![0; nodes * width] };
        let of_transactions = rules.nodes(problem.count());
        for &node in order {
            let row = node as usize * width;
            // A node comes before itself.
            if node < of_transactions {
                let txn = rules.txn(node);
                let count = chains.position[txn as usize] + 1;
                if let Some(chain) = (chains.chain[txn as usize] as usize).checked_sub(first).filter(|&c| c < width) {
                    if node == rules.begin(txn) {
                        clocks.begins[row + chain] = clocks.begins[row + chain].max(count);
                    }
                    if node == rules.commit(txn) {
                        clocks.commits[row + chain] = clocks.commits[row + chain].max(count);
                    }
                }
            }
            for &next in graphs.iter().flat_map(|graph| graph.of(node)) {
                merge(&mut clocks.begins, next as usize * width, row, width);
                merge(&mut clocks.commits, next as usize * width, row, width);
            }
        }
        clocks
    }

    /// Whether a transaction begins before a node, or at it. Its chain must be among those kept.
    #[inline]
    pub(crate) fn begins_before(&self, chains: &Chains, txn: u32, node: u32) -> bool {
        let chain = chains.chain[txn as usize] as usize - self.first;
        self.begins[node as usize * self.width + chain] > chains.position[txn as usize]
    }

    /// Whether a transaction commits before a node, or at it. Its chain must be among those kept.
    #[inline]
    pub(crate) fn commits_before(&self, chains: &Chains, txn: u32, node: u32) -> bool {
        let chain = chains.chain[txn as usize] as usize - self.first;
        self.commits[node as usize * self.width + chain] > chains.position[txn as usize]
    }

    /// Whether a transaction's chain is among those kept.
    #[inline]
    pub(crate) fn keeps(&self, chains: &Chains, txn: u32) -> bool {
        (chains.chain[txn as usize] as usize).checked_sub(self.first).is_some_and(|chain| chain < self.width)
    }

    /// Whether it is impossible that one version precedes another: whether an edge that would follow closes a cycle. The chain of the
    /// latter's writer must be among those kept.
    pub(crate) fn excludes(&self, problem: &Problem, chains: &Chains, before: u32, after: u32) -> bool {
        let rules = problem.rules;
        let (earlier, later) = (problem.writer[before as usize], problem.writer[after as usize]);
        let overwrites = if rules.conflict {
            self.begins_before(chains, later, rules.commit(earlier))
        } else {
            self.commits_before(chains, later, rules.commit(earlier))
        };
        let missed = |&reader: &u32| reader != later && self.commits_before(chains, later, rules.begin(reader));
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
