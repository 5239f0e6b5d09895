//! From URLs to databases.

use crate::{Database, Error, Etcd, Mock, Mysql, Postgres, Redis, Sqlite};

/// Opens what lies at some URLs of one kind, at the isolation named or at the one that this kind of database has by default. Several URLs are
/// several nodes of one database.
type Open = fn(urls: &[&str], isolation: Option<&str>) -> Result<Box<dyn Database>, Error>;

/// A kind of database.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Scheme {
    /// What its URLs begin with, up to the colon; the first is the usual one.
    pub names: &'static [&'static str],
    /// How URLs look.
    pub form: &'static str,
    /// What lies there.
    pub what: &'static str,
    /// The isolation it can be asked for, in its own words, the weakest first; none if it has only one.
    pub isolations: &'static [&'static str],
    open: Open,
}

/// All that are built in. A driver adds a line.
const SCHEMES: &[Scheme] = &[
    Scheme {
        names: &["mock"],
        form: "mock:LEVEL",
        what: "a simulated store in this process that gives this level and rarely more",
        isolations: &["read-committed", "read-atomic", "causal", "prefix", "snapshot-isolation", "serializable"],
        open: Mock::open,
    },
    Scheme {
        names: &["sqlite"],
        form: "sqlite[:PATH]",
        what: "SQLite, built in; without a path, a file that is removed at the end",
        isolations: &["deferred", "immediate"],
        open: Sqlite::open,
    },
    Scheme {
        names: &["postgres", "postgresql"],
        form: "postgres://USER@HOST:PORT/DATABASE",
        what: "PostgreSQL, and what speaks its protocol: CockroachDB, YugabyteDB, H2",
        isolations: &["read committed", "repeatable read", "serializable"],
        open: Postgres::open,
    },
    Scheme {
        names: &["mysql", "mariadb"],
        form: "mysql://USER@HOST:PORT/DATABASE",
        what: "MySQL, MariaDB, Galera, and what speaks their protocol: TiDB",
        isolations: &["read uncommitted", "read committed", "repeatable read", "serializable"],
        open: Mysql::open,
    },
    Scheme {
        names: &["redis"],
        form: "redis://HOST:PORT",
        what: "Redis or Valkey: transactions with WATCH, or without (isolation `multi`)",
        isolations: &[],
        open: Redis::open,
    },
    Scheme {
        names: &["etcd"],
        form: "etcd://HOST:PORT[?reads=serializable]",
        what: "etcd: optimistic transactions; reads linearizable, serializable or of a snapshot",
        isolations: &[],
        open: Etcd::open,
    },
];

/// All kinds of databases that are built in.
pub fn schemes() -> &'static [Scheme] {
    SCHEMES
}

/// Opens the database at a URL, or at several if it has several nodes. `isolation` is in the database's own words; without it, it is the one
/// that clients get who do not ask.
pub fn open(urls: &[&str], isolation: Option<&str>) -> Result<Box<dyn Database>, Error> {
    let Some(first) = urls.first() else { return Err(Error::Refused("no database is named".into())) };
    let scheme = scheme(first)?;
    for url in urls {
        if !scheme.names.contains(&name(url)) {
            let message =
                format!("`{first}` and `{url}` are of different kinds: several URLs are nodes of one database");
            return Err(Error::Refused(message));
        }
    }
    (scheme.open)(urls, isolation)
}

/// What a URL begins with.
fn name(url: &str) -> &str {
    url.split_once(':').map_or(url, |(name, _)| name)
}

fn scheme(url: &str) -> Result<&'static Scheme, Error> {
    let found = SCHEMES.iter().find(|scheme| scheme.names.contains(&name(url)));
    found.ok_or_else(|| {
        let known: Vec<&str> = SCHEMES.iter().map(|scheme| scheme.form).collect();
        Error::Refused(format!("`{url}`: no such kind of database is built in; known are {}", known.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(urls: &[&str]) -> String {
        match open(urls, None) {
            Err(Error::Refused(message)) => message,
            other => panic!("{urls:?}: {:?}", other.map(|_| ())),
        }
    }

    #[test]
    fn urls_are_told_apart() {
        assert!(open(&["mock:causal"], None).is_ok() && open(&["mock"], Some("causal")).is_ok());
        assert!(refusal(&["oracle://x"]).contains("mock:LEVEL"));
        assert!(refusal(&["mock:none"]).contains("read-atomic"));
        assert!(refusal(&["mock:causal", "other:x"]).contains("different kinds"));
        assert!(refusal(&[]).contains("no database"));
        assert!(open(&["mock:causal"], Some("causal")).is_err());
    }
}
