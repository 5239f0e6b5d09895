//! What a client has set, and what it is told when it asks.

use std::collections::BTreeMap;

use isonomy_store::{Choice, StoreLevel};

use crate::engine::Dialect;
use crate::error::{Kind, Result};

/// The version that clients are told. Some decide by it what they may ask for.
pub(crate) const POSTGRESQL_VERSION: &str = "16.0";
/// The version of MySQL that clients are told.
pub(crate) const MYSQL_VERSION: &str = "8.0.36";

/// The settings of one client.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Whatever was set, by name.
    pub(crate) variables: BTreeMap<String, String>,
    /// What was set with `SET LOCAL`: for the transaction.
    pub(crate) local: BTreeMap<String, String>,
    pub(crate) database: String,
    pub(crate) autocommit: bool,
    /// The level of the session's transactions.
    pub(crate) level: Option<StoreLevel>,
    /// The level of the transaction that is open, or of the next one.
    pub(crate) transaction_level: Option<StoreLevel>,
    pub(crate) choice: Option<Choice>,
    pub(crate) transaction_choice: Option<Choice>,
    /// The last value that each sequence gave to this client.
    pub(crate) sequence_values: BTreeMap<String, i64>,
    pub(crate) last_sequence: Option<String>,
    pub(crate) last_insert_id: u64,
}

impl Settings {
    pub(crate) fn new() -> Self {
        Settings {
            variables: BTreeMap::new(),
            local: BTreeMap::new(),
            database: "isonomy".into(),
            autocommit: true,
            level: None,
            transaction_level: None,
            choice: None,
            transaction_choice: None,
            sequence_values: BTreeMap::new(),
            last_sequence: None,
            last_insert_id: 0,
        }
    }

    /// Forgets what was set for a transaction.
    pub(crate) fn end_transaction(&mut self) {
        self.local.clear();
        self.transaction_level = None;
        self.transaction_choice = None;
    }

    /// The level of a transaction, where `otherwise` is what the store gives to those who ask for nothing.
    pub(crate) fn level_or(&self, otherwise: StoreLevel) -> StoreLevel {
        self.transaction_level.or(self.level).unwrap_or(otherwise)
    }

    pub(crate) fn choice_or(&self, otherwise: Choice) -> Choice {
        self.transaction_choice.or(self.choice).unwrap_or(otherwise)
    }

    /// What a variable is set to, or what it is if nobody set it.
    pub(crate) fn get(&self, name: &str, dialect: Dialect, otherwise: (StoreLevel, Choice)) -> Option<String> {
        let level = self.level_or(otherwise.0);
        match name {
            "transaction_isolation"
            | "transaction isolation level"
            | "default_transaction_isolation"
            | "tx_isolation" => {
                let words = level_name(level);
                return Some(match dialect {
                    Dialect::PostgreSql => words,
                    Dialect::MySql => words.to_uppercase().replace(' ', "-"),
                });
            }
            "isonomy.level" => return Some(level.name().into()),
            "isonomy.choice" => return Some(choice_name(self.choice_or(otherwise.1))),
            "autocommit" => return Some(u8::from(self.autocommit).to_string()),
            _ => {}
        }
        let set = self.local.get(name).or_else(|| self.variables.get(name));
        set.cloned().or_else(|| default(name, dialect).map(str::to_owned))
    }

    /// All variables that have a value, for `SHOW ALL` and `SHOW VARIABLES`.
    pub(crate) fn all(&self, dialect: Dialect, otherwise: (StoreLevel, Choice)) -> BTreeMap<String, String> {
        let known = match dialect {
            Dialect::PostgreSql => POSTGRESQL,
            Dialect::MySql => MYSQL,
        };
        let names = known.iter().map(|(name, _)| *name).chain(self.variables.keys().map(String::as_str));
        let level: &[&str] = match dialect {
            Dialect::PostgreSql => &["transaction_isolation", "default_transaction_isolation"],
            Dialect::MySql => &["transaction_isolation", "autocommit"],
        };
        let names = names.chain(level.iter().copied()).chain(["isonomy.level", "isonomy.choice"]);
        names.filter_map(|name| Some((name.to_owned(), self.get(name, dialect, otherwise)?))).collect()
    }
}

