//! Days and times between their text and the numbers that binary formats have instead.
//!
//! The engine prints and reads days and times as ISO 8601; what it calculates with is its own affair. Years are 1 to 9999 here: all that
//! text has four digits for, and what MySQL has.

use std::fmt;

const MICROS: i64 = 1_000_000;
const DAY: i64 = 86_400 * MICROS;

/// A day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Day {
    pub(crate) year: u16,
    pub(crate) month: u8,
    pub(crate) day: u8,
}

/// A time of a day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Time {
    pub(crate) hour: u8,
    pub(crate) minute: u8,
    pub(crate) second: u8,
    pub(crate) micros: u32,
}

/// A day and a time of it, in UTC where that matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) day: Day,
    pub(crate) time: Time,
}

impl Day {
    pub(crate) fn new(year: u16, month: u8, day: u8) -> Option<Self> {
        let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let days = match month {
            2 => 28 + u8::from(leap),
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        ((1..=9999).contains(&year) && (1..=days).contains(&day)).then_some(Day { year, month, day })
    }

    /// Reads `2024-02-29`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() {
            return None;
        }
        Day::new(number(year)?, number(month)?, number(day)?)
    }

    /// Days since the first of January 2000.
    pub(crate) fn number(self) -> i32 {
        // Years begin in March, so that a leap day is the last of its year; eras have 400 years.
        let (year, month) = (i32::from(self.year) - i32::from(self.month <= 2), i32::from(self.month));
        let era = year.div_euclid(400);
        let year = year.rem_euclid(400);
        let in_year = (153 * ((month + 9) % 12) + 2) / 5 + i32::from(self.day) - 1;
        era * 146_097 + year * 365 + year / 4 - year / 100 + in_year - 730_425
    }

    /// The day that is so many days after the first of January 2000.
    pub(crate) fn from_number(number: i32) -> Option<Self> {
        let number = number.checked_add(730_425)?;
        let era = number.div_euclid(146_097);
        let in_era = number.rem_euclid(146_097);
        let year = (in_era - in_era / 1460 + in_era / 36_524 - in_era / 146_096) / 365;
        let in_year = in_era - (365 * year + year / 4 - year / 100);
        let march = (5 * in_year + 2) / 153;
        let day = in_year - (153 * march + 2) / 5 + 1;
        let month = if march < 10 { march + 3 } else { march - 9 };
        let year = year + era * 400 + i32::from(month <= 2);
        Day::new(u16::try_from(year).ok()?, u8::try_from(month).ok()?, u8::try_from(day).ok()?)
    }
}

impl Time {
    pub(crate) fn new(hour: u8, minute: u8, second: u8, micros: u32) -> Option<Self> {
        (hour < 24 && minute < 60 && second < 60 && micros < 1_000_000).then_some(Time { hour, minute, second, micros })
    }

    /// Reads `13:05`, `13:05:59` or `13:05:59.25`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let mut parts = whole.split(':');
        let (hour, minute, second) = (parts.next()?, parts.next()?, parts.next().unwrap_or("0"));
        if parts.next().is_some() || fraction.len() > 6 {
            return None;
        }
        let micros = number::<u32>(fraction)? * 10_u32.pow(6 - u32::try_from(fraction.len()).ok()?);
        Time::new(number(hour)?, number(minute)?, number(second)?, micros)
    }

    /// Microseconds since midnight.
    pub(crate) fn number(self) -> i64 {
        let seconds = (i64::from(self.hour) * 60 + i64::from(self.minute)) * 60 + i64::from(self.second);
        seconds * MICROS + i64::from(self.micros)
    }

    /// The time that is so many microseconds after midnight.
    pub(crate) fn from_number(number: i64) -> Option<Self> {
        let seconds = number.div_euclid(MICROS);
        let micros = u32::try_from(number.rem_euclid(MICROS)).ok()?;
        let part = |value: i64| u8::try_from(value).ok();
        Time::new(part(seconds / 3600)?, part(seconds / 60 % 60)?, part(seconds % 60)?, micros)
    }
}

