//! Which transactions come before: for each chain the last one, as a map that copies in constant time.
//!
//! Every committed transaction keeps two of these, and most differ from another one in a few chains. So they are tries whose
//! parts are shared: a copy is a pointer, a join looks at what is not shared, and a store with a thousand sessions does not pay a
//! thousand numbers for each transaction.

use std::sync::Arc;

/// How many children a node has.
const WIDTH: usize = 16;
const BITS: u32 = WIDTH.trailing_zeros();

/// For each chain a number; 0 where none was set.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    root: Option<Arc<Node>>,
    /// How many levels of branches are above the leaves.
    height: u32,
}

#[derive(Clone, Debug)]
enum Node {
    Leaf([u32; WIDTH]),
    Branch([Option<Arc<Node>>; WIDTH]),
}

impl Clock {
    pub(crate) fn get(&self, chain: u32) -> u32 {
        if self.outside(chain) {
            return 0;
        }
        let mut node = self.root.as_deref();
        let mut height = self.height;
        while let Some(Node::Branch(children)) = node {
            node = children[digit(chain, height)].as_deref();
            height -= 1;
        }
        match node {
            Some(Node::Leaf(values)) => values[digit(chain, 0)],
            _ => 0,
        }
    }

    /// Sets the number of a chain, unless it is higher already.
    pub(crate) fn raise(&mut self, chain: u32, value: u32) {
        if self.get(chain) >= value {
            return;
        }
        while self.outside(chain) {
            self.grow();
        }
        let mut height = self.height;
        let mut slot = &mut self.root;
        loop {
            let empty = || if height == 0 { Node::Leaf([0; WIDTH]) } else { Node::Branch(Default::default()) };
            match Arc::make_mut(slot.get_or_insert_with(|| Arc::new(empty()))) {
                Node::Leaf(values) => {
                    values[digit(chain, 0)] = value;
                    return;
                }
                Node::Branch(children) => {
                    slot = &mut children[digit(chain, height)];
                    height -= 1;
                }
            }
        }
    }

    /// Raises every number to that of another clock. Whether any was lower.
    pub(crate) fn join(&mut self, other: &Clock) -> bool {
        if other.root.is_none() {
            return false;
        }
        let mut lifted;
        let mut other = other;
        while self.height < other.height {
            self.grow();
        }
        if other.height < self.height {
            lifted = other.clone();
            while lifted.height < self.height {
                lifted.grow();
            }
            other = &lifted;
        }
        join(&mut self.root, other.root.as_ref())
    }

    fn outside(&self, chain: u32) -> bool {
        let bits = BITS * (self.height + 1);
        bits < u32::BITS && chain >> bits != 0
    }

    fn grow(&mut self) {
        if let Some(root) = self.root.take() {
            let mut children: [Option<Arc<Node>>; WIDTH] = Default::default();
            children[0] = Some(root);
            self.root = Some(Arc::new(Node::Branch(children)));
        }
        self.height += 1;
    }
}

fn digit(chain: u32, height: u32) -> usize {
    (chain >> (BITS * height)) as usize % WIDTH
}

/// The recursion is as deep as the trie is high: at most eight.
fn join(mine: &mut Option<Arc<Node>>, other: Option<&Arc<Node>>) -> bool {
    let Some(other) = other else { return false };
    let Some(node) = mine else {
        *mine = Some(Arc::clone(other));
        return true;
    };
    if Arc::ptr_eq(node, other) {
        return false;
    }
    match (&**node, &**other) {
        (Node::Leaf(values), Node::Leaf(others)) => {
            if values.iter().zip(others).all(|(value, other)| value >= other) {
                return false;
            }
            // Where the other one has all that is here, it is shared instead of copied.
            if others.iter().zip(values).all(|(other, value)| other >= value) {
                *node = Arc::clone(other);
                return true;
            }
            let others = *others;
            if let Node::Leaf(values) = Arc::make_mut(node) {
                for (value, other) in values.iter_mut().zip(others) {
                    *value = (*value).max(other);
                }
            }
            true
        }
        (Node::Branch(children), Node::Branch(others)) => {
            let mut joined = children.clone();
            let mut changed = false;
            for (child, other) in joined.iter_mut().zip(others) {
                changed |= join(child, other.as_ref());
            }
            if changed {
                let same = |(a, b): (&Option<Arc<Node>>, &Option<Arc<Node>>)| match (a, b) {
                    (Some(a), Some(b)) => Arc::ptr_eq(a, b),
                    (None, None) => true,
                    _ => false,
                };
                *node = if joined.iter().zip(others).all(same) {
                    Arc::clone(other)
                } else {
                    Arc::new(Node::Branch(joined))
                };
            }
            changed
        }
        _ => unreachable!("both tries have the same height"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isonomy_workload::Rng;

    #[test]
    fn a_clock_is_a_map_with_a_maximum() {
        let mut rng = Rng::new(1);
        for round in 0..200 {
            let chains = 1 + (round * round) as u64;
            let mut clocks = vec![(Clock::default(), vec![0u32; chains as usize]); 4];
            for _ in 0..100 {
                let (a, b) = (rng.below(4) as usize, rng.below(4) as usize);
                if rng.chance(0.7) {
                    let (chain, value) = (rng.below(chains) as u32, rng.below(50) as u32);
                    clocks[a].0.raise(chain, value);
                    clocks[a].1[chain as usize] = clocks[a].1[chain as usize].max(value);
                } else {
                    let other = clocks[b].clone();
                    let higher = clocks[a].1.iter().zip(&other.1).any(|(mine, other)| mine < other);
                    assert_eq!(clocks[a].0.join(&other.0), higher);
                    for (mine, other) in clocks[a].1.iter_mut().zip(&other.1) {
                        *mine = (*mine).max(*other);
                    }
                }
                let chain = rng.below(chains) as u32;
                assert_eq!(clocks[a].0.get(chain), clocks[a].1[chain as usize]);
                assert_eq!(clocks[a].0.get(chain + chains as u32 + 7), 0);
            }
        }
    }
}
