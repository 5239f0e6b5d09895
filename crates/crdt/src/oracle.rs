//! Is a tiny history admitted? By trying all executions, straight from the definitions.
//!
//! An execution gives each operation a past: for each replica, how many of its operations happened before. Pasts hold
//! what precedes in the own replica and, with an operation, its past: so they are the strict partial orders `hb` that
//! contain the replica order. An update is *covered* for a query if it happened before another update of the same
//! object that the query sees. A query must answer
//!
//! - OR-set, EW-flag: true iff an uncovered update that it sees is an addition;
//! - RW-set, DW-flag: false iff it sees no update, or an uncovered removal;
//! - MV-register: the values of the uncovered writes that it sees;
//! - LWW-register: the value of the last write that it sees, in one total order `lin` of all writes that contains `hb`;
//! - counter: the increments that it sees minus the decrements;
//! - RGA: the elements whose insertion it sees and no removal, in the order of a walk through the tree of insertions:
//!   an element before those put after it, and of those put after the same one the last in `lin` first. Besides,
//!   insertions after an element and removals must see its insertion.
//!
//! Operations are executed one by one, in any order that the pasts allow, and every past is tried. For the types with
//! `lin`, the order of execution *is* `lin`: every total order that contains `hb` is such an order. Executions that
//! agree in all that later answers depend on are tried once. The effort is exponential: about eight operations are
//! enough to wait for.

use rustc_hash::FxHashSet;

use crate::data_type::DataType;
use crate::history::{History, LabelId, OpId, Operation};

