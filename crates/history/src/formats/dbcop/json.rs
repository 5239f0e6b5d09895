//! JSON of dbcop-2026, and of the structures of 2019.
//!
//! ```text
//! {"params":{…},"info":"…","start":"…","end":"…","data":[
//!   [{"events":[{"Read":{"variable":1,"version":null}},{"Write":{"variable":1,"version":11}}],"committed":true}]]}
//! {…,"data":[[{"events":[{"write":true,"variable":1,"value":11,"success":true}],"success":true}]]}
//! [[{"events":[["r",1,null],["w",1,11]],"committed":true}]]
//! ```
//!
//! `data` may stand alone. It is read transaction by transaction.

use std::io::Read;

use crate::builder::HistoryBuilder;
use crate::event::Outcome;
use crate::formats::ReadError;
use crate::formats::json::{Cursor, Scalar, Unexpected};
use crate::formats::stream::{Stream, Syntax};
use crate::names::Name;

pub(super) fn detect(head: &[u8]) -> bool {
    let mut cursor = Cursor::new(head);
    if cursor.peek() != b'{' {
        return is_data(&mut cursor).unwrap_or(false);
    }
    let (mut has_data, mut is_native) = (false, false);
    cursor.fields_so_far(|name, mut value| match name {
        "params" => has_data |= value.peek() == b'{',
        "data" => has_data |= value.peek() == b'[',
        "ops" => is_native = true,
        _ => {}
    });
    has_data && !is_native
}

/// Whether an array is one of sessions, as far as it is there.
fn is_data(cursor: &mut Cursor<'_>) -> Result<bool, Unexpected> {
    let mut more = cursor.open(b'[', b']', "sessions")?;
    while more {
        if cursor.open(b'[', b']', "a session")? {
            cursor.expect(b'{', "a transaction")?;
            return Ok(matches!(cursor.field()?.as_ref(), "events" | "committed" | "success"));
        }
        more = cursor.more(b']')?;
    }
    Ok(false)
}

pub(super) fn read(input: impl Read, builder: &mut HistoryBuilder) -> Result<(), ReadError> {
    let mut stream = Stream::new(input, Syntax::Json);
    if !stream.take(b'{')? {
        sessions(&mut stream, builder)?;
        return stream.expect_end();
    }
    let mut found = false;
    let mut more = !stream.take(b'}')?;
    while more {
        let (_, name) = stream.value("the name of a field")?;
        let is_data = name == b"\"data\"";
        stream.expect(b':', "`:`")?;
        if is_data && found {
            return Err(stream.unexpected("one field `data`"));
        } else if is_data {
            found = true;
            sessions(&mut stream, builder)?;
        } else {
            stream.value("a value")?;
        }
        more = stream.more(b'}')?;
    }
    if !found {
        return Err(stream.unexpected("the field `data`: an array of sessions"));
    }
    stream.expect_end()
}

fn sessions(stream: &mut Stream<impl Read>, builder: &mut HistoryBuilder) -> Result<(), ReadError> {
    stream.expect(b'[', "an array of sessions")?;
    let mut session = 0;
    let mut more = !stream.take(b']')?;
    while more {
        session += 1;
        stream.expect(b'[', "a session: an array of transactions")?;
        let mut more_transactions = !stream.take(b']')?;
        while more_transactions {
            let (line, bytes) = stream.value("a transaction")?;
            builder.begin(Name::Int(session));
            builder.set_line(line);
            transaction(bytes, builder).map_err(|wrong| wrong.in_lines(bytes, line))?;
            builder.status()?;
            more_transactions = stream.more(b']')?;
        }
        more = stream.more(b']')?;
    }
    Ok(())
}

fn transaction(bytes: &[u8], builder: &mut HistoryBuilder) -> Result<(), Unexpected> {
    let mut cursor = Cursor::new(bytes);
    let mut committed = None;
    let mut has_events = false;
    let mut more = cursor.open(b'{', b'}', "a transaction: `{\"events\":[…],\"committed\":true}`")?;
    while more {
        let at = cursor;
        match cursor.field()?.as_ref() {
            "committed" | "success" => committed = Some(flag(&mut cursor)?),
            "events" if has_events => return Err(at.unexpected("one field `events`")),
            "events" => {
                has_events = true;
                let mut more = cursor.open(b'[', b']', "an array of events")?;
                while more {
                    event(&mut cursor, builder)?;
                    more = cursor.more(b']')?;
                }
            }
            _ => cursor.skip()?,
        }
        more = cursor.more(b'}')?;
    }
    cursor.expect_end()?;
    match (has_events, committed) {
        (true, Some(true)) => Ok(()),
        (true, Some(false)) => {
            builder.set_outcome(Outcome::Aborted);
            Ok(())
        }
        _ => Err(Unexpected::at(0, "a transaction with `events` and `committed` (or `success`)")),
    }
}

