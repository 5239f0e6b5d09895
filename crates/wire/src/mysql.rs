//! The protocol of MySQL, as MySQL 5.7, MariaDB and all later ones understand it.
//!
//! Follows the chapter "Client/Server Protocol" of MySQL's source documentation: plain connections, `mysql_native_password`, text and
//! binary (prepared) queries, several statements at once. Database names are taken and ignored: there is one database.
//!
//! [`handshake`] lets a client in, [`session`] answers its commands, [`prepared`] keeps its prepared statements, [`resultset`] writes rows.

mod fields;
mod handshake;
mod packet;
mod parameters;
mod prepared;
mod reply;
mod resultset;
mod session;

use std::io;
use std::time::{Duration, Instant};

use isonomy_sql::{Dialect, Engine, Error};

use crate::config::Limits;
use crate::door::Protocol;
use crate::guard::Guard;
use crate::password::Password;
use crate::stop::Stop;
use crate::stream::Stream;
use packet::Packets;
use session::Session;

/// What the server says about itself. Clients look at the number to know what they may ask.
const VERSION: &str = concat!("8.0.36-isonomy-", env!("CARGO_PKG_VERSION"));

/// The server's side.
#[derive(Debug)]
pub(crate) struct Mysql {
    engine: Engine,
    password: Option<Password>,
    limits: Limits,
}

impl Mysql {
    pub(crate) fn new(engine: Engine, password: Option<Password>, limits: Limits) -> Self {
        Mysql { engine, password, limits }
    }
}

impl Protocol for Mysql {
    fn serve(&self, mut stream: Stream) -> io::Result<()> {
        stream.set_deadline(Some(Instant::now() + self.limits.handshake))?;
        let mut packets = Packets::new(stream);
        match handshake::greet(&mut packets, self.password.as_ref()) {
            Ok(()) => {}
            Err(Stop::Lost(error)) => return Err(error),
            Err(Stop::Failed(error)) => {
                packets.write(&reply::error(&error));
                return packets.flush();
            }
        }
        packets.stream().set_deadline(None)?;
        let guard = Guard::new(self.engine.clone(), Dialect::MySql);
        Session::new(packets, guard, self.password.clone(), self.limits).serve()
    }

    fn refusal(&self) -> Vec<u8> {
        // Before the client has said what it understands, errors have no SQLSTATE; it is in the way, but harmless.
        let message = reply::error(&problem(1040, "08004", "there are too many connections already"));
        let length = u32::try_from(message.len()).expect("it is short").to_le_bytes();
        [&length[..3], &[0], &message].concat()
    }

    fn reading(&self) -> Duration {
        self.limits.reading
    }
}

/// An error that is not the engine's.
fn problem(mysql: u16, code: &'static str, message: impl Into<String>) -> Error {
    Error { code, mysql, message: message.into(), hint: None }
}
