//! Statements that show something: settings, tables, columns.

use sqlparser::ast::{Expr, ShowStatementFilter, ShowStatementFilterPosition, ShowStatementOptions, Statement, Value};

use super::Connection;
use crate::answer::{Answer, Column};
use crate::datum::{Datum, Type};
use crate::engine::Dialect;
use crate::error::{Error, Kind, Result};
use crate::plan::{fold, last};

fn table(names: &[&str], rows: Vec<Vec<Datum>>) -> Answer {
    let columns = names.iter().map(|name| Column { name: (*name).to_owned(), ty: Type::Text }).collect();
    Answer::Rows { tag: "SHOW", columns, rows }
}

fn text(value: impl AsRef<str>) -> Datum {
    Datum::from_text(value)
}

impl Connection {
    /// Shows what the statement asks for, if it asks.
    pub(super) fn show(&self, statement: &Statement) -> Result<Option<Answer>> {
        let options = self.engine.store().options();
        let defaults = (options.level, options.choice);
        Ok(Some(match statement {
            Statement::ShowVariable { variable } => {
                let words: Vec<String> = variable.iter().map(fold).collect();
                match words.first().map(String::as_str) {
                    Some("warnings" | "errors") => table(&["Level", "Code", "Message"], vec![]),
                    Some("engines") => table(&["Engine", "Support"], vec![vec![text("isonomy"), text("DEFAULT")]]),
                    Some("all") => {
                        let all = self.settings.all(self.dialect, defaults);
                        let rows =
                            all.into_iter().map(|(name, value)| vec![text(name), text(value), text("")]).collect();
                        table(&["name", "setting", "description"], rows)
                    }
                    _ => {
                        let name = words.join(if words.iter().any(|word| word == "isolation") { " " } else { "." });
                        let name = match name.as_str() {
                            "time.zone" => "timezone".to_owned(),
                            _ => name,
                        };
                        let value = self.settings.get(&name, self.dialect, defaults).ok_or_else(|| {
                            Kind::UndefinedObject.error(format!("unrecognized configuration parameter \"{name}\""))
                        })?;
                        let column = if name.contains(' ') { "transaction_isolation" } else { &name };
                        table(&[column], vec![vec![text(value)]])
                    }
                }
            }
            Statement::ShowVariables { filter, .. } | Statement::ShowStatus { filter, .. } => {
                let all = match statement {
                    Statement::ShowVariables { .. } => self.settings.all(self.dialect, defaults),
                    _ => Default::default(),
                };
                let mut rows = Vec::new();
                for (name, value) in all {
                    if passes(filter.as_ref(), &name)? {
                        rows.push(vec![text(name), text(value)]);
                    }
                }
                table(&["Variable_name", "Value"], rows)
            }
            Statement::ShowCollation { .. } => table(
                &["Collation", "Charset", "Id", "Default"],
                vec![vec![text("utf8mb4_bin"), text("utf8mb4"), text("46"), text("Yes")]],
            ),
            Statement::ShowCharset(_) => {
                table(&["Charset", "Description"], vec![vec![text("utf8mb4"), text("UTF-8 Unicode")]])
            }
            Statement::ShowTables { full, show_options, .. } => {
                let mut rows = Vec::new();
                for name in self.engine.catalog().tables.keys() {
                    if passes(filter_of(show_options), name)? {
                        rows.push(vec![text(name), text("BASE TABLE")]);
                    }
                }
                let column = format!("Tables_in_{}", self.settings.database);
                if *full {
                    table(&[&column, "Table_type"], rows)
                } else {
                    rows.iter_mut().for_each(|row| row.truncate(1));
                    table(&[&column], rows)
                }
            }
            Statement::ShowDatabases { .. } | Statement::ShowSchemas { .. } => {
                table(&["Database"], vec![vec![text("information_schema")], vec![text(&self.settings.database)]])
            }
            Statement::ShowProcessList { .. } => table(&["Id", "User", "Command"], vec![]),
            Statement::ExplainTable { table_name, .. } => self.describe(&last(table_name)?)?,
            Statement::ShowColumns { show_options, .. } => {
                let name = show_options.show_in.as_ref().and_then(|place| place.parent_name.as_ref());
                self.describe(&last(name.ok_or_else(|| Kind::Syntax.error("a table is missing"))?)?)?
            }
            Statement::ShowCreate { obj_name, .. } => {
                return Err(Error::unsupported(format!("SHOW CREATE of {obj_name}")));
            }
            _ => return Ok(None),
        }))
    }

