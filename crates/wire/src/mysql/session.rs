//! The conversation with a client that was let in: commands and answers.

use std::io;

use isonomy_sql::{Answer, Error};

use super::fields::Fields;
use super::handshake::{prove_anew, refused};
use super::packet::{Packets, TooLarge};
use super::prepared::Statements;
use super::reply::{self, State};
use super::resultset::{self, Shape};
use super::{Stop, problem};
use crate::config::Limits;
use crate::guard::Guard;
use crate::password::Password;

/// A client and its prepared statements.
pub(super) struct Session {
    pub(super) packets: Packets,
    pub(super) guard: Guard,
    pub(super) statements: Statements,
    password: Option<Password>,
    limits: Limits,
    /// Whether statements commit by themselves, as far as we saw the client ask for it. The engine knows better, but clients want to be told.
    autocommit: bool,
}

impl Session {
    pub(super) fn new(packets: Packets, guard: Guard, password: Option<Password>, limits: Limits) -> Self {
        Session { packets, guard, statements: Statements::default(), password, limits, autocommit: true }
    }

    /// Answers until the client leaves.
    pub(super) fn serve(mut self) -> io::Result<()> {
        loop {
            let handled = match self.packets.command(self.limits.statement)? {
                None => return Ok(()),
                Some(Err(TooLarge(length))) => Err(self.too_large(length).into()),
                Some(Ok(payload)) => match payload.split_first() {
                    Some((1, _)) => return Ok(()),
                    Some((command, rest)) => self.handle(*command, rest),
                    None => Err(problem(1047, "08S01", "a command is empty").into()),
                },
            };
            match handled {
                Ok(()) => {}
                Err(Stop::Failed(error)) => self.packets.write(&reply::error(&error)),
                Err(Stop::Lost(error)) => return Err(error),
            }
            self.packets.flush()?;
        }
    }

    fn too_large(&self, length: usize) -> Error {
        let limit = self.limits.statement;
        problem(1153, "08S01", format!("a packet of {length} bytes is over the limit of {limit}"))
    }

    fn handle(&mut self, command: u8, rest: &[u8]) -> Result<(), Stop> {
        match command {
            0x03 => self.query(rest),
            0x04 => self.list_fields(rest),
            0x09 => self.tell(b"Isonomy's mock store"),
            0x11 => self.change_user(rest),
            0x16 => self.prepare(rest),
            0x17 => self.execute(rest),
            // These two have no answer.
            0x18 => {
                self.statements.append(rest);
                Ok(())
            }
            0x19 => {
                self.statements.close(rest);
                Ok(())
            }
            0x1a => {
                self.statements.reset(rest)?;
                self.done()
            }
            0x1f => {
                self.start_anew();
                self.done()
            }
            // Another database (there is only one), a ping, and options that change nothing.
            0x02 | 0x0e | 0x0d => self.done(),
            0x1b => {
                self.packets.write(&reply::end(self.state()));
                Ok(())
            }
            0x1c => Err(problem(1243, "HY000", "there are no cursors: all rows came with the statement").into()),
            other => Err(problem(1047, "08S01", format!("there is no command {other:#04x}")).into()),
        }
    }

    pub(super) fn state(&self) -> State {
        State { status: self.guard.status(), autocommit: self.autocommit, more: false }
    }

    fn done(&mut self) -> Result<(), Stop> {
        self.packets.write(&reply::done(0, 0, self.state()));
        Ok(())
    }

    /// An answer that is only text.
    fn tell(&mut self, text: &[u8]) -> Result<(), Stop> {
        self.packets.write(text);
        Ok(())
    }

    fn start_anew(&mut self) {
        self.guard.reset();
        self.statements = Statements::default();
        self.autocommit = true;
    }