const POSTGRESQL: &[(&str, &str)] = &[
    ("server_version", POSTGRESQL_VERSION),
    ("server_version_num", "160000"),
    ("server_encoding", "UTF8"),
    ("client_encoding", "UTF8"),
    ("standard_conforming_strings", "on"),
    ("datestyle", "ISO, MDY"),
    ("intervalstyle", "postgres"),
    ("timezone", "UTC"),
    ("integer_datetimes", "on"),
    ("search_path", "\"$user\", public"),
    ("application_name", ""),
    ("is_superuser", "on"),
    ("session_authorization", "isonomy"),
    ("transaction_read_only", "off"),
    ("default_transaction_read_only", "off"),
    ("bytea_output", "hex"),
    ("extra_float_digits", "1"),
    ("max_identifier_length", "63"),
    ("lc_collate", "C"),
    ("lc_ctype", "C"),
    ("statement_timeout", "0"),
    ("lock_timeout", "0"),
];

const MYSQL: &[(&str, &str)] = &[
    ("version", MYSQL_VERSION),
    ("version_comment", "Isonomy"),
    ("max_allowed_packet", "67108864"),
    ("character_set_client", "utf8mb4"),
    ("character_set_connection", "utf8mb4"),
    ("character_set_results", "utf8mb4"),
    ("character_set_server", "utf8mb4"),
    ("character_set_database", "utf8mb4"),
    ("collation_connection", "utf8mb4_bin"),
    ("collation_server", "utf8mb4_bin"),
    ("collation_database", "utf8mb4_bin"),
    ("sql_mode", "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION"),
    ("time_zone", "UTC"),
    ("system_time_zone", "UTC"),
    ("init_connect", ""),
    ("interactive_timeout", "28800"),
    ("wait_timeout", "28800"),
    ("net_write_timeout", "60"),
    ("net_buffer_length", "16384"),
    ("lower_case_table_names", "0"),
    ("license", "MIT OR Apache-2.0"),
    ("performance_schema", "0"),
    ("query_cache_size", "0"),
    ("query_cache_type", "OFF"),
    ("auto_increment_increment", "1"),
    ("transaction_read_only", "0"),
    ("tx_read_only", "0"),
    ("socket", ""),
    ("protocol_version", "10"),
    ("default_storage_engine", "isonomy"),
    ("have_ssl", "DISABLED"),
    ("warning_count", "0"),
    ("error_count", "0"),
    ("foreign_key_checks", "0"),
    ("unique_checks", "1"),
    ("innodb_lock_wait_timeout", "50"),
];

fn default(name: &str, dialect: Dialect) -> Option<&'static str> {
    let known = match dialect {
        Dialect::PostgreSql => POSTGRESQL,
        Dialect::MySql => MYSQL,
    };
    known.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

/// `repeatable read`: the name in SQL of a level; our own name, where SQL has none.
pub(crate) fn level_name(level: StoreLevel) -> String {
    match level {
        StoreLevel::SnapshotIsolation => "repeatable read".into(),
        other => other.name().replace('-', " "),
    }
}

/// The level that a name of SQL, or one of our own, stands for.
pub(crate) fn parse_level(name: &str) -> Result<StoreLevel> {
    let name = name.trim().to_lowercase();
    let words = name.replace(['-', '_'], " ");
    match words.as_str() {
        "read uncommitted" | "read committed" => Ok(StoreLevel::ReadCommitted),
        "repeatable read" | "snapshot" => Ok(StoreLevel::SnapshotIsolation),
        "serializable" => Ok(StoreLevel::Serializable),
        _ => words.replace(' ', "-").parse().map_err(|_| {
            let known = StoreLevel::ALL.map(StoreLevel::name).join(", ");
            Kind::InvalidParameter
                .error(format!("invalid value for an isolation level: \"{}\"", crate::parse::shorten(&name)))
                .hint(format!("Known are {known}, and the names of SQL."))
        }),
    }
}

/// `uniform`, `latest`, `newest` or `weirdness:0.7`.
pub(crate) fn parse_choice(name: &str) -> Result<Choice> {
    let name = name.trim().to_lowercase();
    let weirdness = name.strip_prefix("weirdness:").and_then(|text| text.trim().parse().ok());
    match (name.as_str(), weirdness) {
        ("uniform", _) => Ok(Choice::Uniform),
        ("latest", _) => Ok(Choice::Latest),
        ("newest", _) => Ok(Choice::Newest),
        (_, Some(weirdness)) if (0.0..=1.0).contains(&weirdness) => Ok(Choice::Weirdness(weirdness)),
        _ => Err(Kind::InvalidParameter
            .error(format!("invalid value for isonomy.choice: \"{}\"", crate::parse::shorten(&name)))
            .hint("Known are uniform, latest, newest, and weirdness:0.7 with any number from 0 to 1.")),
    }
}

fn choice_name(choice: Choice) -> String {
    match choice {
        Choice::Uniform => "uniform".into(),
        Choice::Latest => "latest".into(),
        Choice::Newest => "newest".into(),
        Choice::Weirdness(weirdness) => format!("weirdness:{weirdness}"),
    }
}
