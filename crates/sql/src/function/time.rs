//! Functions of dates and times. The clock is the statement's, so that it does not go on while a statement runs.

use jiff::civil::{DateTime, Time};
use jiff::{ToSpan, Unit};
use rust_decimal::Decimal;

use super::{Function, Nulls, Ty, at, function, integer, words};
use crate::cast;
use crate::datum::{Datum, Type};
use crate::engine::Dialect;
use crate::error::{Error, Kind, Result};
use crate::run::Run;

const NOW: Ty = Ty::Is(Type::TimestampTz);

pub(super) const FUNCTIONS: &[Function] = &[
    function("now", (0, 1), NOW, None, Nulls::Spread, now),
    function("current_timestamp", (0, 1), NOW, None, Nulls::Spread, now),
    function("transaction_timestamp", (0, 0), NOW, None, Nulls::Spread, now),
    function("statement_timestamp", (0, 0), NOW, None, Nulls::Spread, now),
    function("clock_timestamp", (0, 0), NOW, None, Nulls::Spread, now),
    function("sysdate", (0, 1), NOW, None, Nulls::Spread, now),
    function("localtimestamp", (0, 1), Ty::Is(Type::Timestamp), None, Nulls::Spread, now),
    function("utc_timestamp", (0, 1), Ty::Is(Type::Timestamp), None, Nulls::Spread, now),
    function("current_date", (0, 0), Ty::Is(Type::Date), None, Nulls::Spread, |run, _| Ok(Datum::Date(run.now.date()))),
    function("curdate", (0, 0), Ty::Is(Type::Date), None, Nulls::Spread, |run, _| Ok(Datum::Date(run.now.date()))),
    function("current_time", (0, 1), Ty::Is(Type::Time), None, Nulls::Spread, |run, _| Ok(Datum::Time(run.now.time()))),
    function("localtime", (0, 1), Ty::Is(Type::Time), None, Nulls::Spread, |run, _| Ok(Datum::Time(run.now.time()))),
    function("curtime", (0, 1), Ty::Is(Type::Time), None, Nulls::Spread, |run, _| Ok(Datum::Time(run.now.time()))),
    function("unix_timestamp", (0, 0), Ty::Is(Type::BigInt), None, Nulls::Spread, |run, _| {
        Ok(Datum::Integer(epoch(run.now).as_secs()))
    }),
    function("date_part", (2, 2), Ty::Is(Type::Numeric), None, Nulls::Spread, |run, a| {
        part(&words(run, at(&a, 0)), timestamp(run, at(&a, 1))?)
    }),
    function("date_trunc", (2, 2), Ty::Is(Type::Timestamp), None, Nulls::Spread, |run, a| {
        truncated(&words(run, at(&a, 0)), timestamp(run, at(&a, 1))?)
    }),
    function("date", (1, 1), Ty::Is(Type::Date), None, Nulls::Spread, |run, a| {
        Ok(Datum::Date(timestamp(run, at(&a, 0))?.date()))
    }),
    function("year", (1, 1), Ty::Is(Type::Integer), None, Nulls::Spread, |run, a| whole(run, "year", &a)),
    function("month", (1, 1), Ty::Is(Type::Integer), None, Nulls::Spread, |run, a| whole(run, "month", &a)),
    function("day", (1, 1), Ty::Is(Type::Integer), None, Nulls::Spread, |run, a| whole(run, "day", &a)),
    function("hour", (1, 1), Ty::Is(Type::Integer), None, Nulls::Spread, |run, a| whole(run, "hour", &a)),
    function("minute", (1, 1), Ty::Is(Type::Integer), None, Nulls::Spread, |run, a| whole(run, "minute", &a)),
    function("timezone", (2, 2), Ty::Is(Type::Timestamp), None, Nulls::Spread, |run, a| {
        // Everything is in UTC, so that is the one zone that changes nothing.
        match words(run, at(&a, 0)).to_ascii_lowercase().as_str() {
            "utc" | "gmt" | "z" | "etc/utc" => timestamp(run, at(&a, 1)).map(Datum::Timestamp),
            other => Err(Error::unsupported(format!("the time zone {other}"))),
        }
    }),
    function("to_timestamp", (1, 1), NOW, None, Nulls::Spread, |run, a| {
        let seconds = cast::to_double(at(&a, 0), run.dialect)?;
        let span = crate::time::interval_unit(seconds, "second")
            .ok_or_else(|| Kind::OutOfRange.error("timestamp out of range"))?;
        crate::time::add_span(DateTime::constant(1970, 1, 1, 0, 0, 0, 0), span, false).map(Datum::Timestamp)
    }),
    function("date_add_days", (2, 2), Ty::First, None, Nulls::Spread, |run, a| add_days(run, &a, 1)),
    function("date_subtract_days", (2, 2), Ty::First, None, Nulls::Spread, |run, a| add_days(run, &a, -1)),
    // Days between dates. PostgreSQL's difference of timestamps is an interval, of which there are none here.
    function("date_difference", (2, 2), Ty::Is(Type::Integer), None, Nulls::Spread, |run, a| {
        match (at(&a, 0), at(&a, 1)) {
            (Datum::Date(left), Datum::Date(right)) => Ok(Datum::Integer(crate::time::days_between(*right, *left))),
            _ if run.dialect == Dialect::MySql => datediff(run, &a),
            _ => Err(Error::unsupported("the difference of timestamps").hint("extract(epoch from …) gives seconds.")),
        }
    }),
    function("datediff", (2, 2), Ty::Is(Type::Integer), None, Nulls::Spread, |run, a| datediff(run, &a)),
];

