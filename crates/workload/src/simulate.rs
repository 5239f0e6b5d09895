//! A simulated multi-version store with many clients, each step one event of one of them.
//!
//! Why its histories hold at the level is in `visibility.rs`. Transactions that conflict abort and are tried again, with new
//! values and, after several failures, a rest, as clients do: without it nine in ten attempts on popular keys fail. Each abort
//! is due to a commit, and a commit stops at most one attempt per session, so the work is bounded; an event takes about
//! constant time. Only an insert of a key that is there fails for another reason: what a client would do about it nobody knows, so
//! its program is given up and another one drawn.
//!
//! A tombstone is a negative number, so the store knows which keys are there.

mod level;
mod session;
mod store;
mod versions;
mod visibility;

pub use level::{StoreLevel, UnknownStoreLevel};
pub use store::{Conflict, SimulatedClient, SimulatedStore};

use isonomy_history::{Datum, Name, NamedEvent, Outcome, Sink, Times};

use crate::generate::{GenerateError, HistorySpec, Hooks, Placed, Planted, Summary, TimeDetail};
use crate::plant::{Anomaly, Template};
use crate::program::{Operation, Programs};
use crate::rng::Rng;
use session::{Phase, Session};
use versions::{Commit, Version, Versions, View};
use visibility::Visibility;

/// The most commits a view may lack.
pub(crate) const MOST_LAG: u32 = versions::RECENT - 1;
/// The most transactions there can be; commits are numbered with 32 bits, and planted ones need some.
pub(crate) const MOST_TRANSACTIONS: u64 = Commit::MAX as u64 - 1000;

/// The average time between steps, in nanoseconds.
const STEP: u64 = 10_000;
/// After so many failed attempts in a row a session rests before the next one, while up to 2, 4, 8, … transactions end.
const PATIENCE: u32 = 4;
/// Beyond so many failed attempts it does not rest longer.
const MOST_FAILED: u32 = PATIENCE + 5;
/// After how many ended transactions progress is told.
const PROGRESS: u64 = 1 << 12;

pub(crate) struct Simulation<'a, 'h> {
    spec: &'a HistorySpec,
    times: TimeDetail,
    programs: Programs,
    rng: Rng,
    clock_rng: Rng,
    clock: i64,
    versions: Versions,
    visibility: Visibility,
    /// The last commit.
    now: Commit,
    /// The last commit at which old versions were dropped.
    swept: Commit,
    next_value: i64,
    sessions: Vec<Session>,
    /// Sessions with an open transaction.
    open: Vec<u32>,
    /// Other sessions with transactions to run.
    idle: Vec<u32>,
    /// What is still to be planted, once so many transactions have ended.
    plant: Option<(Anomaly, u64)>,
    /// How many transactions have ended for good.
    ended: u64,
    summary: Summary,
    sink: &'a mut dyn Sink,
    hooks: Hooks<'h>,
}

impl<'a, 'h> Simulation<'a, 'h> {
    /// Of a valid specification.
    pub(crate) fn new(spec: &'a HistorySpec, programs: Programs, sink: &'a mut dyn Sink, hooks: Hooks<'h>) -> Self {
        let (lists, keys) = (spec.workload.shape.has_lists(), programs.keys());
        let times = match spec.times {
            TimeDetail::None if spec.level.needs_times() => TimeDetail::Points,
            times => times,
        };
        let mut simulation = Simulation {
            spec,
            times,
            programs,
            rng: Rng::stream(spec.seed, 2),
            clock_rng: Rng::stream(spec.seed, 3),
            clock: 0,
            versions: Versions::new(keys, lists),
            visibility: Visibility::new(spec.level, spec.lag, lists),
            now: 0,
            swept: 0,
            next_value: 1,
            sessions: Vec::new(),
            open: Vec::new(),
            idle: Vec::new(),
            plant: None,
            ended: 0,
            summary: Summary::default(),
            sink,
            hooks,
        };
        let count = u64::from(spec.sessions);
        for index in 0..count {
            let remaining = spec.transactions / count + u64::from(index < spec.transactions % count);
            simulation.add_session(remaining);
        }
        simulation.idle = (0..spec.sessions).filter(|&s| simulation.sessions[s as usize].remaining > 0).collect();
        let mut rng = Rng::stream(spec.seed, 4);
        simulation.plant = spec.plant.map(|anomaly| (anomaly, rng.below(spec.transactions + 1)));
        simulation
    }

