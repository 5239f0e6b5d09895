//! Treiber's stack, with a store for its memory.
//!
//! A row holds an element and the number of the row below; `head` holds the number of the top row, or 0. Pushing and popping are not
//! transactions: each read, each write and each compare-and-set is one of its own. After Nagar, Mukherjee and Jagannathan, *Semantics,
//! Specification, and Bounded Verification of Concurrent Libraries in Replicated Systems*, CAV 2020, as the thesis uses it.
//!
//! Elements are pushed once each and rows are never used again, so that no element can be popped twice if compare-and-sets are atomic.

use isonomy_store::{Session, Store};
use isonomy_workload::Rng;

use super::{List, read, write};
use crate::application::Assertion;
use crate::script::{Failure, Logged, Script, Step, Turn};

/// Treiber's stack.
pub(crate) struct Stack;

/// Elements that are there at first; their rows have the numbers from 1.
const ELEMENTS: i64 = 2;

/// How often an operation whose compare-and-set fails begins again.
const PATIENCE: u32 = 3;

#[derive(Clone, Debug)]
pub(crate) enum Operation {
    Push { element: i64, at: Pushing, failed: u32 },
    Pop { at: Popping, failed: u32 },
}

/// Where a push is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pushing {
    ReadHead,
    WriteRow { head: i64 },
    Swap { head: i64 },
}

/// Where a pop is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Popping {
    ReadHead,
    ReadRow { head: i64 },
    Swap { head: i64, element: i64, next: i64 },
}

impl Script for Stack {
    const NAME: &'static str = "stack";
    const ABOUT: &'static str = "Treiber's stack, each read, write and compare-and-set a transaction";
    const ASSERTIONS: &'static [Assertion] =
        &[Assertion { name: "popped-twice", about: "an element is popped more than once" }];
    const OPERATIONS: usize = 3;
    const IS_SMALL: bool = true;

    type Place = Store<List>;
    type Operation = Operation;

    fn load(session: &mut Session<List>) -> Result<(), Failure> {
        for row in 1..=ELEMENTS {
            write(session, &row_key(row), [row, row - 1])?;
        }
        write(session, "head", [ELEMENTS])
    }

    fn draw(rng: &mut Rng, turn: Turn) -> Operation {
        if rng.chance(0.5) {
            Operation::Push { element: ELEMENTS + turn.unique(), at: Pushing::ReadHead, failed: 0 }
        } else {
            Operation::Pop { at: Popping::ReadHead, failed: 0 }
        }
    }

    fn step(operation: &mut Operation, session: &mut Session<List>) -> Result<Step, Failure> {
        match operation {
            Operation::Push { element, at, failed } => push(*element, at, failed, session),
            Operation::Pop { at, failed } => pop(at, failed, session),
        }
    }

    fn broken(log: &[Logged<Operation>], _: &mut Session<List>) -> Result<Vec<bool>, Failure> {
        let is_pop = |entry: &&Logged<Operation>| matches!(entry.operation, Operation::Pop { .. });
        let mut popped: Vec<i64> =
            log.iter().filter(is_pop).filter_map(|pop| pop.answer.as_ref()).flatten().copied().collect();
        popped.sort_unstable();
        Ok(vec![popped.windows(2).any(|pair| pair[0] == pair[1])])
    }
}

fn push(element: i64, at: &mut Pushing, failed: &mut u32, session: &mut Session<List>) -> Result<Step, Failure> {
    *at = match *at {
        Pushing::ReadHead => Pushing::WriteRow { head: head(session)? },
        Pushing::WriteRow { head } => {
            write(session, &row_key(element), [element, head])?;
            Pushing::Swap { head }
        }
        Pushing::Swap { head } if compare_and_set(session, head, element)? => return Ok(Step::Done(Vec::new())),
        Pushing::Swap { .. } => {
            *failed += 1;
            Pushing::ReadHead
        }
    };
    Ok(if *failed > PATIENCE { Step::Done(Vec::new()) } else { Step::More })
}

/// Answers the element, or nothing.
fn pop(at: &mut Popping, failed: &mut u32, session: &mut Session<List>) -> Result<Step, Failure> {
    *at = match *at {
        Popping::ReadHead => match head(session)? {
            0 => return Ok(Step::Done(Vec::new())),
            head => Popping::ReadRow { head },
        },
        Popping::ReadRow { head } => match read(session, &row_key(head))?.as_slice() {
            &[element, next] => Popping::Swap { head, element, next },
            // The row is not to be seen yet, at levels where sessions do not see what others saw before they did something.
            _ => return Ok(Step::Done(Vec::new())),
        },
        Popping::Swap { head, element, next } if compare_and_set(session, head, next)? => {
            return Ok(Step::Done(vec![element]));
        }
        Popping::Swap { .. } => {
            *failed += 1;
            Popping::ReadHead
        }
    };
    Ok(if *failed > PATIENCE { Step::Done(Vec::new()) } else { Step::More })
}

fn row_key(row: i64) -> String {
    format!("row:{row}")
}

fn head(session: &mut Session<List>) -> Result<i64, Failure> {
    Ok(read(session, "head")?.first().copied().unwrap_or(0))
}

/// Sets the head if it is what it is expected to be.
fn compare_and_set(session: &mut Session<List>, expected: i64, new: i64) -> Result<bool, Failure> {
    let is_expected = head(session)? == expected;
    if is_expected {
        write(session, "head", [new])?;
    }
    Ok(is_expected)
}
