//! The protocol of PostgreSQL, version 3.0.
//!
//! Follows the chapter "Frontend/Backend Protocol" of PostgreSQL's manual: plain connections, simple and extended queries, values as text
//! and binary. Where we differ: statements that are sent without a `Sync` between them commit one by one, since the engine knows no
//! transaction that nobody began; and there is nothing to cancel, so requests to cancel are taken and ignored.
//!
//! [`startup`] lets a client in, [`session`] answers its messages, [`extended`] keeps its prepared statements, [`value`] has the formats.

mod extended;
mod message;
mod numeric;
mod reply;
mod scram;
mod session;
mod startup;
mod value;

use std::io;
use std::time::{Duration, Instant};

use isonomy_sql::{Dialect, Engine, Error};

use crate::config::Limits;
use crate::door::Protocol;
use crate::guard::Guard;
use crate::password::Password;
use crate::stop::Stop;
use crate::stream::Stream;
use scram::Verifier;
use session::Session;

/// What the server says about itself. Clients look at the number to know what they may ask.
const VERSION: &str = concat!("16.0 (Isonomy ", env!("CARGO_PKG_VERSION"), ")");

/// The server's side.
#[derive(Debug)]
pub(crate) struct Postgres {
    engine: Engine,
    verifier: Option<Verifier>,
    limits: Limits,
}

impl Postgres {
    pub(crate) fn new(engine: Engine, password: Option<&Password>, limits: Limits) -> Self {
        Postgres { engine, verifier: password.map(Verifier::new), limits }
    }
}

impl Protocol for Postgres {
    fn serve(&self, mut stream: Stream) -> io::Result<()> {
        stream.set_deadline(Some(Instant::now() + self.limits.handshake))?;
        let settings = match startup::greet(&mut stream, self.verifier.as_ref()) {
            Ok(Some(settings)) => settings,
            Ok(None) => return Ok(()),
            Err(Stop::Lost(error)) => return Err(error),
            Err(Stop::Failed(error)) => {
                reply::error(stream.output(), "FATAL", &error);
                return stream.flush();
            }
        };
        stream.set_deadline(None)?;
        let guard = Guard::new(self.engine.clone(), Dialect::PostgreSql);
        Session::new(stream, guard, self.limits.statement).serve(&settings)
    }

    fn refusal(&self) -> Vec<u8> {
        let mut message = Vec::new();
        reply::error(&mut message, "FATAL", &problem("53300", "there are too many connections already"));
        message
    }

    fn reading(&self) -> Duration {
        self.limits.reading
    }
}

/// An error that is not the engine's. MySQL's number is of no use here.
fn problem(code: &'static str, message: impl Into<String>) -> Error {
    Error { code, mysql: 0, message: message.into(), hint: None }
}