    fn add_session(&mut self, remaining: u64) {
        let name = self.sessions.len() as i64 + 1;
        let most = self.spec.clock_skew;
        let skew = Rng::stream(self.spec.seed, 100 + name as u64).below(2 * most + 1) as i64 - most as i64;
        self.sessions.push(Session::new(name, remaining, skew));
    }

    pub(crate) fn run(mut self) -> Result<Summary, GenerateError> {
        loop {
            // What is to be planted waits until no transaction is open.
            let plant = self.plant.filter(|&(_, after)| self.ended >= after);
            while plant.is_none() && self.open.len() < self.spec.concurrency() && !self.idle.is_empty() {
                let at = self.rng.index(self.idle.len());
                if self.sessions[self.idle[at] as usize].rests_until > self.ended && !self.open.is_empty() {
                    break;
                }
                self.open.push(self.idle.swap_remove(at));
            }
            if self.open.is_empty() {
                let Some((anomaly, _)) = plant else { break };
                self.plant = None;
                self.plant(anomaly)?;
                continue;
            }
            let at = self.rng.index(self.open.len());
            let session = self.open[at];
            self.tick();
            self.step(session as usize)?;
            let state = &self.sessions[session as usize];
            if state.phase == Phase::Idle {
                self.open.swap_remove(at);
                if state.remaining > 0 {
                    self.idle.push(session);
                }
            }
        }
        self.sink.end().map_err(GenerateError::Sink)?;
        if let Some(progress) = &mut self.hooks.progress {
            progress(self.ended);
        }
        Ok(self.summary)
    }

    fn tick(&mut self) {
        if self.times != TimeDetail::None {
            self.clock += 1 + self.clock_rng.below(2 * STEP - 1) as i64;
        }
    }

    fn step(&mut self, index: usize) -> Result<(), GenerateError> {
        let session = &mut self.sessions[index];
        let bounds = self.times == TimeDetail::Bounds;
        match session.phase {
            Phase::Idle => {
                if session.program.is_empty() {
                    self.programs.draw(&mut session.program);
                    session.read_only = !session.program.iter().any(|operation| operation.is_write());
                }
                session.prepare();
                session.record.times.start = Some(self.clock);
                if bounds {
                    // The begin takes effect at any moment from here to the first reply.
                    if self.rng.chance(0.5) {
                        self.begin(index);
                    }
                    self.sessions[index].phase = Phase::Starting;
                    return Ok(());
                }
                self.begin(index);
                self.sessions[index].phase = Phase::Running;
                self.operate(index)
            }
            Phase::Starting => {
                session.record.times.began = Some(self.clock);
                session.phase = Phase::Running;
                if session.view.is_none() {
                    self.begin(index);
                }
                self.operate(index)
            }
            Phase::Running if session.at < session.program.len() => self.operate(index),
            Phase::Running if bounds => {
                session.record.times.committing = Some(self.clock);
                session.phase = Phase::Committing;
                Ok(())
            }
            Phase::Running => {
                self.decide(index);
                self.end(index)
            }
            Phase::Committing => {
                self.decide(index);
                self.sessions[index].phase = Phase::Finishing;
                Ok(())
            }
            Phase::Finishing => self.end(index),
        }
    }

    fn begin(&mut self, index: usize) {
        let session = &mut self.sessions[index];
        session.view = Some(self.visibility.view(self.now, session.past, session.read_only, &mut self.rng));
    }

