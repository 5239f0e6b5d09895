//! Queries: `SELECT`, `VALUES`, set operations, and what stands behind them.

use std::sync::Arc;

use sqlparser::ast::{
    self, Expr as E, GroupByExpr, LimitClause, OrderByKind, SelectItem, SelectItemQualifiedWildcardKind, SetExpr,
    SetOperator, SetQuantifier, Value,
};

use super::from::{conjuncts, place};
use super::scope::{Grouping, Scope, Typed, fold, parts};
use super::{Binder, Body, Distinct, Expr, Group, Query, Select, SetOperation, SortBy, SortKey};
use crate::answer::Column;
use crate::datum::{Datum, Type};
use crate::engine::Dialect;
use crate::error::{Error, Kind, Result};

impl Binder<'_> {
    /// Plans a query.
    pub(crate) fn query(&mut self, syntax: &ast::Query) -> Result<Query> {
        self.depth += 1;
        if self.depth > 300 {
            return Err(Kind::TooComplex.error("the query nests too deeply"));
        }
        self.scopes.push(Scope::default());
        let planned = self.query_inside(syntax);
        let scope = self.scopes.pop().unwrap_or_default();
        self.depth -= 1;
        let mut query = planned?;
        for (index, &mask) in scope.uses.iter().enumerate() {
            query.uses.resize(query.uses.len().max(index + 1), 0);
            query.uses[index] |= mask;
        }
        Ok(query)
    }

    fn query_inside(&mut self, syntax: &ast::Query) -> Result<Query> {
        self.with(syntax)?;
        if syntax.for_clause.is_some() || !syntax.pipe_operators.is_empty() {
            return Err(Error::unsupported("this clause behind the query"));
        }
        let order: &[ast::OrderByExpr] = match syntax.order_by.as_ref().map(|order| &order.kind) {
            None => &[],
            Some(OrderByKind::Expressions(all)) => all,
            Some(OrderByKind::All(_)) => return Err(Error::unsupported("ORDER BY ALL")),
        };
        let mut query = self.body(&syntax.body, order)?;
        (query.limit, query.offset) = self.limits(syntax)?;
        query.locks = !syntax.locks.is_empty();
        Ok(query)
    }

    pub(super) fn with(&mut self, syntax: &ast::Query) -> Result<()> {
        let Some(with) = &syntax.with else { return Ok(()) };
        for cte in &with.cte_tables {
            let name = fold(&cte.alias.name);
            let mut query = self.query(&cte.query).map_err(|error| match error.code {
                "42P01" if with.recursive => Error::unsupported("WITH RECURSIVE"),
                _ => error,
            })?;
            for (column, alias) in query.columns.iter_mut().zip(&cte.alias.columns) {
                column.name = fold(&alias.name);
            }
            if query.is_correlated() {
                return Err(Error::unsupported("a WITH query that depends on a query around it"));
            }
            self.scope().ctes.push((name, Arc::new(query)));
        }
        Ok(())
    }

    fn limits(&mut self, syntax: &ast::Query) -> Result<(Option<Expr>, Option<Expr>)> {
        let (limit, offset) = match &syntax.limit_clause {
            None => (None, None),
            Some(LimitClause::LimitOffset { limit, offset, .. }) => {
                (limit.as_ref(), offset.as_ref().map(|offset| &offset.value))
            }
            Some(LimitClause::OffsetCommaLimit { offset, limit }) => (Some(limit), Some(offset)),
        };
        let mut limit = limit.map(|expr| self.bind_for(expr, Type::BigInt)).transpose()?;
        let offset = offset.map(|expr| self.bind_for(expr, Type::BigInt)).transpose()?;
        if let Some(fetch) = &syntax.fetch {
            if fetch.with_ties || fetch.percent {
                return Err(Error::unsupported("FETCH with ties or percent"));
            }
            limit = match &fetch.quantity {
                Some(quantity) => Some(self.bind_for(quantity, Type::BigInt)?),
                None => Some(Expr::Constant(Datum::Integer(1))),
            };
        }
        Ok((limit, offset))
    }

    fn body(&mut self, body: &SetExpr, order: &[ast::OrderByExpr]) -> Result<Query> {
        match body {
            SetExpr::Select(select) => self.select(select, order),
            SetExpr::Query(query) => {
                let inner = self.query(query)?;
                self.set(inner, vec![], order)
            }
            SetExpr::Values(values) => self.values(values, order),
            SetExpr::SetOperation { .. } => self.set_operations(body, order),
            SetExpr::Table(table) => {
                let name = table.table_name.clone().unwrap_or_default();
                Err(Error::unsupported(format!("TABLE {name}")))
            }
            other => Err(Error::unsupported(format!("{} inside a query", crate::parse::shorten(&other.to_string())))),
        }
    }

    fn query_of(&mut self, body: Body, columns: Vec<Column>, order: Vec<SortKey>) -> Query {
        Query { id: self.fresh_id(), body, order, limit: None, offset: None, columns, uses: vec![], locks: false }
    }

    /// A chain of set operations leans to the left; it is taken apart by a loop, because it may be long.
    fn set_operations(&mut self, body: &SetExpr, order: &[ast::OrderByExpr]) -> Result<Query> {
        let mut rest = Vec::new();
        let mut current = body;
        while let SetExpr::SetOperation { left, op, set_quantifier, right } = current {
            let all = match set_quantifier {
                SetQuantifier::All => true,
                SetQuantifier::None | SetQuantifier::Distinct => false,
                other => return Err(Error::unsupported(format!("{op} {other}"))),
            };
            let op = match op {
                SetOperator::Union => SetOperation::Union,
                SetOperator::Intersect => SetOperation::Intersect,
                SetOperator::Except | SetOperator::Minus => SetOperation::Except,
            };
            rest.push((op, all, &**right));
            current = left;
        }
        let first = self.operand(current)?;
        let mut others = Vec::new();
        for (op, all, operand) in rest.into_iter().rev() {
            others.push((op, all, self.operand(operand)?));
        }
        self.set(first, others, order)
    }

    fn operand(&mut self, body: &SetExpr) -> Result<Query> {
        self.depth += 1;
        if self.depth > 300 {
            return Err(Kind::TooComplex.error("the query nests too deeply"));
        }
        // A scope of its own, in which the tables of the operand are.
        self.scopes.push(Scope::default());
        let query = self.body(body, &[]);
        let scope = self.scopes.pop().unwrap_or_default();
        self.depth -= 1;
        let mut query = query?;
        query.uses.resize(query.uses.len().max(scope.uses.len()), 0);
        scope.uses.iter().zip(&mut query.uses).for_each(|(&more, mask)| *mask |= more);
        Ok(query)
    }

    fn set(
        &mut self,
        first: Query,
        rest: Vec<(SetOperation, bool, Query)>,
        order: &[ast::OrderByExpr],
    ) -> Result<Query> {
        let mut columns = first.columns.clone();
        for (_, _, operand) in &rest {
            if operand.columns.len() != columns.len() {
                return Err(Kind::Syntax.error("each query of a set operation must have the same number of columns"));
            }
            for (column, other) in columns.iter_mut().zip(&operand.columns) {
                column.ty = super::operator::wider(Some(column.ty), Some(other.ty)).unwrap_or(column.ty);
            }
        }
        let order = self.order_by_output(order, &columns)?;
        let uses: Vec<Vec<u64>> = std::iter::once(&first)
            .chain(rest.iter().map(|(_, _, query)| query))
            .map(|query| query.uses.clone())
            .collect();
        let mut query = self.query_of(Body::Set { first: Box::new(first), rest }, columns, order);
        for masks in uses {
            query.uses.resize(query.uses.len().max(masks.len()), 0);
            masks.iter().zip(&mut query.uses).for_each(|(&more, mask)| *mask |= more);
        }
        Ok(query)
    }

    fn values(&mut self, values: &ast::Values, order: &[ast::OrderByExpr]) -> Result<Query> {
        let width = values.rows.first().map_or(0, |row| row.content.len());
        let mut columns: Vec<Vec<Typed>> = (0..width).map(|_| Vec::new()).collect();
        for row in &values.rows {
            if row.content.len() != width {
                return Err(Kind::Syntax.error("VALUES lists must all be the same length"));
            }
            for (column, value) in columns.iter_mut().zip(&row.content) {
                column.push(self.bind(value)?);
            }
        }
        let mut types = Vec::new();
        let mut rows: Vec<Vec<Expr>> = values.rows.iter().map(|_| Vec::new()).collect();
        for mut column in columns {
            types.push(self.unify(&mut column)?.unwrap_or(Type::Text));
            column.into_iter().zip(&mut rows).for_each(|((expr, _), row)| row.push(expr));
        }
        let name = |index: usize| format!("column{}", index + 1);
        let columns: Vec<Column> =
            types.into_iter().enumerate().map(|(index, ty)| Column { name: name(index), ty }).collect();
        let order = self.order_by_output(order, &columns)?;
        Ok(self.query_of(Body::Values(rows), columns, order))
    }

    /// `ORDER BY` where only the columns of the answer can be named.
    fn order_by_output(&mut self, order: &[ast::OrderByExpr], columns: &[Column]) -> Result<Vec<SortKey>> {
        let mut keys = Vec::new();
        for entry in order {
            let at = match &entry.expr {
                E::Identifier(ident) => columns.iter().position(|column| column.name == fold(ident)),
                other => ordinal(other, columns.len())?,
            };
            let at = at.ok_or_else(|| {
                Kind::InvalidColumnReference.error(format!("ORDER BY {} is not a column of the answer", entry.expr))
            })?;
            keys.push(self.sort_key(SortBy::Output(at), &entry.options));
        }
        Ok(keys)
    }

    fn select(&mut self, syntax: &ast::Select, order: &[ast::OrderByExpr]) -> Result<Query> {
        if syntax.top.is_some() || syntax.into.is_some() || syntax.qualify.is_some() || !syntax.named_window.is_empty()
        {
            return Err(Error::unsupported("TOP, INTO, QUALIFY or WINDOW"));
        }
        let mut sources = Vec::new();
        let raw = self.from(&syntax.from, &mut sources)?;
        let conditions = match &syntax.selection {
            Some(condition) => conjuncts(self.bind_condition(condition)?),
            None => vec![],
        };
        let (output, names, group, order) = self.select_list(syntax, order)?;
        // Conditions on nothing are tested before anything is read.
        let (guard, mut conditions): (Vec<Expr>, Vec<Expr>) = conditions.into_iter().partition(is_constant);
        let mut filter = Vec::new();
        let from = match raw {
            Some(raw) => {
                let (node, rest) = place(raw, std::mem::take(&mut conditions), &sources);
                filter.extend(rest);
                Some(node)
            }
            None => None,
        };
        filter.append(&mut conditions);
        let distinct = match &syntax.distinct {
            None | Some(ast::Distinct::All) => Distinct::None,
            Some(ast::Distinct::Distinct) => Distinct::Rows,
            Some(ast::Distinct::On(keys)) => {
                Distinct::On(keys.iter().map(|key| Ok(self.bind(key)?.0)).collect::<Result<_>>()?)
            }
        };
        if matches!(distinct, Distinct::Rows) && order.iter().any(|key| matches!(key.by, SortBy::Expr(_))) {
            let message = "for SELECT DISTINCT, ORDER BY expressions must appear in select list";
            return Err(Kind::InvalidColumnReference.error(message));
        }
        let columns =
            names.into_iter().zip(&output).map(|(name, (_, ty))| Column { name, ty: ty.unwrap_or(Type::Text) });
        let columns = columns.collect();
        let output = output.into_iter().map(|(expr, _)| expr).collect();
        let select = Select { sources, guard, from, filter, group, output, distinct, order };
        Ok(self.query_of(Body::Select(Box::new(select)), columns, vec![]))
    }

    /// The output columns, the groups and the order: all that may hold aggregates.
    #[allow(clippy::type_complexity, reason = "four lists that belong to one another and are taken apart at once")]
    fn select_list(
        &mut self,
        syntax: &ast::Select,
        order: &[ast::OrderByExpr],
    ) -> Result<(Vec<Typed>, Vec<String>, Option<Group>, Vec<SortKey>)> {
        let keys = self.group_keys(syntax)?;
        let grouped = !keys.is_empty();
        self.scope().grouping = Some(Grouping { keys, ..Grouping::default() });
        let (mut output, names) = self.outputs(&syntax.projection)?;
        for typed in &mut output {
            if matches!(typed.0, Expr::Constant(Datum::Text(_))) {
                typed.1 = Some(Type::Text);
            }
        }
        if self.dialect == Dialect::MySql {
            // There, conditions on groups may use the names of output columns.
            self.scope().aliases = names.iter().cloned().zip(output.iter().cloned()).collect();
        }
        let having = syntax.having.as_ref().map(|having| self.bind_condition(having)).transpose()?;
        self.scope().aliases.clear();
        let mut keys = Vec::new();
        for entry in order {
            let by = self.order_entry(&entry.expr, &output, &names)?;
            keys.push(self.sort_key(by, &entry.options));
        }
        let has_aggregates = self.scope().grouping.as_ref().is_some_and(|grouping| !grouping.aggregates.is_empty());
        let group = if grouped || has_aggregates || having.is_some() {
            self.check_loose_columns()?;
            let grouping = self.scope().grouping.take().unwrap_or_default();
            let keys = grouping.keys.into_iter().map(|(expr, _)| expr).collect();
            let aggregates = grouping.aggregates.into_iter().map(|(aggregate, _)| aggregate).collect();
            Some(Group { keys, aggregates, having })
        } else {
            self.scope().grouping = None;
            None
        };
        Ok((output, names, group, keys))
    }

    fn group_keys(&mut self, syntax: &ast::Select) -> Result<Vec<Typed>> {
        let GroupByExpr::Expressions(expressions, modifiers) = &syntax.group_by else {
            return Err(Error::unsupported("GROUP BY ALL"));
        };
        if !modifiers.is_empty() {
            return Err(Error::unsupported("GROUP BY with a modifier"));
        }
        let mut keys = Vec::new();
        for expression in expressions {
            let item = ordinal(expression, syntax.projection.len())?.map(|at| &syntax.projection[at]);
            let bound = match item {
                Some(SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) => self.bind(expr)?,
                Some(_) => return Err(Error::unsupported("GROUP BY a position of *")),
                None => self.group_expression(expression, &syntax.projection)?,
            };
            keys.push(bound);
        }
        Ok(keys)
    }

    /// A column of a table, or else the name that an output column has.
    fn group_expression(&mut self, expression: &E, projection: &[SelectItem]) -> Result<Typed> {
        let bound = self.bind(expression);
        let (Err(error), E::Identifier(ident)) = (&bound, expression) else { return bound };
        if error.code != "42703" {
            return bound;
        }
        let alias = projection.iter().find_map(|item| match item {
            SelectItem::ExprWithAlias { expr, alias } if fold(alias) == fold(ident) => Some(expr),
            _ => None,
        });
        match alias {
            Some(expr) => self.bind(expr),
            None => bound,
        }
    }

    fn order_entry(&mut self, syntax: &E, output: &[Typed], names: &[String]) -> Result<SortBy> {
        if let E::Identifier(ident) = syntax {
            let name = fold(ident);
            let mut found = names.iter().enumerate().filter(|(_, known)| **known == name);
            if let Some((at, _)) = found.next() {
                return Ok(SortBy::Output(at));
            }
        }
        if let Some(at) = ordinal(syntax, output.len())? {
            return Ok(SortBy::Output(at));
        }
        let (expr, _) = self.bind(syntax)?;
        // Sorting by what is in the answer needs nothing else to be evaluated.
        match output.iter().position(|(known, _)| *known == expr) {
            Some(at) => Ok(SortBy::Output(at)),
            None => Ok(SortBy::Expr(expr)),
        }
    }

    /// Output columns and their names: of `SELECT` and of `RETURNING`.
    pub(super) fn outputs(&mut self, items: &[SelectItem]) -> Result<(Vec<Typed>, Vec<String>)> {
        let (mut output, mut names) = (Vec::new(), Vec::new());
        for item in items {
            match item {
                SelectItem::UnnamedExpr(expr) => {
                    output.push(self.bind(expr)?);
                    names.push(self.output_name(expr));
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    output.push(self.bind(expr)?);
                    names.push(if alias.quote_style.is_some() { alias.value.clone() } else { self.case(&alias.value) });
                }
                SelectItem::Wildcard(_) => self.wildcard(None, &mut output, &mut names)?,
                SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) => {
                    let table = parts(name)?.pop();
                    self.wildcard(table.as_deref(), &mut output, &mut names)?;
                }
                other => return Err(Error::unsupported(format!("the output column {other}"))),
            }
        }
        if output.is_empty() {
            return Err(Error::unsupported("a SELECT without columns"));
        }
        Ok((output, names))
    }

    /// MySQL keeps the case of the names that a client gives to columns.
    fn case(&self, name: &str) -> String {
        match self.dialect {
            Dialect::MySql => name.to_owned(),
            Dialect::PostgreSql => name.to_lowercase(),
        }
    }

    fn wildcard(&mut self, table: Option<&str>, output: &mut Vec<Typed>, names: &mut Vec<String>) -> Result<()> {
        let scope = self.scope();
        let mut all = Vec::new();
        if table.is_none() {
            all.extend(scope.merged.iter().map(|(name, typed)| (name.clone(), typed.clone())));
        }
        let merged: Vec<String> = all.iter().map(|(name, _)| name.clone()).collect();
        for (source, named) in scope.sources.iter().enumerate() {
            if table.map_or(named.qualified_only, |table| named.name != table) {
                continue;
            }
            for (column, (name, ty)) in named.columns.iter().enumerate() {
                if !merged.contains(name) {
                    all.push((name.clone(), (Expr::Column { depth: 0, source, column }, Some(*ty))));
                }
            }
        }
        if all.is_empty() {
            let message = match table {
                Some(table) => format!("missing FROM-clause entry for table \"{table}\""),
                None => "SELECT * with no tables specified is not valid".to_owned(),
            };
            return Err(Kind::UndefinedTable.error(message));
        }
        for (name, typed) in all {
            output.push(self.starred(typed));
            names.push(name);
        }
        Ok(())
    }

    /// A column that `*` stands for is a group key, or loose, like one that was named.
    fn starred(&mut self, typed: Typed) -> Typed {
        let scope = self.scope();
        let group = scope.sources.len();
        let (Some(grouping), Expr::Column { source, column, .. }) = (scope.grouping.as_mut(), &typed.0) else {
            return typed;
        };
        match grouping.keys.iter().position(|(key, _)| *key == typed.0) {
            Some(at) => (Expr::Column { depth: 0, source: group, column: at }, typed.1),
            None => {
                grouping.loose.push((*source, *column));
                typed
            }
        }
    }

    /// What an output column without a name is called.
    fn output_name(&self, syntax: &E) -> String {
        match syntax {
            E::Identifier(ident) => match self.dialect {
                Dialect::PostgreSql => fold(ident),
                Dialect::MySql => ident.value.clone(),
            },
            E::CompoundIdentifier(idents) => match (idents.last(), idents.first()) {
                (Some(_), Some(first)) if first.value.starts_with("@@") => syntax.to_string(),
                (Some(ident), _) => fold(ident),
                _ => "?column?".into(),
            },
            _ if self.dialect == Dialect::MySql => crate::parse::shorten(&syntax.to_string()),
            E::Function(function) => {
                parts(&function.name).ok().and_then(|mut parts| parts.pop()).unwrap_or_else(|| "?column?".into())
            }
            E::Cast { expr, data_type, .. } => match self.output_name(expr) {
                name if name == "?column?" => data_type.to_string().to_lowercase(),
                name => name,
            },
            E::Case { .. } => "case".into(),
            E::Extract { .. } => "extract".into(),
            E::Exists { .. } => "exists".into(),
            E::Nested(inner) => self.output_name(inner),
            _ => "?column?".into(),
        }
    }
}

/// Whether a condition has the same value for all rows.
pub(super) fn is_constant(condition: &Expr) -> bool {
    let mut constant = super::access::sources_of(condition) == 0;
    super::access::walk(condition, &mut |part| {
        constant &= !matches!(part, Expr::Call(function, _) if function.is_volatile())
    });
    constant
}

/// `ORDER BY 2`: the second column.
fn ordinal(syntax: &E, columns: usize) -> Result<Option<usize>> {
    let E::Value(value) = syntax else { return Ok(None) };
    let Value::Number(digits, _) = &value.value else { return Ok(None) };
    let at = digits.parse::<usize>().ok().and_then(|number| number.checked_sub(1)).filter(|&at| at < columns);
    at.map(Some).ok_or_else(|| Kind::InvalidColumnReference.error(format!("position {digits} is not in select list")))
}
