//! A block as numbers: what is to be put in order, and what is known to precede what.

use isonomy_history::{History, Key, TxnId, VersionEdge};

use super::{NONE, Rules};

/// Lists in one vector.
pub(super) struct Lists<T> {
    from: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy> Lists<T> {
    /// From pairs of a list and an item. Items stay in the order of the pairs.
    pub(super) fn new(lists: usize, pairs: &[(u32, T)]) -> Self {
        let mut from = vec![0u32; lists + 1];
        for &(list, _) in pairs {
            from[list as usize + 1] += 1;
        }
        for list in 0..lists {
            from[list + 1] += from[list];
        }
        let mut next = from.clone();
        let mut items: Vec<T> = pairs.iter().map(|&(_, item)| item).collect();
        for &(list, item) in pairs {
            items[next[list as usize] as usize] = item;
            next[list as usize] += 1;
        }
        Lists { from, items }
    }

    pub(super) fn len(&self) -> usize {
        self.from.len() - 1
    }

    #[inline]
    pub(super) fn of(&self, list: u32) -> &[T] {
        &self.items[self.from[list as usize] as usize..self.from[list as usize + 1] as usize]
    }

    pub(super) fn of_mut(&mut self, list: u32) -> &mut [T] {
        &mut self.items[self.from[list as usize] as usize..self.from[list as usize + 1] as usize]
    }

    pub(super) fn all_mut(&mut self) -> &mut [T] {
        &mut self.items
    }
}

/// A key that a transaction writes.
#[derive(Clone, Copy)]
pub(super) struct Write {
    pub(super) key: u32,
    pub(super) version: u32,
    /// Whether the transaction also reads a version of the key.
    pub(super) reads_it: bool,
    /// How many later transactions of its chain write the key.
    pub(super) later_in_chain: u32,
    /// Whether of each other writer of the key it is known which of the two is first.
    pub(super) has_place: bool,
}

/// A block. Transactions, keys and versions have numbers of its own; transactions are numbered chain by chain.
///
/// What is put in order are *parts*: the reads of a transaction and its writes, or both as one where begin and commit are one. Parts are
/// numbered like transactions, so that each chain's are consecutive, in their order.
pub(super) struct Problem {
    pub(super) rules: Rules,
    /// The history's transaction for each.
    pub(super) txns: Vec<TxnId>,
    /// The first part of each chain, and the number of parts.
    pub(super) chains: Vec<u32>,
    /// For each part its chain, and how many parts of that are before it.
    pub(super) places: Vec<(u32, u32)>,
    /// The versions that each transaction reads, each once.
    pub(super) reads: Lists<u32>,
    /// The keys that each transaction writes, ascending.
    pub(super) writes: Lists<Write>,
    /// The transactions that read each version. The initial version of a key has the key's number.
    pub(super) readers: Lists<u32>,
    /// The key of each version, and who wrote it (or [`NONE`]).
    pub(super) versions: Vec<(u32, u32)>,
    /// The writers of each key, ascending.
    pub(super) writers: Lists<u32>,
    /// Pairs of parts of which the first precedes the second.
    pub(super) edges: Vec<(u32, u32)>,
}

/// Numbers of a block's transactions and keys, for the history's; kept from block to block.
pub(super) struct Numbers {
    txns: Vec<u32>,
    keys: Vec<u32>,
}

impl Numbers {
    pub(super) fn new(history: &History) -> Self {
        Numbers { txns: vec![NONE; history.transaction_count()], keys: vec![NONE; history.key_count()] }
    }
}

impl Problem {
    /// The block of these transactions and keys. Of its transactions those of a session are consecutive, in session order;
    /// `chain_of` says which are of one chain.
    pub(super) fn new(
        history: &History,
        rules: Rules,
        txns: &[TxnId],
        is_key: impl Fn(Key) -> bool,
        chain_of: impl Fn(TxnId) -> u32,
        version_edges: &[VersionEdge],
        numbers: &mut Numbers,
    ) -> Self {
        let derived = history.derived();
        let parts = rules.parts();
        for (number, txn) in txns.iter().enumerate() {
            numbers.txns[txn.index()] = number as u32;
        }

        let mut keys = Vec::new();
        for &txn in txns {
            let read = derived.reads(txn).iter().filter_map(|read| read.key());
            for key in read.chain(derived.writes(txn).iter().copied()).filter(|&key| is_key(key)) {
                let number = &mut numbers.keys[key.index()];
                if *number == NONE {
                    *number = keys.len() as u32;
                    keys.push(key);
                }
            }
        }
        let mut versions: Vec<(u32, u32)> = (0..keys.len() as u32).map(|key| (key, NONE)).collect();
        let mut writes: Vec<(u32, Write)> = Vec::new();
        for (number, &txn) in txns.iter().enumerate() {
            let first = writes.len();
            for &key in derived.writes(txn).iter().filter(|&&key| is_key(key)) {
                let key = numbers.keys[key.index()];
                let write = Write { key, version: 0, reads_it: false, later_in_chain: 0, has_place: false };
                writes.push((number as u32, write));
            }
            writes[first..].sort_unstable_by_key(|(_, write)| write.key);
            for (_, write) in &mut writes[first..] {
                write.version = versions.len() as u32;
                versions.push((write.key, number as u32));
            }
        }
        let mut writes = Lists::new(txns.len(), &writes);

        let mut chains = Vec::new();
        let mut places = Vec::with_capacity(txns.len() * parts as usize);
        let mut edges = Vec::new();
        for (number, &txn) in txns.iter().enumerate() {
            let first_part = number as u32 * parts;
            if number == 0 || chain_of(txns[number - 1]) != chain_of(txn) {
                chains.push(first_part);
            } else {
                edges.push((first_part - 1, first_part));
            }
            edges.extend((first_part + 1..first_part + parts).map(|part| (part - 1, part)));
            let first_of_chain = chains[chains.len() - 1];
            let chain = chains.len() as u32 - 1;
            places.extend((first_part..first_part + parts).map(|part| (chain, part - first_of_chain)));
        }
        chains.push(txns.len() as u32 * parts);

        let (read_part, write_part) = (|txn: u32| txn * parts, |txn: u32| txn * parts + parts - 1);
        let mut reads: Vec<(u32, u32)> = Vec::new();
        for (number, &txn) in txns.iter().enumerate() {
            let first = reads.len();
            for read in derived.reads(txn) {
                // A source outside the block is of a key outside it, and is looked at with that.
                let source = read.from().map(|from| numbers.txns[from.index()]);
                if let Some(source) = source.filter(|&source| source != NONE) {
                    edges.push((write_part(source), read_part(number as u32)));
                }
                let Some(key) = read.key().filter(|&key| is_key(key)) else { continue };
                let key = numbers.keys[key.index()];
                let version = source.map_or(key, |source| {
                    let all = writes.of(source);
                    all[all.binary_search_by_key(&key, |write| write.key).expect("the source writes the key")].version
                });
                reads.push((number as u32, version));
            }
            reads[first..].sort_unstable();
            let mut kept = first;
            for at in first..reads.len() {
                if at == first || reads[at] != reads[kept - 1] {
                    reads[kept] = reads[at];
                    kept += 1;
                }
            }
            reads.truncate(kept);
        }
        for edge in version_edges {
            let (before, after) = (numbers.txns[edge.before.index()], numbers.txns[edge.after.index()]);
            edges.push((write_part(before), if rules.conflict { read_part(after) } else { write_part(after) }));
        }
        edges.sort_unstable();
        edges.dedup();

        let readers: Vec<(u32, u32)> = reads.iter().map(|&(txn, version)| (version, txn)).collect();
        let readers = Lists::new(versions.len(), &readers);
        let reads = Lists::new(txns.len(), &reads);
        for write in writes.all_mut() {
            let writer = versions[write.version as usize].1;
            write.reads_it = reads.of(writer).iter().any(|&version| versions[version as usize].0 == write.key);
        }
        let mut later = vec![(NONE, 0); keys.len()];
        for write in writes.all_mut().iter_mut().rev() {
            let chain = places[read_part(versions[write.version as usize].1) as usize].0;
            let (of, count) = &mut later[write.key as usize];
            *count = if *of == chain { *count + 1 } else { 0 };
            *of = chain;
            write.later_in_chain = *count;
        }
        let writers: Vec<(u32, u32)> = versions[keys.len()..].to_vec();
        let writers = Lists::new(keys.len(), &writers);

        for txn in txns {
            numbers.txns[txn.index()] = NONE;
        }
        for key in &keys {
            numbers.keys[key.index()] = NONE;
        }
        Problem { rules, txns: txns.to_vec(), chains, places, reads, writes, readers, versions, writers, edges }
    }

    pub(super) fn key_count(&self) -> usize {
        self.writers.len()
    }

    pub(super) fn part_count(&self) -> usize {
        self.txns.len() * self.rules.parts() as usize
    }

    /// The part that reads.
    #[inline]
    pub(super) fn read_part(&self, txn: u32) -> u32 {
        txn * self.rules.parts()
    }

    /// The part that writes.
    #[inline]
    pub(super) fn write_part(&self, txn: u32) -> u32 {
        txn * self.rules.parts() + self.rules.parts() - 1
    }

    /// The transaction of a part, whether the part reads, and whether it writes.
    #[inline]
    pub(super) fn role(&self, part: u32) -> (u32, bool, bool) {
        if self.rules.atomic { (part, true, true) } else { (part / 2, part & 1 == 0, part & 1 == 1) }
    }

    pub(super) fn writes_key(&self, txn: u32, key: u32) -> bool {
        self.writes.of(txn).binary_search_by_key(&key, |write| write.key).is_ok()
    }
}
