//! A graph without cycles, kept in a topological order while edges come and go.
//!
//! Follows Pearce and Kelly, *A dynamic topological sort algorithm for directed acyclic graphs*, JEA 2006. An edge that agrees
//! with the order costs nothing. One that goes against it makes the nodes between its ends that lie on a path from its target
//! or to its source trade places; if the target reaches the source, the edge would close a cycle.
//!
//! Removing an edge leaves every topological order one, so going back is popping edges, last in, first out. The order then
//! stays as the later edges made it, which is what the search wants: it remembers what worked.
//!
//! Invariant: every edge inserted goes from a lower place to a higher one.

use crate::adjacency::{Adjacency, Arc};
use crate::literal::{Code, KNOWN, Node};

/// The edge would close a cycle. Nothing has changed.
#[derive(Debug)]
pub(crate) struct Closes;

#[derive(Clone, Debug)]
pub(crate) struct Acyclic {
    /// The place of each node in the order.
    position: Vec<u32>,
    out: Adjacency,
    into: Adjacency,
    /// Edges in the order of their insertion.
    inserted: Vec<(Node, Node)>,
    /// Nodes that changed places since they were last taken, each once.
    moved: Vec<Node>,
    is_moved: Vec<bool>,
    /// Nodes visited and edges inserted since the beginning.
    pub(crate) visited: u64,
    pub(crate) insertions: u64,

    // Scratch space of the searches. A node is marked if it holds the current stamp.
    stamp: u32,
    mark: Vec<u32>,
    parent: Vec<Arc>,
    ahead: Vec<Node>,
    behind: Vec<Node>,
    places: Vec<u32>,
    frontier: Vec<(Node, Arc)>,
}

impl Acyclic {
    /// No edges; the nodes in this order, which is a permutation.
    pub(crate) fn new(order: &[Node]) -> Self {
        let nodes = order.len();
        let mut position = vec![u32::MAX; nodes];
        for (place, &node) in order.iter().enumerate() {
            let slot = position.get_mut(node as usize).expect("the order names only nodes below its length");
            assert_eq!(*slot, u32::MAX, "the order names node {node} twice");
            *slot = place as u32;
        }
        Acyclic {
            position,
            out: Adjacency::new(nodes),
            into: Adjacency::new(nodes),
            inserted: Vec::new(),
            moved: Vec::new(),
            is_moved: vec![false; nodes],
            visited: 0,
            insertions: 0,
            stamp: 0,
            mark: vec![0; nodes],
            parent: vec![Arc { node: 0, code: KNOWN }; nodes],
            ahead: Vec::new(),
            behind: Vec::new(),
            places: Vec::new(),
            frontier: Vec::new(),
        }
    }

    pub(crate) fn nodes(&self) -> usize {
        self.position.len()
    }

    #[inline]
    pub(crate) fn position(&self, node: Node) -> u32 {
        self.position[node as usize]
    }

    /// How many edges there are; [`Acyclic::remove_to`] takes it back to that.
    pub(crate) fn edges(&self) -> usize {
        self.inserted.len()
    }

    /// Takes a node that has moved, until there is none.
    #[inline]
    pub(crate) fn take_moved(&mut self) -> Option<Node> {
        let node = self.moved.pop()?;
        self.is_moved[node as usize] = false;
        Some(node)
    }

    /// Inserts an edge that a literal brings, or that is known.
    #[inline]
    pub(crate) fn insert(&mut self, from: Node, to: Node, code: Code) -> Result<(), Closes> {
        if self.position(from) >= self.position(to) {
            self.reorder(from, to)?;
        }
        self.insertions += 1;
        self.out.push(from, Arc { node: to, code });
        self.into.push(to, Arc { node: from, code });
        self.inserted.push((from, to));
        Ok(())
    }

    /// Removes the edges inserted last, until `edges` are left.
    pub(crate) fn remove_to(&mut self, edges: usize) {
        for (from, to) in self.inserted.drain(edges..).rev() {
            self.out.pop(from);
            self.into.pop(to);
        }
    }

    fn next_stamp(&mut self) -> u32 {
        if self.stamp == u32::MAX {
            self.mark.fill(0);
            self.stamp = 0;
        }
        self.stamp += 1;
        self.stamp
    }

    /// Makes the order agree with an edge that goes against it.
    fn reorder(&mut self, from: Node, to: Node) -> Result<(), Closes> {
        if from == to {
            return Err(Closes);
        }
        let (low, high) = (self.position(to), self.position(from));
        let stamp = self.next_stamp();
        // The list of what was found is also the queue of what to look at. The two searches cannot meet unless there is
        // a cycle, so they share one stamp.
        self.ahead.clear();
        self.ahead.push(to);
        self.mark[to as usize] = stamp;
        let mut next = 0;
        while let Some(&node) = self.ahead.get(next) {
            next += 1;
            for arc in self.out.of(node) {
                if arc.node == from {
                    self.visited += next as u64;
                    return Err(Closes);
                }
                let mark = &mut self.mark[arc.node as usize];
                if *mark != stamp && self.position[arc.node as usize] < high {
                    *mark = stamp;
                    self.ahead.push(arc.node);
                }
            }
        }
        self.behind.clear();
        self.behind.push(from);
        self.mark[from as usize] = stamp;
        let mut next = 0;
        while let Some(&node) = self.behind.get(next) {
            next += 1;
            for arc in self.into.of(node) {
                let mark = &mut self.mark[arc.node as usize];
                if *mark != stamp && self.position[arc.node as usize] > low {
                    *mark = stamp;
                    self.behind.push(arc.node);
                }
            }
        }
        self.visited += (self.ahead.len() + self.behind.len()) as u64;

        // What is behind the new edge goes before what is ahead of it, each in the order it had, in the places both had.
        let position = &mut self.position;
        self.ahead.sort_unstable_by_key(|&node| position[node as usize]);
        self.behind.sort_unstable_by_key(|&node| position[node as usize]);
        self.places.clear();
        self.places.extend(self.behind.iter().chain(&self.ahead).map(|&node| position[node as usize]));
        self.places.sort_unstable();
        for (&node, &place) in self.behind.iter().chain(&self.ahead).zip(&self.places) {
            position[node as usize] = place;
            if !std::mem::replace(&mut self.is_moved[node as usize], true) {
                self.moved.push(node);
            }
        }
        Ok(())
    }

