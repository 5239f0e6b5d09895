//! Statements about transactions, settings and prepared statements: those that touch no rows.

use sqlparser::ast::{self, ContextModifier, Expr, Set, Statement, TransactionIsolationLevel, TransactionMode, Value};

use super::{Connection, Status};
use crate::answer::{Answer, Tag};
use crate::datum::Type;
use crate::engine::Dialect;
use crate::error::{Error, Kind, Result};
use crate::plan::{fold, last, parts};
use crate::run::Frames;
use crate::settings::{parse_choice, parse_level};
use crate::types::column_type;

fn done(tag: Tag) -> Result<Option<Answer>> {
    Ok(Some(Answer::Done { tag, affected: None, last_insert_id: 0 }))
}

impl Connection {
    /// Carries out a statement of this kind, if it is one.
    pub(super) fn control(&mut self, statement: &Statement) -> Result<Option<Answer>> {
        match statement {
            Statement::StartTransaction { modes, statements, begin, .. } => {
                if !statements.is_empty() {
                    return Err(Error::unsupported("a block of statements"));
                }
                self.begin()?;
                self.modes(modes, false)?;
                done(if *begin { "BEGIN" } else { "START TRANSACTION" })
            }
            Statement::Commit { chain, .. } => {
                let committed = self.commit()?;
                if *chain {
                    self.begin()?;
                }
                done(if committed { "COMMIT" } else { "ROLLBACK" })
            }
            Statement::Rollback { savepoint: Some(name), .. } => {
                self.rollback_to(&fold(name))?;
                done("ROLLBACK")
            }
            Statement::Rollback { chain, savepoint: None } => {
                self.rollback();
                if *chain {
                    self.begin()?;
                }
                done("ROLLBACK")
            }
            Statement::Savepoint { name } => {
                self.savepoint(fold(name))?;
                done("SAVEPOINT")
            }
            Statement::ReleaseSavepoint { name } => {
                self.release(&fold(name))?;
                done("RELEASE")
            }
            Statement::Set(set) => {
                self.set(set)?;
                done("SET")
            }
            Statement::Reset(reset) => {
                match &reset.reset {
                    ast::Reset::ALL => self.settings.variables.clear(),
                    ast::Reset::ConfigurationParameter(name) => {
                        self.settings.variables.remove(&parts(name)?.join("."));
                    }
                    ast::Reset::SessionAuthorization => {}
                }
                done("RESET")
            }
            Statement::Discard { .. } => {
                self.named.clear();
                self.settings.variables.clear();
                self.settings.level = None;
                self.settings.choice = None;
                done("DISCARD ALL")
            }
            Statement::Use(which) => {
                if let ast::Use::Object(name) | ast::Use::Database(name) | ast::Use::Schema(name) = which {
                    self.settings.database = last(name)?;
                }
                done("USE")
            }
            Statement::Prepare { name, data_types, statement } => {
                let types = data_types.iter().map(|words| Ok(Some(column_type(words, self.dialect)?.0.ty)));
                let types: Vec<Option<Type>> = types.collect::<Result<_>>()?;
                let prepared = self.prepare_statement((**statement).clone(), "", &types)?;
                self.named.insert(fold(name), prepared);
                done("PREPARE")
            }
            Statement::Execute { name: Some(name), parameters, using, .. } => {
                let all: Vec<&Expr> = parameters.iter().chain(using.iter().map(|entry| &entry.expr)).collect();
                self.execute_named(&last(name)?, &all).map(Some)
            }
            Statement::Deallocate { name, .. } => {
                let name = fold(name);
                if name == "all" {
                    self.named.clear();
                } else if self.named.remove(&name).is_none() {
                    return Err(no_statement(&name));
                }
                done("DEALLOCATE")
            }
            Statement::LockTables { .. } | Statement::UnlockTables => done("LOCK TABLES"),
            Statement::Lock(_) => done("LOCK TABLE"),
            Statement::Vacuum(_) => done("VACUUM"),
            Statement::Analyze(_) => done("ANALYZE"),
            Statement::LISTEN { .. } => done("LISTEN"),
            Statement::UNLISTEN { .. } => done("UNLISTEN"),
            Statement::Kill { .. } => done("KILL"),
            _ => Ok(None),
        }
    }

    fn execute_named(&mut self, name: &str, parameters: &[&Expr]) -> Result<Answer> {
        let prepared = self.named.get(name).cloned().ok_or_else(|| no_statement(name))?;
        let mut values = Vec::new();
        for (index, parameter) in parameters.iter().enumerate() {
            let catalog = self.engine.clone();
            let catalog = catalog.catalog();
            let mut binder = crate::plan::Binder::new(&catalog, self.dialect, vec![]);
            let expr = match prepared.parameters().get(index) {
                Some(ty) => binder.bind_for(parameter, *ty)?,
                None => binder.bind(parameter)?.0,
            };
            drop(catalog);
            values.push(self.with_run(&[], false, |run| run.evaluate(&expr, &Frames::EMPTY))?);
        }
        self.run_inside(&prepared, &values)
    }

