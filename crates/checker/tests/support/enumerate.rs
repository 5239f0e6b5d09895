//! Every history up to a bound.
//!
//! Histories that differ only by the names of keys or by the order of their sessions are met once. Values are unique by
//! construction: the i-th write writes i.

use isonomy_history::{Datum, History, HistoryBuilder, Name, Outcome, Times};

/// Which values a read may return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sources {
    /// The initial one, and what any transaction writes to the key: the reader itself, earlier or later, too.
    All,
    /// What read consistency allows: after an own write that one, else the initial one or the last of a transaction that
    /// did not abort. Two reads of a key may still differ.
    Consistent,
}

/// Which histories to meet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound<'a> {
    /// How many transactions each session has, largest first. Each has an event at least.
    pub(crate) sessions: &'a [usize],
    /// The most events in all.
    pub(crate) events: usize,
    /// The most keys.
    pub(crate) keys: u8,
    /// What reads may return.
    pub(crate) sources: Sources,
    /// How transactions may end. Aborted ones only write: what they read changes nothing.
    pub(crate) outcomes: &'a [Outcome],
    /// Whether to run through all ways in which transactions may overlap in time, too.
    pub(crate) timed: bool,
}

impl<'a> Bound<'a> {
    /// Committed transactions without times.
    pub(crate) fn new(sessions: &'a [usize], events: usize, keys: u8, sources: Sources) -> Self {
        Bound { sessions, events, keys, sources, outcomes: &[Outcome::Committed], timed: false }
    }
}

/// All ways to put this many transactions in sessions.
pub(crate) fn session_shapes(transactions: usize) -> Vec<Vec<usize>> {
    fn extend(left: usize, most: usize, shape: &mut Vec<usize>, out: &mut Vec<Vec<usize>>) {
        if left == 0 {
            out.push(shape.clone());
        }
        for next in (1..=left.min(most)).rev() {
            shape.push(next);
            extend(left - next, next, shape, out);
            shape.pop();
        }
    }
    let mut out = Vec::new();
    extend(transactions, transactions, &mut Vec::new(), &mut out);
    out
}

/// Meets every history of the bound, and returns how many there were.
pub(crate) fn for_each_history(bound: &Bound<'_>, mut visit: impl FnMut(&History)) -> usize {
    let mut session_of = Vec::new();
    for (session, &transactions) in bound.sessions.iter().enumerate() {
        session_of.extend(std::iter::repeat_n(session, transactions));
    }
    let mut walk = Walk {
        bound,
        permutations: permutations_of_sessions(bound.sessions),
        timelines: if bound.timed { timelines(bound.sessions) } else { vec![Vec::new()] },
        session_of,
        transactions: Vec::new(),
        visit: &mut visit,
        count: 0,
    };
    walk.add_transaction(bound.events, 0);
    walk.count
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    write: bool,
    key: u8,
}

#[derive(Clone, PartialEq, Eq)]
struct Program {
    outcome: Outcome,
    steps: Vec<Step>,
}

struct Walk<'a> {
    bound: &'a Bound<'a>,
    /// Orders of sessions that have equally many transactions in each place.
    permutations: Vec<Vec<usize>>,
    /// For each way to overlap, the start and finish of each transaction; or one empty way, without times.
    timelines: Vec<Vec<(i64, i64)>>,
    session_of: Vec<usize>,
    transactions: Vec<Program>,
    visit: &'a mut dyn FnMut(&History),
    count: usize,
}

const INITIAL: usize = usize::MAX;

