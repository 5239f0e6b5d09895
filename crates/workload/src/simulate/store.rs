//! The simulated store for clients who ask one operation after the other, instead of handing in programs.
//!
//! The rules are those of `visibility.rs`, with one difference: nobody knows at the begin whether a transaction will write. From
//! serializable up every transaction therefore begins as one that only reads, with a prefix of the commits as its snapshot. If it turns out to
//! write, then what it read must still be the newest when it commits, so that it can be placed there.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use super::level::StoreLevel;
use super::versions::{Commit, Versions, View};
use super::visibility::{Past, Visibility};
use crate::rng::Rng;

/// How many of the last commits a view may lack.
const LAG: u32 = 24;
/// Old versions are dropped after so many commits.
const SWEEP: Commit = 64;

/// A store of keys and of lists, apart from each other, that gives a level and rarely more.
#[derive(Debug)]
pub struct SimulatedStore {
    visibility: Visibility,
    values: Versions,
    lists: Versions,
    /// All keys that were ever written, for ranges.
    keys: BTreeSet<u64>,
    /// The values that stand for deletes.
    tombstones: FxHashSet<i64>,
    /// The last commit.
    now: Commit,
    /// The last commit at which old versions were dropped.
    swept: Commit,
    rng: Rng,
    /// What the open transaction of each client sees.
    open: Vec<Option<View>>,
}

/// A client of a [`SimulatedStore`].
#[derive(Debug)]
pub struct SimulatedClient {
    number: usize,
    past: Past,
    view: View,
    /// The newest version read so far.
    newest_read: Commit,
    /// Versions that must still be the newest of their keys if the transaction writes anything.
    reads: Vec<(u64, Commit)>,
    /// Ranges of keys that must not have changed since, likewise.
    ranges: Vec<(u64, u64)>,
    /// Versions of lists that must still be the newest.
    validated: Vec<(u64, Commit)>,
    /// One entry per key.
    writes: Vec<(u64, i64)>,
    appends: Vec<(u64, i64)>,
}

/// The store gave a transaction up. It has no effect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Conflict(pub &'static str);

const OVERTAKEN: Conflict = Conflict("another transaction wrote a key first");
const STALE: Conflict = Conflict("what was read is no longer the newest");
const EXISTS: Conflict = Conflict("the key is there already");

impl SimulatedStore {
    /// An empty store.
    pub fn new(level: StoreLevel, seed: u64) -> Self {
        SimulatedStore {
            visibility: Visibility::new(level, LAG, true),
            values: Versions::new(0, false),
            lists: Versions::new(0, true),
            keys: BTreeSet::new(),
            tombstones: FxHashSet::default(),
            now: 0,
            swept: 0,
            rng: Rng::stream(seed, 5),
            open: Vec::new(),
        }
    }

    /// A new client.
    pub fn client(&mut self) -> SimulatedClient {
        self.open.push(None);
        SimulatedClient {
            number: self.open.len() - 1,
            past: Past::NOTHING,
            view: View::up_to(0),
            newest_read: 0,
            reads: Vec::new(),
            ranges: Vec::new(),
            validated: Vec::new(),
            writes: Vec::new(),
            appends: Vec::new(),
        }
    }

    /// Begins a transaction; one that was open is given up.
    pub fn begin(&mut self, client: &mut SimulatedClient) {
        client.forget();
        client.view = self.visibility.view(self.now, client.past, true, &mut self.rng);
        self.open[client.number] = Some(client.view);
    }

    /// What a key holds.
    pub fn read(&mut self, client: &mut SimulatedClient, key: u64) -> Option<i64> {
        if let Some(&(_, value)) = client.writes.iter().find(|write| write.0 == key) {
            return Some(value);
        }
        let view = self.view_of_read(client);
        let version = self.values.read(key, view);
        let (value, commit) = version.map_or((None, 0), |version| (Some(version.value), version.commit));
        client.newest_read = client.newest_read.max(commit);
        client.reads.push((key, commit));
        value
    }

    /// Sets what a key holds.
    pub fn write(&mut self, client: &mut SimulatedClient, key: u64, value: i64) -> Result<(), Conflict> {
        match client.writes.iter_mut().find(|write| write.0 == key) {
            Some(own) => own.1 = value,
            None => client.writes.push((key, value)),
        }
        if self.visibility.first_committer_wins() && !client.view.has(self.values.newest(key)) {
            return Err(OVERTAKEN);
        }
        Ok(())
    }

    /// Sets what a key holds that is not there, or was deleted.
    pub fn insert(&mut self, client: &mut SimulatedClient, key: u64, value: i64) -> Result<(), Conflict> {
        if self.read(client, key).is_some_and(|found| !self.tombstones.contains(&found)) {
            return Err(EXISTS);
        }
        self.write(client, key, value)
    }

    /// Leaves a tombstone.
    pub fn delete(&mut self, client: &mut SimulatedClient, key: u64, tombstone: i64) -> Result<(), Conflict> {
        self.tombstones.insert(tombstone);
        self.write(client, key, tombstone)
    }

