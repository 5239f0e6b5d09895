//! Few operations that show a violation.
//!
//! A query may be left out always: whoever has an explanation of all answers has one of fewer. An update may be left out if it
//! could only have stood in the way of the answers that are left: an addition where nobody is left who saw the element, a write whose
//! value nobody is left to return. Then an explanation of the whole is one of the part, so that a part without explanation
//! refutes the whole. So may an update that comes after all queries of its object that are left, on their own replica. Elements of an
//! array are left out with all that is said of them, lists included, once nothing hangs below them.

mod window;

use isonomy_solver::Budget;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::history::{History, LabelId, OpId, Operation};
use crate::problem::Problem;
use crate::search::{Effort, Literal, Outcome, search};
use crate::verdict::{Bound, Counterexample};

pub(crate) fn shrink(history: &History, learnt: Vec<Vec<Literal>>, budget: &mut Budget<'_>) -> Counterexample {
    let kept = vec![true; history.len()];
    let mut shrink = Shrink { history, kept, learnt, budget, spent: false };
    window::narrow(&mut shrink);
    shrink.run();
    let (part, from) = part(history, |op| shrink.kept[op.0 as usize]);
    let problem = Problem::new(&part);
    let steps = shrink.learnt.iter();
    let steps = steps.map(|clause| clause.iter().map(|&literal| bound(&problem, &from, literal)).collect()).collect();
    Counterexample { operations: from.clone(), minimal: !shrink.spent, steps }
}

/// Some operations of a history, without the elements of arrays whose additions are left out; and which each was.
pub(crate) fn part(history: &History, kept: impl Fn(OpId) -> bool) -> (History, Vec<OpId>) {
    let mut gone = vec![false; history.label_count()];
    for op in history.operations().filter(|&op| !kept(op)) {
        if let Operation::Insert(_, element) = history.operation(op) {
            gone[element.0 as usize] = true;
        }
    }
    history.part(kept, |element| !gone[element.0 as usize])
}

/// A literal of the search in terms of the history.
fn bound(problem: &Problem<'_>, from: &[OpId], literal: Literal) -> Bound {
    let (op, replica) = (literal.variable / problem.replicas, literal.variable % problem.replicas);
    match from.get(op as usize) {
        Some(&op) => {
            let replica = crate::ReplicaId(replica);
            if literal.upper {
                Bound::SawAtMost(op, replica, literal.bound)
            } else {
                Bound::Saw(op, replica, literal.bound)
            }
        }
        None => {
            let choice = literal.variable as usize - problem.len() * problem.replicas as usize;
            let read = from[problem.reader_of(choice) as usize];
            if literal.upper { Bound::ChoseUpTo(read, literal.bound) } else { Bound::ChoseFrom(read, literal.bound) }
        }
    }
}

struct Shrink<'a, 'b> {
    history: &'a History,
    kept: Vec<bool>,
    /// What the search learnt on what is kept.
    learnt: Vec<Vec<Literal>>,
    budget: &'a mut Budget<'b>,
    spent: bool,
}

impl Shrink<'_, '_> {
    fn run(&mut self) {
        let dependents = self.dependents();
        // What can be left out depends on what was, so that a second round may find more.
        loop {
            let before = self.size();
            self.remove(self.operations(|op| self.history.operation(op).is_query()), &dependents);
            let asked = Asked::new(self.history, &self.kept);
            let may_go = |op| !self.history.operation(op).is_query() && asked.may_miss(self.history, op);
            self.remove(self.operations(may_go), &dependents);
            if self.spent || self.size() == before {
                return;
            }
        }
    }

    fn size(&self) -> usize {
        self.kept.iter().filter(|&&kept| kept).count()
    }

    /// For each element of an array, what cannot stay without it: its removals, and additions right after it.
    fn dependents(&self) -> FxHashMap<LabelId, Vec<OpId>> {
        let mut dependents: FxHashMap<LabelId, Vec<OpId>> = FxHashMap::default();
        for op in self.history.operations() {
            if let Operation::Insert(Some(element), _) | Operation::Delete(element) = self.history.operation(op) {
                dependents.entry(element).or_default().push(op);
            }
        }
        dependents
    }

    fn operations(&self, which: impl Fn(OpId) -> bool) -> Vec<OpId> {
        self.history.operations().filter(|&op| self.kept[op.0 as usize] && which(op)).collect()
    }

