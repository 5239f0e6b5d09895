//! Does what operations saw explain what they answered?

use rustc_hash::FxHashMap;

use super::{Fault, require};
use crate::data_type::DataType;
use crate::history::{History, LabelId, OpId, Operation, ReplicaId};
use crate::verdict::Witness;

pub(super) fn check(history: &History, witness: &Witness) -> Result<(), Fault> {
    let visible = Visible::new(history, witness)?;
    match history.data_type() {
        DataType::Rga => visible.arrays(),
        _ => visible.objects(),
    }
}

struct Visible<'a> {
    history: &'a History,
    seen: &'a [Vec<u32>],
    /// The place of each operation in the order of timestamps.
    stamp: Vec<u32>,
    first: Vec<u32>,
}

impl<'a> Visible<'a> {
    /// Refuses what is no visibility: numbers that are too large, an operation that did not see the ones before it, or not all
    /// that those saw that it saw; and timestamps that go back.
    fn new(history: &'a History, witness: &'a Witness) -> Result<Self, Fault> {
        let count = history.len();
        require(witness.seen.len() == count && witness.order.len() == count, || "operations are missing".into())?;
        let mut stamp = vec![u32::MAX; count];
        for (at, op) in witness.order.iter().enumerate() {
            let place =
                stamp.get_mut(op.0 as usize).ok_or_else(|| Fault("the order has an unknown operation".into()))?;
            require(*place == u32::MAX, || format!("operation {} has two timestamps", op.0))?;
            *place = at as u32;
        }
        let first =
            history.replicas().map(|replica| history.operations_of(replica).next().map_or(0, |op| op.0)).collect();
        let visible = Visible { history, seen: &witness.seen, stamp, first };
        for replica in history.replicas() {
            for op in history.operations_of(replica) {
                visible.closed(replica, op)?;
            }
        }
        Ok(visible)
    }

    fn closed(&self, home: ReplicaId, op: OpId) -> Result<(), Fault> {
        let seen = &self.seen[op.0 as usize];
        let own = self.history.position(op);
        require(seen.len() == self.history.replicas().len(), || format!("operation {} lacks a replica", op.0))?;
        require(seen[home.0 as usize] == own, || format!("operation {} did not see those before it", op.0))?;
        for replica in self.history.replicas() {
            let count = seen[replica.0 as usize];
            let all = self.history.operations_of(replica).len() as u32;
            require(count <= all, || format!("operation {} saw more than there is", op.0))?;
            if count == 0 {
                continue;
            }
            let last = self.first[replica.0 as usize] + count - 1;
            let earlier = &self.seen[last as usize];
            require(earlier.iter().zip(seen).all(|(a, b)| a <= b), || {
                format!("operation {} did not see all that operation {last} saw", op.0)
            })?;
            require(self.stamp[last as usize] < self.stamp[op.0 as usize], || {
                format!("operation {} saw operation {last}, and has a lower timestamp", op.0)
            })?;
        }
        Ok(())
    }

    fn saw(&self, op: OpId, other: OpId) -> bool {
        self.seen[op.0 as usize][self.history.replica_of(other).0 as usize] > self.history.position(other)
    }

    fn objects(&self) -> Result<(), Fault> {
        // The updates of each object on each replica, and for counters their sums.
        let mut updates: FxHashMap<(LabelId, ReplicaId), Vec<(OpId, i64)>> = FxHashMap::default();
        for replica in self.history.replicas() {
            for op in self.history.operations_of(replica) {
                let operation = self.history.operation(op);
                let Some(object) = operation.object().filter(|_| !operation.is_query()) else { continue };
                let list = updates.entry((object, replica)).or_default();
                let sum = list.last().map_or(0, |&(_, sum)| sum);
                let change = i64::from(matches!(operation, Operation::Increment(_)))
                    - i64::from(matches!(operation, Operation::Decrement(_)));
                list.push((op, sum + change));
            }
        }
        for op in self.history.operations() {
            let operation = self.history.operation(op);
            let Some(object) = operation.object().filter(|_| operation.is_query()) else { continue };
            let last = self.history.replicas().filter_map(|replica| {
                let list = updates.get(&(object, replica))?;
                let at = list.partition_point(|&(update, _)| self.saw(op, update));
                at.checked_sub(1).map(|at| list[at])
            });
            let last: Vec<(OpId, i64)> = last.collect();
            require(self.answers(operation, &last), || {
                format!("operation {} would have answered otherwise, by what it saw", op.0)
            })?;
        }
        Ok(())
    }

