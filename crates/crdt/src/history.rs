//! What was observed: per replica, a sequence of operations with what they returned.

use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::data_type::DataType;

/// What a file calls a replica, an object, a value or an element.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Label {
    /// A number.
    Int(i64),
    /// Any text.
    Text(Box<str>),
}

impl From<i64> for Label {
    fn from(i: i64) -> Self {
        Label::Int(i)
    }
}

impl From<&str> for Label {
    fn from(text: &str) -> Self {
        Label::Text(text.into())
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Label::Int(i) => write!(f, "{i}"),
            Label::Text(text) => f.write_str(text),
        }
    }
}

/// An operation, by its number: operations are numbered replica by replica, each in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpId(pub u32);

/// A replica, by its number: in the order in which they first appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ReplicaId(pub u32);

/// An object, value or element, by its number in [`History::label`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LabelId(pub u32);

/// An operation and what it returned. What it is called depends on the type: [`DataType::methods`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation<'h> {
    /// Sets and flags: adds the element, or enables the flag.
    Add(LabelId),
    /// Sets and flags: removes the element, or disables the flag.
    Remove(LabelId),
    /// Sets and flags: is the element in the set, is the flag enabled?
    Contains(LabelId, bool),
    /// Registers: the register and the value.
    Write(LabelId, LabelId),
    /// Registers: the values returned, in ascending order of their numbers, without repetition. None is the initial
    /// state. A last-writer-wins register returns at most one.
    Read(LabelId, &'h [LabelId]),
    /// Counters: plus one.
    Increment(LabelId),
    /// Counters: minus one.
    Decrement(LabelId),
    /// Counters: the value returned.
    Count(LabelId, i64),
    /// Arrays: after which element (`None`: at the front), and which.
    Insert(Option<LabelId>, LabelId),
    /// Arrays: removes an element.
    Delete(LabelId),
    /// Arrays: the elements returned.
    List(&'h [LabelId]),
}

impl Operation<'_> {
    /// Whether it asks and changes nothing.
    pub fn is_query(&self) -> bool {
        matches!(self, Operation::Contains(..) | Operation::Read(..) | Operation::Count(..) | Operation::List(..))
    }

    /// The object it is about; an array has no name.
    pub fn object(&self) -> Option<LabelId> {
        match *self {
            Operation::Add(x)
            | Operation::Remove(x)
            | Operation::Contains(x, _)
            | Operation::Write(x, _)
            | Operation::Read(x, _)
            | Operation::Increment(x)
            | Operation::Decrement(x)
            | Operation::Count(x, _) => Some(x),
            Operation::Insert(..) | Operation::Delete(_) | Operation::List(_) => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stored {
    Add(LabelId),
    Remove(LabelId),
    Contains(LabelId, bool),
    Write(LabelId, LabelId),
    Read(LabelId, u32, u32),
    Increment(LabelId),
    Decrement(LabelId),
    Count(LabelId, i64),
    Insert(Option<LabelId>, LabelId),
    Delete(LabelId),
    List(u32, u32),
}

/// A history of a replicated data type: what each replica was asked, in its order, and what it answered.
///
/// A history that exists is well formed: all operations belong to its type, and no element of an array is added twice.
#[derive(Clone, Debug)]
pub struct History {
    data_type: DataType,
    replicas: Arc<[Label]>,
    labels: Arc<[Label]>,
    /// The first operation of each replica, and at the end their number.
    first: Vec<u32>,
    operations: Vec<Stored>,
    values: Vec<LabelId>,
    lines: Vec<u32>,
}

impl History {
    /// The type.
    pub fn data_type(&self) -> DataType {
        self.data_type
    }

    /// The number of operations.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether there are no operations.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// The replicas.
    pub fn replicas(&self) -> impl ExactSizeIterator<Item = ReplicaId> + use<> {
        (0..self.replicas.len() as u32).map(ReplicaId)
    }

    /// The name of a replica.
    pub fn replica_label(&self, replica: ReplicaId) -> &Label {
        &self.replicas[replica.0 as usize]
    }

    /// The name of an object, value or element.
    pub fn label(&self, label: LabelId) -> &Label {
        &self.labels[label.0 as usize]
    }

    /// How many objects, values and elements there are; they are numbered from 0.
    pub fn label_count(&self) -> usize {
        self.labels.len()
    }

    /// The operations of a replica, in its order.
    pub fn operations_of(
        &self,
        replica: ReplicaId,
    ) -> impl ExactSizeIterator<Item = OpId> + DoubleEndedIterator + use<> {
        let (from, to) = (self.first[replica.0 as usize], self.first[replica.0 as usize + 1]);
        (from..to).map(OpId)
    }

    /// All operations, replica by replica.
    pub fn operations(&self) -> impl ExactSizeIterator<Item = OpId> + DoubleEndedIterator + use<> {
        (0..self.operations.len() as u32).map(OpId)
    }

    /// The replica of an operation.
    pub fn replica_of(&self, op: OpId) -> ReplicaId {
        ReplicaId(self.first.partition_point(|&first| first <= op.0) as u32 - 1)
    }

    /// The place of an operation in its replica, from 0.
    pub fn position(&self, op: OpId) -> u32 {
        op.0 - self.first[self.replica_of(op).0 as usize]
    }

    /// What an operation is.
    pub fn operation(&self, op: OpId) -> Operation<'_> {
        let values = |from: u32, to: u32| &self.values[from as usize..to as usize];
        match self.operations[op.0 as usize] {
            Stored::Add(x) => Operation::Add(x),
            Stored::Remove(x) => Operation::Remove(x),
            Stored::Contains(x, answer) => Operation::Contains(x, answer),
            Stored::Write(x, value) => Operation::Write(x, value),
            Stored::Read(x, from, to) => Operation::Read(x, values(from, to)),
            Stored::Increment(x) => Operation::Increment(x),
            Stored::Decrement(x) => Operation::Decrement(x),
            Stored::Count(x, count) => Operation::Count(x, count),
            Stored::Insert(after, element) => Operation::Insert(after, element),
            Stored::Delete(element) => Operation::Delete(element),
            Stored::List(from, to) => Operation::List(values(from, to)),
        }
    }

    /// Some of the operations, with the same replicas and names; and which each was. Lists keep only some elements.
    pub(crate) fn part(&self, keep: impl Fn(OpId) -> bool, listed: impl Fn(LabelId) -> bool) -> (History, Vec<OpId>) {
        let mut part = History {
            data_type: self.data_type,
            replicas: Arc::clone(&self.replicas),
            labels: Arc::clone(&self.labels),
            first: vec![0],
            operations: Vec::new(),
            values: Vec::new(),
            lines: Vec::new(),
        };
        let mut kept = Vec::new();
        for replica in self.replicas() {
            for op in self.operations_of(replica).filter(|&op| keep(op)) {
                let mut stored = self.operations[op.0 as usize];
                if let Stored::Read(_, from, to) | Stored::List(from, to) = &mut stored {
                    let values = &self.values[*from as usize..*to as usize];
                    *from = part.values.len() as u32;
                    match self.data_type {
                        DataType::Rga => part.values.extend(values.iter().filter(|&&element| listed(element))),
                        _ => part.values.extend_from_slice(values),
                    }
                    *to = part.values.len() as u32;
                }
                part.operations.push(stored);
                part.lines.push(self.line(op));
                kept.push(op);
            }
            part.first.push(part.operations.len() as u32);
        }
        (part, kept)
    }

    /// The line of the input where an operation stands, from 1; 0 if it was built in code.
    pub fn line(&self, op: OpId) -> u32 {
        self.lines[op.0 as usize]
    }
}

/// An operation by names, as files and programs give it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedOperation {
    /// See [`Operation::Add`].
    Add(Label),
    /// See [`Operation::Remove`].
    Remove(Label),
    /// See [`Operation::Contains`].
    Contains(Label, bool),
    /// See [`Operation::Write`].
    Write(Label, Label),
    /// See [`Operation::Read`]; in any order.
    Read(Label, Vec<Label>),
    /// See [`Operation::Increment`].
    Increment(Label),
    /// See [`Operation::Decrement`].
    Decrement(Label),
    /// See [`Operation::Count`].
    Count(Label, i64),
    /// See [`Operation::Insert`].
    Insert(Option<Label>, Label),
    /// See [`Operation::Delete`].
    Delete(Label),
    /// See [`Operation::List`].
    List(Vec<Label>),
}

/// Why a history cannot exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// An operation of another type.
    #[error("a history of type {data_type} cannot have this operation; its operations are {methods}")]
    WrongOperation {
        /// The type of the history.
        data_type: DataType,
        /// What its operations are called.
        methods: Box<str>,
    },
    /// An element of an array is added twice.
    #[error(
        "element {element} is added a second time; every element of an array needs its own name (lines {first} and {second})"
    )]
    RepeatedElement {
        /// The element.
        element: Box<str>,
        /// The line of the first addition.
        first: u32,
        /// The line of the second.
        second: u32,
    },
    /// A last-writer-wins register returned several values.
    #[error("a read of a last-writer-wins register returns one value, or `_`")]
    SeveralValues,
    /// More than the compact ids can count.
    #[error("the history is too large: more than 2^32 operations or values")]
    TooLarge,
}

