//! Which keys does an access path name?

use std::ops::Bound;
use std::sync::Arc;

use rust_decimal::prelude::ToPrimitive;

use super::{Frames, Run};
use crate::catalog::Table;
use crate::datum::{Datum, Type};
use crate::error::Result;
use crate::order::Row;
use crate::plan::Access;

/// A key, and its name if it is in the universe.
pub(super) type Found = (Row, Option<Arc<str>>);

/// What a value means for a column of a key.
enum KeyValue {
    Is(Datum),
    /// No row can have it.
    Never,
    /// It is of another kind, and only comparing can tell.
    Unclear,
}

impl Run<'_> {
    /// The keys that an access path leaves.
    pub(super) fn keys(&mut self, table: &Table, access: Option<&Access>, frames: &Frames<'_>) -> Result<Vec<Found>> {
        // What was inserted until now is known only once it is this transaction's turn.
        self.touch()?;
        let Some(access) = access else { return self.everything(table) };
        let types = table.key_types();
        let mut prefixes: Vec<Vec<Datum>> = vec![vec![]];
        for (alternatives, column) in access.equals.iter().zip(&types) {
            let mut values = Vec::new();
            for alternative in alternatives {
                match key_value(self.evaluate(alternative, frames)?, column.ty) {
                    KeyValue::Is(value) => values.push(value),
                    KeyValue::Never => {}
                    KeyValue::Unclear => return self.everything(table),
                }
            }
            prefixes = prefixes
                .into_iter()
                .flat_map(|prefix| {
                    values.iter().map(move |value| [prefix.as_slice(), std::slice::from_ref(value)].concat())
                })
                .collect();
        }
        if access.equals.len() == types.len() {
            // A key that nobody ever inserted is read, too: that it is absent is an observation.
            let mut keys: Vec<Row> = prefixes.into_iter().map(Row::new).collect();
            keys.sort();
            keys.dedup();
            return Ok(keys.into_iter().map(|key| (key, None)).collect());
        }
        let ty = types[access.equals.len()].ty;
        let Some(lower) = self.bound(access.lower.as_ref(), ty, frames)? else { return self.everything(table) };
        let Some(upper) = self.bound(access.upper.as_ref(), ty, frames)? else { return self.everything(table) };
        if matches!(lower, Bound::Excluded(Datum::Null)) || matches!(upper, Bound::Excluded(Datum::Null)) {
            return Ok(vec![]);
        }
        self.watch_rows(table)?;
        prefixes.sort_by(|a, b| Row::new(a.clone()).cmp(&Row::new(b.clone())));
        prefixes.dedup();
        let mut found = Vec::new();
        for prefix in prefixes {
            between(table, &prefix, &lower, &upper, &mut found);
        }
        Ok(found)
    }

    fn everything(&mut self, table: &Table) -> Result<Vec<Found>> {
        self.watch_rows(table)?;
        Ok(table.keys().iter().map(|(key, name)| (key.clone(), Some(Arc::clone(name)))).collect())
    }

    /// Where transactions overlap, a row can be inserted after a scan that did not know its key. So every insert writes a key that every scan
    /// reads: the store keeps them in order. One transaction at a time needs nothing of the kind.
    fn watch_rows(&mut self, table: &Table) -> Result<()> {
        if self.engine.store().options().concurrent {
            self.read(&table.rows_name())?;
        }
        Ok(())
    }

    /// The counterpart of a scan's watch.
    pub(super) fn announce_row(&mut self, table: &Table) -> Result<()> {
        if self.engine.store().options().concurrent {
            self.write(&table.rows_name(), Some(Datum::Boolean(true)))?;
        }
        Ok(())
    }

    /// A bound of a range; excluding `NULL` stands for one that no row satisfies, and `None` for one that does not help.
    fn bound(
        &mut self,
        bound: Option<&(crate::plan::Expr, bool)>,
        ty: Type,
        frames: &Frames<'_>,
    ) -> Result<Option<Bound<Datum>>> {
        let Some((expr, inclusive)) = bound else { return Ok(Some(Bound::Unbounded)) };
        let value = self.evaluate(expr, frames)?;
        Ok(match value {
            Datum::Null => Some(Bound::Excluded(Datum::Null)),
            // The order is that of all numbers, so bounds need not be of the column's type.
            value if same_family(&value, ty) && *inclusive => Some(Bound::Included(value)),
            value if same_family(&value, ty) => Some(Bound::Excluded(value)),
            _ => None,
        })
    }
}

fn between(table: &Table, prefix: &[Datum], lower: &Bound<Datum>, upper: &Bound<Datum>, found: &mut Vec<Found>) {
    let at = prefix.len();
    let start = match lower {
        Bound::Included(value) | Bound::Excluded(value) => [prefix, std::slice::from_ref(value)].concat(),
        Bound::Unbounded => prefix.to_vec(),
    };
    let keys = table.keys();
    for (key, name) in keys.range(Row::new(start)..) {
        if key.0.iter().zip(prefix).any(|(a, b)| crate::order::order(a, b).is_ne()) {
            break;
        }
        let Some(value) = key.0.get(at) else { break };
        if let Bound::Excluded(limit) = lower
            && crate::order::order(value, limit).is_eq()
        {
            continue;
        }
        let beyond = match upper {
            Bound::Included(limit) => crate::order::order(value, limit).is_gt(),
            Bound::Excluded(limit) => crate::order::order(value, limit).is_ge(),
            Bound::Unbounded => false,
        };
        if beyond {
            break;
        }
        found.push((key.clone(), Some(Arc::clone(name))));
    }
}

fn same_family(value: &Datum, ty: Type) -> bool {
    match value {
        Datum::Integer(_) | Datum::Double(_) | Datum::Numeric(_) => ty.is_number(),
        Datum::Text(_) => ty == Type::Text,
        Datum::Bytes(_) => ty == Type::Bytes,
        Datum::Boolean(_) => ty == Type::Boolean,
        Datum::Date(_) | Datum::Timestamp(_) => ty.is_calendar(),
        Datum::Time(_) => ty == Type::Time,
        Datum::Null => false,
    }
}

/// The value of a key's column that equals this value, if there is one.
fn key_value(value: Datum, ty: Type) -> KeyValue {
    if value.is_null() {
        return KeyValue::Never;
    }
    if !same_family(&value, ty) {
        return KeyValue::Unclear;
    }
    match (&value, ty) {
        (Datum::Numeric(number), ty) if ty.is_integer() => match number.to_i64() {
            Some(whole) if number.fract().is_zero() => KeyValue::Is(Datum::Integer(whole)),
            _ => KeyValue::Never,
        },
        (Datum::Double(number), ty) if ty.is_integer() => {
            let whole = *number as i64;
            if whole as f64 == *number { KeyValue::Is(Datum::Integer(whole)) } else { KeyValue::Never }
        }
        (Datum::Integer(number), Type::Numeric) => KeyValue::Is(Datum::Numeric((*number).into())),
        (Datum::Integer(number), Type::Double) => KeyValue::Is(Datum::Double(*number as f64)),
        (Datum::Double(_), Type::Numeric) | (Datum::Numeric(_), Type::Double) => KeyValue::Unclear,
        (Datum::Date(date), Type::Timestamp | Type::TimestampTz) => {
            KeyValue::Is(Datum::Timestamp(date.to_datetime(jiff::civil::Time::midnight())))
        }
        (Datum::Timestamp(_), Type::Date) => KeyValue::Unclear,
        _ => KeyValue::Is(value),
    }
}
