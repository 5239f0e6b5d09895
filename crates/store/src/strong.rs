//! Which versions a read may return from prefix consistency up.
//!
//! Here the order of commits is fixed: it is the order in which transactions commit. A transaction's snapshot is a prefix of it, and is only
//! decided as far as its reads have decided it: its length lies in an interval. Reads narrow the interval; they may return the version that its
//! shortest prefix has, or any that comes later within it. A prefix must have what the session saw and did before.
//!
//! Snapshot isolation adds that the snapshot has the last version of every key that is written; if the reads have excluded that, the
//! transaction cannot commit. The thesis's rule for writes checks nothing and so lets lost updates through. Serializable transactions read what is newest,
//! and commit if it still is: over all orders in which transactions can come, that shows everything.

use isonomy_workload::StoreLevel;
use rustc_hash::FxHashSet;

use crate::allowed::{Allowed, Place, Span};
use crate::committed::Committed;
use crate::keys::KeyId;
use crate::order::{Node, Order, UNFROZEN};

/// The snapshot of an open transaction.
#[derive(Debug)]
pub(crate) struct Strong {
    level: StoreLevel,
    /// The shortest prefix it can be.
    low: u32,
    /// The longest.
    high: u32,
    /// What was read.
    reads: FxHashSet<KeyId>,
    /// The commits that `high` takes into account.
    known: u32,
}

/// The level leaves no snapshot.
#[derive(Debug)]
pub(crate) struct Stale;

impl Strong {
    /// A snapshot that has at least what the session has seen.
    pub(crate) fn new(level: StoreLevel, seen: u32, order: &Order) -> Self {
        let now = order.frozen();
        let (low, high) = if level == StoreLevel::StrongSi { (now, now) } else { (seen, UNFROZEN) };
        Strong { level, low, high, reads: FxHashSet::default(), known: now }
    }

    /// The shortest prefix it can be.
    pub(crate) fn low(&self) -> u32 {
        self.low
    }

    /// Takes commits into account that overwrote what was read.
    pub(crate) fn catch_up(&mut self, committed: &Committed) {
        let frozen = committed.order.frozen();
        for position in self.known..frozen {
            if committed.written_at(position).iter().any(|key| self.reads.contains(key)) {
                self.high = self.high.min(position);
            }
        }
        self.known = frozen;
    }

    /// The versions of a key that may be returned.
    pub(crate) fn allowed(&mut self, id: KeyId, committed: &Committed) -> Result<Allowed, Stale> {
        let (key, order) = (committed.key(id), &committed.order);
        if self.reads_newest() {
            self.reach(order.frozen())?;
        }
        let below = |limit: u32| key.frozen().partition_point(|version| order.position(version.node) < limit);
        let (low, end) = (below(self.low), below(self.high));
        let start = low.saturating_sub(1);
        let spans = (start < end)
            .then_some(Span { place: Place::Frozen, start: start as u32, end: end as u32 })
            .into_iter()
            .collect();
        Ok(Allowed { initial: low == 0, spans })
    }

    /// Notes what a read has returned.
    pub(crate) fn read(&mut self, id: KeyId, chosen: Option<Node>, committed: &Committed) {
        let (key, order) = (committed.key(id), &committed.order);
        self.reads.insert(id);
        let next = chosen.map_or(0, |chosen| order.position(chosen) + 1);
        self.low = self.low.max(next);
        let overwritten = key.frozen().partition_point(|version| order.position(version.node) < next);
        if let Some(version) = key.frozen().get(overwritten) {
            self.high = self.high.min(order.position(version.node));
        }
    }

    /// Makes sure that the last version of a key that is written is in the snapshot, where the level asks for it.
    pub(crate) fn write(&mut self, id: KeyId, committed: &Committed) -> Result<(), Stale> {
        if !matches!(self.level, StoreLevel::SnapshotIsolation | StoreLevel::StrongSi) {
            return Ok(());
        }
        match committed.key(id).frozen().last() {
            Some(version) => self.reach(committed.order.position(version.node) + 1),
            None => Ok(()),
        }
    }

    /// Whether it may commit; `writes` tells whether it wrote anything.
    pub(crate) fn commit(&mut self, writes: bool, order: &Order) -> Result<(), Stale> {
        if writes && self.reads_newest() { self.reach(order.frozen()) } else { Ok(()) }
    }

    fn reads_newest(&self) -> bool {
        matches!(self.level, StoreLevel::Serializable | StoreLevel::StrictSerializable)
    }

    fn reach(&mut self, length: u32) -> Result<(), Stale> {
        self.low = self.low.max(length);
        if self.low <= self.high { Ok(()) } else { Err(Stale) }
    }
}
