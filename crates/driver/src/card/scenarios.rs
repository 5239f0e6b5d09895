//! The scenarios.

use std::fmt;

use crate::database::{Ability, Key};

/// Something a session does. Whatever is written has a value of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "they are the operations of a session")]
pub enum Step {
    Begin,
    Read(Key),
    Write(Key),
    Insert(Key),
    Range(Key, Key),
    Commit,
    Rollback,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Begin => f.write_str("begin"),
            Step::Read(key) => write!(f, "read {key}"),
            Step::Write(key) => write!(f, "write {key}"),
            Step::Insert(key) => write!(f, "insert {key}"),
            Step::Range(lo, hi) => write!(f, "range {lo}..{hi}"),
            Step::Commit => f.write_str("commit"),
            Step::Rollback => f.write_str("rollback"),
        }
    }
}

/// A play. Keys 1 and 2 are there when it begins.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// The anomaly that it shows, or a variant of it.
    pub name: &'static str,
    /// What Hermitage and Adya call it.
    pub alias: &'static str,
    /// What happens, in a sentence.
    pub about: &'static str,
    /// The weakest level that rules it out: the anomaly showed iff this is violated.
    pub ruled_out_by: &'static str,
    /// What the database must have.
    pub needs: Option<Ability>,
    /// Who does what, in this order. Sessions are numbered from 1.
    pub steps: &'static [(u32, Step)],
}

impl Scenario {
    /// How many sessions take part.
    pub fn sessions(&self) -> u32 {
        self.steps.iter().map(|&(session, _)| session).max().unwrap_or(0)
    }
}

use Step::{Begin, Commit, Insert, Range, Read, Rollback, Write};

