//! One connection, used by one thread.

use std::fmt;
use std::future::Future;

use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage};

use super::error::{at_commit, classify, in_words};
use crate::Error;
use crate::sql::{ANSWER, Answer, CONNECT, Connection, Node};

/// A connection with a runtime of its own, which runs only while we wait for an answer. (The blocking client of the same authors does the
/// same, but waits for ever.)
pub(super) struct Wire {
    client: Client,
    runtime: Runtime,
}

impl Wire {
    pub(super) fn connect(node: &Node) -> Result<Self, Error> {
        let config: Config =
            node.url.parse().map_err(|error| Error::Refused(format!("{}: {}", node.address(), in_words(&error))))?;
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Error::Refused(format!("no event loop can be had: {error}")))?;
        let connected = runtime.block_on(async { timeout(CONNECT, config.connect(NoTls)).await });
        let (client, connection) = match connected {
            Ok(Ok(both)) => both,
            Ok(Err(error)) => return Err(refused_connection(node, &error)),
            Err(_) => return Err(node.unreachable(format!("no answer in {} s", CONNECT.as_secs()), "postgres")),
        };
        // What becomes of the connection is told to those who use the client.
        runtime.spawn(connection);
        Ok(Wire { client, runtime })
    }

    /// Waits for an answer.
    fn wait<T>(&self, answer: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Result<T, Failure> {
        let answered = self.runtime.block_on(async { timeout(ANSWER, answer).await });
        answered.map_err(|_| Failure::Silence)?.map_err(Failure::Error)
    }

    fn send(&self, statement: &str) -> Result<Vec<SimpleQueryMessage>, Failure> {
        self.wait(self.client.simple_query(statement))
    }
}

/// Why there is no answer.
enum Failure {
    Error(tokio_postgres::Error),
    Silence,
}

impl Failure {
    fn classify(self, judge: impl FnOnce(&tokio_postgres::Error) -> Error) -> Error {
        match self {
            Failure::Error(error) => judge(&error),
            Failure::Silence => Error::Lost(format!("no answer in {} s", ANSWER.as_secs())),
        }
    }
}

impl Connection for Wire {
    fn run(&mut self, statement: &str) -> Result<Answer, Error> {
        let mut answer = Answer::default();
        for message in self.send(statement).map_err(|failure| failure.classify(classify))? {
            match message {
                SimpleQueryMessage::Row(row) => {
                    let column = |index| row.get(index).unwrap_or_default().to_owned();
                    answer.rows.push((0..row.len()).map(column).collect());
                }
                SimpleQueryMessage::CommandComplete(changed) => answer.changed = changed,
                _ => {}
            }
        }
        Ok(answer)
    }

    fn commit(&mut self) -> Result<(), Error> {
        self.send("COMMIT").map(drop).map_err(|failure| failure.classify(at_commit))
    }
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wire").finish_non_exhaustive()
    }
}

/// A server that talks to us and refuses is not the same as nobody there. One that is just starting is as good as not there.
fn refused_connection(node: &Node, error: &tokio_postgres::Error) -> Error {
    match classify(error) {
        Error::Refused(message) => Error::Refused(format!("{}: {message}", node.address())),
        other => node.unreachable(other, "postgres"),
    }
}
