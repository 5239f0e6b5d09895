//! The search against another solver with the same theory, on problems too large for trying everything.
//!
//! batsat decides every choice and knows nothing of the order; the graph is ours. So what is compared is all of
//! `search` and `solver`: deciding, learning, going back, and leaving choices undecided.

use batsat::{Callbacks, Lit, SolverInterface, SolverOpts, Theory, TheoryArg, Var, lbool};

use crate::acyclic::Acyclic;
use crate::literal::{Code, KNOWN, Literal};
use crate::{Budget, Choice, Outcome, Solver};

#[path = "../tests/support/polygraph.rs"]
mod polygraph;

use polygraph::{Polygraph, Rng, Shape};

/// The graph as a theory of batsat's.
struct Graph<'a> {
    graph: Acyclic,
    polygraph: &'a Polygraph,
    /// How much of the trail is in the graph; both at each level.
    head: usize,
    levels: Vec<(usize, usize)>,
}

struct Quiet;
impl Callbacks for Quiet {}

fn literal(code: Code) -> Lit {
    Lit::new(Var::unsafe_from_idx(code >> 1), code & 1 == 0)
}

impl Theory for Graph<'_> {
    fn final_check(&mut self, acts: &mut TheoryArg<'_>) {
        self.partial_check(acts);
    }

    fn create_level(&mut self) {
        self.levels.push((self.head, self.graph.edges()));
    }

    fn pop_levels(&mut self, n: usize) {
        let level = self.levels.len() - n;
        if n > 0 {
            let (head, edges) = self.levels[level];
            self.head = head;
            self.graph.remove_to(edges);
            self.levels.truncate(level);
        }
    }

    fn n_levels(&self) -> usize {
        self.levels.len()
    }

    fn partial_check(&mut self, acts: &mut TheoryArg<'_>) {
        while let Some(&lit) = acts.model().get(self.head) {
            let code = lit.var().idx() * 2 + u32::from(!lit.sign());
            let (if_true, if_false) = &self.polygraph.choices[(code >> 1) as usize];
            for &(from, to) in if lit.sign() { if_true } else { if_false } {
                if self.graph.insert(from, to, code).is_err() {
                    let (codes, _) = self.graph.explain(from, to, code);
                    acts.raise_conflict(&codes.iter().map(|&code| literal(code ^ 1)).collect::<Vec<_>>(), false);
                    return;
                }
            }
            self.head += 1;
        }
    }

    fn explain_propagation(&mut self, _: Lit) -> &[Lit] {
        unreachable!("nothing is propagated")
    }
}

fn batsat(polygraph: &Polygraph, clauses: &[Vec<Literal>]) -> bool {
    let mut graph = Acyclic::new(&polygraph::order(polygraph));
    for &(from, to) in &polygraph.known {
        graph.insert(from, to, KNOWN).expect("the caller has inserted them before");
    }
    let mut solver = batsat::Solver::new(SolverOpts::default(), Quiet);
    for _ in &polygraph.choices {
        solver.new_var(lbool::UNDEF, true);
    }
    for clause in clauses {
        solver.add_clause_reuse(&mut clause.iter().map(|&l| literal(l.code())).collect());
    }
    let mut theory = Graph { graph, polygraph, head: 0, levels: Vec::new() };
    solver.solve_limited_th(&mut theory, &[]) == lbool::TRUE
}

/// Asks both; the answer, or none if known edges have a cycle.
fn compare(polygraph: &Polygraph, clauses: &[Vec<Literal>]) -> Option<Outcome> {
    let mut solver = Solver::with_order(&polygraph::order(polygraph));
    if !polygraph.known.iter().all(|&(from, to)| solver.add_edge(from, to).is_ok()) {
        return None;
    }
    for (if_true, if_false) in &polygraph.choices {
        solver.add_choice(if_true, if_false, true);
    }
    for clause in clauses {
        solver.add_clause(clause);
    }
    solver.remember(20);
    let outcome = solver.solve(&mut Budget::unlimited());
    assert_eq!(outcome == Outcome::Satisfiable, batsat(polygraph, clauses), "the two disagree");
    if outcome == Outcome::Satisfiable {
        let chosen = (0..solver.choices() as u32).map(|choice| Choice(choice).is(solver.side(Choice(choice))));
        for &(from, to) in chosen.flat_map(|literal| solver.edges(literal)).chain(&polygraph.known) {
            assert!(solver.position(from) < solver.position(to), "the order contradicts ({from}, {to})");
        }
    } else {
        let excluded = solver.lemmas().iter().map(|lemma| lemma.literals.iter().map(|&literal| !literal).collect());
        let clauses: Vec<Vec<Literal>> = clauses.iter().cloned().chain(excluded).collect();
        let choices = vec![(Vec::new(), Vec::new()); solver.choices()];
        let without_edges = Polygraph { nodes: polygraph.nodes, known: Vec::new(), choices };
        assert!(!batsat(&without_edges, &clauses), "the lemmas and the clauses do not contradict each other");
    }
    Some(outcome)
}

#[test]
fn two_solvers_agree_on_histories() {
    let mut counts = [0; 3];
    for seed in 0..40 {
        for (transactions, keys, stale) in [(60, 40, 0), (60, 40, 8), (80, 200, 25), (150, 60, 2)] {
            let shape = Shape { transactions, keys, sessions: 8, operations: 6, stale, seed };
            let outcome = compare(&polygraph::polygraph(shape), &[]);
            assert!(stale > 0 || outcome == Some(Outcome::Satisfiable), "transactions ran one after the other");
            counts[outcome.map_or(2, |outcome| usize::from(outcome == Outcome::Satisfiable))] += 1;
        }
    }
    assert!(counts[0] > 20 && counts[1] > 20, "the histories are all alike: {counts:?}");
}

#[test]
fn two_solvers_agree_on_random_choices_with_clauses() {
    let mut counts = [0; 2];
    for seed in 0..200 {
        let mut rng = Rng(seed);
        let nodes = 12 + rng.below(14);
        let mut edge = || {
            let from = rng.below(nodes);
            (from as u32, ((from + 1 + rng.below(nodes - 1)) % nodes) as u32)
        };
        let choices: Vec<_> = (0..nodes * 4).map(|_| (vec![edge()], vec![edge()])).collect();
        let count = rng.below(nodes * 2);
        let clauses: Vec<Vec<Literal>> = (0..count)
            .map(|_| (0..3).map(|_| Choice(rng.below(choices.len()) as u32).is(rng.below(2) == 0)).collect())
            .collect();
        let polygraph = Polygraph { nodes, known: Vec::new(), choices };
        let outcome = compare(&polygraph, &clauses).expect("there are no known edges");
        counts[usize::from(outcome == Outcome::Satisfiable)] += 1;
    }
    assert!(counts.iter().all(|&count| count > 20), "the problems are all alike: {counts:?}");
}
