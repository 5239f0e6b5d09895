//! Who is connected: so that there are not too many, and so that the end of the server is the end of all.

use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

/// How many clients there are and were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Connections that are open now, over HTTP: sessions.
    pub open: usize,
    /// All that ever were.
    pub total: u64,
    /// Those that were sent away because there were too many.
    pub refused: u64,
}

/// The clients of one protocol.
#[derive(Debug)]
pub(crate) struct Clients {
    limit: usize,
    state: Mutex<State>,
    /// Told when a client leaves.
    left: Condvar,
}

#[derive(Debug, Default)]
struct State {
    sockets: FxHashMap<u64, Arc<TcpStream>>,
    counts: Counts,
    closed: bool,
}

/// A client's place; given back when it is dropped, in a panic too.
#[derive(Debug)]
pub(crate) struct Place {
    clients: Arc<Clients>,
    number: u64,
}

impl Clients {
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Clients { limit, state: Mutex::default(), left: Condvar::new() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing in here is left half done by a panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a client, if there is one.
    pub(crate) fn enter(self: &Arc<Self>, socket: &Arc<TcpStream>) -> Option<Place> {
        let mut state = self.state();
        if state.closed || state.sockets.len() >= self.limit {
            state.counts.refused += 1;
            return None;
        }
        state.counts.total += 1;
        let number = state.counts.total;
        state.sockets.insert(number, Arc::clone(socket));
        Some(Place { clients: Arc::clone(self), number })
    }

    pub(crate) fn counts(&self) -> Counts {
        let state = self.state();
        Counts { open: state.sockets.len(), ..state.counts }
    }

    /// Ends all connections, lets in no more, and waits until they are gone; not for ever, for one may be in a statement.
    pub(crate) fn close(&self, patience: Duration) {
        let mut state = self.state();
        state.closed = true;
        #[allow(clippy::iter_over_hash_type, reason = "all of them, in any order")]
        for socket in state.sockets.values() {
            // One that is closed already is as well.
            let _ = socket.shutdown(Shutdown::Both);
        }
        let end = Instant::now() + patience;
        while !state.sockets.is_empty() {
            let Some(rest) = end.checked_duration_since(Instant::now()) else { return };
            (state, _) = self.left.wait_timeout(state, rest).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.clients.state().sockets.remove(&self.number);
        self.clients.left.notify_all();
    }
}
