//! `INSERT`, `UPDATE`, `DELETE`: which cells will be written, and with what?

use std::sync::Arc;

use sqlparser::ast::{
    self, AssignmentTarget, ConflictTarget, Expr as E, OnConflictAction, OnInsert, SelectItem, SetExpr, TableObject,
};

use super::from::{Raw, conjuncts, place};
use super::scope::{Named, Scope, fold, last, parts};
use super::select::is_constant;
use super::{Binder, Distinct, Expr, JoinKind, Query, Select, SortBy, Source};
use crate::answer::Column;
use crate::catalog::Table;
use crate::engine::Dialect;
use crate::error::{Error, Kind, Result};

/// A statement that writes.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Insert(Insert),
    Update(Update),
    Delete(Delete),
}

impl Change {
    pub(super) fn columns(&self) -> Option<&[Column]> {
        let returning = match self {
            Change::Insert(insert) => &insert.returning,
            Change::Update(update) => &update.returning,
            Change::Delete(delete) => &delete.returning,
        };
        returning.as_ref().map(|returning| returning.columns.as_slice())
    }
}

/// `RETURNING`.
#[derive(Clone, Debug)]
pub(crate) struct Returning {
    pub(crate) output: Vec<Expr>,
    pub(crate) columns: Vec<Column>,
}

/// A condition that rows of a table must not make false.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    pub(crate) name: String,
    pub(crate) expr: Expr,
    /// The columns it is about.
    pub(crate) columns: Vec<usize>,
}

/// Rows to add.
#[derive(Clone, Debug)]
pub(crate) struct Insert {
    pub(crate) table: Arc<Table>,
    pub(crate) rows: InsertRows,
    /// For each column of a row to add, where it goes.
    pub(crate) targets: Vec<usize>,
    /// For each column of the table, what it gets if nothing is said.
    pub(crate) defaults: Vec<Option<Expr>>,
    pub(crate) checks: Vec<Check>,
    pub(crate) conflict: Option<Conflict>,
    pub(crate) returning: Option<Returning>,
}

/// Where the rows come from. `None` stands for `DEFAULT`.
#[derive(Clone, Debug)]
pub(crate) enum InsertRows {
    Values(Vec<Vec<Option<Expr>>>),
    Query(Box<Query>),
}

/// What to do if a row is there already.
#[derive(Clone, Debug)]
pub(crate) struct Conflict {
    /// The columns of the constraint it is about; all constraints if nothing is said.
    pub(crate) target: Option<Vec<usize>>,
    pub(crate) action: OnDuplicate,
}

/// The action.
#[derive(Clone, Debug)]
pub(crate) enum OnDuplicate {
    Nothing,
    /// Slot 0 is the row that is there, slot 1 the one that was to be added.
    Update {
        assignments: Vec<(usize, Expr)>,
        filter: Option<Expr>,
        mysql: bool,
    },
    Replace,
}

/// Cells to overwrite. The outputs of the query are the new values.
#[derive(Clone, Debug)]
pub(crate) struct Update {
    pub(crate) table: Arc<Table>,
    pub(crate) target: usize,
    pub(crate) select: Select,
    pub(crate) columns: Vec<usize>,
    pub(crate) limit: Option<Expr>,
    pub(crate) checks: Vec<Check>,
    pub(crate) returning: Option<Returning>,
}

/// Rows to remove.
#[derive(Clone, Debug)]
pub(crate) struct Delete {
    pub(crate) table: Arc<Table>,
    pub(crate) target: usize,
    pub(crate) select: Select,
    pub(crate) limit: Option<Expr>,
    pub(crate) returning: Option<Returning>,
}

