//! Why histories of a simulated store hold at its level.
//!
//! The order of commits is the order that the axioms ask for. It extends session order, since a session runs one transaction
//! at a time, and write-read, since only committed versions are read. A read of `x` by `t3` from `t1` then asks one thing:
//! another writer `t2` of `x` that the level puts before the read must have committed before `t1`. Every read returns the
//! newest version of its key in a *view*, a set of commits, so it is enough that each such `t2` is in the view.
//!
//! | level | view | `t2` is in it because |
//! | --- | --- | --- |
//! | read-committed | for each read a prefix of the commits, no shorter than the newest version read so far | it was read from, earlier in the transaction |
//! | read-atomic | the session's own commits and any others | it is read from, or of the session |
//! | causal | the session's view, views of some recent commits, and those commits | views contain the views of what they contain |
//! | prefix | a prefix of the commits, with all of the session's past | the writer or session predecessor that it precedes is in the prefix |
//! | snapshot-isolation | the same; to commit, the newest version of every key written must be in it | as before, or it precedes a writer of such a key |
//! | serializable | everything; to commit, every version read must still be the newest. Read-only: as prefix, placed after it | it precedes the commit |
//!
//! At the last three a read-only transaction is placed right after its snapshot, which may be before others that have
//! already committed; hence the *floor* that the session's next snapshot must reach.
//!
//! A list read shows all elements up to the last, so with lists a view that has a commit must also have all earlier versions of
//! the keys that it appended to. They are added to what the commit brings with it.

use super::level::StoreLevel;
use super::versions::{Commit, RECENT, View};
use crate::rng::Rng;

/// What a session takes from one transaction to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Past {
    /// The shortest prefix that has all of the session's transactions and what they saw, where views are prefixes.
    floor: Commit,
    /// What every later view must have, where views are not prefixes.
    seen: View,
}

impl Past {
    pub(super) const NOTHING: Past = Past { floor: 0, seen: View { top: 0, recent: 0 } };
}

/// Decides what transactions see.
#[derive(Debug)]
pub(super) struct Visibility {
    level: StoreLevel,
    /// How many of the last commits a view may lack.
    lag: u32,
    lists: bool,
    /// What each of the last commits brings with it, itself included; by its number modulo [`RECENT`].
    brought: Vec<View>,
}

impl Visibility {
    pub(super) fn new(level: StoreLevel, lag: u32, lists: bool) -> Self {
        assert!(lag < RECENT, "views tell the last {RECENT} commits apart");
        Visibility { level, lag, lists, brought: vec![View { top: 0, recent: 1 }; RECENT as usize] }
    }

    /// What a transaction that begins now sees.
    pub(super) fn view(&self, now: Commit, past: Past, read_only: bool, rng: &mut Rng) -> View {
        match self.level {
            // Decided anew for each read.
            StoreLevel::ReadCommitted => View::up_to(now),
            StoreLevel::ReadAtomic => {
                let [a, b, c, d] = [(); 4].map(|()| u128::from(rng.bits()));
                let (a, b) = (a << 64 | b, c << 64 | d);
                let mut view = past.seen.aged(now);
                // Of the last commits three in four; with lists one in four, and what those bring.
                view.recent |= self.old() | if self.lists { a & b } else { a | b };
                if self.lists {
                    self.close(&mut view);
                }
                view
            }
            StoreLevel::Causal => {
                let mut view = past.seen.aged(now);
                view.recent |= self.old();
                for _ in 0..2 {
                    let back = rng.below(u64::from(self.lag.max(1))) as u32;
                    if back < now {
                        view.add(self.brought_by(now - back));
                    }
                }
                view
            }
            StoreLevel::Prefix => self.prefix(now, past, rng.chance(0.25), rng),
            // Old snapshots conflict with more commits, so they are rarer here.
            StoreLevel::SnapshotIsolation => self.prefix(now, past, rng.chance(0.125), rng),
            StoreLevel::StrongSi => View::up_to(now),
            StoreLevel::Serializable if read_only => self.prefix(now, past, rng.chance(0.5), rng),
            StoreLevel::StrictSerializable if read_only => View::up_to(now),
            StoreLevel::Serializable | StoreLevel::StrictSerializable => View::ALL,
        }
    }