/// Whether some execution of the history gives all its answers.
pub fn admits(history: &History) -> bool {
    let replicas: Vec<Vec<OpId>> = history.replicas().map(|replica| history.operations_of(replica).collect()).collect();
    let start = Execution {
        executed: vec![0; replicas.len()],
        pasts: vec![0; history.len() * replicas.len()],
        lin: Vec::new(),
    };
    let oracle = Oracle { history, replicas };
    let mut seen = FxHashSet::default();
    let mut open = vec![start];
    while let Some(execution) = open.pop() {
        if execution.executed.iter().sum::<usize>() == history.len() {
            return true;
        }
        for next in oracle.successors(&execution) {
            if seen.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    false
}

struct Oracle<'h> {
    history: &'h History,
    replicas: Vec<Vec<OpId>>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Execution {
    /// How many operations of each replica are executed.
    executed: Vec<usize>,
    /// Row by row, the past of each executed operation; zeros for the others.
    pasts: Vec<usize>,
    /// The executed writes or insertions in their order, if the type has one.
    lin: Vec<OpId>,
}

impl Oracle<'_> {
    /// All ways to execute one more operation with the answer that it gave.
    fn successors(&self, execution: &Execution) -> Vec<Execution> {
        let mut successors = Vec::new();
        for (replica, operations) in self.replicas.iter().enumerate() {
            let Some(&op) = operations.get(execution.executed[replica]) else { continue };
            for past in self.closed_pasts(execution, replica) {
                if self.answers(execution, op, &past) {
                    successors.push(self.execute(execution, replica, op, &past));
                }
            }
        }
        successors
    }

    fn execute(&self, execution: &Execution, replica: usize, op: OpId, past: &[usize]) -> Execution {
        let mut next = execution.clone();
        next.executed[replica] += 1;
        let row = op.0 as usize * past.len();
        next.pasts[row..row + past.len()].copy_from_slice(past);
        let has_lin = matches!(self.history.data_type(), DataType::LwwRegister | DataType::Rga);
        if has_lin && matches!(self.history.operation(op), Operation::Write(..) | Operation::Insert(..)) {
            next.lin.push(op);
        }
        next
    }

    /// All pasts that the next operation of a replica may have.
    fn closed_pasts(&self, execution: &Execution, replica: usize) -> Vec<Vec<usize>> {
        let mut pasts = vec![Vec::new()];
        for (other, &executed) in execution.executed.iter().enumerate() {
            let from = if other == replica { executed } else { 0 };
            pasts = pasts
                .iter()
                .flat_map(|past| (from..=executed).map(move |prefix| [past.as_slice(), &[prefix]].concat()))
                .collect();
        }
        pasts.retain(|past| {
            // The pasts of a replica's operations grow, so the last one that is seen speaks for all.
            let last = |other: usize| past[other].checked_sub(1).map(|last| self.replicas[other][last]);
            (0..past.len()).filter_map(last).all(|op| self.past(execution, op).iter().zip(past).all(|(a, b)| a <= b))
        });
        pasts
    }

    fn past<'e>(&self, execution: &'e Execution, op: OpId) -> &'e [usize] {
        let row = op.0 as usize * self.replicas.len();
        &execution.pasts[row..row + self.replicas.len()]
    }

    /// Whether an operation is in a past.
    fn within(&self, op: OpId, past: &[usize]) -> bool {
        (self.history.position(op) as usize) < past[self.history.replica_of(op).0 as usize]
    }

    /// The operations of a past.
    fn seen<'o>(&'o self, past: &'o [usize]) -> impl Iterator<Item = (OpId, Operation<'o>)> + Clone {
        let ops = self.replicas.iter().zip(past).flat_map(|(operations, &prefix)| operations[..prefix].iter());
        ops.map(|&op| (op, self.history.operation(op)))
    }

    /// The updates of an object in a past.
    fn updates<'o>(
        &'o self,
        past: &'o [usize],
        object: LabelId,
    ) -> impl Iterator<Item = (OpId, Operation<'o>)> + Clone {
        self.seen(past).filter(move |(_, operation)| operation.object() == Some(object) && !operation.is_query())
    }

    /// The updates of an object in a past that no other one covers.
    fn uncovered<'o>(
        &'o self,
        execution: &'o Execution,
        past: &'o [usize],
        object: LabelId,
    ) -> impl Iterator<Item = Operation<'o>> + Clone {
        let updates = self.updates(past, object);
        let uncovered = updates.clone().filter(move |&(update, _)| {
            !updates.clone().any(|(other, _)| self.within(update, self.past(execution, other)))
        });
        uncovered.map(|(_, operation)| operation)
    }

    /// Whether an operation with this past may be what it is.
    fn answers(&self, execution: &Execution, op: OpId, past: &[usize]) -> bool {
        match self.history.operation(op) {
            Operation::Add(_)
            | Operation::Remove(_)
            | Operation::Write(..)
            | Operation::Increment(_)
            | Operation::Decrement(_)
            | Operation::Insert(None, _) => true,
            Operation::Contains(x, answer) => answer == self.contains(execution, past, x),
            Operation::Read(x, values) => match self.history.data_type() {
                DataType::LwwRegister => values == self.last_write(execution, past, x).as_slice(),
                _ => values == self.latest_writes(execution, past, x),
            },
            Operation::Count(x, count) => {
                let one = |operation| if matches!(operation, Operation::Increment(_)) { 1 } else { -1 };
                count == self.updates(past, x).map(|(_, operation)| one(operation)).sum::<i64>()
            }
            Operation::Insert(Some(a), _) | Operation::Delete(a) => {
                self.seen(past).any(|(_, operation)| matches!(operation, Operation::Insert(_, b) if a == b))
            }
            Operation::List(elements) => elements == self.list(execution, past),
        }
    }

    fn contains(&self, execution: &Execution, past: &[usize], object: LabelId) -> bool {
        let mut uncovered = self.uncovered(execution, past, object);
        match self.history.data_type() {
            DataType::OrSet | DataType::EwFlag => uncovered.any(|operation| matches!(operation, Operation::Add(_))),
            _ => {
                let nothing = self.updates(past, object).next().is_none();
                !nothing && !uncovered.any(|operation| matches!(operation, Operation::Remove(_)))
            }
        }
    }

    fn latest_writes(&self, execution: &Execution, past: &[usize], object: LabelId) -> Vec<LabelId> {
        let value = |operation| if let Operation::Write(_, value) = operation { Some(value) } else { None };
        let mut values: Vec<LabelId> = self.uncovered(execution, past, object).filter_map(value).collect();
        values.sort_unstable();
        values.dedup();
        values
    }

    fn last_write(&self, execution: &Execution, past: &[usize], object: LabelId) -> Option<LabelId> {
        execution.lin.iter().rev().find_map(|&op| match self.history.operation(op) {
            Operation::Write(x, value) if x == object && self.within(op, past) => Some(value),
            _ => None,
        })
    }

    fn list(&self, execution: &Execution, past: &[usize]) -> Vec<LabelId> {
        let removed =
            |element| self.seen(past).any(|(_, operation)| matches!(operation, Operation::Delete(a) if a == element));
        let mut list = Vec::new();
        // Children are pushed in the order of `lin`, so that the last one is walked through first.
        let mut open = vec![None];
        while let Some(parent) = open.pop() {
            list.extend(parent.filter(|&element| !removed(element)));
            for &op in &execution.lin {
                match self.history.operation(op) {
                    Operation::Insert(after, element) if after == parent && self.within(op, past) => {
                        open.push(Some(element));
                    }
                    _ => {}
                }
            }
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(data_type: DataType, text: &str, expected: bool) {
        let history = crate::read(text.as_bytes(), Some(data_type), None).unwrap();
        assert_eq!(admits(&history), expected, "{data_type}: {text}");
    }

    #[test]
    fn counters_see_all_that_happened_before() {
        let check = |text: &str, expected| check(DataType::Counter, text, expected);
        check("a: inc(x) read(x)=0", false);
        check("a: inc(x) read(x)=1 / b: dec(x) read(x)=0 read(x)=-1", false);
        check("a: inc(x) read(x)=1 / b: dec(x) read(x)=-1 read(x)=0", true);
        // The order of the replicas is nothing.
        check("a: read(x)=1 / b: inc(x)", true);
        check("b: inc(x) / a: read(x)=1", true);
        // One cannot learn of a replica's second operation without its first, but of the first alone at any time.
        check("a: inc(x) inc(x) read(x)=2 read(x)=3 / b: inc(x) inc(x) read(x)=2 read(x)=3", true);
        check("a: inc(x) inc(x) read(x)=3 / b: inc(x) inc(x) read(x)=3", true);
        check("a: inc(x) read(x)=3 / b: inc(x) inc(x) read(x)=4", false);
        check("a: read(x)=4 inc(x) / b: inc(x) inc(x)", false);
    }

    #[test]
    fn flags_and_sets() {
        let vector =
            "a: enable(p) disable(p) read(q)=false read(q)=true / b: enable(q) disable(q) read(p)=false read(p)=true";
        check(DataType::EwFlag, vector, true);
        let conflict = "a: add(x) contains(x)=true / b: remove(x) contains(x)=true / c: contains(x)=false";
        check(DataType::OrSet, conflict, true);
        check(DataType::OrSet, "a: add(x) contains(x)=false / b: remove(x) contains(x)=true", false);
        check(DataType::RwSet, "a: add(x) contains(x)=false / b: remove(x) contains(x)=true", false);
        check(DataType::OrSet, "a: add(x) add(y) contains(y)=true / b: contains(y)=true contains(x)=false", false);
        // Neither update of `x` can have seen the other, the last query sees both, and the type decides.
        let both = "a: add(p) add(x) contains(q)=false contains(s)=true contains(x)=A \
                    / b: add(q) remove(x) contains(p)=false add(s)";
        for (data_type, answer) in [(DataType::OrSet, true), (DataType::RwSet, false)] {
            check(data_type, &both.replace('A', &answer.to_string()), true);
            check(data_type, &both.replace('A', &(!answer).to_string()), false);
        }
        check(DataType::RwSet, "a: remove(x) contains(x)=true", false);
        check(DataType::DwFlag, "a: read(x)=false disable(x) read(x)=false enable(x) read(x)=true", true);
        check(DataType::DwFlag, "a: read(x)=true", false);
    }

    #[test]
    fn registers() {
        check(DataType::MvRegister, "a: write(x,1) write(x,2) read(x)={1}", false);
        check(DataType::LwwRegister, "a: write(x,1) write(x,2) read(x)=1", false);
        check(DataType::MvRegister, "a: read(x)={} write(x,1) read(x)={1,2} / b: write(x,2) read(x)={1,2}", true);
        check(DataType::MvRegister, "a: write(x,1) read(x)={2} / b: write(x,2) read(x)={1}", false);
        check(DataType::MvRegister, "a: write(x,1) read(x)={1} / b: write(x,1) read(x)={1}", true);
        check(DataType::LwwRegister, "a: write(x,1) read(x)=2 / b: write(x,2) read(x)=1", false);
        check(DataType::LwwRegister, "a: write(x,1) read(x)=2 / b: write(x,2) read(x)=2 read(x)=_", false);
        check(
            DataType::LwwRegister,
            "a: write(x,1) read(x)=2 / b: write(x,2) read(x)=2 / c: read(x)=_ read(x)=1",
            true,
        );
        check(DataType::LwwRegister, "a: write(x,1) write(x,2) read(x)=1 / b: write(x,1)", true);
        check(DataType::LwwRegister, "a: read(x)=7", false);
    }

    #[test]
    fn arrays() {
        let check = |text: &str, expected| check(DataType::Rga, text, expected);
        let adds = "p: addAfter(_,a) addAfter(a,b) / q: addAfter(a,c) read()=";
        check(&format!("{adds}[a,c,b]"), true);
        check(&format!("{adds}[a,b,c]"), true);
        check(&format!("{adds}[c,a,b]"), false);
        check(&format!("{adds}[a,c,b] read()=[a,b,c]"), false);
        check(&format!("{adds}[a,b]"), false);
        check(&format!("{adds}[a,a,c]"), false);
        // `d` stands for the removed `b`, so that `c` is the later of the two.
        let gone = "p: addAfter(_,a) addAfter(a,b) addAfter(b,d) remove(b) / q: addAfter(a,c)";
        check(&format!("{gone} read()=[a,c,d] / p: read()=[a,c,d]"), true);
        check(&format!("{gone} read()=[a,c,d] / p: read()=[a,d,c]"), false);
        check("p: addAfter(z,a)", false);
        check("p: remove(z)", false);
        check("p: read()=[z]", false);
        check("p: addAfter(_,a) / q: addAfter(a,b) read()=[a,b]", true);
        check("p: addAfter(_,a) remove(a) read()=[a]", false);
        check("p: addAfter(_,a) addAfter(_,b) read()=[a,b]", false);
        check("p: addAfter(b,a) / q: addAfter(a,b)", false);
    }
}
