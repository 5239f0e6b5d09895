//! The edges at each node, as stacks in one array.
//!
//! Edges come and go last in, first out, so each node's edges are a stack. All stacks share one pool; one that outgrows its
//! place moves to the end of the pool with twice the room. What it leaves behind is less than what it takes, so the pool
//! stays within a few times the number of edges.

use crate::literal::{Code, Node};

/// An edge as seen from one of its ends: the other end, and the literal that brings it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arc {
    pub(crate) node: Node,
    pub(crate) code: Code,
}

#[derive(Clone, Copy, Debug)]
struct Stack {
    start: u32,
    length: u32,
    room: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Adjacency {
    stacks: Vec<Stack>,
    pool: Vec<Arc>,
}

impl Adjacency {
    pub(crate) fn new(nodes: usize) -> Self {
        Adjacency { stacks: vec![Stack { start: 0, length: 0, room: 0 }; nodes], pool: Vec::new() }
    }

    #[inline]
    pub(crate) fn of(&self, node: Node) -> &[Arc] {
        let stack = self.stacks[node as usize];
        &self.pool[stack.start as usize..(stack.start + stack.length) as usize]
    }

    #[inline]
    pub(crate) fn push(&mut self, node: Node, arc: Arc) {
        let stack = &mut self.stacks[node as usize];
        if stack.length == stack.room {
            let old = stack.start as usize..(stack.start + stack.length) as usize;
            stack.start = u32::try_from(self.pool.len()).expect("at most 2³² places for edges");
            stack.room = (stack.room * 2).max(4);
            self.pool.extend_from_within(old);
            self.pool.resize((stack.start + stack.room) as usize, arc);
        }
        self.pool[(stack.start + stack.length) as usize] = arc;
        stack.length += 1;
    }

    #[inline]
    pub(crate) fn pop(&mut self, node: Node) {
        let stack = &mut self.stacks[node as usize];
        debug_assert!(stack.length > 0, "edges are removed after they were inserted");
        stack.length -= 1;
    }
}