    /// What one read sees, in a transaction that has read versions up to `newest_read`.
    #[inline]
    pub(super) fn view_of_read(&self, view: View, now: Commit, newest_read: Commit, rng: &mut Rng) -> View {
        if self.level != StoreLevel::ReadCommitted {
            return view;
        }
        if rng.chance(0.5) {
            return View::up_to(now);
        }
        let least = newest_read.max(now.saturating_sub(self.lag));
        View::up_to(least + rng.below(u64::from(now - least) + 1) as Commit)
    }

    fn prefix(&self, now: Commit, past: Past, stale: bool, rng: &mut Rng) -> View {
        let back = if stale { rng.below(u64::from(self.lag) + 1) as Commit } else { 0 };
        View::up_to(now.saturating_sub(back).max(past.floor))
    }

    /// The commits that are too old to be left out.
    fn old(&self) -> u128 {
        u128::MAX << self.lag
    }

    fn brought_by(&self, commit: Commit) -> View {
        let brought = self.brought[(commit % RECENT) as usize];
        debug_assert_eq!(brought.top, commit, "only the last commits are asked for");
        brought
    }

    /// Adds what the commits in a view bring with them.
    fn close(&self, view: &mut View) {
        for back in 0..self.lag.min(view.top) {
            if view.recent >> back & 1 == 1 {
                view.add(self.brought_by(view.top - back));
            }
        }
    }

    /// Whether a transaction may commit only if the newest versions of the keys that it writes are in its view.
    pub(super) fn first_committer_wins(&self) -> bool {
        matches!(self.level, StoreLevel::SnapshotIsolation | StoreLevel::StrongSi)
    }

    /// Whether a transaction that writes may commit only if the versions that it read are still the newest.
    pub(super) fn validates_reads(&self) -> bool {
        matches!(self.level, StoreLevel::Serializable | StoreLevel::StrictSerializable)
    }

    /// A transaction that wrote nothing ends. Returns the commit after which it is placed.
    pub(super) fn ended(&self, now: Commit, view: View, past: &mut Past) -> Commit {
        match self.level {
            StoreLevel::ReadCommitted | StoreLevel::ReadAtomic => now,
            StoreLevel::Causal => {
                past.seen = view;
                now
            }
            _ => {
                // One that meant to write but did not saw everything, and all that it read is still the newest.
                let top = view.top.min(now);
                past.floor = top;
                top
            }
        }
    }

    /// A transaction commits. `appended_after` are the newest versions, so far, of the lists that it appends to.
    pub(super) fn committed(
        &mut self,
        commit: Commit,
        view: View,
        past: &mut Past,
        appended_after: impl Iterator<Item = Commit>,
    ) {
        past.floor = commit;
        let is_causal = self.level == StoreLevel::Causal;
        if !is_causal && self.level != StoreLevel::ReadAtomic {
            return;
        }
        let mut brought = if is_causal { view.aged(commit) } else { View { top: commit, recent: 0 } };
        brought.recent |= 1;
        for earlier in appended_after.filter(|&earlier| commit - earlier < RECENT && earlier > 0) {
            brought.add(self.brought_by(earlier));
        }
        past.seen = past.seen.aged(commit);
        past.seen.add(brought);
        self.brought[(commit % RECENT) as usize] = brought;
    }

    /// Up to where all views have everything, if none that is in use or to come has a lower top than this.
    pub(super) fn all_have(&self, lowest_top: Commit) -> Commit {
        lowest_top.saturating_sub(self.lag.max(1))
    }
}
