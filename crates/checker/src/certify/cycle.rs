//! Faulty reads, and cycles at the levels up to `causal`.

use isonomy_history::{Event, FaultKind, Key, ReadFault, TxnId, Value};

use super::Flaw;
use super::facts::{Facts, Seen, Source};
use super::known::Known;
use crate::level::IsolationLevel;
use crate::verdict::{Edge, Party, Step, Why};

pub(super) fn check_fault(facts: &Facts<'_>, level: IsolationLevel, fault: &ReadFault) -> Result<(), Flaw> {
    let history = facts.history;
    let stands = |txn: TxnId, event| {
        txn.index() < history.transaction_count() && facts.counts(txn) && history.event_ids(txn).any(|id| id == event)
    };
    let holds = stands(fault.txn, fault.event)
        && match fault.kind {
            FaultKind::NonRepeatable if level == IsolationLevel::ReadCommitted => false,
            FaultKind::IncompatibleOrder(other) if other == fault.event => match history.event(other) {
                Event::ReadList { key, elements } => {
                    out_of_program_order(facts, key, facts.external(fault.txn, other, elements))
                }
                _ => false,
            },
            FaultKind::IncompatibleOrder(other) => {
                let Some(owner) = history.transactions().find(|&txn| stands(txn, other)) else {
                    return Err(Flaw::NoFault);
                };
                let list = |txn: TxnId, id| match history.event(id) {
                    Event::ReadList { key, elements } => Some((key, facts.external(txn, id, elements))),
                    _ => None,
                };
                match (list(fault.txn, fault.event), list(owner, other)) {
                    (Some((a, left)), Some((b, right))) => {
                        a == b && !left.starts_with(right) && !right.starts_with(left)
                    }
                    _ => false,
                }
            }
            kind => facts.reads(fault.txn).1.contains(&(fault.event, kind)),
        };
    if holds { Ok(()) } else { Err(Flaw::NoFault) }
}

pub(super) fn check(facts: &Facts<'_>, level: IsolationLevel, session_order: bool, edges: &[Edge]) -> Result<(), Flaw> {
    let closes = !edges.is_empty()
        && edges.iter().zip(edges.iter().cycle().skip(1)).all(|(edge, next)| edge.to == next.from)
        && edges.iter().all(|edge| edge.from != edge.to);
    if !closes {
        return Err(Flaw::NotACycle);
    }
    let mut checker = Checker { facts, level, session_order, known: Known::new(facts) };
    for (index, edge) in edges.iter().enumerate() {
        checker.edge(edge).map_err(|what| Flaw::Edge(index, what))?;
    }
    Ok(())
}

struct Checker<'a, 'h> {
    facts: &'a Facts<'h>,
    level: IsolationLevel,
    session_order: bool,
    known: Known<'a, 'h>,
}

impl Checker<'_, '_> {
    fn edge(&mut self, edge: &Edge) -> Result<(), &'static str> {
        for party in [edge.from, edge.to].into_iter().flatten() {
            demand(self.facts.counts(party), "a transaction does not count")?;
        }
        match (edge.from, edge.to, &edge.why) {
            (None, Some(_), Why::Initial) => Ok(()),
            (Some(from), Some(to), Why::Session) => {
                demand(self.session(from, to), "they are not of one session, in this order")
            }
            (Some(from), Some(to), Why::WriteRead(key)) => {
                demand(self.known.sees(to, from, *key), "the later one does not read the key from the earlier")
            }
            (Some(from), Some(to), Why::Version(key)) => {
                demand(self.known.lists_show(from, to, *key), "no list shows them in this order")
            }
            (Some(from), to, Why::Overwritten { key, reader, seen }) => self.overwritten(from, to, *key, *reader, seen),
            _ => Err("it has no reason"),
        }
    }

    fn session(&self, from: TxnId, to: TxnId) -> bool {
        self.session_order && in_session_order(self.facts, from, to)
    }

    fn overwritten(
        &mut self,
        from: TxnId,
        to: Party,
        key: Key,
        reader: TxnId,
        steps: &[Step],
    ) -> Result<(), &'static str> {
        demand(self.facts.counts(reader), "the reader does not count")?;
        demand(reader != from, "the reader is the writer that it missed")?;
        demand(self.known.writes(from, key), "the missed writer does not write the key")?;
        let (seen, _) = self.facts.reads(reader);
        let reads = |s: &Seen| s.version_of == Some(key) && s.from == to;
        demand(seen.iter().any(reads), "the reader does not read the key from there")?;

        let chained = steps.first().is_some_and(|step| step.from == from)
            && steps.last().is_some_and(|step| step.to == reader)
            && steps.windows(2).all(|pair| pair[0].to == pair[1].from);
        demand(chained, "the steps do not lead from the writer to the reader")?;
        for step in steps {
            demand(self.facts.counts(step.from) && self.facts.counts(step.to), "a step does not count")?;
            let holds = match step.key {
                None => self.session(step.from, step.to),
                Some(key) => self.known.sees(step.to, step.from, key),
            };
            demand(holds, "a step does not hold")?;
        }
        match self.level {
            IsolationLevel::ReadCommitted => {
                let stale = seen.iter().rfind(|s| reads(s)).map(|s| s.event);
                let before = seen.iter().any(|s| s.from == Some(from) && Some(s.event) < stale);
                demand(before && steps.len() == 1 && steps[0].key.is_some(), "the writer was not read from before")
            }
            IsolationLevel::ReadAtomic => demand(steps.len() == 1, "the writer is not directly visible"),
            IsolationLevel::Linearizable => Err("the level has other reasons"),
            // Causal, and all stronger levels, which imply it.
            _ => Ok(()),
        }
    }
}

/// Whether they are of one session, in this order.
pub(super) fn in_session_order(facts: &Facts<'_>, from: TxnId, to: TxnId) -> bool {
    from < to && facts.history.session_of(from) == facts.history.session_of(to)
}

/// Whether a list shows an element without all that its transaction appended before it.
fn out_of_program_order(facts: &Facts<'_>, key: Key, elements: &[Value]) -> bool {
    let history = facts.history;
    elements.iter().enumerate().any(|(at, &element)| {
        let Source::Write { txn, .. } = facts.source(element) else { return false };
        let mut earlier = history.events(txn).filter_map(super::facts::written).take_while(|&value| value != element);
        earlier.any(|value| history.key_of(value) == key && !elements[..at].contains(&value))
    })
}

pub(super) fn demand(holds: bool, otherwise: &'static str) -> Result<(), &'static str> {
    if holds { Ok(()) } else { Err(otherwise) }
}
