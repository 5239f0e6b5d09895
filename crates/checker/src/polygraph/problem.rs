//! What a strong level asks of a history, or of some of its transactions: flat arrays, local numbers.

use std::sync::OnceLock;

use isonomy_history::{History, Key, TxnId};
use rustc_hash::FxHashMap;

use super::rules::Rules;
use super::times::{Moments, moments};
use crate::chains::{NONE, continues_session};
use crate::lists::Lists;

/// Transactions, their versions, and who read which of them. Versions are numbered transaction by transaction, each transaction's by
/// key; after them comes an initial version for every key.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) rules: Rules,
    /// The transactions that take part, ascending. All other numbers of transactions are indices into this.
    pub(crate) txns: Vec<TxnId>,
    /// The one before it in session order, or [`NONE`].
    pub(crate) previous: Vec<u32>,
    /// The one after it in session order, or [`NONE`].
    pub(crate) following: Vec<u32>,
    /// Where each transaction's versions begin, and at the end how many versions were written.
    first_version: Vec<u32>,
    /// Who wrote each version.
    pub(crate) writer: Vec<u32>,
    /// The key of each written version.
    pub(crate) key: Vec<u32>,
    /// The keys that take part.
    pub(crate) keys: Vec<Key>,
    /// For each key its written versions, once somebody asks.
    versions: OnceLock<Lists>,
    /// For each transaction the versions it read, each once, ascending.
    pub(crate) reads: Lists,
    /// A version that a transaction read, and the one of the same key that it wrote.
    pub(crate) updates: Vec<(u32, u32)>,
    /// For each version, initial ones too, who read it.
    pub(crate) readers: Lists,
    /// For each transaction those it saw without reading their version: inner elements of lists.
    pub(crate) seen: Lists,
    /// For each transaction those who saw it so.
    pub(crate) seen_by: Lists,
    /// Versions of which lists show that the first precedes the second: neighbours only.
    pub(crate) listed: Vec<(u32, u32)>,
    /// When each transaction ran, where the level speaks of time.
    pub(crate) moments: Vec<Moments>,
}

impl Problem {
    /// All transactions that count.
    pub(crate) fn whole(history: &History, rules: Rules) -> Self {
        let derived = history.derived();
        let txns: Vec<TxnId> = history.transactions().filter(|&txn| derived.counts(txn)).collect();
        if txns.len() == history.transaction_count() {
            let keys = (0..history.key_count() as u32).map(Key).collect();
            Self::make(history, rules, txns, keys, |txn| txn.0, |key| Some(key.0))
        } else {
            let mut local = vec![NONE; history.transaction_count()];
            for (index, txn) in txns.iter().enumerate() {
                local[txn.index()] = index as u32;
            }
            let keys = (0..history.key_count() as u32).map(Key).collect();
            Self::make(history, rules, txns, keys, |txn| local[txn.index()], |key| Some(key.0))
        }
    }

    /// Some of the transactions that count, ascending, as if the others had never been: what was read from those is left out.
    pub(crate) fn part(history: &History, rules: Rules, txns: Vec<TxnId>) -> Self {
        let derived = history.derived();
        let local: FxHashMap<TxnId, u32> = txns.iter().enumerate().map(|(index, &txn)| (txn, index as u32)).collect();
        let mut keys: Vec<Key> = txns.iter().flat_map(|&txn| derived.writes(txn)).copied().collect();
        keys.sort_unstable();
        keys.dedup();
        let local_key: FxHashMap<Key, u32> = keys.iter().enumerate().map(|(index, &key)| (key, index as u32)).collect();
        Self::make(
            history,
            rules,
            txns,
            keys,
            |txn| local.get(&txn).copied().unwrap_or(NONE),
            |key| local_key.get(&key).copied(),
        )
    }