    fn describe(&self, name: &str) -> Result<Answer> {
        let catalog = self.engine.catalog();
        let missing = || Kind::UndefinedTable.error(format!("relation \"{name}\" does not exist"));
        let found = catalog.table(name).ok_or_else(missing)?;
        let row = |(index, column): (usize, &crate::catalog::TableColumn)| {
            let unique = found.uniques.iter().any(|unique| unique.columns == [index]);
            let key = match (found.key.contains(&index), unique) {
                (true, _) => "PRI",
                (false, true) => "UNI",
                (false, false) => "",
            };
            let ty = match self.dialect {
                Dialect::MySql => column.spec.ty.mysql_name(),
                Dialect::PostgreSql => column.spec.ty.name(),
            };
            let default = column.default.as_ref().map_or(Datum::Null, |default| text(default.to_string()));
            let extra = if column.sequence.is_some() { "auto_increment" } else { "" };
            let null = if column.not_null { "NO" } else { "YES" };
            vec![text(&column.name), text(ty), text(null), text(key), default, text(extra)]
        };
        let rows = found.columns.iter().enumerate().map(row).collect();
        Ok(table(&["Field", "Type", "Null", "Key", "Default", "Extra"], rows))
    }
}

fn filter_of(options: &ShowStatementOptions) -> Option<&ShowStatementFilter> {
    match &options.filter_position {
        Some(ShowStatementFilterPosition::Infix(filter) | ShowStatementFilterPosition::Suffix(filter)) => Some(filter),
        None => None,
    }
}

/// Whether a name is wanted. `WHERE` is understood as far as clients use it here: equalities and lists of names.
fn passes(filter: Option<&ShowStatementFilter>, name: &str) -> Result<bool> {
    match filter {
        None => Ok(true),
        Some(ShowStatementFilter::Like(pattern) | ShowStatementFilter::ILike(pattern)) => {
            crate::like::matches(&name.to_lowercase(), &pattern.to_lowercase(), Some('\\'))
        }
        Some(ShowStatementFilter::NoKeyword(wanted)) => Ok(wanted == name),
        Some(ShowStatementFilter::Where(condition)) => named(condition, name),
    }
}

fn named(condition: &Expr, name: &str) -> Result<bool> {
    let text = |expr: &Expr| match expr {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) => Some(text.to_lowercase()),
            _ => None,
        },
        _ => None,
    };
    match condition {
        Expr::Nested(inner) => named(inner, name),
        Expr::InList { list, negated: false, .. } => Ok(list.iter().filter_map(text).any(|wanted| wanted == name)),
        Expr::BinaryOp { op: sqlparser::ast::BinaryOperator::Eq, right, .. } => {
            Ok(text(right).is_some_and(|wanted| wanted == name))
        }
        Expr::BinaryOp { op: sqlparser::ast::BinaryOperator::Or, left, right } => {
            Ok(named(left, name)? || named(right, name)?)
        }
        Expr::Like { pattern, negated: false, .. } => match text(pattern) {
            Some(pattern) => crate::like::matches(name, &pattern, Some('\\')),
            None => Ok(false),
        },
        other => Err(Error::unsupported(format!("SHOW … WHERE {}", crate::parse::shorten(&other.to_string())))),
    }
}
