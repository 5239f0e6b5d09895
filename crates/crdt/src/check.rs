//! From a history to a verdict.

use isonomy_solver::Budget;

use crate::counterexample;
use crate::history::{History, OpId};
use crate::problem::Problem;
use crate::search::{Effort, Outcome, search};
use crate::verdict::{Verdict, Witness};

/// Whether a history is left undecided for its size: the search keeps some numbers for each operation and each replica, and takes
/// no more than a few gigabytes for them.
pub fn is_too_large(history: &History) -> bool {
    const MOST: usize = 1 << 27;
    history.len().saturating_mul(history.replicas().len()) > MOST
}

/// Decides whether the type of a history allows it. The effort is added up.
///
/// ```
/// use isonomy_crdt::{Budget, DataType, Effort, HistoryBuilder, NamedOperation::*, Verdict, check};
///
/// let mut history = HistoryBuilder::new(DataType::Counter);
/// history.push("a".into(), Increment("x".into()))?;
/// history.push("a".into(), Count("x".into(), 0))?;
/// let verdict = check(&history.finish(), &mut Budget::unlimited(), &mut Effort::default());
/// assert!(matches!(verdict, Verdict::Violated(_)));
/// # Ok::<(), isonomy_crdt::HistoryError>(())
/// ```
pub fn check(history: &History, budget: &mut Budget<'_>, effort: &mut Effort) -> Verdict {
    if is_too_large(history) {
        return Verdict::Undecided;
    }
    let problem = Problem::new(history);
    match search(&problem, budget, effort) {
        Outcome::Undecided => Verdict::Undecided,
        Outcome::Explained { seen, order } => {
            let replicas = problem.replicas as usize;
            Verdict::Holds(Witness {
                seen: seen.chunks(replicas.max(1)).map(<[u32]>::to_vec).collect(),
                order: order.into_iter().map(OpId).collect(),
            })
        }
        Outcome::Refuted { learnt } => Verdict::Violated(counterexample::shrink(history, learnt, budget)),
    }
}
