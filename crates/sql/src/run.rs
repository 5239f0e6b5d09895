//! Running a plan: where statements become reads and writes of the store.
//!
//! A row of a table is a [`StoredRow`]: its key, and what the statement read of it so far. A cell is read when an expression asks for it,
//! so a statement reads what its outcome depends on and nothing else. It reads each cell once, unless [`crate::Options::reread`] is set.
//! Primary keys are never read: they are in the name of the row.

mod aggregate;
mod change;
mod evaluate;
mod join;
mod query;
mod scan;
mod subquery;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use isonomy_store::{Choice, Savepoint, Session, StoreLevel};
use jiff::civil::DateTime;
use rustc_hash::FxHashMap;

use crate::catalog::Table;
use crate::datum::Datum;
use crate::engine::{Dialect, Engine};
use crate::error::Result;
use crate::order::Row;
use crate::settings::Settings;

/// All that a running statement has at hand.
pub(crate) struct Run<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) session: &'a mut Session<Datum>,
    pub(crate) settings: &'a mut Settings,
    pub(crate) dialect: Dialect,
    pub(crate) parameters: &'a [Datum],
    /// The statement's clock.
    pub(crate) now: DateTime,
    /// How a transaction begins, if none is open when the first row is touched.
    pub(crate) level: StoreLevel,
    pub(crate) choice: Choice,
    /// Whether reads return what was committed last, as behind a lock: `FOR UPDATE`.
    pub(crate) newest: bool,
    /// Keys of the store that this transaction cleared, for [`crate::Options::strict_keys`].
    pub(crate) cleared: &'a mut Vec<Box<str>>,
    /// Where accesses to the store are noted, if somebody wants to know.
    trace: Option<&'a mut Vec<String>>,
    /// The last number that a column gave itself in this statement.
    pub(crate) last_insert_id: u64,
    /// Where the statement began to write, for taking it back.
    start: Option<Savepoint>,
    rows: FxHashMap<(u32, Row), Rc<StoredRow>>,
    /// Answers of queries that depend on nothing around them.
    results: FxHashMap<usize, Rc<subquery::Kept>>,
    buffer: String,
}

/// A row of a table, as far as the statement has read it.
#[derive(Debug)]
pub(crate) struct StoredRow {
    pub(crate) table: Arc<Table>,
    pub(crate) key: Row,
    /// `accounts/7`.
    pub(crate) name: Arc<str>,
    exists: Cell<Option<bool>>,
    cells: RefCell<Vec<Option<Datum>>>,
}

/// What a table of the `FROM` clause contributes to a row.
#[derive(Clone, Debug)]
pub(crate) enum Slot {
    /// Nothing: an outer join found no partner. All its columns are `NULL`.
    Missing,
    Stored(Rc<StoredRow>),
    Values(Rc<[Datum]>),
}

/// The row of a query, and those of the queries around it.
#[derive(Clone, Copy)]
pub(crate) struct Frames<'a> {
    pub(crate) slots: &'a [Slot],
    pub(crate) outer: Option<&'a Frames<'a>>,
}

impl Frames<'_> {
    /// No row at all.
    pub(crate) const EMPTY: Frames<'static> = Frames { slots: &[], outer: None };
}

/// What a client brings to a statement.
pub(crate) struct Client<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) session: &'a mut Session<Datum>,
    pub(crate) settings: &'a mut Settings,
    pub(crate) cleared: &'a mut Vec<Box<str>>,
    pub(crate) trace: Option<&'a mut Vec<String>>,
    pub(crate) dialect: Dialect,
    pub(crate) level: StoreLevel,
    pub(crate) choice: Choice,
}

impl<'a> Run<'a> {
    pub(crate) fn new(client: Client<'a>, parameters: &'a [Datum], newest: bool) -> Self {
        let start = client.session.is_open().then(|| client.session.savepoint());
        Run {
            start,
            now: client.engine.now(),
            engine: client.engine,
            session: client.session,
            settings: client.settings,
            dialect: client.dialect,
            parameters,
            level: client.level,
            choice: client.choice,
            newest,
            cleared: client.cleared,
            trace: client.trace,
            last_insert_id: 0,
            rows: FxHashMap::default(),
            results: FxHashMap::default(),
            buffer: String::new(),
        }
    }

