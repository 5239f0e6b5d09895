//! What is the value of an expression, for a row?
//!
//! Logic has three values; a condition holds only if it is true. Recursion is as deep as the expression, which planning bounds.

use std::cmp::Ordering;

use jiff::civil::{DateTime, Time};

use super::{Frames, Run, Slot};
use crate::arithmetic;
use crate::cast;
use crate::datum::{Datum, Type};
use crate::engine::Dialect;
use crate::error::{Error, Kind, Result};
use crate::order::compare;
use crate::plan::{Comparison, Expr};

impl Run<'_> {
    /// The value of an expression.
    pub(crate) fn evaluate(&mut self, expr: &Expr, frames: &Frames<'_>) -> Result<Datum> {
        match expr {
            Expr::Constant(datum) => Ok(datum.clone()),
            Expr::Parameter(index) => self
                .parameters
                .get(*index)
                .cloned()
                .ok_or_else(|| Kind::UndefinedParameter.error(format!("there is no parameter ${}", index + 1))),
            Expr::Column { depth, source, column } => self.column(*depth, *source, *column, frames),
            Expr::And(all) => self.all(all, frames, false),
            Expr::Or(all) => self.all(all, frames, true),
            Expr::Not(inner) => Ok(truth(self.condition(inner, frames)?.map(|value| !value))),
            Expr::Compare { op, left, right } => {
                let left = self.evaluate(left, frames)?;
                let right = self.evaluate(right, frames)?;
                Ok(truth(compared(*op, &left, &right, self.dialect)?))
            }
            Expr::Arithmetic { op, left, right, ty } => {
                let left = self.evaluate(left, frames)?;
                let right = self.evaluate(right, frames)?;
                arithmetic::apply(*op, left, right, *ty, self.dialect)
            }
            Expr::Negate(inner) => arithmetic::negate(self.evaluate(inner, frames)?, self.dialect),
            Expr::IsNull { expr, negated } => Ok(Datum::Boolean(self.evaluate(expr, frames)?.is_null() != *negated)),
            Expr::IsTruth { expr, truth, negated } => {
                Ok(Datum::Boolean((self.condition(expr, frames)? == *truth) != *negated))
            }
            Expr::Distinct { left, right, negated } => {
                let left = self.evaluate(left, frames)?;
                let right = self.evaluate(right, frames)?;
                let same = match (left.is_null(), right.is_null()) {
                    (true, true) => true,
                    (false, false) => compared(Comparison::Equal, &left, &right, self.dialect)? == Some(true),
                    _ => false,
                };
                Ok(Datum::Boolean(same == *negated))
            }
            Expr::Between { expr, low, high, negated } => self.between(expr, low, high, *negated, frames),
            Expr::InList { expr, list, negated } => self.in_list(expr, list, *negated, frames),
            Expr::Like { expr, pattern, escape, insensitive, negated } => {
                let text = self.evaluate(expr, frames)?;
                let pattern = self.evaluate(pattern, frames)?;
                if text.is_null() || pattern.is_null() {
                    return Ok(Datum::Null);
                }
                let (text, pattern) = (text.text(self.dialect), pattern.text(self.dialect));
                let found = match insensitive {
                    true => crate::like::matches(&text.to_lowercase(), &pattern.to_lowercase(), *escape)?,
                    false => crate::like::matches(&text, &pattern, *escape)?,
                };
                Ok(Datum::Boolean(found != *negated))
            }
            Expr::Matches { expr, pattern, insensitive, negated } => {
                let text = self.evaluate(expr, frames)?;
                let pattern = self.evaluate(pattern, frames)?;
                if text.is_null() || pattern.is_null() {
                    return Ok(Datum::Null);
                }
                let (text, pattern) = (text.text(self.dialect), pattern.text(self.dialect));
                Ok(Datum::Boolean(crate::like::matches_regex(&text, &pattern, *insensitive)? != *negated))
            }
            Expr::Case { operand, branches, otherwise } => {
                self.case(operand.as_deref(), branches, otherwise.as_deref(), frames)
            }
            Expr::Cast(inner, spec) => {
                let value = self.evaluate(inner, frames)?;
                // A cast to a short text cuts it; storing one does not.
                match (spec.length, cast::cast(value, spec.ty, self.dialect)?) {
                    (Some(length), Datum::Text(text)) => {
                        Ok(Datum::Text(text.chars().take(length as usize).collect::<String>().into()))
                    }
                    (_, value) => cast::store(value, spec, self.dialect),
                }
            }
            Expr::AddSpan { time, span, negated } => self.add_span(time, span.0, *negated, frames),
            Expr::Call(function, arguments) => {
                let mut values = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    let value = self.evaluate(argument, frames)?;
                    if function.stops_at(&value) {
                        return Ok(value);
                    }
                    values.push(value);
                }
                function.call(values, self)
            }
            Expr::Subquery(subquery) => self.subquery(subquery, frames),
        }
    }

    /// Whether a condition holds; `None` if that is unknown.
    pub(crate) fn condition(&mut self, expr: &Expr, frames: &Frames<'_>) -> Result<Option<bool>> {
        match self.evaluate(expr, frames)? {
            Datum::Null => Ok(None),
            Datum::Boolean(value) => Ok(Some(value)),
            other => cast::to_boolean(&other, self.dialect).map(Some),
        }
    }

    /// Whether all conditions hold for sure. What follows one that does not is not evaluated, so its cells are not read.
    pub(crate) fn holds(&mut self, conditions: &[Expr], frames: &Frames<'_>) -> Result<bool> {
        for condition in conditions {
            if self.condition(condition, frames)? != Some(true) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn column(&mut self, depth: usize, source: usize, column: usize, frames: &Frames<'_>) -> Result<Datum> {
        let mut frame = frames;
        for _ in 0..depth {
            frame = frame.outer.ok_or_else(out_of_place)?;
        }
        match frame.slots.get(source).ok_or_else(out_of_place)? {
            Slot::Missing => Ok(Datum::Null),
            Slot::Values(values) => values.get(column).cloned().ok_or_else(out_of_place),
            Slot::Stored(row) => {
                let row = std::rc::Rc::clone(row);
                self.cell(&row, column)
            }
        }
    }

    /// `AND`, or with `decisive` true `OR`: the first decisive value decides, and unknown ones leave it unknown.
    fn all(&mut self, all: &[Expr], frames: &Frames<'_>, decisive: bool) -> Result<Datum> {
        let mut unknown = false;
        for part in all {
            match self.condition(part, frames)? {
                Some(value) if value == decisive => return Ok(Datum::Boolean(decisive)),
                Some(_) => {}
                None => unknown = true,
            }
        }
        Ok(if unknown { Datum::Null } else { Datum::Boolean(!decisive) })
    }

    fn between(&mut self, expr: &Expr, low: &Expr, high: &Expr, negated: bool, frames: &Frames<'_>) -> Result<Datum> {
        let value = self.evaluate(expr, frames)?;
        let low = self.evaluate(low, frames)?;
        let high = self.evaluate(high, frames)?;
        let above = compared(Comparison::GreaterOrEqual, &value, &low, self.dialect)?;
        let below = compared(Comparison::LessOrEqual, &value, &high, self.dialect)?;
        let inside = match (above, below) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        };
        Ok(truth(inside.map(|inside| inside != negated)))
    }

    fn in_list(&mut self, expr: &Expr, list: &[Expr], negated: bool, frames: &Frames<'_>) -> Result<Datum> {
        let value = self.evaluate(expr, frames)?;
        let mut unknown = false;
        for entry in list {
            let entry = self.evaluate(entry, frames)?;
            match compared(Comparison::Equal, &value, &entry, self.dialect)? {
                Some(true) => return Ok(Datum::Boolean(!negated)),
                Some(false) => {}
                None => unknown = true,
            }
        }
        Ok(if unknown { Datum::Null } else { Datum::Boolean(negated) })
    }

    fn case(
        &mut self,
        operand: Option<&Expr>,
        branches: &[(Expr, Expr)],
        otherwise: Option<&Expr>,
        frames: &Frames<'_>,
    ) -> Result<Datum> {
        let operand = operand.map(|operand| self.evaluate(operand, frames)).transpose()?;
        for (test, result) in branches {
            let chosen = match &operand {
                Some(operand) => {
                    let test = self.evaluate(test, frames)?;
                    compared(Comparison::Equal, operand, &test, self.dialect)?
                }
                None => self.condition(test, frames)?,
            };
            if chosen == Some(true) {
                return self.evaluate(result, frames);
            }
        }
        otherwise.map_or(Ok(Datum::Null), |otherwise| self.evaluate(otherwise, frames))
    }

    fn add_span(&mut self, time: &Expr, span: jiff::Span, negated: bool, frames: &Frames<'_>) -> Result<Datum> {
        let time = match self.evaluate(time, frames)? {
            Datum::Null => return Ok(Datum::Null),
            Datum::Timestamp(time) => time,
            Datum::Date(date) => DateTime::from_parts(date, Time::midnight()),
            other => match cast::cast(other, Type::Timestamp, self.dialect)? {
                Datum::Timestamp(time) => time,
                _ => return Ok(Datum::Null),
            },
        };
        crate::time::add_span(time, span, negated).map(Datum::Timestamp)
    }
}

