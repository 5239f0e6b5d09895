//! Dates, times and intervals as text.

use jiff::civil::{Date, DateTime, Time};
use jiff::{SignedDuration, Span, ToSpan};

use crate::error::{Kind, Result};

/// `2024-02-29`; a time after it is cut off.
pub(crate) fn parse_date(text: &str) -> Result<Date> {
    parse_timestamp(text).map(DateTime::date).map_err(|_| invalid("date", text))
}

/// `12:30`, `12:30:59.5`.
pub(crate) fn parse_time(text: &str) -> Result<Time> {
    let (time, _) = split_zone(text.trim());
    let padded = if time.matches(':').count() == 1 { format!("{time}:00") } else { time.to_owned() };
    padded.parse().map_err(|_| invalid("time", text))
}

/// `2024-02-29 12:30:59.5+02`, with or without the parts after the date. A zone is taken off, to UTC.
pub(crate) fn parse_timestamp(text: &str) -> Result<DateTime> {
    let trimmed = text.trim();
    let (date, time) = trimmed.split_once([' ', 'T']).unwrap_or((trimmed, "00:00:00"));
    let date: Date = pad_date(date).parse().map_err(|_| invalid("timestamp", text))?;
    let (time, zone) = split_zone(time.trim());
    let time = parse_time(time).map_err(|_| invalid("timestamp", text))?;
    let offset = zone.map_or(Some(0), zone_seconds).ok_or_else(|| invalid("timestamp", text))?;
    DateTime::from_parts(date, time)
        .checked_sub(SignedDuration::from_secs(offset))
        .map_err(|_| invalid("timestamp", text))
}

/// `2024-1-5` is `2024-01-05`.
fn pad_date(text: &str) -> String {
    let parts: Vec<&str> = text.split('-').collect();
    match parts.as_slice() {
        [year, month, day] if !year.is_empty() => format!("{year:0>4}-{month:0>2}-{day:0>2}"),
        _ => text.to_owned(),
    }
}

fn split_zone(time: &str) -> (&str, Option<&str>) {
    if let Some(time) = time.strip_suffix(['Z', 'z']) {
        return (time.trim_end(), Some("+00"));
    }
    match time.find(['+', '-']) {
        Some(at) => (time[..at].trim_end(), Some(&time[at..])),
        None => (time, None),
    }
}

/// `+02`, `-03:30`, `+0100`.
fn zone_seconds(zone: &str) -> Option<i64> {
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let digits: String = zone.get(1..)?.chars().filter(|&letter| letter != ':').collect();
    let number: i64 = digits.get(..digits.len().min(4))?.parse().ok()?;
    let (hours, minutes) = if digits.len() <= 2 { (number, 0) } else { (number / 100, number % 100) };
    Some(sign * (hours * 3600 + minutes * 60))
}

/// `1 day 2 hours`, `-3 months`, `01:30:00`.
pub(crate) fn parse_interval(text: &str) -> Result<Span> {
    let bad = || invalid("interval", text);
    let mut span = Span::new();
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        if word.contains(':') {
            let time = parse_time(word).map_err(|_| bad())?;
            let nanoseconds = i64::try_from(time.duration_since(Time::midnight()).as_nanos()).map_err(|_| bad())?;
            let one = Span::new().try_nanoseconds(nanoseconds).map_err(|_| bad())?;
            span = join(span, one).ok_or_else(bad)?;
            continue;
        }
        let digits = word.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
        let unit = if digits.len() < word.len() { &word[digits.len()..] } else { words.next().unwrap_or("second") };
        let one = interval_unit(digits.parse().map_err(|_| bad())?, unit).ok_or_else(bad)?;
        // Fields are added one by one, because adding spans with months needs a date.
        span = join(span, one).ok_or_else(bad)?;
    }
    Ok(span)
}

