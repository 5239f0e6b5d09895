//! `ALTER TABLE`.
//!
//! A new column gets a cell only when it is written; until then rows hold its default. A column that is renamed keeps its name in the
//! store, and one that is added under a name that was used before gets another there.

use std::sync::Arc;

use sqlparser::ast::{self, AlterColumnOperation, AlterTableOperation as Operation, RenameTableNameKind};

use super::table::{add_column, add_constraint, existing};
use super::{find, replace};
use crate::cast;
use crate::catalog::{Catalog, Table};
use crate::datum::Datum;
use crate::engine::{Dialect, Engine};
use crate::error::{Error, Kind, Result};
use crate::plan::{Binder, fold, last};
use crate::run::{Frames, Run};
use crate::types::column_type;

/// Changes a table.
pub(super) fn alter(engine: &Engine, dialect: Dialect, alter: &ast::AlterTable, run: &mut Run<'_>) -> Result<()> {
    let name = last(&alter.name)?;
    if alter.if_exists && engine.catalog().table(&name).is_none() {
        return Ok(());
    }
    for operation in &alter.operations {
        match operation {
            Operation::AddColumn { if_not_exists, column_def, .. } => {
                add(engine, dialect, &name, column_def, *if_not_exists, run)?;
            }
            Operation::RenameTable { table_name: RenameTableNameKind::As(new) | RenameTableNameKind::To(new) } => {
                rename_table(&mut engine.catalog_mut(), &name, &last(new)?)?;
            }
            Operation::AddConstraint { constraint, .. } => constrain(engine, dialect, &name, constraint, run)?,
            other => change(engine, dialect, &name, other)?,
        }
    }
    Ok(())
}

fn add(
    engine: &Engine,
    dialect: Dialect,
    name: &str,
    definition: &ast::ColumnDef,
    if_not_exists: bool,
    run: &mut Run<'_>,
) -> Result<()> {
    let old = find(&engine.catalog(), name)?;
    if if_not_exists && old.column(&fold(&definition.name)).is_some() {
        return Ok(());
    }
    let mut table = (*old).clone();
    let mut sequences = Vec::new();
    let (uniques, key) = (table.uniques.len(), table.key.clone());
    add_column(&mut table, definition, dialect, &mut sequences)?;
    if table.uniques.len() != uniques || table.key != key {
        return Err(Error::unsupported("a new column that is a key").hint("Add the constraint in a second statement."));
    }
    let at = table.columns.len() - 1;
    let expr = Binder::new(&engine.catalog(), dialect, vec![]).defaults(&table)?.swap_remove(at);
    let missing = match expr.filter(|_| sequences.is_empty()) {
        Some(expr) => run.evaluate(&expr, &Frames::EMPTY)?,
        None => Datum::Null,
    };
    let column = &mut table.columns[at];
    column.missing = cast::store(missing, &column.spec, dialect)?;
    // Cells of a column that had this name before are still there.
    let generation = table.generation;
    if generation > 0 {
        table.columns[at].cell = format!("{}@{generation}", table.columns[at].name);
    }
    let mut catalog = engine.catalog_mut();
    for (name, sequence) in sequences {
        catalog.sequences.insert(name, Arc::new(sequence));
    }
    drop(catalog);
    replace(engine, table);
    Ok(())
}

pub(super) fn rename_table(catalog: &mut Catalog, old: &str, new: &str) -> Result<()> {
    let mut table = existing(catalog, old)?;
    if catalog.table(new).is_some() {
        return Err(Kind::DuplicateTable.error(format!("relation \"{new}\" already exists")));
    }
    catalog.tables.remove(old);
    table.name = new.to_owned();
    catalog.tables.insert(new.to_owned(), Arc::new(table));
    catalog.version += 1;
    Ok(())
}

fn constrain(
    engine: &Engine,
    dialect: Dialect,
    name: &str,
    constraint: &ast::TableConstraint,
    run: &mut Run<'_>,
) -> Result<()> {
    let old = find(&engine.catalog(), name)?;
    let mut table = (*old).clone();
    add_constraint(&mut table, constraint)?;
    Binder::new(&engine.catalog(), dialect, vec![]).checks(&table)?;
    if table.key != old.key {
        // The names of the rows would be others.
        if !old.keys().is_empty() {
            return Err(Error::unsupported("a primary key for a table that has had rows"));
        }
        for &column in &table.key {
            table.columns[column].not_null = true;
        }
    }
    for unique in &table.uniques[old.uniques.len()..] {
        run.fill_index(&old, unique)?;
    }
    replace(engine, table);
    Ok(())
}

