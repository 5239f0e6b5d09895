//! The story of a refutation.
//!
//! A split of which one side ends at once is a step: the other side holds, or else there is a cycle. So most refutations are a row of steps that
//! ends in a cycle. Where both sides go on, they are told one after the other, with numbers below that of the split.

use isonomy_history::{History, Key, TxnId};
use rustc_hash::FxHashMap;

use super::Sentence;
use super::edges::Words;
use super::topics::Topic;
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
pub(super) fn tell(history: &History, words: Words, cases: &[Case]) -> Vec<Sentence> {
    tell_with_topics(history, words, cases).0
}

/// Tells all cases, and says what each sentence speaks of.
pub(super) fn tell_with_topics(history: &History, words: Words, cases: &[Case]) -> (Vec<Sentence>, Vec<Topic>) {
    let (steps, topics) = (Vec::new(), Vec::new());
    let mut story = Story { history, words, cases, steps, topics, known: FxHashMap::default() };
    // A case that something leads to again is not told again: evidence that nobody certified may have circles.
    let mut told = vec![false; cases.len()];
    let mut todo = vec![Task::Tell { case: 0, above: String::new(), next: 1 }];
    while let Some(task) = todo.pop() {
        match task {
            Task::Forget(fact) => story.forget(fact),
            Task::Side { case, fact, above, side } => {
                let number = format!("{above}{side}");
                let claim = story.claim(fact);
                story.push(
                    number.clone(),
                    format!("Case {side}: {claim}."),
                    Topic::Side { key: fact.0, first: fact.1, second: fact.2 },
                );
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
                            match story.closed_side(*before, *after) {
                                Some((closed, edges, holds)) => {
                                    let (fact, otherwise) = if holds == *before { (so, not_so) } else { (not_so, so) };
                                    let cycle = story.otherwise(otherwise, edges);
                                    let claim = story.claim(fact);
                                    let text = format!("{claim}: otherwise {cycle}.");
                                    story.push(number.clone(), text, Topic::Cycle { case: closed });
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
    (story.steps, story.topics)
}

/// A case by itself: what is split, or the cycle.
pub(super) fn tell_one(history: &History, words: Words, case: &Case) -> String {
    let story =
        Story { history, words, cases: &[], steps: Vec::new(), topics: Vec::new(), known: FxHashMap::default() };
    match case {
        Case::Split { key, first, second, .. } => format!("{}.", story.either(*key, *first, *second)),
        Case::Closed(edges) => format!("{}.", joined(edges.iter().map(|edge| story.clause(edge)))),
    }
}

struct Story<'a> {
    history: &'a History,
    words: Words,
    cases: &'a [Case],
    steps: Vec<Sentence>,
    /// For each step.
    topics: Vec<Topic>,
    /// What holds here, each with the steps and cases that say so.
    known: FxHashMap<Fact, Vec<String>>,
}

impl<'a> Story<'a> {
    fn push(&mut self, number: String, text: String, topic: Topic) {
        self.steps.push(Sentence { number, text });
        self.topics.push(topic);
    }

    fn learn(&mut self, fact: Fact, place: String) {
        self.known.entry(fact).or_default().push(place);
    }

    fn forget(&mut self, fact: Fact) {
        if let Some(places) = self.known.get_mut(&fact) {
            places.pop();
        }
    }

    /// The side that ends at once, the shorter one if both do, with its cycle; and the other side.
    fn closed_side(&self, before: usize, after: usize) -> Option<(usize, &'a [Edge], usize)> {
        let closed = |side: usize| match self.cases.get(side) {
            Some(Case::Closed(edges)) => Some(edges.as_slice()),
            _ => None,
        };
        match (closed(before), closed(after)) {
            (Some(short), Some(long)) if short.len() < long.len() => Some((before, short, after)),
            (_, Some(edges)) => Some((after, edges, before)),
            (Some(edges), None) => Some((before, edges, after)),
            (None, None) => None,
        }
    }

    fn name(&self, txn: TxnId) -> String {
        self.history.transaction_name(txn).to_string()
    }

    fn claim(&self, (key, first, second): Fact) -> String {
        format!(
            "On {}, {}'s version comes before {}'s",
            self.history.key_name(key),
            self.name(first),
            self.name(second)
        )
    }

    fn either(&self, key: Key, first: TxnId, second: TxnId) -> String {
        let (first, second) = (self.name(first), self.name(second));
        let key = self.history.key_name(key);
        format!("On {key}, either {first}'s version comes before {second}'s, or {second}'s before {first}'s")
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
                format!("{} comes before {}", self.name(from), self.name(to))
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
