//! Queries: rows in, rows out.

use std::cmp::Ordering;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::aggregate::Accumulator;
use super::join::{Flow, Sink};
use super::{Frames, Run, Slot};
use crate::datum::Datum;
use crate::error::{Kind, Result};
use crate::order::{Row, order};
use crate::plan::{Body, Distinct, Expr, Group, Query, Select, SetOperation, SortBy, SortKey};

/// Which of the rows are wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    skip: usize,
    take: usize,
}

impl Window {
    fn apply<T>(self, rows: Vec<T>) -> Vec<T> {
        rows.into_iter().skip(self.skip).take(self.take).collect()
    }
}

/// Rows of a group.
struct Members {
    first: Vec<Slot>,
    keys: Vec<Datum>,
    accumulators: Vec<Accumulator>,
}

impl Run<'_> {
    /// The rows of a query; at most so many, if that is all that is wanted.
    pub(crate) fn query(
        &mut self,
        query: &Query,
        outer: Option<&Frames<'_>>,
        at_most: Option<usize>,
    ) -> Result<Vec<Vec<Datum>>> {
        let mut window = self.window(query.limit.as_ref(), query.offset.as_ref(), outer)?;
        window.take = window.take.min(at_most.unwrap_or(usize::MAX));
        if window.take == 0 {
            return Ok(vec![]);
        }
        let mut rows = match &query.body {
            Body::Select(select) => return self.select(select, outer, window),
            Body::Values(values) => {
                let frames = Frames { slots: &[], outer };
                let row = |row: &Vec<Expr>| row.iter().map(|value| self.evaluate(value, &frames)).collect();
                values.iter().map(row).collect::<Result<Vec<Vec<Datum>>>>()?
            }
            Body::Set { first, rest } => self.set(first, rest, outer)?,
        };
        rows.sort_by(|a, b| by_output(&query.order, a, b));
        Ok(window.apply(rows))
    }

    pub(super) fn window(
        &mut self,
        limit: Option<&Expr>,
        offset: Option<&Expr>,
        outer: Option<&Frames<'_>>,
    ) -> Result<Window> {
        let frames = Frames { slots: &[], outer };
        let mut number = |expr: Option<&Expr>, otherwise: usize| match expr {
            None => Ok(otherwise),
            Some(expr) => {
                let value = self.evaluate(expr, &frames)?;
                match crate::cast::cast(value, crate::datum::Type::BigInt, self.dialect)? {
                    Datum::Integer(number) => usize::try_from(number)
                        .map_err(|_| Kind::InvalidParameter.error("LIMIT and OFFSET must not be negative")),
                    _ => Ok(otherwise),
                }
            }
        };
        Ok(Window { take: number(limit, usize::MAX)?, skip: number(offset, 0)? })
    }

    fn set(
        &mut self,
        first: &Query,
        rest: &[(SetOperation, bool, Query)],
        outer: Option<&Frames<'_>>,
    ) -> Result<Vec<Vec<Datum>>> {
        // Operands have a scope between them and the queries around this one.
        let between = Frames { slots: &[], outer };
        let mut rows = self.query(first, Some(&between), None)?;
        for (operation, all, operand) in rest {
            let right = self.query(operand, Some(&between), None)?;
            rows = combine(*operation, *all, rows, right);
        }
        Ok(rows)
    }

    fn select(&mut self, select: &Select, outer: Option<&Frames<'_>>, window: Window) -> Result<Vec<Vec<Datum>>> {
        if let (Distinct::None, true) = (&select.distinct, select.order.is_empty()) {
            let mut rows = Vec::new();
            let mut skipped = 0;
            self.frames(select, outer, &mut |run, slots| {
                if skipped < window.skip {
                    skipped += 1;
                    return Ok(Flow::More);
                }
                rows.push(run.project(&select.output, &Frames { slots, outer })?);
                Ok(if rows.len() >= window.take { Flow::Enough } else { Flow::More })
            })?;
            return Ok(rows);
        }
        if let Distinct::Rows = select.distinct {
            return self.distinct_rows(select, outer, window);
        }
        let mut sorted = self.sorted_frames(select, outer)?;
        if let Distinct::On(keys) = &select.distinct {
            let mut seen = FxHashSet::default();
            let mut first = Vec::new();
            for slots in sorted {
                if seen.insert(Row::new(self.project(keys, &Frames { slots: &slots, outer })?)) {
                    first.push(slots);
                }
            }
            sorted = first;
        }
        // Only now, when it is clear which rows are in the answer, the rest of their cells is read.
        let wanted = window.apply(sorted);
        wanted.iter().map(|slots| self.project(&select.output, &Frames { slots, outer })).collect()
    }

    fn distinct_rows(
        &mut self,
        select: &Select,
        outer: Option<&Frames<'_>>,
        window: Window,
    ) -> Result<Vec<Vec<Datum>>> {
        let enough = if select.order.is_empty() { window.skip.saturating_add(window.take) } else { usize::MAX };
        let mut seen = FxHashSet::default();
        let mut rows: Vec<Vec<Datum>> = Vec::new();
        self.frames(select, outer, &mut |run, slots| {
            let row = run.project(&select.output, &Frames { slots, outer })?;
            if seen.insert(Row::new(row.clone())) {
                rows.push(row);
            }
            Ok(if rows.len() >= enough { Flow::Enough } else { Flow::More })
        })?;
        rows.sort_by(|a, b| by_output(&select.order, a, b));
        Ok(window.apply(rows))
    }

    /// The rows before they are projected, in order.
    pub(super) fn sorted_frames(&mut self, select: &Select, outer: Option<&Frames<'_>>) -> Result<Vec<Vec<Slot>>> {
        let mut all: Vec<(Vec<Datum>, Vec<Slot>)> = Vec::new();
        self.frames(select, outer, &mut |run, slots| {
            let frames = Frames { slots, outer };
            let key = |key: &SortKey| match &key.by {
                SortBy::Output(at) => run.evaluate(&select.output[*at], &frames),
                SortBy::Expr(expr) => run.evaluate(expr, &frames),
            };
            let keys = select.order.iter().map(key).collect::<Result<_>>()?;
            all.push((keys, slots.clone()));
            Ok(Flow::More)
        })?;
        all.sort_by(|(a, _), (b, _)| {
            let pairs = select.order.iter().zip(a.iter().zip(b));
            pairs.map(|(key, (a, b))| by_key(key, a, b)).find(|found| found.is_ne()).unwrap_or(Ordering::Equal)
        });
        Ok(all.into_iter().map(|(_, slots)| slots).collect())
    }

    fn project(&mut self, output: &[Expr], frames: &Frames<'_>) -> Result<Vec<Datum>> {
        output.iter().map(|expr| self.evaluate(expr, frames)).collect()
    }

    /// Pushes the rows of a `SELECT` before they are sorted and projected: those of its tables, or its groups.
    pub(super) fn frames(&mut self, select: &Select, outer: Option<&Frames<'_>>, sink: &mut Sink<'_>) -> Result<()> {
        let possible = self.holds(&select.guard, &Frames { slots: &[], outer })?;
        match &select.group {
            None if possible => self.plain_frames(select, outer, sink),
            None => Ok(()),
            Some(group) => self.groups(select, group, possible, outer, sink),
        }
    }

    fn plain_frames(&mut self, select: &Select, outer: Option<&Frames<'_>>, sink: &mut Sink<'_>) -> Result<()> {
        let mut slots = vec![Slot::Missing; select.sources.len()];
        let mut filtered = |run: &mut Run<'_>, slots: &mut Vec<Slot>| {
            if run.holds(&select.filter, &Frames { slots, outer })? { sink(run, slots) } else { Ok(Flow::More) }
        };
        match &select.from {
            Some(node) => self.each(select, node, &mut slots, outer, &mut filtered)?,
            None => filtered(self, &mut slots)?,
        };
        Ok(())
    }

    fn groups(
        &mut self,
        select: &Select,
        group: &Group,
        possible: bool,
        outer: Option<&Frames<'_>>,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let mut places: FxHashMap<Row, usize> = FxHashMap::default();
        let mut groups: Vec<Members> = Vec::new();
        let accumulators = || group.aggregates.iter().map(Accumulator::new).collect();
        if possible {
            self.plain_frames(select, outer, &mut |run, slots| {
                let frames = Frames { slots, outer };
                let keys = run.project(&group.keys, &frames)?;
                let place = *places.entry(Row::new(keys.clone())).or_insert(groups.len());
                if place == groups.len() {
                    groups.push(Members { first: slots.clone(), keys, accumulators: accumulators() });
                }
                for (aggregate, accumulator) in group.aggregates.iter().zip(&mut groups[place].accumulators) {
                    run.accumulate(aggregate, accumulator, &frames)?;
                }
                Ok(Flow::More)
            })?;
        }
        // Without GROUP BY there is one group, even of nothing.
        if groups.is_empty() && group.keys.is_empty() {
            let first = vec![Slot::Missing; select.sources.len()];
            groups.push(Members { first, keys: vec![], accumulators: accumulators() });
        }
        for members in groups {
            let mut values = members.keys;
            for (aggregate, accumulator) in group.aggregates.iter().zip(members.accumulators) {
                values.push(accumulator.finish(aggregate, self.dialect)?);
            }
            let mut slots = members.first;
            slots.push(Slot::Values(Rc::from(values)));
            if let Some(having) = &group.having
                && self.condition(having, &Frames { slots: &slots, outer })? != Some(true)
            {
                continue;
            }
            if sink(self, &mut slots)? == Flow::Enough {
                break;
            }
        }
        Ok(())
    }
}

