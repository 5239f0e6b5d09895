//! All histories of a type up to a size, for tests.
//!
//! Each history comes once up to the names of replicas, objects, values and elements: of all ways to name it, the one
//! that is smallest, operation by operation. Answers are all that could be right in any execution, and one that never
//! is; references to elements that nobody inserts are among them.
//!
//! First the kinds and objects of all operations are chosen, then what depends on how many of them there are: values,
//! answers, and the elements that arrays refer to.

use crate::data_type::DataType;
use crate::history::{History, HistoryBuilder, Label, NamedOperation};

/// Which histories.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The type.
    pub data_type: DataType,
    /// How many operations exactly.
    pub operations: usize,
    /// How many replicas at most.
    pub replicas: usize,
    /// How many objects at most, up to 3; arrays have none.
    pub objects: usize,
    /// Registers: how many values at most, up to 4. Arrays: how many elements at most, up to 6.
    pub values: usize,
}

/// Calls `visit` with each history.
pub fn histories(bounds: &Bounds, mut visit: impl FnMut(&History)) {
    let objects = if bounds.data_type == DataType::Rga { 1 } else { bounds.objects };
    let kinds = if bounds.data_type.methods().second.is_some() { 3 } else { 2 };
    for sizes in partitions(bounds.operations, bounds.replicas) {
        product(&vec![kinds * objects; bounds.operations], |choice| {
            let slots: Vec<Slot> = choice.iter().map(|&c| slot(bounds.data_type, c / objects, c % objects)).collect();
            if let Some(skeleton) = Skeleton::new(bounds, &sizes, slots) {
                skeleton.fill(&mut visit);
            }
        });
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    First,
    Second,
    Query,
}

#[derive(Clone, Copy)]
struct Slot {
    kind: Kind,
    object: usize,
}

fn slot(data_type: DataType, kind: usize, object: usize) -> Slot {
    let kind = match kind {
        0 => Kind::First,
        1 if data_type.methods().second.is_some() => Kind::Second,
        _ => Kind::Query,
    };
    Slot { kind, object }
}

/// An operation in numbers. What `detail` means depends on the type: an answer, a value, a set of values as bits, or
/// elements in hexadecimal digits from 1, the first of them highest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Code {
    kind: Kind,
    object: usize,
    detail: u32,
}

/// The element that nobody inserts, and the front of an array.
const NOBODY: u32 = 0xf;
const FRONT: u32 = 0xe;
/// What is added to counts, so that they are not negative.
const ZERO: u32 = 1 << 8;

struct Skeleton<'b> {
    bounds: &'b Bounds,
    /// Where each replica starts, and the end.
    starts: Vec<usize>,
    slots: Vec<Slot>,
    /// How many objects occur, and how many values or elements may.
    objects: usize,
    values: usize,
    /// The orders of replicas in which their sizes still fall.
    orders: Vec<Vec<usize>>,
    object_names: Vec<Vec<usize>>,
    value_names: Vec<Vec<usize>>,
}

impl<'b> Skeleton<'b> {
    /// None if another choice of objects is the same but for names, or if there are too many elements.
    fn new(bounds: &'b Bounds, sizes: &[usize], slots: Vec<Slot>) -> Option<Self> {
        let mut objects = 0;
        for slot in &slots {
            if slot.object > objects {
                return None;
            }
            objects = objects.max(slot.object + 1);
        }
        let first = slots.iter().filter(|slot| slot.kind == Kind::First).count();
        let values = match bounds.data_type {
            DataType::MvRegister | DataType::LwwRegister => bounds.values.min(first + 1),
            DataType::Rga if first > bounds.values => return None,
            DataType::Rga => first,
            _ => 0,
        };
        let starts = (0..=sizes.len()).map(|replica| sizes[..replica].iter().sum()).collect();
        let mut orders = permutations(sizes.len());
        orders.retain(|order| order.iter().map(|&replica| sizes[replica]).is_sorted_by(|a, b| a >= b));
        // How elements are named follows from the order of the replicas.
        let value_names = if bounds.data_type == DataType::Rga { vec![Vec::new()] } else { permutations(values) };
        Some(Skeleton {
            bounds,
            starts,
            slots,
            objects,
            values,
            orders,
            object_names: permutations(objects),
            value_names,
        })
    }

    fn fill(&self, visit: &mut impl FnMut(&History)) {
        let candidates: Vec<Vec<u32>> = (0..self.slots.len()).map(|at| self.details(at)).collect();
        let sizes: Vec<usize> = candidates.iter().map(Vec::len).collect();
        let mut codes = Vec::new();
        product(&sizes, |choice| {
            codes.clear();
            codes.extend(choice.iter().enumerate().map(|(at, &c)| {
                let Slot { kind, object } = self.slots[at];
                Code { kind, object, detail: candidates[at][c] }
            }));
            if self.is_smallest(&codes) {
                visit(&self.history(&codes));
            }
        });
    }

    fn count(&self, kind: Kind, object: usize) -> u32 {
        self.slots.iter().filter(|slot| slot.kind == kind && slot.object == object).count() as u32
    }

