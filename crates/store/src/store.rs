//! The store and its sessions: what applications hold.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use isonomy_history::Sink;
use isonomy_workload::{Rng, StoreLevel};

use crate::open::{Open, Savepoint};
use crate::options::{Choice, Options};
use crate::replay::{Ended, Script};
use crate::state::{Chooser, Counts, Listener, State};
use crate::strong::Stale;
use crate::turns::Turns;

/// A store that many sessions share. Clones are the same store.
pub struct Store<V> {
    shared: Arc<Shared<V>>,
}

struct Shared<V> {
    options: Options,
    state: Mutex<State<V>>,
    turns: Turns,
}

impl<V> Clone for Store<V> {
    fn clone(&self) -> Self {
        Store { shared: Arc::clone(&self.shared) }
    }
}

impl<V> fmt::Debug for Store<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("options", &self.shared.options).finish_non_exhaustive()
    }
}

/// Why a transaction cannot go on. It has ended and had no effect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The level does not allow it to commit. It may be tried again.
    #[error("{0}")]
    Conflict(&'static str),
    /// Another transaction has been open for too long.
    #[error("{0}")]
    Busy(String),
    /// There is no open transaction.
    #[error("no transaction is open")]
    NotOpen,
}

const CONFLICT: StoreError = StoreError::Conflict(
    "could not serialize access: another transaction has changed what this one has read or writes",
);

impl<V: Clone + fmt::Display> Store<V> {
    /// An empty store.
    pub fn new(options: Options) -> Self {
        Store::made(options, |_| {}, VecDeque::new())
    }

    /// An empty store in which reads return what somebody chooses.
    pub fn with_chooser(options: Options, chooser: Box<dyn Chooser>) -> Self {
        Store::made(options, |state| state.chooser = Some(chooser), VecDeque::new())
    }

    /// An empty store that does again what another one did, as long as its clients do the same.
    pub fn following(options: Options, script: Script) -> Self {
        let turns = if options.concurrent { VecDeque::new() } else { script.turns.iter().copied().collect() };
        Store::made(options, |state| state.script = Some(script), turns)
    }

    fn made(options: Options, with: impl FnOnce(&mut State<V>), turns: VecDeque<u32>) -> Self {
        let mut state = State::new(options.clone());
        with(&mut state);
        let turns = Turns::new(options.seed, turns);
        Store { shared: Arc::new(Shared { options, state: Mutex::new(state), turns }) }
    }

    /// How it behaves.
    pub fn options(&self) -> &Options {
        &self.shared.options
    }

    /// A new session.
    pub fn session(&self) -> Session<V> {
        let seen = self.state().seen_by_newcomers();
        Session { store: self.clone(), number: None, seen, open: None }
    }

    /// From now on every session sees all that is committed so far.
    pub fn settle(&self) {
        self.state().settle();
    }

    /// Asks to be told of every transaction that ends.
    pub fn listen(&self, listener: Listener) {
        self.state().listener = Some(listener);
    }

    /// What happened so far.
    pub fn counts(&self) -> Counts {
        let mut counts = self.state().counts;
        counts.strayed += u64::from(self.shared.turns.strayed());
        counts
    }

    /// Tells all transactions that have ended, as a history that holds at the level of the store.
    ///
    /// Each written value has a number of its own behind it, `12#7`, since applications write the same value again. Times count what happened.
    pub fn write_history(&self, sink: &mut dyn Sink) -> std::io::Result<()> {
        self.state().write_history(sink)
    }

    /// All transactions that have ended, with the choices of their reads.
    pub fn run(&self) -> Vec<Ended> {
        self.state().run()
    }

    fn state(&self) -> MutexGuard<'_, State<V>> {
        self.shared.state.lock().expect("nothing panics with the lock")
    }
}

/// One client of a store, who has one transaction at a time. When it is dropped, an open transaction is rolled back.
pub struct Session<V: Clone + fmt::Display> {
    store: Store<V>,
    /// Known from the first transaction on.
    number: Option<u32>,
    /// How many commits it has seen before it began.
    seen: u32,
    open: Option<Open>,
}

