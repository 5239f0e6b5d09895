//! Expressions: from syntax to places and types.

use sqlparser::ast::{self, Expr as E, Value};

use super::operator::{tuple, wider};
use super::scope::{Typed, fold};
use super::{Binder, Comparison, Expr};
use crate::datum::{Datum, Type};
use crate::engine::Dialect;
use crate::error::{Error, Kind, Result};
use crate::types::column_type;

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

    pub(super) fn loose_columns(&self) -> usize {
        let grouping = self.scopes.last().and_then(|scope| scope.grouping.as_ref());
        grouping.map_or(0, |grouping| grouping.loose.len())
    }

    /// If an expression is one that rows are grouped by, its place in the group.
    pub(super) fn group_key(&mut self, expr: &Expr, loose: usize) -> Option<Typed> {
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

    pub(super) fn must_be_truth(&self, typed: &Typed) -> Result<()> {
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

    pub(super) fn bind_inner(&mut self, syntax: &E) -> Result<Typed> {
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
            E::RLike { negated, expr, pattern, regexp: _ } => self.regex(expr, pattern, false, *negated),
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

    pub(super) fn bind_name(&mut self, ident: &ast::Ident) -> Result<Typed> {
        let name = fold(ident);
        if let Some(variable) = name.strip_prefix("@@") {
            return self.variable(variable);
        }
        if ident.quote_style == Some('"') && self.dialect == Dialect::MySql {
            return Ok((Expr::Constant(Datum::from_text(&ident.value)), None));
        }
        let found = self.column(None, &name);
        let alias = self.scopes.last().and_then(|scope| scope.aliases.iter().find(|(known, _)| *known == name));
        match found {
            Err(error) if error.code == "42703" && alias.is_some() => {
                alias.map(|(_, typed)| typed.clone()).ok_or(error)
            }
            // Some functions are called without parentheses.
            Err(error) if error.code == "42703" && ident.quote_style.is_none() => match name.as_str() {
                "current_user" | "session_user" | "user" | "current_date" | "current_time" | "current_timestamp"
                | "localtime" | "localtimestamp" | "current_catalog" | "current_schema" => self.call(&name, vec![]),
                _ => Err(error),
            },
            found => found,
        }
    }

    pub(super) fn bind_path(&mut self, idents: &[ast::Ident]) -> Result<Typed> {
        let names: Vec<String> = idents.iter().map(fold).collect();
        match names.as_slice() {
            [scope, name] if scope.starts_with("@@") => self.variable(name),
            // A schema before the table says nothing here.
            [.., table, name] => self.column(Some(table), name),
            _ => Err(Kind::Syntax.error("a column name is missing")),
        }
    }

    /// MySQL's `@@name`.
    pub(super) fn variable(&mut self, name: &str) -> Result<Typed> {
        let name = (Expr::Constant(Datum::from_text(name)), Some(Type::Text));
        self.call_bound("mysql_variable", vec![name])
    }

    pub(super) fn literal(&mut self, value: &Value) -> Result<Typed> {
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

    pub(super) fn placeholder(&mut self, name: &str) -> Result<Typed> {
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

    pub(super) fn is_truth(&mut self, inner: &E, truth: Option<bool>, negated: bool) -> Result<Typed> {
        let expr = Box::new(self.bind_condition(inner)?);
        Ok((Expr::IsTruth { expr, truth, negated }, Some(Type::Boolean)))
    }

    pub(super) fn in_list(&mut self, expr: &E, list: &[E], negated: bool) -> Result<Typed> {
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

    pub(super) fn like(
        &mut self,
        expr: &E,
        pattern: &E,
        escape: Option<&E>,
        insensitive: bool,
        negated: bool,
    ) -> Result<Typed> {
        let escape = match escape {
            None => Some('\\'),
            Some(E::Value(value)) => match &value.value {
                Value::SingleQuotedString(text) if text.chars().count() <= 1 => text.chars().next(),
                _ => return Err(Kind::Escape.error("invalid escape string")),
            },
            Some(_) => return Err(Error::unsupported("an escape character that is not a constant")),
        };
        let [expr, pattern] = self.texts(expr, pattern)?;
        // MySQL's collations take no notice of case, but = does here; so LIKE does, too.
        Ok((Expr::Like { expr, pattern, escape, insensitive, negated }, Some(Type::Boolean)))
    }

    /// A regular expression: `~` of PostgreSQL, `REGEXP` of MySQL.
    pub(super) fn regex(&mut self, expr: &E, pattern: &E, insensitive: bool, negated: bool) -> Result<Typed> {
        let [expr, pattern] = self.texts(expr, pattern)?;
        Ok((Expr::Matches { expr, pattern, insensitive, negated }, Some(Type::Boolean)))
    }

    fn texts(&mut self, expr: &E, pattern: &E) -> Result<[Box<Expr>; 2]> {
        let mut both = [self.bind(expr)?, self.bind(pattern)?];
        for typed in &mut both {
            self.settle(typed, Some(Type::Text))?;
        }
        if self.dialect == Dialect::PostgreSql && both.iter().any(|(_, ty)| ty.is_some_and(|ty| ty != Type::Text)) {
            return Err(Kind::UndefinedFunction.error("operator does not exist: patterns are for texts"));
        }
        Ok(both.map(|(expr, _)| Box::new(expr)))
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

    pub(super) fn cast(&mut self, expr: &E, data_type: &ast::DataType) -> Result<Typed> {
        let (spec, _) = column_type(data_type, self.dialect)?;
        let mut typed = self.bind(expr)?;
        // A parameter that is cast has the type of the cast.
        if matches!(typed.0, Expr::Parameter(_)) {
            self.settle(&mut typed, Some(spec.ty))?;
        }
        Ok((Expr::Cast(Box::new(typed.0), spec), Some(spec.ty)))
    }
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