    /// Begins a transaction of the store, if there is none: this is the first row that is touched.
    pub(crate) fn touch(&mut self) -> Result<()> {
        if !self.session.is_open() {
            self.session.begin_with(self.level, self.choice)?;
            self.start = Some(self.session.savepoint());
        }
        if self.newest {
            self.session.choose(Choice::Newest);
        }
        Ok(())
    }

    /// Where the statement began to write, if it got that far.
    pub(crate) fn start(&self) -> Option<Savepoint> {
        self.start
    }

    /// The row of a key. The same row is the same to the whole statement.
    pub(crate) fn row(&mut self, table: &Arc<Table>, key: &Row, name: Option<&Arc<str>>) -> Rc<StoredRow> {
        let rows = &mut self.rows;
        let found = rows.entry((table.id, key.clone())).or_insert_with(|| {
            let name = name.map_or_else(|| table.row_name(key), Arc::clone);
            let cells = RefCell::new(vec![None; table.columns.len()]);
            Rc::new(StoredRow { table: Arc::clone(table), key: key.clone(), name, exists: Cell::new(None), cells })
        });
        Rc::clone(found)
    }

    /// Every read of the store goes through here.
    fn read(&mut self, key: &str) -> Result<Option<Datum>> {
        self.touch()?;
        let found = self.session.read(key)?;
        if let Some(trace) = &mut self.trace {
            let value = found.as_ref().map_or_else(|| "nothing".to_owned(), ToString::to_string);
            trace.push(format!("read {key} = {value}"));
        }
        Ok(found)
    }

    /// Every write, too.
    fn write(&mut self, key: &str, value: Option<Datum>) -> Result<()> {
        self.touch()?;
        if let Some(trace) = &mut self.trace {
            let value = value.as_ref().map_or_else(|| "nothing".to_owned(), ToString::to_string);
            trace.push(format!("write {key} = {value}"));
        }
        Ok(self.session.write(key, value)?)
    }

    fn reread(&self) -> bool {
        self.engine.options().reread
    }

    /// Whether a row exists.
    pub(crate) fn exists(&mut self, row: &StoredRow) -> Result<bool> {
        if let Some(known) = row.exists.get().filter(|_| !self.reread()) {
            return Ok(known);
        }
        let found = matches!(self.read(&row.name)?, Some(Datum::Boolean(true)));
        row.exists.set(Some(found));
        Ok(found)
    }

    /// What a cell holds.
    pub(crate) fn cell(&mut self, row: &StoredRow, column: usize) -> Result<Datum> {
        if let Some(part) = row.table.key.iter().position(|&key| key == column) {
            return Ok(row.key.0[part].clone());
        }
        if let Some(known) = row.known(column).filter(|_| !self.reread()) {
            return Ok(known);
        }
        let definition = &row.table.columns[column];
        let mut name = std::mem::take(&mut self.buffer);
        name.clear();
        name.push_str(&row.name);
        name.push('.');
        name.push_str(&definition.cell);
        let found = self.read(&name);
        self.buffer = name;
        let found = found?.unwrap_or_else(|| definition.missing.clone());
        row.remember(column, found.clone());
        Ok(found)
    }

    /// Overwrites a cell.
    pub(crate) fn set_cell(&mut self, row: &StoredRow, column: usize, value: Datum) -> Result<()> {
        debug_assert!(!row.table.key.contains(&column), "keys are not cells");
        let name = format!("{}.{}", row.name, row.table.columns[column].cell);
        row.remember(column, value.clone());
        self.write(&name, Some(value))
    }

    /// Makes a row exist or not.
    pub(crate) fn set_exists(&mut self, row: &StoredRow, exists: bool) -> Result<()> {
        row.exists.set(Some(exists));
        if exists {
            row.table.add_key(&row.key, &row.name);
        } else {
            self.cleared.push((&*row.name).into());
        }
        self.write(&row.name, exists.then_some(Datum::Boolean(true)))
    }
}

impl StoredRow {
    /// What the statement knows of a cell.
    pub(crate) fn known(&self, column: usize) -> Option<Datum> {
        self.cells.borrow().get(column).cloned().flatten()
    }

    fn remember(&self, column: usize, value: Datum) {
        if let Some(cell) = self.cells.borrow_mut().get_mut(column) {
            *cell = Some(value);
        }
    }
}
