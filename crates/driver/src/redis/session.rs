//! One client of Redis.

use std::collections::BTreeMap;

use ::redis::{Connection, Pipeline, Value as Reply, cmd, pipe};

use super::{Mode, PREFIX, ask, failure};
use crate::cell::{Cell, foreign};
use crate::database::{Key, Row, Session, Value};
use crate::error::Error;

/// A range names every number in it, so it must not be too wide.
const WIDEST: u64 = 10_000;

pub(super) struct RedisSession {
    connection: Connection,
    mode: Mode,
    /// Whether the server watches keys for us.
    watching: bool,
    writes: BTreeMap<Key, Cell>,
    appends: Vec<(Key, Value)>,
}

impl RedisSession {
    pub(super) fn new(connection: Connection, mode: Mode) -> Self {
        RedisSession { connection, mode, watching: false, writes: BTreeMap::new(), appends: Vec::new() }
    }

    fn ask(&mut self, pipeline: &Pipeline) -> Result<Vec<Reply>, Error> {
        pipeline.query(&mut self.connection).map_err(failure)
    }

    /// The answer to a command about keys, which are watched from before on.
    fn ask_watching(&mut self, keys: &[String], command: ::redis::Cmd) -> Result<Reply, Error> {
        let mut pipeline = pipe();
        if self.mode == Mode::Watch {
            pipeline.cmd("WATCH").arg(keys);
            // Even if no answer comes.
            self.watching = true;
        }
        pipeline.add_command(command);
        let mut replies = self.ask(&pipeline)?;
        replies.pop().ok_or_else(|| Error::Refused("Redis did not answer".into()))
    }

    fn find(&mut self, key: Key) -> Result<Option<Cell>, Error> {
        if let Some(&own) = self.writes.get(&key) {
            return Ok(Some(own));
        }
        let name = name_of(key);
        let command = cmd("GET").arg(&name).to_owned();
        cell(self.ask_watching(&[name], command)?)
    }

    fn forget(&mut self) {
        self.watching = false;
        self.writes.clear();
        self.appends.clear();
    }
}

impl Session for RedisSession {
    fn begin(&mut self) -> Result<(), Error> {
        debug_assert!(!self.watching && self.writes.is_empty() && self.appends.is_empty(), "the last one was ended");
        Ok(())
    }

    fn read(&mut self, key: Key) -> Result<Option<Value>, Error> {
        Ok(self.find(key)?.map(Cell::value))
    }

    fn write(&mut self, key: Key, value: Value) -> Result<(), Error> {
        self.writes.insert(key, Cell::Value(value));
        Ok(())
    }

    fn append(&mut self, key: Key, element: Value) -> Result<(), Error> {
        self.appends.push((key, element));
        Ok(())
    }

    fn read_list(&mut self, key: Key) -> Result<Vec<Value>, Error> {
        let name = list_of(key);
        let command = cmd("LRANGE").arg(&name).arg(0).arg(-1).to_owned();
        let reply = self.ask_watching(&[name], command)?;
        let mut elements: Vec<Value> = ::redis::from_redis_value(reply).map_err(|error| foreign(&error.to_string()))?;
        elements.extend(self.appends.iter().filter(|append| append.0 == key).map(|append| append.1));
        Ok(elements)
    }

    fn insert(&mut self, key: Key, value: Value) -> Result<(), Error> {
        if self.find(key)?.is_some_and(Cell::is_there) {
            return Err(Error::Aborted(format!("key {key} is there already")));
        }
        self.write(key, value)
    }

    fn delete(&mut self, key: Key, tombstone: Value) -> Result<(), Error> {
        self.writes.insert(key, Cell::Tombstone(tombstone));
        Ok(())
    }

    fn range(&mut self, lo: Key, hi: Key) -> Result<Vec<Row>, Error> {
        if hi < lo {
            return Ok(Vec::new());
        }
        if hi - lo >= WIDEST {
            return Err(Error::Unsupported(format!("ranges of Redis have at most {WIDEST} keys")));
        }
        let names: Vec<String> = (lo..=hi).map(name_of).collect();
        let command = cmd("MGET").arg(&names).to_owned();
        let Reply::Array(replies) = self.ask_watching(&names, command)? else {
            return Err(Error::Refused("Redis did not answer MGET with a list".into()));
        };
        let mut rows = Vec::new();
        for (key, reply) in (lo..=hi).zip(replies) {
            let found = match self.writes.get(&key) {
                Some(&own) => Some(own),
                None => cell(reply)?,
            };
            rows.extend(found.map(|cell| (key, cell.value())));
        }
        Ok(rows)
    }

    fn compare_and_set(&mut self, key: Key, expected: Option<Value>, new: Value) -> Result<bool, Error> {
        let holds = self.read(key)? == expected;
        if holds {
            self.write(key, new)?;
        }
        Ok(holds)
    }

    fn commit(&mut self) -> Result<(), Error> {
        if !self.watching && self.writes.is_empty() && self.appends.is_empty() {
            return Ok(());
        }
        let mut pipeline = pipe();
        pipeline.cmd("MULTI");
        for (&key, cell) in &self.writes {
            pipeline.cmd("SET").arg(name_of(key)).arg(cell.text());
        }
        for &(key, element) in &self.appends {
            pipeline.cmd("RPUSH").arg(list_of(key)).arg(element);
        }
        pipeline.cmd("EXEC");
        let mut replies = self.ask(&pipeline)?;
        // The server has forgotten what it watched, whatever came of it.
        self.forget();
        match replies.pop() {
            Some(Reply::Array(_)) => Ok(()),
            Some(Reply::Nil) => Err(Error::Aborted("a key that was read has changed".into())),
            other => Err(Error::Refused(format!("Redis answered EXEC with {other:?}"))),
        }
    }

    fn rollback(&mut self) -> Result<(), Error> {
        let watching = self.watching;
        self.forget();
        if watching {
            ask::<()>(&cmd("UNWATCH"), &mut self.connection)?;
        }
        Ok(())
    }
}

fn name_of(key: Key) -> String {
    format!("{PREFIX}{key}")
}

fn list_of(key: Key) -> String {
    format!("{PREFIX}list:{key}")
}

fn cell(reply: Reply) -> Result<Option<Cell>, Error> {
    let text: Option<String> = ::redis::from_redis_value(reply).map_err(|error| foreign(&error.to_string()))?;
    text.map(|text| Cell::of_text(&text)).transpose()
}