/// Planning only makes places that exist, but for columns in places that have no row: `LIMIT x`.
fn out_of_place() -> Error {
    Kind::UndefinedColumn.error("a column is used where there is no row")
}

pub(super) fn truth(value: Option<bool>) -> Datum {
    value.map_or(Datum::Null, Datum::Boolean)
}

/// Compares two values; `None` if one is `NULL`. Values of types without a common order are converted, if the dialect does that.
pub(super) fn compared(op: Comparison, left: &Datum, right: &Datum, dialect: Dialect) -> Result<Option<bool>> {
    if left.is_null() || right.is_null() {
        return Ok(None);
    }
    let order = match compare(left, right) {
        Some(order) => order,
        None => converted(left, right, dialect)?,
    };
    Ok(Some(match op {
        Comparison::Equal => order == Ordering::Equal,
        Comparison::NotEqual => order != Ordering::Equal,
        Comparison::Less => order == Ordering::Less,
        Comparison::LessOrEqual => order != Ordering::Greater,
        Comparison::Greater => order == Ordering::Greater,
        Comparison::GreaterOrEqual => order != Ordering::Less,
    }))
}

fn converted(left: &Datum, right: &Datum, dialect: Dialect) -> Result<Ordering> {
    let common = match (left, right) {
        (Datum::Text(_), Datum::Bytes(_)) | (Datum::Bytes(_), Datum::Text(_)) => Type::Text,
        (Datum::Date(_) | Datum::Timestamp(_), Datum::Text(_))
        | (Datum::Text(_), Datum::Date(_) | Datum::Timestamp(_)) => Type::Timestamp,
        (Datum::Time(_), Datum::Text(_)) | (Datum::Text(_), Datum::Time(_)) => Type::Time,
        (Datum::Boolean(_), Datum::Text(_)) | (Datum::Text(_), Datum::Boolean(_)) if dialect == Dialect::PostgreSql => {
            Type::Boolean
        }
        (Datum::Text(_), Datum::Integer(_) | Datum::Numeric(_))
        | (Datum::Integer(_) | Datum::Numeric(_), Datum::Text(_))
            if dialect == Dialect::PostgreSql =>
        {
            Type::Numeric
        }
        _ => Type::Double,
    };
    let left = cast::cast(left.clone(), common, dialect)?;
    let right = cast::cast(right.clone(), common, dialect)?;
    compare(&left, &right).ok_or_else(|| Kind::Datatype.error("these values cannot be compared"))
}