/// Builds a history, operation by operation.
///
/// ```
/// use isonomy_crdt::{DataType, HistoryBuilder, NamedOperation::*};
///
/// let mut history = HistoryBuilder::new(DataType::Counter);
/// history.push("a".into(), Increment("x".into()))?;
/// history.push("b".into(), Count("x".into(), 1))?;
/// let history = history.finish();
/// assert_eq!((history.replicas().len(), history.len()), (2, 2));
/// # Ok::<(), isonomy_crdt::HistoryError>(())
/// ```
#[derive(Clone, Debug)]
pub struct HistoryBuilder {
    data_type: DataType,
    replicas: Interner,
    labels: Interner,
    operations: Vec<Vec<(Stored, u32)>>,
    values: Vec<LabelId>,
    added: FxHashMap<LabelId, u32>,
    line: u32,
}

#[derive(Clone, Debug, Default)]
struct Interner {
    ids: FxHashMap<Label, u32>,
    labels: Vec<Label>,
}

impl Interner {
    fn intern(&mut self, label: Label) -> u32 {
        if let Some(&id) = self.ids.get(&label) {
            return id;
        }
        let id = u32::try_from(self.labels.len()).expect("fewer than 2^32 names fit in memory");
        self.labels.push(label.clone());
        self.ids.insert(label, id);
        id
    }
}

