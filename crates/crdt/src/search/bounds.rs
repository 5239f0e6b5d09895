//! What is known about a visibility: for each operation and replica, at least and at most how much was seen.
//!
//! Two facts tie the numbers together: along a replica they grow, and who saw an operation saw what that saw. Every change is
//! carried through both until nothing changes. Each keeps its reason, so that a conflict can be traced back to decisions.
//!
//! Invariant: along a replica, lower and upper bounds grow. So the first operation that surely saw something, or the last that
//! surely did not, is found by bisection.

use crate::problem::Problem;

/// A bound of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Literal {
    pub(crate) variable: u32,
    /// At most `bound`, or at least.
    pub(crate) upper: bool,
    pub(crate) bound: u32,
}

impl Literal {
    pub(crate) fn at_least(variable: u32, bound: u32) -> Self {
        Literal { variable, upper: false, bound }
    }

    pub(crate) fn at_most(variable: u32, bound: u32) -> Self {
        Literal { variable, upper: true, bound }
    }

    /// What holds if this does not. Nothing is at least 0 only by chance, so that there is always something below.
    pub(crate) fn negated(self) -> Self {
        match self.upper {
            true => Literal::at_least(self.variable, self.bound + 1),
            false => Literal::at_most(self.variable, self.bound - 1),
        }
    }
}

/// Literals that hold and cannot hold together.
pub(crate) type Conflict = Vec<Literal>;

#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) literal: Literal,
    old: u32,
    /// The entry that changed the same bound before, plus one.
    earlier: u32,
    reason: (u32, u32),
    /// What the caller noted about it; 0 for what was carried on.
    pub(super) note: u32,
}

#[derive(Debug)]
pub(crate) struct Bounds<'p> {
    problem: &'p Problem<'p>,
    replicas: u32,
    lower: Vec<u32>,
    upper: Vec<u32>,
    /// The last entry that changed each bound, plus one: lower bounds, then upper bounds.
    last: [Vec<u32>; 2],
    trail: Vec<Entry>,
    reasons: Vec<Literal>,
    /// Up to where changes were carried on.
    carried: usize,
    /// Where the decisions stand in the trail.
    levels: Vec<u32>,
    /// What to note about the next change.
    note: u32,
}

impl<'p> Bounds<'p> {
    /// Bounds that are closed under all rules, as `root` makes them.
    pub(super) fn new(problem: &'p Problem<'p>, lower: Vec<u32>, upper: Vec<u32>) -> Self {
        let variables = lower.len();
        Bounds {
            problem,
            replicas: problem.replicas,
            lower,
            upper,
            last: [vec![0; variables], vec![0; variables]],
            trail: Vec::new(),
            reasons: Vec::new(),
            carried: 0,
            levels: Vec::new(),
            note: 0,
        }
    }

    pub(crate) fn variable(&self, op: u32, replica: u32) -> u32 {
        op * self.replicas + replica
    }

    /// At least so many operations of the replica were seen.
    pub(crate) fn least(&self, op: u32, replica: u32) -> u32 {
        self.lower[(op * self.replicas + replica) as usize]
    }

    /// At most so many.
    pub(crate) fn most(&self, op: u32, replica: u32) -> u32 {
        self.upper[(op * self.replicas + replica) as usize]
    }

    /// Both bounds of a choice.
    pub(crate) fn choice(&self, variable: u32) -> (u32, u32) {
        (self.lower[variable as usize], self.upper[variable as usize])
    }

    /// Whether the first surely saw the second.
    pub(crate) fn saw(&self, op: u32, other: u32) -> bool {
        self.least(op, self.problem.replica(other)) > self.problem.position(other)
    }

    pub(crate) fn least_all(&self) -> &[u32] {
        &self.lower[..self.problem.len() * self.replicas as usize]
    }

    pub(crate) fn holds(&self, literal: Literal) -> bool {
        match literal.upper {
            true => self.upper[literal.variable as usize] <= literal.bound,
            false => self.lower[literal.variable as usize] >= literal.bound,
        }
    }

    pub(super) fn fails(&self, literal: Literal) -> bool {
        match literal.upper {
            true => self.lower[literal.variable as usize] > literal.bound,
            false => self.upper[literal.variable as usize] < literal.bound,
        }
    }

    pub(super) fn level(&self) -> usize {
        self.levels.len()
    }

    pub(super) fn trail(&self) -> &[Entry] {
        &self.trail
    }

    pub(super) fn reason(&self, entry: usize) -> &[Literal] {
        let (from, to) = self.trail[entry].reason;
        &self.reasons[from as usize..to as usize]
    }

    /// The entry that made a literal true; `None` if it always was.
    pub(super) fn entry_of(&self, literal: Literal) -> Option<usize> {
        debug_assert!(self.holds(literal), "{literal:?} does not hold");
        let mut entry = self.last[usize::from(literal.upper)][literal.variable as usize];
        while entry > 0 {
            let Entry { old, earlier, .. } = self.trail[entry as usize - 1];
            let held_before = if literal.upper { old <= literal.bound } else { old >= literal.bound };
            if !held_before {
                return Some(entry as usize - 1);
            }
            entry = earlier;
        }
        None
    }

