//! The communication graph, and what of a history can be decided apart.
//!
//! Its vertices are the sessions; two are joined if they access a common key. A level without real time holds iff it holds for each
//! biconnected component of this graph by itself (Biswas, 2021, theorem 3.4.1). The sessions of one key are joined pairwise, so all accesses
//! of a key lie in one component: a block is a set of keys, with the transactions that access them. Two components share one session at most,
//! and every order of theirs agrees with session order there, so that orders of the blocks have no cycle in common.
//!
//! - The initial transaction is no vertex. It would join all sessions, and it can be in no cycle.
//! - Keys that only one session accesses make a block with that session alone. Without it they would not be looked at.
//! - Sessions of a key are joined in a ring instead of pairwise, which gives the same components with fewer edges.

use isonomy_history::{Derived, Key, TxnId};

use super::NONE;
use super::problem::Lists;

/// The transactions of each block, chain by chain, and the block of each key.
pub(super) struct Blocks {
    pub(super) txns: Vec<Vec<TxnId>>,
    /// [`NONE`] for keys that no transaction that counts accesses.
    pub(super) of_key: Vec<u32>,
}

/// The keys a transaction reads a version of or writes, some of them twice.
fn keys(derived: &Derived, txn: TxnId) -> impl Iterator<Item = Key> {
    // A read without a key is of an event that has another one with the key.
    derived.reads(txn).iter().filter_map(|read| read.key()).chain(derived.writes(txn).iter().copied())
}

impl Blocks {
    /// All in one.
    pub(super) fn whole(chains: &[Vec<TxnId>], key_count: usize) -> Self {
        Blocks { txns: vec![chains.concat()], of_key: vec![0; key_count] }
    }

    /// The biconnected components.
    pub(super) fn components(derived: &Derived, chains: &[Vec<TxnId>], key_count: usize) -> Self {
        let mut accesses = Vec::new();
        let mut last_chain = vec![NONE; key_count];
        for (chain, txns) in chains.iter().enumerate() {
            for key in txns.iter().flat_map(|&txn| keys(derived, txn)) {
                if last_chain[key.index()] != chain as u32 {
                    last_chain[key.index()] = chain as u32;
                    accesses.push((key.0, chain as u32));
                }
            }
        }
        let chains_of_key = Lists::new(key_count, &accesses);
        let components = Components::of(chains.len(), &chains_of_key);

        let mut count = components.tops.len() as u32;
        let mut private = vec![NONE; chains.len()];
        let mut of_key = vec![NONE; key_count];
        for (key, block) in of_key.iter_mut().enumerate() {
            *block = match *chains_of_key.of(key as u32) {
                [] => NONE,
                [alone] => {
                    let own = &mut private[alone as usize];
                    if *own == NONE {
                        *own = count;
                        count += 1;
                    }
                    *own
                }
                [one, other, ..] => components.common(one, other),
            };
        }
        let mut txns: Vec<Vec<TxnId>> = vec![Vec::new(); count as usize];
        for &txn in chains.iter().flatten() {
            for key in keys(derived, txn) {
                let block = &mut txns[of_key[key.index()] as usize];
                if block.last() != Some(&txn) {
                    block.push(txn);
                }
            }
        }
        Blocks { txns, of_key }
    }
}

/// Biconnected components by depth-first search. Each vertex but the roots was reached in exactly one component; beside those reached
/// in it, a component has the vertex from which they were reached.
struct Components {
    /// For each vertex the component it was reached in, or [`NONE`] for roots.
    reached_in: Vec<u32>,
    /// For each component the vertex from which the others were reached.
    tops: Vec<u32>,
}

impl Components {
    /// Of the graph in which the vertices of each list are joined.
    fn of(vertices: usize, joined: &Lists<u32>) -> Self {
        let mut edges = Vec::new();
        for ring in (0..joined.len() as u32).map(|list| joined.of(list)).filter(|ring| ring.len() > 1) {
            for (at, &vertex) in ring.iter().enumerate() {
                let next = ring[(at + 1) % ring.len()];
                edges.extend([(vertex, next), (next, vertex)]);
            }
        }
        edges.sort_unstable();
        edges.dedup();
        let neighbours = Lists::new(vertices, &edges);

        let mut components = Components { reached_in: vec![NONE; vertices], tops: Vec::new() };
        // Vertices are numbered as they are reached. `low` is the smallest number next to what was reached from a vertex.
        let mut number = vec![NONE; vertices];
        let mut low = vec![NONE; vertices];
        let mut reached = 0;
        // Vertices that are in no finished component yet, and the path with how many neighbours were looked at.
        let mut open: Vec<u32> = Vec::new();
        let mut path: Vec<(u32, usize)> = Vec::new();
        for root in 0..vertices as u32 {
            if number[root as usize] != NONE {
                continue;
            }
            path.push((root, 0));
            while let Some(&mut (vertex, ref mut looked_at)) = path.last_mut() {
                if number[vertex as usize] == NONE {
                    number[vertex as usize] = reached;
                    low[vertex as usize] = reached;
                    reached += 1;
                }
                if let Some(&neighbour) = neighbours.of(vertex).get(*looked_at) {
                    *looked_at += 1;
                    if number[neighbour as usize] == NONE {
                        open.push(neighbour);
                        path.push((neighbour, 0));
                    } else {
                        low[vertex as usize] = low[vertex as usize].min(number[neighbour as usize]);
                    }
                    continue;
                }
                path.pop();
                let Some(&(top, _)) = path.last() else { break };
                low[top as usize] = low[top as usize].min(low[vertex as usize]);
                if low[vertex as usize] >= number[top as usize] {
                    let component = components.tops.len() as u32;
                    components.tops.push(top);
                    let first =
                        open.iter().rposition(|&v| v == vertex).expect("it is open until its component is done");
                    for member in open.drain(first..) {
                        components.reached_in[member as usize] = component;
                    }
                }
            }
        }
        components
    }

    /// The component of two neighbours.
    fn common(&self, one: u32, other: u32) -> u32 {
        let (in_one, in_other) = (self.reached_in[one as usize], self.reached_in[other as usize]);
        if in_one != NONE && (in_one == in_other || self.tops[in_one as usize] == other) {
            return in_one;
        }
        debug_assert_eq!(self.tops[in_other as usize], one, "neighbours have a component in common");
        in_other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(keys: &[&[u32]], vertices: usize) -> Vec<u32> {
        let pairs: Vec<(u32, u32)> =
            keys.iter().enumerate().flat_map(|(key, list)| list.iter().map(move |&v| (key as u32, v))).collect();
        let lists = Lists::new(keys.len(), &pairs);
        let components = Components::of(vertices, &lists);
        keys.iter().map(|list| components.common(list[0], list[1])).collect()
    }

    #[test]
    fn the_example_of_the_thesis_has_three_components() {
        // Figure 3.12: S1-S2, the triangle S2 S3 S4, S4-S5.
        let found = blocks(&[&[0, 1], &[1, 2], &[2, 3], &[1, 3], &[3, 4]], 5);
        assert_eq!(found[1], found[2]);
        assert_eq!(found[2], found[3]);
        assert!(found[0] != found[1] && found[1] != found[4] && found[0] != found[4]);
    }

    #[test]
    fn the_sessions_of_a_key_are_in_one_component() {
        let found = blocks(&[&[0, 1, 2, 3], &[3, 4], &[4, 5], &[5, 3], &[1, 3]], 6);
        assert_eq!(found[0], found[4]);
        assert_eq!(found[1], found[2]);
        assert_eq!(found[2], found[3]);
        assert_ne!(found[0], found[1]);
    }
}
