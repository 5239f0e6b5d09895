//! Are the answers what the type says, given which updates each replica had received?
//!
//! For sets, flags, multi-value registers and counters the updates that had arrived determine the answer. The answers
//! of last-writer-wins registers and arrays also depend on one order of all updates, which must extend
//! happens-before but is the library's own. There an answer tells of some updates which one is later, and the answers
//! are right if all of that and happens-before is together without a cycle.

use std::collections::BTreeMap;
use std::fmt;

use isonomy_crdt::{DataType, Label, NamedOperation as O};

use crate::run::{Line, Recorded, list};

/// How the answers of a run differ from what the type says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Deviation {
    /// No order of the updates explains this one answer.
    Answer {
        /// The query, by its number among all operations of the run.
        operation: usize,
        /// The query and its answer.
        found: Box<str>,
        /// What the type says.
        expected: Box<str>,
    },
    /// Each answer alone is right, but together with happens-before they need each of these operations to be later than
    /// the one before, and the first later than the last.
    Order {
        /// The operations, by their numbers among all operations of the run.
        operations: Vec<usize>,
        /// The operations in words.
        cycle: Box<str>,
    },
}

impl fmt::Display for Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Deviation::Answer { found, expected, .. } => write!(f, "{found}, expected {expected}"),
            Deviation::Order { cycle, .. } => write!(f, "no order has {cycle}"),
        }
    }
}

/// The first wrong answer, or else a cycle in the order that the answers need.
pub(crate) fn deviation(data_type: DataType, operations: &[&Recorded]) -> Option<Deviation> {
    let known = Known::new(operations);
    let mut order = Vec::new();
    for (number, recorded) in operations.iter().enumerate() {
        let result = match &recorded.operation {
            O::Contains(x, answer) => known.contains(data_type, number, x, *answer),
            O::Count(x, count) => known.count(number, x, *count),
            O::Read(x, values) if data_type == DataType::MvRegister => known.values(number, x, values),
            O::Read(x, values) => known.latest(number, x, values, &mut order),
            O::List(elements) => known.list(number, elements, &mut order),
            _ => Ok(()),
        };
        if let Err(expected) = result {
            let found = Line(data_type, recorded).to_string().into();
            return Some(Deviation::Answer { operation: number, found, expected: expected.into() });
        }
    }
    let cycle = known.cycle(order)?;
    let mut words: Vec<String> = cycle.iter().map(|&o| Line(data_type, operations[o]).to_string()).collect();
    words.push(words[0].clone());
    Some(Deviation::Order { operations: cycle, cycle: words.join(" < ").into() })
}

struct Known<'r> {
    operations: &'r [&'r Recorded],
    /// The number of each operation in its replica.
    position: Vec<u32>,
    /// The operations of each replica.
    replicas: Vec<Vec<usize>>,
}