fn column(table: &Table, name: &ast::Ident) -> Result<usize> {
    let name = fold(name);
    let missing =
        || Kind::UndefinedColumn.error(format!("column \"{name}\" of relation \"{}\" does not exist", table.name));
    table.column(&name).ok_or_else(missing)
}

/// Changes that need no rows.
fn change(engine: &Engine, dialect: Dialect, name: &str, operation: &Operation) -> Result<()> {
    let mut table = existing(&engine.catalog(), name)?;
    match operation {
        Operation::DropColumn { column_names, if_exists, .. } => {
            for name in column_names {
                if *if_exists && table.column(&fold(name)).is_none() {
                    continue;
                }
                let at = column(&table, name)?;
                drop_column(&mut table, at)?;
            }
        }
        Operation::RenameColumn { old_column_name, new_column_name } => {
            let at = column(&table, old_column_name)?;
            let new = fold(new_column_name);
            if table.column(&new).is_some() {
                return Err(Kind::DuplicateColumn.error(format!("column \"{new}\" already exists")));
            }
            if !table.checks.is_empty() {
                return Err(Error::unsupported("renaming a column of a table with conditions"));
            }
            table.columns[at].name = new;
        }
        Operation::AlterColumn { column_name, op } => {
            let at = column(&table, column_name)?;
            match op {
                AlterColumnOperation::SetNotNull => table.columns[at].not_null = true,
                AlterColumnOperation::DropNotNull => table.columns[at].not_null = false,
                AlterColumnOperation::SetDefault { value } => table.columns[at].default = Some(value.clone()),
                AlterColumnOperation::DropDefault => table.columns[at].default = None,
                AlterColumnOperation::SetDataType { data_type, using: None, .. } => {
                    retype(&mut table, at, data_type, dialect)?;
                }
                other => return Err(Error::unsupported(format!("ALTER COLUMN {other}"))),
            }
        }
        Operation::ModifyColumn { col_name, data_type, .. } => {
            let at = column(&table, col_name)?;
            retype(&mut table, at, data_type, dialect)?;
        }
        Operation::DropConstraint { if_exists, name, .. } => {
            let name = fold(name);
            let before = table.uniques.len() + table.checks.len();
            table.uniques.retain(|unique| unique.name != name);
            table.checks.retain(|(known, _)| *known != name);
            if before == table.uniques.len() + table.checks.len() && !if_exists && table.references.is_empty() {
                return Err(Kind::UndefinedObject.error(format!("constraint \"{name}\" does not exist")));
            }
        }
        Operation::DropIndex { name } => {
            let name = fold(name);
            table.indexes.retain(|index| *index != name);
            table.uniques.retain(|unique| unique.name != name);
        }
        Operation::DropForeignKey { .. } | Operation::OwnerTo { .. } | Operation::ValidateConstraint { .. } => {}
        Operation::AutoIncrement { .. } => {}
        other => {
            return Err(Error::unsupported(format!("ALTER TABLE … {}", crate::parse::shorten(&other.to_string()))));
        }
    }
    Binder::new(&engine.catalog(), dialect, vec![]).checks(&table)?;
    replace(engine, table);
    Ok(())
}

fn drop_column(table: &mut Table, at: usize) -> Result<()> {
    if table.key.contains(&at) {
        return Err(Error::unsupported("dropping a column of the primary key"));
    }
    table.columns.remove(at);
    table.generation += 1;
    let moved = |column: &mut usize| *column -= usize::from(*column > at);
    table.key.iter_mut().for_each(moved);
    table.uniques.retain(|unique| !unique.columns.contains(&at));
    table.uniques.iter_mut().flat_map(|unique| &mut unique.columns).for_each(moved);
    Ok(())
}

/// Cells keep what they hold; only what is written from now on is of the new type. So only types of one kind are exchanged.
fn retype(table: &mut Table, at: usize, words: &ast::DataType, dialect: Dialect) -> Result<()> {
    let (spec, _) = column_type(words, dialect)?;
    let old = table.columns[at].spec.ty;
    if old != spec.ty && !(old.is_integer() && spec.ty.is_integer()) {
        return Err(Error::unsupported(format!(
            "changing the type of a column from {} to {}",
            old.name(),
            spec.ty.name()
        )));
    }
    table.columns[at].spec = spec;
    Ok(())
}
