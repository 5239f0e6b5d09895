//! Messages to clients.

use isonomy_sql::{Answer, Error, Status};

use super::value::{Format, type_number, type_size};

/// Writes a message: its kind, its length, and what `fields` writes.
pub(super) fn message(out: &mut Vec<u8>, kind: u8, fields: impl FnOnce(&mut Vec<u8>)) {
    out.push(kind);
    let start = out.len();
    out.extend([0; 4]);
    fields(out);
    let length = i32::try_from(out.len() - start).expect("messages are far below 2 GiB");
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

/// Writes text with a zero after it. A zero inside would end it early, so it is left out.
pub(super) fn text(out: &mut Vec<u8>, text: &str) {
    out.extend(text.bytes().filter(|&byte| byte != 0));
    out.push(0);
}

pub(super) fn error(out: &mut Vec<u8>, severity: &str, error: &Error) {
    message(out, b'E', |out| {
        let hint = error.hint.as_deref().map(|hint| (b'H', hint));
        let fields = [(b'S', severity), (b'V', severity), (b'C', error.code), (b'M', &error.message)];
        for (field, value) in fields.into_iter().chain(hint) {
            out.push(field);
            text(out, value);
        }
        out.push(0);
    });
}

pub(super) fn ready(out: &mut Vec<u8>, status: Status) {
    let status = match status {
        Status::Idle => b'I',
        Status::Open => b'T',
        Status::Failed => b'E',
    };
    message(out, b'Z', |out| out.push(status));
}

/// What an authentication asks for, or that it is done.
pub(super) fn authentication(out: &mut Vec<u8>, code: i32, data: &[u8]) {
    message(out, b'R', |out| {
        out.extend(code.to_be_bytes());
        out.extend(data);
    });
}

pub(super) fn setting(out: &mut Vec<u8>, name: &str, value: &str) {
    message(out, b'S', |out| {
        text(out, name);
        text(out, value);
    });
}

/// Which columns follow.
pub(super) fn columns(out: &mut Vec<u8>, columns: &[isonomy_sql::Column], formats: &[Format]) {
    message(out, b'T', |out| {
        out.extend(count(columns.len()));
        for (column, format) in columns.iter().zip(formats) {
            text(out, &column.name);
            // Of no table that could be asked about.
            out.extend([0; 6]);
            out.extend(type_number(column.ty).to_be_bytes());
            out.extend(type_size(column.ty).to_be_bytes());
            // No type has a modifier.
            out.extend((-1_i32).to_be_bytes());
            out.extend(format.code().to_be_bytes());
        }
    });
}

/// How many fields follow: clients read it as PostgreSQL does, without a sign.
pub(super) fn count(number: usize) -> [u8; 2] {
    u16::try_from(number).expect("the engine has no rows and statements this wide").to_be_bytes()
}

/// That a statement is done, and what it did.
pub(super) fn complete(out: &mut Vec<u8>, answer: &Answer) {
    let (tag, rows) = match answer {
        Answer::Empty => return message(out, b'I', |_| ()),
        Answer::Rows { tag, rows, .. } => (*tag, Some(rows.len() as u64)),
        Answer::Done { tag, affected, .. } => (*tag, *affected),
    };
    message(out, b'C', |out| text(out, &command_tag(tag, rows)));
}

fn command_tag(tag: &str, rows: Option<u64>) -> String {
    match (tag, rows) {
        // The zero once was a number that rows had.
        ("INSERT", Some(rows)) => format!("INSERT 0 {rows}"),
        ("SELECT" | "UPDATE" | "DELETE" | "FETCH" | "MERGE", Some(rows)) => format!("{tag} {rows}"),
        _ => tag.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_those_of_postgresql() {
        assert_eq!(command_tag("INSERT", Some(2)), "INSERT 0 2");
        assert_eq!(command_tag("SELECT", Some(0)), "SELECT 0");
        assert_eq!(command_tag("SHOW", Some(1)), "SHOW");
        assert_eq!(command_tag("CREATE TABLE", None), "CREATE TABLE");
    }

    #[test]
    fn errors_have_their_fields() {
        let mut out = Vec::new();
        let hint = Some("try\0 again".to_owned());
        error(&mut out, "ERROR", &Error { code: "40001", mysql: 1213, message: "no".into(), hint });
        assert_eq!(out, b"E\x00\x00\x00\x29SERROR\0VERROR\0C40001\0Mno\0Htry again\0\0".as_slice());
    }
}
