//! Levels as axioms on an order of commits.
//!
//! A level holds iff some strict total order `co` of the transactions extends `so ∪ wr` and, for every read of `x` in `t3`
//! from `t1` and every other writer `t2` of `x`: φ(t2, the read) implies that `t2` is before `t1` in `co`. What φ is makes
//! the level: Biswas, *Automated Formal Testing of Storage Systems and Applications*, 2021, §3.1 and figure 3.2.
//!
//! Where lists were read, `co` must also put the appenders in the order of the elements.

use super::{MAX_TRANSACTIONS, Oracle, Read, Set, bit, members};

/// What φ is, in terms of the reader `t3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axiom {
    /// An earlier event of `t3` read from `t2`.
    ReadCommitted,
    /// `t2` is before `t3` in `so ∪ wr`.
    ReadAtomic,
    /// `t2` is before `t3` in `(so ∪ wr)⁺`.
    Causal,
    /// `t2` is, or is in `co` before, somebody who is before `t3` in `so ∪ wr`.
    Prefix,
    /// Prefix; or `t2` is, or is in `co` before, somebody who is in `co` before `t3` and writes a key that `t3` writes.
    PrefixAndConflict,
    /// `t2` is before `t3` in `co`.
    Serializable,
}

struct Search<'o> {
    oracle: &'o Oracle,
    axiom: Axiom,
    /// For each transaction those before it in `so ∪ wr`.
    direct: Vec<Set>,
    /// For each transaction those before it in `(so ∪ wr)⁺`.
    causal: Vec<Set>,
    /// For each transaction the others that write a key it writes.
    conflicting: Vec<Set>,
    /// `co`: for each transaction those before it.
    before: [Set; MAX_TRANSACTIONS],
    order: Vec<usize>,
}

pub(super) fn commit_order_exists(oracle: &Oracle, axiom: Axiom, session_order: bool) -> bool {
    let transactions = oracle.transactions();
    let direct: Vec<Set> = (0..transactions.len())
        .map(|t| {
            let wr = transactions[t].reads.iter().flat_map(Read::sources).fold(0, |set, from| set | bit(from));
            let same_session = |&s: &usize| session_order && transactions[s].session == transactions[t].session;
            (0..t).filter(same_session).fold(wr, |set, s| set | bit(s))
        })
        .collect();
    let conflict = |s: usize, t: usize| transactions[s].writes.iter().any(|key| transactions[t].writes.contains(key));
    let others = |t: usize| (0..transactions.len()).filter(move |&s| s != t);
    let mut search = Search {
        oracle,
        axiom,
        causal: closure(&direct),
        conflicting: (0..transactions.len())
            .map(|t| others(t).filter(|&s| conflict(s, t)).fold(0, |set, s| set | bit(s)))
            .collect(),
        direct,
        before: [0; MAX_TRANSACTIONS],
        order: Vec::new(),
    };
    search.extend(0)
}

fn closure(direct: &[Set]) -> Vec<Set> {
    let mut closed = direct.to_vec();
    loop {
        let next: Vec<Set> =
            closed.iter().map(|&set| members(set).fold(set, |all, before| all | closed[before])).collect();
        if next == closed {
            return closed;
        }
        closed = next;
    }
}

impl Search<'_> {
    /// Tries all ways to go on after the transactions that are placed.
    fn extend(&mut self, placed: Set) -> bool {
        if self.order.len() == self.direct.len() {
            return self.lists_agree() && self.axiom_holds();
        }
        for txn in 0..self.direct.len() {
            if placed & bit(txn) == 0 && self.direct[txn] & !placed == 0 {
                self.before[txn] = placed;
                self.order.push(txn);
                if self.extend(placed | bit(txn)) {
                    return true;
                }
                self.order.pop();
            }
        }
        false
    }

    fn lists_agree(&self) -> bool {
        self.oracle.lists.iter().all(|list| list.allows(&self.order))
    }

    fn axiom_holds(&self) -> bool {
        let transactions = self.oracle.transactions();
        (0..transactions.len()).all(|t3| {
            transactions[t3].reads.iter().all(|read| {
                let before_t1 = read.from.map_or(0, |t1| self.before[t1]);
                members(self.phi(t3, read)).all(|t2| {
                    Some(t2) == read.from || !transactions[t2].writes.contains(&read.key) || before_t1 & bit(t2) != 0
                })
            })
        })
    }

    /// All `t2` for which φ holds.
    fn phi(&self, t3: usize, read: &Read) -> Set {
        let up_to = |set: Set| members(set).fold(set, |all, t4| all | self.before[t4]);
        match self.axiom {
            Axiom::ReadCommitted => {
                let reads = self.oracle.transactions()[t3].reads.iter();
                let earlier = reads.take_while(|other| other.event < read.event);
                earlier.flat_map(Read::sources).fold(0, |set, from| set | bit(from))
            }
            Axiom::ReadAtomic => self.direct[t3],
            Axiom::Causal => self.causal[t3],
            Axiom::Prefix => up_to(self.direct[t3]),
            Axiom::PrefixAndConflict => up_to(self.direct[t3] | (self.conflicting[t3] & self.before[t3])),
            Axiom::Serializable => self.before[t3],
        }
    }
}
