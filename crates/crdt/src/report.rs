//! Verdicts as JSON: for programs ([`counterexample`]), and as certificates that can be checked later ([`Certificate`]).
//!
//! What is written here is a contract; `docs/json.md` describes it.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::explain::{Arrow, Explanation, Sentence, name};
use crate::formats::{Format, write};
use crate::history::{History, OpId, ReplicaId};
use crate::verdict::{Bound, Counterexample, Verdict, Witness};

/// A counterexample and its story for programs.
pub fn counterexample(history: &History, counterexample: &Counterexample, explanation: &Explanation) -> Value {
    let operation = |&op: &OpId| {
        json!({
            "name": name(history, op),
            "replica": history.replica_label(history.replica_of(op)).to_string(),
            "operation": history.show_among(op, &counterexample.operations),
            "line": Some(history.line(op)).filter(|&line| line > 0),
        })
    };
    let arrow = |Arrow { from, to, kind }: &Arrow| json!({ "from": name(history, *from), "to": name(history, *to), "kind": kind.name() });
    let sentence = |Sentence { depth, text, arrows, .. }: &Sentence| json!({ "depth": depth, "text": text, "arrows": arrows.iter().map(arrow).collect::<Vec<_>>() });
    json!({
        "headline": explanation.headline,
        "promise": explanation.promise,
        "cause": explanation.cause,
        "operations": counterexample.operations.iter().map(operation).collect::<Vec<_>>(),
        "minimal": counterexample.minimal,
        "sentences": explanation.sentences.iter().map(sentence).collect::<Vec<_>>(),
    })
}

/// A verdict with its evidence, to be checked again by [`certify`](crate::certify) at any later time.
///
/// Operations are numbered from 0, replica by replica, and replicas by first appearance: the history itself gives them meaning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// The version of this format.
    #[serde(rename = "isonomy-crdt-certificate")]
    pub version: u32,
    /// The name of the type.
    pub r#type: String,
    /// How many replicas and operations the history has, and a checksum of them: a certificate for another history is recognized.
    pub replicas: usize,
    /// See `replicas`.
    pub operations: usize,
    /// See `replicas`: the 64 bits of FNV-1a of the history in notation, in hexadecimal digits.
    pub checksum: String,
    /// The evidence.
    pub evidence: CertificateEvidence,
}

/// The evidence in a certificate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are those of `Witness` and `Counterexample`")]
pub enum CertificateEvidence {
    /// The type allows the history.
    ///
    /// What an operation saw is told by what it saw more than the one before it on its replica: pairs of a replica and how many of its
    /// operations. That it saw the one before it goes without saying.
    Witness { seen: Vec<Vec<(u32, u32)>>, order: Vec<u32> },
    /// The type does not allow it.
    Counterexample { operations: Vec<u32>, minimal: bool, steps: Vec<Vec<CertificateBound>> },
}

/// A bound in a certificate: an operation, a replica and a number of its operations, or a read and the number of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "they are those of `Bound`")]
pub enum CertificateBound {
    Saw(u32, u32, u32),
    SawAtMost(u32, u32, u32),
    ChoseFrom(u32, u32),
    ChoseUpTo(u32, u32),
}

/// Why a certificate says nothing about a history.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// It is of another version.
    #[error("certificate of version {0}; this program knows version {VERSION}")]
    Version(u32),
    /// It is for another history.
    #[error(
        "the certificate is for another history: it names type {data_type}, {replicas} replicas, {operations} operations and \
         the checksum {checksum}"
    )]
    OtherHistory {
        /// The type it names.
        data_type: Box<str>,
        /// Replicas it names.
        replicas: usize,
        /// Operations it names.
        operations: usize,
        /// The checksum it names.
        checksum: Box<str>,
    },
    /// It names something that the history does not have.
    #[error("the certificate names {0} that the history does not have")]
    Unknown(&'static str),
}

const VERSION: u32 = 1;

impl Certificate {
    /// The certificate of a verdict; `None` if it is undecided.
    pub fn new(history: &History, verdict: &Verdict) -> Option<Self> {
        let evidence = match verdict {
            Verdict::Holds(witness) => CertificateEvidence::Witness {
                seen: differences(history, &witness.seen),
                order: witness.order.iter().map(|op| op.0).collect(),
            },
            Verdict::Violated(Counterexample { operations, minimal, steps }) => CertificateEvidence::Counterexample {
                operations: operations.iter().map(|op| op.0).collect(),
                minimal: *minimal,
                steps: steps.iter().map(|step| step.iter().copied().map(CertificateBound::from).collect()).collect(),
            },
            Verdict::Undecided => return None,
        };
        Some(Certificate {
            version: VERSION,
            r#type: history.data_type().name().into(),
            replicas: history.replicas().len(),
            operations: history.len(),
            checksum: checksum(history),
            evidence,
        })
    }

