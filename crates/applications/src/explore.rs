//! All that can happen to the clients of an application: every order of steps, and every choice of every read.
//!
//! Stateless search, depth first: a run is a sequence of choices, of which each is among so many. A run is repeated with the choices of the one
//! before up to the last that has an alternative, takes the next alternative there, and the first one from then on. So nothing is kept but
//! the choices of one run. The thesis used Coyote for this.
//!
//! A step that the level does not let commit has done nothing. It would be tried again, with other choices; these are explored
//! anyway, so the run is left where that happens.

use std::sync::{Arc, Mutex, MutexGuard};

use isonomy_store::Chooser;
use rustc_hash::FxHashSet;

use crate::application::Application;
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
    let script = Arc::new(Mutex::new(Choices::default()));
    let mut explored = Explored { broken: vec![false; application.assertions().len()], ..Explored::default() };
    while explored.runs < limit {
        explored.runs += 1;
        lock(&script).rewind();
        one_run(application, setup, &script, &mut explored)?;
        if !lock(&script).advance() {
            explored.complete = true;
            break;
        }
    }
    Ok(explored)
}

/// Runs with the choices that are to be repeated, and then with the first of each.
fn one_run(
    application: &dyn Application,
    setup: &Setup,
    script: &Arc<Mutex<Choices>>,
    explored: &mut Explored,
) -> Result<(), RunError> {
    let mut stage = application.stage(setup, Some(Box::new(Reader(Arc::clone(script)))))?;
    let mut busy: Vec<usize> = (0..stage.sessions()).filter(|&session| !stage.is_done(session)).collect();
    while !busy.is_empty() {
        let at = lock(script).choose(busy.len());
        if !stage.try_step(busy[at])? {
            return Ok(());
        }
        if stage.is_done(busy[at]) {
            busy.remove(at);
        }
    }
    // What the assertions read is no choice of the clients', so the first of each is taken.
    lock(script).is_over = true;
    for (ever, now) in explored.broken.iter_mut().zip(stage.broken()?) {
        *ever |= now;
    }
    explored.states.insert(stage.state());
    Ok(())
}

/// The choices of a run: which, and of how many.
#[derive(Debug, Default)]
struct Choices {
    taken: Vec<(usize, usize)>,
    /// How many of them this run has come to.
    position: usize,
    is_over: bool,
}

impl Choices {
    fn rewind(&mut self) {
        self.position = 0;
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

fn lock(script: &Mutex<Choices>) -> MutexGuard<'_, Choices> {
    script.lock().expect("nobody panics while choosing")
}

#[cfg(test)]
mod tests {
    use super::*;

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