impl HistoryBuilder {
    /// An empty history of a type.
    pub fn new(data_type: DataType) -> Self {
        HistoryBuilder {
            data_type,
            replicas: Interner::default(),
            labels: Interner::default(),
            operations: Vec::new(),
            values: Vec::new(),
            added: FxHashMap::default(),
            line: 0,
        }
    }

    /// The type.
    pub fn data_type(&self) -> DataType {
        self.data_type
    }

    /// The line from which the next operations come.
    pub fn set_line(&mut self, line: u32) {
        self.line = line;
    }

    /// Adds an operation at the end of a replica.
    ///
    /// # Errors
    ///
    /// The operation is not one of this type, or it adds an element again. The history is as before.
    pub fn push(&mut self, replica: Label, operation: NamedOperation) -> Result<(), HistoryError> {
        self.fits(&operation)?;
        let stored = match operation {
            NamedOperation::Add(x) => Stored::Add(self.label(x)),
            NamedOperation::Remove(x) => Stored::Remove(self.label(x)),
            NamedOperation::Contains(x, answer) => Stored::Contains(self.label(x), answer),
            NamedOperation::Write(x, value) => Stored::Write(self.label(x), self.label(value)),
            NamedOperation::Read(x, values) => {
                let x = self.label(x);
                let mut values: Vec<LabelId> = values.into_iter().map(|value| self.label(value)).collect();
                values.sort_unstable();
                values.dedup();
                let (from, to) = self.span(&values)?;
                Stored::Read(x, from, to)
            }
            NamedOperation::Increment(x) => Stored::Increment(self.label(x)),
            NamedOperation::Decrement(x) => Stored::Decrement(self.label(x)),
            NamedOperation::Count(x, count) => Stored::Count(self.label(x), count),
            NamedOperation::Insert(after, element) => {
                let after = after.map(|after| self.label(after));
                let element = self.label(element);
                if let Some(&first) = self.added.get(&element) {
                    let element = self.labels.labels[element.0 as usize].to_string().into();
                    return Err(HistoryError::RepeatedElement { element, first, second: self.line });
                }
                self.added.insert(element, self.line);
                Stored::Insert(after, element)
            }
            NamedOperation::Delete(element) => Stored::Delete(self.label(element)),
            NamedOperation::List(elements) => {
                let elements: Vec<LabelId> = elements.into_iter().map(|element| self.label(element)).collect();
                let (from, to) = self.span(&elements)?;
                Stored::List(from, to)
            }
        };
        let replica = self.replicas.intern(replica) as usize;
        if replica == self.operations.len() {
            self.operations.push(Vec::new());
        }
        self.operations[replica].push((stored, self.line));
        Ok(())
    }

