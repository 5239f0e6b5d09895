//! The search: choices decided until the order satisfies them all, or no decision is left.

use std::cmp::Ordering;

use crate::acyclic::Acyclic;
use crate::budget::Budget;
use crate::heap::Heap;
use crate::literal::{Choice, Code, KNOWN, Lemma, Literal, Node};
use crate::search::{NO_REASON, Search};

/// How a search came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Outcome {
    /// There are sides for all choices that satisfy the clauses and close no cycle.
    Satisfiable,
    /// There are none. The lemmas and the clauses contradict each other.
    Unsatisfiable,
    /// The budget was spent, or the caller stopped it. The search can be resumed.
    Stopped,
}

/// What a solver has done since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Choices decided without need.
    pub decisions: u64,
    /// Literals assigned, decided or not.
    pub propagations: u64,
    /// Contradictions met, in clauses and in the graph.
    pub conflicts: u64,
    /// Contradictions in the graph: lemmas found.
    pub lemmas: u64,
    /// Times the search began anew with what it had learnt.
    pub restarts: u64,
    /// Edges inserted, known or chosen.
    pub edges_inserted: u64,
    /// Nodes visited to keep the order and to explain cycles.
    pub nodes_visited: u64,
    /// Choices looked at because the order had changed around them.
    pub choices_examined: u64,
}

/// One problem: nodes, known edges, choices between edges, clauses over the choices.
///
/// Edges, choices and clauses may be added at any time, also after an answer; the next search goes on from what was
/// learnt. The same calls give the same answers.
#[derive(Clone, Debug)]
pub struct Solver {
    graph: Acyclic,
    search: Search,
    heap: Heap,
    /// The edges of all literals, one literal after the other.
    edges: Vec<(Node, Node)>,
    /// By literal: where its edges begin. One more at the end.
    starts: Vec<u32>,
    /// By choice: the side to try first; after an answer, the side it has.
    sides: Vec<bool>,
    /// By choice: it is in a clause, so it needs a side whatever the order says.
    constrained: Vec<bool>,
    /// By node: the choices with an edge there.
    choices_at: Vec<Vec<u32>>,
    /// Choices that may have come to need a decision, and whether they are in this list.
    doubtful: Vec<u32>,
    is_doubtful: Vec<bool>,
    /// How much of the trail has its edges in the graph, and how many edges there were at each decision.
    head: usize,
    limits: Vec<usize>,
    lemmas: Vec<Lemma>,
    /// The lemmas and the clauses contradict each other.
    refuted: bool,
    /// Of the assumptions of the last search, those that could not all hold.
    failed: Vec<Code>,
    decisions: u64,
    conflicts: u64,
    restarts: u64,
    /// Conflicts until the next restart.
    until_restart: u64,
    examined: u64,
}

/// Conflicts between restarts, to be multiplied by Luby's sequence.
const RESTART: u64 = 64;

impl Solver {
    /// A problem over so many nodes, first ordered by their numbers.
    pub fn new(nodes: usize) -> Self {
        let nodes = u32::try_from(nodes).expect("at most 2³² nodes");
        Solver::with_order(&(0..nodes).collect::<Vec<_>>())
    }

    /// A problem over the nodes of this order. The nearer it is to one that satisfies everything, the less there is to do.
    ///
    /// # Panics
    ///
    /// If the order is no permutation of the numbers below its length.
    pub fn with_order(order: &[Node]) -> Self {
        Solver {
            graph: Acyclic::new(order),
            search: Search::new(),
            heap: Heap::default(),
            edges: Vec::new(),
            starts: vec![0],
            sides: Vec::new(),
            constrained: Vec::new(),
            choices_at: vec![Vec::new(); order.len()],
            doubtful: Vec::new(),
            is_doubtful: Vec::new(),
            head: 0,
            limits: Vec::new(),
            lemmas: Vec::new(),
            refuted: false,
            failed: Vec::new(),
            decisions: 0,
            conflicts: 0,
            restarts: 0,
            until_restart: RESTART,
            examined: 0,
        }
    }

