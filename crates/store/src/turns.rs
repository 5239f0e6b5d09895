//! One transaction at a time: whoever begins waits until the one before has ended.
//!
//! Who comes next is drawn among those who wait, because the order in which transactions run is one of the two things that decide what an
//! application can see. A script can say it instead.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use isonomy_workload::Rng;

/// How long the session that a script names is waited for.
const SCRIPTED: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(crate) struct Turns {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Whose turn it is, and since when.
    holder: Option<(u32, Instant)>,
    waiting: Vec<Waiting>,
    rng: Rng,
    /// Whose turns are still to come, if a script says so.
    script: VecDeque<u32>,
    /// How often the script was not followed.
    strayed: u32,
}

#[derive(Debug)]
struct Waiting {
    session: u32,
    bell: Arc<Condvar>,
}

/// It was not a session's turn for too long.
#[derive(Debug)]
pub(crate) struct TooLong {
    /// Whose turn it was, and for how long.
    pub(crate) holder: Option<(u32, Duration)>,
}

impl Turns {
    pub(crate) fn new(seed: u64, script: VecDeque<u32>) -> Self {
        let rng = Rng::stream(seed, 11);
        Turns { state: Mutex::new(State { holder: None, waiting: Vec::new(), rng, script, strayed: 0 }) }
    }

    /// Waits until it is this session's turn.
    pub(crate) fn wait(&self, session: u32, patience: Duration) -> Result<(), TooLong> {
        let mut state = self.lock();
        if state.holder.is_none()
            && state.waiting.is_empty()
            && state.script.front().is_none_or(|&next| next == session)
        {
            state.script.pop_front();
            state.holder = Some((session, Instant::now()));
            return Ok(());
        }
        let bell = Arc::new(Condvar::new());
        state.waiting.push(Waiting { session, bell: Arc::clone(&bell) });
        let began = Instant::now();
        loop {
            state.pass_on();
            if state.holder.is_some_and(|(holder, _)| holder == session) {
                return Ok(());
            }
            let mut left = patience.saturating_sub(began.elapsed());
            if left.is_zero() {
                state.waiting.retain(|waiting| waiting.session != session);
                let holder = state.holder.map(|(holder, since)| (holder, since.elapsed()));
                return Err(TooLong { holder });
            }
            if state.holder.is_none() {
                // The script names somebody who is not here.
                if began.elapsed() >= SCRIPTED {
                    state.strayed += 1;
                    state.script.pop_front();
                    continue;
                }
                left = left.min(SCRIPTED);
            }
            state = bell.wait_timeout(state, left).expect("nothing panics with the lock").0;
        }
    }

    /// Ends this session's turn, if it has one.
    pub(crate) fn end(&self, session: u32) {
        let mut state = self.lock();
        if state.holder.is_some_and(|(holder, _)| holder == session) {
            state.holder = None;
            state.pass_on();
        }
    }

    /// How often the script was not followed.
    pub(crate) fn strayed(&self) -> u32 {
        self.lock().strayed
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics with the lock")
    }
}

impl State {
    /// Gives the turn to somebody who waits.
    fn pass_on(&mut self) {
        if self.holder.is_some() || self.waiting.is_empty() {
            return;
        }
        let next = match self.script.front() {
            Some(&scripted) => self.waiting.iter().position(|waiting| waiting.session == scripted),
            None => Some(self.rng.below(self.waiting.len() as u64) as usize),
        };
        if let Some(next) = next {
            let waiting = self.waiting.swap_remove(next);
            self.script.pop_front();
            self.holder = Some((waiting.session, Instant::now()));
            waiting.bell.notify_one();
        }
    }
}
