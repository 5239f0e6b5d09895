//! The propositional half: assignments, unit propagation, and learning from conflicts.
//!
//! Conflict-driven clause learning as in MiniSat (Eén and Sörensson, SAT 2003): two watched literals for each clause, the first
//! unique implication point, recursive minimization. Clauses that glue many decision levels together are forgotten first
//! (Audemard and Simon, IJCAI 2009).
//!
//! Invariant: a clause that is the reason of a literal has it in first place, and the literals after it are false.

use crate::literal::Code;

/// A place in the arena of clauses.
pub(crate) type ClauseRef = u32;
/// A decision, or a literal fixed for good.
pub(crate) const NO_REASON: ClauseRef = u32::MAX;

const UNDECIDED: u8 = 0;
const TRUE: u8 = 1;
const FALSE: u8 = 2;

/// A clause to look at when a literal becomes false. If `blocker` is true there is no need to.
#[derive(Clone, Copy, Debug)]
struct Watch {
    clause: ClauseRef,
    blocker: Code,
}

/// Words before the literals of a clause in the arena: its length, and its glue plus one if it was learnt.
const HEADER: usize = 2;

#[derive(Clone, Debug, Default)]
pub(crate) struct Search {
    /// By literal.
    values: Vec<u8>,
    watches: Vec<Vec<Watch>>,
    /// By choice.
    levels: Vec<u32>,
    reasons: Vec<ClauseRef>,
    seen: Vec<bool>,

    trail: Vec<Code>,
    /// Where in the trail each decision level begins.
    limits: Vec<usize>,
    /// How much of the trail has been propagated through clauses.
    head: usize,

    arena: Vec<u32>,
    learnt: Vec<ClauseRef>,
    /// Learnt clauses beyond which half are forgotten.
    pub(crate) capacity: usize,

    /// A clause that is false: the conflict to analyze.
    pub(crate) conflict: Vec<Code>,
    /// What analysis made of it. The first literal becomes true after going back.
    pub(crate) clause: Vec<Code>,
    stack: Vec<Code>,
    touched: Vec<Code>,
    level_marks: Vec<u32>,
    level_stamp: u32,
    pub(crate) propagations: u64,
    /// Clauses looked at.
    pub(crate) watched: u64,
}

impl Search {
    pub(crate) fn new() -> Self {
        Search { capacity: 4000, ..Search::default() }
    }

    pub(crate) fn grow(&mut self) {
        self.values.extend([UNDECIDED; 2]);
        self.watches.extend([Vec::new(), Vec::new()]);
        self.levels.push(0);
        self.reasons.push(NO_REASON);
        self.seen.push(false);
    }

    #[inline]
    pub(crate) fn is_true(&self, code: Code) -> bool {
        self.values[code as usize] == TRUE
    }

    #[inline]
    pub(crate) fn is_false(&self, code: Code) -> bool {
        self.values[code as usize] == FALSE
    }

    #[inline]
    pub(crate) fn is_decided(&self, choice: u32) -> bool {
        self.values[choice as usize * 2] != UNDECIDED
    }

    /// The decision level.
    #[inline]
    pub(crate) fn level(&self) -> usize {
        self.limits.len()
    }

    pub(crate) fn trail(&self) -> &[Code] {
        &self.trail
    }

    pub(crate) fn level_of(&self, code: Code) -> u32 {
        self.levels[(code >> 1) as usize]
    }

    pub(crate) fn open_level(&mut self) {
        self.limits.push(self.trail.len());
    }

    #[inline]
    pub(crate) fn assign(&mut self, code: Code, reason: ClauseRef) {
        debug_assert!(!self.is_decided(code >> 1), "a choice is decided once");
        self.values[code as usize] = TRUE;
        self.values[(code ^ 1) as usize] = FALSE;
        self.levels[(code >> 1) as usize] = self.limits.len() as u32;
        self.reasons[(code >> 1) as usize] = reason;
        self.trail.push(code);
    }

    /// Goes back to a level; calls `undone` with each literal that is no longer assigned.
    pub(crate) fn back_to(&mut self, level: usize, mut undone: impl FnMut(Code)) {
        if level >= self.limits.len() {
            return;
        }
        let start = self.limits[level];
        for &code in self.trail[start..].iter().rev() {
            self.values[code as usize] = UNDECIDED;
            self.values[(code ^ 1) as usize] = UNDECIDED;
            undone(code);
        }
        self.trail.truncate(start);
        self.limits.truncate(level);
        self.head = start;
    }

