//! What transactions have committed: versions of keys, and the order they must have.

use isonomy_workload::Rng;

use crate::keys::{Key, KeyId, Keys, ValueId, Version};
use crate::order::{Node, Order, Past};

#[derive(Debug, Default)]
pub(crate) struct Committed {
    pub(crate) keys: Keys,
    pub(crate) order: Order,
    /// The keys that each transaction wrote.
    written: Vec<Box<[KeyId]>>,
    /// The transaction with a position.
    positions: Vec<Node>,
}

impl Committed {
    pub(crate) fn key(&self, id: KeyId) -> &Key {
        self.keys.get(id)
    }

    /// The keys that a transaction wrote.
    pub(crate) fn written(&self, node: Node) -> &[KeyId] {
        &self.written[node as usize]
    }

    /// The keys that the transaction with a position wrote.
    pub(crate) fn written_at(&self, position: u32) -> &[KeyId] {
        self.written(self.positions[position as usize])
    }

    /// Adds a transaction, after others that it comes right after.
    pub(crate) fn add(&mut self, chain: u32, past: Past, predecessors: &[Node], writes: &[(KeyId, ValueId)]) -> Node {
        let node = self.order.commit(chain, past, predecessors);
        for &(key, value) in writes {
            self.keys.push(key, Version { node, value }, chain);
        }
        self.written.push(writes.iter().map(|write| write.0).collect());
        node
    }

    /// Gives positions to all transactions that have none, or to the oldest half of them.
    pub(crate) fn freeze(&mut self, all: bool, rng: &mut Rng) {
        for node in self.order.freeze(all, rng) {
            self.positions.push(node);
            for &key in &self.written[node as usize] {
                self.keys.freeze(key, node, &self.order);
            }
        }
    }
}
