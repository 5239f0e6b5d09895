//! What a server is told.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use crate::secret::Token;

/// How to serve, and what.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where to listen.
    pub address: SocketAddr,
    /// The folders whose histories and runs are shown.
    pub folders: Vec<PathBuf>,
    /// Where runs that are started from the page are kept. It is shown, too.
    pub runs: PathBuf,
    /// What clients must know. An address that other machines reach needs one.
    pub token: Option<Token>,
    /// The command `isonomy`, which does the work.
    pub program: PathBuf,
    /// What the form of a run offers.
    pub choices: Choices,
    /// How much of everything there may be.
    pub limits: Limits,
}

impl Config {
    /// The usual address, no folders yet.
    pub fn new(program: PathBuf, runs: PathBuf) -> Self {
        Config {
            address: SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 8765),
            folders: Vec::new(),
            runs,
            token: None,
            program,
            choices: Choices::default(),
            limits: Limits::default(),
        }
    }
}

/// What the form of a run offers.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// Databases, by their URLs.
    pub databases: Vec<Database>,
    /// Names of workloads.
    pub workloads: Vec<String>,
}

/// A kind of database.
#[derive(Clone, Debug)]
pub struct Database {
    /// How its URL looks.
    pub form: String,
    /// What it is.
    pub what: String,
}

/// How much of everything there may be.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of an upload.
    pub upload: u64,
    /// Bytes of all uploads together.
    pub uploads: u64,
    /// Jobs that run at a time.
    pub running: usize,
    /// Jobs whose results are kept.
    pub kept: usize,
    /// Histories that stay loaded.
    pub loaded: usize,
    /// Bytes of memory that a history may take to be looked into.
    pub memory: usize,
    /// Histories and run folders that are listed.
    pub listed: usize,
    /// Connections at a time.
    pub connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            upload: 1 << 30,
            uploads: 4 << 30,
            running: 2,
            kept: 50,
            loaded: 3,
            memory: 2 << 30,
            listed: 2_000,
            connections: 64,
        }
    }
}