impl Moment {
    /// Reads `2024-02-29 13:05:59.25`, or with an offset, `2024-02-29T13:05:59+02:00`, which is taken off.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (day, time) = text.split_once([' ', 'T']).unwrap_or((text, "00:00"));
        let time = time.trim_end_matches(['Z', 'z']);
        let (time, offset) = match time.find(['+', '-']) {
            Some(at) => (&time[..at], offset(&time[at..])?),
            None => (time, 0),
        };
        let moment = Moment { day: Day::parse(day)?, time: Time::parse(time.trim_end())? };
        if offset == 0 { Some(moment) } else { Moment::from_number(moment.number() - offset) }
    }

    /// Microseconds since the year 2000.
    pub(crate) fn number(self) -> i64 {
        i64::from(self.day.number()) * DAY + self.time.number()
    }

    /// The moment so many microseconds after the beginning of the year 2000.
    pub(crate) fn from_number(number: i64) -> Option<Self> {
        let day = Day::from_number(i32::try_from(number.div_euclid(DAY)).ok()?)?;
        Some(Moment { day, time: Time::from_number(number.rem_euclid(DAY))? })
    }
}

/// Reads `+02`, `+02:00` or `-0530` as microseconds.
fn offset(text: &str) -> Option<i64> {
    let (sign, digits) = text.split_at(1);
    let digits: String = digits.split(':').collect();
    let (hours, minutes) = if digits.len() > 2 { digits.split_at_checked(2)? } else { (&digits[..], "0") };
    let minutes = number::<i64>(hours)? * 60 + number::<i64>(minutes)?;
    Some(if sign == "-" { -minutes } else { minutes } * 60 * MICROS)
}

/// Digits alone: `parse` would take a sign, too.
fn number<N: std::str::FromStr>(text: &str) -> Option<N> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}:{:02}", self.hour, self.minute, self.second)?;
        if self.micros > 0 {
            write!(f, ".{}", format!("{:06}", self.micros).trim_end_matches('0'))?;
        }
        Ok(())
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.day, self.time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_numbers() {
        assert_eq!(Day::parse("2000-01-01").unwrap().number(), 0);
        assert_eq!(Day::parse("1999-12-31").unwrap().number(), -1);
        assert_eq!(Day::parse("1970-01-01").unwrap().number(), -10_957);
        let (first, last) = (Day::new(1, 1, 1).unwrap().number(), Day::new(9999, 12, 31).unwrap().number());
        assert_eq!(Day::from_number(first - 1), None);
        assert_eq!(Day::from_number(last + 1), None);
        let mut before = None;
        for number in first..=last {
            let day = Day::from_number(number).unwrap();
            assert_eq!(day.number(), number);
            let order = Some((day.year, day.month, day.day));
            assert!(before < order);
            before = order;
        }
        for bad in
            ["2023-02-29", "1900-02-29", "2024-13-01", "2024-00-10", "0000-01-01", "2024-1", "x", "", "+2024-01-01"]
        {
            assert_eq!(Day::parse(bad), None, "{bad}");
        }
        assert!(Day::from_number(i32::MAX).is_none() && Day::from_number(i32::MIN).is_none());
    }

    #[test]
    fn moments_come_through() {
        for text in ["2024-02-29 13:05:59.25", "1969-12-31 23:59:59.999999", "9999-12-31 00:00:00"] {
            let moment = Moment::parse(text).unwrap();
            assert_eq!(moment.to_string(), text);
            assert_eq!(Moment::from_number(moment.number()), Some(moment));
        }
        let utc = Moment::parse("2024-01-01T00:30:00+02").unwrap();
        assert_eq!(utc.to_string(), "2023-12-31 22:30:00");
        assert_eq!(Moment::parse("2023-12-31 17:00:00-05:30"), Some(utc));
        assert_eq!(Moment::parse("2023-12-31 22:30:00Z"), Some(utc));
        for bad in ["2024-01-01 25:00", "2024-01-01 10", "2024-01-01 10:00:00.1234567", "infinity", "2024-01-01 1:2+"] {
            assert_eq!(Moment::parse(bad), None, "{bad}");
        }
        assert!(Moment::from_number(i64::MAX).is_none() && Moment::from_number(i64::MIN).is_none());
    }
}
