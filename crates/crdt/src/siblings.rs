//! Which elements of an array were added before which, as far as lists tell.
//!
//! Elements make a tree: each hangs below the one it was put after. A list is a walk through that tree, a parent before its
//! children, of siblings the one with the later timestamp first. So two elements of a list, neither below the other, tell which
//! of two siblings, one above each, is later. Neighbours are enough: what two others tell follows from the neighbours
//! between them, or these contradict themselves.

use rustc_hash::FxHashSet;

use crate::history::{History, LabelId, OpId, Operation};
use crate::problem::NOBODY;

pub(crate) struct Siblings {
    adder: Vec<u32>,
    /// For each element its parent, an element far above it, and its depth; the front has the number after the last element.
    parent: Vec<u32>,
    jump: Vec<u32>,
    depth: Vec<u32>,
    neighbours: FxHashSet<(u32, u32)>,
    listed: Vec<u32>,
    lists: u32,
    before: Vec<(u32, u32)>,
}

impl Siblings {
    pub(crate) fn new(history: &History, adder: &[u32]) -> Self {
        let elements = adder.len();
        let front = elements as u32;
        let mut tree = Siblings {
            adder: adder.to_vec(),
            parent: vec![front; elements + 1],
            jump: vec![front; elements + 1],
            depth: vec![0; elements + 1],
            neighbours: FxHashSet::default(),
            listed: vec![0; elements],
            lists: 0,
            before: Vec::new(),
        };
        for (element, &adder) in adder.iter().enumerate() {
            if adder != NOBODY
                && let Operation::Insert(Some(after), _) = history.operation(OpId(adder))
            {
                tree.parent[element] = after.0;
            }
        }
        tree.hang();
        tree
    }

    /// Gives every element its depth and its jump, parents first. Elements on or below a circle stay at depth 0: no
    /// visibility explains those.
    fn hang(&mut self) {
        let elements = self.adder.len();
        let mut path = Vec::new();
        let mut on_path = vec![false; elements];
        for element in 0..elements as u32 {
            let mut at = element;
            while at < elements as u32 && self.depth[at as usize] == 0 && !on_path[at as usize] {
                on_path[at as usize] = true;
                path.push(at);
                at = self.parent[at as usize];
            }
            let circular = at < elements as u32 && self.depth[at as usize] == 0;
            while let Some(below) = path.pop() {
                if !circular {
                    self.hang_one(below);
                }
            }
        }
    }

    /// Jumps of skew-binary lengths: the ancestor at any depth is found in logarithmic time with one jump for each element.
    fn hang_one(&mut self, element: u32) {
        let parent = self.parent[element as usize] as usize;
        self.depth[element as usize] = self.depth[parent] + 1;
        let far = self.jump[parent] as usize;
        let farther = self.jump[far] as usize;
        let even = self.depth[parent] - self.depth[far] == self.depth[far] - self.depth[farther];
        self.jump[element as usize] = if even { farther as u32 } else { parent as u32 };
    }

    /// Takes a list that was returned; whether it can be a walk at all.
    pub(crate) fn place(&mut self, list: &[LabelId]) -> bool {
        self.lists += 1;
        let mut possible = true;
        for &LabelId(element) in list {
            possible &= self.listed[element as usize] != self.lists;
            self.listed[element as usize] = self.lists;
        }
        for pair in list.windows(2) {
            let (left, right) = (pair[0].0, pair[1].0);
            // Elements on a circle have no place in the tree.
            if self.depth[left as usize] > 0 && self.depth[right as usize] > 0 && self.neighbours.insert((left, right))
            {
                possible &= self.compare(left, right);
            }
        }
        possible
    }

    /// What it tells that one element stands right before another; false if the other is above it.
    fn compare(&mut self, left: u32, right: u32) -> bool {
        let (mut a, mut b) = (left, right);
        a = self.at_depth(a, self.depth[b as usize]);
        b = self.at_depth(b, self.depth[a as usize]);
        if a == b {
            return a == left && a != right;
        }
        while self.parent[a as usize] != self.parent[b as usize] {
            if self.jump[a as usize] == self.jump[b as usize] {
                (a, b) = (self.parent[a as usize], self.parent[b as usize]);
            } else {
                (a, b) = (self.jump[a as usize], self.jump[b as usize]);
            }
        }
        let (earlier, later) = (self.adder[b as usize], self.adder[a as usize]);
        if earlier != NOBODY && later != NOBODY {
            self.before.push((earlier, later));
        }
        true
    }

    fn at_depth(&self, mut element: u32, depth: u32) -> u32 {
        while self.depth[element as usize] > depth {
            let jump = self.jump[element as usize];
            let far = self.depth[jump as usize] >= depth;
            element = if far { jump } else { self.parent[element as usize] };
        }
        element
    }

    /// Pairs of additions: the first was before the second.
    pub(crate) fn finish(mut self) -> Vec<(u32, u32)> {
        self.before.sort_unstable();
        self.before.dedup();
        self.before
    }
}