    /// All that may be said in one place.
    fn details(&self, at: usize) -> Vec<u32> {
        let Slot { kind, object } = self.slots[at];
        let values = self.values as u32;
        match (self.bounds.data_type, kind) {
            (DataType::OrSet | DataType::RwSet | DataType::EwFlag | DataType::DwFlag, Kind::Query) => vec![0, 1],
            (DataType::Counter, Kind::Query) => {
                let (increments, decrements) = (self.count(Kind::First, object), self.count(Kind::Second, object));
                (ZERO - decrements..=ZERO + increments + 1).collect()
            }
            (DataType::MvRegister, Kind::Query) => (0..1 << values).collect(),
            // The first is that nothing was written.
            (DataType::LwwRegister, Kind::Query) => (0..=values).collect(),
            (DataType::MvRegister | DataType::LwwRegister, Kind::First) => (0..values).collect(),
            (DataType::Rga, Kind::First) => {
                let own = 1 + self.slots[..at].iter().filter(|slot| slot.kind == Kind::First).count() as u32;
                let after = (1..=values).filter(|&element| element != own).chain([FRONT, NOBODY]);
                after.map(|after| after << 4 | own).collect()
            }
            (DataType::Rga, Kind::Second) => (1..=values).chain([NOBODY]).collect(),
            (DataType::Rga, Kind::Query) => lists(values),
            _ => vec![0],
        }
    }

    /// Whether no other names give smaller codes.
    fn is_smallest(&self, codes: &[Code]) -> bool {
        self.orders.iter().all(|order| {
            let elements = self.element_names(codes, order);
            self.object_names.iter().all(|objects| {
                self.value_names.iter().all(|values| {
                    let values = elements.as_ref().unwrap_or(values);
                    let renamed = self.in_order(codes, order).map(|code| self.rename(code, objects, values));
                    renamed.ge(codes.iter().copied())
                })
            })
        })
    }

    fn in_order<'c>(&self, codes: &'c [Code], order: &[usize]) -> impl Iterator<Item = Code> + use<'c, '_, 'b> {
        let order = order.to_vec();
        order.into_iter().flat_map(|replica| codes[self.starts[replica]..self.starts[replica + 1]].iter().copied())
    }

    /// Elements are named in the order of their insertions.
    fn element_names(&self, codes: &[Code], order: &[usize]) -> Option<Vec<usize>> {
        if self.bounds.data_type != DataType::Rga {
            return None;
        }
        let mut names = vec![0; self.values];
        let inserted = self.in_order(codes, order).filter(|code| code.kind == Kind::First);
        for (name, code) in inserted.enumerate() {
            names[(code.detail & 0xf) as usize - 1] = name;
        }
        Some(names)
    }

    fn rename(&self, code: Code, objects: &[usize], values: &[usize]) -> Code {
        let value = |value: u32| values[value as usize] as u32;
        let detail = match (self.bounds.data_type, code.kind) {
            (DataType::MvRegister, Kind::Query) => {
                (0..self.values as u32).map(|bit| (code.detail >> bit & 1) << value(bit)).sum()
            }
            (DataType::MvRegister | DataType::LwwRegister, Kind::First) => value(code.detail),
            (DataType::LwwRegister, Kind::Query) => code.detail.checked_sub(1).map_or(0, |read| value(read) + 1),
            (DataType::Rga, _) => digits(code.detail)
                .map(|digit| if digit as usize <= self.values { value(digit - 1) + 1 } else { digit })
                .fold(0, |detail, digit| detail << 4 | digit),
            _ => code.detail,
        };
        Code { kind: code.kind, object: objects[code.object], detail }
    }

    fn history(&self, codes: &[Code]) -> History {
        debug_assert!(self.objects <= 3 && self.values <= 6);
        let mut builder = HistoryBuilder::new(self.bounds.data_type);
        for (replica, ends) in self.starts.windows(2).enumerate() {
            for &code in &codes[ends[0]..ends[1]] {
                let operation = self.operation(code);
                builder.push(Label::from(["p", "q", "r", "s"][replica]), operation).expect("it fits the type");
            }
        }
        builder.finish()
    }

    fn operation(&self, code: Code) -> NamedOperation {
        let object = Label::from(["x", "y", "z"][code.object]);
        let value = |value: u32| Label::Int(i64::from(value) + 1);
        let element =
            |digit: u32| Label::from(if digit == NOBODY { "nobody" } else { &"abcdef"[digit as usize - 1..][..1] });
        match (self.bounds.data_type, code.kind) {
            (DataType::MvRegister | DataType::LwwRegister, Kind::First | Kind::Second) => {
                NamedOperation::Write(object, value(code.detail))
            }
            (DataType::MvRegister, Kind::Query) => {
                NamedOperation::Read(object, (0..8).filter(|bit| code.detail >> bit & 1 == 1).map(value).collect())
            }
            (DataType::LwwRegister, Kind::Query) => {
                NamedOperation::Read(object, code.detail.checked_sub(1).map(value).into_iter().collect())
            }
            (DataType::Counter, Kind::First) => NamedOperation::Increment(object),
            (DataType::Counter, Kind::Second) => NamedOperation::Decrement(object),
            (DataType::Counter, Kind::Query) => NamedOperation::Count(object, i64::from(code.detail) - i64::from(ZERO)),
            (DataType::Rga, Kind::First) => {
                let after = code.detail >> 4;
                NamedOperation::Insert((after != FRONT).then(|| element(after)), element(code.detail & 0xf))
            }
            (DataType::Rga, Kind::Second) => NamedOperation::Delete(element(code.detail)),
            (DataType::Rga, Kind::Query) => NamedOperation::List(digits(code.detail).map(element).collect()),
            (_, Kind::First) => NamedOperation::Add(object),
            (_, Kind::Second) => NamedOperation::Remove(object),
            (_, Kind::Query) => NamedOperation::Contains(object, code.detail == 1),
        }
    }
}