    /// Whether a query answers by the last updates that it saw of each replica.
    fn answers(&self, query: Operation<'_>, last: &[(OpId, i64)]) -> bool {
        let covered = |op: OpId| last.iter().any(|&(other, _)| self.saw(other, op));
        let latest: Vec<Operation<'_>> =
            last.iter().filter(|&&(op, _)| !covered(op)).map(|&(op, _)| self.history.operation(op)).collect();
        match query {
            Operation::Contains(_, answer) => {
                let added = latest.iter().any(|update| matches!(update, Operation::Add(_)));
                let removed = latest.iter().any(|update| matches!(update, Operation::Remove(_)));
                match self.history.data_type() {
                    DataType::OrSet | DataType::EwFlag => answer == added,
                    _ => answer == (added && !removed),
                }
            }
            Operation::Count(_, value) => value == last.iter().map(|&(_, sum)| sum).sum::<i64>(),
            Operation::Read(_, values) if self.history.data_type() == DataType::LwwRegister => {
                let newest = last.iter().max_by_key(|&&(op, _)| self.stamp[op.0 as usize]);
                let newest = newest.map(|&(op, _)| self.history.operation(op));
                match newest {
                    Some(Operation::Write(_, value)) => values == [value],
                    _ => values.is_empty(),
                }
            }
            Operation::Read(_, values) => {
                let written = latest.iter().filter_map(|update| match update {
                    Operation::Write(_, value) => Some(*value),
                    _ => None,
                });
                let mut written: Vec<LabelId> = written.collect();
                written.sort_unstable();
                written.dedup();
                values == written
            }
            _ => false,
        }
    }

    /// All lists are parts of one walk through the tree of all additions: what a query did not see, it leaves out.
    fn arrays(&self) -> Result<(), Fault> {
        let adder = self.adders();
        for op in self.history.operations() {
            if let Operation::Insert(Some(element), _) | Operation::Delete(element) = self.history.operation(op) {
                let known = adder[element.0 as usize].is_some_and(|adder| self.saw(op, adder));
                require(known, || format!("operation {} speaks of an element that it did not see", op.0))?;
            }
        }
        let place = self.walk();
        for replica in self.history.replicas() {
            self.lists(replica, &place)?;
        }
        Ok(())
    }

    fn adders(&self) -> Vec<Option<OpId>> {
        let mut adder = vec![None; self.history.label_count()];
        for op in self.history.operations() {
            if let Operation::Insert(_, element) = self.history.operation(op) {
                adder[element.0 as usize] = Some(op);
            }
        }
        adder
    }

    /// The place of each element in the walk through the tree.
    fn walk(&self) -> Vec<u32> {
        let mut children: FxHashMap<Option<LabelId>, Vec<(u32, LabelId)>> = FxHashMap::default();
        for op in self.history.operations() {
            if let Operation::Insert(after, element) = self.history.operation(op) {
                children.entry(after).or_default().push((self.stamp[op.0 as usize], element));
            }
        }
        let mut place = vec![u32::MAX; self.history.label_count()];
        let mut next = 0;
        let mut stack = vec![None];
        while let Some(element) = stack.pop() {
            if let Some(LabelId(element)) = element {
                place[element as usize] = next;
                next += 1;
            }
            let mut below = children.remove(&element).unwrap_or_default();
            // The one with the highest timestamp is taken from the stack first.
            below.sort_unstable();
            stack.extend(below.into_iter().map(|(_, element)| Some(element)));
        }
        place
    }

    fn lists(&self, replica: ReplicaId, place: &[u32]) -> Result<(), Fault> {
        let (mut added, mut removed) = (vec![false; place.len()], vec![false; place.len()]);
        let mut present = 0;
        let mut known = vec![0; self.history.replicas().len()];
        for op in self.history.operations_of(replica) {
            let Operation::List(elements) = self.history.operation(op) else { continue };
            for (from, known) in known.iter_mut().enumerate() {
                let seen = self.seen[op.0 as usize][from];
                for other in std::mem::replace(known, seen)..seen {
                    match self.history.operation(OpId(self.first[from] + other)) {
                        Operation::Insert(_, LabelId(element)) => {
                            added[element as usize] = true;
                            present += usize::from(!removed[element as usize]);
                        }
                        Operation::Delete(LabelId(element)) => {
                            present -= usize::from(added[element as usize] && !removed[element as usize]);
                            removed[element as usize] = true;
                        }
                        _ => {}
                    }
                }
            }
            let all = elements.len() == present
                && elements.iter().all(|element| added[element.0 as usize] && !removed[element.0 as usize]);
            let sorted = elements.windows(2).all(|pair| place[pair[0].0 as usize] < place[pair[1].0 as usize]);
            require(all && sorted, || format!("operation {} would have listed otherwise, by what it saw", op.0))?;
        }
        Ok(())
    }
}
