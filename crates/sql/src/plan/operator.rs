//! Operators: comparisons, arithmetic, logic, and the types they have.

use sqlparser::ast::{self, BinaryOperator as B, Expr as E, UnaryOperator as U, Value};

use super::scope::Typed;
use super::{Binder, Comparison, Expr, Operator, SpanOf};
use crate::datum::{Datum, Type};
use crate::engine::Dialect;
use crate::error::{Error, Kind, Result};
use crate::types::ColumnType;

impl Binder<'_> {
    pub(super) fn unary(&mut self, op: U, syntax: &E) -> Result<Typed> {
        let mut typed = self.bind(syntax)?;
        match op {
            U::Not | U::BangNot => {
                self.settle(&mut typed, Some(Type::Boolean))?;
                self.must_be_truth(&typed)?;
                Ok((Expr::Not(Box::new(typed.0)), Some(Type::Boolean)))
            }
            U::Plus => Ok(typed),
            U::Minus => match typed {
                (Expr::Constant(Datum::Numeric(value)), _)
                    if value == rust_decimal::Decimal::from(i64::MAX) + rust_decimal::Decimal::ONE =>
                {
                    Ok((Expr::Constant(Datum::Integer(i64::MIN)), Some(Type::BigInt)))
                }
                (Expr::Constant(Datum::Integer(value)), ty) => Ok((
                    Expr::Constant(Datum::Integer(
                        value.checked_neg().ok_or_else(|| crate::cast::out_of_range(Type::BigInt))?,
                    )),
                    ty,
                )),
                (expr, ty) => Ok((Expr::Negate(Box::new(expr)), ty.or(Some(Type::Double)))),
            },
            U::BitwiseNot => {
                let minus_one = Expr::Constant(Datum::Integer(-1));
                let ty = typed.1.unwrap_or(Type::BigInt);
                let (left, right) = (Box::new(typed.0), Box::new(minus_one));
                Ok((Expr::Arithmetic { op: Operator::BitXor, left, right, ty }, Some(ty)))
            }
            other => Err(Error::unsupported(format!("the operator {other}"))),
        }
    }

    pub(super) fn binary(&mut self, left: &E, op: &B, right: &E, whole: &E) -> Result<Typed> {
        if let Some(comparison) = comparison(op) {
            return self.compare(left, comparison, right);
        }
        let operator = match op {
            B::And | B::Or => return self.chain(whole, op),
            B::Plus => Operator::Add,
            B::Minus => Operator::Subtract,
            B::Multiply => Operator::Multiply,
            B::Divide => Operator::Divide,
            B::MyIntegerDivide => Operator::DivideWhole,
            B::Modulo => Operator::Modulo,
            B::BitwiseAnd => Operator::BitAnd,
            B::BitwiseOr => Operator::BitOr,
            B::PGBitwiseXor => Operator::BitXor,
            B::BitwiseXor if self.dialect == Dialect::MySql => Operator::BitXor,
            B::PGBitwiseShiftLeft => Operator::ShiftLeft,
            B::PGBitwiseShiftRight => Operator::ShiftRight,
            B::PGExp | B::BitwiseXor => Operator::Power,
            B::StringConcat if self.dialect == Dialect::MySql => return self.chain(whole, &B::Or),
            B::StringConcat => return self.call("textcat", vec![left, right]),
            B::Spaceship => return self.distinct(left, right, true),
            B::Xor => {
                let mut both = [self.bind(left)?, self.bind(right)?];
                self.unify(&mut both)?;
                let [left, right] = both.map(|(expr, _)| {
                    Box::new(Expr::IsTruth { expr: Box::new(expr), truth: Some(true), negated: false })
                });
                return Ok((Expr::Distinct { left, right, negated: false }, Some(Type::Boolean)));
            }
            B::PGLikeMatch => return self.like(left, right, None, false, false),
            B::PGNotLikeMatch => return self.like(left, right, None, false, true),
            B::PGILikeMatch => return self.like(left, right, None, true, false),
            B::PGNotILikeMatch => return self.like(left, right, None, true, true),
            B::PGRegexMatch | B::Regexp => return self.regex(left, right, false, false),
            B::PGRegexIMatch => return self.regex(left, right, true, false),
            B::PGRegexNotMatch => return self.regex(left, right, false, true),
            B::PGRegexNotIMatch => return self.regex(left, right, true, true),
            B::PGCustomBinaryOperator(path) => {
                return match path.last().map(String::as_str) {
                    Some("=") => self.compare(left, Comparison::Equal, right),
                    Some("~") => self.regex(left, right, false, false),
                    Some("!~") => self.regex(left, right, false, true),
                    _ => Err(Error::unsupported(format!("the operator {op}"))),
                };
            }
            other => return Err(Error::unsupported(format!("the operator {other}"))),
        };
        self.arithmetic(left, operator, right)
    }

    /// `a AND b AND c` is one list; the tree that the parser made of it may be deep.
    pub(super) fn chain(&mut self, whole: &E, op: &B) -> Result<Typed> {
        let mut operands = Vec::new();
        let mut current = whole;
        let same =
            |found: &B| found == op || (*op == B::Or && self.dialect == Dialect::MySql && *found == B::StringConcat);
        while let E::BinaryOp { left, op: found, right } = current
            && same(found)
        {
            operands.push(&**right);
            current = left;
        }
        operands.push(current);
        let all: Vec<Expr> =
            operands.into_iter().rev().map(|operand| self.bind_condition(operand)).collect::<Result<_>>()?;
        let expr = if *op == B::And { Expr::And(all) } else { Expr::Or(all) };
        Ok((expr, Some(Type::Boolean)))
    }

    pub(super) fn compare(&mut self, left: &E, op: Comparison, right: &E) -> Result<Typed> {
        if let (Some(left), Some(right)) = (tuple(left), tuple(right)) {
            return self.compare_rows(left, op, right);
        }
        let mut both = [self.bind(left)?, self.bind(right)?];
        self.unify(&mut both)?;
        self.comparable(&both[0], &both[1])?;
        let [left, right] = both.map(|(expr, _)| Box::new(expr));
        Ok((Expr::Compare { op, left, right }, Some(Type::Boolean)))
    }

    /// `(a, b) = (c, d)`; for the other comparisons, what they mean in terms of columns.
    pub(super) fn compare_rows(&mut self, left: &[E], op: Comparison, right: &[E]) -> Result<Typed> {
        if left.len() != right.len() || left.is_empty() {
            return Err(Kind::Syntax.error("unequal number of entries in row expressions"));
        }
        let mut equal = Vec::new();
        let mut alternatives = Vec::new();
        for (left, right) in left.iter().zip(right) {
            if !matches!(op, Comparison::Equal | Comparison::NotEqual) {
                let strict = match op {
                    Comparison::LessOrEqual => Comparison::Less,
                    Comparison::GreaterOrEqual => Comparison::Greater,
                    other => other,
                };
                let mut step: Vec<Expr> = equal.clone();
                step.push(self.compare(left, strict, right)?.0);
                alternatives.push(Expr::And(step));
            }
            equal.push(self.compare(left, Comparison::Equal, right)?.0);
        }
        let expr = match op {
            Comparison::Equal => Expr::And(equal),
            Comparison::NotEqual => Expr::Not(Box::new(Expr::And(equal))),
            Comparison::Less | Comparison::Greater => Expr::Or(alternatives),
            Comparison::LessOrEqual | Comparison::GreaterOrEqual => {
                alternatives.push(Expr::And(equal));
                Expr::Or(alternatives)
            }
        };
        Ok((expr, Some(Type::Boolean)))
    }

    /// PostgreSQL has no order between texts and numbers; MySQL makes numbers of texts.
    pub(super) fn comparable(&self, left: &Typed, right: &Typed) -> Result<()> {
        let (Some(a), Some(b)) = (left.1, right.1) else { return Ok(()) };
        let kind = |ty: Type| match ty {
            _ if ty.is_number() => 0,
            _ if ty.is_calendar() => 1,
            Type::Boolean => 2,
            Type::Text => 3,
            Type::Bytes => 4,
            _ => 5,
        };
        if self.dialect == Dialect::MySql || kind(a) == kind(b) {
            return Ok(());
        }
        let message = format!("operator does not exist: {} = {}", a.name(), b.name());
        Err(Kind::UndefinedFunction.error(message).hint("You might need to add explicit type casts."))
    }

    pub(super) fn arithmetic(&mut self, left: &E, op: Operator, right: &E) -> Result<Typed> {
        if let Some(found) = self.shifted_time(left, op, right)? {
            return Ok(found);
        }
        let mut both = [self.bind(left)?, self.bind(right)?];
        if let [(_, Some(a)), (_, b)] = &both
            && a.is_calendar()
            && b.is_none_or(|b| b.is_calendar() || b.is_integer())
        {
            return self.calendar(both, op);
        }
        if let [(_, a), (_, Some(b))] = &both
            && op == Operator::Add
            && b.is_calendar()
            && a.is_none_or(Type::is_integer)
        {
            both.swap(0, 1);
            return self.calendar(both, op);
        }
        self.unify(&mut both)?;
        let ty = self.result_type(both[0].1, both[1].1, op)?;
        let [left, right] = both.map(|(expr, _)| Box::new(expr));
        Ok((Expr::Arithmetic { op, left, right, ty }, Some(ty)))
    }

    pub(super) fn result_type(&self, a: Option<Type>, b: Option<Type>, op: Operator) -> Result<Type> {
        let number = |ty: Option<Type>| match ty {
            Some(Type::Text | Type::Boolean) if self.dialect == Dialect::MySql => Some(Type::Double),
            other => other,
        };
        let common = match (number(a), number(b)) {
            (None, None) => Type::Integer,
            (a, b) => match wider(a, b) {
                Some(ty) if ty.is_number() => ty,
                _ => {
                    let name = |ty: Option<Type>| ty.map_or("unknown", Type::name);
                    let message = format!("operator does not exist: {} and {}", name(a), name(b));
                    return Err(Kind::UndefinedFunction.error(message));
                }
            },
        };
        Ok(match op {
            Operator::Power => Type::Double,
            Operator::Divide if self.dialect == Dialect::MySql && common != Type::Double => Type::Numeric,
            Operator::DivideWhole => Type::BigInt,
            _ if self.dialect == Dialect::MySql && common.is_integer() => Type::BigInt,
            _ => common,
        })
    }

    /// A date and a number of days, or two dates.
    pub(super) fn calendar(&mut self, both: [Typed; 2], op: Operator) -> Result<Typed> {
        let name = match (op, both[1].1) {
            (Operator::Add, _) => "date_add_days",
            (Operator::Subtract, Some(ty)) if ty.is_calendar() => "date_difference",
            (Operator::Subtract, _) => "date_subtract_days",
            _ => return Err(Error::unsupported("this operator on dates")),
        };
        self.call_bound(name, both.into())
    }

    /// `time + INTERVAL '1 day'`.
    pub(super) fn shifted_time(&mut self, left: &E, op: Operator, right: &E) -> Result<Option<Typed>> {
        let (time, interval, negated) = match (left, op, right) {
            (time, Operator::Add, E::Interval(interval)) | (E::Interval(interval), Operator::Add, time) => {
                (time, interval, false)
            }
            (time, Operator::Subtract, E::Interval(interval)) => (time, interval, true),
            _ => return Ok(None),
        };
        let span = self.span(interval)?;
        let (time, ty) = self.bind(time)?;
        let ty = match ty {
            Some(Type::TimestampTz) => Type::TimestampTz,
            Some(Type::Date) if self.dialect == Dialect::MySql => Type::Date,
            _ => Type::Timestamp,
        };
        let shifted = Expr::AddSpan { time: Box::new(time), span, negated };
        Ok(Some((Expr::Cast(Box::new(shifted), ColumnType::plain(ty)), Some(ty))))
    }

    pub(super) fn span(&mut self, interval: &ast::Interval) -> Result<SpanOf> {
        let text = match &*interval.value {
            E::Value(value) => match &value.value {
                Value::Number(digits, _) => digits.clone(),
                Value::SingleQuotedString(text) => text.clone(),
                other => return Err(Error::unsupported(format!("an interval of {other}"))),
            },
            E::UnaryOp { op: U::Minus, expr } => format!("-{expr}"),
            _ => return Err(Error::unsupported("an interval that is not a constant")),
        };
        let span = match &interval.leading_field {
            Some(field) => crate::time::parse_interval(&format!("{} {field}", text.trim()))?,
            None => crate::time::parse_interval(&text)?,
        };
        Ok(SpanOf(span))
    }

    pub(super) fn distinct(&mut self, left: &E, right: &E, negated: bool) -> Result<Typed> {
        let mut both = [self.bind(left)?, self.bind(right)?];
        self.unify(&mut both)?;
        self.comparable(&both[0], &both[1])?;
        let [left, right] = both.map(|(expr, _)| Box::new(expr));
        Ok((Expr::Distinct { left, right, negated }, Some(Type::Boolean)))
    }
}