    /// Runs the next operation.
    #[inline]
    fn operate(&mut self, index: usize) -> Result<(), GenerateError> {
        let session = &mut self.sessions[index];
        let operation = session.program[session.at];
        session.at += 1;
        match operation {
            Operation::Read(key) => {
                let value = match session.own_write(key) {
                    Some(&mut value) => Some(value),
                    None => self.read(index, key, false).map(|version| version.value),
                };
                self.learn(index, key, value);
                self.sessions[index].push(NamedEvent::Read(name(key), datum(value)));
            }
            Operation::ReadList(key) => {
                let appends = session.writes.iter().filter(|write| write.0 == key).map(|write| write.1);
                let own: Vec<i64> = appends.collect();
                // Own elements are shown right after those in view, so nobody may append in between.
                let version = self.read(index, key, !own.is_empty());
                let list = self.versions.list(version.as_ref());
                let elements = list.into_iter().chain(own).map(Datum::Int).collect();
                self.sessions[index].push(NamedEvent::ReadList(name(key), elements));
            }
            Operation::Range { lo, hi } => self.read_range(index, lo, hi),
            Operation::Append(key) => {
                let value = self.new_value();
                self.sessions[index].writes.push((key, value));
                return self.wrote(index, key, NamedEvent::Append(name(key), Datum::Int(value)));
            }
            Operation::Write(key) => {
                let value = self.set(index, key, 1);
                return self.wrote(index, key, NamedEvent::Write(name(key), Datum::Int(value)));
            }
            Operation::Delete(key) => {
                let tombstone = self.set(index, key, -1);
                return self.wrote(index, key, NamedEvent::Delete(name(key), Datum::Int(tombstone)));
            }
            Operation::Insert(key) => {
                let is_there = self.is_there(index, key);
                let value = self.set(index, key, 1);
                let event = NamedEvent::Insert(name(key), Datum::Int(value));
                if is_there {
                    self.sessions[index].push(event);
                    self.sessions[index].program.clear();
                    return self.abort(index);
                }
                return self.wrote(index, key, event);
            }
            Operation::CompareAndSet(key) => {
                let expected = session.knowledge.expected(key);
                let found = match session.own_write(key) {
                    Some(&mut value) => Some(value),
                    None => self.read(index, key, false).map(|version| version.value),
                };
                let succeeded = found == expected;
                let new = if succeeded { self.set(index, key, 1) } else { self.new_value() };
                let event = NamedEvent::CompareAndSet {
                    key: name(key),
                    expected: datum(expected),
                    new: Datum::Int(new),
                    succeeded,
                };
                if succeeded {
                    return self.wrote(index, key, event);
                }
                self.sessions[index].push(event);
            }
        }
        Ok(())
    }

    fn new_value(&mut self) -> i64 {
        self.next_value += 1;
        self.next_value - 1
    }

    /// Buffers a write of a new value with this sign.
    #[inline]
    fn set(&mut self, index: usize, key: u64, sign: i64) -> i64 {
        let value = sign * self.new_value();
        let session = &mut self.sessions[index];
        match session.own_write(key) {
            Some(own) => *own = value,
            None => session.writes.push((key, value)),
        }
        self.learn(index, key, Some(value));
        value
    }

    fn learn(&mut self, index: usize, key: u64, value: Option<i64>) {
        if self.spec.workload.shape.has_compare_and_set() {
            self.sessions[index].knowledge.saw(key, value);
        }
    }

    /// A key was written. Where that is too late already, the transaction need not go on.
    #[inline]
    fn wrote(&mut self, index: usize, key: u64, event: NamedEvent<'static>) -> Result<(), GenerateError> {
        self.sessions[index].push(event);
        if self.visibility.first_committer_wins() && self.is_overtaken(index, key) {
            return self.abort(index);
        }
        Ok(())
    }

    fn abort(&mut self, index: usize) -> Result<(), GenerateError> {
        self.sessions[index].record.outcome = Outcome::Aborted;
        self.end(index)
    }

    #[inline]
    fn read(&mut self, index: usize, key: u64, validate: bool) -> Option<Version> {
        let view = self.view_of_read(index);
        let version = self.versions.read(key, view).copied();
        let commit = version.map_or(0, |version| version.commit);
        let session = &mut self.sessions[index];
        session.newest_read = session.newest_read.max(commit);
        if validate || (self.visibility.validates_reads() && !session.read_only) {
            session.validated.push((key, commit));
        }
        version
    }

