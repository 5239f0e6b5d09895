//! Which tables, columns and sequences are there, and which keys were ever inserted?
//!
//! The catalog lives beside the store, outside of transactions: what is created is there at once and for everybody. So is the universe of a
//! table, the keys of all rows that anybody ever inserted, committed or not. It only grows; whether a row exists is for the store to say.
//! A table that is made anew under an old name gets new names in the store, `accounts@2/7`, because there the old rows live on.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sqlparser::ast;

use crate::datum::Datum;
use crate::keys::key_text;
use crate::order::Row;
use crate::types::ColumnType;

/// All tables and sequences.
#[derive(Clone, Debug, Default)]
pub(crate) struct Catalog {
    pub(crate) tables: BTreeMap<String, Arc<Table>>,
    pub(crate) sequences: BTreeMap<String, Arc<Sequence>>,
    /// How often each name was given to a table.
    incarnations: BTreeMap<String, u32>,
    next_table: u32,
    /// Grows with each change; plans of an older version are made anew.
    pub(crate) version: u64,
}

/// A table.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// Tells tables apart that had the same name one after the other.
    pub(crate) id: u32,
    pub(crate) name: String,
    /// What its keys in the store begin with.
    pub(crate) prefix: String,
    pub(crate) columns: Vec<TableColumn>,
    /// The columns of the primary key; none if rows are told apart by a hidden number.
    pub(crate) key: Vec<usize>,
    pub(crate) key_name: String,
    pub(crate) uniques: Vec<Unique>,
    pub(crate) checks: Vec<(String, ast::Expr)>,
    /// Foreign keys are remembered for those who ask, not enforced.
    pub(crate) references: Vec<String>,
    /// Indexes have no effect but their names.
    pub(crate) indexes: Vec<String>,
    /// How many columns were dropped: cells of new ones get names of their own then.
    pub(crate) generation: u32,
    /// The keys of all rows that were ever inserted, with their names.
    universe: Arc<Mutex<BTreeMap<Row, Arc<str>>>>,
    row_numbers: Arc<AtomicI64>,
}

/// A column of a table.
#[derive(Clone, Debug)]
pub(crate) struct TableColumn {
    pub(crate) name: String,
    /// Its name in the store: that which it was created with, and a number if that was taken before.
    pub(crate) cell: String,
    pub(crate) spec: ColumnType,
    pub(crate) not_null: bool,
    pub(crate) default: Option<ast::Expr>,
    /// The sequence that numbers it.
    pub(crate) sequence: Option<String>,
    /// What rows hold that were inserted before the column was added.
    pub(crate) missing: Datum,
}

/// A unique constraint beside the primary key.
#[derive(Clone, Debug)]
pub(crate) struct Unique {
    pub(crate) name: String,
    pub(crate) columns: Vec<usize>,
}

impl Catalog {
    /// The name in the store for a new table, and its number.
    pub(crate) fn new_prefix(&mut self, name: &str) -> (String, u32) {
        self.next_table += 1;
        let count = self.incarnations.entry(name.to_owned()).or_insert(0);
        *count += 1;
        let prefix = if *count == 1 { name.to_owned() } else { format!("{name}@{count}") };
        (prefix, self.next_table)
    }

    pub(crate) fn table(&self, name: &str) -> Option<&Arc<Table>> {
        self.tables.get(name)
    }
}

impl Table {
    /// A table without columns.
    pub(crate) fn new(name: &str, prefix: String, id: u32) -> Self {
        Table {
            id,
            name: name.to_owned(),
            prefix,
            columns: Vec::new(),
            key: Vec::new(),
            key_name: format!("{name}_pkey"),
            uniques: Vec::new(),
            checks: Vec::new(),
            references: Vec::new(),
            indexes: Vec::new(),
            generation: 0,
            universe: Arc::default(),
            row_numbers: Arc::default(),
        }
    }

    /// The same table with no rows, under new names in the store.
    pub(crate) fn emptied(&self, prefix: String, id: u32) -> Self {
        Table { id, prefix, universe: Arc::default(), ..self.clone() }
    }

    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The types of the key.
    pub(crate) fn key_types(&self) -> Vec<ColumnType> {
        if self.key.is_empty() {
            return vec![ColumnType::plain(crate::datum::Type::BigInt)];
        }
        self.key.iter().map(|&column| self.columns[column].spec).collect()
    }

    /// The name of a row: `accounts/7`.
    pub(crate) fn row_name(&self, key: &Row) -> Arc<str> {
        if let Some(name) = self.keys().get(key) {
            return Arc::clone(name);
        }
        format!("{}/{}", self.prefix, key_text(key)).into()
    }

    /// What stands for all rows, where scans and inserts must not miss each other: `accounts`.
    pub(crate) fn rows_name(&self) -> String {
        self.prefix.to_string()
    }

    /// Notes that a row with this key may exist.
    pub(crate) fn add_key(&self, key: &Row, name: &Arc<str>) {
        self.keys().entry(key.clone()).or_insert_with(|| Arc::clone(name));
    }

    /// A number for a row that has no other key.
    pub(crate) fn next_row_number(&self) -> i64 {
        self.row_numbers.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The universe. Whoever holds it must not evaluate anything.
    pub(crate) fn keys(&self) -> MutexGuard<'_, BTreeMap<Row, Arc<str>>> {
        // A map of keys is sound after any of its operations, so a panic elsewhere does no harm here.
        self.universe.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A counter beside transactions, as in the databases that are imitated: a number that was taken does not come back.
#[derive(Debug)]
pub(crate) struct Sequence {
    pub(crate) increment: i64,
    next: AtomicI64,
}

impl Sequence {
    pub(crate) fn new(start: i64, increment: i64) -> Self {
        Sequence { increment, next: AtomicI64::new(start) }
    }

    pub(crate) fn take(&self) -> i64 {
        self.next.fetch_add(self.increment, Ordering::Relaxed)
    }

    /// Goes on at `next`.
    pub(crate) fn restart(&self, next: i64) {
        self.next.store(next, Ordering::Relaxed);
    }

    /// Goes on behind a number that somebody chose.
    pub(crate) fn skip(&self, taken: i64) {
        self.next.fetch_max(taken.saturating_add(1), Ordering::Relaxed);
    }
}