    /// Stores a clause of two literals or more, and watches the first two.
    pub(crate) fn attach(&mut self, literals: &[Code], learnt: bool) -> ClauseRef {
        debug_assert!(literals.len() >= 2, "shorter clauses are not watched");
        let clause = u32::try_from(self.arena.len()).expect("at most 2³² words of clauses");
        let glue = if learnt { self.glue(literals) + 1 } else { 0 };
        self.arena.extend([literals.len() as u32, glue]);
        self.arena.extend(literals);
        self.watch(clause);
        if learnt {
            self.learnt.push(clause);
        }
        clause
    }

    fn watch(&mut self, clause: ClauseRef) {
        let at = clause as usize + HEADER;
        let (first, second) = (self.arena[at], self.arena[at + 1]);
        self.watches[first as usize].push(Watch { clause, blocker: second });
        self.watches[second as usize].push(Watch { clause, blocker: first });
    }

    fn literals(&self, clause: ClauseRef) -> &[Code] {
        let at = clause as usize;
        &self.arena[at + HEADER..at + HEADER + self.arena[at] as usize]
    }

    /// How many decision levels a clause joins.
    fn glue(&mut self, literals: &[Code]) -> u32 {
        self.level_stamp += 1;
        let mut glue = 0;
        for &code in literals {
            let level = self.level_of(code) as usize;
            if self.level_marks.len() <= level {
                self.level_marks.resize(level + 1, 0);
            }
            if self.level_marks[level] != self.level_stamp {
                self.level_marks[level] = self.level_stamp;
                glue += 1;
            }
        }
        glue
    }

