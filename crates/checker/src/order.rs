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
    /// The first predecessor from an index on that is wanted, and the index after it. Predecessors are the one in session order, those
    /// read from, and those of extra edges, in this order.
    #[inline]
    fn find_predecessor(&self, txn: u32, from: u32, wanted: impl Fn(u32) -> bool) -> Option<(u32, u32)> {
        let previous = self.chains.previous[txn as usize];
        if from == 0 && previous != NONE && wanted(previous) {
            return Some((previous, 1));
        }
        let mut index = (from as usize).saturating_sub(1);
        let reads = self.derived.reads(TxnId(txn));
        while let Some(read) = reads.get(index) {
            index += 1;
            if let Some(source) = read.from()
                && wanted(source.0)
            {
                return Some((source.0, index as u32 + 1));
            }
        }
        let tails = self.extra.tails_of(txn);
        while let Some(&tail) = tails.get(index - reads.len()) {
            index += 1;
            if wanted(tail) {
                return Some((tail, index as u32 + 1));
            }
        }
        None
    }

    pub(crate) fn predecessors(&self, txn: u32) -> impl Iterator<Item = u32> {
        let mut index = 0;
        std::iter::from_fn(move || {
            let (predecessor, next) = self.find_predecessor(txn, index, |_| true)?;
            index = next;
            Some(predecessor)
        })
    }
}

/// Orders the transactions that count so that predecessors come first, as close to the order of `seed` as they allow; or
/// finds a cycle, each transaction preceding the next and the last the first. Calls `moved` for each that comes before its turn.
pub(crate) fn order(
    graph: &Graph<'_>,
    seed: impl Iterator<Item = u32>,
    moved: &mut dyn FnMut(u32),
) -> Result<Vec<u32>, Vec<u32>> {
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
        stack.push((root, 0));
        while let Some(&mut (txn, ref mut next)) = stack.last_mut() {
            match graph.find_predecessor(txn, *next, |predecessor| state[predecessor as usize] != DONE) {
                None => {
                    state[txn as usize] = DONE;
                    order.push(txn);
                    stack.pop();
                }
                Some((predecessor, after)) => {
                    state[txn as usize] = OPEN;
                    *next = after;
                    if state[predecessor as usize] == OPEN || predecessor == txn {
                        let first =
                            stack.iter().rposition(|&(t, _)| t == predecessor).expect("open ones are on the stack");
                        // The stack runs from heads to tails.
                        return Err(stack[first..].iter().rev().map(|&(t, _)| t).collect());
                    }
                    moved(predecessor);
                    stack.push((predecessor, 0));
                }
            }
        }
    }
    Ok(order)
}

/// An order in which transactions may have run.
pub(crate) struct Likely {
    pub(crate) order: Vec<u32>,
    /// Whether it comes from the input, and not from the numbers in sessions alone.
    pub(crate) is_recorded: bool,
}

/// The order in which the transactions probably ran: by the time they finished where times are known; else as the input has them, if it goes
/// back and forth between sessions as a recorder would; else the first of every session, then the second of every session, and so on.
pub(crate) fn likely_order(history: &History) -> Likely {
    let derived = history.derived();
    let counting = |txn: &TxnId| derived.counts(*txn);
    if history.has_times() {
        let mut all: Vec<TxnId> = history.transactions().filter(counting).collect();
        all.sort_by_key(|&txn| history.times(txn).finish.unwrap_or(i64::MAX));
        return Likely { order: all.into_iter().map(|txn| txn.0).collect(), is_recorded: true };
    }
    let given = history.transactions_as_given();
    if !given.is_sorted() {
        let order = given.iter().filter(|txn| counting(txn)).map(|txn| txn.0).collect();
        return Likely { order, is_recorded: true };
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
    Likely { order: all, is_recorded: false }
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
