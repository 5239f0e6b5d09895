//! Cycles of begins and commits, and trees of cases that each end in one.
//!
//! A transaction is two moments, of which its begin comes first. An edge leaves one and arrives at one:
//!
//! | edge | from | to |
//! | --- | --- | --- |
//! | session order, write-read | commit | begin |
//! | version order, shown by lists or assumed | commit | begin; at `prefix` commit |
//! | anti-dependency | begin | commit |
//! | real time | as it says | as it says |
//!
//! So a cycle may arrive at a begin and leave from the commit, and never the reverse. Where transactions are single moments (`serializable`,
//! `strict-serializable`) it may do as it likes.
//!
//! A split is exhaustive, because of two versions of a key one is the earlier. What it assumes holds in the cases below it.

use isonomy_history::{Key, TxnId};
use rustc_hash::FxHashMap;

use super::Flaw;
use super::clock::moment;
use super::cycle::demand;
use super::facts::Facts;
use super::known::Known;
use crate::level::{IsolationLevel, Terms};
use crate::verdict::{Case, Edge, End, Why};

/// The first of two wrote the earlier version of a key.
type Assumption = (Key, TxnId, TxnId);

pub(super) fn check_cycle(facts: &Facts<'_>, level: IsolationLevel, terms: Terms, edges: &[Edge]) -> Result<(), Flaw> {
    Checker::new(facts, level, terms).cycle(edges)
}

pub(super) fn check_refutation(
    facts: &Facts<'_>,
    level: IsolationLevel,
    terms: Terms,
    cases: &[Case],
) -> Result<(), Flaw> {
    if !is_tree(cases) {
        return Err(Flaw::NotATree);
    }
    let mut checker = Checker::new(facts, level, terms);
    let mut todo = vec![Task::Enter(0, None)];
    while let Some(task) = todo.pop() {
        let at = match task {
            Task::Leave(assumption) => {
                checker.forget(assumption);
                continue;
            }
            Task::Enter(at, assumption) => {
                if let Some(assumption) = assumption {
                    *checker.assumed.entry(assumption).or_insert(0) += 1;
                    todo.push(Task::Leave(assumption));
                }
                at
            }
        };
        let inside = |flaw| Flaw::Case { case: at, flaw: Box::new(flaw) };
        match &cases[at] {
            Case::Closed(edges) => checker.cycle(edges).map_err(inside)?,
            Case::Split { key, first, second, before, after } => {
                let (key, first, second) = (*key, *first, *second);
                let both = first != second && checker.known.writes(first, key) && checker.known.writes(second, key);
                if !both {
                    return Err(inside(Flaw::NoSplit));
                }
                todo.push(Task::Enter(*after, Some((key, second, first))));
                todo.push(Task::Enter(*before, Some((key, first, second))));
            }
        }
    }
    Ok(())
}

enum Task {
    /// Goes to a case, with what it assumes.
    Enter(usize, Option<Assumption>),
    /// All cases below are done.
    Leave(Assumption),
}

/// Whether each case but the first is led to exactly once, from an earlier one.
fn is_tree(cases: &[Case]) -> bool {
    let mut reached = vec![false; cases.len()];
    for (at, case) in cases.iter().enumerate() {
        let Case::Split { before, after, .. } = case else { continue };
        for &child in [before, after] {
            if child <= at || child >= cases.len() || std::mem::replace(&mut reached[child], true) {
                return false;
            }
        }
    }
    !cases.is_empty() && reached[1..].iter().all(|&reached| reached)
}

struct Checker<'a, 'h> {
    facts: &'a Facts<'h>,
    level: IsolationLevel,
    terms: Terms,
    known: Known<'a, 'h>,
    /// How often each is assumed on the way to the case at hand.
    assumed: FxHashMap<Assumption, u32>,
}

impl<'a, 'h> Checker<'a, 'h> {
    fn new(facts: &'a Facts<'h>, level: IsolationLevel, terms: Terms) -> Self {
        Checker { facts, level, terms, known: Known::new(facts), assumed: FxHashMap::default() }
    }

