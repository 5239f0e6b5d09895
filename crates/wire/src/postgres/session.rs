//! The conversation with a client that was let in.

use std::io;

use isonomy_sql::{Answer, Error, Status};

use super::extended::Extended;
use super::message::{Fields, Message, read};
use super::startup::Settings;
use super::value::{self, Format};
use super::{Stop, problem, reply};
use crate::guard::Guard;
use crate::stream::Stream;

/// A client, its place in a conversation, and its prepared statements.
pub(super) struct Session {
    pub(super) stream: Stream,
    pub(super) guard: Guard,
    pub(super) extended: Extended,
    /// The largest message that is taken.
    limit: usize,
    /// Whether an extended query failed: all is ignored until the next `Sync`.
    skipping: bool,
}

impl Session {
    pub(super) fn new(stream: Stream, guard: Guard, limit: usize) -> Self {
        Session { stream, guard, extended: Extended::default(), limit, skipping: false }
    }

    /// Answers until the client leaves.
    pub(super) fn serve(mut self, settings: &Settings) -> io::Result<()> {
        if let Err(error) = self.apply(settings) {
            return self.end(&error);
        }
        self.ready()?;
        loop {
            let message = match read(&mut self.stream, self.limit) {
                Ok(Some(message)) if message.kind != b'X' => message,
                Ok(_) => return Ok(()),
                Err(Stop::Failed(error)) => return self.end(&error),
                Err(Stop::Lost(error)) => return Err(error),
            };
            let kind = message.kind;
            match self.handle(message) {
                Ok(()) => self.stream.relieve()?,
                Err(Stop::Lost(error)) => return Err(error),
                Err(Stop::Failed(error)) => {
                    reply::error(self.stream.output(), "ERROR", &error);
                    if matches!(kind, b'Q' | b'F') {
                        self.ready()?;
                    } else {
                        self.skipping = true;
                    }
                }
            }
        }
    }

    /// Says why it is over.
    fn end(&mut self, error: &Error) -> io::Result<()> {
        reply::error(self.stream.output(), "FATAL", error);
        self.stream.flush()
    }

    fn apply(&mut self, settings: &Settings) -> Result<(), Error> {
        for (name, value) in settings {
            if !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.')) {
                return Err(problem("42602", format!("`{name}` is not the name of a setting")));
            }
            let (_, failed) = self.guard.execute(&format!("SET {name} = '{}'", value.replace('\'', "''")));
            failed.map_or(Ok(()), Err)?;
        }
        Ok(())
    }

    fn handle(&mut self, message: Message) -> Result<(), Stop> {
        if message.kind == b'S' {
            self.skipping = false;
            return Ok(self.ready()?);
        }
        if self.skipping && b"PBDECH".contains(&message.kind) {
            return Ok(());
        }
        let body = message.body?;
        let mut fields = Fields(&body);
        match message.kind {
            b'Q' => self.simple(fields.text()?),
            b'P' => self.parse(fields),
            b'B' => self.bind(fields),
            b'D' => self.describe(fields),
            b'E' => self.execute(fields),
            b'C' => self.close(fields),
            b'H' => Ok(self.stream.flush()?),
            // Rows for a COPY that failed before it began.
            b'd' | b'c' | b'f' => Ok(()),
            b'F' => Err(problem("0A000", "functions can be called in statements only").into()),
            kind => Err(problem("08P01", format!("there is no message of kind {kind:#04x}")).into()),
        }
    }

    /// The answer is complete, the next question may come. Portals do not outlive their transaction.
    fn ready(&mut self) -> io::Result<()> {
        let status = self.guard.status();
        if status == Status::Idle {
            self.extended.close_portals();
        }
        reply::ready(self.stream.output(), status);
        self.stream.flush()
    }

    /// Runs statements, and answers with text.
    fn simple(&mut self, sql: &str) -> Result<(), Stop> {
        let (answers, failed) = self.guard.execute(sql);
        if answers.is_empty() && failed.is_none() {
            reply::complete(self.stream.output(), &Answer::Empty);
        }
        for answer in &answers {
            if let Answer::Rows { columns, rows, .. } = answer {
                let formats = vec![Format::Text; columns.len()];
                reply::columns(self.stream.output(), columns, &formats);
                for row in rows {
                    let values = row.iter().zip(columns).map(|(datum, column)| (datum, column.ty));
                    send_row(&mut self.stream, values, &formats)?;
                }
            }
            reply::complete(self.stream.output(), answer);
        }
        if let Some(error) = failed {
            return Err(error.into());
        }
        Ok(self.ready()?)
    }
}

/// Sends a row.
pub(super) fn send_row<'d>(
    stream: &mut Stream,
    values: impl ExactSizeIterator<Item = (&'d isonomy_sql::Datum, isonomy_sql::Type)>,
    formats: &[Format],
) -> Result<(), Stop> {
    let out = stream.output();
    let start = out.len();
    let mut encoded = Ok(());
    reply::message(out, b'D', |out| {
        out.extend(reply::count(values.len()));
        for ((datum, ty), format) in values.zip(formats) {
            encoded = value::encode(out, datum, ty, *format);
            if encoded.is_err() {
                break;
            }
        }
    });
    if let Err(error) = encoded {
        // The half row is taken back.
        out.truncate(start);
        return Err(error.into());
    }
    Ok(stream.relieve()?)
}