impl Walk<'_> {
    fn add_transaction(&mut self, events_left: usize, keys_used: u8) {
        let missing = self.session_of.len() - self.transactions.len();
        if missing == 0 {
            self.choose_sources();
            return;
        }
        if events_left < missing {
            return;
        }
        for &outcome in self.bound.outcomes {
            self.transactions.push(Program { outcome, steps: Vec::new() });
            self.add_step(events_left, keys_used);
            self.transactions.pop();
        }
    }

    /// Adds one step or more to the last transaction, keeping one for each transaction that follows.
    fn add_step(&mut self, events_left: usize, keys_used: u8) {
        let missing = self.session_of.len() - self.transactions.len();
        if events_left <= missing {
            return;
        }
        let program = self.transactions.last().expect("steps are added to a transaction");
        let can_read = program.outcome != Outcome::Aborted;
        for write in if can_read { &[false, true][..] } else { &[true][..] } {
            // A key is named when it is first used, so that no two histories differ by names alone.
            for key in 0..(keys_used + 1).min(self.bound.keys) {
                self.steps().push(Step { write: *write, key });
                let keys_used = keys_used.max(key + 1);
                self.add_transaction(events_left - 1, keys_used);
                self.add_step(events_left - 1, keys_used);
                self.steps().pop();
            }
        }
    }

    fn steps(&mut self) -> &mut Vec<Step> {
        &mut self.transactions.last_mut().expect("steps are added to a transaction").steps
    }

    fn choose_sources(&mut self) {
        let Some(symmetries) = self.symmetries() else { return };
        let events: Vec<(usize, Step)> = (0..self.transactions.len())
            .flat_map(|t| self.transactions[t].steps.iter().map(move |&s| (t, s)))
            .collect();
        let choices: Vec<Vec<usize>> = (0..events.len()).map(|event| self.sources(event, &events)).collect();
        if choices.iter().zip(&events).any(|(choices, (_, step))| !step.write && choices.is_empty()) {
            return;
        }
        let mut chosen = vec![0; events.len()];
        loop {
            let source = |event: usize| choices[event].get(chosen[event]).copied();
            if symmetries.iter().all(|symmetry| is_first(events.len(), symmetry, source)) {
                for timeline in 0..self.timelines.len() {
                    let history = self.build(&events, source, &self.timelines[timeline]);
                    (self.visit)(&history);
                    self.count += 1;
                }
            }
            // Count up, as with digits.
            let Some(digit) = (0..events.len()).find(|&e| chosen[e] + 1 < choices[e].len()) else { return };
            chosen[..digit].fill(0);
            chosen[digit] += 1;
        }
    }

    /// What a read may return: the events that write it, or [`INITIAL`]. Empty for writes.
    fn sources(&self, event: usize, events: &[(usize, Step)]) -> Vec<usize> {
        let (reader, read) = events[event];
        if read.write {
            return Vec::new();
        }
        let writes = (0..events.len()).filter(|&e| events[e].1.write && events[e].1.key == read.key);
        if self.bound.sources == Sources::All {
            return std::iter::once(INITIAL).chain(writes).collect();
        }
        if let Some(own) = writes.clone().rfind(|&e| events[e].0 == reader && e < event) {
            return vec![own];
        }
        let last_of_its_transaction = |&e: &usize| !writes.clone().any(|f| f > e && events[f].0 == events[e].0);
        let may_be_seen =
            |&e: &usize| events[e].0 != reader && self.transactions[events[e].0].outcome != Outcome::Aborted;
        std::iter::once(INITIAL).chain(writes.clone().filter(may_be_seen).filter(last_of_its_transaction)).collect()
    }

    /// For each order of sessions that gives the same programs again, where each event goes. `None` if some order gives
    /// smaller programs: these are met instead.
    fn symmetries(&self) -> Option<Vec<Vec<usize>>> {
        let mut first_transaction = vec![0; self.bound.sessions.len()];
        for session in 1..self.bound.sessions.len() {
            first_transaction[session] = first_transaction[session - 1] + self.bound.sessions[session - 1];
        }
        let mut first_event = vec![0];
        for program in &self.transactions {
            first_event.push(first_event.last().expect("it begins with one") + program.steps.len());
        }
        let own = self.encode(0..self.transactions.len());
        let mut symmetries = Vec::new();
        for permutation in &self.permutations {
            let transactions = permutation.iter().flat_map(|&session| {
                first_transaction[session]..first_transaction[session] + self.bound.sessions[session]
            });
            let encoded = self.encode(transactions.clone());
            if encoded < own {
                return None;
            }
            if encoded == own {
                let mut goes_to = vec![0; first_event[self.transactions.len()]];
                let events = transactions.flat_map(|t| first_event[t]..first_event[t + 1]);
                events.enumerate().for_each(|(place, event)| goes_to[event] = place);
                symmetries.push(goes_to);
            }
        }
        Some(symmetries)
    }

    /// The programs in this order, with keys named anew.
    fn encode(&self, transactions: impl Iterator<Item = usize>) -> Vec<u8> {
        let mut names = [u8::MAX; 8];
        let mut used = 0;
        let mut code = Vec::with_capacity(16);
        for txn in transactions {
            let program = &self.transactions[txn];
            code.push(program.outcome as u8);
            code.push(program.steps.len() as u8);
            for step in &program.steps {
                let name = &mut names[usize::from(step.key)];
                if *name == u8::MAX {
                    *name = used;
                    used += 1;
                }
                code.push(*name * 2 + u8::from(step.write));
            }
        }
        code
    }

    fn build(
        &self,
        events: &[(usize, Step)],
        source: impl Fn(usize) -> Option<usize>,
        timeline: &[(i64, i64)],
    ) -> History {
        let mut builder = HistoryBuilder::new();
        let value = |write: usize| Datum::Int(write as i64 + 1);
        for (txn, program) in self.transactions.iter().enumerate() {
            builder.begin(Name::Int(self.session_of[txn] as i64));
            builder.set_outcome(program.outcome);
            if let Some(&(start, finish)) = timeline.get(txn) {
                builder.set_times(Times { start: Some(start), finish: Some(finish), ..Times::default() });
            }
            for (event, &(_, step)) in events.iter().enumerate().filter(|(_, (t, _))| *t == txn) {
                let key = Name::Int(i64::from(step.key));
                match source(event) {
                    None => builder.write(key, value(event)),
                    Some(INITIAL) => builder.read(key, Datum::Initial),
                    Some(write) => builder.read(key, value(write)),
                }
            }
        }
        builder.finish().expect("values are unique by construction")
    }
}

