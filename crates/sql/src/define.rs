//! `CREATE`, `ALTER`, `DROP`: changes of the catalog.
//!
//! They take effect at once and for everybody, outside of transactions; a rollback does not take them back. What the rows of a table hold
//! stays in the store under the names it was written with.

mod alter;
mod table;

use std::sync::Arc;

use sqlparser::ast::{self, ObjectType, SequenceOptions, Statement};

use crate::answer::{Answer, Tag};
use crate::catalog::{Catalog, Sequence, Unique};
use crate::engine::{Dialect, Engine};
use crate::error::{Error, Kind, Result};
use crate::plan::last;
use crate::run::Run;

/// Whether a statement is one of these.
pub(crate) fn is_definition(statement: &Statement) -> bool {
    use Statement as S;
    matches!(
        statement,
        S::CreateTable(_) | S::AlterTable(_) | S::Drop { .. } | S::Truncate(_) | S::CreateIndex(_) | S::RenameTable(_)
    )
}

/// Carries out a definition.
pub(crate) fn define(engine: &Engine, dialect: Dialect, statement: &Statement, run: &mut Run<'_>) -> Result<Answer> {
    let done = |tag: Tag| Ok(Answer::Done { tag, affected: None, last_insert_id: 0 });
    match statement {
        Statement::CreateTable(create) => table::create(engine, dialect, create, run),
        Statement::AlterTable(alter) => {
            alter::alter(engine, dialect, alter, run)?;
            done("ALTER TABLE")
        }
        Statement::Drop { object_type, if_exists, names, .. } => drop_objects(engine, *object_type, *if_exists, names),
        Statement::Truncate(truncate) => {
            for target in &truncate.table_names {
                empty_table(&mut engine.catalog_mut(), &last(&target.name)?)?;
            }
            done("TRUNCATE TABLE")
        }
        Statement::CreateIndex(create) => {
            create_index(engine, create, run)?;
            done("CREATE INDEX")
        }
        Statement::RenameTable(renames) => {
            for rename in renames {
                alter::rename_table(&mut engine.catalog_mut(), &last(&rename.old_name)?, &last(&rename.new_name)?)?;
            }
            done("ALTER TABLE")
        }
        Statement::CreateSequence { if_not_exists, name, sequence_options, .. } => {
            create_sequence(&mut engine.catalog_mut(), *if_not_exists, &last(name)?, sequence_options)?;
            done("CREATE SEQUENCE")
        }
        // There is one database and one schema, whatever they are called.
        Statement::CreateSchema { .. } => done("CREATE SCHEMA"),
        Statement::CreateDatabase { .. } => done("CREATE DATABASE"),
        Statement::CreateExtension(_) => done("CREATE EXTENSION"),
        Statement::Grant(_) => done("GRANT"),
        Statement::Revoke(_) => done("REVOKE"),
        Statement::Comment { .. } => done("COMMENT"),
        other => {
            let text = other.to_string();
            let words: Vec<&str> = text.split_whitespace().take(2).collect();
            Err(Error::unsupported(format!("the statement {}", crate::parse::shorten(&words.join(" ")))))
        }
    }
}

fn drop_objects(engine: &Engine, kind: ObjectType, if_exists: bool, names: &[ast::ObjectName]) -> Result<Answer> {
    let mut catalog = engine.catalog_mut();
    let mut tag = "DROP TABLE";
    for name in names {
        let name = last(name)?;
        let found = match kind {
            ObjectType::Table => drop_table(&mut catalog, &name),
            ObjectType::Sequence => {
                tag = "DROP SEQUENCE";
                catalog.sequences.remove(&name).is_some()
            }
            ObjectType::Index => {
                tag = "DROP INDEX";
                drop_index(&mut catalog, &name)
            }
            ObjectType::Schema | ObjectType::Database | ObjectType::View | ObjectType::Type => {
                tag = "DROP SCHEMA";
                matches!(kind, ObjectType::Schema | ObjectType::Database)
            }
            other => return Err(Error::unsupported(format!("DROP {other}"))),
        };
        if !found && !if_exists {
            let what = if kind == ObjectType::Table { "table" } else { "relation" };
            return Err(Kind::UndefinedTable.error(format!("{what} \"{name}\" does not exist")));
        }
    }
    catalog.version += 1;
    Ok(Answer::Done { tag, affected: None, last_insert_id: 0 })
}

