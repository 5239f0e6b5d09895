//! SAT modulo acyclicity.
//!
//! A problem is a graph with known edges, and choices: each brings one set of edges or another. Clauses may tie choices
//! together. Are there sides for all choices such that the graph has no cycle?
//!
//! ```
//! use isonomy_solver::{Budget, Outcome, Solver};
//!
//! let mut solver = Solver::new(3);
//! solver.add_edge(0, 1).unwrap();
//! let choice = solver.add_choice(&[(1, 2), (2, 0)], &[(2, 1)], true);
//! assert_eq!(solver.solve(&mut Budget::unlimited()), Outcome::Satisfiable);
//! assert!(!solver.side(choice));
//! assert!(solver.position(2) < solver.position(1));
//!
//! solver.add_edge(1, 2).unwrap();
//! assert_eq!(solver.solve(&mut Budget::unlimited()), Outcome::Unsatisfiable);
//! assert_eq!(solver.lemmas().len(), 2);
//! ```
//!
//! If there are, [`Solver::side`] and [`Solver::position`] show it. If not, [`Solver::lemmas`] do: each is a cycle that some
//! sides would close, and together with the clauses they leave no combination of sides. [`minimal_lemmas`] picks few of
//! them, and [`refute`] lays them out as a proof by cases.
//!
//! The crate opens nothing, prints nothing and reads no clock. The same calls give the same answers.

mod acyclic;
mod adjacency;
mod budget;
#[cfg(test)]
mod comparison;
mod heap;
mod literal;
mod minimal;
mod refute;
mod search;
mod solver;

pub use budget::Budget;
pub use literal::{Choice, Lemma, Literal, Node};
pub use minimal::minimal_lemmas;
pub use refute::{Case, Tree, refute};
pub use solver::{Outcome, Solver, Statistics};