    /// Leaves out as many of the candidates as possible, first in large portions, the last ones first.
    fn remove(&mut self, mut candidates: Vec<OpId>, dependents: &FxHashMap<LabelId, Vec<OpId>>) {
        let mut portion = candidates.len();
        while portion > 0 && !self.spent {
            let mut end = candidates.len();
            while end > 0 && !self.spent {
                let start = end.saturating_sub(portion);
                let kept = self.without(&candidates[start..end], dependents);
                if self.still_violated(&kept) {
                    self.kept = kept;
                    candidates.drain(start..end);
                }
                end = start;
            }
            candidates.retain(|op| self.kept[op.0 as usize]);
            portion /= 2;
        }
    }

    fn without(&self, portion: &[OpId], dependents: &FxHashMap<LabelId, Vec<OpId>>) -> Vec<bool> {
        let mut kept = self.kept.clone();
        let mut going = portion.to_vec();
        while let Some(op) = going.pop() {
            if std::mem::replace(&mut kept[op.0 as usize], false)
                && let Operation::Insert(_, element) = self.history.operation(op)
            {
                going.extend(dependents.get(&element).into_iter().flatten());
            }
        }
        kept
    }

    fn still_violated(&mut self, kept: &[bool]) -> bool {
        let (part, _) = part(self.history, |op| kept[op.0 as usize]);
        match search(&Problem::new(&part), self.budget, &mut Effort::default()) {
            Outcome::Refuted { learnt } => {
                self.learnt = learnt;
                true
            }
            Outcome::Explained { .. } => false,
            Outcome::Undecided => {
                self.spent = true;
                false
            }
        }
    }
}

/// What the queries that are kept say of objects and values.
#[derive(Default)]
struct Asked {
    /// For sets and flags: whether some answer was false, and whether some was true. For counters: both.
    answers: FxHashMap<LabelId, [bool; 2]>,
    returned: FxHashSet<(LabelId, LabelId)>,
    /// The last query of each object, if all are on one replica.
    last: FxHashMap<LabelId, Option<OpId>>,
    /// Arrays: how many lists there are, and how many have each element.
    lists: u32,
    listed: FxHashMap<LabelId, u32>,
}

impl Asked {
    fn new(history: &History, kept: &[bool]) -> Self {
        let mut asked = Asked::default();
        for op in history.operations().filter(|op| kept[op.0 as usize]) {
            let operation = history.operation(op);
            if let Some(x) = operation.object().filter(|_| operation.is_query()) {
                let last = asked.last.entry(x).or_insert(Some(op));
                *last = last.filter(|&last| history.replica_of(last) == history.replica_of(op)).map(|_| op);
            }
            match operation {
                Operation::Contains(x, answer) => asked.answers.entry(x).or_default()[usize::from(answer)] = true,
                Operation::Count(x, _) => *asked.answers.entry(x).or_default() = [true, true],
                Operation::Read(x, values) => asked.returned.extend(values.iter().map(|&value| (x, value))),
                Operation::List(elements) => {
                    asked.lists += 1;
                    // A list that has an element twice has it once.
                    let mut elements = elements.to_vec();
                    elements.sort_unstable();
                    elements.dedup();
                    for element in elements {
                        *asked.listed.entry(element).or_default() += 1;
                    }
                }
                _ => {}
            }
        }
        asked
    }

    /// Whether an update can only have stood in the way of the answers, or comes after all of them on their replica.
    fn may_miss(&self, history: &History, op: OpId) -> bool {
        let update = history.operation(op);
        if let Some(&Some(last)) = update.object().and_then(|x| self.last.get(&x))
            && last < op
            && history.replica_of(last) == history.replica_of(op)
        {
            return true;
        }
        let answered =
            |x: LabelId, answer: bool| self.answers.get(&x).is_some_and(|answers| answers[usize::from(answer)]);
        match update {
            // An addition explains that something is there, and covers a removal where removals win.
            Operation::Add(x) | Operation::Increment(x) | Operation::Decrement(x) => !answered(x, true),
            Operation::Remove(x) => !answered(x, false),
            Operation::Write(x, value) => !self.returned.contains(&(x, value)),
            Operation::Delete(element) => self.listed.get(&element).copied().unwrap_or(0) == self.lists,
            // An element goes with all that is said of it.
            _ => true,
        }
    }
}
