//! Carries bounds on, rule by rule and round by round, until nothing changes or something contradicts itself.
//!
//! Plain on purpose: it goes through all operations and all answers again and again. Counterexamples are small.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::left_out::Part;
use crate::data_type::DataType;
use crate::history::{LabelId, OpId, Operation, ReplicaId};
use crate::verdict::{Bound, Step};

/// The bounds cannot all hold.
pub(super) struct Contradiction;

type Carried = Result<(), Contradiction>;

/// The operations of a counterexample, by their numbers in it.
pub(super) struct Known<'a> {
    part: &'a Part<'a>,
    /// The operations of each replica.
    replicas: Vec<Vec<usize>>,
    home: Vec<(usize, u32)>,
    numbers: FxHashMap<OpId, usize>,
    /// For each read of a last-writer-wins register that returned a value, the writes of that value.
    candidates: BTreeMap<usize, Vec<usize>>,
    /// Pairs of additions of which the first has the lower timestamp, as far as lists tell.
    before: Vec<(usize, usize)>,
    /// A list that is no walk through any tree.
    impossible: bool,
}

impl<'a> Known<'a> {
    pub(super) fn new(part: &'a Part<'a>) -> Self {
        let mut replicas = vec![Vec::new(); part.history.replicas().len()];
        let mut home = Vec::new();
        for (number, &op) in part.operations.iter().enumerate() {
            let replica = part.history.replica_of(op).0 as usize;
            home.push((replica, replicas[replica].len() as u32));
            replicas[replica].push(number);
        }
        let numbers = part.operations.iter().enumerate().map(|(number, &op)| (op, number)).collect();
        let mut known =
            Known { part, replicas, home, numbers, candidates: BTreeMap::new(), before: Vec::new(), impossible: false };
        match part.history.data_type() {
            DataType::LwwRegister => known.candidates(),
            DataType::Rga => known.compare_lists(),
            _ => {}
        }
        known
    }

    fn len(&self) -> usize {
        self.home.len()
    }

    fn operation(&self, number: usize) -> Operation<'a> {
        self.part.history.operation(self.part.operations[number])
    }

    fn numbers_where<'s>(&'s self, which: impl Fn(Operation<'a>) -> bool + 's) -> impl Iterator<Item = usize> + 's {
        (0..self.len()).filter(move |&number| which(self.operation(number)))
    }

    /// Whether a bound speaks of something that there is.
    pub(super) fn has(&self, bound: Bound) -> bool {
        match bound {
            Bound::Saw(op, replica, _) | Bound::SawAtMost(op, replica, _) => {
                self.numbers.contains_key(&op) && (replica.0 as usize) < self.replicas.len()
            }
            Bound::ChoseFrom(read, _) | Bound::ChoseUpTo(read, _) => {
                self.numbers.get(&read).is_some_and(|read| self.candidates.contains_key(read))
            }
        }
    }

    fn candidates(&mut self) {
        let reads: Vec<usize> = self.numbers_where(|operation| operation.is_query()).collect();
        for read in reads {
            let Operation::Read(x, &[value]) = self.operation(read) else { continue };
            let writes = self.numbers_where(|operation| operation == Operation::Write(x, value)).collect();
            self.candidates.insert(read, writes);
        }
    }

    fn adder(&self, element: LabelId) -> Option<usize> {
        self.numbers_where(|operation| matches!(operation, Operation::Insert(_, other) if other == element)).next()
    }

    /// The elements of a list that are left.
    fn list(&self, number: usize) -> Vec<LabelId> {
        let Operation::List(elements) = self.operation(number) else { return Vec::new() };
        elements.iter().copied().filter(|element| !self.part.gone.contains(element)).collect()
    }

    /// An element and all above it, from the front on; `None` if there is no end to it.
    fn path(&self, parents: &FxHashMap<LabelId, (Option<LabelId>, usize)>, element: LabelId) -> Option<Vec<LabelId>> {
        let mut path = vec![element];
        while let Some(&(Some(parent), _)) = path.last().and_then(|last| parents.get(last)) {
            if path.len() > self.len() {
                return None;
            }
            path.push(parent);
        }
        path.reverse();
        Some(path)
    }

    /// Of any two elements of a list, either the first is above the second, or one above the first is a sibling, with a higher
    /// timestamp, of one above the second.
    fn compare_lists(&mut self) {
        let mut parents = FxHashMap::default();
        for number in 0..self.len() {
            if let Operation::Insert(after, element) = self.operation(number) {
                parents.insert(element, (after, number));
            }
        }
        for number in 0..self.len() {
            let list = self.list(number);
            let paths: Vec<Option<Vec<LabelId>>> = list.iter().map(|&element| self.path(&parents, element)).collect();
            for right in 0..list.len() {
                for left in 0..right {
                    let (Some(a), Some(b)) = (&paths[left], &paths[right]) else { continue };
                    let common = a.iter().zip(b).take_while(|(a, b)| a == b).count();
                    self.impossible |= common == b.len();
                    if let (Some(higher), Some(lower)) = (a.get(common), b.get(common))
                        && let (Some(&(_, higher)), Some(&(_, lower))) = (parents.get(higher), parents.get(lower))
                    {
                        self.before.push((lower, higher));
                    }
                }
            }
        }
        self.before.sort_unstable();
        self.before.dedup();
    }
}

