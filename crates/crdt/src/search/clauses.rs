//! What was learnt: clauses of bounds, of which at least one literal holds.

use rustc_hash::FxHashMap;

use super::bounds::{Bounds, Conflict, Literal};

/// A lesson may follow many decisions before the conflict. Most of those have nothing to do with it, and would be made again;
/// beyond this many, only the last one is taken back.
const FAR: usize = 200;

/// What a conflict teaches.
pub(super) struct Lesson {
    /// The literal to assert comes first, one of the highest level below it second.
    pub(super) clause: Vec<Literal>,
    /// The level to go back to; the first literal follows there.
    pub(super) level: usize,
}

#[derive(Default)]
pub(super) struct Clauses {
    clauses: Vec<Vec<Literal>>,
    /// The clauses that watch each bound: those that wait for lower bounds to rise, then those for upper bounds to fall.
    watchers: [FxHashMap<u32, Vec<u32>>; 2],
    /// For each entry of the trail that the conflict at hand follows from, the bound that it needs.
    needed: Vec<Option<u32>>,
}

impl Clauses {
    pub(super) fn take(&mut self) -> Vec<Vec<Literal>> {
        std::mem::take(&mut self.clauses)
    }

    /// Traces a conflict back to the first point from which it follows; `None` if it follows from no decision.
    pub(super) fn analyze(&mut self, bounds: &Bounds<'_>, conflict: &[Literal]) -> Option<Lesson> {
        self.needed.clear();
        self.needed.resize(bounds.trail().len(), None);
        let latest = conflict.iter().filter_map(|&literal| bounds.entry_of(literal)).max()?;
        let level = bounds.level_of(latest);
        if level == 0 {
            return None;
        }
        let mut open = 0;
        for &literal in conflict {
            open += self.need(bounds, literal, level);
        }
        let mut at = latest;
        loop {
            if let Some(bound) = self.needed[at] {
                if open == 1 {
                    let literal = Literal { bound, ..bounds.trail()[at].literal };
                    self.needed[at] = None;
                    return Some(self.lesson(bounds, literal, at));
                }
                self.needed[at] = None;
                open -= 1;
                for &literal in bounds.reason(at) {
                    open += self.need(bounds, literal, level);
                }
            }
            at -= 1;
        }
    }

    /// Notes that the conflict follows from a literal; 1 if that is new at the given level.
    fn need(&mut self, bounds: &Bounds<'_>, literal: Literal, level: usize) -> u32 {
        let Some(entry) = bounds.entry_of(literal) else { return 0 };
        if bounds.level_of(entry) == 0 {
            return 0;
        }
        match &mut self.needed[entry] {
            Some(bound) => {
                *bound = if literal.upper { literal.bound.min(*bound) } else { literal.bound.max(*bound) };
                0
            }
            none => {
                *none = Some(literal.bound);
                u32::from(bounds.level_of(entry) == level)
            }
        }
    }

    fn lesson(&self, bounds: &Bounds<'_>, first: Literal, at: usize) -> Lesson {
        let mut clause = vec![first.negated()];
        let mut highest = 0;
        let below = bounds.level_of(at) - 1;
        for entry in (0..at).rev() {
            let Some(bound) = self.needed[entry] else { continue };
            let literal = Literal { bound, ..bounds.trail()[entry].literal }.negated();
            // Of two bounds of one number on the same side, the one needed later says it all.
            if clause.iter().any(|other| other.variable == literal.variable && other.upper == literal.upper) {
                continue;
            }
            if clause.len() == 1 {
                highest = bounds.level_of(entry);
            }
            clause.push(literal);
        }
        Lesson { clause, level: if below - highest > FAR { below } else { highest } }
    }

    /// Adds a clause whose first literal is not false and whose others are, and asserts the first.
    pub(super) fn add(&mut self, bounds: &mut Bounds<'_>, clause: Vec<Literal>) -> Result<(), Conflict> {
        let number = self.clauses.len() as u32;
        if let [first, second, ..] = clause[..] {
            self.watch(first, number);
            self.watch(second, number);
        }
        let reason: Vec<Literal> = clause[1..].iter().map(|literal| literal.negated()).collect();
        let first = clause[0];
        self.clauses.push(clause);
        bounds.assert(first, &reason)
    }

    /// A literal fails when the other bound of its variable moves past it.
    fn watch(&mut self, literal: Literal, clause: u32) {
        self.watchers[usize::from(!literal.upper)].entry(literal.variable).or_default().push(clause);
    }

    /// A bound changed: clauses that watched for that look for another literal to watch, or assert their last.
    pub(super) fn visit(&mut self, bounds: &mut Bounds<'_>, change: Literal) -> Result<(), Conflict> {
        let side = usize::from(change.upper);
        let Some(mut watching) = self.watchers[side].remove(&change.variable) else { return Ok(()) };
        let mut result = Ok(());
        let mut at = 0;
        while at < watching.len() && result.is_ok() {
            match self.fail(bounds, change, watching[at]) {
                Failed::Watched => at += 1,
                Failed::Moved => {
                    watching.swap_remove(at);
                }
                Failed::Last(first, reason) => {
                    result = bounds.assert(first, &reason);
                    at += 1;
                }
            }
        }
        self.watchers[side].insert(change.variable, watching);
        result
    }

    /// What a clause does when a bound changed that it watches.
    fn fail(&mut self, bounds: &Bounds<'_>, change: Literal, number: u32) -> Failed {
        let clause = &mut self.clauses[number as usize];
        // The one that watches this bound comes second; there is only one such literal in a clause.
        if clause[0].variable == change.variable && clause[0].upper != change.upper {
            clause.swap(0, 1);
        }
        if !bounds.fails(clause[1]) || bounds.holds(clause[0]) {
            return Failed::Watched;
        }
        if let Some(other) = (2..clause.len()).find(|&other| !bounds.fails(clause[other])) {
            clause.swap(1, other);
            let literal = clause[1];
            self.watch(literal, number);
            return Failed::Moved;
        }
        Failed::Last(clause[0], clause[1..].iter().map(|literal| literal.negated()).collect())
    }
}

enum Failed {
    /// It goes on watching.
    Watched,
    /// It watches another bound.
    Moved,
    /// All literals but the first fail, for these reasons.
    Last(Literal, Vec<Literal>),
}