    fn forget(&mut self, assumption: Assumption) {
        let count = self.assumed.get_mut(&assumption).expect("what is left was entered");
        *count -= 1;
        if *count == 0 {
            self.assumed.remove(&assumption);
        }
    }

    fn cycle(&mut self, edges: &[Edge]) -> Result<(), Flaw> {
        let (Some(first), Some(last)) = (edges.first(), edges.last()) else { return Err(Flaw::NotACycle) };
        if last.to != first.from || edges.windows(2).any(|pair| pair[0].to != pair[1].from) {
            return Err(Flaw::NotACycle);
        }
        let mut ends = Vec::with_capacity(edges.len());
        for (index, edge) in edges.iter().enumerate() {
            ends.push(self.edge(edge).map_err(|what| Flaw::Edge(index, what))?);
        }
        let one_moment = matches!(self.level, IsolationLevel::Serializable | IsolationLevel::StrictSerializable);
        for (index, &(leaves, _)) in ends.iter().enumerate() {
            let (_, arrives) = ends[(index + ends.len() - 1) % ends.len()];
            if !one_moment && (arrives, leaves) == (End::Commit, End::Begin) {
                return Err(Flaw::Edge(index, "it leaves the begin, and the one before only arrives at the commit"));
            }
        }
        Ok(())
    }

    /// Which end it leaves and at which it arrives.
    fn edge(&mut self, edge: &Edge) -> Result<(End, End), &'static str> {
        let (Some(from), Some(to)) = (edge.from, edge.to) else { return Err("the initial state has no place in it") };
        demand(self.facts.counts(from) && self.facts.counts(to), "a transaction does not count")?;
        demand(from != to, "it leads back to where it comes from")?;
        let of_versions = if self.level == IsolationLevel::Prefix { End::Commit } else { End::Begin };
        match edge.why {
            Why::Session => {
                let ordered = super::cycle::in_session_order(self.facts, from, to);
                demand(self.terms.session_order && ordered, "they are not of one session, in this order")?;
                Ok((End::Commit, End::Begin))
            }
            Why::WriteRead(key) => {
                demand(self.known.sees(to, from, key), "the later one does not read the key from the earlier")?;
                Ok((End::Commit, End::Begin))
            }
            Why::Version(key) => {
                demand(self.known.lists_show(from, to, key), "no list shows them in this order")?;
                Ok((End::Commit, of_versions))
            }
            Why::Assumed(key) => {
                demand(self.assumed.contains_key(&(key, from, to)), "it was not assumed")?;
                Ok((End::Commit, of_versions))
            }
            Why::AntiDependency { key, over } => {
                demand(self.known.reads(from, over, key), "the earlier one does not read that version")?;
                demand(self.known.writes(to, key), "the later one does not write the key")?;
                let later = match over {
                    None => true,
                    Some(over) => {
                        over != to
                            && (self.assumed.contains_key(&(key, over, to)) || self.known.lists_show(over, to, key))
                    }
                };
                demand(later, "nothing says that the later one's version comes after the one read")?;
                Ok((End::Begin, End::Commit))
            }
            Why::RealTime { from: leaves, to: arrives } => {
                use IsolationLevel as L;
                let speaks = match (leaves, arrives) {
                    (_, End::Commit) => matches!(self.level, L::GeneralizedSi | L::StrongSessionSi | L::StrongSi),
                    (End::Commit, End::Begin) => matches!(self.level, L::StrongSi | L::StrictSerializable),
                    (End::Begin, End::Begin) => false,
                };
                demand(speaks, "the level does not speak of these ends")?;
                let history = self.facts.history;
                let moments = moment(history, from, leaves).zip(moment(history, to, arrives));
                let (earlier, later) = moments.ok_or("there are no times")?;
                demand(earlier.is_before(later, self.terms.clock_drift), "the times do not say so")?;
                Ok((leaves, arrives))
            }
            Why::Initial | Why::Overwritten { .. } => Err("a reason of this kind does not go with the others"),
        }
    }
}