    /// The level of an entry: how many decisions came before it, itself included.
    pub(super) fn level_of(&self, entry: usize) -> usize {
        self.levels.partition_point(|&start| start as usize <= entry)
    }

    /// Makes a decision.
    pub(super) fn decide(&mut self, literal: Literal) -> Result<(), Conflict> {
        self.levels.push(self.trail.len() as u32);
        self.assert(literal, &[])
    }

    /// Takes back all decisions after the first `level`, and tells each change that is taken back.
    pub(super) fn backtrack(&mut self, level: usize, mut undone: impl FnMut(Literal)) {
        let Some(&length) = self.levels.get(level) else { return };
        while self.trail.len() > length as usize {
            let entry = self.trail.pop().expect("it is longer");
            let Literal { variable, upper, .. } = entry.literal;
            let bounds = if upper { &mut self.upper } else { &mut self.lower };
            bounds[variable as usize] = entry.old;
            self.last[usize::from(upper)][variable as usize] = entry.earlier;
            self.reasons.truncate(entry.reason.0 as usize);
            undone(entry.literal);
        }
        self.levels.truncate(level);
        self.carried = self.trail.len();
    }

    /// Forgets how what holds without decisions came about.
    pub(super) fn settle(&mut self) {
        debug_assert!(self.levels.is_empty() && self.carried == self.trail.len());
        for entry in self.trail.drain(..) {
            self.last[usize::from(entry.literal.upper)][entry.literal.variable as usize] = 0;
        }
        self.reasons.clear();
        self.carried = 0;
    }

    /// Makes a literal true, for reasons that hold.
    pub(super) fn assert(&mut self, literal: Literal, reason: &[Literal]) -> Result<(), Conflict> {
        let is_choice = literal.variable as usize >= self.problem.len() * self.replicas as usize;
        match (literal.upper, is_choice) {
            (false, false) => self.raise(literal, reason),
            (true, false) => self.reduce(literal, reason),
            (_, true) => self.set(literal, reason).map(|_| ()),
        }
    }

    /// The same, with a note for explanations.
    pub(super) fn assert_noted(&mut self, literal: Literal, reason: &[Literal], note: u32) -> Result<(), Conflict> {
        self.note = note;
        let result = self.assert(literal, reason);
        self.note = 0;
        result
    }

    /// Changes one bound; false if it was so already.
    fn set(&mut self, literal: Literal, reason: &[Literal]) -> Result<bool, Conflict> {
        if self.holds(literal) {
            return Ok(false);
        }
        if self.fails(literal) {
            let mut conflict = reason.to_vec();
            conflict.push(literal.negated());
            return Err(conflict);
        }
        let Literal { variable, upper, bound } = literal;
        let from = self.reasons.len() as u32;
        self.reasons.extend_from_slice(reason);
        let bounds = if upper { &mut self.upper } else { &mut self.lower };
        let old = std::mem::replace(&mut bounds[variable as usize], bound);
        let last = &mut self.last[usize::from(upper)][variable as usize];
        let reason = (from, self.reasons.len() as u32);
        self.trail.push(Entry { literal, old, earlier: *last, reason, note: std::mem::take(&mut self.note) });
        *last = self.trail.len() as u32;
        Ok(true)
    }

    /// What an operation saw, those after it on its replica saw.
    fn raise(&mut self, literal: Literal, reason: &[Literal]) -> Result<(), Conflict> {
        let end = self.end_of(literal.variable / self.replicas);
        let mut next = literal;
        if !self.set(next, reason)? {
            return Ok(());
        }
        loop {
            let before = next;
            next.variable += self.replicas;
            if next.variable >= end || !self.set(next, &[before])? {
                return Ok(());
            }
        }
    }

    /// What an operation did not see, those before it on its replica did not see.
    fn reduce(&mut self, literal: Literal, reason: &[Literal]) -> Result<(), Conflict> {
        let start = self.start_of(literal.variable / self.replicas);
        let mut next = literal;
        if !self.set(next, reason)? {
            return Ok(());
        }
        loop {
            let after = next;
            if next.variable < start + self.replicas {
                return Ok(());
            }
            next.variable -= self.replicas;
            if !self.set(next, &[after])? {
                return Ok(());
            }
        }
    }

    /// The variables of the operation's replica begin here, and end there.
    fn start_of(&self, op: u32) -> u32 {
        self.problem.first[self.problem.replica(op) as usize] * self.replicas
    }

    fn end_of(&self, op: u32) -> u32 {
        self.problem.first[self.problem.replica(op) as usize + 1] * self.replicas
    }