    fn make(
        history: &History,
        rules: Rules,
        txns: Vec<TxnId>,
        keys: Vec<Key>,
        local: impl Fn(TxnId) -> u32,
        local_key: impl Fn(Key) -> Option<u32>,
    ) -> Self {
        let derived = history.derived();
        let count = txns.len();
        let mut previous = vec![NONE; count];
        let mut following = vec![NONE; count];
        if rules.session_order {
            for (index, continues) in continues_session(history, txns.iter().copied()).enumerate() {
                if continues {
                    previous[index] = index as u32 - 1;
                    following[index - 1] = index as u32;
                }
            }
        }
        let mut first_version = Vec::with_capacity(count + 1);
        let mut writer = Vec::new();
        let mut key = Vec::new();
        for (index, &txn) in txns.iter().enumerate() {
            first_version.push(writer.len() as u32);
            for &written in derived.writes(txn) {
                writer.push(index as u32);
                key.push(local_key(written).expect("keys that are written take part"));
            }
        }
        first_version.push(writer.len() as u32);
        let written = writer.len() as u32;
        // Each transaction's first version and its key side by side: most look-ups end there, and each is one access to memory.
        let firsts: Vec<(u32, u32)> =
            first_version.iter().map(|&first| (first, key.get(first as usize).copied().unwrap_or(NONE))).collect();
        let version_by = |txn: TxnId, wanted: u32| {
            let index = local(txn);
            (index != NONE).then(|| {
                let (first, key_of_first) = firsts[index as usize];
                if key_of_first == wanted {
                    return first;
                }
                let others = &key[first as usize + 1..first_version[index as usize + 1] as usize];
                let at = others.binary_search(&wanted).expect("what is read is a final write");
                first + 1 + at as u32
            })
        };
        let mut read_from = Vec::with_capacity(count + 1);
        let mut read_items: Vec<u32> = Vec::new();
        let mut updates = Vec::new();
        let mut seen_pairs: Vec<(u32, u32)> = Vec::new();
        for (index, &txn) in txns.iter().enumerate() {
            let first = read_items.len();
            read_from.push(first as u32);
            let (own, own_end) = (first_version[index], first_version[index + 1]);
            for read in derived.reads(txn) {
                let Some(read_key) = read.key() else {
                    let seen = read.from().map_or(NONE, &local);
                    seen_pairs.extend((seen != NONE).then_some((index as u32, seen)));
                    continue;
                };
                let Some(read_key) = local_key(read_key) else { continue };
                let version = read.from().map_or(Some(written + read_key), |from| version_by(from, read_key));
                let Some(version) = version else { continue };
                read_items.push(version);
                if let Ok(at) = key[own as usize..own_end as usize].binary_search(&read_key) {
                    updates.push((version, own + at as u32));
                }
            }
            if read_items.len() - first > 1 {
                read_items[first..].sort_unstable();
                let mut kept = first + 1;
                for at in first + 1..read_items.len() {
                    if read_items[at] != read_items[kept - 1] {
                        read_items[kept] = read_items[at];
                        kept += 1;
                    }
                }
                read_items.truncate(kept);
            }
        }
        read_from.push(read_items.len() as u32);
        let reads = Lists::from_parts(read_from, read_items);
        let readers = Lists::new(written as usize + keys.len(), |add| {
            (0..count as u32).for_each(|txn| reads.of(txn).iter().for_each(|&version| add(version, txn)));
        });
        seen_pairs.sort_unstable();
        seen_pairs.dedup();
        let (seen, seen_by) = if seen_pairs.is_empty() {
            (Lists::empty(), Lists::empty())
        } else {
            let seen = Lists::new(count, |add| seen_pairs.iter().for_each(|&(by, txn)| add(by, txn)));
            (seen, Lists::new(count, |add| seen_pairs.iter().for_each(|&(by, txn)| add(txn, by))))
        };
        let known = |&txn: &TxnId| moments(history, txn).expect("a level of real time is asked where there are times");
        let moments = if rules.needs_times() { txns.iter().map(known).collect() } else { Vec::new() };
        let mut problem = Problem {
            rules,
            txns,
            previous,
            following,
            first_version,
            writer,
            key,
            keys,
            versions: OnceLock::new(),
            reads,
            updates,
            readers,
            seen,
            seen_by,
            listed: Vec::new(),
            moments,
        };
        problem.find_listed(history, &local, &local_key);
        problem
    }

    /// What lists show. An order that runs through transactions that do not take part is kept.
    fn find_listed(
        &mut self,
        history: &History,
        local: &impl Fn(TxnId) -> u32,
        local_key: &impl Fn(Key) -> Option<u32>,
    ) {
        // Every version has at most one that lists show right before it, and edges come in that order.
        for of_key in history.derived().version_edges().chunk_by(|a, b| a.key == b.key) {
            let Some(key) = local_key(of_key[0].key) else { continue };
            let mut through: FxHashMap<TxnId, u32> = FxHashMap::default();
            for edge in of_key {
                let nearest = match local(edge.before) {
                    NONE => through.get(&edge.before).copied(),
                    before => self.version_of(before, key),
                };
                let Some(nearest) = nearest else { continue };
                match local(edge.after) {
                    NONE => _ = through.insert(edge.after, nearest),
                    after => {
                        let after = self.version_of(after, key).expect("listed ones write the key");
                        self.listed.push((nearest, after));
                    }
                }
            }
        }
    }

    /// For each key its written versions.
    pub(crate) fn versions(&self) -> &Lists {
        self.versions.get_or_init(|| {
            Lists::new(self.keys.len(), |add| {
                self.key.iter().enumerate().for_each(|(version, &key)| add(key, version as u32));
            })
        })
    }

    /// How many versions were written; the initial version of key `k` has this number plus `k`.
    #[inline]
    pub(crate) fn written(&self) -> u32 {
        self.writer.len() as u32
    }

    /// The versions that a transaction wrote.
    #[inline]
    pub(crate) fn versions_by(&self, txn: u32) -> std::ops::Range<u32> {
        self.first_version[txn as usize]..self.first_version[txn as usize + 1]
    }

    /// The version of a key that a transaction wrote.
    pub(crate) fn version_of(&self, txn: u32, key: u32) -> Option<u32> {
        let range = self.versions_by(txn);
        let keys = &self.key[range.start as usize..range.end as usize];
        keys.binary_search(&key).ok().map(|at| range.start + at as u32)
    }

    /// The key of a version.
    #[inline]
    pub(crate) fn key_of(&self, version: u32) -> u32 {
        if version < self.written() { self.key[version as usize] } else { version - self.written() }
    }

    pub(crate) fn count(&self) -> u32 {
        self.txns.len() as u32
    }
}
