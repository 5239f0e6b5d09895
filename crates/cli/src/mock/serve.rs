//! The server, as long as the command runs.

use std::env;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use clap::Args;
use isonomy_wire::{Addresses, Config, Counts, Password, Server};

use super::record::Folder;
use super::store::StoreArgs;
use crate::exit::{Exit, Failure};
use crate::output::{Output, Terminal, count};
use crate::run::listen;

/// How often the command looks whether it is to end.
const BEAT: Duration = Duration::from_millis(50);

/// Where clients of PostgreSQL are served if no address is given; its usual port is the next one below.
const DEFAULT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 5433);

const PASSWORD: &str = "ISONOMY_PASSWORD";

/// Arguments of the server.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Where to serve clients of PostgreSQL, such as 127.0.0.1:5433, or only a port; 0 picks one
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pg: Option<SocketAddr>,
    /// Where to serve clients of MySQL and MariaDB
    #[arg(long, value_name = "ADDR", value_parser = address)]
    mysql: Option<SocketAddr>,
    /// Where to serve HTTP
    #[arg(long, value_name = "ADDR", value_parser = address)]
    http: Option<SocketAddr>,
    /// What clients must know; better in the environment, as ISONOMY_PASSWORD, where others do not see it
    #[arg(long, value_name = "P")]
    password: Option<String>,
    /// Allow addresses that other machines can reach
    #[arg(long)]
    expose: bool,
    /// Write what happens into this folder: the history, and the choices of all reads
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
}

/// Reads an address. A port alone is one of this machine.
fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix("localhost:").unwrap_or(text);
    if let Ok(port) = port.parse() {
        return Ok(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port));
    }
    text.parse().map_err(|_| "expected an address such as 127.0.0.1:5433 or [::1]:5433, or a port".to_string())
}

impl ServeArgs {
    fn config(&self, terminal: Terminal) -> Result<Config, Failure> {
        let nothing = self.pg.is_none() && self.mysql.is_none() && self.http.is_none();
        let postgres = if nothing { Some(DEFAULT) } else { self.pg };
        let password = self.password.clone().or_else(|| env::var(PASSWORD).ok()).filter(|word| !word.is_empty());
        let open = [postgres, self.mysql, self.http].into_iter().flatten().find(|address| !address.ip().is_loopback());
        if let Some(address) = open {
            if !self.expose {
                return Err(Failure::new(format_args!("other machines could reach {address}"))
                    .hint("take 127.0.0.1, or allow it with --expose"));
            }
            if password.is_none() {
                terminal.note(&format!("whoever reaches {address} is let in: there is no password"));
            }
        }
        let password = password.map(Password::new);
        Ok(Config { postgres, mysql: self.mysql, http: self.http, password, ..Config::default() })
    }
}

pub(super) fn run(args: &ServeArgs, store: &StoreArgs, terminal: Terminal) -> Result<Exit, Failure> {
    let interrupted = Arc::new(AtomicBool::new(false));
    listen(&interrupted)?;
    let config = args.config(terminal)?;
    let folder = args.record.as_deref().map(Folder::create).transpose()?;
    allow_many_files(config.limits.connections);
    let engine = store.engine();
    if let Some(folder) = &folder {
        folder.follow(engine.store());
    }
    let in_use = |error: &isonomy_wire::StartError| error.source.kind() == std::io::ErrorKind::AddrInUse;
    let mut server = Server::start(engine.clone(), &config).map_err(|error| {
        let failure = Failure::new(&error);
        if in_use(&error) { failure.hint("port 0 picks one that is free") } else { failure }
    })?;
    let mut out = Output::new();
    out.print(&urls(server.addresses()))?;
    terminal.note(&format!("ready at level {}, seed {}; ctrl-C ends it", store.options().level, store.options().seed));
    while !interrupted.load(Ordering::Relaxed) {
        thread::sleep(BEAT);
    }
    server.stop();
    out.print(&summary(server.counts(), engine.store().counts()))?;
    if let Some(folder) = folder {
        let path = folder.finish()?;
        terminal.note(&format!("recorded in {}", path.display()));
    }
    Ok(Exit::Fine)
}

/// A line for each listener, to be pasted.
fn urls(addresses: Addresses) -> String {
    let sql = |scheme: &str, address: SocketAddr| format!("{scheme}://isonomy@{address}/isonomy\n");
    let lines = [
        addresses.postgres.map(|address| sql("postgres", address)),
        addresses.mysql.map(|address| sql("mysql", address)),
        addresses.http.map(|address| format!("http://{address}/\n")),
    ];
    lines.into_iter().flatten().collect()
}

fn summary(clients: Counts, store: isonomy_store::Counts) -> String {
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    format!(
        "{}, {} committed, {} aborted; {}, {} of them not of what was newest\n",
        count(number(clients.total), "connection"),
        count(number(store.committed), "transaction"),
        store.aborted,
        count(number(store.reads), "read"),
        store.stale,
    )
}

/// Each connection is an open file; what is allowed at first may be fewer than there may be connections.
fn allow_many_files(connections: usize) {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    let wanted = connections as u64 * 4;
    if limit.current.is_some_and(|current| current < wanted) {
        limit.current = Some(limit.maximum.map_or(wanted, |maximum| maximum.min(wanted)));
        // Fewer connections than allowed are no reason not to start.
        let _ = setrlimit(Resource::Nofile, limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_short() {
        for text in ["5433", "localhost:5433", "127.0.0.1:5433"] {
            assert_eq!(address(text), Ok(DEFAULT));
        }
        assert!(address("[::1]:1").is_ok());
        for bad in ["", "example.org:1", "127.0.0.1", "99999"] {
            assert!(address(bad).is_err(), "{bad}");
        }
    }
}