impl Binder<'_> {
    fn table_to_change(&self, name: &ast::ObjectName) -> Result<Arc<Table>> {
        let path = parts(name)?;
        let table = path.last().and_then(|name| self.catalog.table(name)).cloned();
        table.ok_or_else(|| Kind::UndefinedTable.error(format!("relation \"{}\" does not exist", path.join("."))))
    }

    fn name_table(table: &Table, name: &str, qualified_only: bool) -> Named {
        let columns = table.columns.iter().map(|column| (column.name.clone(), column.spec.ty)).collect();
        Named { name: name.to_owned(), columns, key: table.key.clone(), qualified_only }
    }

    /// The conditions of a table.
    pub(crate) fn checks(&mut self, table: &Table) -> Result<Vec<Check>> {
        let named = Self::name_table(table, &table.name, false);
        self.scopes.push(Scope { sources: vec![named], ..Scope::default() });
        let mut checks = Vec::new();
        let mut failed = None;
        for (name, syntax) in &table.checks {
            match self.bind_condition(syntax) {
                Ok(expr) => {
                    let mut columns = Vec::new();
                    super::access::walk(&expr, &mut |part| {
                        if let Expr::Column { column, .. } = part {
                            columns.push(*column);
                        }
                    });
                    checks.push(Check { name: name.clone(), expr, columns });
                }
                Err(error) => failed = Some(error),
            }
        }
        self.scopes.pop();
        failed.map_or(Ok(checks), Err)
    }

    /// What each column of a table gets if nothing is said.
    pub(crate) fn defaults(&mut self, table: &Table) -> Result<Vec<Option<Expr>>> {
        let mut defaults = Vec::new();
        for column in &table.columns {
            defaults.push(match (&column.default, &column.sequence) {
                (Some(syntax), _) => Some(self.bind_for(syntax, column.spec.ty)?),
                (None, Some(sequence)) => {
                    let name = (Expr::Constant(crate::datum::Datum::from_text(sequence)), None);
                    Some(self.call_bound("nextval", vec![name])?.0)
                }
                (None, None) => None,
            });
        }
        Ok(defaults)
    }

    fn returning(&mut self, items: Option<&Vec<SelectItem>>) -> Result<Option<Returning>> {
        let Some(items) = items else { return Ok(None) };
        let (output, names) = self.outputs(items)?;
        let columns = names.into_iter().zip(&output);
        let columns =
            columns.map(|(name, (_, ty))| Column { name, ty: ty.unwrap_or(crate::datum::Type::Text) }).collect();
        Ok(Some(Returning { output: output.into_iter().map(|(expr, _)| expr).collect(), columns }))
    }

    /// Plans `WITH … INSERT`, and the like; `None` if it is a query after all.
    pub(crate) fn with_change(&mut self, syntax: &ast::Query) -> Result<Option<Change>> {
        let (SetExpr::Insert(statement) | SetExpr::Update(statement) | SetExpr::Delete(statement)) = &*syntax.body
        else {
            return Ok(None);
        };
        // A scope without tables, in which the names of the common table expressions are.
        self.scopes.push(Scope::default());
        let planned = self.with(syntax).and_then(|()| match statement {
            ast::Statement::Insert(insert) => self.insert(insert).map(Change::Insert),
            ast::Statement::Update(update) => self.update(update).map(Change::Update),
            ast::Statement::Delete(delete) => self.delete(delete).map(Change::Delete),
            other => Err(Error::unsupported(format!("WITH before {}", crate::parse::shorten(&other.to_string())))),
        });
        self.scopes.pop();
        planned.map(Some)
    }

    /// Plans an `INSERT` or a `REPLACE`.
    pub(crate) fn insert(&mut self, syntax: &ast::Insert) -> Result<Insert> {
        let TableObject::TableName(name) = &syntax.table else {
            return Err(Error::unsupported(format!("INSERT INTO {}", syntax.table)));
        };
        if syntax.overwrite || syntax.partitioned.is_some() || syntax.output.is_some() {
            return Err(Error::unsupported("this form of INSERT"));
        }
        let table = self.table_to_change(name)?;
        let (targets, rows) = self.insert_rows(syntax, &table)?;
        let defaults = self.defaults(&table)?;
        let checks = self.checks(&table)?;
        let label = match &syntax.table_alias {
            Some(alias) => fold(&alias.alias),
            None => table.name.clone(),
        };
        let proposed = syntax.insert_alias.as_ref().map(|alias| last(&alias.row_alias)).transpose()?;
        let excluded = Self::name_table(&table, proposed.as_deref().unwrap_or("excluded"), true);
        let sources = vec![Self::name_table(&table, &label, false), excluded];
        self.scopes.push(Scope { sources, ..Scope::default() });
        let bound = self
            .conflict(syntax, &table)
            .and_then(|conflict| Ok((conflict, self.returning(syntax.returning.as_ref())?)));
        self.scopes.pop();
        let (conflict, returning) = bound?;
        Ok(Insert { table, rows, targets, defaults, checks, conflict, returning })
    }

    fn insert_rows(&mut self, syntax: &ast::Insert, table: &Table) -> Result<(Vec<usize>, InsertRows)> {
        if !syntax.assignments.is_empty() {
            let mut targets = Vec::new();
            let mut row = Vec::new();
            for assignment in &syntax.assignments {
                let AssignmentTarget::ColumnName(name) = &assignment.target else {
                    return Err(Error::unsupported("a row as the target of an assignment"));
                };
                let column = find_column(table, &last(name)?)?;
                targets.push(column);
                row.push(self.value(&assignment.value, table, column)?);
            }
            return Ok((targets, InsertRows::Values(vec![row])));
        }
        let named: Vec<usize> =
            syntax.columns.iter().map(|name| find_column(table, &last(name)?)).collect::<Result<_>>()?;
        if (1..named.len()).any(|index| named[..index].contains(&named[index])) {
            return Err(Kind::DuplicateColumn.error("a column is specified more than once"));
        }
        let width = |width: usize| {
            let targets = if named.is_empty() { (0..table.columns.len()).collect() } else { named.clone() };
            match width.cmp(&targets.len()) {
                std::cmp::Ordering::Greater => {
                    Err(Kind::Syntax.error("INSERT has more expressions than target columns"))
                }
                std::cmp::Ordering::Less if !named.is_empty() => {
                    Err(Kind::Syntax.error("INSERT has more target columns than expressions"))
                }
                _ => Ok(targets[..width].to_vec()),
            }
        };
        let Some(source) = &syntax.source else {
            return Ok((vec![], InsertRows::Values(vec![vec![]])));
        };
        if let SetExpr::Values(values) = &*source.body
            && source.with.is_none()
            && source.order_by.is_none()
            && source.limit_clause.is_none()
        {
            let targets = match values.rows.first().map_or(0, |row| row.content.len()) {
                // MySQL's `VALUES ()`.
                0 => vec![],
                filled => width(filled)?,
            };
            let mut rows = Vec::with_capacity(values.rows.len());
            for row in &values.rows {
                if row.content.len() != targets.len() {
                    return Err(Kind::Syntax.error("VALUES lists must all be the same length"));
                }
                let values = row.content.iter().zip(&targets).map(|(value, &column)| self.value(value, table, column));
                rows.push(values.collect::<Result<_>>()?);
            }
            return Ok((targets, InsertRows::Values(rows)));
        }
        let mut query = self.query(source)?;
        let targets = width(query.columns.len())?;
        if let super::Body::Select(select) = &mut query.body {
            for (expr, &column) in select.output.iter_mut().zip(&targets) {
                if let Expr::Parameter(index) = expr {
                    let mut typed = (Expr::Parameter(*index), self.parameters[*index]);
                    self.settle(&mut typed, Some(table.columns[column].spec.ty))?;
                }
            }
        }
        Ok((targets, InsertRows::Query(Box::new(query))))
    }

    /// A value for a column; `None` for `DEFAULT`.
    fn value(&mut self, syntax: &E, table: &Table, column: usize) -> Result<Option<Expr>> {
        if let E::Identifier(ident) = syntax
            && ident.quote_style.is_none()
            && ident.value.eq_ignore_ascii_case("default")
        {
            return Ok(None);
        }
        self.bind_for(syntax, table.columns[column].spec.ty).map(Some)
    }

    fn conflict(&mut self, syntax: &ast::Insert, table: &Table) -> Result<Option<Conflict>> {
        let any = |action| Ok(Some(Conflict { target: None, action }));
        if syntax.replace_into || matches!(syntax.or, Some(ast::SqliteOnConflict::Replace)) {
            return any(OnDuplicate::Replace);
        }
        match &syntax.on {
            None if syntax.ignore || matches!(syntax.or, Some(ast::SqliteOnConflict::Ignore)) => {
                any(OnDuplicate::Nothing)
            }
            None => Ok(None),
            Some(OnInsert::DuplicateKeyUpdate(assignments)) => {
                self.proposed = Some(1);
                let assignments = self.assignments(assignments, table, 0);
                self.proposed = None;
                any(OnDuplicate::Update { assignments: assignments?, filter: None, mysql: true })
            }
            Some(OnInsert::OnConflict(conflict)) => {
                let target = match &conflict.conflict_target {
                    None => None,
                    Some(ConflictTarget::Columns(columns)) => {
                        let mut found: Vec<usize> =
                            columns.iter().map(|name| find_column(table, &fold(name))).collect::<Result<_>>()?;
                        found.sort_unstable();
                        Some(constraint_of(table, &found)?)
                    }
                    Some(ConflictTarget::OnConstraint(name)) => Some(constraint_named(table, &last(name)?)?),
                };
                let action = match &conflict.action {
                    OnConflictAction::DoNothing => OnDuplicate::Nothing,
                    OnConflictAction::DoUpdate(update) => {
                        if target.is_none() {
                            let message = "ON CONFLICT DO UPDATE requires inference specification or constraint name";
                            return Err(Kind::Syntax.error(message));
                        }
                        let assignments = self.assignments(&update.assignments, table, 0)?;
                        let filter = update.selection.as_ref().map(|filter| self.bind_condition(filter)).transpose()?;
                        OnDuplicate::Update { assignments, filter, mysql: false }
                    }
                };
                Ok(Some(Conflict { target, action }))
            }
            Some(_) => Err(Error::unsupported("this clause of INSERT")),
        }
    }

    fn assignments(&mut self, syntax: &[ast::Assignment], table: &Table, source: usize) -> Result<Vec<(usize, Expr)>> {
        let mut all = Vec::new();
        for assignment in syntax {
            match (&assignment.target, &assignment.value) {
                (AssignmentTarget::ColumnName(name), value) => {
                    all.push(self.assignment(name, value, table, source)?);
                }
                (AssignmentTarget::Tuple(names), E::Tuple(values)) if names.len() == values.len() => {
                    for (name, value) in names.iter().zip(values) {
                        all.push(self.assignment(name, value, table, source)?);
                    }
                }
                _ => return Err(Error::unsupported(format!("the assignment {assignment}"))),
            }
        }
        Ok(all)
    }

    fn assignment(&mut self, name: &ast::ObjectName, value: &E, table: &Table, source: usize) -> Result<(usize, Expr)> {
        let path = parts(name)?;
        if let [.., qualifier, _] = path.as_slice()
            && self.scope().sources.get(source).is_none_or(|named| named.name != *qualifier)
            && table.name != *qualifier
        {
            return Err(Error::unsupported(format!(
                "an assignment to {qualifier}, which is not the table that is changed,"
            )));
        }
        let column = find_column(table, path.last().map_or("", String::as_str))?;
        match self.value(value, table, column)? {
            Some(expr) => Ok((column, expr)),
            None => {
                let default = self.defaults(table)?.swap_remove(column);
                Ok((column, default.unwrap_or(Expr::Constant(crate::datum::Datum::Null))))
            }
        }
    }

    /// Plans an `UPDATE`.
    pub(crate) fn update(&mut self, syntax: &ast::Update) -> Result<Update> {
        if syntax.or.is_some() || syntax.output.is_some() {
            return Err(Error::unsupported("this form of UPDATE"));
        }
        let ast::TableFactor::Table { name, .. } = &syntax.table.relation else {
            return Err(Error::unsupported(format!("UPDATE {}", syntax.table)));
        };
        let table = self.table_to_change(name)?;
        self.scopes.push(Scope::default());
        let planned = self.update_inside(syntax, &table);
        self.scopes.pop();
        let (select, columns, limit, returning) = planned?;
        let checks = self.checks(&table)?;
        let checks =
            checks.into_iter().filter(|check| check.columns.iter().any(|column| columns.contains(column))).collect();
        Ok(Update { table, target: 0, select, columns, limit, checks, returning })
    }

    #[allow(clippy::type_complexity, reason = "the parts of an update, taken apart at once")]
    fn update_inside(
        &mut self,
        syntax: &ast::Update,
        table: &Table,
    ) -> Result<(Select, Vec<usize>, Option<Expr>, Option<Returning>)> {
        let mut tables = vec![syntax.table.clone()];
        match &syntax.from {
            Some(ast::UpdateTableFromKind::BeforeSet(more) | ast::UpdateTableFromKind::AfterSet(more)) => {
                tables.extend(more.iter().cloned());
            }
            None => {}
        }
        let mut sources = Vec::new();
        let raw = self.from(&tables, &mut sources)?;
        let assignments = self.assignments(&syntax.assignments, table, 0)?;
        let (columns, output): (Vec<usize>, Vec<Expr>) = assignments.into_iter().unzip();
        if self.dialect == Dialect::PostgreSql
            && (1..columns.len()).any(|index| columns[..index].contains(&columns[index]))
        {
            return Err(Kind::Syntax.error("multiple assignments to the same column"));
        }
        let select = self.changed_rows(raw, sources, syntax.selection.as_ref(), &syntax.order_by, output)?;
        let limit = syntax.limit.as_ref().map(|limit| self.bind_for(limit, crate::datum::Type::BigInt)).transpose()?;
        let returning = self.returning(syntax.returning.as_ref())?;
        Ok((select, columns, limit, returning))
    }

    fn changed_rows(
        &mut self,
        raw: Option<Raw>,
        sources: Vec<Source>,
        condition: Option<&E>,
        order: &[ast::OrderByExpr],
        output: Vec<Expr>,
    ) -> Result<Select> {
        let conditions = match condition {
            Some(condition) => conjuncts(self.bind_condition(condition)?),
            None => vec![],
        };
        let mut keys = Vec::new();
        for entry in order {
            let (expr, _) = self.bind(&entry.expr)?;
            keys.push(self.sort_key(SortBy::Expr(expr), &entry.options));
        }
        let (guard, conditions) = conditions.into_iter().partition(is_constant);
        let (from, filter) = match raw {
            Some(raw) => {
                let (node, rest) = place(raw, conditions, &sources);
                (Some(node), rest)
            }
            None => (None, conditions),
        };
        Ok(Select { sources, guard, from, filter, group: None, output, distinct: Distinct::None, order: keys })
    }

    /// Plans a `DELETE`.
    pub(crate) fn delete(&mut self, syntax: &ast::Delete) -> Result<Delete> {
        let (ast::FromTable::WithFromKeyword(from) | ast::FromTable::WithoutKeyword(from)) = &syntax.from;
        self.scopes.push(Scope::default());
        let planned = self.delete_inside(syntax, from);
        self.scopes.pop();
        planned
    }

    fn delete_inside(&mut self, syntax: &ast::Delete, from: &[ast::TableWithJoins]) -> Result<Delete> {
        let mut sources = Vec::new();
        let mut raw = self.from(from, &mut sources)?;
        if let Some(using) = &syntax.using
            && let Some(left) = raw.take()
        {
            raw = Some(match self.from(using, &mut sources)? {
                None => left,
                Some(right) => {
                    Raw::Join { left: Box::new(left), right: Box::new(right), kind: JoinKind::Inner, on: vec![] }
                }
            });
        }
        let target = match syntax.tables.as_slice() {
            [] => 0,
            [name] => {
                let name = last(name)?;
                let known = self.scope().sources.iter().position(|named| named.name == name);
                known.ok_or_else(|| Kind::UndefinedTable.error(format!("relation \"{name}\" does not exist")))?
            }
            _ => return Err(Error::unsupported("a DELETE from several tables")),
        };
        let Some(Source::Table(table)) = sources.get(target) else {
            return Err(Error::unsupported("a DELETE from something other than a table"));
        };
        let table = Arc::clone(table);
        let select = self.changed_rows(raw, sources, syntax.selection.as_ref(), &syntax.order_by, vec![])?;
        let limit = syntax.limit.as_ref().map(|limit| self.bind_for(limit, crate::datum::Type::BigInt)).transpose()?;
        let returning = self.returning(syntax.returning.as_ref())?;
        Ok(Delete { table, target, select, limit, returning })
    }
}

