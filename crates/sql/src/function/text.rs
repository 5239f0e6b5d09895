//! Functions of texts. Positions count letters, from one.

use super::{Function, MANY, Nulls, Ty, at, function, integer, words};
use crate::datum::{Datum, Type};
use crate::engine::Dialect;
use crate::error::{Kind, Result};
use crate::run::Run;

const TEXT: Ty = Ty::Is(Type::Text);
const NUMBER: Ty = Ty::Is(Type::Integer);
const T: Option<Type> = Some(Type::Text);

/// No result of a function is longer: `repeat` could ask for anything.
const LONGEST: usize = 16 << 20;

pub(super) const FUNCTIONS: &[Function] = &[
    function("lower", (1, 1), TEXT, T, Nulls::Spread, |run, a| text(words(run, at(&a, 0)).to_lowercase())),
    function("lcase", (1, 1), TEXT, T, Nulls::Spread, |run, a| text(words(run, at(&a, 0)).to_lowercase())),
    function("upper", (1, 1), TEXT, T, Nulls::Spread, |run, a| text(words(run, at(&a, 0)).to_uppercase())),
    function("ucase", (1, 1), TEXT, T, Nulls::Spread, |run, a| text(words(run, at(&a, 0)).to_uppercase())),
    function("length", (1, 1), NUMBER, T, Nulls::Spread, |run, a| match (at(&a, 0), run.dialect) {
        (Datum::Bytes(bytes), _) => number(bytes.len()),
        (value, Dialect::MySql) => number(words(run, value).len()),
        (value, Dialect::PostgreSql) => number(words(run, value).chars().count()),
    }),
    function("char_length", (1, 1), NUMBER, T, Nulls::Spread, |run, a| number(words(run, at(&a, 0)).chars().count())),
    function("character_length", (1, 1), NUMBER, T, Nulls::Spread, |run, a| {
        number(words(run, at(&a, 0)).chars().count())
    }),
    function("octet_length", (1, 1), NUMBER, T, Nulls::Spread, |run, a| number(words(run, at(&a, 0)).len())),
    function("textcat", (2, 2), TEXT, T, Nulls::Spread, |run, a| text(words(run, at(&a, 0)) + &words(run, at(&a, 1)))),
    function("concat", (1, MANY), TEXT, T, Nulls::Seen, |run, a| {
        if run.dialect == Dialect::MySql && a.iter().any(Datum::is_null) {
            return Ok(Datum::Null);
        }
        text(a.iter().map(|value| words(run, value)).collect())
    }),
    function("concat_ws", (2, MANY), TEXT, T, Nulls::Seen, |run, a| {
        if at(&a, 0).is_null() {
            return Ok(Datum::Null);
        }
        let parts: Vec<String> =
            a[1..].iter().filter(|value| !value.is_null()).map(|value| words(run, value)).collect();
        text(parts.join(&words(run, at(&a, 0))))
    }),
    function("substring", (2, 3), TEXT, None, Nulls::Spread, substring),
    function("substr", (2, 3), TEXT, None, Nulls::Spread, substring),
    function("mid", (3, 3), TEXT, None, Nulls::Spread, substring),
    function("left", (2, 2), TEXT, None, Nulls::Spread, |run, a| end(run, &a, true)),
    function("right", (2, 2), TEXT, None, Nulls::Spread, |run, a| end(run, &a, false)),
    function("btrim", (1, 2), TEXT, T, Nulls::Spread, |run, a| trim(run, &a, true, true)),
    function("trim", (1, 2), TEXT, T, Nulls::Spread, |run, a| trim(run, &a, true, true)),
    function("ltrim", (1, 2), TEXT, T, Nulls::Spread, |run, a| trim(run, &a, true, false)),
    function("rtrim", (1, 2), TEXT, T, Nulls::Spread, |run, a| trim(run, &a, false, true)),
    function("replace", (3, 3), TEXT, T, Nulls::Spread, |run, a| {
        let (whole, from) = (words(run, at(&a, 0)), words(run, at(&a, 1)));
        if from.is_empty() {
            return text(whole);
        }
        let to = words(run, at(&a, 2));
        // Checked before, because the result may be the square of what was sent.
        if whole.matches(&from).count().saturating_mul(to.len()) > LONGEST {
            return Err(too_long());
        }
        text(whole.replace(&from, &to))
    }),
    function("position", (2, 2), NUMBER, T, Nulls::Spread, |run, a| position(run, at(&a, 1), at(&a, 0))),
    function("locate", (2, 2), NUMBER, T, Nulls::Spread, |run, a| position(run, at(&a, 1), at(&a, 0))),
    function("strpos", (2, 2), NUMBER, T, Nulls::Spread, |run, a| position(run, at(&a, 0), at(&a, 1))),
    function("instr", (2, 2), NUMBER, T, Nulls::Spread, |run, a| position(run, at(&a, 0), at(&a, 1))),
    function("lpad", (2, 3), TEXT, None, Nulls::Spread, |run, a| pad(run, &a, true)),
    function("rpad", (2, 3), TEXT, None, Nulls::Spread, |run, a| pad(run, &a, false)),
    function("repeat", (2, 2), TEXT, None, Nulls::Spread, |run, a| {
        let whole = words(run, at(&a, 0));
        let times = usize::try_from(integer(run, at(&a, 1))?).unwrap_or(0);
        if whole.len().saturating_mul(times) > LONGEST {
            return Err(too_long());
        }
        text(whole.repeat(times))
    }),
    function("reverse", (1, 1), TEXT, T, Nulls::Spread, |run, a| text(words(run, at(&a, 0)).chars().rev().collect())),
    function("initcap", (1, 1), TEXT, T, Nulls::Spread, |run, a| {
        let mut inside = false;
        let letter = |letter: char| {
            let begins = !std::mem::replace(&mut inside, letter.is_alphanumeric());
            if begins { letter.to_uppercase().collect::<String>() } else { letter.to_lowercase().collect() }
        };
        text(words(run, at(&a, 0)).chars().map(letter).collect())
    }),
    function("split_part", (3, 3), TEXT, None, Nulls::Spread, |run, a| {
        let (whole, between) = (words(run, at(&a, 0)), words(run, at(&a, 1)));
        let wanted = usize::try_from(integer(run, at(&a, 2))?).ok().and_then(|wanted| wanted.checked_sub(1));
        let wanted = wanted.ok_or_else(|| Kind::InvalidParameter.error("field position must be greater than zero"))?;
        if between.is_empty() {
            return text(if wanted == 0 { whole } else { String::new() });
        }
        text(whole.split(&between).nth(wanted).unwrap_or("").to_owned())
    }),
    function("starts_with", (2, 2), Ty::Is(Type::Boolean), T, Nulls::Spread, |run, a| {
        Ok(Datum::Boolean(words(run, at(&a, 0)).starts_with(&words(run, at(&a, 1)))))
    }),
    function("ascii", (1, 1), NUMBER, T, Nulls::Spread, |run, a| {
        Ok(Datum::Integer(words(run, at(&a, 0)).chars().next().map_or(0, |letter| i64::from(u32::from(letter)))))
    }),
    function("chr", (1, 1), TEXT, None, Nulls::Spread, |run, a| {
        let letter = u32::try_from(integer(run, at(&a, 0))?).ok().filter(|&code| code > 0).and_then(char::from_u32);
        text(letter.ok_or_else(|| Kind::InvalidParameter.error("requested character is not valid"))?.to_string())
    }),
    function("quote_ident", (1, 1), TEXT, T, Nulls::Spread, |run, a| {
        text(format!("\"{}\"", words(run, at(&a, 0)).replace('"', "\"\"")))
    }),
    function("hex", (1, 1), TEXT, None, Nulls::Spread, |run, a| match at(&a, 0) {
        Datum::Integer(value) => text(format!("{value:X}")),
        other => text(words(run, other).bytes().map(|byte| format!("{byte:02X}")).collect()),
    }),
];

