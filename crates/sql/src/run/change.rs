//! `INSERT`, `UPDATE`, `DELETE`: what is written.
//!
//! A statement first decides everything, reading what was there before it, and then writes. So it never meets its own work, however long
//! its scan is.

use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::join::Flow;
use super::{Frames, Run, Slot, StoredRow};
use crate::cast;
use crate::catalog::{Table, Unique};
use crate::datum::Datum;
use crate::engine::Dialect;
use crate::error::{Error, Kind, Result};
use crate::keys::{key_text, parse_key};
use crate::order::Row;
use crate::plan::{Change, Check, Conflict, Delete, Expr, Insert, InsertRows, OnDuplicate, Select, Update};

/// What a change did.
#[derive(Debug, Default)]
pub(crate) struct Changed {
    pub(crate) affected: u64,
    pub(crate) returned: Vec<Vec<Datum>>,
}

/// Columns and their new values.
type Assigned = Vec<(usize, Datum)>;

/// A row that is in the way of another one.
struct Duplicate {
    constraint: String,
    columns: Vec<usize>,
    /// `None` if it was committed but must not be seen.
    row: Option<Rc<StoredRow>>,
}

impl Run<'_> {
    /// Carries out a change.
    pub(crate) fn change(&mut self, change: &Change) -> Result<Changed> {
        match change {
            Change::Insert(insert) => self.insert(insert),
            Change::Update(update) => self.update(update),
            Change::Delete(delete) => self.delete(delete),
        }
    }

    fn insert(&mut self, insert: &Insert) -> Result<Changed> {
        let mut rows = Vec::new();
        match &insert.rows {
            InsertRows::Values(values) => {
                for row in values {
                    let mut given = Vec::with_capacity(row.len());
                    for value in row {
                        given.push(value.as_ref().map(|value| self.evaluate(value, &Frames::EMPTY)).transpose()?);
                    }
                    rows.push(self.whole_row(insert, given)?);
                }
            }
            InsertRows::Query(query) => {
                for row in self.query(query, None, None)? {
                    rows.push(self.whole_row(insert, row.into_iter().map(Some).collect())?);
                }
            }
        }
        let mut changed = Changed::default();
        let mut touched = FxHashSet::default();
        for values in rows {
            self.insert_row(insert, values, &mut changed, &mut touched)?;
        }
        Ok(changed)
    }

    /// A row with a value for each column.
    fn whole_row(&mut self, insert: &Insert, given: Vec<Option<Datum>>) -> Result<Vec<Datum>> {
        let table = &insert.table;
        let mut values: Vec<Option<Datum>> = vec![None; table.columns.len()];
        for (value, &column) in given.into_iter().zip(&insert.targets) {
            values[column] = value;
        }
        let mut row = Vec::with_capacity(values.len());
        for (index, (value, default)) in values.into_iter().zip(&insert.defaults).enumerate() {
            let column = &table.columns[index];
            let mysql = self.dialect == Dialect::MySql;
            // MySQL numbers a row if it is given nothing, NULL or zero.
            let asks = mysql && matches!(value, Some(Datum::Null | Datum::Integer(0)));
            let value = match (value, default) {
                (Some(value), _) if !(asks && column.sequence.is_some()) => value,
                (_, Some(default)) => self.evaluate(default, &Frames::EMPTY)?,
                (_, None) => Datum::Null,
            };
            let value = cast::store(value, &column.spec, self.dialect)?;
            if value.is_null() && (column.not_null || table.key.contains(&index)) {
                return Err(null_in(&table.name, &column.name));
            }
            if let (Some(sequence), Datum::Integer(number)) = (&column.sequence, &value) {
                if mysql {
                    self.engine.skip_sequence(sequence, *number);
                }
                // Of several rows, the first one's.
                if self.last_insert_id == 0 {
                    self.last_insert_id = u64::try_from(*number).unwrap_or(0);
                }
            }
            row.push(value);
        }
        Ok(row)
    }

    fn insert_row(
        &mut self,
        insert: &Insert,
        values: Vec<Datum>,
        changed: &mut Changed,
        touched: &mut FxHashSet<Row>,
    ) -> Result<()> {
        let table = &insert.table;
        let proposed: Rc<[Datum]> = values.into();
        self.check(&insert.checks, &[Slot::Values(Rc::clone(&proposed))], table)?;
        let key = key_of(table, &proposed);
        let row = self.row(table, &key, None);
        let duplicate = self.duplicate(table, &row, &proposed, insert.conflict.as_ref())?;
        let Some(duplicate) = duplicate else {
            self.add_row(&row, &proposed)?;
            touched.insert(key);
            changed.affected += 1;
            return self.returned(insert, row, &proposed, changed);
        };
        let Some(Conflict { target, action }) = &insert.conflict else {
            return Err(duplicate_error(&duplicate, table, &proposed));
        };
        if target.as_ref().is_some_and(|target| *target != duplicate.columns) {
            return Err(duplicate_error(&duplicate, table, &proposed));
        }
        match (action, duplicate.row) {
            (OnDuplicate::Nothing, _) => Ok(()),
            (_, None) => Err(Kind::Conflict.error("could not serialize access due to a concurrent insert")),
            (OnDuplicate::Update { assignments, filter, mysql }, Some(there)) => {
                if !mysql && !touched.insert(there.key.clone()) {
                    let message = "ON CONFLICT DO UPDATE command cannot affect row a second time";
                    return Err(Kind::Cardinality.error(message));
                }
                let slots = [Slot::Stored(Rc::clone(&there)), Slot::Values(Rc::clone(&proposed))];
                if let Some(filter) = filter
                    && self.condition(filter, &Frames { slots: &slots, outer: None })? != Some(true)
                {
                    return Ok(());
                }
                let (there, count) = match mysql {
                    true => self.update_in_turn(&there, assignments, &proposed)?,
                    false => (self.update_duplicate(&there, assignments, &slots)?, 1),
                };
                self.check(&insert.checks, &[Slot::Stored(Rc::clone(&there))], table)?;
                changed.affected += count;
                self.returned(insert, there, &proposed, changed)
            }
            (OnDuplicate::Replace, Some(there)) => {
                self.remove_row(&there)?;
                changed.affected += 1;
                // Another constraint may have another row in the way.
                self.insert_row(insert, proposed.to_vec(), changed, touched)
            }
        }
    }

    fn returned(
        &mut self,
        insert: &Insert,
        row: Rc<StoredRow>,
        proposed: &Rc<[Datum]>,
        changed: &mut Changed,
    ) -> Result<()> {
        let Some(returning) = &insert.returning else { return Ok(()) };
        let slots = [Slot::Stored(row), Slot::Values(Rc::clone(proposed))];
        let frames = Frames { slots: &slots, outer: None };
        let values = returning.output.iter().map(|expr| self.evaluate(expr, &frames)).collect::<Result<_>>()?;
        changed.returned.push(values);
        Ok(())
    }

    /// `DO UPDATE`: all values are computed, then all are assigned.
    fn update_duplicate(
        &mut self,
        there: &Rc<StoredRow>,
        assignments: &[(usize, Expr)],
        slots: &[Slot],
    ) -> Result<Rc<StoredRow>> {
        let mut values = Vec::new();
        for (column, expr) in assignments {
            let value = self.evaluate(expr, &Frames { slots, outer: None })?;
            values.push((*column, self.assigned(&there.table, *column, value)?));
        }
        self.rewrite(vec![(Rc::clone(there), values)]).map(|mut rows| rows.swap_remove(0))
    }

    /// `ON DUPLICATE KEY UPDATE`: assignments are made from left to right, and see those before them. A row that stays as it was does not
    /// count; one that changes counts twice.
    fn update_in_turn(
        &mut self,
        there: &Rc<StoredRow>,
        assignments: &[(usize, Expr)],
        proposed: &Rc<[Datum]>,
    ) -> Result<(Rc<StoredRow>, u64)> {
        let mut current = Rc::clone(there);
        let mut count = 0;
        for (column, expr) in assignments {
            let slots = [Slot::Stored(Rc::clone(&current)), Slot::Values(Rc::clone(proposed))];
            let value = self.evaluate(expr, &Frames { slots: &slots, outer: None })?;
            let value = self.assigned(&there.table, *column, value)?;
            if self.cell(&current, *column)? != value {
                count = 2;
                current = self.rewrite(vec![(current, vec![(*column, value)])])?.swap_remove(0);
            }
        }
        Ok((current, count))
    }

    /// A value as its column holds it.
    fn assigned(&self, table: &Table, column: usize, value: Datum) -> Result<Datum> {
        let definition = &table.columns[column];
        let value = cast::store(value, &definition.spec, self.dialect)?;
        if value.is_null() && (definition.not_null || table.key.contains(&column)) {
            return Err(null_in(&table.name, &definition.name));
        }
        Ok(value)
    }

    fn check(&mut self, checks: &[Check], slots: &[Slot], table: &Table) -> Result<()> {
        for check in checks {
            if self.condition(&check.expr, &Frames { slots, outer: None })? == Some(false) {
                let message =
                    format!("new row for relation \"{}\" violates check constraint \"{}\"", table.name, check.name);
                return Err(Kind::CheckViolation.error(message));
            }
        }
        Ok(())
    }

    /// Looks for a row in the way: first by the key, then by the unique constraints. The constraint that the statement names is looked at
    /// first.
    fn duplicate(
        &mut self,
        table: &Arc<Table>,
        row: &Rc<StoredRow>,
        values: &[Datum],
        conflict: Option<&Conflict>,
    ) -> Result<Option<Duplicate>> {
        let target = conflict.and_then(|conflict| conflict.target.as_ref());
        let mut uniques: Vec<&Unique> = table.uniques.iter().collect();
        uniques.sort_by_key(|unique| Some(&unique.columns) != target);
        if self.exists(row)? {
            let row = Some(Rc::clone(row));
            return Ok(Some(Duplicate { constraint: table.key_name.clone(), columns: table.key.clone(), row }));
        }
        if self.committed(&row.name) {
            return Ok(Some(Duplicate { constraint: table.key_name.clone(), columns: table.key.clone(), row: None }));
        }
        for unique in uniques {
            let value = |column: usize| Ok(values[column].clone());
            let Some(name) = entry_name(table, unique, value)? else { continue };
            let Some(holder) = self.holder(&name)? else {
                if self.committed(&name) {
                    return Ok(Some(Duplicate {
                        constraint: unique.name.clone(),
                        columns: unique.columns.clone(),
                        row: None,
                    }));
                }
                continue;
            };
            let key = parse_key(&holder, &table.key_types())?;
            let row = Some(self.row(table, &key, None));
            return Ok(Some(Duplicate { constraint: unique.name.clone(), columns: unique.columns.clone(), row }));
        }
        Ok(None)
    }

    /// The key of the row that has a unique value.
    fn holder(&mut self, name: &str) -> Result<Option<Arc<str>>> {
        Ok(match self.read(name)? {
            Some(Datum::Text(key)) => Some(key),
            _ => None,
        })
    }

    /// With strict keys: whether something was committed that this transaction does not see and did not clear itself.
    fn committed(&self, name: &str) -> bool {
        self.engine.options().strict_keys
            && !self.cleared.iter().any(|cleared| **cleared == *name)
            && !matches!(self.session.newest(name), None | Some(Datum::Boolean(false)))
    }

    fn add_row(&mut self, row: &Rc<StoredRow>, values: &[Datum]) -> Result<()> {
        let table = &row.table;
        self.announce_row(table)?;
        self.set_exists(row, true)?;
        for (column, value) in values.iter().enumerate() {
            if !table.key.contains(&column) {
                self.set_cell(row, column, value.clone())?;
            }
        }
        for unique in &table.uniques {
            if let Some(name) = entry_name(table, unique, |column| Ok(values[column].clone()))? {
                self.write(&name, Some(Datum::from_text(key_text(&row.key))))?;
            }
        }
        Ok(())
    }

    fn remove_row(&mut self, row: &Rc<StoredRow>) -> Result<()> {
        for unique in &row.table.uniques {
            if let Some(name) = entry_name(&row.table, unique, |column| self.cell(row, column))? {
                self.clear_entry(name)?;
            }
        }
        self.set_exists(row, false)
    }

    fn clear_entry(&mut self, name: String) -> Result<()> {
        self.write(&name, None)?;
        self.cleared.push(name.into());
        Ok(())
    }

    /// Gives rows new values. What they leave is left before anything is taken, so that values may be swapped.
    fn rewrite(&mut self, changes: Vec<(Rc<StoredRow>, Assigned)>) -> Result<Vec<Rc<StoredRow>>> {
        let mut moved = Vec::new();
        for (row, values) in &changes {
            let table = &row.table;
            let mut key = row.key.0.to_vec();
            for (column, value) in values {
                if let Some(part) = table.key.iter().position(|key| key == column) {
                    key[part] = value.clone();
                }
            }
            let key = Row::new(key);
            if key != row.key {
                // All of it goes to another key, so all of it must be known.
                let mut whole = Vec::with_capacity(table.columns.len());
                for column in 0..table.columns.len() {
                    let assigned = values.iter().rev().find(|(assigned, _)| *assigned == column);
                    whole.push(match assigned {
                        Some((_, value)) => value.clone(),
                        None => self.cell(row, column)?,
                    });
                }
                self.remove_row(row)?;
                moved.push(Some((key, whole)));
                continue;
            }
            for unique in &table.uniques {
                let new = |column: usize| values.iter().rev().find(|(assigned, _)| *assigned == column);
                if unique.columns.iter().all(|&column| new(column).is_none()) {
                    continue;
                }
                let old = entry_name(table, unique, |column| self.cell(row, column))?;
                if let Some(old) = old {
                    self.clear_entry(old)?;
                }
            }
            moved.push(None);
        }
        let mut rows = Vec::new();
        for ((row, values), moved) in changes.into_iter().zip(moved) {
            rows.push(match moved {
                Some((key, whole)) => {
                    let new = self.row(&row.table, &key, None);
                    if let Some(duplicate) = self.duplicate(&row.table, &new, &whole, None)? {
                        return Err(duplicate_error(&duplicate, &row.table, &whole));
                    }
                    self.add_row(&new, &whole)?;
                    new
                }
                None => {
                    self.overwrite(&row, values)?;
                    row
                }
            });
        }
        Ok(rows)
    }

    fn overwrite(&mut self, row: &Rc<StoredRow>, values: Assigned) -> Result<()> {
        let table = Arc::clone(&row.table);
        let assigned: Vec<usize> = values.iter().map(|(column, _)| *column).collect();
        for (column, value) in values {
            if !table.key.contains(&column) {
                self.set_cell(row, column, value)?;
            }
        }
        for unique in &table.uniques {
            if !unique.columns.iter().any(|column| assigned.contains(column)) {
                continue;
            }
            let Some(name) = entry_name(&table, unique, |column| self.cell(row, column))? else { continue };
            let own = key_text(&row.key);
            let taken = self.holder(&name)?.is_some_and(|holder| *holder != *own);
            if taken || self.committed(&name) && self.session.newest(&name) != Some(Datum::from_text(&own)) {
                let duplicate =
                    Duplicate { constraint: unique.name.clone(), columns: unique.columns.clone(), row: None };
                let mut whole = vec![Datum::Null; table.columns.len()];
                for &column in &unique.columns {
                    whole[column] = self.cell(row, column)?;
                }
                return Err(duplicate_error(&duplicate, &table, &whole));
            }
            self.write(&name, Some(Datum::from_text(own)))?;
        }
        Ok(())
    }

    /// The rows that a statement is about, each once.
    fn targets(
        &mut self,
        select: &Select,
        target: usize,
        limit: Option<&Expr>,
    ) -> Result<Vec<(Rc<StoredRow>, Vec<Slot>)>> {
        let mut seen = FxHashSet::default();
        let mut found: Vec<(Rc<StoredRow>, Vec<Slot>)> = Vec::new();
        if limit.is_none() && select.order.is_empty() {
            self.frames(select, None, &mut |_, slots| {
                if let Slot::Stored(row) = &slots[target]
                    && seen.insert(row.key.clone())
                {
                    found.push((Rc::clone(row), slots.clone()));
                }
                Ok(Flow::More)
            })?;
            return Ok(found);
        }
        let frames = self.sorted_frames(select, None)?;
        let most = match limit {
            None => usize::MAX,
            Some(limit) => match self.evaluate(limit, &Frames::EMPTY)? {
                Datum::Integer(number) => usize::try_from(number).unwrap_or(0),
                _ => usize::MAX,
            },
        };
        for slots in frames {
            if let Slot::Stored(row) = &slots[target]
                && found.len() < most
                && seen.insert(row.key.clone())
            {
                found.push((Rc::clone(row), slots));
            }
        }
        Ok(found)
    }

    fn update(&mut self, update: &Update) -> Result<Changed> {
        let targets = self.targets(&update.select, update.target, update.limit.as_ref())?;
        let mut changes = Vec::with_capacity(targets.len());
        let mut frames = Vec::with_capacity(targets.len());
        let mut affected = 0;
        for (row, slots) in targets {
            let mut values = Vec::with_capacity(update.columns.len());
            for (&column, expr) in update.columns.iter().zip(&update.select.output) {
                let value = self.evaluate(expr, &Frames { slots: &slots, outer: None })?;
                values.push((column, self.assigned(&update.table, column, value)?));
            }
            // MySQL does not count rows that stay as they were. That is known only of cells that were read anyway.
            let same = |(column, value): &(usize, Datum)| row.known(*column).as_ref() == Some(value);
            let unchanged = self.dialect == Dialect::MySql && values.iter().all(same);
            affected += u64::from(!unchanged);
            changes.push((row, values));
            frames.push(slots);
        }
        let rows = self.rewrite(changes)?;
        let mut changed = Changed { affected, returned: vec![] };
        for (row, mut slots) in rows.into_iter().zip(frames) {
            self.check(&update.checks, &[Slot::Stored(Rc::clone(&row))], &update.table)?;
            if let Some(returning) = &update.returning {
                slots[update.target] = Slot::Stored(row);
                let frames = Frames { slots: &slots, outer: None };
                let values = returning.output.iter().map(|expr| self.evaluate(expr, &frames)).collect::<Result<_>>()?;
                changed.returned.push(values);
            }
        }
        Ok(changed)
    }

    fn delete(&mut self, delete: &Delete) -> Result<Changed> {
        debug_assert!(delete.target < delete.select.sources.len(), "the target is one of the tables");
        let targets = self.targets(&delete.select, delete.target, delete.limit.as_ref())?;
        let mut changed = Changed { affected: targets.len() as u64, returned: vec![] };
        if let Some(returning) = &delete.returning {
            for (_, slots) in &targets {
                let frames = Frames { slots, outer: None };
                let values = returning.output.iter().map(|expr| self.evaluate(expr, &frames)).collect::<Result<_>>()?;
                changed.returned.push(values);
            }
        }
        for (row, _) in &targets {
            debug_assert_eq!(row.table.id, delete.table.id, "rows of the table are removed");
            self.remove_row(row)?;
        }
        Ok(changed)
    }

    /// Adds a row to a table that nobody else knows yet.
    pub(crate) fn add_plain_row(&mut self, table: &Arc<Table>, values: Vec<Datum>) -> Result<()> {
        let row = self.row(table, &key_of(table, &values), None);
        self.add_row(&row, &values)
    }

    /// Writes the entries of a new unique constraint for the rows that are there.
    pub(crate) fn fill_index(&mut self, table: &Arc<Table>, unique: &Unique) -> Result<()> {
        self.touch()?;
        let mut taken = FxHashSet::default();
        let keys: Vec<(Row, Arc<str>)> =
            table.keys().iter().map(|(key, name)| (key.clone(), Arc::clone(name))).collect();
        for (key, name) in keys {
            let row = self.row(table, &key, Some(&name));
            if !self.exists(&row)? {
                continue;
            }
            let Some(entry) = entry_name(table, unique, |column| self.cell(&row, column))? else { continue };
            if !taken.insert(entry.clone()) {
                return Err(Kind::UniqueViolation.error(format!("could not create unique index \"{}\"", unique.name)));
            }
            self.write(&entry, Some(Datum::from_text(key_text(&key))))?;
        }
        Ok(())
    }
}