impl<'r> Known<'r> {
    fn new(operations: &'r [&'r Recorded]) -> Self {
        let mut replicas = vec![Vec::new(); operations.first().map_or(0, |first| first.seen.len())];
        let mut position = Vec::with_capacity(operations.len());
        for (number, recorded) in operations.iter().enumerate() {
            let replica: &mut Vec<usize> = &mut replicas[recorded.replica as usize];
            position.push(replica.len() as u32);
            replica.push(number);
        }
        Known { operations, position, replicas }
    }

    fn before(&self, a: usize, b: usize) -> bool {
        self.position[a] < self.operations[b].seen[self.operations[a].replica as usize]
    }

    /// Operations that happen before this one, with their numbers, ascending.
    fn seen(&self, number: usize) -> impl Iterator<Item = (usize, &'r O)> {
        let visible = (0..number).filter(move |&other| self.before(other, number));
        visible.map(|other| (other, &self.operations[other].operation))
    }

    /// Updates of an object that happen before this operation and are not overwritten by a later one that does.
    fn latest_updates(&self, number: usize, x: &Label) -> Vec<(usize, &'r O)> {
        let of_x = |operation: &O| match operation {
            O::Add(y) | O::Remove(y) | O::Write(y, _) => y == x,
            _ => false,
        };
        let updates: Vec<_> = self.seen(number).filter(|(_, operation)| of_x(operation)).collect();
        let latest = |a: usize| !updates.iter().any(|&(b, _)| self.before(a, b));
        updates.iter().copied().filter(|&(a, _)| latest(a)).collect()
    }

    fn contains(&self, data_type: DataType, number: usize, x: &Label, answer: bool) -> Result<(), String> {
        let updates = self.latest_updates(number, x);
        let mut adds = updates.iter().map(|(_, operation)| matches!(operation, O::Add(_)));
        let expected = match data_type {
            DataType::RwSet | DataType::DwFlag => !updates.is_empty() && adds.all(|add| add),
            _ => adds.any(|add| add),
        };
        if answer == expected { Ok(()) } else { Err(expected.to_string()) }
    }

    fn count(&self, number: usize, x: &Label, answer: i64) -> Result<(), String> {
        let change = |operation: &O| match operation {
            O::Increment(y) if y == x => 1,
            O::Decrement(y) if y == x => -1,
            _ => 0,
        };
        let expected: i64 = self.seen(number).map(|(_, operation)| change(operation)).sum();
        if answer == expected { Ok(()) } else { Err(expected.to_string()) }
    }

    fn values(&self, number: usize, x: &Label, answer: &[Label]) -> Result<(), String> {
        let sorted = |mut values: Vec<Label>| {
            values.sort();
            values.dedup();
            values
        };
        let written = |(_, operation): (usize, &O)| value(operation).cloned();
        let expected = sorted(self.latest_updates(number, x).into_iter().filter_map(written).collect());
        if sorted(answer.to_vec()) == expected { Ok(()) } else { Err(list(&expected)) }
    }

    fn latest(
        &self,
        number: usize,
        x: &Label,
        answer: &[Label],
        order: &mut Vec<(usize, usize)>,
    ) -> Result<(), String> {
        let updates = self.latest_updates(number, x);
        let values: Vec<Label> = updates.iter().filter_map(|(_, operation)| value(operation).cloned()).collect();
        let Some(answer) = answer.first() else {
            return if values.is_empty() { Ok(()) } else { Err(format!("one of {}", list(&values))) };
        };
        let mut winners = updates.iter().filter(|(_, operation)| value(operation) == Some(answer));
        let Some(&(winner, _)) = winners.next() else {
            return Err(if values.is_empty() { "nothing".into() } else { format!("one of {}", list(&values)) });
        };
        // Of several writes of one value any may be the last, and then the answer tells us nothing that is certain.
        if winners.next().is_none() {
            order.extend(updates.iter().filter(|&&(other, _)| other != winner).map(|&(other, _)| (other, winner)));
        }
        Ok(())
    }

    fn list(&self, number: usize, answer: &[Label], order: &mut Vec<(usize, usize)>) -> Result<(), String> {
        let tree = Tree::new(self.seen(number));
        order.extend(tree.order(answer)?);
        Ok(())
    }

    /// A cycle in an order and happens-before.
    fn cycle(&self, order: Vec<(usize, usize)>) -> Option<Vec<usize>> {
        let mut before: Vec<Vec<usize>> = self.operations.iter().map(|o| self.last_of_each(o)).collect();
        for (earlier, later) in order {
            before[later].push(earlier);
        }
        // Operations with nothing before them are taken away; what cannot be taken away has always one before it.
        let mut after = vec![Vec::new(); before.len()];
        let mut open: Vec<usize> = before.iter().map(Vec::len).collect();
        for (later, before) in before.iter().enumerate() {
            before.iter().for_each(|&earlier| after[earlier].push(later));
        }
        let mut free: Vec<usize> = (0..open.len()).filter(|&o| open[o] == 0).collect();
        while let Some(next) = free.pop() {
            for &later in &after[next] {
                open[later] -= 1;
                if open[later] == 0 {
                    free.push(later);
                }
            }
        }
        let mut at = (0..open.len()).find(|&o| open[o] > 0)?;
        let mut path = Vec::new();
        while !path.contains(&at) {
            path.push(at);
            at = *before[at].iter().find(|&&o| open[o] > 0).expect("else it could be taken away");
        }
        let start = path.iter().position(|&o| o == at).expect("the path has come back");
        let mut cycle: Vec<usize> = path[start..].iter().rev().copied().collect();
        let least = (0..cycle.len()).min_by_key(|&place| cycle[place])?;
        cycle.rotate_left(least);
        Some(cycle)
    }

    fn last_of_each(&self, recorded: &Recorded) -> Vec<usize> {
        let last = |(operations, &seen): (&Vec<usize>, &u32)| Some(operations[(seen as usize).checked_sub(1)?]);
        self.replicas.iter().zip(&recorded.seen).filter_map(last).collect()
    }
}

fn value(operation: &O) -> Option<&Label> {
    match operation {
        O::Write(_, value) => Some(value),
        _ => None,
    }
}

/// The elements of an array that had arrived: each below the one that it was put after.
struct Tree<'r> {
    /// The operation that added an element, after which one, and whether it is removed.
    nodes: BTreeMap<&'r Label, (usize, Option<&'r Label>, bool)>,
}