    /// The history.
    pub fn finish(self) -> History {
        let mut first = vec![0];
        let (mut operations, mut lines) = (Vec::new(), Vec::new());
        for replica in self.operations {
            operations.extend(replica.iter().map(|&(operation, _)| operation));
            lines.extend(replica.iter().map(|&(_, line)| line));
            first.push(operations.len() as u32);
        }
        History {
            data_type: self.data_type,
            replicas: self.replicas.labels.into(),
            labels: self.labels.labels.into(),
            first,
            operations,
            values: self.values,
            lines,
        }
    }

    fn fits(&self, operation: &NamedOperation) -> Result<(), HistoryError> {
        use DataType as T;
        use NamedOperation as O;
        let fits = match operation {
            O::Add(_) | O::Remove(_) | O::Contains(..) => {
                matches!(self.data_type, T::OrSet | T::RwSet | T::EwFlag | T::DwFlag)
            }
            O::Write(..) | O::Read(..) => matches!(self.data_type, T::MvRegister | T::LwwRegister),
            O::Increment(_) | O::Decrement(_) | O::Count(..) => self.data_type == T::Counter,
            O::Insert(..) | O::Delete(_) | O::List(_) => self.data_type == T::Rga,
        };
        if !fits {
            let methods = self.data_type.methods();
            let second = methods.second.map_or(String::new(), |second| format!("{second}, "));
            let methods = format!("{}, {second}{}", methods.first, methods.query).into();
            return Err(HistoryError::WrongOperation { data_type: self.data_type, methods });
        }
        match operation {
            O::Read(_, values) if self.data_type == T::LwwRegister && values.len() > 1 => {
                Err(HistoryError::SeveralValues)
            }
            _ => Ok(()),
        }
    }

    fn label(&mut self, label: Label) -> LabelId {
        LabelId(self.labels.intern(label))
    }

    fn span(&mut self, values: &[LabelId]) -> Result<(u32, u32), HistoryError> {
        let from = self.values.len();
        let to = u32::try_from(from + values.len()).map_err(|_| HistoryError::TooLarge)?;
        self.values.extend_from_slice(values);
        Ok((from as u32, to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_come_back_replica_by_replica() {
        let mut builder = HistoryBuilder::new(DataType::MvRegister);
        builder.push("a".into(), NamedOperation::Write("x".into(), 1.into())).unwrap();
        builder.push("b".into(), NamedOperation::Read("x".into(), vec![2.into(), 1.into(), 2.into()])).unwrap();
        builder.push("a".into(), NamedOperation::Write("x".into(), 2.into())).unwrap();
        let history = builder.finish();
        assert_eq!(history.len(), 3);
        assert_eq!(history.replica_of(OpId(2)), ReplicaId(1));
        assert_eq!(history.position(OpId(1)), 1);
        let Operation::Read(_, values) = history.operation(OpId(2)) else { panic!() };
        assert_eq!(values.iter().map(|&v| history.label(v).to_string()).collect::<Vec<_>>(), ["1", "2"]);
    }

    #[test]
    fn what_a_type_does_not_have_is_refused() {
        let mut builder = HistoryBuilder::new(DataType::Rga);
        let wrong = builder.push("a".into(), NamedOperation::Add("x".into())).unwrap_err();
        assert!(wrong.to_string().ends_with("its operations are addAfter, remove, read"), "{wrong}");
        builder.push("a".into(), NamedOperation::Insert(None, "x".into())).unwrap();
        let twice = builder.push("b".into(), NamedOperation::Insert(None, "x".into())).unwrap_err();
        assert!(twice.to_string().contains("second time"), "{twice}");
        assert_eq!(builder.finish().len(), 1);
    }
}
