//! `redis://HOST:PORT`: Redis, and whatever speaks its protocol. Optimistic transactions with `WATCH`.
//!
//! Redis runs one command at a time and has no transactions that read and then write. What its documentation offers instead is optimistic: a read is
//! `WATCH` and `GET`; writes wait in the client; the commit is `MULTI`, the writes and `EXEC`, which does nothing if a watched
//! key has changed since. Reads of own writes are answered by the client, since the server does not know them yet. A transaction that only
//! read ends with an empty `MULTI` and `EXEC`, which looks at the watched keys as well. So everything that a committed transaction read was
//! still so when it committed, at one moment: strict serializability.
//!
//! Isolation `multi` leaves the `WATCH` out, as many applications do: writes are atomic, and nothing that was read need still be so. Own elements of lists would then be shown at a place
//! that they may not get, so there are no lists.
//!
//! Lists are Redis's own. It has no order of keys, so a range watches and reads every number in it. A compare-and-set is a
//! watched read and a write: a script would be one command, but it would take effect before the transaction commits.

mod session;

use std::time::Duration;

use ::redis::{Client, Cmd, Connection, RedisError, cmd};

use crate::database::{Ability, Database, Description, Isolation, Session};
use crate::error::Error;
use session::RedisSession;

/// How long to wait for a connection or an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// What all keys begin with: the database may hold other things, which stay.
const PREFIX: &str = "isonomy:";

/// A Redis server.
#[derive(Debug)]
pub struct Redis {
    url: String,
    client: Client,
    mode: Mode,
}

/// What is asked of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// What was read must still be so at commit.
    Watch,
    /// Writes are atomic.
    Multi,
}

impl Redis {
    pub(crate) fn open(urls: &[&str], isolation: Option<&str>) -> Result<Box<dyn Database>, Error> {
        let [url] = urls else { return Err(Error::Refused("Redis has one node here; name one URL".into())) };
        let mode = match isolation {
            None | Some("watch") => Mode::Watch,
            Some("multi") => Mode::Multi,
            Some(other) => {
                return Err(Error::Refused(format!("Redis has no isolation `{other}`; known are watch, multi")));
            }
        };
        let client = Client::open(*url).map_err(|error| Error::Refused(format!("`{url}`: {error}")))?;
        Ok(Box::new(Redis { url: (*url).into(), client, mode }))
    }

    fn connection(&self) -> Result<Connection, Error> {
        let connected = self.client.get_connection_with_timeout(PATIENCE).and_then(|connection| {
            connection.set_read_timeout(Some(PATIENCE))?;
            connection.set_write_timeout(Some(PATIENCE))?;
            Ok(connection)
        });
        connected.map_err(|error| {
            if is_lost(&error) {
                let help = "start one, for instance with `isonomy cluster redis`";
                Error::Unreachable(format!("nobody answers at {}: {error}; {help}", self.url))
            } else {
                // A password, say.
                Error::Refused(format!("{}: {error}", self.url))
            }
        })
    }
}

impl Database for Redis {
    fn describe(&self) -> Result<Description, Error> {
        let information: String = ask(&cmd("INFO").arg("server").to_owned(), &mut self.connection()?)?;
        let field = |name: &str| information.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        // Valkey says which Redis it stands in for, and what it is.
        let (product, version) = match field("valkey_version") {
            Some(version) => ("Valkey", Some(version)),
            None => ("Redis", field("redis_version")),
        };
        let (name, promises) = match self.mode {
            Mode::Watch => ("watch", "strict-serializable"),
            Mode::Multi => ("multi", "read-committed"),
        };
        Ok(Description {
            product: product.into(),
            version: version.unwrap_or("unknown").trim().into(),
            isolation: Isolation { name: name.into(), promises: Some(promises) },
        })
    }

    fn can(&self, ability: Ability) -> bool {
        match ability {
            Ability::Ranges => true,
            Ability::Lists | Ability::CompareAndSet => self.mode == Mode::Watch,
        }
    }

    fn prepare(&self) -> Result<(), Error> {
        let mut connection = self.connection()?;
        let mut cursor = 0;
        loop {
            let scan = cmd("SCAN").arg(cursor).arg("MATCH").arg(format!("{PREFIX}*")).arg("COUNT").arg(1000).to_owned();
            let (next, keys): (u64, Vec<String>) = ask(&scan, &mut connection)?;
            if !keys.is_empty() {
                ask::<u64>(&cmd("DEL").arg(keys).to_owned(), &mut connection)?;
            }
            cursor = next;
            if cursor == 0 {
                return Ok(());
            }
        }
    }

    fn connect(&self, _session: u32) -> Result<Box<dyn Session>, Error> {
        Ok(Box::new(RedisSession::new(self.connection()?, self.mode)))
    }
}

fn ask<T: ::redis::FromRedisValue>(command: &Cmd, connection: &mut Connection) -> Result<T, Error> {
    command.query(connection).map_err(failure)
}

/// What an error means. None of these has taken effect, unless the connection is gone.
fn failure(error: RedisError) -> Error {
    if is_lost(&error) {
        return Error::Lost(error.to_string());
    }
    match error.code() {
        Some("EXECABORT" | "LOADING" | "TRYAGAIN" | "CLUSTERDOWN" | "MASTERDOWN") => Error::Aborted(error.to_string()),
        _ => Error::Refused(error.to_string()),
    }
}

fn is_lost(error: &RedisError) -> bool {
    error.is_io_error() || error.is_connection_dropped() || error.is_timeout() || error.is_connection_refusal()
}