/// Bounds: at least and at most how many operations of each replica each operation saw, and which candidates each read may
/// have chosen.
#[derive(Clone)]
pub(super) struct Carry<'a> {
    known: &'a Known<'a>,
    least: Vec<Vec<u32>>,
    most: Vec<Vec<u32>>,
    chosen: FxHashMap<usize, (u32, u32)>,
    changed: bool,
}

impl<'a> Carry<'a> {
    pub(super) fn new(known: &'a Known<'a>) -> Result<Self, Contradiction> {
        let sizes: Vec<u32> = known.replicas.iter().map(|replica| replica.len() as u32).collect();
        let mut carry = Carry {
            known,
            least: vec![vec![0; sizes.len()]; known.len()],
            most: vec![sizes; known.len()],
            chosen: FxHashMap::default(),
            changed: true,
        };
        for (number, &(replica, position)) in known.home.iter().enumerate() {
            carry.least[number][replica] = position;
            carry.most[number][replica] = position;
        }
        for (&read, writes) in &known.candidates {
            let last = (writes.len() as u32).checked_sub(1).ok_or(Contradiction)?;
            carry.chosen.insert(read, (0, last));
        }
        if known.impossible { Err(Contradiction) } else { Ok(carry) }
    }

    pub(super) fn suppose(&mut self, bound: Bound) -> Carried {
        let known = self.known;
        let slot = |replica: ReplicaId| replica.0 as usize;
        match bound {
            Bound::Saw(op, replica, count) => self.at_least(known.numbers[&op], slot(replica), count),
            Bound::SawAtMost(op, replica, count) => self.at_most(known.numbers[&op], slot(replica), count),
            Bound::ChoseFrom(read, number) => {
                let read = known.numbers[&read];
                let (from, to) = self.chosen[&read];
                self.choose(read, from.max(number), to)
            }
            Bound::ChoseUpTo(read, number) => {
                let read = known.numbers[&read];
                let (from, to) = self.chosen[&read];
                self.choose(read, from, to.min(number))
            }
        }
    }

    /// Carries on until nothing changes.
    pub(super) fn run(&mut self, clauses: &[&Step]) -> Carried {
        self.changed = true;
        while std::mem::take(&mut self.changed) {
            for op in 0..self.known.len() {
                self.closed(op)?;
            }
            for query in 0..self.known.len() {
                self.explained(query)?;
            }
            for clause in clauses {
                self.clause(clause)?;
            }
            if !self.changed {
                self.timestamps()?;
            }
        }
        Ok(())
    }

    fn at_least(&mut self, op: usize, replica: usize, count: u32) -> Carried {
        if self.least[op][replica] < count {
            self.least[op][replica] = count;
            self.changed = true;
        }
        if count > self.most[op][replica] { Err(Contradiction) } else { Ok(()) }
    }

    fn at_most(&mut self, op: usize, replica: usize, count: u32) -> Carried {
        if self.most[op][replica] > count {
            self.most[op][replica] = count;
            self.changed = true;
        }
        if count < self.least[op][replica] { Err(Contradiction) } else { Ok(()) }
    }

