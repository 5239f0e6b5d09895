//! Verdicts as JSON: for programs ([`counterexample`]), and as certificates that can be checked later ([`Certificate`]).
//!
//! What is written here is a contract; `docs/json.md` describes it.

use isonomy_history::{EventId, FaultKind, History, Key, NamedEvent, ReadFault, TxnId, Value as HistoryValue};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::anomaly::Anomaly;
use crate::explain::explain;
use crate::level::IsolationLevel;
use crate::verdict::{Counterexample, Edge, Evidence, Party, Step, Verdict, Why, Witness};

/// A counterexample for programs.
pub fn counterexample(history: &History, counterexample: &Counterexample) -> Value {
    let explanation = explain(history, counterexample);
    let transactions: Vec<Value> = explanation
        .transactions
        .iter()
        .map(|t| {
            json!({
                "name": t.name,
                "session": t.session.to_string(),
                "position": t.position,
                "line": (t.place.line > 0).then_some(t.place.line),
                "file": t.place.file,
                "events": t.events.iter().map(NamedEvent::to_string).collect::<Vec<_>>(),
                "folded": t.folded,
            })
        })
        .collect();
    let name = |party: Party| party.map(|txn| history.transaction_name(txn).to_string());
    let key_name = |key: Key| history.key_name(key).to_string();
    let edges = match &counterexample.evidence {
        Evidence::Read(_) => Vec::new(),
        Evidence::Cycle(edges) => edges
            .iter()
            .zip(&explanation.steps)
            .map(|(edge, told)| {
                let mut value =
                    json!({ "from": name(edge.from), "to": name(edge.to), "kind": kind(&edge.why), "why": told });
                match &edge.why {
                    Why::Initial | Why::Session => {}
                    Why::WriteRead(key) | Why::Version(key) => value["key"] = key_name(*key).into(),
                    Why::Overwritten { key, reader, seen } => {
                        value["key"] = key_name(*key).into();
                        value["reader"] = name(Some(*reader)).into();
                        value["seen"] = seen
                            .iter()
                            .map(|step| {
                                json!({
                                    "from": name(Some(step.from)),
                                    "to": name(Some(step.to)),
                                    "kind": if step.key.is_some() { "wr" } else { "so" },
                                    "key": step.key.map(key_name),
                                })
                            })
                            .collect();
                    }
                }
                value
            })
            .collect(),
    };
    json!({
        "anomaly": counterexample.anomaly.name(),
        "meaning": counterexample.anomaly.info().meaning,
        "transactions": transactions,
        "edges": edges,
        "told": explanation.steps,
    })
}

fn kind(why: &Why) -> &'static str {
    match why {
        Why::Initial => "initial",
        Why::Session => "so",
        Why::WriteRead(_) => "wr",
        Why::Version(_) => "ww",
        Why::Overwritten { .. } => "co",
    }
}

/// A verdict with its evidence, to be checked again by [`certify`](crate::certify::certify) at any later time.
///
/// Transactions are numbered session by session from 0, and so are keys and values by first appearance: the history itself gives them meaning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// The version of this format.
    #[serde(rename = "isonomy-certificate")]
    pub version: u32,
    /// How many transactions and events the history has: a certificate for another history is recognized.
    pub transactions: usize,
    /// See `transactions`.
    pub events: usize,
    /// The level's name.
    pub level: String,
    /// Whether session order was respected.
    pub session_order: bool,
    /// The evidence.
    pub evidence: CertificateEvidence,
}

/// The evidence in a certificate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the fields are those of `Witness`, `ReadFault` and `Edge`")]
pub enum CertificateEvidence {
    /// The level holds.
    Witness { order: Vec<u32> },
    /// The level is violated by one read.
    ///
    /// Events are counted within their transaction, from 0. `other` is the transaction and event of the other list.
    Read { anomaly: String, txn: u32, event: u32, key: u32, value: Option<u32>, other: Option<(u32, u32)> },
    /// The level is violated by a cycle.
    Cycle { anomaly: String, edges: Vec<CertificateEdge> },
}

/// An edge in a certificate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are those of `Edge` and `Why`")]
pub struct CertificateEdge {
    pub from: Option<u32>,
    pub to: Option<u32>,
    pub kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reader: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<(u32, u32, Option<u32>)>,
}

/// Why a certificate says nothing about a history.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// It is of another version.
    #[error("certificate of version {0}; this program knows version {VERSION}")]
    Version(u32),
    /// It is for another history.
    #[error("the certificate is for another history: it names {transactions} transactions and {events} events")]
    OtherHistory {
        /// Transactions it names.
        transactions: usize,
        /// Events it names.
        events: usize,
    },
    /// It names something that the history does not have.
    #[error("the certificate names {0} that the history does not have")]
    Unknown(&'static str),
}

const VERSION: u32 = 1;

impl Certificate {
    /// The certificate of a verdict; `None` if it is undecided.
    pub fn new(history: &History, level: IsolationLevel, session_order: bool, verdict: &Verdict) -> Option<Self> {
        let evidence = match verdict {
            Verdict::Holds(witness) => {
                CertificateEvidence::Witness { order: witness.order.iter().map(|t| t.0).collect() }
            }
            Verdict::Violated(counterexample) => {
                let anomaly = counterexample.anomaly.name().to_string();
                match &counterexample.evidence {
                    Evidence::Read(fault) => {
                        let index = |txn: TxnId, event: EventId| {
                            history.event_ids(txn).position(|id| id == event).map(|at| at as u32)
                        };
                        let other = match fault.kind {
                            FaultKind::IncompatibleOrder(other) => {
                                history.transactions().find_map(|txn| Some((txn.0, index(txn, other)?)))
                            }
                            _ => None,
                        };
                        CertificateEvidence::Read {
                            anomaly,
                            txn: fault.txn.0,
                            event: index(fault.txn, fault.event)?,
                            key: fault.key.0,
                            value: fault.value.map(|v| v.0),
                            other,
                        }
                    }
                    Evidence::Cycle(edges) => {
                        CertificateEvidence::Cycle { anomaly, edges: edges.iter().map(CertificateEdge::new).collect() }
                    }
                }
            }
            Verdict::Undecided(_) => return None,
        };
        Some(Certificate {
            version: VERSION,
            transactions: history.transaction_count(),
            events: history.event_count(),
            level: level.name().to_string(),
            session_order,
            evidence,
        })
    }

