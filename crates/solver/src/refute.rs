//! A proof by cases that no combination of sides will do.
//!
//! Splits on one choice after the other until each case is closed by a lemma or excluded by a clause (Davis, Logemann and
//! Loveland, 1962). A split that a case did not make use of is left out, and with it the cases on its other side, so the tree
//! shows nothing that does not matter.

use crate::budget::Budget;
use crate::literal::{Choice, Code, Lemma, Literal};

/// A node of a proof by cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// Either side of a choice leads to a case of its own, given by its index.
    Split {
        /// The choice.
        choice: Choice,
        /// The case in which it takes the true side.
        if_true: usize,
        /// The case in which it takes the false side.
        if_false: usize,
    },
    /// All literals of a lemma hold here.
    Closed {
        /// Its index.
        lemma: usize,
    },
    /// No literal of a clause holds here.
    Excluded {
        /// Its index.
        clause: usize,
    },
}

/// A proof by cases. Case 0 is the first; each case comes before those it splits into, and each but the first is in one split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The cases.
    pub cases: Vec<Case>,
}

/// Lays out some of the lemmas, given by their indices, and the clauses as a proof by cases. None if the budget ends before, or
/// if there is no such proof because they do not contradict each other.
///
/// Few lemmas make small proofs: pick them with [`minimal_lemmas`](crate::minimal_lemmas).
pub fn refute(lemmas: &[Lemma], picked: &[usize], clauses: &[Vec<Literal>], budget: &mut Budget<'_>) -> Option<Tree> {
    let mut cases = Cases::new(lemmas, picked, clauses);
    let root = cases.build(budget)?;
    Some(cases.tree(root))
}

/// Literals that cannot all hold: those of a lemma, or the opposites of those of a clause.
struct Excluded {
    literals: Vec<Code>,
    leaf: Case,
    /// How many of the literals hold here, and how many do not.
    holding: usize,
    failing: usize,
}

/// A split whose first side is being built, or, once `first` is there, its second.
struct Frame {
    /// The literal that holds in the side being built.
    code: Code,
    /// If set, the other side is closed by this at once.
    closes_other: Option<usize>,
    first: Option<Refuted>,
}

/// A case that is done, and the literals it made use of, sorted.
struct Refuted {
    case: usize,
    used: Vec<Code>,
}

struct Cases {
    excluded: Vec<Excluded>,
    /// Choices in increasing order; literals are numbered by the places here.
    choices: Vec<Choice>,
    /// By literal: where it occurs.
    occurrences: Vec<Vec<u32>>,
    assigned: Vec<bool>,
    /// By choice, scratch: how often it occurs.
    counts: Vec<u32>,
    /// Finished cases, children first.
    done: Vec<Case>,
}

impl Cases {
    fn new(lemmas: &[Lemma], picked: &[usize], clauses: &[Vec<Literal>]) -> Self {
        let from_lemmas = picked.iter().map(|&lemma| (lemmas[lemma].literals.clone(), Case::Closed { lemma }));
        let from_clauses = clauses
            .iter()
            .enumerate()
            .map(|(clause, literals)| (literals.iter().map(|&literal| !literal).collect(), Case::Excluded { clause }));
        let all: Vec<(Vec<Literal>, Case)> = from_lemmas.chain(from_clauses).collect();
        let mut choices: Vec<Choice> = all.iter().flat_map(|(literals, _)| literals).map(|l| l.choice).collect();
        choices.sort_unstable();
        choices.dedup();
        let mut occurrences = vec![Vec::new(); choices.len() * 2];
        let excluded = all.into_iter().enumerate().map(|(index, (literals, leaf))| {
            let place = |literal: &Literal| {
                let at = choices.binary_search(&literal.choice).expect("all choices were collected");
                Choice(at as u32).is(literal.side).code()
            };
            let mut literals: Vec<Code> = literals.iter().map(place).collect();
            literals.sort_unstable();
            literals.dedup();
            for &code in &literals {
                occurrences[code as usize].push(index as u32);
            }
            Excluded { literals, leaf, holding: 0, failing: 0 }
        });
        let excluded = excluded.collect();
        let (assigned, counts) = (vec![false; choices.len()], vec![0; choices.len()]);
        Cases { excluded, choices, occurrences, assigned, counts, done: Vec::new() }
    }