    /// Adds an edge that holds whatever is chosen.
    ///
    /// # Errors
    ///
    /// If it closes a cycle of known edges: the nodes of that cycle. The edge is then not added.
    pub fn add_edge(&mut self, from: Node, to: Node) -> Result<(), Vec<Node>> {
        if self.refuted {
            // The graph holds no more than it must to show that; nothing is left to decide.
            return Ok(());
        }
        self.back_to(0);
        if self.graph.insert(from, to, KNOWN).is_err() {
            let (literals, cycle) = self.graph.explain(from, to, KNOWN);
            if literals.is_empty() {
                return Err(cycle);
            }
            // Literals that are fixed by now are in the way. The fewest are sought, so known edges alone are not.
            self.record(&literals, cycle);
            self.refuted = true;
        }
        Ok(())
    }

    /// Adds a choice: exactly one side's edges must be present. `phase` is the side to try first where nothing speaks for
    /// either.
    ///
    /// Choices that have to do with each other are best added one after the other.
    pub fn add_choice(&mut self, if_true: &[(Node, Node)], if_false: &[(Node, Node)], phase: bool) -> Choice {
        let choice = u32::try_from(self.sides.len()).expect("at most 2³¹ choices");
        assert!(choice < u32::MAX / 2, "at most 2³¹ choices");
        for side in [if_true, if_false] {
            for &(from, to) in side {
                for node in [from, to] {
                    let choices = &mut self.choices_at[node as usize];
                    if choices.last() != Some(&choice) {
                        choices.push(choice);
                    }
                }
            }
            self.edges.extend_from_slice(side);
            self.starts.push(u32::try_from(self.edges.len()).expect("at most 2³² edges"));
        }
        self.search.grow();
        self.heap.grow();
        self.sides.push(phase);
        self.constrained.push(false);
        self.is_doubtful.push(true);
        self.doubtful.push(choice);
        Choice(choice)
    }

    /// Adds a clause: at least one of the literals must hold.
    pub fn add_clause(&mut self, literals: &[Literal]) {
        self.back_to(0);
        let mut codes: Vec<Code> = literals.iter().map(|literal| literal.code()).collect();
        codes.sort_unstable();
        codes.dedup();
        for &code in &codes {
            self.constrained[(code >> 1) as usize] = true;
            self.doubt(code >> 1);
        }
        let says_nothing = codes.windows(2).any(|pair| pair[0] ^ 1 == pair[1]);
        if self.refuted || says_nothing || codes.iter().any(|&code| self.search.is_true(code)) {
            return;
        }
        codes.retain(|&code| !self.search.is_false(code));
        match codes[..] {
            [] => self.refuted = true,
            [code] => self.search.assign(code, NO_REASON),
            _ => {
                self.search.attach(&codes, false);
            }
        }
    }

    /// Searches for sides of all choices. Resumes where an earlier search was stopped.
    pub fn solve(&mut self, budget: &mut Budget<'_>) -> Outcome {
        self.solve_under(&[], budget)
    }

    /// The place of a node in an order that agrees with all known edges and all edges of the chosen sides, after
    /// [`Outcome::Satisfiable`] and until an edge is added.
    pub fn position(&self, node: Node) -> u32 {
        self.graph.position(node)
    }

    /// The side of a choice, after [`Outcome::Satisfiable`].
    pub fn side(&self, choice: Choice) -> bool {
        self.sides[choice.0 as usize]
    }

    /// Everything found out about the graph so far: each lemma is a cycle that some literals would close.
    pub fn lemmas(&self) -> &[Lemma] {
        &self.lemmas
    }

    /// The edges that a literal brings.
    pub fn edges(&self, literal: Literal) -> &[(Node, Node)] {
        self.edges_of(literal.code())
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.graph.nodes()
    }

    /// How many choices there are.
    pub fn choices(&self) -> usize {
        self.sides.len()
    }

    /// What was done so far.
    pub fn statistics(&self) -> Statistics {
        Statistics {
            decisions: self.decisions,
            propagations: self.search.propagations,
            conflicts: self.conflicts,
            lemmas: self.lemmas.len() as u64,
            restarts: self.restarts,
            edges_inserted: self.graph.insertions,
            nodes_visited: self.graph.visited,
            choices_examined: self.examined,
        }
    }