fn now(run: &mut Run<'_>, _: Vec<Datum>) -> Result<Datum> {
    Ok(Datum::Timestamp(run.now))
}

fn timestamp(run: &Run<'_>, value: &Datum) -> Result<DateTime> {
    match value {
        Datum::Time(time) => Ok(DateTime::from_parts(run.now.date(), *time)),
        other => match cast::cast(other.clone(), Type::Timestamp, run.dialect)? {
            Datum::Timestamp(time) => Ok(time),
            _ => Err(Kind::InvalidDatetime.error("a time is expected")),
        },
    }
}

fn epoch(time: DateTime) -> jiff::SignedDuration {
    time.duration_since(DateTime::constant(1970, 1, 1, 0, 0, 0, 0))
}

fn datediff(run: &Run<'_>, a: &[Datum]) -> Result<Datum> {
    let (left, right) = (timestamp(run, at(a, 0))?, timestamp(run, at(a, 1))?);
    Ok(Datum::Integer(crate::time::days_between(right.date(), left.date())))
}

fn add_days(run: &Run<'_>, a: &[Datum], sign: i64) -> Result<Datum> {
    let out = |_| Kind::OutOfRange.error("date out of range");
    let days = integer(run, at(a, 1))?.checked_mul(sign).ok_or_else(|| cast::out_of_range(Type::Date))?;
    let span = 0.days().try_days(days).map_err(out)?;
    match at(a, 0) {
        Datum::Date(date) => date.checked_add(span).map(Datum::Date).map_err(out),
        other => timestamp(run, other)?.checked_add(span).map(Datum::Timestamp).map_err(out),
    }
}

fn whole(run: &Run<'_>, field: &str, a: &[Datum]) -> Result<Datum> {
    cast::cast(part(field, timestamp(run, at(a, 0))?)?, Type::Integer, run.dialect)
}

fn part(field: &str, time: DateTime) -> Result<Datum> {
    let number = |value: i64| Ok(Datum::Numeric(Decimal::from(value)));
    let nanoseconds = i64::from(time.second()) * 1_000_000_000 + i64::from(time.subsec_nanosecond());
    match field {
        "year" => number(time.year().into()),
        "month" => number(time.month().into()),
        "day" => number(time.day().into()),
        "hour" => number(time.hour().into()),
        "minute" => number(time.minute().into()),
        "second" => Ok(Datum::Numeric(Decimal::new(nanoseconds / 1000, 6))),
        "milliseconds" | "millisecond" => Ok(Datum::Numeric(Decimal::new(nanoseconds / 1000, 3))),
        "microseconds" | "microsecond" => number(nanoseconds / 1000),
        "dow" => number(time.weekday().to_sunday_zero_offset().into()),
        "isodow" => number(time.weekday().to_monday_one_offset().into()),
        "doy" => number(time.day_of_year().into()),
        "week" => number(time.date().iso_week_date().week().into()),
        "quarter" => number((i64::from(time.month()) + 2) / 3),
        "epoch" => {
            let microseconds = i64::try_from(epoch(time).as_micros()).map_err(|_| cast::out_of_range(Type::Numeric))?;
            Ok(Datum::Numeric(Decimal::new(microseconds, 6)))
        }
        other => Err(Kind::InvalidParameter.error(format!("unit \"{other}\" not recognized"))),
    }
}

fn truncated(field: &str, time: DateTime) -> Result<Datum> {
    let date = time.date();
    let whole = match field {
        "year" => date.first_of_year().to_datetime(Time::midnight()),
        "month" => date.first_of_month().to_datetime(Time::midnight()),
        "day" => date.to_datetime(Time::midnight()),
        "hour" | "minute" | "second" => {
            let unit = match field {
                "hour" => Unit::Hour,
                "minute" => Unit::Minute,
                _ => Unit::Second,
            };
            let round = jiff::civil::DateTimeRound::new().smallest(unit).mode(jiff::RoundMode::Trunc);
            time.round(round).map_err(|_| Kind::OutOfRange.error("timestamp out of range"))?
        }
        other => return Err(Kind::InvalidParameter.error(format!("unit \"{other}\" not recognized"))),
    };
    Ok(Datum::Timestamp(whole))
}
