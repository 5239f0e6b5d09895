//! Choices, literals, and what was learnt about them.

use std::ops::Not;

/// A node of the graph: a number below the count of nodes.
pub type Node = u32;

/// One binary choice, numbered in the order in which choices were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Choice(pub u32);

impl Choice {
    /// The literal that says this choice takes that side.
    pub fn is(self, side: bool) -> Literal {
        Literal { choice: self, side }
    }
}

/// A choice takes a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Literal {
    /// Which choice.
    pub choice: Choice,
    /// Which side of it.
    pub side: bool,
}

impl Literal {
    /// Twice the choice, and one more for the false side: an index into arrays.
    pub(crate) fn code(self) -> Code {
        self.choice.0 * 2 + u32::from(!self.side)
    }

    pub(crate) fn of(code: Code) -> Self {
        Literal { choice: Choice(code >> 1), side: code & 1 == 0 }
    }
}

impl Not for Literal {
    type Output = Literal;

    fn not(self) -> Literal {
        Literal { choice: self.choice, side: !self.side }
    }
}

/// A literal as the search holds it; `code ^ 1` is the other side.
pub(crate) type Code = u32;

/// No literal: the edge is known.
pub(crate) const KNOWN: Code = u32::MAX;

/// Literals that cannot all hold, because the edges they bring, with known ones, close a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lemma {
    /// What cannot all hold, each once. Never empty: a cycle of known edges alone is refused when its last edge is added.
    pub literals: Vec<Literal>,
    /// The cycle: each node has an edge to the next, and the last to the first, known or brought by one of the literals.
    pub cycle: Vec<Node>,
}