    fn choose(&mut self, read: usize, from: u32, to: u32) -> Carried {
        self.changed |= self.chosen.insert(read, (from, to)) != Some((from, to));
        if from > to { Err(Contradiction) } else { Ok(()) }
    }

    fn saw(&self, op: usize, other: usize) -> bool {
        let (replica, position) = self.known.home[other];
        self.least[op][replica] > position
    }

    fn may_see(&self, op: usize, other: usize) -> bool {
        let (replica, position) = self.known.home[other];
        self.most[op][replica] > position
    }

    fn must_see(&mut self, op: usize, other: usize) -> Carried {
        let (replica, position) = self.known.home[other];
        self.at_least(op, replica, position + 1)
    }

    fn must_miss(&mut self, op: usize, other: usize) -> Carried {
        let (replica, position) = self.known.home[other];
        self.at_most(op, replica, position)
    }

    /// An operation saw what those saw that it saw.
    fn closed(&mut self, op: usize) -> Carried {
        for replica in 0..self.known.replicas.len() {
            while self.least[op][replica] > 0 {
                let last = self.known.replicas[replica][self.least[op][replica] as usize - 1];
                let before = self.least[op][replica];
                for other in 0..self.known.replicas.len() {
                    self.at_least(op, other, self.least[last][other])?;
                    self.at_most(last, other, self.most[op][other])?;
                }
                if self.least[op][replica] == before {
                    break;
                }
            }
            while self.most[op][replica] > 0 {
                let last = self.known.replicas[replica][self.most[op][replica] as usize - 1];
                let knows_more = self.least[last].iter().zip(&self.most[op]).any(|(least, most)| least > most);
                if !knows_more || self.known.home[op].0 == replica {
                    break;
                }
                self.at_most(op, replica, self.most[op][replica] - 1)?;
            }
        }
        Ok(())
    }

    /// At least one bound of a clause holds.
    fn clause(&mut self, clause: &Step) -> Carried {
        let mut open = clause.iter().filter(|&&bound| !self.fails(bound));
        match (open.next(), open.next()) {
            (None, _) => Err(Contradiction),
            (Some(&only), None) => self.suppose(only),
            _ => Ok(()),
        }
    }

    fn fails(&self, bound: Bound) -> bool {
        let numbers = &self.known.numbers;
        match bound {
            Bound::Saw(op, replica, count) => self.most[numbers[&op]][replica.0 as usize] < count,
            Bound::SawAtMost(op, replica, count) => self.least[numbers[&op]][replica.0 as usize] > count,
            Bound::ChoseFrom(read, number) => self.chosen[&numbers[&read]].1 < number,
            Bound::ChoseUpTo(read, number) => self.chosen[&numbers[&read]].0 > number,
        }
    }

    /// What an operation says about what it saw.
    fn explained(&mut self, op: usize) -> Carried {
        let known = self.known;
        match known.operation(op) {
            Operation::Contains(x, answer) => {
                let adds: Vec<usize> = known.numbers_where(|other| other == Operation::Add(x)).collect();
                let removes: Vec<usize> = known.numbers_where(|other| other == Operation::Remove(x)).collect();
                let removal_wins = matches!(known.part.history.data_type(), DataType::RwSet | DataType::DwFlag);
                let (winners, coverers) = if removal_wins { (removes, adds) } else { (adds, removes) };
                if answer != removal_wins {
                    self.exists(op, &winners, &coverers, removal_wins)
                } else {
                    self.all_covered(op, &winners, &coverers, removal_wins)
                }
            }
            Operation::Read(x, values) => {
                let of_x = |other: Operation<'_>| matches!(other, Operation::Write(y, _) if y == x);
                let writes: Vec<usize> = known.numbers_where(of_x).collect();
                if values.is_empty() {
                    writes.iter().try_for_each(|&write| self.must_miss(op, write))
                } else if let Some(candidates) = known.candidates.get(&op) {
                    self.chosen(op, candidates, &writes)
                } else {
                    self.values(op, values, x, &writes)
                }
            }
            Operation::Count(x, value) => self.count(op, x, value),
            Operation::Insert(Some(element), _) | Operation::Delete(element) => {
                let adder = known.adder(element).ok_or(Contradiction)?;
                self.must_see(op, adder)
            }
            Operation::List(_) => self.listed(op),
            _ => Ok(()),
        }
    }

