//! A database that clients connect to.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use isonomy_store::Store;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::catalog::Catalog;
use crate::connection::Connection;
use crate::datum::Datum;

/// Whose SQL a connection speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// PostgreSQL's.
    PostgreSql,
    /// MySQL's and MariaDB's.
    MySql,
}

/// How SQL is compiled to reads and writes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Whether a statement reads a cell anew each time it needs it, as the thesis prints it. Otherwise it reads each cell once.
    pub reread: bool,
    /// Whether keys and unique constraints are checked against what was committed last, as a database with one server does.
    pub strict_keys: bool,
}

/// A database: its tables, and the store that holds their rows. Cheap to clone; all clones are the same database.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

struct Shared {
    store: Store<Datum>,
    options: Options,
    catalog: RwLock<Catalog>,
    clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
    random: AtomicU64,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("options", &self.shared.options).finish_non_exhaustive()
    }
}

impl Engine {
    /// An empty database.
    pub fn new(store: Store<Datum>, options: Options) -> Self {
        Self::with_clock(store, options, Timestamp::now)
    }

    /// An empty database with a clock of its own, which is all that `now()` knows of time.
    pub fn with_clock(
        store: Store<Datum>,
        options: Options,
        clock: impl Fn() -> Timestamp + Send + Sync + 'static,
    ) -> Self {
        let random = AtomicU64::new(store.options().seed);
        let shared = Shared { store, options, catalog: RwLock::default(), clock: Box::new(clock), random };
        Engine { shared: Arc::new(shared) }
    }

    /// The store.
    pub fn store(&self) -> &Store<Datum> {
        &self.shared.store
    }

    /// A new client.
    pub fn connect(&self, dialect: Dialect) -> Connection {
        Connection::new(self.clone(), dialect)
    }

    pub(crate) fn options(&self) -> Options {
        self.shared.options
    }

    pub(crate) fn catalog(&self) -> RwLockReadGuard<'_, Catalog> {
        // A change of the catalog is one assignment, so a panic elsewhere leaves it whole.
        self.shared.catalog.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn catalog_mut(&self) -> RwLockWriteGuard<'_, Catalog> {
        self.shared.catalog.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time, in UTC, to the microsecond.
    pub(crate) fn now(&self) -> DateTime {
        let now = (self.shared.clock)().to_zoned(TimeZone::UTC).datetime();
        now.with().nanosecond(0).build().unwrap_or(now)
    }

    /// A number between zero and one. All of them follow from the seed of the store.
    pub(crate) fn random(&self) -> f64 {
        // SplitMix64.
        let mut state = self.shared.random.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((state ^ (state >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Lets a sequence go on behind a number that a client chose.
    pub(crate) fn skip_sequence(&self, name: &str, taken: i64) {
        if let Some(sequence) = self.catalog().sequences.get(name) {
            sequence.skip(taken);
        }
    }
}
