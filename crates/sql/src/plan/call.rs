//! Calls of functions.

use sqlparser::ast::{self, Expr as E};

use super::scope::{Typed, fold};
use super::{Binder, Expr, Operator, parts};
use crate::datum::Type;
use crate::error::{Error, Kind, Result};
use crate::function;

impl Binder<'_> {
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

    pub(super) fn function(&mut self, call: &ast::Function) -> Result<Typed> {
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

    pub(super) fn time_plus(&mut self, time: &E, interval: &ast::Interval, op: Operator) -> Result<Typed> {
        let interval = E::Interval(interval.clone());
        self.shifted_time(time, op, &interval)?.ok_or_else(|| Error::unsupported("this interval"))
    }

    pub(super) fn proposed_column(&mut self, source: usize, name: &str) -> Result<Typed> {
        let columns = self.scopes.last().and_then(|scope| scope.sources.get(source)).map(|named| &named.columns);
        let found = columns
            .and_then(|columns| columns.iter().position(|(known, _)| known == name).map(|at| (at, columns[at].1)));
        let (column, ty) =
            found.ok_or_else(|| Kind::UndefinedColumn.error(format!("column \"{name}\" does not exist")))?;
        Ok((Expr::Column { depth: 0, source, column }, Some(ty)))
    }
}