    /// Whether an operation was surely seen by something that the query surely saw.
    fn surely_covered(&self, query: usize, op: usize, coverers: &[usize]) -> bool {
        coverers.iter().any(|&coverer| self.saw(query, coverer) && self.saw(coverer, op))
    }

    /// Some winner was seen and is not covered.
    fn exists(&mut self, query: usize, winners: &[usize], coverers: &[usize], initial: bool) -> Carried {
        if initial && !coverers.iter().any(|&coverer| self.saw(query, coverer)) {
            return Ok(());
        }
        let alive = |&winner: &usize| self.may_see(query, winner) && !self.surely_covered(query, winner, coverers);
        let alive: Vec<usize> = winners.iter().copied().filter(alive).collect();
        let (first, last) = (*alive.first().ok_or(Contradiction)?, *alive.last().ok_or(Contradiction)?);
        if self.known.home[first].0 != self.known.home[last].0 {
            return Ok(());
        }
        self.must_see(query, first)?;
        // What saw the last of them saw all of them, so that none would be left.
        self.stays_uncovered(query, last, coverers)
    }

    fn stays_uncovered(&mut self, query: usize, op: usize, coverers: &[usize]) -> Carried {
        for &coverer in coverers {
            if self.saw(query, coverer) {
                self.must_miss(coverer, op)?;
            }
        }
        Ok(())
    }

    /// All winners that were seen are covered.
    fn all_covered(&mut self, query: usize, winners: &[usize], coverers: &[usize], initial: bool) -> Carried {
        if initial && !coverers.iter().any(|&coverer| self.saw(query, coverer)) {
            let may = coverers.iter().copied().filter(|&coverer| self.may_see(query, coverer)).collect();
            self.one_of(query, may)?;
        }
        for &winner in winners {
            if !self.may_see(query, winner) || self.surely_covered(query, winner, coverers) {
                continue;
            }
            let able = |&coverer: &usize| self.may_see(query, coverer) && self.may_see(coverer, winner);
            let able: Vec<usize> = coverers.iter().copied().filter(able).collect();
            if !self.saw(query, winner) {
                if able.is_empty() {
                    self.must_miss(query, winner)?;
                }
                continue;
            }
            self.one_of(query, able.clone())?;
            // If they are all on one replica, the last of them saw what one of them saw.
            let (first, last) = (*able.first().ok_or(Contradiction)?, *able.last().ok_or(Contradiction)?);
            if self.known.home[first].0 == self.known.home[last].0 {
                self.must_see(last, winner)?;
            }
        }
        Ok(())
    }

    /// The query saw one of these, which are in order: if all are on one replica, it saw the first.
    fn one_of(&mut self, query: usize, able: Vec<usize>) -> Carried {
        let (first, last) = (*able.first().ok_or(Contradiction)?, *able.last().ok_or(Contradiction)?);
        if self.known.home[first].0 == self.known.home[last].0 { self.must_see(query, first) } else { Ok(()) }
    }

    fn values(&mut self, read: usize, values: &[LabelId], x: LabelId, writes: &[usize]) -> Carried {
        let known = self.known;
        for &value in values {
            let winners: Vec<usize> = known.numbers_where(|other| other == Operation::Write(x, value)).collect();
            self.exists(read, &winners, writes, false)?;
        }
        let returned =
            |&write: &usize| matches!(known.operation(write), Operation::Write(_, value) if values.contains(&value));
        // What covers another value is covered in turn, until a value was returned.
        let (returned, others): (Vec<usize>, Vec<usize>) = writes.iter().partition(|write| returned(write));
        self.all_covered(read, &others, &returned, false)
    }

    /// The read saw the candidate that it chose, and nothing that saw that.
    fn chosen(&mut self, read: usize, candidates: &[usize], writes: &[usize]) -> Carried {
        let (mut from, mut to) = self.chosen[&read];
        let possible = |number: u32| {
            let write = candidates[number as usize];
            self.may_see(read, write) && !self.surely_covered(read, write, writes)
        };
        while from <= to && !possible(from) {
            from += 1;
        }
        while to > from && !possible(to) {
            to -= 1;
        }
        self.choose(read, from, to)?;
        if from < to {
            return Ok(());
        }
        self.must_see(read, candidates[from as usize])?;
        self.stays_uncovered(read, candidates[from as usize], writes)
    }

