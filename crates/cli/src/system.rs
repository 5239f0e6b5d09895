//! The system under test: a database that is there, or servers started for the purpose; and what can be broken about it.

use std::net::{SocketAddr, ToSocketAddrs};
use std::thread;
use std::time::Duration;

use isonomy_cluster::{Kind, Server};
use isonomy_driver::faults::{Breakable, Fault};
use isonomy_driver::proxy::{Proxy, Traffic};
use isonomy_driver::{Database, open, schemes};

use crate::exit::Failure;

/// What throw-away servers are called instead of a URL: `cluster:galera`.
const CLUSTER: &str = "cluster:";

/// How much longer everything takes when connections are slow.
const LAG: Duration = Duration::from_millis(100);

/// The ports of servers whose URL names none.
const PORTS: [(&str, u16); 6] =
    [("postgres", 5432), ("postgresql", 5432), ("mysql", 3306), ("mariadb", 3306), ("redis", 6379), ("etcd", 2379)];

/// A database, with what was started for it: it all ends when this is dropped.
pub(crate) struct System {
    /// Where clients connect to.
    reached: Vec<String>,
    nodes: Vec<Node>,
}

/// A node that can be broken.
struct Node {
    proxy: Option<Proxy>,
    /// The servers that it is one of, and its place there.
    server: Option<(std::sync::Arc<Server>, usize)>,
}

impl System {
    /// The database at some URLs, or one that is started, for `cluster:KIND`. Its connections can be broken if there are to be faults.
    pub(crate) fn new(urls: &[&str], faults: &[Fault]) -> Result<System, Failure> {
        let server = match urls {
            [url] => url.strip_prefix(CLUSTER).map(start).transpose()?.map(std::sync::Arc::new),
            _ => None,
        };
        if let Some(fault) = faults.iter().find(|fault| fault.needs_server() && server.is_none()) {
            return Err(Failure::new(format_args!(
                "the fault `{fault}` needs servers that isonomy has started itself"
            ))
            .hint(format_args!("with `--db {CLUSTER}KIND`, where KIND is one of {}", Kind::names())));
        }
        let addresses: Vec<String> = match &server {
            Some(server) => server.urls(),
            None => urls.iter().map(|url| (*url).to_string()).collect(),
        };
        let mut nodes = Vec::new();
        let mut reached = Vec::new();
        for (place, url) in addresses.iter().enumerate() {
            let proxy = (!faults.is_empty()).then(|| behind_proxy(url)).transpose()?;
            let (proxy, url) = proxy.map_or((None, url.clone()), |(proxy, url)| (Some(proxy), url));
            reached.push(url);
            nodes.push(Node { proxy, server: server.clone().map(|server| (server, place)) });
        }
        Ok(System { reached, nodes })
    }

    /// Opens it, at an isolation in its own words.
    pub(crate) fn open(&self, isolation: Option<&str>) -> Result<Box<dyn Database>, Failure> {
        let urls: Vec<&str> = self.reached.iter().map(String::as_str).collect();
        open(&urls, isolation).map_err(Failure::new)
    }

    /// The isolation that it can be asked for; `None` is whatever it gives who does not ask.
    pub(crate) fn isolations(&self) -> Vec<Option<String>> {
        let url = &self.reached[0];
        let scheme = url.split_once(':').map_or(url.as_str(), |(scheme, _)| scheme);
        let known = schemes().iter().find(|known| known.names.contains(&scheme));
        // `mock:LEVEL` has its level in its name.
        let all = known.filter(|_| !url.starts_with("mock:")).map_or(&[][..], |known| known.isolations);
        if all.is_empty() { vec![None] } else { all.iter().map(|name| Some((*name).to_string())).collect() }
    }

    /// What faults can be done to.
    pub(crate) fn breakable(&self) -> Vec<&dyn Breakable> {
        self.nodes.iter().map(|node| node as &dyn Breakable).collect()
    }
}

fn start(kind: &str) -> Result<Server, Failure> {
    let known = Kind::ALL.into_iter().find(|known| known.name() == kind);
    let kind = known.ok_or_else(|| {
        Failure::new(format_args!("`{CLUSTER}{kind}`: no such servers can be started; known are {}", Kind::names()))
    })?;
    Server::start(kind).map_err(Failure::new)
}

/// A proxy in front of a server, and the URL that leads through it.
fn behind_proxy(url: &str) -> Result<(Proxy, String), Failure> {
    let no_server = || Failure::new(format_args!("`{url}` has no connections that could be broken"));
    let (scheme, rest) = url.split_once("://").ok_or_else(no_server)?;
    let (user, rest) = rest.rsplit_once('@').map_or((None, rest), |(user, rest)| (Some(user), rest));
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let port = PORTS.iter().find(|(name, _)| *name == scheme).map(|&(_, port)| port);
    let address = resolve(host, port).ok_or_else(no_server)?;
    let proxy = Proxy::start(address).map_err(Failure::new)?;
    let user = user.map_or(String::new(), |user| format!("{user}@"));
    let through = format!("{scheme}://{user}{}{path}", proxy.address());
    Ok((proxy, through))
}

fn resolve(host: &str, port: Option<u16>) -> Option<SocketAddr> {
    let named = host.to_socket_addrs().ok().and_then(|mut all| all.next());
    named.or_else(|| (host, port?).to_socket_addrs().ok()?.next())
}

impl Breakable for Node {
    fn inject(&self, fault: Fault) -> Result<(), String> {
        match (fault, &self.proxy, &self.server) {
            (Fault::Cut, Some(proxy), _) => proxy.cut(),
            (Fault::Partition, Some(proxy), _) => proxy.set(Traffic::Refused),
            (Fault::Delay, Some(proxy), _) => proxy.set(Traffic::Lags(LAG)),
            (Fault::Mute, Some(proxy), _) => proxy.set(Traffic::Unanswered),
            (Fault::Kill, _, Some((server, place))) => server.nodes()[*place].kill(),
            (Fault::Pause, _, Some((server, place))) => server.nodes()[*place].pause(),
            _ => return Err("this node cannot be broken so".into()),
        }
        Ok(())
    }

    fn heal(&self, fault: Fault) -> Result<(), String> {
        if let Some(proxy) = &self.proxy {
            if fault == Fault::Mute {
                // What was kept from clients until now never reaches them.
                proxy.cut();
                thread::sleep(Duration::from_millis(50));
            }
            proxy.set(Traffic::Flows);
        }
        match (fault, &self.server) {
            (Fault::Kill, Some((server, place))) => server.nodes()[*place].restart().map_err(|error| error.to_string()),
            (Fault::Pause, Some((server, place))) => {
                server.nodes()[*place].resume();
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_lead_through_the_proxy() {
        let (proxy, url) = behind_proxy("postgres://me:secret@127.0.0.1/test?a=b").expect("it has an address");
        assert_eq!(url, format!("postgres://me:secret@{}/test?a=b", proxy.address()));
        assert!(behind_proxy("mysql://localhost:1").is_ok());
        assert!(behind_proxy("sqlite").is_err() && behind_proxy("other://x").is_err());
    }

    #[test]
    fn what_cannot_be_broken_or_started_is_said() {
        let message = |urls: &[&str], faults: &[Fault]| match System::new(urls, faults) {
            Err(failure) => format!("{failure:?}"),
            Ok(_) => panic!("{urls:?} is no database"),
        };
        assert!(message(&["cluster:oracle"], &[]).contains("galera"));
        assert!(message(&["postgres://localhost"], &[Fault::Kill]).contains("started itself"));
        assert!(message(&["mock:causal"], &[Fault::Cut]).contains("no connections"));
    }
}
