//! Verdicts as JSON: for programs ([`counterexample`]), and as certificates that can be checked later ([`Certificate`]).
//!
//! What is written here is a contract; `docs/json.md` describes it.

use isonomy_history::{EventId, FaultKind, History, Key, NamedEvent, Outcome, ReadFault, TxnId, Value as HistoryValue};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use crate::anomaly::Anomaly;
use crate::explain::{Distinction, Explanation, Participant, Relation, Sentence, Standing, explain};
use crate::level::{IsolationLevel, Terms};
use crate::verdict::{Case, Counterexample, Edge, End, Evidence, Party, Refutation, Step, Verdict, Why, Witness};

/// A counterexample for programs.
pub fn counterexample(history: &History, counterexample: &Counterexample) -> Value {
    explanation(history, &explain(history, counterexample))
}

/// The story of a counterexample for programs. What is not known of the levels is left out.
pub fn explanation(history: &History, explanation: &Explanation<'_>) -> Value {
    let edge = |relation: &Relation<'_>| edge_value(history, explanation, relation);
    let case = |case: &Distinction<'_>| match case {
        Distinction::Split { key, first, second, before, after, told } => json!({
            "split": {
                "key": key.to_string(),
                "first": name(history, Some(*first)),
                "second": name(history, Some(*second)),
                "before": before,
                "after": after,
            },
            "told": told,
        }),
        Distinction::Closed { relations, told } => {
            let edges: Vec<Value> = explanation.relations[relations.clone()].iter().map(edge).collect();
            json!({ "edges": edges, "told": told })
        }
    };
    let by_cases = !explanation.cases.is_empty();
    let edges = if by_cases { &[] } else { &explanation.relations[..] };
    // The sentences of a refutation refer to each other.
    let told =
        |Sentence { number, text, .. }: &Sentence| if by_cases { format!("{number}. {text}") } else { text.clone() };
    let info = explanation.anomaly.info();
    let mut value = json!({
        "anomaly": info.name,
        "meaning": info.meaning,
        "cause": info.cause,
        "transactions": explanation.transactions.iter().map(transaction_value).collect::<Vec<_>>(),
        "edges": edges.iter().map(edge).collect::<Vec<_>>(),
        "cases": explanation.cases.iter().map(case).collect::<Vec<_>>(),
        "told": explanation.steps.iter().map(told).collect::<Vec<_>>(),
    });
    if let Some(Standing { violated, holds }) = &explanation.standing {
        let names = |levels: &[IsolationLevel]| levels.iter().map(|level| level.name().into()).collect::<Vec<Value>>();
        value["violates"] = names(violated).into();
        value["holds"] = names(holds).into();
    }
    value
}

fn transaction_value(t: &Participant<'_>) -> Value {
    let mut value = json!({
        "name": t.name,
        "session": t.session.to_string(),
        "position": t.position,
        "outcome": match t.outcome {
            Outcome::Committed => "committed",
            Outcome::Aborted => "aborted",
            Outcome::Indeterminate => "indeterminate",
        },
        "line": (t.place.line > 0).then_some(t.place.line),
        "file": t.place.file,
        "events": t.events.iter().map(NamedEvent::to_string).collect::<Vec<_>>(),
        "folded": t.folded,
    });
    for (name, time) in [("start", t.times.start), ("finish", t.times.finish)] {
        if let Some(time) = time {
            value[name] = time.into();
        }
    }
    value
}

fn name(history: &History, party: Party) -> Option<String> {
    party.map(|txn| history.transaction_name(txn).to_string())
}

fn key_name(history: &History, key: Key) -> String {
    history.key_name(key).to_string()
}

fn edge_value(history: &History, explanation: &Explanation<'_>, relation: &Relation<'_>) -> Value {
    let index = |party: Party, event: Option<EventId>| {
        explanation.participant(party?)?.event_ids.iter().position(|&id| Some(id) == event)
    };
    let mut value = json!({
        "from": name(history, relation.from),
        "to": name(history, relation.to),
        "kind": relation.why.kind(),
        "claim": relation.claim,
        "reason": relation.reason,
        "why": relation.to_string(),
        "from_event": index(relation.from, relation.from_event),
        "to_event": index(relation.to, relation.to_event),
    });
    if let Some(key) = relation.key {
        value["key"] = key.to_string().into();
    }
    match &relation.why {
        Why::Overwritten { reader, seen, .. } => {
            let step = |step: &Step| {
                json!({
                    "from": name(history, Some(step.from)),
                    "to": name(history, Some(step.to)),
                    "kind": if step.key.is_some() { "wr" } else { "so" },
                    "key": step.key.map(|key| key_name(history, key)),
                })
            };
            value["reader"] = name(history, Some(*reader)).into();
            value["seen"] = seen.iter().map(step).collect();
        }
        Why::AntiDependency { over, .. } => value["over"] = name(history, *over).into(),
        Why::RealTime { from, to } => {
            value["from_end"] = json!(CertificateEnd::from(*from));
            value["to_end"] = json!(CertificateEnd::from(*to));
        }
        Why::Initial | Why::Session | Why::WriteRead(_) | Why::Version(_) | Why::Assumed(_) => {}
    }
    value
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
    /// By how many nanoseconds clocks may differ.
    #[serde(default)]
    pub clock_drift: i64,
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
    /// The level is violated whatever the order of some versions.
    Refutation { anomaly: String, cases: Vec<CertificateCase> },
}

