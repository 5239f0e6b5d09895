//! Connections: statements in, answers out.

mod control;
mod prepared;
mod show;
mod transaction;

use std::collections::BTreeMap;
use std::sync::Arc;

use isonomy_store::Session;
use sqlparser::ast::Statement;

use crate::answer::{Answer, Tag};
use crate::datum::{Datum, Type};
use crate::define;
use crate::engine::{Dialect, Engine};
use crate::error::{Error, Kind, Result};
use crate::parse::{self, Words};
use crate::plan::{Change, Plan};
use crate::run::{Client, Run};
use crate::settings::Settings;

pub use prepared::Prepared;
use transaction::Transaction;

/// Whether a transaction is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Statements commit by themselves.
    Idle,
    /// A transaction is open.
    Open,
    /// A transaction is open in which a statement failed: nothing but its end is accepted (PostgreSQL).
    Failed,
}

/// One client: its transaction and its settings.
#[derive(Debug)]
pub struct Connection {
    engine: Engine,
    session: Session<Datum>,
    dialect: Dialect,
    settings: Settings,
    transaction: Option<Transaction>,
    /// Keys of the store that the open transaction cleared.
    cleared: Vec<Box<str>>,
    /// Statements of `PREPARE`, by name.
    named: BTreeMap<String, Prepared>,
    trace: Option<Vec<String>>,
}

impl Connection {
    pub(crate) fn new(engine: Engine, dialect: Dialect) -> Self {
        let session = engine.store().session();
        Connection {
            engine,
            session,
            dialect,
            settings: Settings::new(),
            transaction: None,
            cleared: Vec::new(),
            named: BTreeMap::new(),
            trace: None,
        }
    }

    /// Runs statements that are separated by semicolons, until one fails. What was answered before comes with the error.
    pub fn execute(&mut self, sql: &str) -> (Vec<Answer>, Option<Error>) {
        let statements = match parse::split(sql, self.dialect) {
            Ok(statements) => statements,
            Err(error) => return (Vec::new(), Some(self.failed(error))),
        };
        if statements.is_empty() {
            return (vec![Answer::Empty], None);
        }
        let mut answers = Vec::new();
        for words in statements {
            match self.execute_one(words) {
                Ok(answer) => answers.push(answer),
                Err(error) => return (answers, Some(error)),
            }
        }
        (answers, None)
    }

    fn execute_one(&mut self, words: Words) -> Result<Answer> {
        let prepared = self.prepare_words(words, &[])?;
        self.run(&prepared, &[])
    }

    /// Prepares one statement. Parameters are `$1` or `?`; their types may be given.
    pub fn prepare(&mut self, sql: &str, types: &[Option<Type>]) -> Result<Prepared> {
        let mut statements = parse::split(sql, self.dialect).map_err(|error| self.failed(error))?;
        match statements.len() {
            0 => Ok(Prepared::empty()),
            1 => self.prepare_words(statements.remove(0), types),
            _ => Err(self.failed(Kind::Syntax.error("cannot insert multiple commands into a prepared statement"))),
        }
    }

    fn prepare_words(&mut self, words: Words, types: &[Option<Type>]) -> Result<Prepared> {
        let text = words.shortened();
        let parsed = words.parse(self.dialect).and_then(|statement| self.prepare_statement(statement, &text, types));
        parsed.map_err(|error| self.failed(quoting(error, &text)))
    }

    /// Runs a prepared statement.
    pub fn run(&mut self, prepared: &Prepared, parameters: &[Datum]) -> Result<Answer> {
        let outcome = self.run_inside(prepared, parameters);
        outcome.map_err(|error| self.failed(quoting(error, prepared.text())))
    }

    fn run_inside(&mut self, prepared: &Prepared, parameters: &[Datum]) -> Result<Answer> {
        let Some(statement) = prepared.statement() else { return Ok(Answer::Empty) };
        self.refuse_if_failed(statement)?;
        let Some(plan) = self.current_plan(prepared)? else { return self.other(statement) };
        if parameters.len() < prepared.parameters().len() {
            let message =
                format!("{} parameters are expected, {} were given", prepared.parameters().len(), parameters.len());
            return Err(Kind::Syntax.error(message));
        }
        let converted: Vec<Datum> = prepared.convert(parameters, self.dialect)?;
        self.in_transaction(|connection| connection.run_plan(&plan, &converted))
    }

