//! Patterns in a sentence each.

use isonomy_history::History;

use super::{faults, words};
use crate::patterns::Instance;

/// Circles may be as long as the history.
const MOST: usize = 8;

impl Instance {
    /// What happened, in a sentence.
    pub fn tell(&self, history: &History) -> String {
        match *self {
            Instance::Read(ref fault) => faults::tell(history, fault).told,
            Instance::Cycle(ref txns) => {
                let mut names: Vec<String> = txns.iter().take(MOST).map(|&txn| words::name(history, txn)).collect();
                if txns.len() > MOST {
                    names.push(format!("{} more", txns.len() - MOST));
                }
                format!("{} each come before the others.", names.join(", "))
            }
            Instance::Stale { key, stale, missed, reader } => format!(
                "{}, although it saw {}, which {} after that.",
                words::read(history, reader, key, stale),
                words::name(history, missed),
                words::wrote(history, Some(missed), key),
            ),
        }
    }
}