    /// Draws all conclusions of what is assigned; false if a clause became false, which is then the conflict.
    pub(crate) fn propagate(&mut self) -> bool {
        while let Some(&code) = self.trail.get(self.head) {
            self.head += 1;
            self.propagations += 1;
            let lost = code ^ 1;
            let mut watches = std::mem::take(&mut self.watches[lost as usize]);
            let (mut kept, mut at) = (0, 0);
            let mut conflict = None;
            'watches: while at < watches.len() {
                let watch = watches[at];
                at += 1;
                if self.is_true(watch.blocker) {
                    watches[kept] = watch;
                    kept += 1;
                    continue;
                }
                let start = watch.clause as usize + HEADER;
                let end = start + self.arena[watch.clause as usize] as usize;
                if self.arena[start] == lost {
                    self.arena.swap(start, start + 1);
                }
                let first = self.arena[start];
                let stays = Watch { clause: watch.clause, blocker: first };
                if self.is_true(first) {
                    watches[kept] = stays;
                    kept += 1;
                    continue;
                }
                for place in start + 2..end {
                    let other = self.arena[place];
                    if !self.is_false(other) {
                        self.arena.swap(start + 1, place);
                        self.watches[other as usize].push(stays);
                        continue 'watches;
                    }
                }
                watches[kept] = stays;
                kept += 1;
                if self.is_false(first) {
                    conflict = Some(watch.clause);
                    break;
                }
                self.assign(first, watch.clause);
            }
            self.watched += at as u64;
            watches.copy_within(at.., kept);
            watches.truncate(kept + watches.len() - at);
            self.watches[lost as usize] = watches;
            if let Some(clause) = conflict {
                self.head = self.trail.len();
                let mut buffer = std::mem::take(&mut self.conflict);
                buffer.clear();
                buffer.extend_from_slice(self.literals(clause));
                self.conflict = buffer;
                return false;
            }
        }
        true
    }

    /// Makes a clause of the conflict that has one literal of the present level, in first place, and says to which level to
    /// go back. Calls `met` with each choice on the way.
    pub(crate) fn analyze(&mut self, mut met: impl FnMut(u32)) -> usize {
        let level = self.level() as u32;
        debug_assert!(self.conflict.iter().any(|&code| self.level_of(code) == level), "conflicts are found at once");
        let mut clause = std::mem::take(&mut self.clause);
        clause.clear();
        clause.push(0);
        let mut open = 0;
        let mut at = self.trail.len();
        let mut reasons = std::mem::take(&mut self.conflict);
        let point = loop {
            for &code in &reasons {
                let choice = (code >> 1) as usize;
                if self.seen[choice] || self.levels[choice] == 0 {
                    continue;
                }
                self.seen[choice] = true;
                met(code >> 1);
                if self.levels[choice] == level {
                    open += 1;
                } else {
                    clause.push(code);
                }
            }
            while !self.seen[(self.trail[at - 1] >> 1) as usize] {
                at -= 1;
            }
            at -= 1;
            let code = self.trail[at];
            self.seen[(code >> 1) as usize] = false;
            open -= 1;
            if open == 0 {
                break code;
            }
            reasons.clear();
            reasons.extend_from_slice(&self.literals(self.reasons[(code >> 1) as usize])[1..]);
        };
        clause[0] = point ^ 1;
        self.conflict = reasons;

        self.touched.clear();
        self.touched.extend_from_slice(&clause[1..]);
        let mut kept = 1;
        for at in 1..clause.len() {
            if !self.redundant(clause[at]) {
                clause[kept] = clause[at];
                kept += 1;
            }
        }
        clause.truncate(kept);
        for code in self.touched.drain(..) {
            self.seen[(code >> 1) as usize] = false;
        }

        // The second place goes to a literal of the highest level left, which is where to go back to.
        let mut back = 0;
        for at in 1..clause.len() {
            if self.level_of(clause[at]) > back {
                back = self.level_of(clause[at]);
                clause.swap(1, at);
            }
        }
        self.clause = clause;
        back as usize
    }

    /// Whether a literal of the learnt clause follows from the others. What was found out is remembered in `seen`.
    fn redundant(&mut self, code: Code) -> bool {
        if self.reasons[(code >> 1) as usize] == NO_REASON {
            return false;
        }
        let before = self.touched.len();
        self.stack.clear();
        self.stack.push(code);
        while let Some(code) = self.stack.pop() {
            let start = self.reasons[(code >> 1) as usize] as usize;
            for at in start + HEADER + 1..start + HEADER + self.arena[start] as usize {
                let other = self.arena[at];
                let choice = (other >> 1) as usize;
                if self.seen[choice] || self.levels[choice] == 0 {
                    continue;
                }
                if self.reasons[choice] == NO_REASON {
                    for code in self.touched.drain(before..) {
                        self.seen[(code >> 1) as usize] = false;
                    }
                    return false;
                }
                self.seen[choice] = true;
                self.touched.push(other);
                self.stack.push(other);
            }
        }
        true
    }

    /// Which of the decisions so far make a literal false, that literal's own negation included if it was one of them.
    pub(crate) fn decisions_against(&mut self, code: Code) -> Vec<Code> {
        let mut decisions = Vec::new();
        if self.level() == 0 || self.level_of(code) == 0 {
            return decisions;
        }
        self.seen[(code >> 1) as usize] = true;
        for at in (self.limits[0]..self.trail.len()).rev() {
            let code = self.trail[at];
            let choice = (code >> 1) as usize;
            if !std::mem::take(&mut self.seen[choice]) {
                continue;
            }
            let reason = self.reasons[choice];
            if reason == NO_REASON {
                decisions.push(code);
                continue;
            }
            let start = reason as usize;
            for at in start + HEADER + 1..start + HEADER + self.arena[start] as usize {
                let other = (self.arena[at] >> 1) as usize;
                if self.levels[other] > 0 {
                    self.seen[other] = true;
                }
            }
        }
        decisions
    }

    /// Whether there are so many learnt clauses that some should be forgotten.
    pub(crate) fn is_full(&self) -> bool {
        self.learnt.len() > self.capacity
    }

    /// Forgets half of the learnt clauses, and those that are satisfied for good. Only at level 0.
    pub(crate) fn forget(&mut self) {
        assert_eq!(self.level(), 0, "no clause is a reason that will be asked for");
        for &code in &self.trail {
            self.reasons[(code >> 1) as usize] = NO_REASON;
        }
        // Worst first: much glue, then old. Clauses with glue up to 2 stay.
        let mut worst: Vec<ClauseRef> = std::mem::take(&mut self.learnt);
        worst.retain(|&clause| self.arena[clause as usize + 1] > 3);
        worst.sort_by_key(|&clause| std::cmp::Reverse(self.arena[clause as usize + 1]));
        worst.truncate(worst.len() / 2);
        for &clause in &worst {
            self.arena[clause as usize + 1] = u32::MAX;
        }
        for watches in &mut self.watches {
            watches.clear();
        }
        let (mut read, mut write) = (0, 0);
        while read < self.arena.len() {
            let words = HEADER + self.arena[read] as usize;
            let glue = self.arena[read + 1];
            let satisfied = self.arena[read + HEADER..read + words].iter().any(|&code| self.is_true(code));
            if glue != u32::MAX && !satisfied {
                self.arena.copy_within(read..read + words, write);
                if glue > 0 {
                    self.learnt.push(write as u32);
                }
                self.watch(write as u32);
                write += words;
            }
            read += words;
        }
        self.arena.truncate(write);
        self.capacity += self.capacity / 10;
    }
}
