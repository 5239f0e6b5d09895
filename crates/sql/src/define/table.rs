//! `CREATE TABLE`.

use std::sync::Arc;

use sqlparser::ast::{self, ColumnOption, Expr, IndexColumn, TableConstraint};

use super::find;
use crate::answer::Answer;
use crate::catalog::{Catalog, Sequence, Table, TableColumn, Unique};
use crate::datum::Datum;
use crate::engine::{Dialect, Engine};
use crate::error::{Error, Kind, Result};
use crate::plan::{Binder, fold, last};
use crate::run::Run;
use crate::types::{ColumnType, column_type};

/// Creates a table.
pub(super) fn create(
    engine: &Engine,
    dialect: Dialect,
    create: &ast::CreateTable,
    run: &mut Run<'_>,
) -> Result<Answer> {
    let name = last(&create.name)?;
    let done = |affected| Ok(Answer::Done { tag: "CREATE TABLE", affected, last_insert_id: 0 });
    if engine.catalog().table(&name).is_some() {
        if create.if_not_exists {
            return done(None);
        }
        return Err(Kind::DuplicateTable.error(format!("relation \"{name}\" already exists")));
    }
    if create.like.is_some() || create.clone.is_some() || create.inherits.is_some() || create.partition_of.is_some() {
        return Err(Error::unsupported("CREATE TABLE from another table"));
    }
    let rows = match &create.query {
        None => None,
        Some(query) => {
            let catalog = engine.catalog();
            let query = Binder::new(&catalog, dialect, vec![]).query(query)?;
            drop(catalog);
            let rows = run.query(&query, None, None)?;
            Some((query.columns, rows))
        }
    };
    let mut catalog = engine.catalog_mut();
    let (prefix, id) = catalog.new_prefix(&name);
    let mut table = Table::new(&name, prefix, id);
    let mut sequences = Vec::new();
    for definition in &create.columns {
        add_column(&mut table, definition, dialect, &mut sequences)?;
    }
    for column in rows.iter().flat_map(|(columns, _)| columns) {
        push_column(&mut table, &column.name, ColumnType::plain(column.ty))?;
    }
    for constraint in &create.constraints {
        add_constraint(&mut table, constraint)?;
    }
    for &column in &table.key {
        table.columns[column].not_null = true;
    }
    // What the conditions and defaults mean is found out now, so that mistakes in them are told now.
    let mut binder = Binder::new(&catalog, dialect, vec![]);
    binder.checks(&table)?;
    binder.defaults(&without_sequences(&table))?;
    for (name, sequence) in sequences {
        catalog.sequences.insert(name, Arc::new(sequence));
    }
    let table = Arc::new(table);
    catalog.tables.insert(name, Arc::clone(&table));
    catalog.version += 1;
    drop(catalog);
    let Some((_, rows)) = rows else { return done(None) };
    let count = rows.len() as u64;
    for row in rows {
        run.add_plain_row(&table, row)?;
    }
    done(Some(count))
}

fn without_sequences(table: &Table) -> Table {
    let mut table = table.clone();
    table.columns.iter_mut().for_each(|column| column.sequence = None);
    table
}

fn push_column(table: &mut Table, name: &str, spec: ColumnType) -> Result<usize> {
    if table.column(name).is_some() {
        return Err(Kind::DuplicateColumn.error(format!("column \"{name}\" specified more than once")));
    }
    table.columns.push(TableColumn {
        name: name.to_owned(),
        cell: name.to_owned(),
        spec,
        not_null: false,
        default: None,
        sequence: None,
        missing: Datum::Null,
    });
    Ok(table.columns.len() - 1)
}

