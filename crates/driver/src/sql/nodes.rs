//! The nodes of a database, from its URLs.

use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::{Connection, Upsert, has_tables, make_tables};
use crate::Error;

/// How long a node may lag behind the one on which tables were made.
const LAG: Duration = Duration::from_secs(30);

/// One node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    /// Its URL, without what is only meant for us.
    pub(crate) url: String,
    /// Whether it only answers reads: `isonomy_role=read` in its URL.
    pub(crate) reads_only: bool,
}

/// All nodes; there is at least one that takes writes.
#[derive(Clone, Debug)]
pub(crate) struct Nodes(Vec<Node>);

impl Nodes {
    pub(crate) fn parse(urls: &[&str]) -> Result<Self, Error> {
        let nodes = urls.iter().map(|url| Node::parse(url)).collect::<Result<Vec<_>, _>>()?;
        if nodes.iter().all(|node| node.reads_only) {
            return Err(Error::Refused("at least one node must take writes".into()));
        }
        Ok(Nodes(nodes))
    }

    /// The node of a session.
    pub(crate) fn of_session(&self, session: u32) -> &Node {
        &self.0[session as usize % self.0.len()]
    }

    /// A node that takes writes.
    pub(crate) fn writable(&self) -> &Node {
        self.0.iter().find(|node| !node.reads_only).expect("a node takes writes")
    }

    /// Makes the tables anew, and waits until all nodes have them.
    pub(crate) fn prepare<C: Connection>(
        &self,
        connect: impl Fn(&Node) -> Result<C, Error>,
        upsert: Upsert,
    ) -> Result<(), Error> {
        let run = number();
        make_tables(&mut connect(self.writable())?, upsert, run)?;
        for node in &self.0 {
            let mut connection = connect(node)?;
            let deadline = Instant::now() + LAG;
            while !has_tables(&mut connection, run) {
                if Instant::now() > deadline {
                    let message = format!("{} still has no tables after {} s", node.address(), LAG.as_secs());
                    return Err(Error::Refused(message));
                }
                thread::sleep(Duration::from_millis(20));
            }
        }
        Ok(())
    }
}

impl Node {
    fn parse(url: &str) -> Result<Self, Error> {
        let (base, parameters) = url.split_once('?').unwrap_or((url, ""));
        let mut reads_only = false;
        let mut kept = Vec::new();
        for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
            match parameter.split_once('=') {
                Some(("isonomy_role", "read")) => reads_only = true,
                Some(("isonomy_role", other)) => {
                    return Err(Error::Refused(format!("isonomy_role={other}: only `read` is a role")));
                }
                _ => kept.push(parameter),
            }
        }
        let separator = if kept.is_empty() { "" } else { "?" };
        Ok(Node { url: format!("{base}{separator}{}", kept.join("&")), reads_only })
    }

    /// The URL without user, password, database and parameters: what messages may show.
    pub(crate) fn address(&self) -> String {
        let (scheme, rest) = self.url.split_once("://").unwrap_or(("", &self.url));
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let host = rest[..end].rsplit_once('@').map_or(&rest[..end], |(_, host)| host);
        format!("{scheme}://{host}")
    }

    /// Nobody can be reached here.
    pub(crate) fn unreachable(&self, why: impl std::fmt::Display, kind: &str) -> Error {
        let address = self.address();
        Error::Unreachable(format!(
            "no server answers at {address}: {why}; start one, for instance with `isonomy cluster {kind}`"
        ))
    }
}

/// A number that no other run has.
fn number() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_micros() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_for_us() {
        let nodes = Nodes::parse(&["postgres://u:p@h:1/d?a=b", "postgres://h:2/d?isonomy_role=read&connect_timeout=3"])
            .unwrap();
        assert_eq!(nodes.of_session(2), &Node { url: "postgres://u:p@h:1/d?a=b".into(), reads_only: false });
        assert_eq!(nodes.of_session(3), &Node { url: "postgres://h:2/d?connect_timeout=3".into(), reads_only: true });
        assert_eq!(nodes.writable().address(), "postgres://h:1");
        assert!(Nodes::parse(&["mysql://h/d?isonomy_role=read"]).is_err());
        assert!(Nodes::parse(&["mysql://h/d?isonomy_role=write"]).is_err());
    }
}
