//! The notation of dbcop-2026 (`.hist`, not to be mistaken for our own).
//!
//! ```text
//! // session 1
//! [x:=1 y:=1] [y==1 x==?]!
//! ---
//! // session 2
//! [x==1]
//! ```
//!
//! `:=` writes, `==` reads, `==?` reads the initial state. `!` after a transaction says that it did not commit.

use std::io::Read;

use super::number;
use crate::builder::HistoryBuilder;
use crate::error::Place;
use crate::event::Outcome;
use crate::formats::ReadError;
use crate::formats::json::Scalar;
use crate::formats::lines::{Lines, excerpt};
use crate::names::{Datum, Name};

pub(super) fn detect(head: &[u8]) -> bool {
    let mut lines = head.split(|&b| b == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !(line.is_empty() || is_comment(line) || is_separator(line)));
    first.is_some_and(|line| {
        let mut rest = line.strip_prefix(b"[").unwrap_or(b"").trim_ascii_start();
        !variable(&mut rest).is_empty() && (rest.starts_with(b":=") || rest.starts_with(b"=="))
    })
}

fn is_comment(line: &[u8]) -> bool {
    line.starts_with(b"//")
}

fn is_separator(line: &[u8]) -> bool {
    !line.is_empty() && line.iter().all(|&b| b == b'-')
}

pub(super) fn read(input: impl Read, builder: &mut HistoryBuilder) -> Result<(), ReadError> {
    let mut lines = Lines::new(input);
    let mut session = 1;
    loop {
        let number = lines.number() + 1;
        let Some(line) = lines.next()? else { return Ok(()) };
        let mut rest = line.trim_ascii();
        if is_comment(rest) {
            continue;
        }
        if is_separator(rest) {
            session += 1;
            continue;
        }
        while !rest.is_empty() {
            builder.begin(Name::Int(session));
            builder.set_line(number);
            transaction(&mut rest, builder).map_err(|expected| {
                let found = if rest.is_empty() { "the end of the line".into() } else { excerpt(rest) };
                ReadError::malformed(Place::line(number), expected, found)
            })?;
            rest = rest.trim_ascii_start();
        }
        builder.status()?;
    }
}

/// Reads a transaction and steps over it, or says what was expected where it stopped.
fn transaction(rest: &mut &[u8], builder: &mut HistoryBuilder) -> Result<(), &'static str> {
    *rest = rest.strip_prefix(b"[").ok_or("a transaction `[x:=1 y==2]`, `---` or `//`")?;
    loop {
        *rest = rest.trim_ascii_start();
        event(rest, builder)?;
        let spaced = rest.trim_ascii_start();
        if let Some(after) = spaced.strip_prefix(b"]") {
            *rest = after;
            break;
        }
        if spaced.len() == rest.len() {
            return Err("` ` or `]`");
        }
    }
    if let Some(after) = rest.strip_prefix(b"!") {
        *rest = after;
        builder.set_outcome(Outcome::Aborted);
    }
    Ok(())
}

fn event(rest: &mut &[u8], builder: &mut HistoryBuilder) -> Result<(), &'static str> {
    const EVENT: &str = "an event: `x:=1`, `x==1` or `x==?`";
    let mut ahead = *rest;
    let variable = std::str::from_utf8(variable(&mut ahead)).map_err(|_| "a variable in UTF-8")?;
    let key = match variable.parse::<u64>() {
        Ok(n) if n.to_string() == variable => super::number(n),
        _ if variable.is_empty() => return Err(EVENT),
        _ => Scalar::Text(variable.into()),
    };
    let key = key.as_name().expect("a variable is a name");
    if let Some(after) = ahead.strip_prefix(b"==?") {
        *rest = after;
        builder.read(key, Datum::Initial);
        return Ok(());
    }
    let is_write = ahead.starts_with(b":=");
    let after = ahead.strip_prefix(if is_write { b":=" } else { b"==" }).ok_or(EVENT)?;
    let digits = after.iter().take_while(|b| b.is_ascii_digit()).count();
    let version = std::str::from_utf8(&after[..digits]).ok().and_then(|digits| digits.parse().ok());
    let version = number(version.ok_or("a version: a number of at most 64 bits")?);
    let value = version.as_datum().expect("a number is a value");
    if is_write {
        builder.write(key, value);
    } else {
        builder.read(key, value);
    }
    *rest = &after[digits..];
    Ok(())
}

/// Letters, digits and underscores; any byte beyond ASCII counts as a letter.
fn variable<'a>(rest: &mut &'a [u8]) -> &'a [u8] {
    let length = rest.iter().take_while(|&&b| b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80).count();
    let (variable, after) = rest.split_at(length);
    *rest = after;
    variable
}

#[cfg(test)]
mod tests {
    use super::super::tests::load;
    use crate::{Name, Outcome};

    #[test]
    fn transactions_sessions_and_comments() {
        let history = load(b"// one\n [x:=1 y:=1]  [ y==1 x==? ]!\n\n[y==0][z_1==?]\n -- \n//two\n[x==1]").unwrap();
        let counts: Vec<usize> = history.sessions().map(|s| history.transactions_of(s).len()).collect();
        assert_eq!(counts, [4, 1]);
        assert_eq!(history.outcome(crate::TxnId(1)), Outcome::Aborted);
        assert_eq!(history.place(crate::TxnId(4)).line, 7);
        assert_eq!(history.key_name(crate::Key(0)), Name::Text("x"));
        assert_eq!(history.derived().faults(), []);
    }

    #[test]
    fn bad_lines_are_named() {
        for bad in [
            "[]",
            "[x]",
            "[x:=]",
            "[x:=1",
            "[x:=1y:=2]",
            "[x:=1] y",
            "x:=1",
            "[x:=18446744073709551616]",
            "[x=1]",
            "[:=1]",
        ] {
            let error = load(format!("[x:=1]\n{bad}\n").as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with("line 2: expected "), "{bad}: {error}");
        }
    }
}
