//! Which servers can be started.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;
use crate::folder::Folder;
use crate::node::Node;
use crate::{etcd, galera, h2, mariadb, postgres, redis};

/// A kind of server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// PostgreSQL, one node.
    Postgres,
    /// PostgreSQL, a primary with a synchronous streaming replica, which answers reads.
    PostgresReplica,
    /// MariaDB, one node.
    Mariadb,
    /// MariaDB with Galera, three nodes that all take writes.
    Galera,
    /// H2, which speaks the protocol of PostgreSQL.
    H2,
    /// Redis, one node.
    Redis,
    /// etcd, one member.
    Etcd,
    /// etcd, three members.
    EtcdCluster,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 8] = [
        Kind::Postgres,
        Kind::PostgresReplica,
        Kind::Mariadb,
        Kind::Galera,
        Kind::H2,
        Kind::Redis,
        Kind::Etcd,
        Kind::EtcdCluster,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Postgres => "postgres",
            Kind::PostgresReplica => "postgres-replica",
            Kind::Mariadb => "mariadb",
            Kind::Galera => "galera",
            Kind::H2 => "h2",
            Kind::Redis => "redis",
            Kind::Etcd => "etcd",
            Kind::EtcdCluster => "etcd-cluster",
        }
    }

    /// The names of all kinds, for messages.
    pub fn names() -> String {
        Kind::ALL.map(Kind::name).join(", ")
    }

    /// Starts its nodes, with their files in `folder`.
    pub(crate) fn start(self, folder: &Folder) -> Result<Vec<Node>, Error> {
        match self {
            Kind::Postgres => postgres::start(folder),
            Kind::PostgresReplica => postgres::start_with_replica(folder),
            Kind::Mariadb => mariadb::start(folder),
            Kind::Galera => galera::start(folder),
            Kind::H2 => h2::start(folder),
            Kind::Redis => redis::start(folder),
            Kind::Etcd => etcd::start(folder),
            Kind::EtcdCluster => etcd::start_cluster(folder),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Kind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let unknown = || Error::UnknownKind { name: name.into(), known: Kind::names() };
        Kind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(unknown)
    }
}
