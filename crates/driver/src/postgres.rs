//! PostgreSQL, and whatever speaks its protocol: CockroachDB, YugabyteDB, H2 and others.
//!
//! URLs are those of PostgreSQL, `postgres://user:password@host:port/database`, over plain connections. Where there are several nodes,
//! `?isonomy_role=read` marks one that only answers reads, such as a streaming replica.
//!
//! Isolation has the names of SQL. Which level their documentation promises:
//!
//! | asked for | promise | why |
//! | --- | --- | --- |
//! | `read uncommitted`, `read committed` | `read-committed` | PostgreSQL has no dirty reads and treats the two alike ("Transaction Isolation") |
//! | `repeatable read` | `snapshot-isolation` | PostgreSQL's manual says in so many words that it is implemented by snapshot isolation |
//! | `snapshot` | `snapshot-isolation` | H2 has this name |
//! | `serializable` | `serializable` | the word has one meaning in the SQL standard |
//!
//! Other products' `repeatable read` promises less (H2's manual lists phenomena only), which has no name among our levels. Some take the
//! promise of `serializable` back elsewhere in their documents; whoever asks for it by that name should be told whether it is kept.

mod error;
mod wire;

use std::sync::OnceLock;

use crate::sql::{Connection, Node, Nodes, SqlSession, Upsert, level_words};
use crate::{Ability, Database, Description, Error, Isolation, Session};
use wire::Wire;

/// A database that speaks the protocol of PostgreSQL.
#[derive(Debug)]
pub struct Postgres {
    nodes: Nodes,
    /// What sessions ask for; the server's default if nothing.
    isolation: Option<String>,
    /// How rows are written, found out at the first need.
    upsert: OnceLock<Upsert>,
}

impl Postgres {
    /// The database at these URLs. Nobody is called yet.
    pub fn new(urls: &[&str], isolation: Option<&str>) -> Result<Self, Error> {
        let isolation = isolation.map(level_words).transpose()?;
        Ok(Postgres { nodes: Nodes::parse(urls)?, isolation, upsert: OnceLock::new() })
    }

    pub(crate) fn open(urls: &[&str], isolation: Option<&str>) -> Result<Box<dyn Database>, Error> {
        Ok(Box::new(Postgres::new(urls, isolation)?))
    }

    fn wire(&self, node: &Node) -> Result<Wire, Error> {
        let mut wire = Wire::connect(node)?;
        if let Some(isolation) = &self.isolation {
            // Once for the session, instead of with each `BEGIN`: H2 knows only this way.
            wire.run(&format!("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {isolation}"))?;
        }
        Ok(wire)
    }

    /// How this server wants rows written. All but few understand `ON CONFLICT`; the way to know is to ask.
    fn upsert(&self) -> Result<Upsert, Error> {
        if let Some(&known) = self.upsert.get() {
            return Ok(known);
        }
        let mut wire = self.wire(self.nodes.writable())?;
        // It inserts nothing, whatever the table holds.
        let nothing = "INSERT INTO isonomy_kv (k, v, dead) SELECT k, v, dead FROM isonomy_kv WHERE k < 0 AND k > 0 \
             ON CONFLICT (k) DO UPDATE SET v = excluded.v";
        let upsert = match wire.run(nothing) {
            Ok(_) => Upsert::OnConflict,
            Err(Error::Refused(_)) => Upsert::Apart,
            Err(error) => return Err(error),
        };
        Ok(*self.upsert.get_or_init(|| upsert))
    }
}

impl Database for Postgres {
    fn describe(&self) -> Result<Description, Error> {
        let mut wire = self.wire(self.nodes.writable())?;
        let version = wire.run("SELECT version()")?;
        let (product, version) = product_and_version(version.single().unwrap_or_default());
        // Some servers give another level than was asked for, and say so when asked.
        let level = wire.run("SHOW TRANSACTION ISOLATION LEVEL")?;
        let name = level_words(level.single().unwrap_or_default())?;
        let promises = promise(&product, &name);
        Ok(Description { product, version, isolation: Isolation { name, promises } })
    }

    fn can(&self, _: Ability) -> bool {
        true
    }

    fn prepare(&self) -> Result<(), Error> {
        // The tables are the same for either way to write rows.
        self.nodes.prepare(|node| self.wire(node), Upsert::OnConflict)
    }

    fn connect(&self, session: u32) -> Result<Box<dyn Session>, Error> {
        let node = self.nodes.of_session(session);
        Ok(Box::new(SqlSession::new(self.wire(node)?, self.upsert()?)))
    }

    fn reads_only(&self, session: u32) -> bool {
        self.nodes.of_session(session).reads_only
    }
}

fn promise(product: &str, isolation: &str) -> Option<&'static str> {
    match isolation {
        "read committed" => Some("read-committed"),
        "read uncommitted" if product != "H2" => Some("read-committed"),
        "repeatable read" if product != "H2" => Some("snapshot-isolation"),
        "snapshot" => Some("snapshot-isolation"),
        "serializable" => Some("serializable"),
        _ => None,
    }
}

/// From what `version()` says: `PostgreSQL 15.18 (Debian …) on …`, `PostgreSQL 8.2.23 server protocol using H2 2.1.214 (…)`,
/// `CockroachDB CCL v24.1.0 (…)`, `PostgreSQL 11.2-YB-2.20.0.0-b0 on …`.
fn product_and_version(text: &str) -> (String, String) {
    let (_, text) = text.split_once(" using ").unwrap_or(("", text));
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_version = |word: &&str| word.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit());
    let version = words.iter().find(|word| is_version(word)).map_or("unknown", |word| word.trim_start_matches('v'));
    let product = if version.contains("-YB-") { "YugabyteDB" } else { words.first().copied().unwrap_or("unknown") };
    (product.to_owned(), version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_told_apart() {
        for (text, product, version) in [
            ("PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu", "PostgreSQL", "15.18"),
            ("PostgreSQL 8.2.23 server protocol using H2 2.1.214 (2022-06-13)", "H2", "2.1.214"),
            ("CockroachDB CCL v24.1.0 (x86_64-pc-linux-gnu, built 2024/05/15)", "CockroachDB", "24.1.0"),
            ("PostgreSQL 11.2-YB-2.20.0.0-b0 on x86_64", "YugabyteDB", "11.2-YB-2.20.0.0-b0"),
        ] {
            assert_eq!(product_and_version(text), (product.into(), version.into()));
        }
        assert_eq!(promise("PostgreSQL", "repeatable read"), Some("snapshot-isolation"));
        assert_eq!(promise("H2", "repeatable read"), None);
    }
}