const EVENT: &str = "an event: `{\"Read\":{\"variable\":…,\"version\":…}}` or `{\"Write\":…}`";
const VARIABLE: &str = "a variable: an integer or a string";
const VERSION: &str = "a version: an integer, a string or null";

fn event(cursor: &mut Cursor<'_>, builder: &mut HistoryBuilder) -> Result<(), Unexpected> {
    let at = *cursor;
    let (mut is_write, mut variable, mut version, mut success) = (None, None, None, true);
    if cursor.take(b'[') {
        is_write = match cursor.string("`r` or `w`")?.as_ref() {
            "r" => Some(false),
            "w" => Some(true),
            _ => return Err(at.unexpected("an event: `[\"r\",variable,version]` or `[\"w\",…]`")),
        };
        cursor.expect(b',', "`,`")?;
        variable = Some(cursor.scalar(VARIABLE)?);
        cursor.expect(b',', "`,`")?;
        version = Some(cursor.scalar(VERSION)?);
        cursor.expect(b']', "`]`")?;
    } else {
        // Read and Write hold the other fields; the older events have all of them side by side.
        let mut inside = false;
        let mut more = cursor.open(b'{', b'}', EVENT)?;
        while more {
            let field_at = *cursor;
            match cursor.field()?.as_ref() {
                kind @ ("Read" | "Write") if is_write.is_none() => {
                    is_write = Some(kind == "Write");
                    inside = true;
                    more = cursor.open(b'{', b'}', EVENT)?;
                    continue;
                }
                "write" if is_write.is_none() => is_write = Some(flag(cursor)?),
                "variable" => variable = Some(cursor.scalar(VARIABLE)?),
                "version" | "value" => version = Some(cursor.scalar(VERSION)?),
                "success" => success = flag(cursor)?,
                _ => return Err(field_at.unexpected(EVENT)),
            }
            more = cursor.more(b'}')?;
        }
        if inside {
            cursor.expect(b'}', "`}`")?;
        }
    }
    let key = variable.as_ref().and_then(Scalar::as_name);
    let value = version.as_ref().and_then(Scalar::as_datum);
    match (is_write, key, value) {
        (Some(_), Some(_), Some(_)) if !success => {}
        (Some(true), Some(key), Some(value)) if version != Some(Scalar::Null) => builder.write(key, value),
        (Some(false), Some(key), Some(value)) => builder.read(key, value),
        _ => return Err(at.unexpected(EVENT)),
    }
    Ok(())
}

fn flag(cursor: &mut Cursor<'_>) -> Result<bool, Unexpected> {
    let at = *cursor;
    match cursor.scalar("true or false")? {
        Scalar::Bool(flag) => Ok(flag),
        _ => Err(at.unexpected("true or false")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::load;

    #[test]
    fn lines_are_kept_and_empty_sessions_keep_their_number() {
        let history = load(b"{\"data\":[\n[],[\n{\"events\":[],\"committed\":true}]],\n\"params\":{}}").unwrap();
        assert_eq!(history.transaction_count(), 1);
        assert_eq!(history.session_name(crate::SessionId(0)), crate::Name::Int(2));
        assert_eq!(history.place(crate::TxnId(0)).line, 3);
    }

    #[test]
    fn bad_events_are_refused() {
        for bad in [
            "{\"Read\":{\"variable\":1}}",
            "{\"Write\":{\"variable\":1,\"version\":null}}",
            "{\"Read\":{\"variable\":null,\"version\":1}}",
            "{\"Read\":{\"variable\":1,\"version\":1}",
            "{\"Read\":{\"variable\":1,\"version\":1},\"Write\":{\"variable\":1,\"version\":1}}",
            "{\"Read\":{\"Write\":{\"variable\":1,\"version\":1}}}",
            "{\"variable\":1,\"value\":1,\"success\":true}",
            "[\"x\",1,1]",
            "[\"r\",1]",
            "7",
        ] {
            let error =
                load(format!("[[\n{{\"events\":[{bad}],\"committed\":true}}]]").as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with("line 2: expected "), "{bad}: {error}");
        }
        for bad in ["[[{\"events\":[]}]]", "[[{\"committed\":true}]]", "{\"params\":{}}", "[[[]]]", "[[]", "[[]] 1"] {
            assert!(load(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