    #[inline]
    fn view_of_read(&mut self, index: usize) -> View {
        let session = &self.sessions[index];
        let view = session.view.expect("the begin took effect");
        self.visibility.view_of_read(view, self.now, session.newest_read, &mut self.rng)
    }

    /// Reads all keys of a range at once. That a key is not there is validated too, or there would be phantoms.
    fn read_range(&mut self, index: usize, lo: u64, hi: u64) {
        let view = self.view_of_read(index);
        let session = &mut self.sessions[index];
        let validate = self.visibility.validates_reads() && !session.read_only;
        let mut rows = Vec::new();
        for key in lo..=hi {
            if let Some(&mut value) = session.own_write(key) {
                rows.push((name(key), Datum::Int(value)));
                continue;
            }
            let version = self.versions.read(key, view);
            let commit = version.map_or(0, |version| version.commit);
            session.newest_read = session.newest_read.max(commit);
            if validate {
                session.validated.push((key, commit));
            }
            rows.extend(version.map(|version| (name(key), Datum::Int(version.value))));
        }
        session.push(NamedEvent::Range { lo: name(lo), hi: name(hi), rows });
    }

    /// Whether a key is there, and not a tombstone.
    fn is_there(&mut self, index: usize, key: u64) -> bool {
        let session = &mut self.sessions[index];
        let view = session.view.expect("the begin took effect");
        let value = match session.own_write(key) {
            Some(&mut value) => Some(value),
            None => self.versions.read(key, view).map(|version| version.value),
        };
        value.is_some_and(|value| value > 0)
    }

    /// Whether another transaction has written a key after the snapshot of the one at hand.
    fn is_overtaken(&self, index: usize, key: u64) -> bool {
        !self.sessions[index].view.expect("the begin took effect").has(self.versions.newest(key))
    }

    /// The commit takes effect, or does not.
    fn decide(&mut self, index: usize) {
        let session = &self.sessions[index];
        let newest = |key| self.versions.newest(key);
        let conflicts = session.validated.iter().any(|&(key, commit)| newest(key) != commit)
            || (self.visibility.first_committer_wins()
                && session.writes.iter().any(|&(key, _)| self.is_overtaken(index, key)));
        let rollback = self.spec.rollback_share > 0.0 && self.rng.chance(self.spec.rollback_share);
        let lost = self.spec.indeterminate_share > 0.0 && self.rng.chance(self.spec.indeterminate_share);
        // Where the reply is lost, the request may have been, too.
        let takes_effect = !conflicts && !rollback && (!lost || self.rng.chance(0.5));
        let session = &mut self.sessions[index];
        session.record.outcome = match (lost && !rollback, takes_effect) {
            (true, _) => Outcome::Indeterminate,
            (false, true) => Outcome::Committed,
            (false, false) => Outcome::Aborted,
        };
        if rollback {
            session.program.clear();
            session.failed = 0;
        }
        if takes_effect {
            self.commit(index);
        }
    }

    fn commit(&mut self, index: usize) {
        let session = &mut self.sessions[index];
        let view = session.view.expect("the begin took effect");
        if session.writes.is_empty() {
            let after = self.visibility.ended(self.now, view, &mut session.past);
            session.rank = Some(2 * u64::from(after) + 1);
            return;
        }
        self.now += 1;
        session.rank = Some(2 * u64::from(self.now));
        let appends = if self.spec.workload.shape.has_lists() { &session.writes[..] } else { &[] };
        let appended_after = appends.iter().map(|&(key, _)| self.versions.newest(key));
        self.visibility.committed(self.now, view, &mut session.past, appended_after);
        for &(key, value) in &session.writes {
            self.versions.push(key, self.now, value);
        }
        if self.now - self.swept > self.spec.sessions.max(64) {
            self.swept = self.now;
            let tops = self.open.iter().filter_map(|&s| self.sessions[s as usize].view).map(|view| view.top);
            let lowest = tops.fold(self.now, Commit::min);
            self.versions.forget(self.visibility.all_have(lowest));
        }
    }

