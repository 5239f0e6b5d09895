//! Numbers: sums, products, quotients.
//!
//! Integers stay integers and are checked against the bounds of their type. Quotients of decimals get as many digits as PostgreSQL gives
//! them; MySQL gives four more than the dividend has, and `NULL` for a division by zero.

use rust_decimal::prelude::ToPrimitive;
use rust_decimal::{Decimal, RoundingStrategy};

use crate::cast::{self, integer_in, out_of_range};
use crate::datum::{Datum, Type};
use crate::engine::Dialect;
use crate::error::{Kind, Result};
use crate::plan::Operator;

/// Applies an operator; `ty` is the type of the result.
pub(crate) fn apply(op: Operator, left: Datum, right: Datum, ty: Type, dialect: Dialect) -> Result<Datum> {
    if left.is_null() || right.is_null() {
        return Ok(Datum::Null);
    }
    match op {
        Operator::Power => return power(&left, &right, dialect),
        Operator::BitAnd | Operator::BitOr | Operator::BitXor | Operator::ShiftLeft | Operator::ShiftRight => {
            return bits(op, left, right, dialect);
        }
        _ => {}
    }
    match (&left, &right) {
        (Datum::Integer(a), Datum::Integer(b)) if ty.is_integer() => integers(op, *a, *b, ty, dialect),
        // What was not known when the type was found may turn out to be something else.
        (Datum::Double(_), _) | (_, Datum::Double(_)) => {
            doubles(op, cast::to_double(&left, dialect)?, cast::to_double(&right, dialect)?, dialect)
        }
        _ if ty == Type::Double => {
            doubles(op, cast::to_double(&left, dialect)?, cast::to_double(&right, dialect)?, dialect)
        }
        _ => decimals(op, cast::to_decimal(&left, dialect)?, cast::to_decimal(&right, dialect)?, dialect),
    }
}

/// Minus.
pub(crate) fn negate(value: Datum, dialect: Dialect) -> Result<Datum> {
    Ok(match value {
        Datum::Null => Datum::Null,
        Datum::Integer(value) => Datum::Integer(value.checked_neg().ok_or_else(|| out_of_range(Type::BigInt))?),
        Datum::Double(value) => Datum::Double(-value),
        Datum::Numeric(value) => Datum::Numeric(-value),
        other => Datum::Double(-cast::to_double(&other, dialect)?),
    })
}

fn by_zero(dialect: Dialect) -> Result<Datum> {
    match dialect {
        Dialect::PostgreSql => Err(Kind::DivisionByZero.error("division by zero")),
        Dialect::MySql => Ok(Datum::Null),
    }
}

fn integers(op: Operator, a: i64, b: i64, ty: Type, dialect: Dialect) -> Result<Datum> {
    if b == 0 && matches!(op, Operator::Divide | Operator::DivideWhole | Operator::Modulo) {
        return by_zero(dialect);
    }
    let value = match op {
        Operator::Add => a.checked_add(b),
        Operator::Subtract => a.checked_sub(b),
        Operator::Multiply => a.checked_mul(b),
        Operator::Divide | Operator::DivideWhole => a.checked_div(b),
        // The smallest number modulo -1 overflows in the machine, and is zero.
        _ => Some(a.checked_rem(b).unwrap_or(0)),
    };
    integer_in(value.ok_or_else(|| out_of_range(ty))?, ty)
}

fn doubles(op: Operator, a: f64, b: f64, dialect: Dialect) -> Result<Datum> {
    if b == 0.0 && matches!(op, Operator::Divide | Operator::DivideWhole | Operator::Modulo) {
        return by_zero(dialect);
    }
    let value = match op {
        Operator::Add => a + b,
        Operator::Subtract => a - b,
        Operator::Multiply => a * b,
        Operator::Divide => a / b,
        Operator::DivideWhole => return cast::cast(Datum::Double((a / b).trunc()), Type::BigInt, dialect),
        _ => a % b,
    };
    if value.is_infinite() && a.is_finite() && b.is_finite() {
        Err(out_of_range(Type::Double))
    } else {
        Ok(Datum::Double(value))
    }
}