/// A case in a certificate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are those of `Case`")]
pub enum CertificateCase {
    /// Two cases, by the order of two versions.
    Split { key: u32, first: u32, second: u32, before: usize, after: usize },
    /// A cycle.
    Closed(Vec<CertificateEdge>),
}

/// An end of a transaction in a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "they are those of `End`")]
pub enum CertificateEnd {
    Begin,
    Commit,
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
    /// Whose version was read: `Some(None)` is the initial state, `None` that the edge is of another kind.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    pub over: Option<Option<u32>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_end: Option<CertificateEnd>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_end: Option<CertificateEnd>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<(u32, u32, Option<u32>)>,
}

/// A field that is there, even if it is `null`.
fn given<'de, D: Deserializer<'de>>(field: D) -> Result<Option<Option<u32>>, D::Error> {
    Option::deserialize(field).map(Some)
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
    /// It takes clocks for better than exact.
    #[error("the certificate is for clocks that differ by {0} nanoseconds")]
    ClockDrift(i64),
    /// It names something that the history does not have.
    #[error("the certificate names {0} that the history does not have")]
    Unknown(&'static str),
}

const VERSION: u32 = 1;

impl Certificate {
    /// The certificate of a verdict; `None` if it is undecided.
    pub fn new(history: &History, level: IsolationLevel, terms: Terms, verdict: &Verdict) -> Option<Self> {
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
                    Evidence::Refutation(refutation) => CertificateEvidence::Refutation {
                        anomaly,
                        cases: refutation.cases.iter().map(CertificateCase::new).collect(),
                    },
                }
            }
            Verdict::Undecided(_) => return None,
        };
        Some(Certificate {
            version: VERSION,
            transactions: history.transaction_count(),
            events: history.event_count(),
            level: level.name().to_string(),
            session_order: terms.session_order,
            clock_drift: terms.clock_drift,
            evidence,
        })
    }

    /// What was asked.
    pub fn terms(&self) -> Terms {
        Terms { session_order: self.session_order, clock_drift: self.clock_drift }
    }

    /// The level and verdict that it claims.
    pub fn verdict(&self, history: &History) -> Result<(IsolationLevel, Verdict), CertificateError> {
        if self.version != VERSION {
            return Err(CertificateError::Version(self.version));
        }
        if (self.transactions, self.events) != (history.transaction_count(), history.event_count()) {
            return Err(CertificateError::OtherHistory { transactions: self.transactions, events: self.events });
        }
        if self.clock_drift < 0 {
            return Err(CertificateError::ClockDrift(self.clock_drift));
        }
        let level = self.level.parse().map_err(|_| CertificateError::Unknown("a level"))?;
        let names = Names(history);
        let verdict = match &self.evidence {
            CertificateEvidence::Witness { order } => {
                Verdict::Holds(Witness { order: order.iter().map(|&id| names.txn(id)).collect::<Result<_, _>>()? })
            }
            CertificateEvidence::Read { anomaly, txn: reader, event, key, value, other } => {
                let anomaly = known_anomaly(anomaly)?;
                let id = |owner: u32, index: u32| {
                    let found = history.event_ids(names.txn(owner)?).nth(index as usize);
                    found.ok_or(CertificateError::Unknown("an event"))
                };
                let other = other.map(|(owner, index)| id(owner, index)).transpose()?;
                let known_value = value.is_none_or(|value| (value as usize) < history.value_count());
                let fault = ReadFault {
                    txn: names.txn(*reader)?,
                    event: id(*reader, *event)?,
                    key: names.key(*key)?,
                    value: known_value
                        .then_some(value.map(HistoryValue))
                        .ok_or(CertificateError::Unknown("a value"))?,
                    kind: fault_kind(anomaly, other).ok_or(CertificateError::Unknown("an anomaly"))?,
                };
                Verdict::Violated(Counterexample { anomaly, evidence: Evidence::Read(fault) })
            }
            CertificateEvidence::Cycle { anomaly, edges } => {
                let evidence = Evidence::Cycle(names.edges(edges)?);
                Verdict::Violated(Counterexample { anomaly: known_anomaly(anomaly)?, evidence })
            }
            CertificateEvidence::Refutation { anomaly, cases } => {
                let cases = cases.iter().map(|case| names.case(case)).collect::<Result<_, _>>()?;
                let evidence = Evidence::Refutation(Refutation { cases });
                Verdict::Violated(Counterexample { anomaly: known_anomaly(anomaly)?, evidence })
            }
        };
        Ok((level, verdict))
    }
}