    /// The verdict that it claims.
    ///
    /// # Errors
    ///
    /// It is not about this history.
    pub fn verdict(&self, history: &History) -> Result<Verdict, CertificateError> {
        if self.version != VERSION {
            return Err(CertificateError::Version(self.version));
        }
        let same = self.r#type == history.data_type().name()
            && (self.replicas, self.operations) == (history.replicas().len(), history.len())
            && self.checksum == checksum(history);
        if !same {
            return Err(CertificateError::OtherHistory {
                data_type: self.r#type.as_str().into(),
                replicas: self.replicas,
                operations: self.operations,
                checksum: self.checksum.as_str().into(),
            });
        }
        Ok(match &self.evidence {
            CertificateEvidence::Witness { seen, order } => Verdict::Holds(Witness {
                seen: seen_by_all(history, seen)?,
                order: order.iter().copied().map(OpId).collect(),
            }),
            CertificateEvidence::Counterexample { operations, minimal, steps } => Verdict::Violated(Counterexample {
                operations: operations.iter().copied().map(OpId).collect(),
                minimal: *minimal,
                steps: steps.iter().map(|step| step.iter().copied().map(Bound::from).collect()).collect(),
            }),
        })
    }

    /// The word for the verdict that it claims.
    pub fn claim(&self) -> &'static str {
        match self.evidence {
            CertificateEvidence::Witness { .. } => "holds",
            CertificateEvidence::Counterexample { .. } => "violated",
        }
    }
}

/// What each operation saw more than the one before it on its replica, besides that one.
fn differences(history: &History, seen: &[Vec<u32>]) -> Vec<Vec<(u32, u32)>> {
    let mut before = vec![0; history.replicas().len()];
    let difference = |op: OpId| {
        follow(history, op, &mut before);
        let changed = (0..).zip(&seen[op.0 as usize]).filter(|&(replica, &count)| before[replica as usize] != count);
        let changed: Vec<(u32, u32)> = changed.map(|(replica, &count)| (replica, count)).collect();
        before.clone_from(&seen[op.0 as usize]);
        changed
    };
    history.operations().map(difference).collect()
}

/// The inverse.
fn seen_by_all(history: &History, differences: &[Vec<(u32, u32)>]) -> Result<Vec<Vec<u32>>, CertificateError> {
    if differences.len() != history.len() {
        return Err(CertificateError::Unknown("operations"));
    }
    let mut seen = vec![0; history.replicas().len()];
    let restore = |op: OpId| {
        follow(history, op, &mut seen);
        for &(replica, count) in &differences[op.0 as usize] {
            *seen.get_mut(replica as usize).ok_or(CertificateError::Unknown("a replica"))? = count;
        }
        Ok(seen.clone())
    };
    history.operations().map(restore).collect()
}

/// From what the operation before this one saw to the least that this one saw.
fn follow(history: &History, op: OpId, seen: &mut [u32]) {
    let position = history.position(op);
    if position == 0 {
        seen.fill(0);
    }
    seen[history.replica_of(op).0 as usize] = position;
}

/// FNV-1a of the history in notation, which does not depend on the format that it was read from.
fn checksum(history: &History) -> String {
    struct Fnv(u64);
    impl std::io::Write for Fnv {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = bytes.iter().fold(self.0, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    write(history, Format::Notation, &mut hash).expect("a hash takes everything");
    format!("{:016x}", hash.0)
}

impl From<Bound> for CertificateBound {
    fn from(bound: Bound) -> Self {
        match bound {
            Bound::Saw(op, replica, count) => CertificateBound::Saw(op.0, replica.0, count),
            Bound::SawAtMost(op, replica, count) => CertificateBound::SawAtMost(op.0, replica.0, count),
            Bound::ChoseFrom(read, number) => CertificateBound::ChoseFrom(read.0, number),
            Bound::ChoseUpTo(read, number) => CertificateBound::ChoseUpTo(read.0, number),
        }
    }
}

impl From<CertificateBound> for Bound {
    fn from(bound: CertificateBound) -> Self {
        match bound {
            CertificateBound::Saw(op, replica, count) => Bound::Saw(OpId(op), ReplicaId(replica), count),
            CertificateBound::SawAtMost(op, replica, count) => Bound::SawAtMost(OpId(op), ReplicaId(replica), count),
            CertificateBound::ChoseFrom(read, number) => Bound::ChoseFrom(OpId(read), number),
            CertificateBound::ChoseUpTo(read, number) => Bound::ChoseUpTo(OpId(read), number),
        }
    }
}

#[cfg(test)]
mod tests;
