//! A short stretch of a long history that shows the violation.
//!
//! What contradicts itself mostly happened at about the same time. So of the operations, in an order that goes with what was
//! seen, first the end is cut off, then the beginning, each time as much as it takes to be near the violation: stretches
//! are tried from short to long, so that this costs little more than checking the one that is found.

use super::{Asked, Shrink};
use crate::history::{OpId, Operation};
use crate::problem::{NOBODY, Problem};
use crate::search::in_order;

/// Shorter stretches are not worth it.
const SHORT: usize = 256;
/// How often the length that is found is made more exact: each time twice as much.
const REFINEMENTS: usize = 3;

/// Leaves out what is before and after a stretch that still shows the violation.
pub(super) fn narrow(shrink: &mut Shrink<'_, '_>) {
    let operations = shrink.history.len();
    if operations <= SHORT {
        return;
    }
    let stretches = Stretches::new(shrink);
    let end = shortest(shrink, operations, |shrink, end| stretches.kept(shrink, 0, end));
    shortest(shrink, end, |shrink, length| stretches.kept(shrink, end - length, end));
}

/// The length, up to `whole`, of a short stretch without explanation; that is then what is kept.
fn shortest(shrink: &mut Shrink<'_, '_>, whole: usize, stretch: impl Fn(&Shrink<'_, '_>, usize) -> Vec<bool>) -> usize {
    let mut shows = |length: usize| {
        let kept = stretch(shrink, length);
        let violated = !shrink.spent && shrink.still_violated(&kept);
        if violated {
            shrink.kept = kept;
        }
        violated
    };
    let (mut short, mut long) = (0, SHORT);
    while long < whole && !shows(long) {
        (short, long) = (long, 2 * long);
    }
    let mut long = long.min(whole);
    for _ in 0..REFINEMENTS {
        let middle = short + (long - short) / 2;
        if shows(middle) { long = middle } else { short = middle }
    }
    long
}

struct Stretches {
    /// The place of each operation in an order in which operations come after those that they surely saw.
    rank: Vec<u32>,
    /// Who added each element of an array.
    adder: Vec<u32>,
}

impl Stretches {
    fn new(shrink: &Shrink<'_, '_>) -> Self {
        let problem = Problem::new(shrink.history);
        let mut rank = vec![0; problem.len()];
        for (at, op) in in_order(&problem).into_iter().enumerate() {
            rank[op as usize] = at as u32;
        }
        Stretches { rank, adder: problem.adder }
    }

    /// The operations of a stretch, and what cannot be left out with them.
    fn kept(&self, shrink: &Shrink<'_, '_>, from: usize, to: usize) -> Vec<bool> {
        let history = shrink.history;
        let mut kept: Vec<bool> = self.rank.iter().map(|&rank| (from..to).contains(&(rank as usize))).collect();
        if !self.adder.is_empty() {
            self.keep_elements(shrink, &mut kept);
        }
        let asked = Asked::new(history, &kept);
        for op in history.operations() {
            let operation = history.operation(op);
            let gone = matches!(operation, Operation::Delete(element) if !self.has(&kept, element));
            if !operation.is_query() && !gone && !asked.may_miss(history, op) {
                kept[op.0 as usize] = true;
            }
        }
        kept
    }

    fn has(&self, kept: &[bool], element: crate::LabelId) -> bool {
        let adder = self.adder[element.0 as usize];
        adder == NOBODY || kept[adder as usize]
    }

    /// With what was put after an element or removes it, the element stays.
    fn keep_elements(&self, shrink: &Shrink<'_, '_>, kept: &mut [bool]) {
        let mut staying: Vec<u32> = (0..kept.len() as u32).filter(|&op| kept[op as usize]).collect();
        while let Some(op) = staying.pop() {
            let (Operation::Insert(Some(element), _) | Operation::Delete(element)) = shrink.history.operation(OpId(op))
            else {
                continue;
            };
            let adder = self.adder[element.0 as usize];
            if adder != NOBODY && !std::mem::replace(&mut kept[adder as usize], true) {
                staying.push(adder);
            }
        }
    }
}
