//! Expressions: from syntax to places and types.

use sqlparser::ast::{self, BinaryOperator as B, Expr as E, UnaryOperator as U, Value};

use super::scope::{Typed, fold};
use super::{Binder, Comparison, Expr, Operator, SpanOf, parts};
use crate::datum::{Datum, Type};
use crate::engine::Dialect;
use crate::error::{Error, Kind, Result};
use crate::function;
use crate::types::{ColumnType, column_type};

/// How deep expressions may nest, after chains of `AND` and `OR` were made lists.
const DEEPEST: usize = 300;

impl Binder<'_> {
    /// Resolves an expression.
    pub(crate) fn bind(&mut self, syntax: &E) -> Result<Typed> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Kind::TooComplex.error("the expression nests too deeply"));
        }
        let loose = self.loose_columns();
        let bound = self.bind_inner(syntax);
        self.depth -= 1;
        let bound = bound?;
        Ok(self.group_key(&bound.0, loose).unwrap_or(bound))
    }

    fn loose_columns(&self) -> usize {
        let grouping = self.scopes.last().and_then(|scope| scope.grouping.as_ref());
        grouping.map_or(0, |grouping| grouping.loose.len())
    }

    /// If an expression is one that rows are grouped by, its place in the group.
    fn group_key(&mut self, expr: &Expr, loose: usize) -> Option<Typed> {
        let scope = self.scopes.last_mut()?;
        let source = scope.sources.len();
        let grouping = scope.grouping.as_mut().filter(|grouping| !grouping.inside)?;
        if matches!(expr, Expr::Constant(_)) {
            return None;
        }
        let at = grouping.keys.iter().position(|(key, _)| key == expr)?;
        grouping.loose.truncate(loose);
        Some((Expr::Column { depth: 0, source, column: at }, grouping.keys[at].1))
    }

    /// A condition.
    pub(crate) fn bind_condition(&mut self, syntax: &E) -> Result<Expr> {
        let mut typed = self.bind(syntax)?;
        self.settle(&mut typed, Some(Type::Boolean))?;
        self.must_be_truth(&typed)?;
        Ok(typed.0)
    }

    fn must_be_truth(&self, typed: &Typed) -> Result<()> {
        match typed.1 {
            Some(ty) if ty != Type::Boolean && self.dialect == Dialect::PostgreSql => {
                Err(Kind::Datatype
                    .error(format!("argument of a condition must be type boolean, not type {}", ty.name())))
            }
            _ => Ok(()),
        }
    }

    /// An expression that will be assigned to something of this type.
    pub(crate) fn bind_for(&mut self, syntax: &E, ty: Type) -> Result<Expr> {
        let mut typed = self.bind(syntax)?;
        if self.dialect == Dialect::PostgreSql || matches!(typed.0, Expr::Parameter(_)) {
            self.settle(&mut typed, Some(ty))?;
        }
        Ok(typed.0)
    }

    /// Several expressions that become one type: branches of `CASE`, arguments of `COALESCE`.
    pub(super) fn unify(&mut self, all: &mut [Typed]) -> Result<Option<Type>> {
        let mut common = None;
        for (_, ty) in all.iter() {
            common = wider(common, *ty);
        }
        for typed in all {
            self.settle(typed, common)?;
        }
        Ok(common)
    }

    fn bind_inner(&mut self, syntax: &E) -> Result<Typed> {
        let boolean = |expr| Ok((expr, Some(Type::Boolean)));
        match syntax {
            E::Identifier(ident) => self.bind_name(ident),
            E::CompoundIdentifier(idents) => self.bind_path(idents),
            E::Nested(inner) => self.bind(inner),
            E::Value(value) => self.literal(&value.value),
            E::TypedString(typed) => {
                let (spec, _) = column_type(&typed.data_type, self.dialect)?;
                let (value, _) = self.literal(&typed.value.value)?;
                Ok((Expr::Cast(Box::new(value), spec), Some(spec.ty)))
            }
            E::BinaryOp { left, op, right } => self.binary(left, op, right, syntax),
            E::UnaryOp { op, expr } => self.unary(*op, expr),
            E::IsNull(inner) => boolean(Expr::IsNull { expr: self.boxed(inner)?, negated: false }),
            E::IsNotNull(inner) => boolean(Expr::IsNull { expr: self.boxed(inner)?, negated: true }),
            E::IsTrue(inner) => self.is_truth(inner, Some(true), false),
            E::IsNotTrue(inner) => self.is_truth(inner, Some(true), true),
            E::IsFalse(inner) => self.is_truth(inner, Some(false), false),
            E::IsNotFalse(inner) => self.is_truth(inner, Some(false), true),
            E::IsUnknown(inner) => self.is_truth(inner, None, false),
            E::IsNotUnknown(inner) => self.is_truth(inner, None, true),
            E::IsDistinctFrom(left, right) => self.distinct(left, right, false),
            E::IsNotDistinctFrom(left, right) => self.distinct(left, right, true),
            E::Between { expr, negated, low, high } => {
                let mut all = [self.bind(expr)?, self.bind(low)?, self.bind(high)?];
                self.unify(&mut all)?;
                self.comparable(&all[0], &all[1])?;
                self.comparable(&all[0], &all[2])?;
                let [expr, low, high] = all.map(|(expr, _)| Box::new(expr));
                boolean(Expr::Between { expr, low, high, negated: *negated })
            }
            E::InList { expr, list, negated } => self.in_list(expr, list, *negated),
            E::InSubquery { expr, subquery, negated } => self.in_subquery(expr, subquery, *negated),
            E::Exists { subquery, negated } => self.exists(subquery, *negated),
            E::Subquery(query) => self.scalar_subquery(query),
            E::AnyOp { left, compare_op, right, .. } => self.quantified(left, compare_op, right, false),
            E::AllOp { left, compare_op, right } => self.quantified(left, compare_op, right, true),
            E::Like { negated, any: false, expr, pattern, escape_char } => {
                self.like(expr, pattern, escape_char.as_deref(), false, *negated)
            }
            E::ILike { negated, any: false, expr, pattern, escape_char } => {
                self.like(expr, pattern, escape_char.as_deref(), true, *negated)
            }
            E::Case { operand, conditions, else_result, .. } => {
                self.case_when(operand.as_deref(), conditions, else_result.as_deref())
            }
            E::Cast { kind: ast::CastKind::Cast | ast::CastKind::DoubleColon, expr, data_type, .. } => {
                self.cast(expr, data_type)
            }
            E::Convert { expr, data_type: Some(data_type), .. } => self.cast(expr, data_type),
            E::Convert { expr, data_type: None, .. } | E::Collate { expr, .. } => self.bind(expr),
            E::AtTimeZone { timestamp, time_zone } => self.call("timezone", vec![time_zone, timestamp]),
            E::Extract { field, expr, .. } => {
                let field = Datum::from_text(field.to_string().to_lowercase());
                let time = self.bind(expr)?;
                self.call_bound("date_part", vec![(Expr::Constant(field), Some(Type::Text)), time])
            }
            E::Ceil { expr, .. } => self.call("ceil", vec![expr]),
            E::Floor { expr, .. } => self.call("floor", vec![expr]),
            E::Position { expr, r#in } => self.call("position", vec![expr, r#in]),
            E::Substring { expr, substring_from, substring_for, .. } => {
                let mut arguments = vec![self.bind(expr)?];
                match substring_from {
                    Some(from) => arguments.push(self.bind(from)?),
                    None => arguments.push((Expr::Constant(Datum::Integer(1)), Some(Type::Integer))),
                }
                if let Some(length) = substring_for {
                    arguments.push(self.bind(length)?);
                }
                self.call_bound("substring", arguments)
            }
            E::Trim { trim_where, trim_what, expr, trim_characters } => {
                let name = match trim_where {
                    None | Some(ast::TrimWhereField::Both) => "btrim",
                    Some(ast::TrimWhereField::Leading) => "ltrim",
                    Some(ast::TrimWhereField::Trailing) => "rtrim",
                };
                let what = trim_what.as_deref().or(trim_characters.as_deref().and_then(<[E]>::first));
                self.call(name, std::iter::once(&**expr).chain(what).collect())
            }
            E::Function(function) => self.function(function),
            E::Interval(interval) => Err(Error::unsupported(format!("{interval} outside of a sum with a time"))),
            E::Prefixed { value, .. } => self.bind(value),
            E::Tuple(_) => Err(Error::unsupported("a row of values here")),
            E::Array(_) => Err(Error::unsupported("an array")),
            other => Err(Error::unsupported(format!("the expression {}", crate::parse::shorten(&other.to_string())))),
        }
    }

    pub(super) fn boxed(&mut self, syntax: &E) -> Result<Box<Expr>> {
        Ok(Box::new(self.bind(syntax)?.0))
    }

    fn bind_name(&mut self, ident: &ast::Ident) -> Result<Typed> {
        let name = fold(ident);
        if let Some(variable) = name.strip_prefix("@@") {
            return self.variable(variable);
        }
        if ident.quote_style == Some('"') && self.dialect == Dialect::MySql {
            return Ok((Expr::Constant(Datum::from_text(&ident.value)), None));
        }
        let found = self.column(None, &name);
        match found {
            // Some functions are called without parentheses.
            Err(error) if error.code == "42703" && ident.quote_style.is_none() => match name.as_str() {
                "current_user" | "session_user" | "user" | "current_date" | "current_time" | "current_timestamp"
                | "localtime" | "localtimestamp" | "current_catalog" | "current_schema" => self.call(&name, vec![]),
                _ => Err(error),
            },
            found => found,
        }
    }

    fn bind_path(&mut self, idents: &[ast::Ident]) -> Result<Typed> {
        let names: Vec<String> = idents.iter().map(fold).collect();
        match names.as_slice() {
            [scope, name] if scope.starts_with("@@") => self.variable(name),
            // A schema before the table says nothing here.
            [.., table, name] => self.column(Some(table), name),
            _ => Err(Kind::Syntax.error("a column name is missing")),
        }
    }

    /// MySQL's `@@name`.
    fn variable(&mut self, name: &str) -> Result<Typed> {
        let name = (Expr::Constant(Datum::from_text(name)), Some(Type::Text));
        self.call_bound("mysql_variable", vec![name])
    }

    fn literal(&mut self, value: &Value) -> Result<Typed> {
        let text = |text: &str| Ok((Expr::Constant(Datum::from_text(text)), None));
        match value {
            Value::Number(digits, _) => number(digits),
            Value::SingleQuotedString(value)
            | Value::EscapedStringLiteral(value)
            | Value::UnicodeStringLiteral(value)
            | Value::NationalStringLiteral(value)
            | Value::DoubleQuotedString(value) => text(value),
            Value::DollarQuotedString(value) => text(&value.value),
            Value::HexStringLiteral(digits) => {
                let bytes = crate::cast::hex(digits).ok_or_else(|| Kind::Syntax.error("odd hexadecimal digits"))?;
                Ok((Expr::Constant(Datum::Bytes(bytes)), Some(Type::Bytes)))
            }
            Value::Boolean(value) => Ok((Expr::Constant(Datum::Boolean(*value)), Some(Type::Boolean))),
            Value::Null => Ok((Expr::Constant(Datum::Null), None)),
            Value::Placeholder(name) => self.placeholder(name),
            other => Err(Error::unsupported(format!("the literal {other}"))),
        }
    }

    fn placeholder(&mut self, name: &str) -> Result<Typed> {
        const MOST: usize = 65_535;
        let index = match name.strip_prefix('$') {
            Some(digits) => digits.parse::<usize>().ok().filter(|&number| number > 0).map(|number| number - 1),
            None if name == "?" => {
                self.marks += 1;
                Some(self.marks - 1)
            }
            None => None,
        };
        let undefined = || Kind::UndefinedParameter.error(format!("there is no parameter {name}"));
        let index = index.filter(|&index| index < MOST).ok_or_else(undefined)?;
        if self.parameters.len() <= index {
            self.parameters.resize(index + 1, None);
        }
        Ok((Expr::Parameter(index), self.parameters[index]))
    }

    fn unary(&mut self, op: U, syntax: &E) -> Result<Typed> {
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

    fn binary(&mut self, left: &E, op: &B, right: &E, whole: &E) -> Result<Typed> {
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
            B::PGCustomBinaryOperator(path) => {
                return match path.last().map(String::as_str) {
                    Some("=") => self.compare(left, Comparison::Equal, right),
                    Some("~") => Err(Error::unsupported("regular expressions")),
                    _ => Err(Error::unsupported(format!("the operator {op}"))),
                };
            }
            B::PGRegexMatch | B::PGRegexIMatch | B::PGRegexNotMatch | B::PGRegexNotIMatch | B::Regexp => {
                return Err(Error::unsupported("regular expressions"));
            }
            other => return Err(Error::unsupported(format!("the operator {other}"))),
        };
        self.arithmetic(left, operator, right)
    }

    /// `a AND b AND c` is one list; the tree that the parser made of it may be deep.
    fn chain(&mut self, whole: &E, op: &B) -> Result<Typed> {
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

    fn compare(&mut self, left: &E, op: Comparison, right: &E) -> Result<Typed> {
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
    fn compare_rows(&mut self, left: &[E], op: Comparison, right: &[E]) -> Result<Typed> {
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

    fn arithmetic(&mut self, left: &E, op: Operator, right: &E) -> Result<Typed> {
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

    fn result_type(&self, a: Option<Type>, b: Option<Type>, op: Operator) -> Result<Type> {
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
    fn calendar(&mut self, both: [Typed; 2], op: Operator) -> Result<Typed> {
        let name = match (op, both[1].1) {
            (Operator::Add, _) => "date_add_days",
            (Operator::Subtract, Some(ty)) if ty.is_calendar() => "date_difference",
            (Operator::Subtract, _) => "date_subtract_days",
            _ => return Err(Error::unsupported("this operator on dates")),
        };
        self.call_bound(name, both.into())
    }

    /// `time + INTERVAL '1 day'`.
    fn shifted_time(&mut self, left: &E, op: Operator, right: &E) -> Result<Option<Typed>> {
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

    fn is_truth(&mut self, inner: &E, truth: Option<bool>, negated: bool) -> Result<Typed> {
        let expr = Box::new(self.bind_condition(inner)?);
        Ok((Expr::IsTruth { expr, truth, negated }, Some(Type::Boolean)))
    }

    fn distinct(&mut self, left: &E, right: &E, negated: bool) -> Result<Typed> {
        let mut both = [self.bind(left)?, self.bind(right)?];
        self.unify(&mut both)?;
        self.comparable(&both[0], &both[1])?;
        let [left, right] = both.map(|(expr, _)| Box::new(expr));
        Ok((Expr::Distinct { left, right, negated }, Some(Type::Boolean)))
    }

    fn in_list(&mut self, expr: &E, list: &[E], negated: bool) -> Result<Typed> {
        if let Some(left) = tuple(expr) {
            let mut alternatives = Vec::new();
            for entry in list {
                let right =
                    tuple(entry).ok_or_else(|| Kind::Syntax.error("a row of values is expected in the list"))?;
                alternatives.push(self.compare_rows(left, Comparison::Equal, right)?.0);
            }
            let any = Expr::Or(alternatives);
            return Ok((if negated { Expr::Not(Box::new(any)) } else { any }, Some(Type::Boolean)));
        }
        let mut all = vec![self.bind(expr)?];
        for entry in list {
            all.push(self.bind(entry)?);
        }
        self.unify(&mut all)?;
        for entry in &all[1..] {
            self.comparable(&all[0], entry)?;
        }
        let mut all = all.into_iter().map(|(expr, _)| expr);
        let expr = Box::new(all.next().unwrap_or(Expr::Constant(Datum::Null)));
        Ok((Expr::InList { expr, list: all.collect(), negated }, Some(Type::Boolean)))
    }

    fn like(&mut self, expr: &E, pattern: &E, escape: Option<&E>, insensitive: bool, negated: bool) -> Result<Typed> {
        let escape = match escape {
            None => Some('\\'),
            Some(E::Value(value)) => match &value.value {
                Value::SingleQuotedString(text) if text.chars().count() <= 1 => text.chars().next(),
                _ => return Err(Kind::Escape.error("invalid escape string")),
            },
            Some(_) => return Err(Error::unsupported("an escape character that is not a constant")),
        };
        let mut both = [self.bind(expr)?, self.bind(pattern)?];
        for typed in &mut both {
            self.settle(typed, Some(Type::Text))?;
        }
        if self.dialect == Dialect::PostgreSql && both.iter().any(|(_, ty)| ty.is_some_and(|ty| ty != Type::Text)) {
            return Err(Kind::UndefinedFunction.error("operator does not exist: LIKE is for texts"));
        }
        // MySQL's collations take no notice of case, but = does here; so LIKE does, too.
        let [expr, pattern] = both.map(|(expr, _)| Box::new(expr));
        Ok((Expr::Like { expr, pattern, escape, insensitive, negated }, Some(Type::Boolean)))
    }

    pub(super) fn case_when(
        &mut self,
        operand: Option<&E>,
        conditions: &[ast::CaseWhen],
        otherwise: Option<&E>,
    ) -> Result<Typed> {
        let mut tests = Vec::new();
        if let Some(operand) = operand {
            tests.push(self.bind(operand)?);
        }
        let mut results = Vec::new();
        for branch in conditions {
            match operand {
                Some(_) => tests.push(self.bind(&branch.condition)?),
                None => tests.push((self.bind_condition(&branch.condition)?, Some(Type::Boolean))),
            }
            results.push(self.bind(&branch.result)?);
        }
        if let Some(otherwise) = otherwise {
            results.push(self.bind(otherwise)?);
        }
        self.unify(&mut tests)?;
        let ty = self.unify(&mut results)?;
        let mut tests = tests.into_iter().map(|(expr, _)| expr);
        let mut results = results.into_iter().map(|(expr, _)| expr);
        let operand = operand.and_then(|_| tests.next()).map(Box::new);
        let branches: Vec<(Expr, Expr)> = tests.zip(results.by_ref().take(conditions.len())).collect();
        let otherwise = results.next().map(Box::new);
        Ok((Expr::Case { operand, branches, otherwise }, ty))
    }

    fn cast(&mut self, expr: &E, data_type: &ast::DataType) -> Result<Typed> {
        let (spec, _) = column_type(data_type, self.dialect)?;
        let mut typed = self.bind(expr)?;
        // A parameter that is cast has the type of the cast.
        if matches!(typed.0, Expr::Parameter(_)) {
            self.settle(&mut typed, Some(spec.ty))?;
        }
        Ok((Expr::Cast(Box::new(typed.0), spec), Some(spec.ty)))
    }

    /// Calls a function of our own by its name.
    pub(super) fn call(&mut self, name: &str, arguments: Vec<&E>) -> Result<Typed> {
        let bound = arguments.into_iter().map(|argument| self.bind(argument)).collect::<Result<_>>()?;
        self.call_bound(name, bound)
    }

    pub(super) fn call_bound(&mut self, name: &str, mut arguments: Vec<Typed>) -> Result<Typed> {
        let types: Vec<Option<Type>> = arguments.iter().map(|(_, ty)| *ty).collect();
        let function = function::find(name, arguments.len()).ok_or_else(|| {
            let types: Vec<&str> = types.iter().map(|ty| ty.map_or("unknown", Type::name)).collect();
            Kind::UndefinedFunction.error(format!("function {name}({}) does not exist", types.join(", ")))
        })?;
        if function.unifies() {
            self.unify(&mut arguments)?;
        }
        for (index, typed) in arguments.iter_mut().enumerate() {
            self.settle(typed, function.argument(index))?;
        }
        let types: Vec<Option<Type>> = arguments.iter().map(|(_, ty)| *ty).collect();
        let ty = function.result(&types);
        Ok((Expr::Call(function, arguments.into_iter().map(|(expr, _)| expr).collect()), ty))
    }

    fn function(&mut self, call: &ast::Function) -> Result<Typed> {
        let name = parts(&call.name)?.pop().unwrap_or_default();
        if call.over.is_some() {
            return Err(Error::unsupported(format!("the window function {name}")));
        }
        if let Some(kind) = super::AggregateKind::of(&name) {
            return self.aggregate(kind, call);
        }
        let mut arguments = Vec::new();
        if let ast::FunctionArguments::List(list) = &call.args {
            for argument in &list.args {
                match argument {
                    ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(argument)) => arguments.push(argument),
                    other => return Err(Error::unsupported(format!("the argument {other} of {name}"))),
                }
            }
        } else if let ast::FunctionArguments::Subquery(query) = &call.args {
            return Err(Error::unsupported(format!("{name}({query})")));
        }
        match (name.as_str(), arguments.as_slice()) {
            ("values", [E::Identifier(column)]) if self.proposed.is_some() => {
                let source = self.proposed.unwrap_or_default();
                self.proposed_column(source, &fold(column))
            }
            ("if", [condition, then, otherwise]) => {
                let branch = ast::CaseWhen { condition: (*condition).clone(), result: (*then).clone() };
                self.case_when(None, &[branch], Some(otherwise))
            }
            ("date_add" | "adddate", [time, E::Interval(interval)]) => self.time_plus(time, interval, Operator::Add),
            ("date_sub" | "subdate", [time, E::Interval(interval)]) => {
                self.time_plus(time, interval, Operator::Subtract)
            }
            _ => self.call(&name, arguments),
        }
    }

    fn time_plus(&mut self, time: &E, interval: &ast::Interval, op: Operator) -> Result<Typed> {
        let interval = E::Interval(interval.clone());
        self.shifted_time(time, op, &interval)?.ok_or_else(|| Error::unsupported("this interval"))
    }

    fn proposed_column(&mut self, source: usize, name: &str) -> Result<Typed> {
        let columns = self.scopes.last().and_then(|scope| scope.sources.get(source)).map(|named| &named.columns);
        let found = columns
            .and_then(|columns| columns.iter().position(|(known, _)| known == name).map(|at| (at, columns[at].1)));
        let (column, ty) =
            found.ok_or_else(|| Kind::UndefinedColumn.error(format!("column \"{name}\" does not exist")))?;
        Ok((Expr::Column { depth: 0, source, column }, Some(ty)))
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

/// A number is an integer if it looks like one and fits, a decimal fraction otherwise, and floating point if it has an exponent that
/// the decimals cannot hold.
fn number(digits: &str) -> Result<Typed> {
    if let Ok(value) = digits.parse::<i64>() {
        let ty = if i32::try_from(value).is_ok() { Type::Integer } else { Type::BigInt };
        return Ok((Expr::Constant(Datum::Integer(value)), Some(ty)));
    }
    let decimal = digits.parse().or_else(|_| rust_decimal::Decimal::from_scientific(digits));
    if let Ok(value) = decimal {
        return Ok((Expr::Constant(Datum::Numeric(value)), Some(Type::Numeric)));
    }
    let value = digits.parse::<f64>().ok().filter(|value| value.is_finite());
    let value = value
        .ok_or_else(|| Kind::OutOfRange.error(format!("\"{}\" is out of range", crate::parse::shorten(digits))))?;
    Ok((Expr::Constant(Datum::Double(value)), Some(Type::Double)))
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