    /// Carries changes on, and tells each. After many it stops, for the caller to look at the clock; when all were carried on, the
    /// next call tells none.
    pub(super) fn propagate(&mut self, mut changed: impl FnMut(Literal)) -> Result<(), Conflict> {
        const MANY: usize = 1024;
        let limit = self.carried + MANY;
        while let Some(&Entry { literal, .. }) = self.trail.get(self.carried).filter(|_| self.carried < limit) {
            self.carried += 1;
            changed(literal);
            let (op, replica) = (literal.variable / self.replicas, literal.variable % self.replicas);
            if op as usize >= self.problem.len() {
                continue;
            }
            match literal.upper {
                false => self.seen_more(literal, op, replica)?,
                true => self.seen_less(literal, op, replica)?,
            }
        }
        Ok(())
    }

    /// An operation saw more of a replica.
    fn seen_more(&mut self, change: Literal, op: u32, replica: u32) -> Result<(), Conflict> {
        // It saw what the last operation that it saw there saw, and that did not see what this did not.
        let witness = self.problem.first[replica as usize] + change.bound - 1;
        for other in 0..self.replicas {
            let known = self.least(witness, other);
            if known > self.least(op, other) {
                let reason = [change, Literal::at_least(self.variable(witness, other), known)];
                self.raise(Literal::at_least(self.variable(op, other), known), &reason)?;
            }
            let limit = self.most(op, other);
            if limit < self.most(witness, other) {
                let reason = [change, Literal::at_most(self.variable(op, other), limit)];
                self.reduce(Literal::at_most(self.variable(witness, other), limit), &reason)?;
            }
        }
        let (home, position) = (self.problem.replica(op), self.problem.position(op));
        for other in 0..self.replicas {
            // Who saw this operation saw that too.
            if let Some(reader) = self.first_that_saw(other, home, position + 1)
                && self.least(reader, replica) < change.bound
            {
                let reason = [Literal::at_least(self.variable(reader, home), position + 1), change];
                self.raise(Literal::at_least(self.variable(reader, replica), change.bound), &reason)?;
            }
            // Who cannot have seen that did not see this operation.
            if other != home
                && let Some(blind) = self.last_that_missed(other, replica, change.bound)
                && self.most(blind, home) > position
            {
                let reason = [Literal::at_most(self.variable(blind, replica), change.bound - 1), change];
                self.reduce(Literal::at_most(self.variable(blind, home), position), &reason)?;
            }
        }
        Ok(())
    }

    /// An operation saw less of a replica than was possible so far.
    fn seen_less(&mut self, change: Literal, op: u32, replica: u32) -> Result<(), Conflict> {
        let home = self.problem.replica(op);
        for other in 0..self.replicas {
            if other == home {
                continue;
            }
            // What it saw did not see more.
            let seen = self.least(op, other);
            if seen > 0 {
                let witness = self.problem.first[other as usize] + seen - 1;
                if self.most(witness, replica) > change.bound {
                    let reason = [Literal::at_least(self.variable(op, other), seen), change];
                    self.reduce(Literal::at_most(self.variable(witness, replica), change.bound), &reason)?;
                }
            }
            // And it did not see what saw more.
            if let Some(witness) = self.first_that_saw(other, replica, change.bound + 1)
                && self.most(op, other) > self.problem.position(witness)
            {
                let reason = [change, Literal::at_least(self.variable(witness, replica), change.bound + 1)];
                let position = self.problem.position(witness);
                self.reduce(Literal::at_most(self.variable(op, other), position), &reason)?;
            }
        }
        Ok(())
    }

    /// The first operation on a replica that surely saw so much of another.
    fn first_that_saw(&self, on: u32, replica: u32, count: u32) -> Option<u32> {
        let (from, to) = (self.problem.first[on as usize], self.problem.first[on as usize + 1]);
        let at = partition(from, to, |op| self.least(op, replica) < count);
        (at < to).then_some(at)
    }

    /// The last operation on a replica that surely did not see so much of another.
    fn last_that_missed(&self, on: u32, replica: u32, count: u32) -> Option<u32> {
        let (from, to) = (self.problem.first[on as usize], self.problem.first[on as usize + 1]);
        let at = partition(from, to, |op| self.most(op, replica) < count);
        (at > from).then(|| at - 1)
    }

    /// Carries on, until told to stop, what upper bounds follow from the lower bounds of a history that was just closed: see `root`.
    pub(super) fn bound_above(&mut self, mut go_on: impl FnMut() -> bool) -> Result<(), Conflict> {
        for op in 0..self.problem.len() as u32 {
            if !go_on() {
                return Ok(());
            }
            for replica in 0..self.replicas {
                let limit = self.most(op, replica);
                self.seen_less(Literal::at_most(self.variable(op, replica), limit), op, replica)?;
            }
        }
        Ok(())
    }
}

fn partition(mut from: u32, mut to: u32, before: impl Fn(u32) -> bool) -> u32 {
    while from < to {
        let middle = from + (to - from) / 2;
        if before(middle) { from = middle + 1 } else { to = middle }
    }
    from
}
