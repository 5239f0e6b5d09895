//! Aggregate functions: what they are called, and what type they have.

use sqlparser::ast::{
    DuplicateTreatment, Expr as E, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArguments,
    Value,
};

use super::scope::Typed;
use super::{Binder, Expr, SortBy, SortKey};
use crate::datum::{Datum, Type};
use crate::engine::Dialect;
use crate::error::{Error, Kind, Result};

/// An aggregate function and what it is applied to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Aggregate {
    pub(crate) kind: AggregateKind,
    /// Nothing for `count(*)`.
    pub(crate) argument: Option<Expr>,
    pub(crate) distinct: bool,
    pub(crate) filter: Option<Expr>,
    /// Between texts.
    pub(crate) separator: Option<Expr>,
    pub(crate) ty: Type,
}

/// Which function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AggregateKind {
    Count,
    Sum,
    Average,
    Minimum,
    Maximum,
    And,
    Or,
    Join,
    GroupConcat,
}

impl AggregateKind {
    /// The aggregate function of a name.
    pub(super) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "count" => AggregateKind::Count,
            "sum" => AggregateKind::Sum,
            "avg" => AggregateKind::Average,
            "min" => AggregateKind::Minimum,
            "max" => AggregateKind::Maximum,
            "bool_and" | "every" => AggregateKind::And,
            "bool_or" => AggregateKind::Or,
            "string_agg" => AggregateKind::Join,
            "group_concat" => AggregateKind::GroupConcat,
            _ => return None,
        })
    }

    fn result(self, argument: Option<Type>, dialect: Dialect) -> Result<Type> {
        let number = |ty: Type| match (ty, dialect) {
            (Type::Text | Type::Boolean, Dialect::MySql) => Ok(Type::Double),
            (ty, _) if ty.is_number() => Ok(ty),
            (ty, _) => Err(Kind::UndefinedFunction.error(format!("there is no sum or average of {}", ty.name()))),
        };
        Ok(match self {
            AggregateKind::Count => Type::BigInt,
            AggregateKind::Sum => match number(argument.unwrap_or(Type::Numeric))? {
                Type::SmallInt | Type::Integer if dialect == Dialect::PostgreSql => Type::BigInt,
                Type::Double => Type::Double,
                _ => Type::Numeric,
            },
            AggregateKind::Average => match number(argument.unwrap_or(Type::Numeric))? {
                Type::Double => Type::Double,
                _ => Type::Numeric,
            },
            AggregateKind::Minimum | AggregateKind::Maximum => argument.unwrap_or(Type::Text),
            AggregateKind::And | AggregateKind::Or => Type::Boolean,
            AggregateKind::Join | AggregateKind::GroupConcat => Type::Text,
        })
    }
}

impl Binder<'_> {
    pub(super) fn aggregate(&mut self, kind: AggregateKind, call: &Function) -> Result<Typed> {
        let name = call.name.to_string();
        let FunctionArguments::List(list) = &call.args else {
            return Err(Kind::Syntax.error(format!("{name} needs an argument")));
        };
        match self.scopes.last_mut().and_then(|scope| scope.grouping.as_mut()) {
            Some(grouping) if !grouping.inside => grouping.inside = true,
            Some(_) => return Err(Kind::Grouping.error("aggregate function calls cannot be nested")),
            None => return Err(Kind::Grouping.error(format!("aggregate function {name} is not allowed here"))),
        }
        let bound = self.aggregate_inside(kind, &name, list, call.filter.as_deref());
        let scope = self.scope();
        let source = scope.sources.len();
        let Some(grouping) = scope.grouping.as_mut() else {
            return Err(Kind::Grouping.error(format!("aggregate function {name} is not allowed here")));
        };
        grouping.inside = false;
        let aggregate = bound?;
        let ty = aggregate.ty;
        let known = grouping.aggregates.iter().position(|(known, _)| *known == aggregate);
        let at = known.unwrap_or_else(|| {
            grouping.aggregates.push((aggregate, ty));
            grouping.aggregates.len() - 1
        });
        Ok((Expr::Column { depth: 0, source, column: grouping.keys.len() + at }, Some(ty)))
    }

    fn aggregate_inside(
        &mut self,
        kind: AggregateKind,
        name: &str,
        list: &sqlparser::ast::FunctionArgumentList,
        filter: Option<&E>,
    ) -> Result<Aggregate> {
        let mut separator = match kind {
            AggregateKind::GroupConcat => Some(Expr::Constant(Datum::from_text(","))),
            _ => None,
        };
        for clause in &list.clauses {
            match clause {
                FunctionArgumentClause::Separator(value) => match &value.value {
                    Value::SingleQuotedString(text) => separator = Some(Expr::Constant(Datum::from_text(text))),
                    other => return Err(Error::unsupported(format!("the separator {other}"))),
                },
                other => return Err(Error::unsupported(format!("{other} inside of {name}"))),
            }
        }
        let argument = match list.args.as_slice() {
            [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)] if kind == AggregateKind::Count => None,
            [FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))] => Some(self.bind(argument)?),
            [
                FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)),
                FunctionArg::Unnamed(FunctionArgExpr::Expr(between)),
            ] if kind == AggregateKind::Join => {
                separator = Some(self.bind(between)?.0);
                Some(self.bind(argument)?)
            }
            _ => return Err(Kind::UndefinedFunction.error(format!("{name} does not take these arguments"))),
        };
        let filter = filter.map(|condition| self.bind_condition(condition)).transpose()?;
        let ty = kind.result(argument.as_ref().and_then(|(_, ty)| *ty), self.dialect)?;
        let distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
        Ok(Aggregate { kind, argument: argument.map(|(expr, _)| expr), distinct, filter, separator, ty })
    }

    /// Whether columns outside of aggregates belong to the group, as PostgreSQL demands.
    pub(super) fn check_loose_columns(&mut self) -> Result<()> {
        if self.dialect == Dialect::MySql {
            return Ok(());
        }
        let scope = self.scope();
        let Some(grouping) = &scope.grouping else { return Ok(()) };
        let has_key = |source: usize, column: usize| {
            grouping.keys.iter().any(|(key, _)| *key == Expr::Column { depth: 0, source, column })
        };
        for &(source, column) in &grouping.loose {
            let Some(named) = scope.sources.get(source) else { continue };
            let determined = !named.key.is_empty() && named.key.iter().all(|&key| has_key(source, key));
            if !determined && !has_key(source, column) {
                let name = named.columns.get(column).map_or("?", |(name, _)| name);
                let message = format!(
                    "column \"{}.{name}\" must appear in the GROUP BY clause or be used in an aggregate function",
                    named.name
                );
                return Err(Kind::Grouping.error(message));
            }
        }
        Ok(())
    }

    /// How a column of an `ORDER BY` sorts. PostgreSQL takes `NULL` for the largest value, MySQL for the smallest.
    pub(super) fn sort_key(&self, by: SortBy, options: &sqlparser::ast::OrderByOptions) -> SortKey {
        let descending = matches!(options.sort, Some(sqlparser::ast::OrderBySort::Desc));
        let nulls_first = options.nulls_first.unwrap_or(match self.dialect {
            Dialect::PostgreSql => descending,
            Dialect::MySql => !descending,
        });
        SortKey { by, descending, nulls_first }
    }
}
