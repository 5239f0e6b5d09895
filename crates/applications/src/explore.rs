//! All that can happen to the clients of an application: every order of steps, and every choice of every read.
//!
//! Stateless search, depth first: a run is a sequence of choices, of which each is among so many. A run is repeated with the choices of the one
//! before up to the last that has an alternative, takes the next alternative there, and the first one from then on. So nothing is kept but
//! the choices of one run. The thesis used Coyote for this.
//!
//! At read committed, read atomic and causal consistency the store's answers follow from who read what from whom, and not from the order
//! in which transactions of different sessions ran. There a run is left as soon as it comes to a history where another run has been.
//!
//! A step that the level does not let commit has done nothing. It would be tried again, with other choices; these are explored
//! anyway, so the run is left where that happens.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard};

use isonomy_store::{Chooser, Ended, StoreLevel};
use rustc_hash::{FxHashSet, FxHasher};

use crate::application::{Application, Control};
use crate::run::{RunError, Setup};

/// What there is to see.
#[derive(Clone, Debug, Default)]
pub struct Explored {
    /// Each way in which the clients of a run can be answered.
    pub states: FxHashSet<Vec<Option<Vec<i64>>>>,
    /// How many runs it took.
    pub runs: u64,
    /// Whether all were seen, and not only as many as were allowed.
    pub complete: bool,
    /// Which assertions were broken in some run.
    pub broken: Vec<bool>,
}

/// Explores all runs of a setup, whatever its seed, but no more than so many.
pub fn explore(application: &dyn Application, setup: &Setup, limit: u64) -> Result<Explored, RunError> {
    search(application, setup, limit, order_is_open(setup.level))
}

/// Explores, and leaves runs early or not.
fn search(application: &dyn Application, setup: &Setup, limit: u64, leaves_early: bool) -> Result<Explored, RunError> {
    let broken = vec![false; application.assertions().len()];
    let explored = Explored { broken, ..Explored::default() };
    let mut search =
        Search { leaves_early, choices: Arc::default(), last: Arc::default(), been: FxHashSet::default(), explored };
    while search.explored.runs < limit {
        search.explored.runs += 1;
        search.run(application, setup)?;
        if !lock(&search.choices).advance() {
            search.explored.complete = true;
            break;
        }
    }
    Ok(search.explored)
}

/// A search in progress.
struct Search {
    /// Whether a run ends where another one has been.
    leaves_early: bool,
    choices: Arc<Mutex<Choices>>,
    /// The transaction that ended last.
    last: Arc<Mutex<Option<Ended>>>,
    /// The histories where runs have been.
    been: FxHashSet<Vec<u64>>,
    explored: Explored,
}

impl Search {
    /// Runs with the choices that are to be repeated, and then with the first of each.
    fn run(&mut self, application: &dyn Application, setup: &Setup) -> Result<(), RunError> {
        let last = Arc::clone(&self.last);
        let control = Control {
            chooser: Box::new(Reader(Arc::clone(&self.choices))),
            listener: Box::new(move |_, ended| *lock(&last) = Some(ended.clone())),
        };
        lock(&self.choices).rewind();
        let mut stage = application.stage(setup, Some(control))?;
        let mut trail = Trail::new(stage.sessions());
        let mut busy: Vec<usize> = (0..stage.sessions()).filter(|&session| !stage.is_done(session)).collect();
        while !busy.is_empty() {
            let at = lock(&self.choices).choose(busy.len());
            let session = busy[at];
            if !stage.try_step(session)? {
                return Ok(());
            }
            if stage.is_done(session) {
                busy.remove(at);
            }
            if self.leaves_early {
                trail.note(session, lock(&self.last).as_ref().expect("the step was a transaction"));
                // What is repeated has been before, on the way to something new.
                if !lock(&self.choices).repeats() && !self.been.insert(trail.sessions.clone()) {
                    return Ok(());
                }
            }
        }
        // What the assertions read is no choice of the clients', so the first of each is taken.
        lock(&self.choices).is_over = true;
        for (ever, now) in self.explored.broken.iter_mut().zip(stage.broken()?) {
            *ever |= now;
        }
        self.explored.states.insert(stage.state());
        Ok(())
    }
}

