//! What tests against real servers share.

#![allow(dead_code, reason = "each test uses some of it")]
#![allow(clippy::print_stderr, reason = "whoever runs the tests should know what they did not do")]

use std::env;

use isonomy_cluster::{Error, Kind, Server};
use isonomy_driver::{Database, open};

/// Starts a server. Without its binaries this says so and the test passes, unless `ISONOMY_SERVERS=1` demands them.
pub(crate) fn start(kind: Kind) -> Option<Server> {
    match Server::start(kind) {
        Ok(server) => Some(server),
        Err(error @ Error::Missing { .. }) if env::var_os("ISONOMY_SERVERS").is_none() => {
            eprintln!("{kind} is not tested: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Opens all nodes of a server.
pub(crate) fn database(server: &Server, isolation: Option<&str>) -> Box<dyn Database> {
    let urls = server.urls();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    open(&urls, isolation).unwrap_or_else(|error| panic!("{error}"))
}
