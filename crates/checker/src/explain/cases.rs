//! The story of a refutation.
//!
//! A split of which one side ends at once is a step: the other side holds, or else there is a cycle. So most refutations are a row of steps, and
//! a last split of which both sides end at once: whichever came first, there is a cycle. Where both sides go on, they are told one after
//! the other, with numbers below that of the split.

use isonomy_history::{History, Key, TxnId};
use rustc_hash::FxHashMap;

use super::edges::Words;
use super::{Sentence, Topic, words};
use crate::verdict::{Case, Edge, Why};

/// The first of two wrote the earlier version of a key.
type Fact = (Key, TxnId, TxnId);

enum Task {
    /// Tells a case and what follows from it, with numbers from `next` on below `above`.
    Tell { case: usize, above: String, next: usize },
    /// Tells a side of a split, with this number.
    Side { case: usize, fact: Fact, above: String, side: usize },
    /// What is told from here on does not know this any more.
    Forget(Fact),
}

/// Tells all cases.
pub(super) fn tell(history: &History, words: &Words, cases: &[Case]) -> Vec<Sentence> {
    let mut story = Story { history, words, cases, steps: Vec::new(), known: FxHashMap::default() };
    // A case that something leads to again is not told again: evidence that nobody certified may have circles.
    let mut told = vec![false; cases.len()];
    let mut todo = vec![Task::Tell { case: 0, above: String::new(), next: 1 }];
    while let Some(task) = todo.pop() {
        match task {
            Task::Forget(fact) => story.forget(fact),
            Task::Side { case, fact, above, side } => {
                let number = format!("{above}{side}");
                let claim = story.claim(fact);
                let topic = Topic::Side { key: fact.0, first: fact.1, second: fact.2 };
                story.push(number.clone(), format!("Case {side}: {claim}."), topic);
                story.learn(fact, format!("case {number}"));
                todo.push(Task::Forget(fact));
                todo.push(Task::Tell { case, above: format!("{number}."), next: 1 });
            }
            Task::Tell { mut case, above, mut next } => {
                while let Some(told) = told.get_mut(case)
                    && !std::mem::replace(told, true)
                {
                    match &cases[case] {
                        Case::Closed(edges) => {
                            for (index, edge) in edges.iter().enumerate() {
                                let text = format!("{}.", story.sentence(edge));
                                let topic = Topic::Edge { case, edge: index };
                                story.push(format!("{above}{}", next + index), text, topic);
                            }
                        }
                        Case::Split { key, first, second, before, after } => {
                            let number = format!("{above}{next}");
                            next += 1;
                            let (so, not_so) = ((*key, *first, *second), (*key, *second, *first));
                            if let (Some(first), Some(second)) = (story.closed(*before), story.closed(*after)) {
                                story.whichever(&number, [(so, *before, first), (not_so, *after, second)]);
                                // Their cycles are told; nothing else leads to them.
                                break;
                            }
                            match story.closed_side(*before, *after) {
                                Some((closed, edges, holds)) => {
                                    let (fact, otherwise) = if holds == *before { (so, not_so) } else { (not_so, so) };
                                    let (text, topic) = story.settled(fact, otherwise, closed, edges);
                                    story.push(number.clone(), format!("{text}."), topic);
                                    story.learn(fact, format!("step {number}"));
                                    todo.push(Task::Forget(fact));
                                    case = holds;
                                    continue;
                                }
                                None => {
                                    let text = story.either(*key, *first, *second);
                                    let topic = Topic::Split { key: *key, first: *first, second: *second };
                                    story.push(number.clone(), format!("{text}."), topic);
                                    let above = format!("{number}.");
                                    let second_side =
                                        Task::Side { case: *after, fact: not_so, above: above.clone(), side: 2 };
                                    todo.push(second_side);
                                    todo.push(Task::Side { case: *before, fact: so, above, side: 1 });
                                }
                            }
                        }
                    }
                    break;
                }
            }
        }
    }
    story.steps
}

/// A case by itself: what is split, or the cycle.
pub(super) fn tell_one(history: &History, words: &Words, case: &Case) -> String {
    let story = Story { history, words, cases: &[], steps: Vec::new(), known: FxHashMap::default() };
    match case {
        Case::Split { key, first, second, .. } => format!("{}.", story.either(*key, *first, *second)),
        Case::Closed(edges) => format!("{}.", joined(edges.iter().map(|edge| story.clause(edge)))),
    }
}

struct Story<'a> {
    history: &'a History,
    words: &'a Words,
    cases: &'a [Case],
    steps: Vec<Sentence>,
    /// What holds here, each with the steps and cases that say so.
    known: FxHashMap<Fact, Vec<String>>,
}

impl<'a> Story<'a> {
    fn push(&mut self, number: String, text: String, topic: Topic) {
        self.steps.push(Sentence { number, text, topic });
    }

    fn learn(&mut self, fact: Fact, place: String) {
        self.known.entry(fact).or_default().push(place);
    }