    /// The attempt is over: records it, and makes ready for the next.
    fn end(&mut self, index: usize) -> Result<(), GenerateError> {
        let session = &mut self.sessions[index];
        session.phase = Phase::Idle;
        session.view = None;
        session.knowledge.end(session.record.outcome == Outcome::Committed);
        match session.record.outcome {
            Outcome::Aborted => {
                self.summary.aborted += 1;
                // Not after a rollback, which leaves nothing to be tried again.
                if !session.program.is_empty() {
                    session.failed = (session.failed + 1).min(MOST_FAILED);
                    session.rests_until = self.ended + self.rng.below(1 << session.failed.saturating_sub(PATIENCE));
                }
                if !self.spec.record_aborted {
                    return Ok(());
                }
                session.record.times.finish = Some(self.clock);
            }
            outcome => {
                if outcome == Outcome::Committed {
                    self.summary.committed += 1;
                    session.record.times.finish = Some(self.clock);
                } else {
                    self.summary.indeterminate += 1;
                }
                session.program.clear();
                session.failed = 0;
                session.remaining -= 1;
                self.ended += 1;
                if self.ended.is_multiple_of(PROGRESS)
                    && let Some(progress) = &mut self.hooks.progress
                {
                    progress(self.ended);
                }
            }
        }
        self.emit(index)
    }

    fn emit(&mut self, index: usize) -> Result<(), GenerateError> {
        let session = &mut self.sessions[index];
        let times = &mut session.record.times;
        if self.times == TimeDetail::None {
            *times = Times::default();
        }
        for time in [&mut times.start, &mut times.began, &mut times.committing, &mut times.finish] {
            *time = time.map(|time| time + session.skew);
        }
        self.summary.records += 1;
        self.summary.events += session.record.events.len() as u64;
        if let (Some(rank), Some(commit_order)) = (session.rank, &mut self.hooks.commit_order) {
            commit_order(Placed { session: index as i64 + 1, position: session.position, rank });
        }
        session.position += 1;
        self.sink.take(&session.record).map_err(GenerateError::Sink)
    }

    /// Adds the transactions of an anomaly, on keys that nothing else uses. No transaction is open.
    fn plant(&mut self, anomaly: Anomaly) -> Result<(), GenerateError> {
        let template = anomaly.template();
        while self.sessions.len() < template.sessions() {
            self.add_session(0);
        }
        // Sessions at random, each once: the first steps of a shuffle.
        let mut actors: Vec<usize> = (0..self.sessions.len()).collect();
        for at in 0..template.sessions() {
            let other = at + self.rng.index(actors.len() - at);
            actors.swap(at, other);
        }
        let keys = [(); Template::KEYS].map(|()| self.programs.fresh_key());
        let first_value = self.next_value;
        self.next_value += Template::VALUES * Template::KEYS as i64;
        let bounds = self.times == TimeDetail::Bounds;
        for &wave in template.waves() {
            for planted in wave {
                self.tick();
                let session = &mut self.sessions[actors[planted.session]];
                session.prepare();
                session.record.times.start = Some(self.clock);
                session.record.times.began = bounds.then_some(self.clock);
                session.record.outcome = planted.outcome;
                for event in planted.events {
                    let event = event.named(&keys, first_value);
                    session.push(event);
                }
            }
            for planted in wave {
                self.tick();
                let index = actors[planted.session];
                let session = &mut self.sessions[index];
                session.record.times.committing = bounds.then_some(self.clock);
                self.tick();
                let session = &mut self.sessions[index];
                session.record.times.finish = Some(self.clock);
                if planted.outcome == Outcome::Committed {
                    let view = View::up_to(self.now);
                    self.now += 1;
                    session.rank = Some(2 * u64::from(self.now));
                    self.visibility.committed(self.now, view, &mut session.past, std::iter::empty());
                    self.summary.committed += 1;
                } else {
                    self.summary.aborted += 1;
                }
                self.summary.planted.push(Planted { session: index as i64 + 1, position: session.position });
                self.emit(index)?;
            }
        }
        Ok(())
    }
}

fn name(key: u64) -> Name<'static> {
    Name::Int(key as i64)
}

fn datum(value: Option<i64>) -> Datum<'static> {
    value.map_or(Datum::Initial, Datum::Int)
}
