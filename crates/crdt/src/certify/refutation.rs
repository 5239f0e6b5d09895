//! Does it follow that nothing explains the operations of a counterexample?
//!
//! Each step of the proof is a clause of bounds. Suppose that none of its bounds holds, and carry on what follows, with the
//! steps before it: there must be a contradiction. At the end there must be one without supposing anything.

use super::carry::{Carry, Known};
use super::left_out::Part;
use super::{Fault, require};
use crate::verdict::{Bound, Step};

pub(super) fn check(part: &Part<'_>, steps: &[Step]) -> Result<(), Fault> {
    let known = Known::new(part);
    let Ok(mut base) = Carry::new(&known) else { return Ok(()) };
    let mut clauses: Vec<&Step> = Vec::new();
    if base.run(&clauses).is_err() {
        return Ok(());
    }
    for (number, step) in steps.iter().enumerate() {
        for &bound in step {
            require(known.has(bound), || format!("step {number} of the proof speaks of something unknown"))?;
        }
        let mut supposed = base.clone();
        let contradiction = step.iter().any(|&bound| supposed.suppose(negated(bound)).is_err());
        require(contradiction || supposed.run(&clauses).is_err(), || {
            format!("step {number} of the proof does not follow")
        })?;
        clauses.push(step);
        if base.run(&clauses).is_err() {
            return Ok(());
        }
    }
    Err(Fault("the proof ends without a contradiction".into()))
}

fn negated(bound: Bound) -> Bound {
    match bound {
        Bound::Saw(op, replica, count) => Bound::SawAtMost(op, replica, count.saturating_sub(1)),
        Bound::SawAtMost(op, replica, count) => Bound::Saw(op, replica, count.saturating_add(1)),
        Bound::ChoseFrom(read, number) => Bound::ChoseUpTo(read, number.saturating_sub(1)),
        Bound::ChoseUpTo(read, number) => Bound::ChoseFrom(read, number.saturating_add(1)),
    }
}
