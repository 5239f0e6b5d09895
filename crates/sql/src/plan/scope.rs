//! What does a name mean here?

use std::sync::Arc;

use sqlparser::ast::{Ident, ObjectName};

use super::{Aggregate, Expr, Query};
use crate::catalog::Catalog;
use crate::datum::{Datum, Type};
use crate::engine::Dialect;
use crate::error::{Error, Kind, Result};

/// An expression and its type; `None` if anything can still be made of it, as of `NULL`, `'text'` and parameters.
pub(crate) type Typed = (Expr, Option<Type>);

/// Turns syntax into plans.
pub(crate) struct Binder<'a> {
    pub(crate) catalog: &'a Catalog,
    pub(crate) dialect: Dialect,
    /// What is known of the types of the parameters.
    pub(crate) parameters: Vec<Option<Type>>,
    /// Question marks have no numbers; they are counted.
    pub(crate) marks: usize,
    pub(super) scopes: Vec<Scope>,
    pub(super) next_id: usize,
    /// How deep the expression is nested that is being bound.
    pub(super) depth: usize,
    /// In an `INSERT … ON DUPLICATE KEY UPDATE`, the slot of the row that was to be inserted: `VALUES(column)`.
    pub(super) proposed: Option<usize>,
}

/// The names that one query introduces.
#[derive(Debug, Default)]
pub(super) struct Scope {
    pub(super) sources: Vec<Named>,
    /// Columns that `USING` and `NATURAL` made one.
    pub(super) merged: Vec<(String, Typed)>,
    pub(super) grouping: Option<Grouping>,
    /// Names of output columns that a `HAVING` may use.
    pub(super) aliases: Vec<(String, Typed)>,
    pub(super) ctes: Vec<(String, Arc<Query>)>,
    /// Which slots of which scope around this one are used.
    pub(super) uses: Vec<u64>,
}

/// A slot and what it is called.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) columns: Vec<(String, Type)>,
    /// The columns of the primary key: rows of a group by them are one row.
    pub(super) key: Vec<usize>,
    /// Not reached by names alone, as `excluded`.
    pub(super) qualified_only: bool,
}

/// What the expressions behind a `GROUP BY` may refer to.
#[derive(Debug, Default)]
pub(super) struct Grouping {
    pub(super) keys: Vec<(Expr, Option<Type>)>,
    pub(super) aggregates: Vec<(Aggregate, Type)>,
    /// Columns that are neither keys nor inside an aggregate.
    pub(super) loose: Vec<(usize, usize)>,
    pub(super) inside: bool,
}

/// Identifiers without quotes are folded to small letters. MySQL's backticks are taken as they are.
pub(crate) fn fold(ident: &Ident) -> String {
    if ident.quote_style.is_some() { ident.value.clone() } else { ident.value.to_lowercase() }
}

/// The parts of a name.
pub(crate) fn parts(name: &ObjectName) -> Result<Vec<String>> {
    let part = |part: &sqlparser::ast::ObjectNamePart| {
        part.as_ident().map(fold).ok_or_else(|| Error::unsupported(format!("the name {name}")))
    };
    name.0.iter().map(part).collect()
}

/// The last part of a name. Schemas are not kept apart: `public.accounts` is `accounts`.
pub(crate) fn last(name: &ObjectName) -> Result<String> {
    parts(name)?.pop().ok_or_else(|| Kind::Syntax.error("a name is missing"))
}

impl<'a> Binder<'a> {
    pub(crate) fn new(catalog: &'a Catalog, dialect: Dialect, parameters: Vec<Option<Type>>) -> Self {
        Binder { catalog, dialect, parameters, marks: 0, scopes: Vec::new(), next_id: 0, depth: 0, proposed: None }
    }

    pub(super) fn fresh_id(&mut self) -> usize {
        self.next_id += 1;
        self.next_id
    }