/// Whether the store leaves the order of commits open, so that the history says all.
fn order_is_open(level: StoreLevel) -> bool {
    matches!(level, StoreLevel::ReadCommitted | StoreLevel::ReadAtomic | StoreLevel::Causal)
}

/// Who read what from whom: for each session a hash of its transactions.
struct Trail {
    sessions: Vec<u64>,
    /// Which session the store means by a number. It counts them as they come.
    numbers: Vec<(u32, usize)>,
}

impl Trail {
    fn new(sessions: usize) -> Self {
        Trail { sessions: vec![0; sessions], numbers: Vec::new() }
    }

    fn note(&mut self, session: usize, ended: &Ended) {
        if !self.numbers.contains(&(ended.session, session)) {
            self.numbers.push((ended.session, session));
        }
        let mut hasher = FxHasher::default();
        self.sessions[session].hash(&mut hasher);
        for read in &ended.reads {
            read.key.hash(&mut hasher);
            // What was loaded is of no session.
            let session_of = |number| self.numbers.iter().find(|known| known.0 == number).map(|known| known.1);
            read.from.map(|(number, transaction)| (session_of(number), transaction)).hash(&mut hasher);
        }
        // Apart from a session that has done nothing.
        self.sessions[session] = hasher.finish() | 1;
    }
}

/// The choices of a run: which, and of how many.
#[derive(Debug, Default)]
struct Choices {
    taken: Vec<(usize, usize)>,
    /// How many of them this run has come to.
    position: usize,
    /// How many of them are repeated.
    repeated: usize,
    is_over: bool,
}

impl Choices {
    fn rewind(&mut self) {
        self.position = 0;
        self.repeated = self.taken.len();
        self.is_over = false;
    }

    fn choose(&mut self, among: usize) -> usize {
        if among <= 1 || self.is_over {
            return 0;
        }
        if self.position == self.taken.len() {
            self.taken.push((0, among));
        }
        let (choice, before) = self.taken[self.position];
        assert_eq!(before, among, "a run with the same choices is the same run");
        self.position += 1;
        choice
    }

    /// Whether the run has done nothing yet that no run before it did.
    fn repeats(&self) -> bool {
        self.position < self.repeated
    }

    /// Goes on to the next run, if there is one.
    fn advance(&mut self) -> bool {
        self.taken.truncate(self.position);
        while let Some((choice, among)) = self.taken.pop() {
            if choice + 1 < among {
                self.taken.push((choice + 1, among));
                return true;
            }
        }
        false
    }
}

/// Chooses what reads return.
struct Reader(Arc<Mutex<Choices>>);

impl Chooser for Reader {
    fn choose(&mut self, allowed: usize) -> usize {
        lock(&self.0).choose(allowed)
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().expect("nobody panics while holding it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::application::all;

    #[test]
    fn what_is_left_out_shows_nothing_new() {
        for application in all().iter().filter(|application| application.is_small() && application.name() != "stack") {
            for level in [StoreLevel::ReadCommitted, StoreLevel::ReadAtomic, StoreLevel::Causal] {
                for harness in 0..3 {
                    let sizes = if harness == 0 { (3, 2) } else { (2, 3) };
                    let setup =
                        Setup { level, harness, sessions: sizes.0, operations: sizes.1, ..Setup::of(*application) };
                    let [quick, slow] = [true, false].map(|early| search(*application, &setup, 60_000, early).unwrap());
                    assert!(quick.complete && quick.runs <= slow.runs);
                    assert!(!slow.complete || quick.states == slow.states, "{application:?} at {level}");
                    assert!(slow.states.is_subset(&quick.states), "{application:?} at {level}");
                }
            }
        }
    }

    #[test]
    fn every_sequence_of_choices_comes_once() {
        let mut choices = Choices::default();
        let mut seen = Vec::new();
        loop {
            choices.rewind();
            let first = choices.choose(2);
            // How many choices there are later depends on earlier ones.
            let second = if first == 0 { choices.choose(3) } else { 7 };
            seen.push((first, second));
            if !choices.advance() {
                break;
            }
        }
        assert_eq!(seen, [(0, 0), (0, 1), (0, 2), (1, 7)]);
    }
}
