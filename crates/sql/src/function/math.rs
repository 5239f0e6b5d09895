//! Functions of numbers.

use rust_decimal::{Decimal, RoundingStrategy};

use super::{Function, Nulls, Ty, at, function, integer};
use crate::arithmetic;
use crate::cast;
use crate::datum::{Datum, Type};
use crate::error::{Kind, Result};
use crate::plan::Operator;
use crate::run::Run;

const N: Option<Type> = None;
const D: Option<Type> = Some(Type::Double);

pub(super) const FUNCTIONS: &[Function] = &[
    function("abs", (1, 1), Ty::Number, N, Nulls::Spread, |run, arguments| match at(&arguments, 0) {
        Datum::Integer(value) => {
            Ok(Datum::Integer(value.checked_abs().ok_or_else(|| cast::out_of_range(Type::BigInt))?))
        }
        Datum::Numeric(value) => Ok(Datum::Numeric(value.abs())),
        other => Ok(Datum::Double(cast::to_double(other, run.dialect)?.abs())),
    }),
    function("sign", (1, 1), Ty::Number, N, Nulls::Spread, |run, arguments| {
        let value = cast::to_double(at(&arguments, 0), run.dialect)?;
        Ok(Datum::Integer(i64::from(value > 0.0) - i64::from(value < 0.0)))
    }),
    function("ceil", (1, 1), Ty::Number, N, Nulls::Spread, |run, arguments| {
        whole(run, at(&arguments, 0), |value| value.ceil(), f64::ceil)
    }),
    function("ceiling", (1, 1), Ty::Number, N, Nulls::Spread, |run, arguments| {
        whole(run, at(&arguments, 0), |value| value.ceil(), f64::ceil)
    }),
    function("floor", (1, 1), Ty::Number, N, Nulls::Spread, |run, arguments| {
        whole(run, at(&arguments, 0), |value| value.floor(), f64::floor)
    }),
    function("round", (1, 2), Ty::Number, N, Nulls::Spread, |run, arguments| {
        rounded(run, &arguments, RoundingStrategy::MidpointAwayFromZero)
    }),
    function("trunc", (1, 2), Ty::Number, N, Nulls::Spread, |run, arguments| {
        rounded(run, &arguments, RoundingStrategy::ToZero)
    }),
    function("truncate", (2, 2), Ty::Number, N, Nulls::Spread, |run, arguments| {
        rounded(run, &arguments, RoundingStrategy::ToZero)
    }),
    function("mod", (2, 2), Ty::Number, N, Nulls::Spread, |run, mut arguments| {
        let (right, left) = (arguments.pop().unwrap_or(Datum::Null), arguments.pop().unwrap_or(Datum::Null));
        let whole = matches!((&left, &right), (Datum::Integer(_), Datum::Integer(_)));
        let ty = if whole { Type::BigInt } else { Type::Numeric };
        arithmetic::apply(Operator::Modulo, left, right, ty, run.dialect)
    }),
    function("power", (2, 2), Ty::Is(Type::Double), D, Nulls::Spread, power),
    function("pow", (2, 2), Ty::Is(Type::Double), D, Nulls::Spread, power),
    function("sqrt", (1, 1), Ty::Is(Type::Double), D, Nulls::Spread, |run, arguments| real(run, &arguments, f64::sqrt)),
    function("exp", (1, 1), Ty::Is(Type::Double), D, Nulls::Spread, |run, arguments| real(run, &arguments, f64::exp)),
    function("ln", (1, 1), Ty::Is(Type::Double), D, Nulls::Spread, |run, arguments| real(run, &arguments, f64::ln)),
    function("log", (1, 1), Ty::Is(Type::Double), D, Nulls::Spread, |run, arguments| real(run, &arguments, f64::log10)),
    function("pi", (0, 0), Ty::Is(Type::Double), N, Nulls::Spread, |_, _| Ok(Datum::Double(std::f64::consts::PI))),
    function("random", (0, 0), Ty::Is(Type::Double), N, Nulls::Spread, |run, _| Ok(Datum::Double(run.engine.random()))),
    function("rand", (0, 0), Ty::Is(Type::Double), N, Nulls::Spread, |run, _| Ok(Datum::Double(run.engine.random()))),
];

fn power(run: &mut Run<'_>, mut arguments: Vec<Datum>) -> Result<Datum> {
    let (right, left) = (arguments.pop().unwrap_or(Datum::Null), arguments.pop().unwrap_or(Datum::Null));
    arithmetic::apply(Operator::Power, left, right, Type::Double, run.dialect)
}

fn whole(run: &Run<'_>, value: &Datum, decimal: fn(&Decimal) -> Decimal, double: fn(f64) -> f64) -> Result<Datum> {
    Ok(match value {
        Datum::Integer(value) => Datum::Integer(*value),
        Datum::Numeric(value) => Datum::Numeric(decimal(value)),
        other => Datum::Double(double(cast::to_double(other, run.dialect)?)),
    })
}

fn rounded(run: &Run<'_>, arguments: &[Datum], strategy: RoundingStrategy) -> Result<Datum> {
    let digits = match arguments.get(1) {
        Some(digits) => integer(run, digits)?,
        None => 0,
    };
    match at(arguments, 0) {
        Datum::Integer(value) if digits >= 0 => Ok(Datum::Integer(*value)),
        Datum::Double(value) if arguments.len() == 1 => Ok(Datum::Double(if strategy == RoundingStrategy::ToZero {
            value.trunc()
        } else {
            value.round_ties_even()
        })),
        value => {
            let number = cast::to_decimal(value, run.dialect)?;
            let rounded = match u32::try_from(digits) {
                Ok(digits) => {
                    let mut rounded = number.round_dp_with_strategy(digits.min(28), strategy);
                    rounded.rescale(digits.min(28));
                    rounded
                }
                Err(_) => {
                    // Tens and hundreds.
                    let power =
                        Decimal::from(10_i64.checked_pow(u32::try_from(-digits).unwrap_or(18).min(18)).unwrap_or(1));
                    (number / power).round_dp_with_strategy(0, strategy).checked_mul(power).unwrap_or_default()
                }
            };
            match value {
                Datum::Double(_) => cast::cast(Datum::Numeric(rounded), Type::Double, run.dialect),
                Datum::Integer(_) => cast::cast(Datum::Numeric(rounded), Type::BigInt, run.dialect),
                _ => Ok(Datum::Numeric(rounded)),
            }
        }
    }
}

fn real(run: &Run<'_>, arguments: &[Datum], function: fn(f64) -> f64) -> Result<Datum> {
    let value = function(cast::to_double(at(arguments, 0), run.dialect)?);
    if value.is_finite() {
        Ok(Datum::Double(value))
    } else {
        Err(Kind::OutOfRange.error("the function is not defined there"))
    }
}