    /// The keys from `lo` to `hi` with what they hold, tombstones too.
    pub fn range(&mut self, client: &mut SimulatedClient, lo: u64, hi: u64) -> Vec<(u64, i64)> {
        let view = self.view_of_read(client);
        client.ranges.push((lo, hi));
        let inside = |key: &u64| (lo..=hi).contains(key);
        let own: BTreeSet<u64> = client.writes.iter().map(|write| write.0).filter(inside).collect();
        let keys: BTreeSet<u64> = if lo <= hi { self.keys.range(lo..=hi).copied().collect() } else { BTreeSet::new() };
        let mut rows = Vec::new();
        for &key in keys.union(&own) {
            if let Some(&(_, value)) = client.writes.iter().find(|write| write.0 == key) {
                rows.push((key, value));
            } else if let Some(version) = self.values.read(key, view) {
                client.newest_read = client.newest_read.max(version.commit);
                rows.push((key, version.value));
            }
        }
        rows
    }

    /// Sets what a key holds if it holds what is expected. Whether it did.
    pub fn compare_and_set(
        &mut self,
        client: &mut SimulatedClient,
        key: u64,
        expected: Option<i64>,
        new: i64,
    ) -> Result<bool, Conflict> {
        let holds = self.read(client, key) == expected;
        if holds {
            self.write(client, key, new)?;
        }
        Ok(holds)
    }

    /// Puts an element at the end of a list.
    pub fn append(&mut self, client: &mut SimulatedClient, key: u64, element: i64) -> Result<(), Conflict> {
        client.appends.push((key, element));
        if self.visibility.first_committer_wins() && !client.view.has(self.lists.newest(key)) {
            return Err(OVERTAKEN);
        }
        Ok(())
    }

    /// The elements of a list.
    pub fn read_list(&mut self, client: &mut SimulatedClient, key: u64) -> Vec<i64> {
        let view = self.view_of_read(client);
        let version = self.lists.read(key, view);
        let commit = version.map_or(0, |version| version.commit);
        let mut elements = self.lists.list(version);
        let before = elements.len();
        elements.extend(client.appends.iter().filter(|append| append.0 == key).map(|append| append.1));
        client.newest_read = client.newest_read.max(commit);
        // Own elements are shown right after those in view, so nobody may append in between.
        if elements.len() > before || self.visibility.validates_reads() {
            client.validated.push((key, commit));
        }
        elements
    }

    /// Commits, if the level allows it. Either way the transaction is over.
    pub fn commit(&mut self, client: &mut SimulatedClient) -> Result<(), Conflict> {
        let decided = self.decide(client);
        if decided.is_ok() {
            self.take_effect(client);
        }
        self.rollback(client);
        decided
    }

    /// Gives the transaction up.
    pub fn rollback(&mut self, client: &mut SimulatedClient) {
        client.forget();
        self.open[client.number] = None;
    }

    fn view_of_read(&mut self, client: &SimulatedClient) -> View {
        self.visibility.view_of_read(client.view, self.now, client.newest_read, &mut self.rng)
    }

    fn decide(&self, client: &SimulatedClient) -> Result<(), Conflict> {
        if client.writes.is_empty() && client.appends.is_empty() {
            return Ok(());
        }
        let seen = |commit| client.view.has(commit);
        let overtaken = || {
            client.writes.iter().any(|&(key, _)| !seen(self.values.newest(key)))
                || client.appends.iter().any(|&(key, _)| !seen(self.lists.newest(key)))
        };
        if self.visibility.first_committer_wins() && overtaken() {
            return Err(OVERTAKEN);
        }
        let changed = |&(lo, hi): &(u64, u64)| self.keys.range(lo..=hi).any(|&key| !seen(self.values.newest(key)));
        let stale = || {
            client.reads.iter().any(|&(key, commit)| self.values.newest(key) != commit)
                || client.ranges.iter().any(|range| range.0 <= range.1 && changed(range))
        };
        let lists_stale = client.validated.iter().any(|&(key, commit)| self.lists.newest(key) != commit);
        if lists_stale || (self.visibility.validates_reads() && stale()) { Err(STALE) } else { Ok(()) }
    }

    fn take_effect(&mut self, client: &mut SimulatedClient) {
        if client.writes.is_empty() && client.appends.is_empty() {
            self.visibility.ended(self.now, client.view, &mut client.past);
            return;
        }
        self.now += 1;
        let appended_after = client.appends.iter().map(|&(key, _)| self.lists.newest(key));
        self.visibility.committed(self.now, client.view, &mut client.past, appended_after);
        for &(key, value) in &client.writes {
            if self.values.newest(key) == 0 {
                self.keys.insert(key);
            }
            self.values.push(key, self.now, value);
        }
        for &(key, element) in &client.appends {
            self.lists.push(key, self.now, element);
        }
        if self.now - self.swept > SWEEP.max(self.open.len() as Commit) {
            self.swept = self.now;
            let lowest = self.open.iter().flatten().map(|view| view.top).fold(self.now, Commit::min);
            self.values.forget(self.visibility.all_have(lowest));
        }
    }
}

impl SimulatedClient {
    fn forget(&mut self) {
        self.newest_read = 0;
        self.reads.clear();
        self.ranges.clear();
        self.validated.clear();
        self.writes.clear();
        self.appends.clear();
    }
}