fn text(value: String) -> Result<Datum> {
    if value.len() > LONGEST { Err(too_long()) } else { Ok(Datum::from_text(value)) }
}

fn too_long() -> crate::error::Error {
    Kind::TooLong.error("the text would be longer than 16 MiB")
}

fn number(length: usize) -> Result<Datum> {
    Ok(Datum::Integer(i64::try_from(length).unwrap_or(i64::MAX)))
}

fn substring(run: &mut Run<'_>, a: Vec<Datum>) -> Result<Datum> {
    let whole = words(run, at(&a, 0));
    let count = i64::try_from(whole.chars().count()).unwrap_or(i64::MAX);
    let mut from = integer(run, at(&a, 1))?;
    if run.dialect == Dialect::MySql {
        match from {
            0 => return text(String::new()),
            // From the end.
            ..0 => from = count.saturating_add(from).saturating_add(1),
            _ => {}
        }
    }
    let to = match a.get(2) {
        None => i64::MAX,
        Some(length) => match integer(run, length)? {
            ..0 if run.dialect == Dialect::PostgreSql => {
                return Err(Kind::InvalidParameter.error("negative substring length not allowed"));
            }
            length => from.saturating_add(length),
        },
    };
    let skip = usize::try_from(from.max(1) - 1).unwrap_or(0);
    let take = usize::try_from(to.saturating_sub(from.max(1))).unwrap_or(0);
    text(whole.chars().skip(skip).take(take).collect())
}

/// So many letters from one end; a negative number leaves so many at the other.
fn end(run: &Run<'_>, a: &[Datum], left: bool) -> Result<Datum> {
    let letters: Vec<char> = words(run, at(a, 0)).chars().collect();
    let wanted = integer(run, at(a, 1))?;
    let size = usize::try_from(wanted.unsigned_abs()).unwrap_or(usize::MAX);
    let count = if wanted >= 0 { size.min(letters.len()) } else { letters.len().saturating_sub(size) };
    let part = if left { &letters[..count] } else { &letters[letters.len() - count..] };
    text(part.iter().collect())
}

fn trim(run: &Run<'_>, a: &[Datum], left: bool, right: bool) -> Result<Datum> {
    let whole = words(run, at(a, 0));
    let letters: Vec<char> = a.get(1).map_or(vec![' '], |letters| words(run, letters).chars().collect());
    let mut rest = whole.as_str();
    if left {
        rest = rest.trim_start_matches(letters.as_slice());
    }
    if right {
        rest = rest.trim_end_matches(letters.as_slice());
    }
    text(rest.to_owned())
}

fn position(run: &Run<'_>, whole: &Datum, part: &Datum) -> Result<Datum> {
    let whole = words(run, whole);
    let found = whole.find(&words(run, part));
    number(found.map_or(0, |at| whole[..at].chars().count() + 1))
}

fn pad(run: &Run<'_>, a: &[Datum], left: bool) -> Result<Datum> {
    let letters: Vec<char> = words(run, at(a, 0)).chars().collect();
    let length = usize::try_from(integer(run, at(a, 1))?).unwrap_or(0);
    if length > LONGEST {
        return Err(too_long());
    }
    let fill: Vec<char> = a.get(2).map_or(vec![' '], |fill| words(run, fill).chars().collect());
    if letters.len() >= length || fill.is_empty() {
        return text(letters.into_iter().take(length).collect());
    }
    let padding = fill.iter().cycle().take(length - letters.len());
    if left { text(padding.chain(&letters).collect()) } else { text(letters.iter().chain(padding).collect()) }
}