    /// Runs a statement on rows, in the transaction that is open.
    fn run_plan(&mut self, plan: &Plan, parameters: &[Datum]) -> Result<Answer> {
        let newest = matches!(plan, Plan::Query(query) if query.locks);
        self.with_run(parameters, newest, |run| match plan {
            Plan::Query(query) => {
                let rows = run.query(query, None, None)?;
                Ok(Answer::Rows { tag: tag_of(plan), columns: query.columns.clone(), rows })
            }
            Plan::Change(change) => {
                let changed = run.change(change)?;
                if run.last_insert_id > 0 {
                    run.settings.last_insert_id = run.last_insert_id;
                }
                match plan.columns() {
                    Some(columns) => {
                        Ok(Answer::Rows { tag: tag_of(plan), columns: columns.to_vec(), rows: changed.returned })
                    }
                    None => Ok(Answer::Done {
                        tag: tag_of(plan),
                        affected: Some(changed.affected),
                        last_insert_id: run.last_insert_id,
                    }),
                }
            }
        })
    }

    /// Lets something read and write rows as one statement: if it fails, nothing of it stays.
    fn with_run<T>(
        &mut self,
        parameters: &[Datum],
        newest: bool,
        act: impl FnOnce(&mut Run<'_>) -> Result<T>,
    ) -> Result<T> {
        let (level, choice) = self.level_and_choice();
        let cleared = self.cleared.len();
        let client = Client {
            engine: &self.engine,
            session: &mut self.session,
            settings: &mut self.settings,
            cleared: &mut self.cleared,
            trace: self.trace.as_mut(),
            dialect: self.dialect,
            level,
            choice,
        };
        let mut run = Run::new(client, parameters, newest);
        let outcome = act(&mut run);
        let start = run.start();
        if newest && self.session.is_open() {
            self.session.choose(choice);
        }
        if outcome.is_err() {
            self.cleared.truncate(cleared);
            if let Some(start) = start.filter(|_| self.session.is_open()) {
                self.session.rollback_to(start);
            }
        }
        outcome
    }

    /// A statement that has no plan.
    fn other(&mut self, statement: &Statement) -> Result<Answer> {
        if let Some(answer) = self.control(statement)? {
            return Ok(answer);
        }
        if let Some(answer) = self.show(statement)? {
            return Ok(answer);
        }
        if self.dialect == Dialect::MySql && define::is_definition(statement) {
            // MySQL commits before it changes a table.
            self.commit()?;
        }
        self.in_transaction(|connection| {
            let engine = connection.engine.clone();
            let dialect = connection.dialect;
            connection.with_run(&[], false, |run| define::define(&engine, dialect, statement, run))
        })
    }

    /// From now on, notes what statements read and write: `read accounts/7 = true`, `write accounts/7.balance = 90`.
    pub fn start_trace(&mut self) {
        self.trace = Some(Vec::new());
    }

    /// What was noted since the last time; notes go on.
    pub fn take_trace(&mut self) -> Vec<String> {
        self.trace.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Whether a transaction is open.
    pub fn status(&self) -> Status {
        match &self.transaction {
            None => Status::Idle,
            Some(transaction) if transaction.failed => Status::Failed,
            Some(_) => Status::Open,
        }
    }
}

/// Who leaves gives up what was not committed, so that others need not wait for it.
impl Drop for Connection {
    fn drop(&mut self) {
        self.session.rollback();
    }
}

fn tag_of(plan: &Plan) -> Tag {
    match plan {
        Plan::Query(_) => "SELECT",
        Plan::Change(change) => match **change {
            Change::Insert(_) => "INSERT",
            Change::Update(_) => "UPDATE",
            Change::Delete(_) => "DELETE",
        },
    }
}

/// What is not supported is quoted, so that the statement can be found in an application that sends thousands.
fn quoting(mut error: Error, text: &str) -> Error {
    if error.code == "0A000" && !error.message.contains('`') && !text.is_empty() {
        error.message = format!("{} in `{text}`", error.message);
    }
    error
}

/// A plan that connections share.
type SharedPlan = Arc<Plan>;