    /// Searches with some literals assumed. If they are what makes it unsatisfiable, [`Solver::failed`] has a subset that does.
    pub(crate) fn solve_under(&mut self, assumptions: &[Literal], budget: &mut Budget<'_>) -> Outcome {
        self.failed.clear();
        let mut work = self.work();
        if !assumptions.is_empty() {
            self.back_to(0);
        }
        loop {
            if self.refuted {
                return Outcome::Unsatisfiable;
            }
            let now = self.work();
            if !budget.spend(now - work) {
                return Outcome::Stopped;
            }
            work = now;
            if !self.propagate() {
                self.conflicts += 1;
                self.learn();
                self.until_restart = self.until_restart.saturating_sub(1);
            } else if self.until_restart == 0 {
                self.restarts += 1;
                self.until_restart = RESTART * luby(self.restarts);
                self.back_to(0);
                if self.search.is_full() {
                    self.search.forget();
                }
            } else if let Some(code) = assumptions.get(self.search.level()).map(|literal| literal.code()) {
                if self.search.is_false(code) {
                    self.failed = self.search.decisions_against(code);
                    self.failed.push(code);
                    return Outcome::Unsatisfiable;
                }
                self.open_level();
                if !self.search.is_true(code) {
                    self.search.assign(code, NO_REASON);
                }
            } else if let Some(code) = self.decide() {
                self.decisions += 1;
                self.open_level();
                self.search.assign(code, NO_REASON);
            } else {
                self.settle();
                return Outcome::Satisfiable;
            }
        }
    }

