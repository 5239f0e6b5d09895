//! `etcd://HOST:PORT`: etcd, by its JSON gateway. Optimistic transactions; several URLs are members of one cluster.
//!
//! etcd has no transactions that read and then write. It has one request that compares and, if all is as expected, puts. So a
//! transaction reads keys and remembers the revision that each was modified at; writes wait in the client, which answers reads of them; and the commit is one such request that compares everything that
//! was read. A range is compared as a whole: no key in it was modified after the revision at which it was read. Deletes leave tombstones, which
//! are puts, so what appears in a range or goes from it is a modification like any other, and there are no phantoms.
//!
//! The isolation says how keys are read, also as `?reads=…` in the URL:
//!
//! | isolation | reads | transactions that only read | promises |
//! | --- | --- | --- | --- |
//! | `linearizable`, the default | ask the leader whether they are fresh | compare, if they read more than once | strict-serializable |
//! | `serializable` | what the member at hand has, which may be old | compare nothing, so each read may see another state | read-committed |
//! | `snapshot` | the same, at the revision of the transaction's first read | compare nothing, and need not | serializable |
//!
//! With all three, a transaction that writes compares what it read. A compare-and-set is a read and a write that waits, as in other
//! transactions: sent at once it would take effect before the commit. A list is the text of one key, and an append reads it first.
//!
//! etcd allows 128 comparisons and 128 puts in a request by default; long transactions (TPC-C) need `--max-txn-ops`.
//!
//! The gateway is plain HTTP. The gRPC that it translates to would add an asynchronous runtime and a code generator to the
//! build.

mod gateway;
mod session;

use crate::database::{Ability, Database, Description, Isolation, Session};
use crate::error::Error;
use gateway::Gateway;
use session::EtcdSession;

/// What all keys begin with: the cluster may hold other things, which stay.
const PREFIX: &str = "isonomy/";

/// An etcd cluster.
#[derive(Debug)]
pub struct Etcd {
    /// `HOST:PORT` of each member.
    members: Vec<String>,
    reads: Reads,
}

/// How keys are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reads {
    Linearizable,
    Serializable,
    Snapshot,
}

impl Reads {
    const ALL: [Reads; 3] = [Reads::Linearizable, Reads::Serializable, Reads::Snapshot];

    fn name(self) -> &'static str {
        match self {
            Reads::Linearizable => "linearizable",
            Reads::Serializable => "serializable",
            Reads::Snapshot => "snapshot",
        }
    }

    fn promises(self) -> &'static str {
        match self {
            Reads::Linearizable => "strict-serializable",
            Reads::Serializable => "read-committed",
            Reads::Snapshot => "serializable",
        }
    }

    fn of(name: &str) -> Result<Self, Error> {
        let known = Reads::ALL.map(Reads::name).join(", ");
        let found = Reads::ALL.into_iter().find(|reads| reads.name() == name);
        found.ok_or_else(|| Error::Refused(format!("etcd has no reads `{name}`; known are {known}")))
    }
}

impl Etcd {
    pub(crate) fn open(urls: &[&str], isolation: Option<&str>) -> Result<Box<dyn Database>, Error> {
        let mut reads = isolation.map(Reads::of).transpose()?;
        let mut members = Vec::new();
        for url in urls {
            let (address, option) = parse(url)?;
            if let Some(option) = option {
                let option = Reads::of(option)?;
                if *reads.get_or_insert(option) != option {
                    return Err(Error::Refused(format!("`{url}` contradicts another URL or the isolation")));
                }
            }
            members.push(address.to_owned());
        }
        Ok(Box::new(Etcd { members, reads: reads.unwrap_or(Reads::Linearizable) }))
    }
}

/// The address in a URL, and how it says to read.
fn parse(url: &str) -> Result<(&str, Option<&str>), Error> {
    let malformed =
        || Error::Refused(format!("`{url}`: expected etcd://HOST:PORT or etcd://HOST:PORT?reads=serializable"));
    let rest = url.strip_prefix("etcd://").ok_or_else(malformed)?;
    let (address, option) = match rest.split_once('?') {
        Some((address, options)) => (address, Some(options.strip_prefix("reads=").ok_or_else(malformed)?)),
        None => (rest, None),
    };
    let address = address.trim_end_matches('/');
    let port = address.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
    if port.is_some() && !address.contains(['/', '@', ' ']) { Ok((address, option)) } else { Err(malformed()) }
}

impl Database for Etcd {
    fn describe(&self) -> Result<Description, Error> {
        Ok(Description {
            product: "etcd".into(),
            version: Gateway::connect(&self.members[0])?.version()?,
            isolation: Isolation { name: self.reads.name().into(), promises: Some(self.reads.promises()) },
        })
    }

    fn can(&self, ability: Ability) -> bool {
        match ability {
            Ability::Lists | Ability::Ranges | Ability::CompareAndSet => true,
        }
    }

    fn prepare(&self) -> Result<(), Error> {
        Gateway::connect(&self.members[0])?.delete_all(PREFIX)?;
        // A member that has not heard of it yet would show what an earlier run wrote. A linearizable read waits until it has.
        for member in &self.members {
            Gateway::connect(member)?.wait_until_fresh(PREFIX)?;
        }
        Ok(())
    }

    fn connect(&self, session: u32) -> Result<Box<dyn Session>, Error> {
        let member = &self.members[session as usize % self.members.len()];
        Ok(Box::new(EtcdSession::new(Gateway::connect(member)?, self.reads)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_understood() {
        assert_eq!(parse("etcd://127.0.0.1:2379"), Ok(("127.0.0.1:2379", None)));
        assert_eq!(parse("etcd://[::1]:2379/?reads=serializable"), Ok(("[::1]:2379", Some("serializable"))));
        for wrong in ["etcd:127.0.0.1:2379", "etcd://127.0.0.1", "etcd://u@h:1", "etcd://h:1?x=y", "etcd://h:99999"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        let open = |urls: &[&str], isolation| Etcd::open(urls, isolation).map(|_| ());
        assert!(open(&["etcd://h:1?reads=snapshot", "etcd://h:2"], Some("snapshot")).is_ok());
        assert!(open(&["etcd://h:1?reads=snapshot", "etcd://h:2?reads=linearizable"], None).is_err());
        assert!(open(&["etcd://h:1?reads=snapshot"], Some("linearizable")).is_err());
        assert!(open(&["etcd://h:1"], Some("strong")).is_err());
    }
}