    pub(super) fn scope(&mut self) -> &mut Scope {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    /// The table of a common table expression that is in sight.
    pub(super) fn cte(&self, name: &str) -> Option<&Arc<Query>> {
        let all = self.scopes.iter().rev().flat_map(|scope| scope.ctes.iter().rev());
        all.into_iter().find(|(known, _)| known == name).map(|(_, query)| query)
    }

    /// Finds a column by its name, and the name of its table if there is one.
    pub(super) fn column(&mut self, table: Option<&str>, name: &str) -> Result<Typed> {
        for depth in 0..self.scopes.len() {
            let at = self.scopes.len() - 1 - depth;
            if let Some(found) = self.scopes[at].find(table, name)? {
                return Ok(self.used(found, depth));
            }
        }
        let text = table.map_or_else(|| name.to_owned(), |table| format!("{table}.{name}"));
        let known = |scope: &Scope| table.is_some_and(|table| scope.sources.iter().any(|source| source.name == table));
        if table.is_some() && !self.scopes.iter().any(known) {
            let message = format!("missing FROM-clause entry for table \"{}\"", table.unwrap_or_default());
            return Err(Kind::UndefinedTable.error(message));
        }
        Err(Kind::UndefinedColumn.error(format!("column \"{text}\" does not exist")))
    }

    /// Notes that a column was used, in all scopes between here and there.
    fn used(&mut self, (expr, ty): Typed, depth: usize) -> Typed {
        let at = self.scopes.len() - 1 - depth;
        let mask = super::access::sources_of(&expr);
        if depth > 0 {
            for scope in &mut self.scopes[at + 1..] {
                scope.uses.resize(scope.uses.len().max(at + 1), 0);
                scope.uses[at] |= mask;
            }
        }
        if let Some(grouping) = self.scopes[at].grouping.as_mut().filter(|grouping| !grouping.inside)
            && let Expr::Column { source, column, .. } = expr
        {
            grouping.loose.push((source, column));
        }
        (super::access::deepened(expr, depth), ty)
    }

    /// Sets the type of a parameter of which nothing is known yet.
    pub(crate) fn settle(&mut self, typed: &mut Typed, ty: Option<Type>) -> Result<()> {
        let (Some(ty), None) = (ty, typed.1) else { return Ok(()) };
        match &mut typed.0 {
            Expr::Parameter(index) => {
                if let Some(known) = self.parameters.get_mut(*index) {
                    known.get_or_insert(ty);
                }
                typed.1 = Some(ty);
            }
            // A text without a type is read as one of the type that is wanted.
            Expr::Constant(datum) if self.dialect == Dialect::PostgreSql || ty.is_calendar() => {
                *datum = crate::cast::cast(datum.clone(), ty, self.dialect)?;
                typed.1 = Some(ty);
            }
            // In MySQL too, where the text is a number and nothing else; a key can be found by it then.
            Expr::Constant(Datum::Text(text)) if ty.is_number() => {
                if let Ok(number) = text.parse() {
                    typed.0 = Expr::Constant(Datum::Integer(number));
                    typed.1 = Some(ty);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl Scope {
    fn find(&self, table: Option<&str>, name: &str) -> Result<Option<Typed>> {
        if table.is_none()
            && let Some((_, typed)) = self.merged.iter().find(|(known, _)| known == name)
        {
            return Ok(Some(typed.clone()));
        }
        let mut found = None;
        for (source, named) in self.sources.iter().enumerate() {
            if table.map_or(named.qualified_only, |table| named.name != table) {
                continue;
            }
            for (column, (known, ty)) in named.columns.iter().enumerate() {
                if known != name && !known.eq_ignore_ascii_case(name) {
                    continue;
                }
                if found.is_some() {
                    return Err(Kind::AmbiguousColumn.error(format!("column reference \"{name}\" is ambiguous")));
                }
                found = Some((Expr::Column { depth: 0, source, column }, Some(*ty)));
            }
        }
        Ok(found)
    }
}
