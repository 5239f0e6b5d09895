//! Where to listen, and what clients may do.

use std::net::SocketAddr;
use std::time::Duration;

use crate::password::Password;

/// Where a server listens, and what it lets clients do.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Where to speak PostgreSQL's protocol. Port 0 picks one.
    pub postgres: Option<SocketAddr>,
    /// Where to speak MySQL's protocol.
    pub mysql: Option<SocketAddr>,
    /// Where to speak HTTP.
    pub http: Option<SocketAddr>,
    /// What clients must know; without it, everybody is let in, under any name.
    pub password: Option<Password>,
    /// What clients may do.
    pub limits: Limits,
}

/// What clients may do.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many connections there are at a time, of each protocol.
    pub connections: usize,
    /// How many bytes a statement, or the body of a request, may have.
    pub statement: usize,
    /// How long a client may take to introduce itself.
    pub handshake: Duration,
    /// How long an answer may wait for a client that does not read it.
    pub reading: Duration,
    /// How long a session over HTTP may leave a transaction open without a request: nobody can tell whether its client is still there.
    pub abandoned: Duration,
    /// How long a session over HTTP is kept without a request.
    pub forgotten: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connections: 2_000,
            statement: 64 << 20,
            handshake: Duration::from_secs(10),
            reading: Duration::from_secs(60),
            abandoned: Duration::from_secs(30),
            forgotten: Duration::from_secs(600),
        }
    }
}