impl<V: Clone + fmt::Display> fmt::Debug for Session<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("number", &self.number).field("open", &self.open).finish_non_exhaustive()
    }
}

impl<V: Clone + fmt::Display> Session<V> {
    /// Begins a transaction at the store's level; waits for its turn. One that is open is rolled back.
    pub fn begin(&mut self) -> Result<(), StoreError> {
        let Options { level, choice, .. } = self.store.shared.options;
        self.begin_with(level, choice)
    }

    /// Begins a transaction at a level of its own, with a choice of its own.
    pub fn begin_with(&mut self, level: StoreLevel, choice: Choice) -> Result<(), StoreError> {
        self.rollback();
        let store = self.store.clone();
        let options = &store.shared.options;
        let seen = self.seen;
        let number = *self.number.get_or_insert_with(|| store.state().enter(seen));
        if !options.delay.is_zero() {
            let most = options.delay.as_nanos() as u64;
            let begun = store.counts();
            let mut rng = Rng::stream(options.seed ^ u64::from(number), 1_000_000 + begun.committed + begun.aborted);
            thread::sleep(Duration::from_nanos(rng.below(most + 1)));
        }
        if !options.concurrent {
            store.shared.turns.wait(number, options.patience).map_err(|late| {
                let patience = options.patience;
                StoreError::Busy(match late.holder {
                    Some((holder, since)) => format!(
                        "waited {patience:?} for session {holder}, whose transaction has been open for {since:.1?}: transactions run one at a \
                         time unless the store lets them overlap"
                    ),
                    None => format!("waited {patience:?} for a turn that did not come"),
                })
            })?;
        }
        self.open = Some(store.state().begin(number, level, choice));
        Ok(())
    }

    /// Whether a transaction is open.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Its number in histories, from its first transaction on.
    pub fn number(&self) -> Option<u32> {
        self.number
    }

    /// How the reads of the open transaction choose from now on; how they did before.
    pub fn choose(&mut self, choice: Choice) -> Option<Choice> {
        self.open.as_mut().map(|open| std::mem::replace(&mut open.choice, choice))
    }

    /// What a key holds: anything that the level allows.
    pub fn read(&mut self, key: &str) -> Result<Option<V>, StoreError> {
        let open = self.open.as_mut().ok_or(StoreError::NotOpen)?;
        let read = self.store.state().read(open, key);
        read.map_err(|Stale| self.give_up())
    }

    /// Sets what a key holds; `None` makes it as if it had never been written.
    pub fn write(&mut self, key: &str, value: Option<V>) -> Result<(), StoreError> {
        let open = self.open.as_mut().ok_or(StoreError::NotOpen)?;
        let written = self.store.state().write(open, key, value);
        written.map_err(|Stale| self.give_up())
    }

    /// What the last commit left at a key, whatever the level allows; nothing is noted. For what databases check beside transactions.
    pub fn newest(&self, key: &str) -> Option<V> {
        self.store.state().newest(key)
    }

    /// Notes this place in the open transaction.
    pub fn savepoint(&self) -> Savepoint {
        self.open.as_ref().map(Open::savepoint).unwrap_or_default()
    }

    /// Takes back what was written since.
    pub fn rollback_to(&mut self, savepoint: Savepoint) {
        if let Some(open) = &mut self.open {
            open.rollback_to(savepoint);
        }
    }

    /// Commits, if the level allows it. Either way the transaction is over.
    pub fn commit(&mut self) -> Result<(), StoreError> {
        let open = self.open.take().ok_or(StoreError::NotOpen)?;
        let committed = self.store.state().commit(open);
        self.end_turn();
        committed.map_err(|Stale| CONFLICT)
    }

    /// Gives the open transaction up, if there is one.
    pub fn rollback(&mut self) {
        if let Some(open) = self.open.take() {
            self.store.state().rollback(open);
            self.end_turn();
        }
    }

    fn give_up(&mut self) -> StoreError {
        self.rollback();
        CONFLICT
    }

    fn end_turn(&self) {
        if let Some(number) = self.number {
            self.store.shared.turns.end(number);
        }
    }
}

impl<V: Clone + fmt::Display> Drop for Session<V> {
    fn drop(&mut self) {
        self.rollback();
    }
}