fn drop_table(catalog: &mut Catalog, name: &str) -> bool {
    let Some(table) = catalog.tables.remove(name) else { return false };
    for column in &table.columns {
        if let Some(sequence) = &column.sequence {
            catalog.sequences.remove(sequence);
        }
    }
    true
}

fn drop_index(catalog: &mut Catalog, name: &str) -> bool {
    let holds = |table: &Arc<crate::catalog::Table>| {
        table.indexes.iter().any(|index| index == name) || table.uniques.iter().any(|unique| unique.name == name)
    };
    let Some(table) = catalog.tables.values().find(|table| holds(table)).cloned() else { return false };
    let mut changed = (*table).clone();
    changed.indexes.retain(|index| index != name);
    changed.uniques.retain(|unique| unique.name != name);
    catalog.tables.insert(table.name.clone(), Arc::new(changed));
    true
}

fn empty_table(catalog: &mut Catalog, name: &str) -> Result<()> {
    let table = find(catalog, name)?;
    let (prefix, id) = catalog.new_prefix(name);
    catalog.tables.insert(name.to_owned(), Arc::new(table.emptied(prefix, id)));
    catalog.version += 1;
    Ok(())
}

fn find(catalog: &Catalog, name: &str) -> Result<Arc<crate::catalog::Table>> {
    let table = catalog.table(name).cloned();
    table.ok_or_else(|| Kind::UndefinedTable.error(format!("relation \"{name}\" does not exist")))
}

fn create_index(engine: &Engine, create: &ast::CreateIndex, run: &mut Run<'_>) -> Result<()> {
    let table = find(&engine.catalog(), &last(&create.table_name)?)?;
    let columns = table::column_list(&table, &create.columns);
    let name = match &create.name {
        Some(name) => last(name)?,
        None => format!("{}_idx{}", table.name, table.indexes.len() + table.uniques.len() + 1),
    };
    if table.indexes.contains(&name) || table.uniques.iter().any(|unique| unique.name == name) {
        if create.if_not_exists {
            return Ok(());
        }
        return Err(Kind::DuplicateTable.error(format!("relation \"{name}\" already exists")));
    }
    let mut changed = (*table).clone();
    if create.unique {
        if create.predicate.is_some() {
            return Err(Error::unsupported("a unique index with a condition"));
        }
        let unique = Unique { name, columns: columns? };
        run.fill_index(&table, &unique)?;
        changed.uniques.push(unique);
    } else {
        // An index on an expression is as good as any other that has no effect.
        changed.indexes.push(name);
    }
    replace(engine, changed);
    Ok(())
}

fn replace(engine: &Engine, table: crate::catalog::Table) {
    let mut catalog = engine.catalog_mut();
    catalog.tables.insert(table.name.clone(), Arc::new(table));
    catalog.version += 1;
}

fn create_sequence(catalog: &mut Catalog, if_not_exists: bool, name: &str, options: &[SequenceOptions]) -> Result<()> {
    if catalog.sequences.contains_key(name) {
        if if_not_exists {
            return Ok(());
        }
        return Err(Kind::DuplicateTable.error(format!("relation \"{name}\" already exists")));
    }
    let (start, increment) = sequence_options(options)?;
    catalog.sequences.insert(name.to_owned(), Arc::new(Sequence::new(start, increment)));
    Ok(())
}

/// Where a sequence starts, and its step.
fn sequence_options(options: &[SequenceOptions]) -> Result<(i64, i64)> {
    let number = |expr: &ast::Expr| {
        let text = expr.to_string();
        text.parse::<i64>().map_err(|_| Kind::InvalidParameter.error(format!("{text} is not a number for a sequence")))
    };
    let (mut start, mut increment) = (None, 1);
    for option in options {
        match option {
            SequenceOptions::StartWith(expr, _) => start = Some(number(expr)?),
            SequenceOptions::IncrementBy(expr, _) => increment = number(expr)?,
            SequenceOptions::MinValue(Some(expr)) if start.is_none() && increment > 0 => start = Some(number(expr)?),
            _ => {}
        }
    }
    if increment == 0 {
        return Err(Kind::InvalidParameter.error("INCREMENT must not be zero"));
    }
    Ok((start.unwrap_or(if increment > 0 { 1 } else { -1 }), increment))
}