/// The values of `(a, b)`.
pub(super) fn tuple(syntax: &E) -> Option<&[E]> {
    match syntax {
        E::Tuple(values) => Some(values),
        _ => None,
    }
}

/// The comparison that an operator is.
pub(super) fn comparison(op: &B) -> Option<Comparison> {
    Some(match op {
        B::Eq => Comparison::Equal,
        B::NotEq => Comparison::NotEqual,
        B::Lt => Comparison::Less,
        B::LtEq => Comparison::LessOrEqual,
        B::Gt => Comparison::Greater,
        B::GtEq => Comparison::GreaterOrEqual,
        _ => return None,
    })
}

/// The type that both become: the wider of two numbers, a timestamp rather than a date. Otherwise the first.
pub(super) fn wider(a: Option<Type>, b: Option<Type>) -> Option<Type> {
    let (Some(x), Some(y)) = (a, b) else { return a.or(b) };
    let rank = |ty: Type| match ty {
        Type::SmallInt => 1,
        Type::Integer => 2,
        Type::BigInt => 3,
        Type::Numeric => 4,
        Type::Double => 5,
        Type::Date => 11,
        Type::Timestamp => 12,
        Type::TimestampTz => 13,
        _ => 0,
    };
    let family = |ty: Type| rank(ty) / 10;
    if rank(x) == 0 || rank(y) == 0 || family(x) != family(y) {
        return Some(x);
    }
    Some(if rank(x) >= rank(y) { x } else { y })
}