fn known_anomaly(name: &str) -> Result<Anomaly, CertificateError> {
    name.parse().map_err(|_| CertificateError::Unknown("an anomaly"))
}

/// Gives the numbers of a certificate their meaning.
struct Names<'h>(&'h History);

impl Names<'_> {
    fn txn(&self, id: u32) -> Result<TxnId, CertificateError> {
        let known = (id as usize) < self.0.transaction_count();
        known.then_some(TxnId(id)).ok_or(CertificateError::Unknown("a transaction"))
    }

    fn party(&self, id: Option<u32>) -> Result<Party, CertificateError> {
        id.map(|id| self.txn(id)).transpose()
    }

    fn key(&self, id: u32) -> Result<Key, CertificateError> {
        let known = (id as usize) < self.0.key_count();
        known.then_some(Key(id)).ok_or(CertificateError::Unknown("a key"))
    }

    fn edges(&self, edges: &[CertificateEdge]) -> Result<Vec<Edge>, CertificateError> {
        edges.iter().map(|edge| self.edge(edge)).collect()
    }

    fn edge(&self, edge: &CertificateEdge) -> Result<Edge, CertificateError> {
        let missing = CertificateError::Unknown("the reason of an edge");
        let why = match (edge.kind.as_str(), edge.key) {
            ("initial", None) => Why::Initial,
            ("so", None) => Why::Session,
            ("wr", Some(key)) => Why::WriteRead(self.key(key)?),
            ("ww", Some(key)) => Why::Version(self.key(key)?),
            ("assumed", Some(key)) => Why::Assumed(self.key(key)?),
            ("rw", Some(key)) => {
                Why::AntiDependency { key: self.key(key)?, over: self.party(edge.over.ok_or(missing)?)? }
            }
            ("rt", None) => match (edge.from_end, edge.to_end) {
                (Some(from), Some(to)) => Why::RealTime { from: from.into(), to: to.into() },
                _ => return Err(missing),
            },
            ("co", Some(key)) => {
                let mut seen = Vec::new();
                for &(from, to, through) in &edge.seen {
                    let key = through.map(|key| self.key(key)).transpose()?;
                    seen.push(Step { from: self.txn(from)?, to: self.txn(to)?, key });
                }
                Why::Overwritten { key: self.key(key)?, reader: self.txn(edge.reader.ok_or(missing)?)?, seen }
            }
            _ => return Err(missing),
        };
        Ok(Edge { from: self.party(edge.from)?, to: self.party(edge.to)?, why })
    }

    fn case(&self, case: &CertificateCase) -> Result<Case, CertificateError> {
        Ok(match *case {
            CertificateCase::Split { key, first, second, before, after } => {
                Case::Split { key: self.key(key)?, first: self.txn(first)?, second: self.txn(second)?, before, after }
            }
            CertificateCase::Closed(ref edges) => Case::Closed(self.edges(edges)?),
        })
    }
}

impl CertificateCase {
    fn new(case: &Case) -> Self {
        match *case {
            Case::Split { key, first, second, before, after } => {
                CertificateCase::Split { key: key.0, first: first.0, second: second.0, before, after }
            }
            Case::Closed(ref edges) => CertificateCase::Closed(edges.iter().map(CertificateEdge::new).collect()),
        }
    }
}

impl CertificateEdge {
    fn new(edge: &Edge) -> Self {
        let mut written = CertificateEdge {
            from: edge.from.map(|t| t.0),
            to: edge.to.map(|t| t.0),
            kind: edge.why.kind().to_string(),
            key: None,
            reader: None,
            over: None,
            from_end: None,
            to_end: None,
            seen: Vec::new(),
        };
        match &edge.why {
            Why::Initial | Why::Session => {}
            Why::WriteRead(key) | Why::Version(key) | Why::Assumed(key) => written.key = Some(key.0),
            Why::Overwritten { key, reader, seen } => {
                written.key = Some(key.0);
                written.reader = Some(reader.0);
                written.seen = seen.iter().map(|step| (step.from.0, step.to.0, step.key.map(|key| key.0))).collect();
            }
            Why::AntiDependency { key, over } => {
                written.key = Some(key.0);
                written.over = Some(over.map(|t| t.0));
            }
            Why::RealTime { from, to } => {
                written.from_end = Some((*from).into());
                written.to_end = Some((*to).into());
            }
        }
        written
    }
}

impl From<End> for CertificateEnd {
    fn from(end: End) -> Self {
        match end {
            End::Begin => CertificateEnd::Begin,
            End::Commit => CertificateEnd::Commit,
        }
    }
}

impl From<CertificateEnd> for End {
    fn from(end: CertificateEnd) -> Self {
        match end {
            CertificateEnd::Begin => End::Begin,
            CertificateEnd::Commit => End::Commit,
        }
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