    fn build(&mut self, budget: &mut Budget<'_>) -> Option<usize> {
        let mut frames: Vec<Frame> = Vec::new();
        loop {
            // Every excluded combination is looked at in every case. There are few, and it keeps this simple.
            if !budget.spend(self.excluded.len() as u64 + 1) {
                return None;
            }
            let (code, closes_other) = match self.next()? {
                Next::Close(index) => {
                    self.done.push(self.excluded[index].leaf);
                    let used = self.excluded[index].literals.clone();
                    let refuted = Refuted { case: self.done.len() - 1, used };
                    match self.ascend(&mut frames, refuted) {
                        Some(root) => return Some(root),
                        None => continue,
                    }
                }
                Next::Forced(code, index) => (code, Some(index)),
                Next::Split(code) => (code, None),
            };
            self.assign(code, true);
            frames.push(Frame { code, closes_other, first: None });
        }
    }

    /// Goes up from a finished case to a split whose second side is still to be built, and enters that. If there is none,
    /// returns the first case of all.
    fn ascend(&mut self, frames: &mut Vec<Frame>, mut refuted: Refuted) -> Option<usize> {
        while let Some(mut frame) = frames.pop() {
            self.assign(frame.code, false);
            if refuted.used.binary_search(&frame.code).is_err() {
                // It holds on the other side as well.
                continue;
            }
            let other = match (frame.first.take(), frame.closes_other) {
                (Some(first), _) => first,
                (None, Some(index)) => {
                    self.done.push(self.excluded[index].leaf);
                    Refuted { case: self.done.len() - 1, used: self.excluded[index].literals.clone() }
                }
                (None, None) => {
                    frame.first = Some(refuted);
                    frame.code ^= 1;
                    self.assign(frame.code, true);
                    frames.push(frame);
                    return None;
                }
            };
            let choice = self.choices[(frame.code >> 1) as usize];
            let (if_true, if_false) =
                if frame.code & 1 == 0 { (refuted.case, other.case) } else { (other.case, refuted.case) };
            self.done.push(Case::Split { choice, if_true, if_false });
            let mut used = refuted.used;
            used.extend(other.used);
            used.retain(|code| code >> 1 != frame.code >> 1);
            used.sort_unstable();
            used.dedup();
            refuted = Refuted { case: self.done.len() - 1, used };
        }
        Some(refuted.case)
    }

    /// Makes a literal hold, or takes that back.
    fn assign(&mut self, code: Code, holds: bool) {
        self.assigned[(code >> 1) as usize] = holds;
        let change = |count: &mut usize| if holds { *count += 1 } else { *count -= 1 };
        for &index in &self.occurrences[code as usize] {
            change(&mut self.excluded[index as usize].holding);
        }
        for &index in &self.occurrences[(code ^ 1) as usize] {
            change(&mut self.excluded[index as usize].failing);
        }
    }

    /// What to do with the present case: close it; split so that the other side is closed at once; or split on the choice
    /// that is most frequent where least is missing. None if nothing is excluded any more.
    fn next(&mut self) -> Option<Next> {
        let missing = |excluded: &Excluded| excluded.literals.len() - excluded.holding;
        let open = self.excluded.iter().enumerate().filter(|(_, excluded)| excluded.failing == 0);
        let (index, first) = open.min_by_key(|(_, excluded)| (missing(excluded), excluded.literals.len()))?;
        let least = missing(first);
        let rest = |excluded: &Excluded| {
            let codes: Vec<Code> = excluded.literals.clone();
            codes.into_iter().filter(|&code| !self.assigned[(code >> 1) as usize]).collect::<Vec<_>>()
        };
        match least {
            0 => Some(Next::Close(index)),
            1 => Some(Next::Forced(rest(first)[0] ^ 1, index)),
            _ => {
                self.counts.fill(0);
                let mut best = first.literals[0];
                let mut most = 0;
                for excluded in self.excluded.iter().filter(|e| e.failing == 0 && missing(e) == least) {
                    for code in rest(excluded) {
                        let count = &mut self.counts[(code >> 1) as usize];
                        *count += 1;
                        if *count > most {
                            (best, most) = (code, *count);
                        }
                    }
                }
                Some(Next::Split(best))
            }
        }
    }

    /// The cases below one, each before those it splits into.
    fn tree(&self, root: usize) -> Tree {
        let mut cases = vec![self.done[root]];
        let mut at = 0;
        while at < cases.len() {
            if let Case::Split { choice, if_true, if_false } = cases[at] {
                cases[at] = Case::Split { choice, if_true: cases.len(), if_false: cases.len() + 1 };
                cases.extend([self.done[if_true], self.done[if_false]]);
            }
            at += 1;
        }
        Tree { cases }
    }
}

enum Next {
    Close(usize),
    Forced(Code, usize),
    Split(Code),
}
