//! What each sentence of a story speaks of, for drawings that follow the story.

use isonomy_history::{Key, TxnId};

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
    /// All of the cycle that closes a case: what would be, were the sentence's claim not so, or its assumption so.
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
    /// That somebody read a key from a transaction whose client never learnt how it ended.
    Observed {
        /// Whose outcome is unknown.
        writer: TxnId,
        /// Who shows that it took effect.
        reader: TxnId,
        /// The key that one wrote and the other read.
        key: Key,
    },
}