/// The key of a row with these values; a new number where the table has no key.
fn key_of(table: &Table, values: &[Datum]) -> Row {
    if table.key.is_empty() {
        return Row::new(vec![Datum::Integer(table.next_row_number())]);
    }
    Row::new(table.key.iter().map(|&column| values[column].clone()).collect())
}

/// `accounts#name/alice`; nothing if a value is `NULL`, which is never a duplicate.
fn entry_name(table: &Table, unique: &Unique, mut value: impl FnMut(usize) -> Result<Datum>) -> Result<Option<String>> {
    let mut values = Vec::with_capacity(unique.columns.len());
    for &column in &unique.columns {
        match value(column)? {
            Datum::Null => return Ok(None),
            value => values.push(value),
        }
    }
    let cells: Vec<&str> = unique.columns.iter().map(|&column| table.columns[column].cell.as_str()).collect();
    Ok(Some(format!("{}#{}/{}", table.prefix, cells.join(","), key_text(&Row::new(values)))))
}

fn null_in(table: &str, column: &str) -> Error {
    let message = format!("null value in column \"{column}\" of relation \"{table}\" violates not-null constraint");
    Kind::NotNullViolation.error(message)
}

fn duplicate_error(duplicate: &Duplicate, table: &Table, values: &[Datum]) -> Error {
    let names: Vec<&str> = duplicate.columns.iter().map(|&column| table.columns[column].name.as_str()).collect();
    let shown: Vec<String> = duplicate.columns.iter().map(|&column| values[column].to_string()).collect();
    let message = format!("duplicate key value violates unique constraint \"{}\"", duplicate.constraint);
    Kind::UniqueViolation.error(message).hint(format!(
        "Key ({})=({}) already exists.",
        names.join(", "),
        shown.join(", ")
    ))
}
