//! Do servers start, survive what is done to them, and leave nothing behind?
//!
//! Without a server's binaries its test says so and passes, unless `ISONOMY_SERVERS=1` demands them.

#![allow(clippy::print_stdout, reason = "tests say what they leave out")]

use std::env;
use std::fs;
use std::net::TcpStream;
use std::path::Path;

use isonomy_cluster::{Error, Kind, Server};

/// Starts a server, or says that it is not installed.
fn start(kind: Kind) -> Option<Server> {
    match Server::start(kind) {
        Ok(server) => Some(server),
        Err(error @ Error::Missing { .. }) if env::var_os("ISONOMY_SERVERS").is_none() => {
            println!("not tested: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Whether anybody listens at the address of a URL.
fn listens(url: &str) -> bool {
    let address = url.split_once("://").expect("URLs name a scheme").1;
    let address = address.split_once('@').map_or(address, |(_, address)| address);
    let address = address.split_once('/').map_or(address, |(address, _)| address);
    TcpStream::connect(address).is_ok()
}

fn come_and_go(kind: Kind) {
    let Some(server) = start(kind) else { return };
    let folder = server.folder().to_owned();
    for node in server.nodes() {
        assert!(listens(node.url()), "{node:?}");
        // One node of a cluster that notices a loss only after seconds is enough: the first, which comes back in another way than it came.
        if kind == Kind::Galera && node.name() != "galera1" {
            continue;
        }
        node.pause();
        node.resume();
        node.kill();
        assert!(!listens(node.url()), "{node:?}");
        node.restart().unwrap_or_else(|error| panic!("{error}"));
        assert!(listens(node.url()), "{node:?}");
        assert!(node.log().is_file());
    }
    let urls = server.urls();
    drop(server);
    assert!(!urls.iter().any(|url| listens(url)), "{kind} is still there");
    assert!(!folder.exists(), "{kind} left its files");
    assert_eq!(processes_in(&folder), Vec::<String>::new(), "{kind} left processes");
}

/// Processes that have a folder in their command line or work in it. (PostgreSQL's rename themselves.)
fn processes_in(folder: &Path) -> Vec<String> {
    let name = folder.to_str().expect("temporary folders have plain names");
    let processes = fs::read_dir("/proc").expect("/proc is there").filter_map(|entry| Some(entry.ok()?.path()));
    let lines = processes.filter_map(|process| {
        let line = fs::read_to_string(process.join("cmdline")).ok()?;
        let works_there = fs::read_link(process.join("cwd")).is_ok_and(|place| place.starts_with(folder));
        (works_there || line.contains(name)).then_some(line)
    });
    lines.collect()
}

#[test]
fn postgres() {
    come_and_go(Kind::Postgres);
}

#[test]
fn postgres_with_a_replica() {
    come_and_go(Kind::PostgresReplica);
}

#[test]
fn mariadb() {
    come_and_go(Kind::Mariadb);
}

#[test]
fn galera() {
    come_and_go(Kind::Galera);
}

#[test]
fn h2() {
    come_and_go(Kind::H2);
}

#[test]
fn redis() {
    come_and_go(Kind::Redis);
}

#[test]
fn etcd() {
    come_and_go(Kind::Etcd);
}

#[test]
fn etcd_with_three_members() {
    come_and_go(Kind::EtcdCluster);
}

#[test]
fn kinds_have_names() {
    for kind in Kind::ALL {
        assert_eq!(kind.name().parse::<Kind>().unwrap(), kind);
    }
    assert_eq!(
        "oracle".parse::<Kind>().unwrap_err().to_string(),
        "there is no server `oracle`; known: postgres, postgres-replica, mariadb, galera, h2, redis, etcd, etcd-cluster"
    );
}