/// Adds a column, and what is said with it: keys, conditions, defaults.
pub(super) fn add_column(
    table: &mut Table,
    definition: &ast::ColumnDef,
    dialect: Dialect,
    sequences: &mut Vec<(String, Sequence)>,
) -> Result<()> {
    let name = fold(&definition.name);
    let (spec, mut numbered) = column_type(&definition.data_type, dialect)?;
    let column = push_column(table, &name, spec)?;
    let mut numbers = (1, 1);
    for option in &definition.options {
        let label = option.name.as_ref().map(fold);
        match &option.option {
            ColumnOption::Null => {}
            ColumnOption::NotNull => table.columns[column].not_null = true,
            ColumnOption::Default(expr) => {
                table.columns[column].default = (!is_null(expr)).then(|| expr.clone());
            }
            ColumnOption::PrimaryKey(_) => set_key(table, vec![column], label)?,
            ColumnOption::Unique(_) => add_unique(table, vec![column], label),
            ColumnOption::Check(check) => {
                add_check(table, &check.expr, label.or(check.name.as_ref().map(fold)), Some(&name))
            }
            ColumnOption::ForeignKey(key) => table.references.push(key.foreign_table.to_string()),
            ColumnOption::Generated { generation_expr: None, sequence_options, .. } => {
                numbers = super::sequence_options(sequence_options.as_deref().unwrap_or_default())?;
                numbered = true;
            }
            ColumnOption::Identity(_) => numbered = true,
            ColumnOption::DialectSpecific(tokens) => {
                let words: Vec<String> = tokens.iter().map(|token| token.to_string().to_lowercase()).collect();
                match words.join(" ").as_str() {
                    "auto_increment" | "autoincrement" => numbered = true,
                    other => return Err(Error::unsupported(format!("the column option {other}"))),
                }
            }
            ColumnOption::Collation(_) | ColumnOption::CharacterSet(_) | ColumnOption::Comment(_) => {}
            // The time is not renewed by itself; nothing that is checked here depends on it.
            ColumnOption::OnUpdate(_) => {}
            other => return Err(Error::unsupported(format!("the column option {other}"))),
        }
    }
    if numbered {
        let sequence = format!("{}_{name}_seq", table.name);
        table.columns[column].not_null = true;
        table.columns[column].sequence = Some(sequence.clone());
        sequences.push((sequence, Sequence::new(numbers.0, numbers.1)));
    }
    Ok(())
}

fn is_null(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(value) if value.value == ast::Value::Null)
}

/// Adds a constraint of the table.
pub(super) fn add_constraint(table: &mut Table, constraint: &TableConstraint) -> Result<()> {
    match constraint {
        TableConstraint::PrimaryKey(key) => {
            let columns = column_list(table, &key.columns)?;
            set_key(table, columns, key.name.as_ref().map(fold))
        }
        TableConstraint::Unique(unique) => {
            let columns = column_list(table, &unique.columns)?;
            add_unique(table, columns, unique.name.as_ref().or(unique.index_name.as_ref()).map(fold));
            Ok(())
        }
        TableConstraint::Check(check) => {
            add_check(table, &check.expr, check.name.as_ref().map(fold), None);
            Ok(())
        }
        TableConstraint::ForeignKey(key) => {
            for column in &key.columns {
                column_named(table, &fold(column))?;
            }
            table.references.push(key.foreign_table.to_string());
            Ok(())
        }
        TableConstraint::Index(index) => {
            let name =
                index.name.as_ref().map_or_else(|| format!("{}_idx{}", table.name, table.indexes.len() + 1), fold);
            table.indexes.push(name);
            Ok(())
        }
        other => Err(Error::unsupported(format!("the constraint {}", crate::parse::shorten(&other.to_string())))),
    }
}

fn set_key(table: &mut Table, columns: Vec<usize>, name: Option<String>) -> Result<()> {
    if !table.key.is_empty() {
        return Err(Kind::InvalidDefinition
            .error(format!("multiple primary keys for table \"{}\" are not allowed", table.name)));
    }
    table.key = columns;
    if let Some(name) = name {
        table.key_name = name;
    }
    Ok(())
}

fn add_unique(table: &mut Table, columns: Vec<usize>, name: Option<String>) {
    let names: Vec<&str> = columns.iter().map(|&column| table.columns[column].name.as_str()).collect();
    let name = name.unwrap_or_else(|| format!("{}_{}_key", table.name, names.join("_")));
    table.uniques.push(Unique { name, columns });
}

fn add_check(table: &mut Table, expr: &Expr, name: Option<String>, column: Option<&str>) {
    let name = name.unwrap_or_else(|| match column {
        Some(column) => format!("{}_{column}_check", table.name),
        None => format!("{}_check{}", table.name, table.checks.len()),
    });
    table.checks.push((name, expr.clone()));
}

fn column_named(table: &Table, name: &str) -> Result<usize> {
    let missing = || Kind::UndefinedColumn.error(format!("column \"{name}\" named in key does not exist"));
    table.column(name).ok_or_else(missing)
}

/// The columns of a key or of an index.
pub(super) fn column_list(table: &Table, columns: &[IndexColumn]) -> Result<Vec<usize>> {
    let mut found = Vec::new();
    for column in columns {
        let at = match &column.column.expr {
            Expr::Identifier(ident) => column_named(table, &fold(ident))?,
            // MySQL's `name(10)`: the first letters of a column.
            Expr::Function(function) => column_named(table, &last(&function.name)?)?,
            other => return Err(Error::unsupported(format!("a key on the expression {other}"))),
        };
        if found.contains(&at) {
            return Err(Kind::DuplicateColumn.error("a column appears twice in a key"));
        }
        found.push(at);
    }
    Ok(found)
}

/// Finds a table by its name, for the statements about one.
pub(super) fn existing(catalog: &Catalog, name: &str) -> Result<Table> {
    find(catalog, name).map(|table| (*table).clone())
}
