//! May a counterexample leave out what it leaves out?
//!
//! An explanation of the whole history must be one of what is left. That is so for queries, and for updates that no answer
//! that is left can have been owed to: see the rule of each type below, or which come too late for them.

use rustc_hash::FxHashSet;

use super::{Fault, require};
use crate::data_type::DataType;
use crate::history::{History, LabelId, OpId, Operation};

/// What is left of a history: operations, and which elements lists still have.
pub(super) struct Part<'h> {
    pub(super) history: &'h History,
    pub(super) operations: Vec<OpId>,
    pub(super) gone: FxHashSet<LabelId>,
}

pub(super) fn part<'h>(history: &'h History, operations: &[OpId]) -> Result<Part<'h>, Fault> {
    let ascending = operations.windows(2).all(|pair| pair[0] < pair[1]);
    require(ascending && operations.last().is_none_or(|op| (op.0 as usize) < history.len()), || {
        "the operations of a counterexample are unknown, or not in order".into()
    })?;
    let kept: FxHashSet<OpId> = operations.iter().copied().collect();
    let mut part = Part { history, operations: operations.to_vec(), gone: FxHashSet::default() };
    for op in history.operations().filter(|op| !kept.contains(op)) {
        if let Operation::Insert(_, element) = history.operation(op) {
            part.gone.insert(element);
        }
    }
    let needed = part.needed();
    for op in history.operations().filter(|op| !kept.contains(op)) {
        let operation = history.operation(op);
        require(operation.is_query() || !needed.contains(&need(operation)) || part.too_late(op), || {
            format!("operation {} is left out, and may have mattered", op.0)
        })?;
    }
    // Nothing that is left speaks of an element that is gone, except lists, which lose it.
    for &op in operations {
        if let Operation::Insert(Some(element), _) | Operation::Delete(element) = history.operation(op) {
            require(!part.gone.contains(&element), || {
                format!("operation {} speaks of an element whose addition is left out", op.0)
            })?;
        }
    }
    Ok(part)
}

/// What an update can be good for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Need {
    /// That an element is in the set, that a flag is on: additions.
    There(LabelId),
    /// That it is not: removals.
    NotThere(LabelId),
    /// What a counter counts: all its updates.
    Count(LabelId),
    /// That a value is returned: its writes. Writes of other values can be good for nothing: if the value of a later one
    /// is returned, that one covers by itself what it saw.
    Value(LabelId, LabelId),
    /// That an element is not in some list: its removals.
    Missing(LabelId),
    /// Nothing that is left.
    Nothing,
}

fn need(update: Operation<'_>) -> Need {
    match update {
        Operation::Add(x) => Need::There(x),
        Operation::Remove(x) => Need::NotThere(x),
        Operation::Increment(x) | Operation::Decrement(x) => Need::Count(x),
        Operation::Write(x, value) => Need::Value(x, value),
        Operation::Delete(element) => Need::Missing(element),
        _ => Need::Nothing,
    }
}

impl Part<'_> {
    /// Whether all queries that are left of its object come before it on its replica: none of them can have seen it.
    fn too_late(&self, op: OpId) -> bool {
        let object = self.history.operation(op).object();
        let mut queries = self.operations.iter().filter(|&&query| {
            let operation = self.history.operation(query);
            operation.is_query() && operation.object() == object
        });
        object.is_some()
            && queries.all(|&query| query < op && self.history.replica_of(query) == self.history.replica_of(op))
    }

    /// What the answers that are left may be owed to.
    fn needed(&self) -> FxHashSet<Need> {
        let mut needed = FxHashSet::default();
        let elements = if self.history.data_type() == DataType::Rga { self.elements() } else { Vec::new() };
        for &op in &self.operations {
            match self.history.operation(op) {
                Operation::Contains(x, true) => needed.extend([Need::There(x)]),
                Operation::Contains(x, false) => needed.extend([Need::NotThere(x)]),
                Operation::Count(x, _) => needed.extend([Need::Count(x)]),
                Operation::Read(x, values) => needed.extend(values.iter().map(|&value| Need::Value(x, value))),
                Operation::List(list) => {
                    let list: FxHashSet<&LabelId> = list.iter().collect();
                    let missing = elements.iter().filter(|element| !list.contains(element));
                    needed.extend(missing.map(|&element| Need::Missing(element)));
                }
                _ => {}
            }
        }
        needed
    }

    /// The elements that are left.
    fn elements(&self) -> Vec<LabelId> {
        let inserted = self.operations.iter().filter_map(|&op| match self.history.operation(op) {
            Operation::Insert(_, element) => Some(element),
            _ => None,
        });
        inserted.collect()
    }
}
