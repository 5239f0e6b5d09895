//! Filling the slots of a row, table by table.
//!
//! Rows are pushed to whoever wants them, who may have had enough: then nothing more is read. The recursion is as deep as there are tables
//! in a `FROM` clause, which planning bounds.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::{Frames, Run, Slot};
use crate::datum::Datum;
use crate::error::{Kind, Result};
use crate::order::Row;
use crate::plan::{Expr, JoinKind, Node, Select, Source};

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    More,
    Enough,
}

/// Takes a row whose slots are filled.
pub(super) type Sink<'s> = dyn FnMut(&mut Run<'_>, &mut Vec<Slot>) -> Result<Flow> + 's;

/// One side of a join, kept for all rows of the other side.
struct Kept {
    rows: Vec<Vec<Slot>>,
    /// By the values of the equalities, where there are some.
    index: Option<FxHashMap<Row, Vec<usize>>>,
    matched: Vec<bool>,
}

impl Run<'_> {
    /// Pushes all rows of a `FROM` clause.
    pub(super) fn each(
        &mut self,
        select: &Select,
        node: &Node,
        slots: &mut Vec<Slot>,
        outer: Option<&Frames<'_>>,
        sink: &mut Sink<'_>,
    ) -> Result<Flow> {
        match node {
            Node::Scan { source, access, filter } => {
                let source = *source;
                let mut filtered = |run: &mut Run<'_>, slots: &mut Vec<Slot>| {
                    if run.holds(filter, &Frames { slots, outer })? { sink(run, slots) } else { Ok(Flow::More) }
                };
                let flow = self.scan(select, source, access.as_ref(), slots, outer, &mut filtered);
                slots[source] = Slot::Missing;
                flow
            }
            Node::Join { left, right, kind, on, equal, keyed, filled } => {
                if *keyed {
                    return self.each(select, left, slots, outer, &mut |run, slots| {
                        run.each_keyed(select, right, *kind, on, filled, slots, outer, sink)
                    });
                }
                let mut kept = None;
                let flow = self.each(select, left, slots, outer, &mut |run, slots| {
                    if kept.is_none() {
                        kept = Some(run.keep(select, right, equal, filled, slots, outer)?);
                    }
                    match &mut kept {
                        Some(kept) => run.each_kept(kept, *kind, on, equal, filled, slots, outer, sink),
                        None => Ok(Flow::More),
                    }
                })?;
                if *kind != JoinKind::Full || flow == Flow::Enough {
                    return Ok(flow);
                }
                slots.fill(Slot::Missing);
                let kept = match kept {
                    Some(kept) => kept,
                    None => self.keep(select, right, equal, filled, slots, outer)?,
                };
                self.each_unmatched(&kept, filled, slots, sink)
            }
        }
    }

    fn scan(
        &mut self,
        select: &Select,
        source: usize,
        access: Option<&crate::plan::Access>,
        slots: &mut Vec<Slot>,
        outer: Option<&Frames<'_>>,
        sink: &mut Sink<'_>,
    ) -> Result<Flow> {
        match &select.sources[source] {
            Source::Table(table) => {
                for (key, name) in self.keys(table, access, &Frames { slots, outer })? {
                    let row = self.row(table, &key, name.as_ref());
                    if !self.exists(&row)? {
                        continue;
                    }
                    slots[source] = Slot::Stored(row);
                    if sink(self, slots)? == Flow::Enough {
                        return Ok(Flow::Enough);
                    }
                }
                Ok(Flow::More)
            }
            Source::System(table) => {
                let rows = table.rows(self);
                self.push_values(source, rows.into_iter().map(Rc::from), slots, sink)
            }
            Source::Query { query, lateral } => {
                let rows = if *lateral {
                    let around = slots.clone();
                    self.query_rows(query, Some(&Frames { slots: &around, outer }))?
                } else {
                    // The scope between a derived table and the queries around its own has no tables.
                    self.query_rows(query, Some(&Frames { slots: &[], outer }))?
                };
                self.push_values(source, rows.iter().cloned(), slots, sink)
            }
            Source::Series(bounds) => {
                let mut numbers = [0, 0, 1];
                for (number, bound) in numbers.iter_mut().zip(bounds) {
                    match crate::cast::cast(
                        self.evaluate(bound, &Frames { slots, outer })?,
                        crate::datum::Type::BigInt,
                        self.dialect,
                    )? {
                        Datum::Integer(value) => *number = value,
                        _ => return Ok(Flow::More),
                    }
                }
                let [start, end, step] = numbers;
                if step == 0 {
                    return Err(Kind::InvalidParameter.error("step size cannot equal zero"));
                }
                let series = std::iter::successors(Some(start), |number: &i64| number.checked_add(step));
                let inside = series.take_while(move |&number| if step > 0 { number <= end } else { number >= end });
                self.push_values(source, inside.map(|number| Rc::from(vec![Datum::Integer(number)])), slots, sink)
            }
        }
    }

    fn push_values(
        &mut self,
        source: usize,
        rows: impl Iterator<Item = Rc<[Datum]>>,
        slots: &mut Vec<Slot>,
        sink: &mut Sink<'_>,
    ) -> Result<Flow> {
        for row in rows {
            slots[source] = Slot::Values(row);
            if sink(self, slots)? == Flow::Enough {
                return Ok(Flow::Enough);
            }
        }
        Ok(Flow::More)
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of a join, taken apart by the caller's match")]
    fn each_keyed(
        &mut self,
        select: &Select,
        right: &Node,
        kind: JoinKind,
        on: &[Expr],
        filled: &[usize],
        slots: &mut Vec<Slot>,
        outer: Option<&Frames<'_>>,
        sink: &mut Sink<'_>,
    ) -> Result<Flow> {
        let mut found = false;
        let flow = self.each(select, right, slots, outer, &mut |run, slots| {
            if !run.holds(on, &Frames { slots, outer })? {
                return Ok(Flow::More);
            }
            found = true;
            sink(run, slots)
        })?;
        if found || flow == Flow::Enough || kind == JoinKind::Inner {
            return Ok(flow);
        }
        filled.iter().for_each(|&slot| slots[slot] = Slot::Missing);
        sink(self, slots)
    }

    /// Collects one side of a join, and sorts it into an index if there is an equality.
    fn keep(
        &mut self,
        select: &Select,
        right: &Node,
        equal: &[(Expr, Expr)],
        filled: &[usize],
        slots: &[Slot],
        outer: Option<&Frames<'_>>,
    ) -> Result<Kept> {
        let mut rows: Vec<Vec<Slot>> = Vec::new();
        let mut index: FxHashMap<Row, Vec<usize>> = FxHashMap::default();
        let mut own = vec![Slot::Missing; slots.len()];
        self.each(select, right, &mut own, outer, &mut |run, slots| {
            if !equal.is_empty() {
                let keys = equal.iter().map(|(_, right)| run.evaluate(right, &Frames { slots, outer }));
                let keys: Vec<Datum> = keys.collect::<Result<_>>()?;
                // NULL equals nothing.
                if !keys.iter().any(Datum::is_null) {
                    index.entry(Row::new(keys)).or_default().push(rows.len());
                }
            }
            rows.push(filled.iter().map(|&slot| slots[slot].clone()).collect());
            Ok(Flow::More)
        })?;
        let matched = vec![false; rows.len()];
        Ok(Kept { rows, index: (!equal.is_empty()).then_some(index), matched })
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of a join, taken apart by the caller's match")]
    fn each_kept(
        &mut self,
        kept: &mut Kept,
        kind: JoinKind,
        on: &[Expr],
        equal: &[(Expr, Expr)],
        filled: &[usize],
        slots: &mut Vec<Slot>,
        outer: Option<&Frames<'_>>,
        sink: &mut Sink<'_>,
    ) -> Result<Flow> {
        let candidates: Vec<usize> = match &kept.index {
            None => (0..kept.rows.len()).collect(),
            Some(index) => {
                let keys = equal.iter().map(|(left, _)| self.evaluate(left, &Frames { slots, outer }));
                let keys: Vec<Datum> = keys.collect::<Result<_>>()?;
                index.get(&Row::new(keys)).cloned().unwrap_or_default()
            }
        };
        let mut found = false;
        for candidate in candidates {
            filled.iter().zip(&kept.rows[candidate]).for_each(|(&slot, value)| slots[slot] = value.clone());
            if !self.holds(on, &Frames { slots, outer })? {
                continue;
            }
            found = true;
            kept.matched[candidate] = true;
            if sink(self, slots)? == Flow::Enough {
                return Ok(Flow::Enough);
            }
        }
        filled.iter().for_each(|&slot| slots[slot] = Slot::Missing);
        if found || kind == JoinKind::Inner { Ok(Flow::More) } else { sink(self, slots) }
    }

    fn each_unmatched(
        &mut self,
        kept: &Kept,
        filled: &[usize],
        slots: &mut Vec<Slot>,
        sink: &mut Sink<'_>,
    ) -> Result<Flow> {
        for (row, _) in kept.rows.iter().zip(&kept.matched).filter(|(_, matched)| !**matched) {
            filled.iter().zip(row).for_each(|(&slot, value)| slots[slot] = value.clone());
            if sink(self, slots)? == Flow::Enough {
                return Ok(Flow::Enough);
            }
        }
        filled.iter().for_each(|&slot| slots[slot] = Slot::Missing);
        Ok(Flow::More)
    }
}
