//! MySQL and MariaDB, and whatever speaks their protocol: Galera, TiDB and others.
//!
//! URLs are `mysql://user:password@host:port/database`, over plain connections. Where there are several nodes, `?isonomy_role=read` marks
//! one that only answers reads.
//!
//! Isolation has the names of SQL. Which level their documentation promises:
//!
//! | asked for | promise | why |
//! | --- | --- | --- |
//! | `read uncommitted` | none | dirty reads are what it is for |
//! | `read committed` | `read-committed` | each read sees what was committed when it began |
//! | `repeatable read` | none, as a rule | see below |
//! | `serializable` | `serializable` | the word has one meaning in the SQL standard, and reads take locks |
//!
//! InnoDB's `repeatable read` is often taken for snapshot isolation. Its documents promise less: that plain reads come from one snapshot,
//! while updates see, and overwrite, whatever is newest; updates are lost, which snapshot isolation forbids. That has no name among our
//! levels, so nothing is promised, and a run finds out what there is. MariaDB's `innodb_snapshot_isolation`, where it is on, is documented
//! to make it snapshot isolation; TiDB documents its `repeatable read` as that.
//!
//! Galera's documents list exceptions for transactions on several nodes; whoever asks for `serializable` by that name should be told
//! whether it is kept.

mod error;
mod wire;

use std::collections::BTreeMap;

use crate::sql::{Connection, Node, Nodes, SqlSession, Upsert, level_words};
use crate::{Ability, Database, Description, Error, Isolation, Session};
use wire::Wire;

/// A database that speaks the protocol of MySQL.
#[derive(Debug)]
pub struct Mysql {
    nodes: Nodes,
    /// What sessions ask for; the server's default if nothing.
    isolation: Option<String>,
}

impl Mysql {
    /// The database at these URLs. Nobody is called yet.
    pub fn new(urls: &[&str], isolation: Option<&str>) -> Result<Self, Error> {
        Ok(Mysql { nodes: Nodes::parse(urls)?, isolation: isolation.map(level_words).transpose()? })
    }

    pub(crate) fn open(urls: &[&str], isolation: Option<&str>) -> Result<Box<dyn Database>, Error> {
        Ok(Box::new(Mysql::new(urls, isolation)?))
    }

    fn wire(&self, node: &Node) -> Result<Wire, Error> {
        let mut wire = Wire::connect(node)?;
        if let Some(isolation) = &self.isolation {
            wire.run(&format!("SET SESSION TRANSACTION ISOLATION LEVEL {isolation}"))?;
        }
        Ok(wire)
    }
}

impl Database for Mysql {
    fn describe(&self) -> Result<Description, Error> {
        let mut wire = self.wire(self.nodes.writable())?;
        // The level has two names; servers know one or both. What a server does not know is not in its answer.
        let answer = wire.run(
            "SHOW VARIABLES WHERE Variable_name IN \
             ('version', 'tx_isolation', 'transaction_isolation', 'innodb_snapshot_isolation', 'wsrep_on')",
        )?;
        let variables: BTreeMap<String, String> = answer
            .rows
            .into_iter()
            .filter_map(|row| <[String; 2]>::try_from(row).ok())
            .map(|[name, value]| (name.to_lowercase(), value))
            .collect();
        description(&variables)
    }

    fn can(&self, _: Ability) -> bool {
        true
    }

    fn prepare(&self) -> Result<(), Error> {
        self.nodes.prepare(|node| self.wire(node), Upsert::OnDuplicateKey)
    }

    fn connect(&self, session: u32) -> Result<Box<dyn Session>, Error> {
        let wire = self.wire(self.nodes.of_session(session))?;
        Ok(Box::new(SqlSession::new(wire, Upsert::OnDuplicateKey)))
    }

    fn reads_only(&self, session: u32) -> bool {
        self.nodes.of_session(session).reads_only
    }
}

fn description(variables: &BTreeMap<String, String>) -> Result<Description, Error> {
    let value = |name: &str| variables.get(name).map_or("", String::as_str);
    let is_on = |name: &str| value(name).eq_ignore_ascii_case("on");
    let version = value("version");
    let product = match version {
        _ if is_on("wsrep_on") => "MariaDB Galera",
        _ if version.contains("TiDB") => "TiDB",
        _ if version.contains("MariaDB") => "MariaDB",
        _ => "MySQL",
    };
    let level = if variables.contains_key("transaction_isolation") { "transaction_isolation" } else { "tx_isolation" };
    let mut name = level_words(value(level))?;
    let snapshot = is_on("innodb_snapshot_isolation");
    let promises = match name.as_str() {
        "read committed" => Some("read-committed"),
        "repeatable read" if snapshot || product == "TiDB" => Some("snapshot-isolation"),
        "serializable" => Some("serializable"),
        _ => None,
    };
    if snapshot && name == "repeatable read" {
        name.push_str(" with innodb_snapshot_isolation");
    }
    Ok(Description { product: product.into(), version: version.into(), isolation: Isolation { name, promises } })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(variables: &[(&str, &str)]) -> (String, String, Option<&'static str>) {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let description = description(&variables).unwrap();
        (description.product, description.isolation.name, description.isolation.promises)
    }

    #[test]
    fn promises_depend_on_products_and_settings() {
        let maria = [("version", "10.11.19-MariaDB"), ("tx_isolation", "REPEATABLE-READ")];
        assert_eq!(told(&maria), ("MariaDB".into(), "repeatable read".into(), None));
        let (_, name, promises) = told(&[maria[0], maria[1], ("innodb_snapshot_isolation", "ON")]);
        assert_eq!(
            (name.as_str(), promises),
            ("repeatable read with innodb_snapshot_isolation", Some("snapshot-isolation"))
        );
        let (product, ..) = told(&[maria[0], maria[1], ("wsrep_on", "ON")]);
        assert_eq!(product, "MariaDB Galera");
        let mysql = [("version", "8.0.36"), ("transaction_isolation", "READ-COMMITTED")];
        assert_eq!(told(&mysql), ("MySQL".into(), "read committed".into(), Some("read-committed")));
    }
}
