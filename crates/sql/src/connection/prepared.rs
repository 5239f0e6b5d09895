//! Statements that can be run several times, with parameters.

use std::sync::Arc;

use sqlparser::ast::Statement;

use super::{Connection, SharedPlan};
use crate::answer::{Answer, Column};
use crate::cast;
use crate::datum::{Datum, Type};
use crate::engine::Dialect;
use crate::error::Result;
use crate::plan::{Binder, Change, Plan};

/// A statement that can be run with several parameters.
#[derive(Clone, Debug)]
pub struct Prepared {
    statement: Option<Arc<Statement>>,
    text: Arc<str>,
    plan: Option<SharedPlan>,
    /// The catalog that the plan was made for.
    version: u64,
    declared: Vec<Option<Type>>,
    parameters: Vec<Type>,
    columns: Option<Vec<Column>>,
}

impl Prepared {
    pub(super) fn empty() -> Self {
        Prepared {
            statement: None,
            text: "".into(),
            plan: None,
            version: 0,
            declared: vec![],
            parameters: vec![],
            columns: None,
        }
    }

    pub(super) fn statement(&self) -> Option<&Statement> {
        self.statement.as_deref()
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The types of its parameters, as far as they are known; unknown ones are text.
    pub fn parameters(&self) -> &[Type] {
        &self.parameters
    }

    /// The columns of its answer, if it has rows.
    pub fn columns(&self) -> Option<&[Column]> {
        self.columns.as_deref()
    }

    /// Parameters of the types that they should have.
    pub(super) fn convert(&self, parameters: &[Datum], dialect: Dialect) -> Result<Vec<Datum>> {
        let convert = |(index, value): (usize, &Datum)| match self.parameters.get(index) {
            // Text is what is known of a parameter of which nothing is known; it stays what it is.
            None | Some(Type::Text) => Ok(value.clone()),
            // A number is compared as what it is, not as its column's type: 2.5 is not 3.
            Some(ty) if ty.is_number() && value.ty().is_some_and(Type::is_number) => Ok(value.clone()),
            Some(ty) => cast::cast(value.clone(), *ty, dialect),
        };
        parameters.iter().enumerate().map(convert).collect()
    }
}

impl Connection {
    pub(super) fn prepare_statement(
        &mut self,
        statement: Statement,
        text: &str,
        types: &[Option<Type>],
    ) -> Result<Prepared> {
        let mut prepared = Prepared {
            statement: None,
            text: text.into(),
            plan: None,
            version: 0,
            declared: types.to_vec(),
            parameters: vec![],
            columns: None,
        };
        let (plan, parameters, version) = self.plan(&statement, types)?;
        prepared.parameters = parameters.into_iter().map(|ty| ty.unwrap_or(Type::Text)).collect();
        prepared.version = version;
        prepared.columns = match &plan {
            Some(plan) => plan.columns().map(<[Column]>::to_vec),
            // What shows something does nothing else, so the way to know its columns is to run it.
            None => match self.show(&statement) {
                Ok(Some(Answer::Rows { columns, .. })) => Some(columns),
                _ => None,
            },
        };
        prepared.plan = plan.map(Arc::new);
        prepared.statement = Some(Arc::new(statement));
        Ok(prepared)
    }

    /// The plan of a statement that reads or writes rows, and the types of its parameters.
    fn plan(&self, statement: &Statement, types: &[Option<Type>]) -> Result<(Option<Plan>, Vec<Option<Type>>, u64)> {
        let catalog = self.engine.catalog();
        let mut binder = Binder::new(&catalog, self.dialect, types.to_vec());
        let plan = match statement {
            Statement::Query(query) => Some(match binder.with_change(query)? {
                Some(change) => Plan::Change(Box::new(change)),
                None => Plan::Query(Box::new(binder.query(query)?)),
            }),
            Statement::Insert(insert) => Some(Plan::Change(Box::new(Change::Insert(binder.insert(insert)?)))),
            Statement::Update(update) => Some(Plan::Change(Box::new(Change::Update(binder.update(update)?)))),
            Statement::Delete(delete) => Some(Plan::Change(Box::new(Change::Delete(binder.delete(delete)?)))),
            _ => None,
        };
        Ok((plan, binder.parameters, catalog.version))
    }

    /// The plan of a prepared statement; made anew if a table changed since.
    pub(super) fn current_plan(&self, prepared: &Prepared) -> Result<Option<SharedPlan>> {
        let (Some(plan), Some(statement)) = (&prepared.plan, &prepared.statement) else { return Ok(None) };
        if prepared.version == self.engine.catalog().version {
            return Ok(Some(Arc::clone(plan)));
        }
        let (plan, ..) = self.plan(statement, &prepared.declared)?;
        Ok(plan.map(Arc::new))
    }
}
