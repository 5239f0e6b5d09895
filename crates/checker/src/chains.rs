//! Sessions as chains: which transactions precede which without asking any further.
//!
//! Vector clocks need the transactions in few chains, each totally ordered by what a level respects. With session order
//! the sessions are the chains. Without it every transaction stands alone, except that a chain may run along reads: each
//! transaction continues the chain of a writer it reads from, where that has not been continued yet.

use isonomy_history::{History, TxnId};

/// No transaction.
pub(crate) const NONE: u32 = u32::MAX;

/// For each of some transactions, ascending, whether the one before it among them is of the same session.
pub(crate) fn continues_session(history: &History, txns: impl Iterator<Item = TxnId>) -> impl Iterator<Item = bool> {
    let mut lengths = history.sessions().map(|session| history.transactions_of(session).len() as u32);
    let (mut begin, mut end) = (0, 0);
    let mut last = None;
    txns.map(move |txn| {
        while txn.0 >= end {
            begin = end;
            end += lengths.next().expect("every transaction has a session");
        }
        last.replace(txn).is_some_and(|last: TxnId| last.0 >= begin)
    })
}

/// Transactions in chains. Those that do not count stand in none.
pub(crate) struct Chains {
    /// The chain of each transaction.
    pub(crate) chain: Vec<u32>,
    /// Its position there, from 0.
    pub(crate) position: Vec<u32>,
    /// The transaction before it in session order, or [`NONE`]. Always `NONE` without session order.
    pub(crate) previous: Vec<u32>,
    /// How many chains there are.
    pub(crate) count: usize,
    /// Whether chains are sessions, so that each is consecutive in the numbering of transactions.
    pub(crate) are_sessions: bool,
}

impl Chains {
    pub(crate) fn of(history: &History, session_order: bool) -> Self {
        let transactions = history.transaction_count();
        let mut chains = Chains {
            chain: vec![NONE; transactions],
            position: vec![0; transactions],
            previous: vec![NONE; transactions],
            count: 0,
            are_sessions: session_order,
        };
        if session_order {
            for session in history.sessions() {
                let mut last = None;
                for txn in history.transactions_of(session).filter(|&t| history.derived().counts(t)) {
                    chains.append(txn, session.0, last);
                    chains.previous[txn.index()] = last.map_or(NONE, |last: TxnId| last.0);
                    last = Some(txn);
                }
            }
            chains.count = history.sessions().len();
        } else {
            chains.along_reads(history);
        }
        chains
    }

    fn append(&mut self, txn: TxnId, chain: u32, last: Option<TxnId>) {
        self.chain[txn.index()] = chain;
        self.position[txn.index()] = last.map_or(0, |last| self.position[last.index()] + 1);
    }

    /// Chains along reads. A chain grows from its head forward, so a transaction must come after the writer it continues; transactions
    /// that lie on a cycle of reads each begin a chain of their own, and no clock is ever asked for such a history.
    fn along_reads(&mut self, history: &History) {
        let derived = history.derived();
        let mut continued = vec![false; history.transaction_count()];
        let mut stack = Vec::new();
        for root in history.transactions().filter(|&t| derived.counts(t)) {
            stack.push((root, 0));
            while let Some((txn, next)) = stack.pop() {
                if self.chain[txn.index()] != NONE {
                    continue;
                }
                let reads = derived.reads(txn);
                // The writers first. `position` marks a transaction as under way, so that a cycle of reads ends.
                if let Some(read) = reads.get(next) {
                    self.position[txn.index()] = NONE;
                    stack.push((txn, next + 1));
                    if let Some(from) = read.from()
                        && self.chain[from.index()] == NONE
                        && self.position[from.index()] != NONE
                    {
                        stack.push((from, 0));
                    }
                    continue;
                }
                let free = |from: &TxnId| self.chain[from.index()] != NONE && !continued[from.index()];
                let last = reads.iter().filter_map(|read| read.from()).find(free);
                let chain = match last {
                    Some(last) => {
                        continued[last.index()] = true;
                        self.chain[last.index()]
                    }
                    None => {
                        self.count += 1;
                        self.count as u32 - 1
                    }
                };
                self.append(txn, chain, last);
            }
        }
    }
}
