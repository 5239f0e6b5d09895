//! Queries inside of expressions.
//!
//! One that depends on no row around it is run once in a statement. `EXISTS` and comparisons stop reading as soon as the answer is clear.

use std::cell::OnceCell;
use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::evaluate::{compared, truth};
use super::{Frames, Run};
use crate::datum::Datum;
use crate::engine::Dialect;
use crate::error::{Kind, Result};
use crate::order::Row;
use crate::plan::{Comparison, Query, Subquery, SubqueryKind};

/// The answer of a query that depends on nothing around it.
#[derive(Debug)]
pub(super) struct Kept {
    rows: Rc<Vec<Rc<[Datum]>>>,
    /// Of a single column: its values, and whether there is a `NULL`.
    set: OnceCell<(FxHashSet<Row>, bool)>,
}

impl Run<'_> {
    fn kept(&mut self, query: &Query, outer: Option<&Frames<'_>>, at_most: Option<usize>) -> Result<Rc<Kept>> {
        if let Some(kept) = self.results.get(&query.id) {
            return Ok(Rc::clone(kept));
        }
        let rows = self.query(query, outer, at_most)?.into_iter().map(Rc::from).collect();
        let kept = Rc::new(Kept { rows: Rc::new(rows), set: OnceCell::new() });
        if !query.is_correlated() {
            self.results.insert(query.id, Rc::clone(&kept));
        }
        Ok(kept)
    }

    /// The rows of a derived table.
    pub(super) fn query_rows(&mut self, query: &Query, outer: Option<&Frames<'_>>) -> Result<Rc<Vec<Rc<[Datum]>>>> {
        Ok(Rc::clone(&self.kept(query, outer, None)?.rows))
    }

    pub(super) fn subquery(&mut self, subquery: &Subquery, frames: &Frames<'_>) -> Result<Datum> {
        let query = &subquery.query;
        match subquery.kind {
            SubqueryKind::Exists { negated } => {
                let kept = self.kept(query, Some(frames), Some(1))?;
                Ok(Datum::Boolean(kept.rows.is_empty() == negated))
            }
            SubqueryKind::Scalar => {
                let kept = self.kept(query, Some(frames), Some(2))?;
                match kept.rows.as_slice() {
                    [] => Ok(Datum::Null),
                    [row] => Ok(row[0].clone()),
                    _ => Err(Kind::Cardinality.error("more than one row returned by a subquery used as an expression")),
                }
            }
            SubqueryKind::In { negated } => {
                let found = self.any(subquery, Comparison::Equal, frames)?;
                Ok(truth(found.map(|found| found != negated)))
            }
            SubqueryKind::Quantified { op, all: false } => Ok(truth(self.any(subquery, op, frames)?)),
            SubqueryKind::Quantified { op, all: true } => {
                // It holds for all unless the opposite holds for one.
                let opposite = match op {
                    Comparison::Equal => Comparison::NotEqual,
                    Comparison::NotEqual => Comparison::Equal,
                    Comparison::Less => Comparison::GreaterOrEqual,
                    Comparison::LessOrEqual => Comparison::Greater,
                    Comparison::Greater => Comparison::LessOrEqual,
                    Comparison::GreaterOrEqual => Comparison::Less,
                };
                Ok(truth(self.any(subquery, opposite, frames)?.map(|found| !found)))
            }
        }
    }

    /// Whether the comparison holds for one of the rows.
    fn any(&mut self, subquery: &Subquery, op: Comparison, frames: &Frames<'_>) -> Result<Option<bool>> {
        let left = subquery.left.iter().map(|expr| self.evaluate(expr, frames)).collect::<Result<Vec<_>>>()?;
        let kept = self.kept(&subquery.query, Some(frames), None)?;
        // MySQL compares texts with numbers, which sets do not.
        if let ([value], Comparison::Equal, Dialect::PostgreSql) = (left.as_slice(), op, self.dialect) {
            let (values, has_null) = kept.set.get_or_init(|| {
                let values: FxHashSet<Row> = kept.rows.iter().map(|row| Row(row.to_vec().into())).collect();
                let has_null = values.contains(&Row::new(vec![Datum::Null]));
                (values, has_null)
            });
            return Ok(match (kept.rows.is_empty(), value) {
                (true, _) => Some(false),
                (false, Datum::Null) => None,
                (false, value) if values.contains(&Row::new(vec![value.clone()])) => Some(true),
                _ if *has_null => None,
                _ => Some(false),
            });
        }
        let mut unknown = false;
        for row in kept.rows.iter() {
            match self.rows_compare(op, &left, row)? {
                Some(true) => return Ok(Some(true)),
                Some(false) => {}
                None => unknown = true,
            }
        }
        Ok(if unknown { None } else { Some(false) })
    }

    /// Rows are equal if all their columns are; they differ as soon as one does.
    fn rows_compare(&self, op: Comparison, left: &[Datum], right: &[Datum]) -> Result<Option<bool>> {
        if let ([left], [right]) = (left, right) {
            return compared(op, left, right, self.dialect);
        }
        if !matches!(op, Comparison::Equal | Comparison::NotEqual) {
            return Err(crate::error::Error::unsupported("an order of rows with ANY or ALL"));
        }
        let mut equal = Some(true);
        for (left, right) in left.iter().zip(right) {
            match compared(Comparison::Equal, left, right, self.dialect)? {
                Some(true) => {}
                Some(false) => {
                    equal = Some(false);
                    break;
                }
                None => equal = None,
            }
        }
        Ok(equal.map(|equal| equal == (op == Comparison::Equal)))
    }
}
