//! Orders of transactions: a topological order of session, write-read, known version and inferred edges, or a cycle.

use isonomy_history::{Derived, History, TxnId};

use crate::chains::{Chains, NONE};

/// Edges beyond session and write-read order, by their heads.
pub(crate) struct ExtraEdges {
    from: Vec<u32>,
    tails: Vec<u32>,
}

impl ExtraEdges {
    /// `edges` are pairs of tail and head.
    pub(crate) fn new(transactions: usize, edges: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut from = vec![0u32; transactions + 1];
        for (_, head) in edges.clone() {
            from[head as usize + 1] += 1;
        }
        for txn in 0..transactions {
            from[txn + 1] += from[txn];
        }
        let mut next = from.clone();
        let mut tails = vec![0; from[transactions] as usize];
        for (tail, head) in edges {
            tails[next[head as usize] as usize] = tail;
            next[head as usize] += 1;
        }
        ExtraEdges { from, tails }
    }

    pub(crate) fn tails_of(&self, txn: u32) -> &[u32] {
        &self.tails[self.from[txn as usize] as usize..self.from[txn as usize + 1] as usize]
    }
}

/// The graph, seen from heads to tails: nothing but reads and chains has to be stored for it.
pub(crate) struct Graph<'a> {
    pub(crate) derived: &'a Derived,
    pub(crate) chains: &'a Chains,
    pub(crate) extra: &'a ExtraEdges,
}

impl Graph<'_> {
    /// The `index`-th predecessor: [`NONE`] where the index stands for none, `None` past the last.
    #[inline]
    fn predecessor(&self, txn: u32, index: u32) -> Option<u32> {
        let Some(index) = (index as usize).checked_sub(1) else { return Some(self.chains.previous[txn as usize]) };
        let reads = self.derived.reads(TxnId(txn));
        match reads.get(index) {
            Some(read) => Some(read.from().map_or(NONE, |from| from.0)),
            None => self.extra.tails_of(txn).get(index - reads.len()).copied(),
        }
    }

    pub(crate) fn predecessors(&self, txn: u32) -> impl Iterator<Item = u32> {
        (0..).map_while(move |index| self.predecessor(txn, index)).filter(|&txn| txn != NONE)
    }
}

/// Orders the transactions that count so that predecessors come first, as close to the order of `seed` as they allow; or
/// finds a cycle, each transaction preceding the next and the last the first.
pub(crate) fn order(graph: &Graph<'_>, seed: impl Iterator<Item = u32>) -> Result<Vec<u32>, Vec<u32>> {
    const NEW: u8 = 0;
    const OPEN: u8 = 1;
    const DONE: u8 = 2;
    let mut state = vec![NEW; graph.chains.chain.len()];
    let mut order = Vec::with_capacity(state.len());
    let mut stack: Vec<(u32, u32)> = Vec::new();
    for root in seed {
        if state[root as usize] != NEW {
            continue;
        }
        state[root as usize] = OPEN;
        stack.push((root, 0));
        while let Some(&mut (txn, ref mut next)) = stack.last_mut() {
            let mut new = NONE;
            while let Some(predecessor) = graph.predecessor(txn, *next) {
                *next += 1;
                if predecessor == NONE {
                    continue;
                }
                match state[predecessor as usize] {
                    DONE => {}
                    OPEN => {
                        let first =
                            stack.iter().rposition(|&(t, _)| t == predecessor).expect("open ones are on the stack");
                        // The stack runs from heads to tails.
                        return Err(stack[first..].iter().rev().map(|&(t, _)| t).collect());
                    }
                    _ => {
                        new = predecessor;
                        break;
                    }
                }
            }
            if new != NONE {
                state[new as usize] = OPEN;
                stack.push((new, 0));
            } else {
                state[txn as usize] = DONE;
                order.push(txn);
                stack.pop();
            }
        }
    }
    Ok(order)
}

/// The order in which the transactions probably ran: by the time they finished where times are known, else the first of
/// every session, then the second of every session, and so on.
pub(crate) fn likely_order(history: &History) -> Vec<u32> {
    let derived = history.derived();
    let counting = |txn: &TxnId| derived.counts(*txn);
    if history.has_times() {
        let mut all: Vec<TxnId> = history.transactions().filter(counting).collect();
        all.sort_by_key(|&txn| history.times(txn).finish.unwrap_or(i64::MAX));
        return all.into_iter().map(|txn| txn.0).collect();
    }
    let sessions: Vec<Vec<u32>> =
        history.sessions().map(|s| history.transactions_of(s).filter(counting).map(|t| t.0).collect()).collect();
    let longest = sessions.iter().map(Vec::len).max().unwrap_or(0);
    let mut left: Vec<&[u32]> = sessions.iter().map(Vec::as_slice).collect();
    let mut all = Vec::with_capacity(derived.count());
    for position in 0..longest {
        // Sessions that are over are dropped, so that one long session costs no more than its length.
        left.retain(|session| session.len() > position);
        all.extend(left.iter().map(|session| session[position]));
    }
    all
}

/// Shortens a cycle: the shortest one through some of its transactions, as far as `effort` visits reach.
pub(crate) fn shorten(graph: &Graph<'_>, cycle: Vec<u32>, mut effort: usize) -> Vec<u32> {
    let mut best = cycle.clone();
    let mut parent: Vec<u32> = vec![NONE; graph.chains.chain.len()];
    for &through in &cycle {
        if best.len() <= 2 || effort == 0 {
            break;
        }
        let mut seen = vec![through];
        let mut level = 0..1;
        'search: for depth in 1..best.len() {
            for at in level.clone() {
                let txn = seen[at];
                for tail in graph.predecessors(txn) {
                    if tail == through {
                        // From `txn` forward along the parents back to `through`: a cycle of `depth` transactions.
                        let mut found = vec![txn];
                        while *found.last().expect("it has one") != through {
                            found.push(parent[*found.last().expect("it has one") as usize]);
                        }
                        debug_assert_eq!(found.len(), depth);
                        best = found;
                        break 'search;
                    }
                    if parent[tail as usize] == NONE {
                        parent[tail as usize] = txn;
                        seen.push(tail);
                        effort = effort.saturating_sub(1);
                    }
                }
                if effort == 0 {
                    break 'search;
                }
            }
            level = level.end..seen.len();
            if level.is_empty() {
                break;
            }
        }
        for txn in seen {
            parent[txn as usize] = NONE;
        }
    }
    best
}
