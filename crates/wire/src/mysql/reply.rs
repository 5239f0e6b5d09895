//! The short answers: done, failed, end of a list.

use isonomy_sql::{Error, Status};

use super::fields::put_number;

const IN_TRANSACTION: u16 = 0x0001;
const AUTOCOMMIT: u16 = 0x0002;
const MORE_RESULTS: u16 = 0x0008;

/// The state of the client that each answer tells.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub(super) status: Status,
    pub(super) autocommit: bool,
    /// Whether the answer of the next statement follows.
    pub(super) more: bool,
}

impl State {
    fn flags(self) -> [u8; 2] {
        let transaction = if self.status == Status::Idle { 0 } else { IN_TRANSACTION };
        let autocommit = if self.autocommit { AUTOCOMMIT } else { 0 };
        let more = if self.more { MORE_RESULTS } else { 0 };
        (transaction | autocommit | more).to_le_bytes()
    }

    /// That a client is let in that has done nothing yet.
    pub(super) const NEW: State = State { status: Status::Idle, autocommit: true, more: false };
}

/// That something is done.
pub(super) fn done(affected: u64, last_insert_id: u64, state: State) -> Vec<u8> {
    let mut out = vec![0];
    put_number(&mut out, affected);
    put_number(&mut out, last_insert_id);
    out.extend(state.flags());
    // No warnings.
    out.extend([0; 2]);
    out
}

/// That something failed.
pub(super) fn error(error: &Error) -> Vec<u8> {
    let mut out = vec![0xff];
    // Clients take zero for "no error".
    let number = if error.mysql == 0 { 1105 } else { error.mysql };
    out.extend(number.to_le_bytes());
    out.push(b'#');
    out.extend(sqlstate(error).as_bytes());
    out.extend(error.message.as_bytes());
    if let Some(hint) = &error.hint {
        out.extend(format!(" (hint: {hint})").as_bytes());
    }
    out
}

/// MySQL shares the classes of SQLSTATE with PostgreSQL, but not all codes; what clients look at is translated, the rest is kept.
fn sqlstate(error: &Error) -> &'static str {
    match (error.mysql, error.code) {
        (1213, _) => "40001",
        (1205, _) => "HY000",
        (1062 | 1048 | 1451 | 1452 | 1364 | 3819, _) => "23000",
        (1146, _) => "42S02",
        (1050, _) => "42S01",
        (1054, _) => "42S22",
        (1064, _) => "42000",
        (_, code) if code.len() == 5 => code,
        _ => "HY000",
    }
}

/// The end of a list.
pub(super) fn end(state: State) -> Vec<u8> {
    [&[0xfe, 0, 0][..], &state.flags()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_flags() {
        let state = State { status: Status::Open, autocommit: true, more: true };
        assert_eq!(end(state), [0xfe, 0, 0, 0x0b, 0]);
        assert_eq!(done(3, 300, State::NEW), [0, 3, 0xfc, 44, 1, 2, 0, 0, 0]);
    }

    #[test]
    fn errors_have_number_and_state() {
        let failed = Error { code: "42P01", mysql: 1146, message: "no table".into(), hint: Some("make it".into()) };
        assert_eq!(error(&failed), b"\xff\x7a\x04#42S02no table (hint: make it)");
    }
}
