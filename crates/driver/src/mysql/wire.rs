//! One connection.

use std::fmt;

use mysql::prelude::Queryable;
use mysql::{Conn, Opts, OptsBuilder, Row, Value};

use super::error::{at_commit, classify};
use crate::Error;
use crate::sql::{ANSWER, Answer, CONNECT, Connection, Node};

/// A connection.
pub(super) struct Wire(Conn);

impl Wire {
    pub(super) fn connect(node: &Node) -> Result<Self, Error> {
        let options =
            Opts::from_url(&node.url).map_err(|error| Error::Refused(format!("{}: {error}", node.address())))?;
        let options = OptsBuilder::from_opts(options)
            // The client would otherwise leave the address that it was given for a socket in the file system, past any proxy.
            .prefer_socket(false)
            .tcp_connect_timeout(Some(CONNECT))
            .read_timeout(Some(ANSWER))
            .write_timeout(Some(ANSWER));
        Conn::new(options).map(Wire).map_err(|error| match classify(&error) {
            Error::Refused(message) => Error::Refused(format!("{}: {message}", node.address())),
            other => node.unreachable(other, "mariadb"),
        })
    }

    fn send(&mut self, statement: &str) -> Result<Answer, mysql::Error> {
        let mut result = self.0.query_iter(statement)?;
        let changed = result.affected_rows();
        let rows = result.by_ref().map(|row| row.map(columns)).collect::<Result<_, _>>()?;
        Ok(Answer { rows, changed })
    }
}

impl Connection for Wire {
    fn run(&mut self, statement: &str) -> Result<Answer, Error> {
        self.send(statement).map_err(|error| classify(&error))
    }

    fn commit(&mut self) -> Result<(), Error> {
        self.send("COMMIT").map(drop).map_err(|error| at_commit(&error))
    }
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Wire").finish_non_exhaustive()
    }
}

fn columns(row: Row) -> Vec<String> {
    row.unwrap().into_iter().map(text).collect()
}

/// Answers to statements that are sent as text are text.
fn text(value: Value) -> String {
    match value {
        Value::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Value::NULL => String::new(),
        other => other.as_sql(true),
    }
}
