//! Aggregates: many values in, one out.

use rustc_hash::FxHashSet;

use super::{Frames, Run};
use crate::arithmetic;
use crate::cast;
use crate::datum::{Datum, Type};
use crate::engine::Dialect;
use crate::error::Result;
use crate::order::{Row, order};
use crate::plan::{Aggregate, AggregateKind, Operator};

/// What an aggregate has seen so far. `NULL`s are not seen.
#[derive(Debug)]
pub(super) struct Accumulator {
    count: i64,
    /// The sum, the extreme, the conjunction or the text so far.
    value: Option<Datum>,
    seen: Option<FxHashSet<Row>>,
}

impl Accumulator {
    pub(super) fn new(aggregate: &Aggregate) -> Self {
        Accumulator { count: 0, value: None, seen: aggregate.distinct.then(FxHashSet::default) }
    }

    /// The value of the aggregate. Of nothing, a count is zero and all else is `NULL`.
    pub(super) fn finish(self, aggregate: &Aggregate, dialect: Dialect) -> Result<Datum> {
        match (aggregate.kind, self.value) {
            (AggregateKind::Count, _) => Ok(Datum::Integer(self.count)),
            (_, None) => Ok(Datum::Null),
            (AggregateKind::Average, Some(sum)) => {
                arithmetic::apply(Operator::Divide, sum, Datum::Integer(self.count), aggregate.ty, dialect)
            }
            (_, Some(value)) => Ok(value),
        }
    }
}

impl Run<'_> {
    /// Lets an aggregate see a row.
    pub(super) fn accumulate(
        &mut self,
        aggregate: &Aggregate,
        accumulator: &mut Accumulator,
        frames: &Frames<'_>,
    ) -> Result<()> {
        if let Some(filter) = &aggregate.filter
            && self.condition(filter, frames)? != Some(true)
        {
            return Ok(());
        }
        let value = match &aggregate.argument {
            None => Datum::Boolean(true),
            Some(argument) => self.evaluate(argument, frames)?,
        };
        if value.is_null() {
            return Ok(());
        }
        if let Some(seen) = &mut accumulator.seen
            && !seen.insert(Row::new(vec![value.clone()]))
        {
            return Ok(());
        }
        accumulator.count += 1;
        let so_far = accumulator.value.take();
        accumulator.value = Some(match (aggregate.kind, so_far) {
            (AggregateKind::Count, _) => return Ok(()),
            (AggregateKind::Sum | AggregateKind::Average, None) => cast::cast(value, aggregate.ty, self.dialect)?,
            (AggregateKind::Sum | AggregateKind::Average, Some(sum)) => {
                arithmetic::apply(Operator::Add, sum, value, aggregate.ty, self.dialect)?
            }
            (AggregateKind::Minimum, Some(least)) if order(&value, &least).is_ge() => least,
            (AggregateKind::Maximum, Some(greatest)) if order(&value, &greatest).is_le() => greatest,
            (AggregateKind::Minimum | AggregateKind::Maximum, _) => value,
            (AggregateKind::And, so_far) => {
                Datum::Boolean(so_far != Some(Datum::Boolean(false)) && cast::to_boolean(&value, self.dialect)?)
            }
            (AggregateKind::Or, so_far) => {
                Datum::Boolean(so_far == Some(Datum::Boolean(true)) || cast::to_boolean(&value, self.dialect)?)
            }
            (AggregateKind::Join | AggregateKind::GroupConcat, None) => cast::cast(value, Type::Text, self.dialect)?,
            (AggregateKind::Join | AggregateKind::GroupConcat, Some(text)) => {
                let between = match &aggregate.separator {
                    Some(separator) => self.evaluate(separator, frames)?,
                    None => Datum::Null,
                };
                let between = if between.is_null() { String::new() } else { between.to_string() };
                Datum::from_text(format!("{text}{between}{}", cast::cast(value, Type::Text, self.dialect)?))
            }
        });
        Ok(())
    }
}