fn decimals(op: Operator, a: Decimal, b: Decimal, dialect: Dialect) -> Result<Datum> {
    if b.is_zero() && matches!(op, Operator::Divide | Operator::DivideWhole | Operator::Modulo) {
        return by_zero(dialect);
    }
    let value = match op {
        Operator::Add => a.checked_add(b),
        Operator::Subtract => a.checked_sub(b),
        Operator::Multiply => a.checked_mul(b),
        Operator::Divide => quotient(a, b, dialect),
        Operator::DivideWhole => {
            let whole = a.checked_div(b).and_then(|value| value.trunc().to_i64());
            return whole.map(Datum::Integer).ok_or_else(|| out_of_range(Type::BigInt));
        }
        _ => a.checked_rem(b),
    };
    value.map(Datum::Numeric).ok_or_else(|| out_of_range(Type::Numeric))
}

fn quotient(a: Decimal, b: Decimal, dialect: Dialect) -> Option<Decimal> {
    let scale = match dialect {
        Dialect::MySql => a.scale() + 4,
        Dialect::PostgreSql => quotient_scale(a, b),
    };
    let mut value = a.checked_div(b)?.round_dp_with_strategy(scale.min(28), RoundingStrategy::MidpointAwayFromZero);
    value.rescale(scale.min(28));
    Some(value)
}

/// At least sixteen significant digits, counted in groups of four as PostgreSQL stores them, and no fewer than either side has.
fn quotient_scale(a: Decimal, b: Decimal) -> u32 {
    let (weight_a, first_a) = leading_group(a);
    let (weight_b, first_b) = leading_group(b);
    let weight = weight_a - weight_b - i32::from(first_a <= first_b);
    let digits = 16 - weight * 4;
    u32::try_from(digits).unwrap_or(0).max(a.scale()).max(b.scale())
}

/// The place and the value of the first group of four digits.
fn leading_group(value: Decimal) -> (i32, u32) {
    let mut rest = value.abs();
    if rest.is_zero() {
        return (0, 0);
    }
    let group = Decimal::from(10_000);
    let mut weight = 0;
    while rest >= group {
        rest /= group;
        weight += 1;
    }
    while rest < Decimal::ONE {
        rest *= group;
        weight -= 1;
    }
    (weight, rest.trunc().to_u32().unwrap_or(0))
}

fn power(left: &Datum, right: &Datum, dialect: Dialect) -> Result<Datum> {
    let value = cast::to_double(left, dialect)?.powf(cast::to_double(right, dialect)?);
    if value.is_finite() { Ok(Datum::Double(value)) } else { Err(out_of_range(Type::Double)) }
}

fn bits(op: Operator, left: Datum, right: Datum, dialect: Dialect) -> Result<Datum> {
    let integer = |value: Datum| -> Result<i64> {
        match cast::cast(value, Type::BigInt, dialect)? {
            Datum::Integer(value) => Ok(value),
            _ => Ok(0),
        }
    };
    let (a, b) = (integer(left)?, integer(right)?);
    // Shifting by more than there are bits leaves nothing.
    let by = u32::try_from(b).unwrap_or(u32::MAX);
    Ok(Datum::Integer(match op {
        Operator::BitAnd => a & b,
        Operator::BitOr => a | b,
        Operator::BitXor => a ^ b,
        Operator::ShiftLeft => a.checked_shl(by).unwrap_or(0),
        _ => a.checked_shr(by).unwrap_or(0),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(op: Operator, a: &str, b: &str) -> String {
        let number = |text: &str| match text.parse() {
            Ok(value) => Datum::Integer(value),
            Err(_) => Datum::Numeric(text.parse().unwrap()),
        };
        let (a, b) = (number(a), number(b));
        let whole = matches!((&a, &b), (Datum::Integer(_), Datum::Integer(_)));
        let ty = if whole { Type::BigInt } else { Type::Numeric };
        apply(op, a, b, ty, Dialect::PostgreSql).map_or_else(|error| error.code.into(), |value| value.to_string())
    }

    #[test]
    fn quotients_are_those_of_postgresql() {
        for (a, b, expected) in [
            ("7", "2", "3"),
            ("-7", "2", "-3"),
            ("1.0", "3", "0.33333333333333333333"),
            ("10.0", "3", "3.3333333333333333"),
            ("100000.0", "3", "33333.333333333333"),
            ("1", "0", "22012"),
            ("9223372036854775807", "-1", "-9223372036854775807"),
        ] {
            assert_eq!(shown(Operator::Divide, a, b), expected, "{a} / {b}");
        }
        assert_eq!(shown(Operator::Add, "9223372036854775807", "1"), "22003");
        assert_eq!(shown(Operator::Modulo, "-9223372036854775808", "-1"), "0");
        assert_eq!(shown(Operator::Multiply, "1.50", "2"), "3.00");
    }
}