/// Of the histories that a symmetry makes equal only the one with the smallest sources is met.
fn is_first(events: usize, goes_to: &[usize], source: impl Fn(usize) -> Option<usize>) -> bool {
    let mut moved = vec![None; events];
    for event in 0..events {
        moved[goes_to[event]] = source(event).map(|from| if from == INITIAL { INITIAL } else { goes_to[from] });
    }
    (0..events).map(source).le(moved)
}

fn permutations_of_sessions(sessions: &[usize]) -> Vec<Vec<usize>> {
    fn extend(sessions: &[usize], order: &mut Vec<usize>, out: &mut Vec<Vec<usize>>) {
        if order.len() == sessions.len() {
            out.push(order.clone());
            return;
        }
        for next in 0..sessions.len() {
            if !order.contains(&next) && sessions[next] == sessions[order.len()] {
                order.push(next);
                extend(sessions, order, out);
                order.pop();
            }
        }
    }
    let mut out = Vec::new();
    extend(sessions, &mut Vec::new(), &mut out);
    out.retain(|order| !order.is_sorted());
    out
}

/// All ways in which transactions may start and finish, at different times, those of a session one after another.
fn timelines(sessions: &[usize]) -> Vec<Vec<(i64, i64)>> {
    fn extend(left: &mut [usize], moments: &mut Vec<usize>, out: &mut Vec<Vec<usize>>) {
        if left.iter().all(|&n| n == 0) {
            out.push(moments.clone());
        }
        for session in 0..left.len() {
            if left[session] > 0 {
                left[session] -= 1;
                moments.push(session);
                extend(left, moments, out);
                moments.pop();
                left[session] += 1;
            }
        }
    }
    let mut interleavings = Vec::new();
    extend(&mut sessions.iter().map(|n| 2 * n).collect::<Vec<_>>(), &mut Vec::new(), &mut interleavings);
    let timeline = |moments: &Vec<usize>| {
        let of = |session: usize| {
            let times: Vec<i64> =
                (0..moments.len()).filter(|&at| moments[at] == session).map(|at| at as i64 * 10).collect();
            times.chunks(2).map(|pair| (pair[0], pair[1])).collect::<Vec<_>>()
        };
        (0..sessions.len()).flat_map(of).collect()
    };
    interleavings.iter().map(timeline).collect()
}