/// Compares two rows of an answer. Planning lets through only keys that are columns of it.
fn by_output(keys: &[SortKey], a: &[Datum], b: &[Datum]) -> Ordering {
    for key in keys {
        let SortBy::Output(at) = key.by else { continue };
        let found = by_key(key, &a[at], &b[at]);
        if found.is_ne() {
            return found;
        }
    }
    Ordering::Equal
}

fn by_key(key: &SortKey, a: &Datum, b: &Datum) -> Ordering {
    match (a.is_null(), b.is_null()) {
        (true, true) => Ordering::Equal,
        (true, false) if key.nulls_first => Ordering::Less,
        (true, false) => Ordering::Greater,
        (false, true) if key.nulls_first => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) if key.descending => order(b, a),
        (false, false) => order(a, b),
    }
}

fn combine(operation: SetOperation, all: bool, left: Vec<Vec<Datum>>, right: Vec<Vec<Datum>>) -> Vec<Vec<Datum>> {
    let key = |row: &Vec<Datum>| Row::new(row.clone());
    if operation == SetOperation::Union {
        let mut rows = left;
        rows.extend(right);
        if !all {
            let mut seen = FxHashSet::default();
            rows.retain(|row| seen.insert(key(row)));
        }
        return rows;
    }
    let mut counts: FxHashMap<Row, usize> = FxHashMap::default();
    right.iter().for_each(|row| *counts.entry(key(row)).or_insert(0) += 1);
    let mut rows = left;
    let keeps = |found: bool| found == (operation == SetOperation::Intersect);
    if all {
        rows.retain(|row| {
            let count = counts.entry(key(row)).or_insert(0);
            let found = *count > 0;
            *count = count.saturating_sub(1);
            keeps(found)
        });
    } else {
        let mut seen = FxHashSet::default();
        rows.retain(|row| keeps(counts.contains_key(&key(row))) && seen.insert(key(row)));
    }
    rows
}
