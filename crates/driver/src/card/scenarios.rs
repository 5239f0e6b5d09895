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
    /// Who does what, in this order: `b1` begins the transaction of session 1, `r1(2)` reads key 2, `w1(2)` writes it, `i1(11)` inserts a key,
    /// `q1(10..19)` reads a range, `c1` commits, `a1` rolls back.
    pub steps: &'static str,
}

impl Scenario {
    /// Who does what, in this order. Sessions are numbered from 1.
    pub fn steps(&self) -> impl Iterator<Item = (u32, Step)> {
        self.steps.split(' ').map(|step| parse(step).expect("scenarios are well written"))
    }

    /// How many sessions take part.
    pub fn sessions(&self) -> u32 {
        self.steps().map(|(session, _)| session).max().unwrap_or(0)
    }
}

fn parse(step: &str) -> Option<(u32, Step)> {
    let (head, keys) = step.split_once('(').unwrap_or((step, ")"));
    let keys = keys.strip_suffix(')')?;
    let session = head.get(1..)?.parse().ok()?;
    let key = || keys.parse().ok();
    let step = match head.get(..1)? {
        "b" => Step::Begin,
        "c" => Step::Commit,
        "a" => Step::Rollback,
        "r" => Step::Read(key()?),
        "w" => Step::Write(key()?),
        "i" => Step::Insert(key()?),
        "q" => {
            let (lo, hi) = keys.split_once("..")?;
            Step::Range(lo.parse().ok()?, hi.parse().ok()?)
        }
        _ => return None,
    };
    Some((session, step))
}

/// All of them, those of the weakest levels first.
pub const SCENARIOS: [Scenario; 15] = [
    Scenario {
        name: "dirty-write",
        alias: "G0",
        about: "Two transactions write the same two keys; one wins the first, the other the second.",
        ruled_out_by: "read-committed",
        needs: None,
        steps: "b1 b2 w1(1) w2(1) w1(2) c1 w2(2) c2 b3 r3(1) r3(2) r3(1) c3",
    },
    Scenario {
        name: "aborted-read",
        alias: "G1a",
        about: "A transaction reads what another wrote and then rolled back.",
        ruled_out_by: "read-committed",
        needs: None,
        steps: "b1 b2 w1(1) r2(1) a1 r2(1) c2",
    },
    Scenario {
        name: "intermediate-read",
        alias: "G1b",
        about: "A transaction reads what another wrote and then replaced before it committed.",
        ruled_out_by: "read-committed",
        needs: None,
        steps: "b1 b2 w1(1) r2(1) w1(1) c1 r2(1) c2",
    },
    Scenario {
        name: "cyclic-information-flow",
        alias: "G1c",
        about: "Each of two transactions reads what the other wrote.",
        ruled_out_by: "read-committed",
        needs: None,
        steps: "b1 b2 w1(1) w2(2) r1(2) r2(1) c1 c2",
    },
    Scenario {
        name: "observed-transaction-vanishes",
        alias: "OTV",
        about: "A reader sees one transaction's write of the first key and then another's of the second, which the first replaced.",
        ruled_out_by: "read-atomic",
        needs: None,
        steps: "b1 b2 b3 w1(1) w1(2) w2(1) c1 r3(1) w2(2) r3(2) c2 r3(2) r3(1) c3",
    },
    Scenario {
        name: "predicate-many-preceders",
        alias: "PMP",
        about: "A transaction reads a range twice, and another inserts into it in between.",
        ruled_out_by: "read-atomic",
        needs: Some(Ability::Ranges),
        steps: "b1 b2 q1(10..19) i2(11) c2 q1(10..19) c1",
    },
    Scenario {
        name: "read-skew",
        alias: "G-single",
        about: "A transaction reads one key before and the other after a transaction that writes both.",
        ruled_out_by: "read-atomic",
        needs: None,
        steps: "b1 b2 r1(1) r2(1) r2(2) w2(1) w2(2) c2 r1(2) c1",
    },
    Scenario {
        name: "read-skew-of-a-range",
        alias: "G-single with a predicate",
        about: "A transaction reads a key, and then a range that holds what another did together with a new value of the key.",
        ruled_out_by: "read-atomic",
        needs: Some(Ability::Ranges),
        steps: "b1 b2 r1(1) r2(1) w2(1) i2(11) c2 q1(10..19) c1",
    },
    Scenario {
        name: "long-fork",
        alias: "long fork",
        about: "Two readers see two writes in opposite orders.",
        ruled_out_by: "prefix",
        needs: None,
        steps: "b3 b4 r3(1) r4(2) b1 w1(1) c1 b2 w2(2) c2 r3(2) r4(1) c3 c4",
    },
    Scenario {
        name: "lost-update",
        alias: "P4",
        about: "Two transactions read a key and replace what they read; one update is lost.",
        ruled_out_by: "snapshot-isolation",
        needs: None,
        steps: "b1 b2 r1(1) r2(1) w1(1) w2(1) c1 c2",
    },
    Scenario {
        name: "read-skew-before-a-write",
        alias: "G-single with a write",
        about: "A transaction reads one of two keys that another then writes, and writes over the other.",
        ruled_out_by: "snapshot-isolation",
        needs: None,
        steps: "b1 b2 r1(1) r2(1) r2(2) w2(1) w2(2) c2 r1(2) w1(2) c1",
    },
    Scenario {
        name: "write-skew",
        alias: "G2-item",
        about: "Two transactions read two keys, and each writes another of them.",
        ruled_out_by: "serializable",
        needs: None,
        steps: "b1 b2 r1(1) r1(2) r2(1) r2(2) w1(1) w2(2) c1 c2",
    },
    Scenario {
        name: "phantom",
        alias: "G2",
        about: "Two transactions find a range empty, and each inserts into it.",
        ruled_out_by: "serializable",
        needs: Some(Ability::Ranges),
        steps: "b1 b2 q1(10..19) q2(10..19) i1(11) i2(12) c1 c2",
    },
    Scenario {
        name: "read-only-anomaly",
        alias: "Fekete et al. 2004",
        about: "Two writers could be ordered one way, if a reader had not seen one of them without the other.",
        ruled_out_by: "serializable",
        needs: None,
        steps: "b2 r2(1) r2(2) b1 r1(2) w1(2) c1 b3 r3(1) r3(2) c3 w2(1) c2",
    },
    Scenario {
        name: "stale-read",
        alias: "real time",
        about: "A transaction that begins after another has committed does not see it.",
        ruled_out_by: "strict-serializable",
        needs: None,
        steps: "b2 r2(2) c2 b1 w1(1) c1 b2 r2(1) c2",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_are_well_written() {
        for scenario in SCENARIOS {
            let steps: Vec<(u32, Step)> = scenario.steps().collect();
            let count = |wanted: &[Step]| steps.iter().filter(|(_, step)| wanted.contains(step)).count();
            assert_eq!(count(&[Step::Begin]), count(&[Step::Commit, Step::Rollback]), "{}", scenario.name);
            assert!((2..=4).contains(&scenario.sessions()), "{}", scenario.name);
        }
    }
}
