//! Versions of keys in order of commit, and which of them a transaction sees.
//!
//! Commits that write something are numbered from 1: the commit order. A key's versions are a list from the newest to the
//! oldest that somebody may still need.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

/// The number of a commit that wrote something. 0 is the initial state.
pub(super) type Commit = u32;

/// A set of commits: all up to `top`, except some of the last 128.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct View {
    /// The last commit that may be in it.
    pub(super) top: Commit,
    /// Bit `i` says whether commit `top - i` is in it. Earlier ones all are.
    pub(super) recent: u128,
}

/// How many commits a view can tell apart.
pub(super) const RECENT: u32 = u128::BITS;

impl View {
    /// Everything.
    pub(super) const ALL: View = View::up_to(Commit::MAX);

    /// All commits up to this one.
    pub(super) const fn up_to(top: Commit) -> View {
        View { top, recent: u128::MAX }
    }

    /// The same set, but for commits that have become too old to be left out.
    pub(super) fn aged(self, top: Commit) -> View {
        debug_assert!(self.top <= top, "views do not get younger");
        View { top, recent: self.recent.checked_shl(top - self.top).unwrap_or(0) }
    }

    /// Adds all that is in another set, whose top is no later.
    pub(super) fn add(&mut self, other: View) {
        self.recent |= other.aged(self.top).recent;
    }

    #[inline]
    pub(super) fn has(self, commit: Commit) -> bool {
        commit <= self.top && {
            let back = self.top - commit;
            back >= RECENT || self.recent >> back & 1 == 1
        }
    }
}

/// What a key held.
#[derive(Clone, Copy, Debug)]
pub(super) struct Version {
    pub(super) commit: Commit,
    /// The next older version, or [`NONE`].
    earlier: u32,
    pub(super) value: i64,
}

const NONE: u32 = u32::MAX;

/// Keys up to this number are looked up in an array.
const DENSE: u64 = 1 << 24;

#[derive(Debug)]
pub(super) struct Versions {
    /// The newest version of each key with a small number.
    dense: Vec<u32>,
    /// The newest version of each other key that has one.
    sparse: FxHashMap<u64, u32>,
    arena: Vec<Version>,
    free: Vec<u32>,
    /// Versions with an earlier one, by commit, to drop that one when nobody can need it.
    superseding: VecDeque<u32>,
    /// Lists are made of all their versions.
    lists: bool,
}

impl Versions {
    pub(super) fn new(keys: u64, lists: bool) -> Self {
        Versions {
            dense: vec![NONE; if keys <= DENSE { keys as usize } else { 0 }],
            sparse: FxHashMap::default(),
            arena: Vec::new(),
            free: Vec::new(),
            superseding: VecDeque::new(),
            lists,
        }
    }

    #[inline]
    fn head(&self, key: u64) -> u32 {
        match self.dense.get(key as usize) {
            Some(&head) => head,
            None => self.sparse.get(&key).copied().unwrap_or(NONE),
        }
    }

    #[inline]
    fn get(&self, at: u32) -> Option<&Version> {
        // `NONE` is beyond the end.
        self.arena.get(at as usize)
    }

    /// The commit that wrote the newest version of a key.
    #[inline]
    pub(super) fn newest(&self, key: u64) -> Commit {
        self.get(self.head(key)).map_or(0, |version| version.commit)
    }

    /// The newest version of a key in a view; `None` is the initial state.
    #[inline]
    pub(super) fn read(&self, key: u64, view: View) -> Option<&Version> {
        let mut version = self.get(self.head(key));
        while let Some(found) = version {
            if view.has(found.commit) {
                break;
            }
            version = self.get(found.earlier);
        }
        version
    }

    /// This version and all before it, oldest first.
    pub(super) fn list(&self, last: Option<&Version>) -> Vec<i64> {
        debug_assert!(self.lists, "earlier versions are dropped");
        let mut values: Vec<i64> =
            std::iter::successors(last, |version| self.get(version.earlier)).map(|version| version.value).collect();
        values.reverse();
        values
    }

    /// Adds the newest version of a key.
    pub(super) fn push(&mut self, key: u64, commit: Commit, value: i64) {
        let earlier = self.head(key);
        let version = Version { commit, earlier, value };
        let at = match self.free.pop() {
            Some(at) => {
                self.arena[at as usize] = version;
                at
            }
            None => {
                self.arena.push(version);
                u32::try_from(self.arena.len() - 1).expect("fewer than 2^32 versions fit in memory")
            }
        };
        if earlier != NONE && !self.lists {
            self.superseding.push_back(at);
        }
        match self.dense.get_mut(key as usize) {
            Some(head) => *head = at,
            None => {
                self.sparse.insert(key, at);
            }
        }
    }

    /// From now on all views have everything up to this commit: drops what is superseded in all of them.
    pub(super) fn forget(&mut self, all_have: Commit) {
        while let Some(&at) = self.superseding.front() {
            let version = &mut self.arena[at as usize];
            if version.commit > all_have {
                break;
            }
            self.free.push(std::mem::replace(&mut version.earlier, NONE));
            self.superseding.pop_front();
        }
    }

    /// How many versions are held.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.arena.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_age() {
        let mut view = View { top: 10, recent: !0b110 };
        assert!(view.has(10) && !view.has(9) && !view.has(8) && view.has(7) && !view.has(11));
        view = view.aged(12);
        assert!(!view.has(12) && !view.has(11) && view.has(10) && !view.has(9));
        view.add(View { top: 11, recent: 1 });
        assert!(!view.has(12) && view.has(11) && !view.has(9));
        let old = view.aged(1000);
        assert!(!old.has(1000) && !old.has(873) && old.has(872));
    }

    #[test]
    fn reads_find_the_newest_version_in_view_and_old_ones_go() {
        for keys in [10, DENSE + 10] {
            let mut versions = Versions::new(keys, false);
            for commit in 1..=1000 {
                versions.push(u64::from(commit % 3), commit, i64::from(commit));
                versions.forget(commit.saturating_sub(20));
            }
            let value = |key, view| versions.read(key, view).map(|version| version.value);
            assert_eq!(value(0, View::ALL), Some(999));
            assert_eq!(value(0, View::up_to(998)), Some(996));
            assert_eq!(value(0, View { top: 1000, recent: !0b10 }), Some(996));
            assert_eq!(value(5, View::ALL), None);
            assert_eq!(versions.newest(1), 1000);
            assert!(versions.count() < 30, "{}", versions.count());
        }
    }
}