    fn change_user(&mut self, rest: &[u8]) -> Result<(), Stop> {
        let user = Fields(rest).until_zero()?;
        if let Some(password) = &self.password
            && !prove_anew(&mut self.packets, password)?
        {
            // Who it was before is no longer sure, so it is over, as it is with MySQL.
            self.packets.write(&reply::error(&refused(user)));
            self.packets.flush()?;
            return Err(io::Error::from(io::ErrorKind::PermissionDenied).into());
        }
        self.start_anew();
        self.done()
    }

    /// Runs statements, and answers with text.
    fn query(&mut self, sql: &[u8]) -> Result<(), Stop> {
        let sql = utf8(sql)?;
        let (answers, failed) = self.guard.execute(sql);
        self.note_autocommit(sql);
        if answers.is_empty() && failed.is_none() {
            return Err(problem(1065, "42000", "there is no statement").into());
        }
        let count = answers.len();
        for (index, answer) in answers.iter().enumerate() {
            let more = index + 1 < count || failed.is_some();
            self.answer(answer, Shape::Text, State { more, ..self.state() })?;
        }
        failed.map_or(Ok(()), |error| Err(error.into()))
    }

    /// Answers a statement.
    pub(super) fn answer(&mut self, answer: &Answer, shape: Shape<'_>, state: State) -> Result<(), Stop> {
        match answer {
            Answer::Rows { columns, rows, .. } => resultset::write(&mut self.packets, columns, rows, shape, state),
            Answer::Done { affected, last_insert_id, .. } => {
                self.packets.write(&reply::done(affected.unwrap_or(0), *last_insert_id, state));
                Ok(())
            }
            Answer::Empty => {
                self.packets.write(&reply::done(0, 0, state));
                Ok(())
            }
        }
    }

    pub(super) fn note_autocommit(&mut self, sql: &str) {
        if let Some(autocommit) = autocommit_set(sql) {
            self.autocommit = autocommit;
        }
    }

    /// Tells the columns of a table, which interactive clients ask for to complete names.
    fn list_fields(&mut self, rest: &[u8]) -> Result<(), Stop> {
        let table = utf8(Fields(rest).until_zero()?)?.replace('`', "``");
        let prepared = self.guard.prepare(&format!("SELECT * FROM `{table}`"), &[])?;
        for column in prepared.columns().unwrap_or_default() {
            let mut definition = resultset::definition(column);
            // Its default, which is not known.
            definition.push(0xfb);
            self.packets.write(&definition);
        }
        self.packets.write(&reply::end(self.state()));
        Ok(())
    }
}

/// Statements are UTF-8.
pub(super) fn utf8(bytes: &[u8]) -> Result<&str, Error> {
    str::from_utf8(bytes).map_err(|_| problem(1300, "HY000", "the statement is not UTF-8"))
}

/// What a statement sets `autocommit` to, if that is what it does.
fn autocommit_set(sql: &str) -> Option<bool> {
    let word = |text: &str| text.trim().trim_end_matches(';').trim().to_ascii_lowercase();
    let rest = sql.trim_start();
    let (set, rest) = rest.split_at_checked(4)?;
    if word(set) != "set" {
        return None;
    }
    let (name, value) = rest.split_once('=')?;
    let name = word(name.trim_end_matches(':'));
    let name = name.trim_start_matches("@@").trim_start_matches("session").trim_start_matches(['.', ' ']);
    match (name, &word(value)[..]) {
        ("autocommit", "0" | "off" | "false") => Some(false),
        ("autocommit", "1" | "on" | "true") => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn autocommit_is_noticed() {
        for off in [
            "SET autocommit=0",
            "set session autocommit = OFF;",
            " SET @@session.autocommit := false",
            "SET @@autocommit=0",
        ] {
            assert_eq!(autocommit_set(off), Some(false), "{off}");
        }
        assert_eq!(autocommit_set("SET AUTOCOMMIT = 1"), Some(true));
        for other in
            ["SELECT 1", "", "SET", "SET names utf8", "UPDATE t SET autocommit = 0", "SET x = 'autocommit=0'", "sété"]
        {
            assert_eq!(autocommit_set(other), None, "{other}");
        }
    }
}