    /// Increments minus decrements: on each replica, what the others leave to it.
    fn count(&mut self, read: usize, x: LabelId, value: i64) -> Carried {
        let known = self.known;
        let sums = |replica: usize| {
            let mut sum = 0;
            let mut sums = vec![0];
            for &op in &known.replicas[replica] {
                sum += match known.operation(op) {
                    Operation::Increment(y) if y == x => 1,
                    Operation::Decrement(y) if y == x => -1,
                    _ => 0,
                };
                sums.push(sum);
            }
            sums
        };
        let sums: Vec<Vec<i64>> = (0..known.replicas.len()).map(sums).collect();
        let range = |carry: &Self, replica: usize| {
            let (from, to) = (carry.least[read][replica] as usize, carry.most[read][replica] as usize);
            let part = &sums[replica][from..=to];
            (*part.iter().min().expect("not empty"), *part.iter().max().expect("not empty"))
        };
        for (replica, sums) in sums.iter().enumerate() {
            let others = (0..known.replicas.len()).filter(|&other| other != replica).map(|other| range(self, other));
            let (lowest, highest) = others.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
            let fits = |count: u32| {
                (value.saturating_sub(highest)..=value.saturating_sub(lowest)).contains(&sums[count as usize])
            };
            while !fits(self.least[read][replica]) {
                self.at_least(read, replica, self.least[read][replica] + 1)?;
            }
            while !fits(self.most[read][replica]) {
                self.at_most(read, replica, self.most[read][replica] - 1)?;
            }
        }
        Ok(())
    }

    /// A list has what was seen and not removed.
    fn listed(&mut self, query: usize) -> Carried {
        let known = self.known;
        let list = known.list(query);
        for &element in &list {
            let adder = known.adder(element).ok_or(Contradiction)?;
            self.must_see(query, adder)?;
            let removers: Vec<usize> = known.numbers_where(|other| other == Operation::Delete(element)).collect();
            removers.into_iter().try_for_each(|remover| self.must_miss(query, remover))?;
        }
        for op in 0..known.len() {
            let Operation::Insert(_, element) = known.operation(op) else { continue };
            if !self.saw(query, op) || list.contains(&element) {
                continue;
            }
            let removers: Vec<usize> = known.numbers_where(|other| other == Operation::Delete(element)).collect();
            if removers.iter().any(|&remover| self.saw(query, remover)) {
                continue;
            }
            let able: Vec<usize> = removers.into_iter().filter(|&remover| self.may_see(query, remover)).collect();
            self.one_of(query, able)?;
        }
        Ok(())
    }

    /// There is an order of timestamps.
    fn timestamps(&mut self) -> Carried {
        let known = self.known;
        let mut edges = known.before.clone();
        for op in 0..known.len() {
            for replica in 0..known.replicas.len() {
                if let Some(last) = self.least[op][replica].checked_sub(1) {
                    edges.push((known.replicas[replica][last as usize], op));
                }
            }
        }
        for (&read, candidates) in &known.candidates {
            let (from, to) = self.chosen[&read];
            let Operation::Read(x, _) = known.operation(read) else { continue };
            if from == to {
                let chosen = candidates[from as usize];
                let of_x = |other: Operation<'_>| matches!(other, Operation::Write(y, _) if y == x);
                let seen = known.numbers_where(of_x).filter(|&write| write != chosen && self.saw(read, write));
                edges.extend(seen.map(|write| (write, chosen)));
            }
        }
        let mut waiting = vec![0; known.len()];
        let mut after = vec![Vec::new(); known.len()];
        for (from, to) in edges {
            waiting[to] += 1;
            after[from].push(to);
        }
        let mut free: Vec<usize> = (0..known.len()).filter(|&op| waiting[op] == 0).collect();
        let mut ordered = 0;
        while let Some(op) = free.pop() {
            ordered += 1;
            for &next in &after[op] {
                waiting[next] -= 1;
                if waiting[next] == 0 {
                    free.push(next);
                }
            }
        }
        if ordered == known.len() { Ok(()) } else { Err(Contradiction) }
    }
}