    /// Why an edge that a literal would bring closes a cycle: the literals on it, sorted, and the nodes.
    ///
    /// Among all cycles one with the fewest edges that need a literal is chosen, and of these one that is short, because a
    /// lemma with few literals excludes more. Edges of the literal itself are free, as it is part of the lemma anyway.
    pub(crate) fn explain(&mut self, from: Node, to: Node, code: Code) -> (Vec<Code>, Vec<Node>) {
        let mut literals = Vec::new();
        if code != KNOWN {
            literals.push(code);
        }
        let mut cycle = vec![from];
        if from == to {
            return (literals, cycle);
        }
        self.search(from, to, code);
        let mut node = from;
        while node != to {
            let arc = self.parent[node as usize];
            if arc.code != KNOWN {
                literals.push(arc.code);
            }
            cycle.push(arc.node);
            node = arc.node;
        }
        cycle.reverse();
        literals.sort_unstable();
        literals.dedup();
        (literals, cycle)
    }

    /// Finds a path from `to` to `from`, fewest literals first, and leaves it in `parent`.
    fn search(&mut self, from: Node, to: Node, code: Code) {
        let high = self.position(from);
        let stamp = self.next_stamp();
        self.ahead.clear();
        self.ahead.push(to);
        self.mark[to as usize] = stamp;
        self.frontier.clear();
        // Nodes are settled in rounds: all that need k literals, breadth first, then those that need k + 1.
        let mut next = 0;
        let mut waiting = 0;
        loop {
            while let Some(&node) = self.ahead.get(next) {
                if self.mark[from as usize] == stamp {
                    self.visited += next as u64;
                    return;
                }
                next += 1;
                for &arc in self.out.of(node) {
                    let there = arc.node as usize;
                    if self.mark[there] == stamp || self.position[there] > high {
                        continue;
                    }
                    let back = Arc { node, code: arc.code };
                    if arc.code == KNOWN || arc.code == code {
                        self.mark[there] = stamp;
                        self.parent[there] = back;
                        self.ahead.push(arc.node);
                    } else {
                        self.frontier.push((arc.node, back));
                    }
                }
            }
            let before = self.ahead.len();
            let end = self.frontier.len();
            while waiting < end {
                let (node, back) = self.frontier[waiting];
                waiting += 1;
                if self.mark[node as usize] != stamp {
                    self.mark[node as usize] = stamp;
                    self.parent[node as usize] = back;
                    self.ahead.push(node);
                }
            }
            assert!(self.ahead.len() > before, "an edge that closes a cycle has a path back");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small random numbers, the same every time.
    fn below(state: &mut u64, bound: u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) % bound
    }

    fn reaches(edges: &[(Node, Node, Code)], from: Node, to: Node) -> bool {
        let mut reached = vec![from];
        let mut next = 0;
        while let Some(&node) = reached.get(next) {
            next += 1;
            for &(a, b, _) in edges {
                if a == node && !reached.contains(&b) {
                    reached.push(b);
                }
            }
        }
        reached.contains(&to)
    }

    #[test]
    fn edges_come_and_go() {
        let mut state = 1;
        for nodes in 1..14 {
            let mut graph = Acyclic::new(&(0..nodes).rev().collect::<Vec<_>>());
            let mut edges: Vec<(Node, Node, Code)> = Vec::new();
            for _ in 0..2000 {
                if below(&mut state, 8) == 0 {
                    let left = below(&mut state, edges.len() as u64 + 1) as usize;
                    graph.remove_to(left);
                    edges.truncate(left);
                }
                let from = below(&mut state, u64::from(nodes)) as Node;
                let to = below(&mut state, u64::from(nodes)) as Node;
                let code = if below(&mut state, 3) == 0 { KNOWN } else { below(&mut state, 10) as Code };
                let closes = reaches(&edges, to, from);
                assert_eq!(graph.insert(from, to, code).is_err(), closes);
                if closes {
                    let (literals, cycle) = graph.explain(from, to, code);
                    let last = cycle[cycle.len() - 1];
                    assert_eq!((last, cycle[0]), (from, to), "the new edge closes the cycle");
                    for pair in cycle.windows(2) {
                        let known = |&&(a, b, _): &&(Node, Node, Code)| (a, b) == (pair[0], pair[1]);
                        let explained = |&(_, _, code)| code == KNOWN || literals.contains(&code);
                        assert!(edges.iter().filter(known).any(explained));
                    }
                    let free: Vec<_> = edges.iter().copied().filter(|&(_, _, c)| c == KNOWN || c == code).collect();
                    assert!(literals.len() <= 1 || !reaches(&free, to, from), "fewer literals would do");
                } else {
                    edges.push((from, to, code));
                }
                assert!(edges.iter().all(|&(a, b, _)| graph.position(a) < graph.position(b)));
                assert_eq!(graph.edges(), edges.len());
            }
        }
    }
}