/// All of them, those of the weakest levels first.
pub const SCENARIOS: [Scenario; 15] = [
    Scenario {
        name: "dirty-write",
        alias: "G0",
        about: "Two transactions write the same two keys; one wins the first, the other the second.",
        ruled_out_by: "read-committed",
        needs: None,
        steps: &[
            (1, Begin),
            (2, Begin),
            (1, Write(1)),
            (2, Write(1)),
            (1, Write(2)),
            (1, Commit),
            (2, Write(2)),
            (2, Commit),
            (3, Begin),
            (3, Read(1)),
            (3, Read(2)),
            (3, Read(1)),
            (3, Commit),
        ],
    },
    Scenario {
        name: "aborted-read",
        alias: "G1a",
        about: "A transaction reads what another wrote and then rolled back.",
        ruled_out_by: "read-committed",
        needs: None,
        steps: &[(1, Begin), (2, Begin), (1, Write(1)), (2, Read(1)), (1, Rollback), (2, Read(1)), (2, Commit)],
    },
    Scenario {
        name: "intermediate-read",
        alias: "G1b",
        about: "A transaction reads what another wrote and then replaced before it committed.",
        ruled_out_by: "read-committed",
        needs: None,
        steps: &[
            (1, Begin),
            (2, Begin),
            (1, Write(1)),
            (2, Read(1)),
            (1, Write(1)),
            (1, Commit),
            (2, Read(1)),
            (2, Commit),
        ],
    },
    Scenario {
        name: "cyclic-information-flow",
        alias: "G1c",
        about: "Each of two transactions reads what the other wrote.",
        ruled_out_by: "read-committed",
        needs: None,
        steps: &[
            (1, Begin),
            (2, Begin),
            (1, Write(1)),
            (2, Write(2)),
            (1, Read(2)),
            (2, Read(1)),
            (1, Commit),
            (2, Commit),
        ],
    },
    Scenario {
        name: "observed-transaction-vanishes",
        alias: "OTV",
        about: "A reader sees one transaction's write of the first key and then another's of the second, which the first replaced.",
        ruled_out_by: "read-atomic",
        needs: None,
        steps: &[
            (1, Begin),
            (2, Begin),
            (3, Begin),
            (1, Write(1)),
            (1, Write(2)),
            (2, Write(1)),
            (1, Commit),
            (3, Read(1)),
            (2, Write(2)),
            (3, Read(2)),
            (2, Commit),
            (3, Read(2)),
            (3, Read(1)),
            (3, Commit),
        ],
    },
    Scenario {
        name: "predicate-many-preceders",
        alias: "PMP",
        about: "A transaction reads a range twice, and another inserts into it in between.",
        ruled_out_by: "read-atomic",
        needs: Some(Ability::Ranges),
        steps: &[
            (1, Begin),
            (2, Begin),
            (1, Range(10, 19)),
            (2, Insert(11)),
            (2, Commit),
            (1, Range(10, 19)),
            (1, Commit),
        ],
    },
    Scenario {
        name: "read-skew",
        alias: "G-single",
        about: "A transaction reads one key before and the other after a transaction that writes both.",
        ruled_out_by: "read-atomic",
        needs: None,
        steps: &[
            (1, Begin),
            (2, Begin),
            (1, Read(1)),
            (2, Read(1)),
            (2, Read(2)),
            (2, Write(1)),
            (2, Write(2)),
            (2, Commit),
            (1, Read(2)),
            (1, Commit),
        ],
    },
    Scenario {
        name: "read-skew-of-a-range",
        alias: "G-single with a predicate",
        about: "A transaction reads a key, and then a range that holds what another did together with a new value of the key.",
        ruled_out_by: "read-atomic",
        needs: Some(Ability::Ranges),
        steps: &[
            (1, Begin),
            (2, Begin),
            (1, Read(1)),
            (2, Read(1)),
            (2, Write(1)),
            (2, Insert(11)),
            (2, Commit),
            (1, Range(10, 19)),
            (1, Commit),
        ],
    },
    Scenario {
        name: "long-fork",
        alias: "long fork",
        about: "Two readers see two writes in opposite orders.",
        ruled_out_by: "prefix",
        needs: None,
        steps: &[
            (3, Begin),
            (4, Begin),
            (3, Read(1)),
            (4, Read(2)),
            (1, Begin),
            (1, Write(1)),
            (1, Commit),
            (2, Begin),
            (2, Write(2)),
            (2, Commit),
            (3, Read(2)),
            (4, Read(1)),
            (3, Commit),
            (4, Commit),
        ],
    },
    Scenario {
        name: "lost-update",
        alias: "P4",
        about: "Two transactions read a key and replace what they read; one update is lost.",
        ruled_out_by: "snapshot-isolation",
        needs: None,
        steps: &[
            (1, Begin),
            (2, Begin),
            (1, Read(1)),
            (2, Read(1)),
            (1, Write(1)),
            (2, Write(1)),
            (1, Commit),
            (2, Commit),
        ],
    },
    Scenario {
        name: "read-skew-before-a-write",
        alias: "G-single with a write",
        about: "A transaction reads one of two keys that another then writes, and writes over the other.",
        ruled_out_by: "snapshot-isolation",
        needs: None,
        steps: &[
            (1, Begin),
            (2, Begin),
            (1, Read(1)),
            (2, Read(1)),
            (2, Read(2)),
            (2, Write(1)),
            (2, Write(2)),
            (2, Commit),
            (1, Read(2)),
            (1, Write(2)),
            (1, Commit),
        ],
    },
    Scenario {
        name: "write-skew",
        alias: "G2-item",
        about: "Two transactions read two keys, and each writes another of them.",
        ruled_out_by: "serializable",
        needs: None,
        steps: &[
            (1, Begin),
            (2, Begin),
            (1, Read(1)),
            (1, Read(2)),
            (2, Read(1)),
            (2, Read(2)),
            (1, Write(1)),
            (2, Write(2)),
            (1, Commit),
            (2, Commit),
        ],
    },
    Scenario {
        name: "phantom",
        alias: "G2",
        about: "Two transactions find a range empty, and each inserts into it.",
        ruled_out_by: "serializable",
        needs: Some(Ability::Ranges),
        steps: &[
            (1, Begin),
            (2, Begin),
            (1, Range(10, 19)),
            (2, Range(10, 19)),
            (1, Insert(11)),
            (2, Insert(12)),
            (1, Commit),
            (2, Commit),
        ],
    },
    Scenario {
        name: "read-only-anomaly",
        alias: "Fekete et al. 2004",
        about: "Two writers could be ordered one way, if a reader had not seen one of them without the other.",
        ruled_out_by: "serializable",
        needs: None,
        steps: &[
            (2, Begin),
            (2, Read(1)),
            (2, Read(2)),
            (1, Begin),
            (1, Read(2)),
            (1, Write(2)),
            (1, Commit),
            (3, Begin),
            (3, Read(1)),
            (3, Read(2)),
            (3, Commit),
            (2, Write(1)),
            (2, Commit),
        ],
    },
    Scenario {
        name: "stale-read",
        alias: "real time",
        about: "A transaction that begins after another has committed does not see it.",
        ruled_out_by: "strict-serializable",
        needs: None,
        steps: &[
            (2, Begin),
            (2, Read(2)),
            (2, Commit),
            (1, Begin),
            (1, Write(1)),
            (1, Commit),
            (2, Begin),
            (2, Read(1)),
            (2, Commit),
        ],
    },
];