fn join(a: Span, b: Span) -> Option<Span> {
    let months = i64::from(a.get_years()) * 12
        + i64::from(a.get_months())
        + i64::from(b.get_years()) * 12
        + i64::from(b.get_months());
    let days =
        i64::from(a.get_days()) + i64::from(b.get_days()) + 7 * (i64::from(a.get_weeks()) + i64::from(b.get_weeks()));
    let seconds = |s: &Span| i64::from(s.get_hours()) * 3600 + s.get_minutes() * 60 + s.get_seconds();
    let nanoseconds = a.get_nanoseconds().checked_add(b.get_nanoseconds())?;
    let span = Span::new().try_months(months).ok()?.try_days(days).ok()?;
    span.try_seconds(seconds(&a).checked_add(seconds(&b))?).ok()?.try_nanoseconds(nanoseconds).ok()
}

/// So many of a unit: `day`, `HOURS`, `mon`.
pub(crate) fn interval_unit(number: f64, unit: &str) -> Option<Span> {
    let unit = unit.to_ascii_lowercase();
    let whole = number.trunc() as i64;
    Some(match unit.trim_end_matches('s') {
        "year" | "y" | "yr" => Span::new().try_years(whole).ok()?,
        "quarter" => Span::new().try_months(whole.checked_mul(3)?).ok()?,
        "month" | "mon" => Span::new().try_months(whole).ok()?,
        "week" | "w" => Span::new().try_weeks(whole).ok()?,
        "day" | "d" => {
            let rest = ((number - number.trunc()) * 86_400.0) as i64;
            Span::new().try_days(whole).ok()?.try_seconds(rest).ok()?
        }
        "hour" | "h" => Span::new().try_seconds((number * 3600.0) as i64).ok()?,
        "minute" | "min" | "m" => Span::new().try_seconds((number * 60.0) as i64).ok()?,
        "second" | "sec" | "" => Span::new()
            .try_seconds(whole)
            .ok()?
            .try_nanoseconds(((number - number.trunc()) * 1e9).round() as i64)
            .ok()?,
        "millisecond" => Span::new().try_nanoseconds((number * 1e6) as i64).ok()?,
        "microsecond" => Span::new().try_nanoseconds((number * 1e3) as i64).ok()?,
        _ => return None,
    })
}

/// Later by a span; months are cut to the last day of a month, as PostgreSQL and MySQL do.
pub(crate) fn add_span(time: DateTime, span: Span, negate: bool) -> Result<DateTime> {
    let span = if negate { -span } else { span };
    time.checked_add(span).map_err(|_| Kind::OutOfRange.error("timestamp out of range"))
}

/// Days from one date to another.
pub(crate) fn days_between(from: Date, to: Date) -> i64 {
    let span = from.until(to).unwrap_or(0.days());
    i64::from(span.get_days())
}

fn invalid(what: &str, text: &str) -> crate::error::Error {
    let short: String = text.chars().take(60).collect();
    Kind::InvalidDatetime.error(format!("invalid input syntax for type {what}: \"{short}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_have_many_forms() {
        for (text, expected) in [
            ("2024-02-29", "2024-02-29T00:00:00"),
            ("2024-2-9 1:02", "error"),
            ("2024-02-29 12:30:59.5", "2024-02-29T12:30:59.5"),
            ("2024-02-29T12:30:00Z", "2024-02-29T12:30:00"),
            ("2024-02-29 12:30:00+02", "2024-02-29T10:30:00"),
            ("2024-02-29 12:30:00-03:30", "2024-02-29T16:00:00"),
            ("2023-02-29", "error"),
            ("", "error"),
        ] {
            let found = parse_timestamp(text).map_or("error".to_owned(), |time| time.to_string());
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn intervals_are_added() {
        let start = parse_timestamp("2024-01-31").unwrap();
        for (text, expected) in [
            ("1 month", "2024-02-29T00:00:00"),
            ("1 day 2 hours", "2024-02-01T02:00:00"),
            ("-1 day", "2024-01-30T00:00:00"),
            ("01:30:00", "2024-01-31T01:30:00"),
            ("1 month 1 day 01:30:00", "2024-03-01T01:30:00"),
            ("90 minutes", "2024-01-31T01:30:00"),
            ("2 weeks", "2024-02-14T00:00:00"),
        ] {
            let span = parse_interval(text).unwrap();
            assert_eq!(add_span(start, span, false).unwrap().to_string(), expected, "{text}");
        }
        assert!(parse_interval("1 parsec").is_err());
    }
}
