//! Servers for tests.

use std::env;

use isonomy_cluster::{Error, Kind, Server};

/// Starts a server. If it is not installed, says so, unless `ISONOMY_SERVERS=1` demands it.
pub(crate) fn start(kind: Kind) -> Option<Server> {
    match Server::start(kind) {
        Ok(server) => Some(server),
        Err(error @ Error::Missing { .. }) if env::var_os("ISONOMY_SERVERS").is_none() => {
            println!("not tested: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}
