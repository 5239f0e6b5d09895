//! One client and its open transaction.

use isonomy_history::{Name, NamedEvent, Outcome, Record, Times};

use super::versions::{Commit, View};
use super::visibility::Past;
use crate::knowledge::Knowledge;
use crate::program::Operation;

/// Where a session is. With [`TimeDetail::Bounds`](crate::TimeDetail) each is a step of its own, otherwise only `Running` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Between transactions.
    Idle,
    /// The begin was sent.
    Starting,
    /// The next operation is `at`; after the last one, the commit is.
    Running,
    /// The commit was sent.
    Committing,
    /// The commit was decided; its reply is on the way.
    Finishing,
}

#[derive(Debug)]
pub(super) struct Session {
    pub(super) phase: Phase,
    /// How many transactions are still to end.
    pub(super) remaining: u64,
    /// How many attempts at the program have failed.
    pub(super) failed: u32,
    /// The next attempt waits until so many transactions have ended.
    pub(super) rests_until: u64,
    /// How many transactions were recorded.
    pub(super) position: u32,
    pub(super) past: Past,
    /// What it knows, where that is needed.
    pub(super) knowledge: Knowledge,
    /// How far its clock is off.
    pub(super) skew: i64,

    /// The program of the open transaction, or of one to be tried again; empty if there is none.
    pub(super) program: Vec<Operation>,
    pub(super) read_only: bool,
    /// The next operation.
    pub(super) at: usize,
    /// What the open transaction sees; `None` before its begin took effect.
    pub(super) view: Option<View>,
    /// The newest version read so far.
    pub(super) newest_read: Commit,
    /// Versions that must still be the newest of their keys at commit.
    pub(super) validated: Vec<(u64, Commit)>,
    /// What it wrote: one entry per key, or per element for lists.
    pub(super) writes: Vec<(u64, i64)>,
    /// Where in the commit order it is placed, if it took effect; see [`Placed`](crate::Placed).
    pub(super) rank: Option<u64>,
    pub(super) record: Record<'static>,
}

impl Session {
    pub(super) fn new(name: i64, remaining: u64, skew: i64) -> Self {
        Session {
            phase: Phase::Idle,
            remaining,
            failed: 0,
            rests_until: 0,
            position: 0,
            past: Past::NOTHING,
            knowledge: Knowledge::default(),
            skew,
            program: Vec::new(),
            read_only: false,
            at: 0,
            view: None,
            newest_read: 0,
            validated: Vec::new(),
            writes: Vec::new(),
            rank: None,
            record: Record {
                session: Name::Int(name),
                outcome: Outcome::Committed,
                times: Times::default(),
                events: Vec::new(),
            },
        }
    }

    /// Makes ready for an attempt at the program.
    pub(super) fn prepare(&mut self) {
        self.at = 0;
        self.view = None;
        self.newest_read = 0;
        self.validated.clear();
        self.writes.clear();
        self.rank = None;
        self.record.events.clear();
        self.record.times = Times::default();
    }

    pub(super) fn push(&mut self, event: NamedEvent<'static>) {
        self.record.events.push(event);
    }

    /// What it wrote to a key last.
    #[inline]
    pub(super) fn own_write(&mut self, key: u64) -> Option<&mut i64> {
        self.writes.iter_mut().find(|write| write.0 == key).map(|write| &mut write.1)
    }
}
