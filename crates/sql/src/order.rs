//! Which of two values is smaller, and when are they the same?
//!
//! Two orders. [`compare`] is SQL's: `NULL` has no place in it, and numbers of all types are compared with each other. [`order`] is total, for
//! sorting, grouping and the universe of keys: it puts `NULL` first and values that cannot be compared by their type.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use jiff::civil::{DateTime, Time};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

use crate::datum::Datum;

/// SQL's order: `None` if one is `NULL`, or if they are of types that have no common order.
pub(crate) fn compare(left: &Datum, right: &Datum) -> Option<Ordering> {
    Some(match (left, right) {
        (Datum::Integer(a), Datum::Integer(b)) => a.cmp(b),
        (Datum::Text(a), Datum::Text(b)) => a.cmp(b),
        (Datum::Boolean(a), Datum::Boolean(b)) => a.cmp(b),
        (Datum::Numeric(a), Datum::Numeric(b)) => a.cmp(b),
        (Datum::Numeric(a), Datum::Integer(b)) => a.cmp(&Decimal::from(*b)),
        (Datum::Integer(a), Datum::Numeric(b)) => Decimal::from(*a).cmp(b),
        (Datum::Double(a), Datum::Double(b)) => doubles(*a, *b),
        (Datum::Double(a), Datum::Integer(b)) => doubles(*a, *b as f64),
        (Datum::Integer(a), Datum::Double(b)) => doubles(*a as f64, *b),
        (Datum::Double(a), Datum::Numeric(b)) => doubles(*a, b.to_f64().unwrap_or(f64::NAN)),
        (Datum::Numeric(a), Datum::Double(b)) => doubles(a.to_f64().unwrap_or(f64::NAN), *b),
        // MySQL's booleans are numbers.
        (Datum::Boolean(a), Datum::Integer(b)) => i64::from(*a).cmp(b),
        (Datum::Integer(a), Datum::Boolean(b)) => a.cmp(&i64::from(*b)),
        (Datum::Bytes(a), Datum::Bytes(b)) => a.cmp(b),
        (Datum::Date(a), Datum::Date(b)) => a.cmp(b),
        (Datum::Time(a), Datum::Time(b)) => a.cmp(b),
        (Datum::Timestamp(a), Datum::Timestamp(b)) => a.cmp(b),
        (Datum::Timestamp(a), Datum::Date(b)) => a.cmp(&DateTime::from_parts(*b, Time::midnight())),
        (Datum::Date(a), Datum::Timestamp(b)) => DateTime::from_parts(*a, Time::midnight()).cmp(b),
        _ => return None,
    })
}

/// As PostgreSQL orders them: all not-a-numbers are the same, and greater than numbers.
fn doubles(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// A total order: `NULL` first.
pub(crate) fn order(left: &Datum, right: &Datum) -> Ordering {
    compare(left, right).unwrap_or_else(|| rank(left).cmp(&rank(right)))
}

fn rank(datum: &Datum) -> u8 {
    match datum {
        Datum::Null => 0,
        Datum::Boolean(_) => 1,
        Datum::Integer(_) | Datum::Double(_) | Datum::Numeric(_) => 2,
        Datum::Text(_) => 3,
        Datum::Bytes(_) => 4,
        Datum::Date(_) | Datum::Timestamp(_) => 5,
        Datum::Time(_) => 6,
    }
}

/// Values in a row, equal and ordered by [`order`]: two `NULL`s are the same, as `GROUP BY` and `DISTINCT` want it.
#[derive(Clone, Debug)]
pub(crate) struct Row(pub(crate) Arc<[Datum]>);

impl Row {
    pub(crate) fn new(values: Vec<Datum>) -> Self {
        Row(values.into())
    }
}

impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Row {}

impl PartialOrd for Row {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Row {
    fn cmp(&self, other: &Self) -> Ordering {
        let pairs = self.0.iter().zip(&*other.0).map(|(a, b)| order(a, b));
        pairs.into_iter().find(|&found| found != Ordering::Equal).unwrap_or(self.0.len().cmp(&other.0.len()))
    }
}

impl Hash for Row {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.iter().for_each(|datum| hash(datum, state));
    }
}

/// Numbers that are equal have the same hash, whatever their type.
fn hash<H: Hasher>(datum: &Datum, state: &mut H) {
    match datum {
        Datum::Null => 0_u8.hash(state),
        Datum::Boolean(value) => i64::from(*value).hash(state),
        Datum::Integer(value) => value.hash(state),
        Datum::Double(value) => hash_double(*value, state),
        Datum::Numeric(value) => match value.to_i64() {
            Some(whole) if value.fract().is_zero() => whole.hash(state),
            _ => hash_double(value.to_f64().unwrap_or(f64::NAN), state),
        },
        Datum::Text(value) => value.hash(state),
        Datum::Bytes(value) => value.hash(state),
        Datum::Date(value) => DateTime::from_parts(*value, Time::midnight()).hash(state),
        Datum::Time(value) => value.hash(state),
        Datum::Timestamp(value) => value.hash(state),
    }
}

fn hash_double<H: Hasher>(value: f64, state: &mut H) {
    // Saturates, so that the large ones share a hash; they may equal an integer that was rounded.
    if value.fract() == 0.0 || value.is_infinite() {
        (value as i64).hash(state);
    } else if value.is_nan() {
        u64::MAX.hash(state);
    } else {
        value.to_bits().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use std::hash::DefaultHasher;

    use super::*;

    #[test]
    fn equal_numbers_are_one_group() {
        let same = [Datum::Integer(2), Datum::Double(2.0), Datum::Numeric(Decimal::new(200, 2))];
        let hash_of = |datum: &Datum| {
            let mut state = DefaultHasher::new();
            hash(datum, &mut state);
            state.finish()
        };
        for a in &same {
            for b in &same {
                assert_eq!(compare(a, b), Some(Ordering::Equal));
                assert_eq!(hash_of(a), hash_of(b));
            }
        }
    }

    #[test]
    fn null_is_first_and_equals_itself_in_rows() {
        assert_eq!(compare(&Datum::Null, &Datum::Null), None);
        assert_eq!(order(&Datum::Null, &Datum::Integer(i64::MIN)), Ordering::Less);
        assert_eq!(Row::new(vec![Datum::Null]), Row::new(vec![Datum::Null]));
    }
}
