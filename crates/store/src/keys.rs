//! Keys, and the versions that committed transactions left there.

use rustc_hash::FxHashMap;

use crate::order::{Node, Order, UNFROZEN};

/// A key; they are numbered as they are first used.
pub(crate) type KeyId = u32;

/// What some write put there; all writes are numbered.
pub(crate) type ValueId = u32;

/// What a committed transaction left at a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Version {
    pub(crate) node: Node,
    pub(crate) value: ValueId,
}

#[derive(Debug, Default)]
pub(crate) struct Key {
    pub(crate) name: Box<str>,
    /// The versions of each chain, in the order of the chain.
    chains: Vec<(u32, Vec<Version>)>,
    /// Where a chain is in `chains`.
    places: FxHashMap<u32, u32>,
    /// The versions with a position, by it.
    frozen: Vec<Version>,
    newest: Option<Version>,
}

impl Key {
    /// What was committed last.
    pub(crate) fn newest(&self) -> Option<Version> {
        self.newest
    }

    /// The versions of each chain.
    pub(crate) fn chains(&self) -> &[(u32, Vec<Version>)] {
        &self.chains
    }

    /// The versions of one chain.
    pub(crate) fn of_chain(&self, chain: u32) -> &[Version] {
        self.places.get(&chain).map_or(&[], |&place| &self.chains[place as usize].1)
    }

    /// The versions with a position, by it.
    pub(crate) fn frozen(&self) -> &[Version] {
        &self.frozen
    }

    /// The last version with a position below this.
    pub(crate) fn frozen_below(&self, position: u32, order: &Order) -> Option<Version> {
        let end = self.frozen.partition_point(|version| order.position(version.node) < position);
        end.checked_sub(1).map(|last| self.frozen[last])
    }

    /// What a transaction left here.
    pub(crate) fn written_by(&self, node: Node, order: &Order) -> Option<Version> {
        let versions = self.of_chain(order.chain(node));
        versions.binary_search_by_key(&node, |version| version.node).ok().map(|at| versions[at])
    }
}

#[derive(Debug, Default)]
pub(crate) struct Keys {
    keys: Vec<Key>,
    ids: FxHashMap<Box<str>, KeyId>,
}

impl Keys {
    pub(crate) fn id(&mut self, name: &str) -> KeyId {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = self.keys.len() as KeyId;
        self.keys.push(Key { name: name.into(), ..Key::default() });
        self.ids.insert(name.into(), id);
        id
    }

    pub(crate) fn find(&self, name: &str) -> Option<KeyId> {
        self.ids.get(name).copied()
    }

    pub(crate) fn get(&self, id: KeyId) -> &Key {
        &self.keys[id as usize]
    }

    /// Adds a version of a transaction that has just committed.
    pub(crate) fn push(&mut self, id: KeyId, version: Version, chain: u32) {
        let key = &mut self.keys[id as usize];
        let place = *key.places.entry(chain).or_insert_with(|| {
            key.chains.push((chain, Vec::new()));
            key.chains.len() as u32 - 1
        });
        key.chains[place as usize].1.push(version);
        key.newest = Some(version);
    }

    /// Notes that a version has a position now, after all others that have one.
    pub(crate) fn freeze(&mut self, id: KeyId, node: Node, order: &Order) {
        debug_assert_ne!(order.position(node), UNFROZEN, "it has a position");
        let key = &mut self.keys[id as usize];
        key.frozen.extend(key.written_by(node, order));
    }
}