fn find_column(table: &Table, name: &str) -> Result<usize> {
    let found =
        table.column(name).or_else(|| table.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name)));
    found.ok_or_else(|| {
        Kind::UndefinedColumn.error(format!("column \"{name}\" of relation \"{}\" does not exist", table.name))
    })
}

/// The columns of the constraint that is about exactly these.
fn constraint_of(table: &Table, columns: &[usize]) -> Result<Vec<usize>> {
    let same = |constraint: &Vec<usize>| {
        let mut sorted = constraint.clone();
        sorted.sort_unstable();
        sorted == columns
    };
    let all = std::iter::once(&table.key).chain(table.uniques.iter().map(|unique| &unique.columns));
    all.into_iter().find(|constraint| same(constraint)).cloned().ok_or_else(|| {
        let message = "there is no unique or exclusion constraint matching the ON CONFLICT specification";
        Kind::InvalidColumnReference.error(message)
    })
}

fn constraint_named(table: &Table, name: &str) -> Result<Vec<usize>> {
    if table.key_name == name && !table.key.is_empty() {
        return Ok(table.key.clone());
    }
    let found = table.uniques.iter().find(|unique| unique.name == name).map(|unique| unique.columns.clone());
    found.ok_or_else(|| {
        Kind::UndefinedObject.error(format!("constraint \"{name}\" for table \"{}\" does not exist", table.name))
    })
}
