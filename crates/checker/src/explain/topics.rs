//! What each sentence of a story speaks of, for drawings that follow the story.

use isonomy_history::{History, Key, TxnId};

use super::{Teller, cases};
use crate::verdict::{Counterexample, Edge, Evidence};

/// What a sentence speaks of. Cases are indices into the cases of a refutation; a cycle by itself is case 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// The faulty read.
    Read,
    /// An edge of the cycle that closes a case.
    Edge {
        /// Which case.
        case: usize,
        /// Which of its edges.
        edge: usize,
    },
    /// All of the cycle that closes a case: what would be, were the sentence's claim not so.
    Cycle {
        /// Which case.
        case: usize,
    },
    /// That one of two transactions wrote the earlier version of a key.
    Split {
        /// The key that both write.
        key: Key,
        /// One of them.
        first: TxnId,
        /// The other.
        second: TxnId,
    },
    /// That the first of two wrote the earlier version of a key.
    Side {
        /// The key that both write.
        key: Key,
        /// The earlier one.
        first: TxnId,
        /// The later one.
        second: TxnId,
    },
}

/// The topics of the steps of [`explain`](super::explain), one for each.
pub fn topics(history: &History, counterexample: &Counterexample) -> Vec<Topic> {
    match &counterexample.evidence {
        Evidence::Read(_) => vec![Topic::Read],
        Evidence::Cycle(edges) => (0..edges.len()).map(|edge| Topic::Edge { case: 0, edge }).collect(),
        Evidence::Refutation(refutation) => {
            let teller = Teller::new(history, counterexample);
            cases::tell_with_topics(history, teller.words, &refutation.cases).1
        }
    }
}

/// An edge of a counterexample, or one that it rests on, in a sentence of its own.
pub fn told_edge(history: &History, counterexample: &Counterexample, edge: &Edge) -> String {
    Teller::new(history, counterexample).edge(edge)
}