    /// Isolation levels and such; for the session, or for this transaction or the next.
    fn modes(&mut self, modes: &[TransactionMode], session: bool) -> Result<()> {
        for mode in modes {
            let TransactionMode::IsolationLevel(level) = mode else { continue };
            let level = parse_level(match level {
                TransactionIsolationLevel::ReadUncommitted => "read uncommitted",
                TransactionIsolationLevel::ReadCommitted => "read committed",
                TransactionIsolationLevel::RepeatableRead => "repeatable read",
                TransactionIsolationLevel::Serializable => "serializable",
                TransactionIsolationLevel::Snapshot => "snapshot",
            })?;
            if session {
                self.settings.level = Some(level);
            } else if self.session.is_open() && self.dialect == Dialect::PostgreSql {
                let message = "SET TRANSACTION ISOLATION LEVEL must be called before any query";
                return Err(Kind::ActiveTransaction.error(message));
            } else {
                self.settings.transaction_level = Some(level);
            }
        }
        Ok(())
    }

    fn set(&mut self, set: &Set) -> Result<()> {
        match set {
            Set::SetTransaction { modes, session, .. } => {
                // Outside of a transaction PostgreSQL's has no effect, and MySQL's is for the next one.
                if !*session && self.dialect == Dialect::PostgreSql && self.status() == Status::Idle {
                    return Ok(());
                }
                self.modes(modes, *session)
            }
            Set::SetSessionParam(_)
            | Set::SetSessionAuthorization(_)
            | Set::SetRole { .. }
            | Set::SetNamesDefault {} => Ok(()),
            Set::SetNames { charset_name, .. } => {
                for name in ["character_set_client", "character_set_connection", "character_set_results"] {
                    self.settings.variables.insert(name.into(), charset_name.value.to_lowercase());
                }
                Ok(())
            }
            Set::SetTimeZone { value, .. } => self.assign(None, "timezone", std::slice::from_ref(value)),
            Set::SingleAssignment { scope, variable, values, .. } => {
                self.assign(scope.as_ref(), &parts(variable)?.join("."), values)
            }
            Set::MultipleAssignments { assignments } => {
                for assignment in assignments {
                    let name = parts(&assignment.name)?.join(".");
                    self.assign(assignment.scope.as_ref(), &name, std::slice::from_ref(&assignment.value))?;
                }
                Ok(())
            }
            Set::ParenthesizedAssignments { .. } => Err(Error::unsupported("SET with parentheses")),
        }
    }

    fn assign(&mut self, scope: Option<&ContextModifier>, name: &str, values: &[Expr]) -> Result<()> {
        let words: Vec<String> = values.iter().map(plain).collect();
        let value = words.join(", ");
        let local = matches!(scope, Some(ContextModifier::Local));
        let name = name.to_lowercase();
        let name = name.trim_start_matches('@');
        let name = name.strip_prefix("session.").or_else(|| name.strip_prefix("local.")).unwrap_or(name);
        let is_default = value.eq_ignore_ascii_case("default");
        match name {
            "isonomy.level" | "default_transaction_isolation" | "transaction_isolation" | "tx_isolation" => {
                let level = if is_default { None } else { Some(parse_level(&value)?) };
                let only_now = local || name == "transaction_isolation" && self.dialect == Dialect::PostgreSql;
                let place = if only_now { &mut self.settings.transaction_level } else { &mut self.settings.level };
                *place = level;
            }
            "isonomy.choice" => {
                let choice = if is_default { None } else { Some(parse_choice(&value)?) };
                let place = if local { &mut self.settings.transaction_choice } else { &mut self.settings.choice };
                *place = choice;
                let (_, choice) = self.level_and_choice();
                if self.session.is_open() {
                    self.session.choose(choice);
                }
            }
            "autocommit" => {
                let on = match value.to_lowercase().as_str() {
                    "1" | "on" | "true" => true,
                    "0" | "off" | "false" => false,
                    _ => return Err(Kind::InvalidParameter.error(format!("autocommit cannot be set to {value}"))),
                };
                if on && !self.settings.autocommit {
                    self.commit()?;
                }
                self.settings.autocommit = on;
            }
            // Unknown ones are remembered, because clients set all kinds of things.
            _ if is_default => {
                self.settings.variables.remove(name);
            }
            _ if local => {
                self.settings.local.insert(name.to_owned(), value);
            }
            _ => {
                self.settings.variables.insert(name.to_owned(), value);
            }
        }
        Ok(())
    }
}

/// The text of a value that a variable is set to.
fn plain(value: &Expr) -> String {
    match value {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) => text.clone(),
            other => other.to_string(),
        },
        Expr::Identifier(ident) => ident.value.clone(),
        other => other.to_string(),
    }
}

fn no_statement(name: &str) -> Error {
    let message = format!("prepared statement \"{name}\" does not exist");
    Error { code: "26000", mysql: 1243, message, hint: None }
}