    /// The level and verdict that it claims.
    pub fn verdict(&self, history: &History) -> Result<(IsolationLevel, Verdict), CertificateError> {
        if self.version != VERSION {
            return Err(CertificateError::Version(self.version));
        }
        if (self.transactions, self.events) != (history.transaction_count(), history.event_count()) {
            return Err(CertificateError::OtherHistory { transactions: self.transactions, events: self.events });
        }
        let level = self.level.parse().map_err(|_| CertificateError::Unknown("a level"))?;
        let txn = |id: u32| {
            let known = (id as usize) < history.transaction_count();
            known.then_some(TxnId(id)).ok_or(CertificateError::Unknown("a transaction"))
        };
        let key = |id: u32| {
            let known = (id as usize) < history.key_count();
            known.then_some(Key(id)).ok_or(CertificateError::Unknown("a key"))
        };
        let known_anomaly = |name: &str| name.parse::<Anomaly>().map_err(|_| CertificateError::Unknown("an anomaly"));
        let verdict = match &self.evidence {
            CertificateEvidence::Witness { order } => {
                Verdict::Holds(Witness { order: order.iter().map(|&id| txn(id)).collect::<Result<_, _>>()? })
            }
            CertificateEvidence::Read { anomaly, txn: reader, event, key: of, value, other } => {
                let anomaly = known_anomaly(anomaly)?;
                let id = |owner: u32, index: u32| {
                    let found = history.event_ids(txn(owner)?).nth(index as usize);
                    found.ok_or(CertificateError::Unknown("an event"))
                };
                let other = other.map(|(owner, index)| id(owner, index)).transpose()?;
                let known_value = value.is_none_or(|value| (value as usize) < history.value_count());
                let fault = ReadFault {
                    txn: txn(*reader)?,
                    event: id(*reader, *event)?,
                    key: key(*of)?,
                    value: known_value
                        .then_some(value.map(HistoryValue))
                        .ok_or(CertificateError::Unknown("a value"))?,
                    kind: fault_kind(anomaly, other).ok_or(CertificateError::Unknown("an anomaly"))?,
                };
                Verdict::Violated(Counterexample { anomaly, evidence: Evidence::Read(fault) })
            }
            CertificateEvidence::Cycle { anomaly, edges } => {
                let mut cycle = Vec::new();
                for edge in edges {
                    let missing = CertificateError::Unknown("the reason of an edge");
                    let why = match (edge.kind.as_str(), edge.key) {
                        ("initial", None) => Why::Initial,
                        ("so", None) => Why::Session,
                        ("wr", Some(of)) => Why::WriteRead(key(of)?),
                        ("ww", Some(of)) => Why::Version(key(of)?),
                        ("co", Some(of)) => {
                            let mut seen = Vec::new();
                            for &(from, to, through) in &edge.seen {
                                seen.push(Step { from: txn(from)?, to: txn(to)?, key: through.map(key).transpose()? });
                            }
                            Why::Overwritten { key: key(of)?, reader: txn(edge.reader.ok_or(missing)?)?, seen }
                        }
                        _ => return Err(missing),
                    };
                    let (from, to) = (edge.from.map(txn).transpose()?, edge.to.map(txn).transpose()?);
                    cycle.push(Edge { from, to, why });
                }
                Verdict::Violated(Counterexample { anomaly: known_anomaly(anomaly)?, evidence: Evidence::Cycle(cycle) })
            }
        };
        Ok((level, verdict))
    }
}

impl CertificateEdge {
    fn new(edge: &Edge) -> Self {
        let (key, reader, seen) = match &edge.why {
            Why::Initial | Why::Session => (None, None, Vec::new()),
            Why::WriteRead(key) | Why::Version(key) => (Some(key.0), None, Vec::new()),
            Why::Overwritten { key, reader, seen } => {
                let seen = seen.iter().map(|step| (step.from.0, step.to.0, step.key.map(|key| key.0))).collect();
                (Some(key.0), Some(reader.0), seen)
            }
        };
        let (from, to) = (edge.from.map(|t| t.0), edge.to.map(|t| t.0));
        CertificateEdge { from, to, kind: kind(&edge.why).to_string(), key, reader, seen }
    }
}

/// The fault that an anomaly of reads names.
fn fault_kind(anomaly: Anomaly, other: Option<EventId>) -> Option<FaultKind> {
    Some(match anomaly {
        Anomaly::ThinAirRead => FaultKind::ThinAir,
        Anomaly::AbortedRead => FaultKind::Aborted,
        Anomaly::IntermediateRead => FaultKind::Intermediate,
        Anomaly::FutureRead => FaultKind::Future,
        Anomaly::NotMyOwnWrite => FaultKind::NotMyOwnWrite,
        Anomaly::NotMyLastWrite => FaultKind::NotMyLastWrite,
        Anomaly::NonRepeatableRead => FaultKind::NonRepeatable,
        Anomaly::DuplicateElement => FaultKind::DuplicateElement,
        Anomaly::IncompatibleOrder => FaultKind::IncompatibleOrder(other?),
        _ => return None,
    })
}
