//! Small random problems, and what they come to by trying everything.

#![allow(dead_code, reason = "each test uses a part")]

pub(crate) mod polygraph;

use isonomy_solver::{Case, Choice, Lemma, Literal, Solver, Tree};
use polygraph::{Edges, Rng};

#[derive(Clone, Debug, Default)]
pub(crate) struct Problem {
    pub(crate) nodes: usize,
    pub(crate) known: Vec<(u32, u32)>,
    pub(crate) choices: Vec<(Edges, Edges, bool)>,
    pub(crate) clauses: Vec<Vec<Literal>>,
}

impl Problem {
    pub(crate) fn random(rng: &mut Rng) -> Self {
        let nodes = 2 + rng.below(6);
        let count = rng.below(9);
        let edge = |rng: &mut Rng| {
            // A loop now and then.
            let from = rng.below(nodes);
            let to = if rng.below(40) == 0 { from } else { (from + 1 + rng.below(nodes - 1)) % nodes };
            (from as u32, to as u32)
        };
        let known = (0..rng.below(nodes + 2)).map(|_| edge(rng)).collect();
        let side = |rng: &mut Rng| {
            // A side without edges now and then.
            let edges = if rng.below(12) == 0 { 0 } else { 1 + rng.below(3) };
            (0..edges).map(|_| edge(rng)).collect::<Vec<_>>()
        };
        let choices: Vec<_> = (0..count).map(|_| (side(rng), side(rng), rng.below(2) == 0)).collect();
        let clauses = if count == 0 || rng.below(2) == 0 { 0 } else { rng.below(6) };
        let clauses = (0..clauses)
            .map(|_| (0..1 + rng.below(3)).map(|_| Choice(rng.below(count) as u32).is(rng.below(2) == 0)).collect())
            .collect();
        Problem { nodes, known, choices, clauses }
    }

    pub(crate) fn edges(&self, literal: Literal) -> &[(u32, u32)] {
        let (if_true, if_false, _) = &self.choices[literal.choice.0 as usize];
        if literal.side { if_true } else { if_false }
    }

    /// Whether some sides satisfy everything: tries all.
    pub(crate) fn is_satisfiable(&self) -> bool {
        (0..1u32 << self.choices.len()).any(|sides| {
            let holds = |literal: &Literal| (sides >> literal.choice.0 & 1 == 1) == literal.side;
            let chosen = (0..self.choices.len() as u32).map(|choice| Choice(choice).is(sides >> choice & 1 == 1));
            let edges = chosen.flat_map(|literal| self.edges(literal)).chain(&self.known);
            self.clauses.iter().all(|clause| clause.iter().any(holds)) && is_acyclic(self.nodes, edges)
        })
    }

    /// Adds everything; false if known edges have a cycle, which is then checked.
    pub(crate) fn add_to(&self, solver: &mut Solver) -> bool {
        let mut known = Vec::new();
        for &(from, to) in &self.known {
            if let Err(cycle) = solver.add_edge(from, to) {
                known.push((from, to));
                for at in 0..cycle.len() {
                    let edge = (cycle[at], cycle[(at + 1) % cycle.len()]);
                    assert!(known.contains(&edge), "{edge:?} is no known edge");
                }
                return false;
            }
            known.push((from, to));
        }
        for (if_true, if_false, phase) in &self.choices {
            solver.add_choice(if_true, if_false, *phase);
        }
        for clause in &self.clauses {
            solver.add_clause(clause);
        }
        true
    }

    pub(crate) fn check_model(&self, solver: &Solver) {
        let holds = |literal: &Literal| solver.side(literal.choice) == literal.side;
        assert!(self.clauses.iter().all(|clause| clause.iter().any(holds)), "a clause does not hold");
        let chosen = (0..self.choices.len() as u32).map(|choice| Choice(choice).is(solver.side(Choice(choice))));
        for &(from, to) in chosen.flat_map(|literal| self.edges(literal)).chain(&self.known) {
            assert!(solver.position(from) < solver.position(to), "the order contradicts ({from}, {to})");
        }
        let mut positions: Vec<u32> = (0..self.nodes as u32).map(|node| solver.position(node)).collect();
        positions.sort_unstable();
        assert!(positions.into_iter().eq(0..self.nodes as u32), "the order is no permutation");
    }

    pub(crate) fn check_lemma(&self, lemma: &Lemma) {
        assert!(!lemma.literals.is_empty() && !lemma.cycle.is_empty());
        for at in 0..lemma.cycle.len() {
            let edge = (lemma.cycle[at], lemma.cycle[(at + 1) % lemma.cycle.len()]);
            let brought = lemma.literals.iter().any(|&literal| self.edges(literal).contains(&edge));
            assert!(brought || self.known.contains(&edge), "{edge:?} of {lemma:?} is no edge");
        }
        let mut literals = lemma.literals.clone();
        literals.dedup();
        assert_eq!(literals, lemma.literals, "a literal stands twice");
    }

    /// Whether some sides satisfy the clauses and none of the lemmas.
    pub(crate) fn is_propositionally_satisfiable<'a>(&self, lemmas: impl Iterator<Item = &'a Lemma> + Clone) -> bool {
        (0..1u32 << self.choices.len()).any(|sides| {
            let holds = |literal: &Literal| (sides >> literal.choice.0 & 1 == 1) == literal.side;
            self.clauses.iter().all(|clause| clause.iter().any(holds))
                && lemmas.clone().all(|lemma| !lemma.literals.iter().all(holds))
        })
    }

    pub(crate) fn check_tree(&self, tree: &Tree, lemmas: &[Lemma]) {
        let mut visits = vec![0; tree.cases.len()];
        let mut stack = vec![(0, Vec::<Literal>::new())];
        while let Some((at, branch)) = stack.pop() {
            visits[at] += 1;
            match tree.cases[at] {
                Case::Split { choice, if_true, if_false } => {
                    assert!(branch.iter().all(|literal| literal.choice != choice), "{choice:?} is split twice");
                    assert!(if_true > at && if_false > at, "a case comes before those it splits into");
                    for (side, child) in [(true, if_true), (false, if_false)] {
                        stack.push((child, branch.iter().copied().chain([choice.is(side)]).collect()));
                    }
                }
                Case::Closed { lemma } => assert!(lemmas[lemma].literals.iter().all(|l| branch.contains(l))),
                Case::Excluded { clause } => assert!(self.clauses[clause].iter().all(|&l| branch.contains(&!l))),
            }
        }
        assert!(visits.iter().all(|&count| count == 1), "each case is reached once");
    }
}

/// Takes away nodes without incoming edges until none is left, or none can be taken.
fn is_acyclic<'a>(nodes: usize, edges: impl Iterator<Item = &'a (u32, u32)>) -> bool {
    let edges: Vec<(u32, u32)> = edges.copied().collect();
    let mut left: Vec<u32> = (0..nodes as u32).collect();
    loop {
        let before = left.len();
        let present = left.clone();
        left.retain(|&node| edges.iter().any(|&(from, to)| to == node && present.contains(&from)));
        if left.is_empty() || left.len() == before {
            return left.is_empty();
        }
    }
}