/// The digits of a number, the highest first; a zero stands for none.
fn digits(detail: u32) -> impl Iterator<Item = u32> {
    (0..8).rev().map(move |at| detail >> (4 * at) & 0xf).filter(|&digit| digit != 0)
}

/// All lists without repetition of elements from 1, and one with what cannot be: an element twice, or an unknown one.
fn lists(elements: u32) -> Vec<u32> {
    let mut lists = vec![0];
    let mut at = 0;
    while at < lists.len() {
        let list = lists[at];
        lists.extend((1..=elements).filter(|&e| digits(list).all(|digit| digit != e)).map(|e| list << 4 | e));
        at += 1;
    }
    lists.push(if elements > 0 { 0x11 } else { NOBODY });
    lists
}

/// All ways to write a number as a sum of at most so many, in falling order.
fn partitions(total: usize, parts: usize) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    let mut open = vec![(Vec::new(), total)];
    while let Some((sizes, rest)) = open.pop() {
        if rest == 0 {
            found.push(sizes);
        } else if sizes.len() < parts {
            let most = sizes.last().map_or(rest, |&last: &usize| last.min(rest));
            open.extend((1..=most).map(|size| ([sizes.as_slice(), &[size]].concat(), rest - size)));
        }
    }
    found
}

fn permutations(count: usize) -> Vec<Vec<usize>> {
    let mut found = vec![Vec::new()];
    for new in 0..count {
        let with = |order: &Vec<usize>, at| [&order[..at], &[new], &order[at..]].concat();
        found = found.iter().flat_map(|order| (0..=order.len()).map(move |at| with(order, at))).collect();
    }
    found
}

/// All vectors whose entries are below the given sizes, as an odometer shows them.
fn product(sizes: &[usize], mut visit: impl FnMut(&[usize])) {
    let mut choice = vec![0; sizes.len()];
    if sizes.contains(&0) {
        return;
    }
    loop {
        visit(&choice);
        let Some(at) = (0..sizes.len()).rev().find(|&at| choice[at] + 1 < sizes[at]) else { return };
        choice[at] += 1;
        choice[at + 1..].fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(data_type: DataType, operations: usize, replicas: usize) -> Vec<String> {
        let bounds = Bounds { data_type, operations, replicas, objects: 2, values: 2 };
        let mut texts = Vec::new();
        histories(&bounds, |history| {
            let line = |replica| {
                history.operations_of(replica).map(|op| history.show(op).to_string()).collect::<Vec<_>>().join(" ")
            };
            texts.push(history.replicas().map(line).collect::<Vec<_>>().join(" / "));
        });
        texts
    }

    #[test]
    fn single_operations() {
        assert_eq!(texts(DataType::Counter, 1, 3), ["inc(x)", "dec(x)", "read(x)=0", "read(x)=1"]);
        assert_eq!(texts(DataType::MvRegister, 1, 3), ["write(x,1)", "read(x)={}", "read(x)={1}"]);
        assert_eq!(texts(DataType::LwwRegister, 1, 3), ["write(x,1)", "read(x)=_", "read(x)=1"]);
        let expected = ["addAfter(_,a)", "addAfter(nobody,a)", "remove(nobody)", "read()=[]", "read()=[nobody]"];
        assert_eq!(texts(DataType::Rga, 1, 3), expected);
        assert_eq!(texts(DataType::OrSet, 1, 3).len(), 4);
    }

    #[test]
    fn every_history_up_to_names_comes_once() {
        // Of the 4·4 pairs of operations on one replica, those on one element and those on two.
        assert_eq!(texts(DataType::OrSet, 2, 1).len(), 2 * 4 * 4);
        // On two replicas, pairs without order.
        assert_eq!(texts(DataType::OrSet, 2, 2).len(), 2 * 4 * 4 + 2 * (4 * 5 / 2));
        for data_type in DataType::ALL {
            let mut texts = texts(data_type, 3, 3);
            let all = texts.len();
            texts.sort();
            texts.dedup();
            assert_eq!(texts.len(), all, "{data_type}");
        }
    }
}