    /// The assumptions that could not all hold.
    pub(crate) fn failed(&self) -> impl Iterator<Item = Literal> + '_ {
        self.failed.iter().map(|&code| Literal::of(code))
    }

    /// Forgets learnt clauses early, so that tests see it happen.
    #[cfg(test)]
    pub(crate) fn remember(&mut self, clauses: usize) {
        self.search.capacity = clauses;
    }

    fn work(&self) -> u64 {
        let Search { propagations, watched, .. } = self.search;
        self.conflicts + propagations + watched + self.graph.visited + self.graph.insertions + self.examined
    }

    fn edges_of(&self, code: Code) -> &[(Node, Node)] {
        &self.edges[self.starts[code as usize] as usize..self.starts[code as usize + 1] as usize]
    }

    fn doubt(&mut self, choice: u32) {
        if !std::mem::replace(&mut self.is_doubtful[choice as usize], true) {
            self.doubtful.push(choice);
        }
    }

    fn open_level(&mut self) {
        self.search.open_level();
        self.limits.push(self.graph.edges());
    }

    fn back_to(&mut self, level: usize) {
        if level >= self.search.level() {
            return;
        }
        let (sides, is_doubtful, doubtful) = (&mut self.sides, &mut self.is_doubtful, &mut self.doubtful);
        self.search.back_to(level, |code| {
            let choice = code >> 1;
            sides[choice as usize] = code & 1 == 0;
            if !std::mem::replace(&mut is_doubtful[choice as usize], true) {
                doubtful.push(choice);
            }
        });
        self.graph.remove_to(self.limits[level]);
        self.limits.truncate(level);
        self.head = self.head.min(self.search.trail().len());
    }

    /// Whether all edges that a literal brings agree with the order as it is.
    fn agrees(&self, code: Code) -> bool {
        self.edges_of(code).iter().all(|&(from, to)| self.graph.position(from) < self.graph.position(to))
    }

    /// How far the edges that a literal brings go against the order.
    fn reach_back(&self, code: Code) -> u32 {
        let back = |&(from, to): &(Node, Node)| self.graph.position(from).saturating_sub(self.graph.position(to));
        self.edges_of(code).iter().map(back).max().unwrap_or(0)
    }

    /// Draws the conclusions of what is assigned in the clauses, then in the graph; false if there is a conflict.
    fn propagate(&mut self) -> bool {
        if !self.search.propagate() {
            return false;
        }
        while let Some(&code) = self.search.trail().get(self.head) {
            for at in self.starts[code as usize]..self.starts[code as usize + 1] {
                let (from, to) = self.edges[at as usize];
                if self.graph.insert(from, to, code).is_err() {
                    let (literals, cycle) = self.graph.explain(from, to, code);
                    self.record(&literals, cycle);
                    return false;
                }
            }
            self.head += 1;
        }
        true
    }

    /// Keeps a lemma, and makes it the conflict to learn from.
    fn record(&mut self, literals: &[Code], cycle: Vec<Node>) {
        self.search.conflict.clear();
        self.search.conflict.extend(literals.iter().map(|code| code ^ 1));
        self.lemmas.push(Lemma { literals: literals.iter().map(|&code| Literal::of(code)).collect(), cycle });
    }

    /// Turns a conflict into a clause, and goes back to where the clause says something new.
    fn learn(&mut self) {
        if self.search.level() == 0 {
            self.refuted = true;
            return;
        }
        let heap = &mut self.heap;
        let level = self.search.analyze(|choice| heap.bump(choice));
        self.heap.decay();
        let clause = std::mem::take(&mut self.search.clause);
        let reason = if clause.len() > 1 { self.search.attach(&clause, true) } else { NO_REASON };
        self.back_to(level);
        self.search.assign(clause[0], reason);
        self.search.clause = clause;
    }

    /// The next decision, or none if the order satisfies all choices that have no side yet.
    ///
    /// A choice with a side that agrees with the order needs no decision: if nothing moves, it is satisfied. Only choices
    /// that the order leaves without a side are decided, and those in clauses. So most choices never enter the graph.
    fn decide(&mut self) -> Option<Code> {
        while let Some(node) = self.graph.take_moved() {
            for at in 0..self.choices_at[node as usize].len() {
                self.doubt(self.choices_at[node as usize][at]);
            }
        }
        self.examined += self.doubtful.len() as u64;
        while let Some(choice) = self.doubtful.pop() {
            self.is_doubtful[choice as usize] = false;
            if self.needs_decision(choice) {
                self.heap.push(choice);
            }
        }
        while let Some(choice) = self.heap.pop() {
            if !self.needs_decision(choice) {
                continue;
            }
            let code = choice * 2;
            let side = match (self.agrees(code), self.agrees(code ^ 1)) {
                (true, false) => true,
                (false, true) => false,
                // Neither agrees, as a rule. The side that reaches back less far moves less, and is more often right: on
                // large histories it leaves less than a tenth of the conflicts that remembering the last side does.
                _ => match self.reach_back(code).cmp(&self.reach_back(code ^ 1)) {
                    Ordering::Less => true,
                    Ordering::Greater => false,
                    Ordering::Equal => self.sides[choice as usize],
                },
            };
            return Some(if side { code } else { code ^ 1 });
        }
        None
    }

    fn needs_decision(&self, choice: u32) -> bool {
        let code = choice * 2;
        !self.search.is_decided(choice)
            && (self.constrained[choice as usize] || !(self.agrees(code) || self.agrees(code ^ 1)))
    }

    /// Reads off the sides.
    fn settle(&mut self) {
        for choice in 0..self.sides.len() {
            let code = choice as u32 * 2;
            self.sides[choice] = if self.search.is_decided(choice as u32) {
                self.search.is_true(code)
            } else {
                match (self.agrees(code), self.agrees(code ^ 1)) {
                    (true, true) => self.sides[choice],
                    (side, _) => side,
                }
            };
        }
    }
}

/// Luby's sequence: 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 …
fn luby(index: u64) -> u64 {
    let mut at = index + 1;
    loop {
        let bits = u64::BITS - at.leading_zeros();
        if at == (1 << bits) - 1 {
            return 1 << (bits - 1);
        }
        at -= (1 << (bits - 1)) - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::luby;

    #[test]
    fn luby_is_the_known_sequence() {
        let first: Vec<u64> = (0..15).map(luby).collect();
        assert_eq!(first, [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]);
    }
}