    fn forget(&mut self, fact: Fact) {
        if let Some(places) = self.known.get_mut(&fact) {
            places.pop();
        }
    }

    /// The cycle by which a side ends at once.
    fn closed(&self, side: usize) -> Option<&'a [Edge]> {
        match self.cases.get(side) {
            Some(Case::Closed(edges)) => Some(edges.as_slice()),
            _ => None,
        }
    }

    /// The side that ends at once, its cycle, and the other side.
    fn closed_side(&self, before: usize, after: usize) -> Option<(usize, &'a [Edge], usize)> {
        match (self.closed(before), self.closed(after)) {
            (_, Some(edges)) => Some((after, edges, before)),
            (Some(edges), None) => Some((before, edges, after)),
            (None, None) => None,
        }
    }

    fn version(&self, txn: TxnId, key: Key) -> String {
        words::version_of(self.history, Some(txn), key)
    }

    fn claim(&self, (key, first, second): Fact) -> String {
        let (first, second) = (self.version(first, key), self.version(second, key));
        format!("On {}, {first} came before {second}", self.history.key_name(key))
    }

    fn either(&self, key: Key, first: TxnId, second: TxnId) -> String {
        let (first, second) = (self.version(first, key), self.version(second, key));
        format!("On {}, either {first} came before {second}, or after it", self.history.key_name(key))
    }

    /// Tells a split of which both sides, each a case with its cycle, end at once.
    fn whichever(&mut self, number: &str, sides: [(Fact, usize, &[Edge]); 2]) {
        let (key, first, second) = sides[0].0;
        let (one, other) = (self.version(first, key), self.version(second, key));
        let name = self.history.key_name(key);
        let text = format!("On {name}, whichever came first, {one} or {other}, there is a circle.");
        self.push(number.into(), text, Topic::Split { key, first, second });
        for ((fact, case, edges), side) in sides.into_iter().zip(1..) {
            let first = self.version(fact.1, fact.0);
            let cycle = self.otherwise(fact, edges);
            self.push(format!("{number}.{side}"), format!("If {first} came first: {cycle}."), Topic::Cycle { case });
        }
    }

    /// Why a fact holds: in the case of the contrary, there is a circle.
    fn settled(&self, fact: Fact, contrary: Fact, case: usize, edges: &[Edge]) -> (String, Topic) {
        let claim = self.claim(fact);
        let assumes = |edge: &Edge| match (edge.from, edge.to, &edge.why) {
            (Some(from), Some(to), Why::Assumed(key)) => (*key, from, to) == contrary,
            _ => false,
        };
        // Of a circle of two, the other edge says the same as the fact.
        if let [one, other] = edges {
            let rest = if assumes(one) { Some((1, other)) } else { assumes(other).then_some((0, one)) };
            let plain =
                |(_, edge): &(usize, &Edge)| matches!(edge.why, Why::Session | Why::WriteRead(_) | Why::Version(_));
            if let Some((index, edge)) = rest.filter(plain) {
                let text = format!("{claim}: {}", self.words.edge(self.history, edge).1);
                return (text, Topic::Edge { case, edge: index });
            }
        }
        (format!("{claim}: otherwise {}", self.otherwise(contrary, edges)), Topic::Cycle { case })
    }

    /// Where it was said that one version comes before another.
    fn place(&self, fact: Fact) -> Option<&str> {
        self.known.get(&fact)?.last().map(String::as_str)
    }

    /// What an edge rests on that was said before.
    fn rests_on(&self, edge: &Edge) -> Option<&str> {
        let to = edge.to?;
        match edge.why {
            Why::Assumed(key) => self.place((key, edge.from?, to)),
            Why::AntiDependency { key, over } => self.place((key, over?, to)),
            _ => None,
        }
    }

    fn sentence(&self, edge: &Edge) -> String {
        let (claim, reason) = self.words.edge(self.history, edge);
        match self.rests_on(edge) {
            Some(place) => format!("{claim}: {reason} ({place})"),
            None => format!("{claim}: {reason}"),
        }
    }

    fn clause(&self, edge: &Edge) -> String {
        let (claim, reason) = self.words.edge(self.history, edge);
        match self.rests_on(edge) {
            Some(place) => format!("{claim} ({reason}; {place})"),
            None => format!("{claim} ({reason})"),
        }
    }

    /// A cycle under the opposite of what is claimed.
    fn otherwise(&self, fact: Fact, edges: &[Edge]) -> String {
        joined(edges.iter().map(|edge| match (edge.from, edge.to, &edge.why) {
            (Some(from), Some(to), Why::Assumed(key)) if (*key, from, to) == fact => {
                let [from, to] = [from, to].map(|txn| words::name(self.history, txn));
                format!("{from} comes before {to}")
            }
            _ => self.clause(edge),
        }))
    }
}

fn joined(clauses: impl Iterator<Item = String>) -> String {
    let clauses: Vec<String> = clauses.collect();
    match clauses.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{}, and {last}", others.join(", ")),
        None => String::new(),
    }
}
