//! Orders of commits at the levels at which transactions read from snapshots, or run one at a time.
//!
//! Given the order of commits, begins only have to stand in the right gaps of it, each by itself: after some commits and before others.
//!
//! - After: the one before in its session; all that it reads from; the writers of the versions before its own (not at `prefix`); at
//!   `strong-si` all that really happened before it.
//! - Before: its own; for each version that it read the next one, unless it wrote that itself; where commits follow real time, all
//!   that really happened after it.
//!
//! Who reads a key and then writes it so sees the version before its own: whatever stood between them would have to come after the begin and
//! before. Where transactions are single moments, the gap has to be at its own commit.

use isonomy_history::TxnId;

use super::clock::{LastBefore, Moment, moment};
use super::witness::{NONE, Replay};
use super::{Flaw, name};
use crate::level::IsolationLevel;
use crate::verdict::End;

/// What makes a level.
#[derive(Clone, Copy)]
struct Rules {
    /// Begin and commit are one.
    one_moment: bool,
    /// Who replaces a version saw it.
    conflict: bool,
    /// What happened before a commit comes before it.
    commits_in_time: bool,
    /// A commit that happened before a begin comes before it.
    begins_in_time: bool,
}

impl Rules {
    fn of(level: IsolationLevel) -> Option<Self> {
        use IsolationLevel as L;
        Some(Rules {
            one_moment: match level {
                L::ReadCommitted | L::ReadAtomic | L::Causal | L::Linearizable => return None,
                level => matches!(level, L::Serializable | L::StrictSerializable),
            },
            conflict: level != L::Prefix,
            commits_in_time: matches!(level, L::GeneralizedSi | L::StrongSessionSi | L::StrongSi),
            begins_in_time: matches!(level, L::StrongSi | L::StrictSerializable),
        })
    }
}

/// When everything in the order happened.
struct Clock {
    clock_drift: i64,
    begins: Vec<Moment>,
    commits: Vec<Moment>,
    /// The places of commits, by the latest time at which they happened, drift included.
    by_latest: LastBefore,
    /// The places of commits counted from the end, by the negated earliest time: the last of the earlier ones is the first of the later ones.
    by_earliest: LastBefore,
}

impl Clock {
    fn new(replay: &Replay<'_, '_>, clock_drift: i64) -> Option<Self> {
        let moments = |end| -> Option<Vec<Moment>> {
            replay.order.iter().map(|&txn| moment(replay.facts.history, txn, end)).collect()
        };
        let (begins, commits) = (moments(End::Begin)?, moments(End::Commit)?);
        let places = || commits.iter().zip(0u32..);
        let latest = places().map(|(commit, place)| (commit.latest.saturating_add(clock_drift), place));
        let earliest = places().map(|(commit, place)| (!commit.earliest, NONE - place));
        Some(Clock {
            clock_drift,
            by_latest: LastBefore::new(latest.collect()),
            by_earliest: LastBefore::new(earliest.collect()),
            begins,
            commits,
        })
    }

    /// The last commit in the order, other than one's own, that really happened before.
    fn last_commit_before(&self, what: Moment, own: u32) -> Option<u32> {
        self.by_latest.get(what.earliest, own)
    }

    /// The first commit in the order, other than one's own, that really happened after.
    fn first_commit_after(&self, what: Moment, own: u32) -> Option<u32> {
        let time = what.latest.saturating_add(self.clock_drift);
        self.by_earliest.get(!time, NONE - own).map(|place| NONE - place)
    }
}

pub(super) fn check(replay: &Replay<'_, '_>, level: IsolationLevel, clock_drift: i64) -> Result<(), Flaw> {
    let history = replay.facts.history;
    let rules = Rules::of(level).ok_or(Flaw::Unsupported(level))?;
    let clock = match rules.commits_in_time || rules.begins_in_time {
        true => Some(Clock::new(replay, clock_drift).ok_or(Flaw::NoTimes)?),
        false => None,
    };
    let session = replay.previous_in_session();
    let mut writers: Vec<Vec<u32>> = vec![Vec::new(); history.key_count()];
    for (&txn, place) in replay.order.iter().zip(0..) {
        for key in &replay.writes[txn.index()] {
            writers[key.index()].push(place);
        }
    }
    let mut last_writer: Vec<Option<u32>> = vec![None; history.key_count()];
    for (&txn, own) in replay.order.iter().zip(0u32..) {
        let place_of = |txn: TxnId| replay.rank[txn.index()];
        let mut after: Option<u32> = session[txn.index()].map(place_of);
        let mut before: Option<u32> = None;
        let mut come_before = |place: u32| before = Some(before.map_or(place, |before| before.min(place)));
        for seen in &replay.reads[txn.index()] {
            after = after.max(seen.from.map(place_of));
            if let Some(key) = seen.version_of {
                let writers = &writers[key.index()];
                let next = seen.from.map_or(0, |from| writers.partition_point(|&place| place <= place_of(from)));
                writers[next..].iter().find(|&&place| place != own).copied().into_iter().for_each(&mut come_before);
            }
        }
        for key in &replay.writes[txn.index()] {
            let last = last_writer[key.index()].replace(own);
            if rules.conflict {
                after = after.max(last);
            }
        }
        if let Some(clock) = &clock {
            let place = own as usize;
            if rules.commits_in_time {
                if clock.last_commit_before(clock.commits[place], own) > Some(own) {
                    return Err(Flaw::AgainstTime(name(history, txn)));
                }
                clock.first_commit_after(clock.begins[place], own).into_iter().for_each(&mut come_before);
            }
            if rules.begins_in_time {
                after = after.max(clock.last_commit_before(clock.begins[place], own));
            }
        }
        if after > Some(own) {
            return Err(Flaw::AgainstTime(name(history, txn)));
        }
        match before {
            Some(before) if rules.one_moment && before < own => return Err(replay.missed(txn, before)),
            Some(before) if !rules.one_moment && Some(before) <= after => {
                let after = after.expect("something is not above nothing");
                return Err(Flaw::NoSnapshot {
                    txn: name(history, txn),
                    after: name(history, replay.order[after as usize]),
                    before: name(history, replay.order[before as usize]),
                });
            }
            _ => {}
        }
    }
    Ok(())
}