impl<'r> Tree<'r> {
    fn new(seen: impl Iterator<Item = (usize, &'r O)>) -> Self {
        let mut nodes = BTreeMap::new();
        for (number, operation) in seen {
            match operation {
                O::Insert(after, element) => {
                    nodes.insert(element, (number, after.as_ref(), false));
                }
                // Delivery is causal: what is removed was added before.
                O::Delete(element) => nodes.get_mut(element).expect("a replica removes what it shows").2 = true,
                _ => {}
            }
        }
        Tree { nodes }
    }

    /// The elements above this one, from the front of the list down to itself.
    fn path(&self, element: &'r Label) -> Vec<&'r Label> {
        let mut path = vec![element];
        while let Some(above) = path.last().and_then(|last| self.nodes[*last].1) {
            path.push(above);
        }
        path.reverse();
        path
    }

    /// Which additions must be earlier than which, for this to be the list.
    fn order(&self, answer: &[Label]) -> Result<Vec<(usize, usize)>, String> {
        let mut missing: Vec<Label> = self.nodes.iter().filter(|(_, n)| !n.2).map(|(e, _)| (*e).clone()).collect();
        let mut sorted = answer.to_vec();
        sorted.sort();
        missing.sort();
        if sorted != missing {
            return Err(format!("the elements {}", list(&missing)));
        }
        let key = |element: &Label| *self.nodes.get_key_value(element).expect("compared above").0;
        let paths: Vec<Vec<&Label>> = answer.iter().map(|element| self.path(key(element))).collect();
        let mut order = Vec::new();
        for (place, path) in paths.iter().enumerate() {
            for earlier in &paths[..place] {
                let common = earlier.iter().zip(path).take_while(|(a, b)| a == b).count();
                match (earlier.get(common), path.get(common)) {
                    // Of two that were put after the same one, the later stands first.
                    (Some(first), Some(second)) => order.push((self.nodes[*second].0, self.nodes[*first].0)),
                    (None, Some(_)) => {}
                    _ => return Err(format!("{} before what was put after it", answer[place])),
                }
            }
        }
        order.sort_unstable();
        order.dedup();
        Ok(order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Operations of two replicas: which one, what, and how many operations of each it has seen.
    fn check(data_type: DataType, operations: &[(u32, O, [u32; 2])], expect: Option<&str>) {
        let recorded = |(replica, operation, seen): &(u32, O, [u32; 2])| Recorded {
            replica: *replica,
            operation: operation.clone(),
            seen: seen.to_vec(),
        };
        let recorded: Vec<Recorded> = operations.iter().map(recorded).collect();
        let found = deviation(data_type, &recorded.iter().collect::<Vec<_>>());
        assert_eq!(found.map(|deviation| deviation.to_string()).as_deref(), expect);
    }

    #[test]
    fn sets_differ_in_who_wins() {
        let history = |answer| {
            let (add, remove) = (O::Add("x".into()), O::Remove("x".into()));
            [(0, add, [0, 0]), (1, remove, [0, 0]), (1, O::Contains("x".into(), answer), [1, 1])]
        };
        check(DataType::OrSet, &history(true), None);
        check(DataType::OrSet, &history(false), Some("r1: contains(x) = false, expected true"));
        check(DataType::RwSet, &history(false), None);
        check(DataType::DwFlag, &history(true), Some("r1: read(x) = true, expected false"));
    }

    #[test]
    fn registers_return_what_is_not_overwritten() {
        let read = |values: &[i64]| O::Read("x".into(), values.iter().map(|&value| value.into()).collect());
        let write = |value: i64| O::Write("x".into(), value.into());
        let history = |values| [(0, write(1), [0, 0]), (1, write(2), [0, 0]), (0, read(values), [1, 1])];
        check(DataType::MvRegister, &history(&[2, 1]), None);
        check(DataType::MvRegister, &history(&[2]), Some("r0: read(x) = [2], expected [1, 2]"));
        check(DataType::LwwRegister, &history(&[2]), None);
        check(DataType::LwwRegister, &history(&[]), Some("r0: read(x) = [], expected one of [1, 2]"));
        let disagree = [(0, write(1), [0, 0]), (1, write(2), [0, 0]), (0, read(&[1]), [1, 1]), (1, read(&[2]), [1, 1])];
        let cycle = "no order has r0: write(x, 1) < r1: write(x, 2) < r0: write(x, 1)";
        check(DataType::LwwRegister, &disagree, Some(cycle));
    }

    #[test]
    fn later_elements_stand_closer() {
        let insert = |after: Option<i64>, element: i64| O::Insert(after.map(Label::Int), element.into());
        let list = |elements: &[i64]| O::List(elements.iter().map(|&element| element.into()).collect());
        let history =
            |elements| [(0, insert(None, 1), [0, 0]), (0, insert(None, 2), [1, 0]), (0, list(elements), [2, 0])];
        check(DataType::Rga, &history(&[2, 1]), None);
        let cycle = "no order has r0: addAfter(_, 1) < r0: addAfter(_, 2) < r0: addAfter(_, 1)";
        check(DataType::Rga, &history(&[1, 2]), Some(cycle));
        check(DataType::Rga, &history(&[1]), Some("r0: read() = [1], expected the elements [1, 2]"));
        let after = [(0, insert(None, 1), [0, 0]), (0, insert(Some(1), 2), [1, 0]), (0, list(&[2, 1]), [2, 0])];
        check(DataType::Rga, &after, Some("r0: read() = [2, 1], expected 1 before what was put after it"));
    }
}
