//! One client of etcd.

use std::collections::BTreeMap;

use super::gateway::{Compare, Found, Gateway, Range};
use super::{PREFIX, Reads};
use crate::cell::{Cell, foreign};
use crate::database::{Key, Row, Session, Value};
use crate::error::Error;

pub(super) struct EtcdSession {
    gateway: Gateway,
    reads: Reads,
    /// What must be so at commit: everything that was read.
    compares: Vec<Compare>,
    /// The revision of the first read, if all others follow it.
    snapshot: Option<i64>,
    puts: BTreeMap<String, String>,
}

impl EtcdSession {
    pub(super) fn new(gateway: Gateway, reads: Reads) -> Self {
        EtcdSession { gateway, reads, compares: Vec::new(), snapshot: None, puts: BTreeMap::new() }
    }

    fn ask(&mut self, first: &str, end: Option<&str>) -> Result<Found, Error> {
        let local = self.reads != Reads::Linearizable;
        let found = self.gateway.range(&Range { first, end, local, revision: self.snapshot })?;
        if self.reads == Reads::Snapshot {
            self.snapshot.get_or_insert(found.revision);
        }
        Ok(found)
    }

    /// What a key of etcd holds, own puts included.
    fn get(&mut self, name: &str) -> Result<Option<String>, Error> {
        if let Some(own) = self.puts.get(name) {
            return Ok(Some(own.clone()));
        }
        let row = self.ask(name, None)?.rows.pop();
        self.compares.push(Compare::Modified(name.into(), row.as_ref().map_or(0, |row| row.modified)));
        Ok(row.map(|row| row.value))
    }

    fn find(&mut self, key: Key) -> Result<Option<Cell>, Error> {
        self.get(&name_of(key))?.map(|text| Cell::of_text(&text)).transpose()
    }

    fn put(&mut self, key: Key, cell: Cell) -> Result<(), Error> {
        self.puts.insert(name_of(key), cell.text());
        Ok(())
    }

    fn forget(&mut self) {
        self.compares.clear();
        self.snapshot = None;
        self.puts.clear();
    }
}

impl Session for EtcdSession {
    fn begin(&mut self) -> Result<(), Error> {
        debug_assert!(self.compares.is_empty() && self.puts.is_empty(), "the last transaction was ended");
        Ok(())
    }

    fn read(&mut self, key: Key) -> Result<Option<Value>, Error> {
        Ok(self.find(key)?.map(Cell::value))
    }

    fn write(&mut self, key: Key, value: Value) -> Result<(), Error> {
        self.put(key, Cell::Value(value))
    }

    fn append(&mut self, key: Key, element: Value) -> Result<(), Error> {
        let name = list_of(key);
        let text = match self.get(&name)? {
            Some(elements) => format!("{elements},{element}"),
            None => element.to_string(),
        };
        self.puts.insert(name, text);
        Ok(())
    }

    fn read_list(&mut self, key: Key) -> Result<Vec<Value>, Error> {
        let Some(text) = self.get(&list_of(key))? else { return Ok(Vec::new()) };
        text.split(',').map(|element| element.parse().map_err(|_| foreign(&text))).collect()
    }

    fn insert(&mut self, key: Key, value: Value) -> Result<(), Error> {
        if self.find(key)?.is_some_and(Cell::is_there) {
            return Err(Error::Aborted(format!("key {key} is there already")));
        }
        self.put(key, Cell::Value(value))
    }

    fn delete(&mut self, key: Key, tombstone: Value) -> Result<(), Error> {
        self.put(key, Cell::Tombstone(tombstone))
    }

    fn range(&mut self, lo: Key, hi: Key) -> Result<Vec<Row>, Error> {
        if hi < lo {
            return Ok(Vec::new());
        }
        // The end is not included, and this is the next name.
        let (first, end) = (name_of(lo), name_of(hi) + "\0");
        let found = self.ask(&first, Some(&end))?;
        let mut rows = BTreeMap::new();
        for row in found.rows {
            rows.insert(row.key, row.value);
        }
        rows.extend(self.puts.range(first.clone()..end.clone()).map(|(name, text)| (name.clone(), text.clone())));
        self.compares.push(Compare::NothingNew(first, end, self.snapshot.unwrap_or(found.revision)));
        rows.iter().map(|(name, text)| Ok((key_of(name)?, Cell::of_text(text)?.value()))).collect()
    }

    fn compare_and_set(&mut self, key: Key, expected: Option<Value>, new: Value) -> Result<bool, Error> {
        let holds = self.read(key)? == expected;
        if holds {
            self.write(key, new)?;
        }
        Ok(holds)
    }

    fn commit(&mut self) -> Result<(), Error> {
        // One read alone saw one state.
        let compares = !self.puts.is_empty() || (self.reads == Reads::Linearizable && self.compares.len() > 1);
        let committed = if compares { self.gateway.commit(&self.compares, self.puts.iter()) } else { Ok(true) };
        self.forget();
        if committed? { Ok(()) } else { Err(Error::Aborted("something that was read has changed".into())) }
    }

    fn rollback(&mut self) -> Result<(), Error> {
        self.forget();
        Ok(())
    }
}

/// As many digits as the largest key has, so that names are in the order of keys.
fn name_of(key: Key) -> String {
    format!("{PREFIX}key/{key:020}")
}

fn list_of(key: Key) -> String {
    format!("{PREFIX}list/{key:020}")
}

fn key_of(name: &str) -> Result<Key, Error> {
    let digits = name.rsplit_once('/').map(|(_, digits)| digits);
    digits.and_then(|digits| digits.parse().ok()).ok_or_else(|| foreign(name))
}
