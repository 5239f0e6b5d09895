//! The thesis's search for sets, flags and counters: replicas take turns, and hear of all that another knows or of nothing.
//!
//! A state is what each replica knows, a prefix of every other. Either a replica goes on to its next operation, or it takes over all
//! that another knows at that time. So no replica ever hears of what another knew earlier, which is why a history may be allowed
//! and not be found here: what this search accepts is allowed, and nothing follows from what it does not.
//!
//! Follows Algorithms 3 and 4 of R. Biswas, *Automated Formal Testing of Storage Systems and Applications* (2021), which stop at the
//! first answer that does not fit instead of trying other turns, and may take over the same knowledge forever.

use isonomy_solver::Budget;
use rustc_hash::FxHashSet;

use crate::data_type::DataType;
use crate::history::{History, LabelId, OpId, Operation};
use crate::verdict::Witness;

/// Looks for turns that explain a history of sets, flags, counters or multi-value registers.
pub fn accepts(history: &History, budget: &mut Budget<'_>) -> Option<Witness> {
    if matches!(history.data_type(), DataType::LwwRegister | DataType::Rga) {
        return None;
    }
    let replicas = history.replicas().len();
    let mut turns = Turns {
        history,
        replicas,
        first: history.replicas().map(|replica| history.operations_of(replica).next().map_or(0, |op| op.0)).collect(),
        sizes: history.replicas().map(|replica| history.operations_of(replica).len() as u32).collect(),
        updates: updates(history),
        known: vec![0; replicas * replicas],
        seen: vec![Vec::new(); history.len()],
        order: Vec::new(),
    };
    turns.search(budget).then_some(Witness { seen: turns.seen, order: turns.order })
}

/// The updates of each object, in ascending order.
fn updates(history: &History) -> Vec<Vec<u32>> {
    let mut updates = vec![Vec::new(); history.label_count()];
    for op in history.operations() {
        let operation = history.operation(op);
        if let Some(LabelId(object)) = operation.object().filter(|_| !operation.is_query()) {
            updates[object as usize].push(op.0);
        }
    }
    updates
}

struct Turns<'h> {
    history: &'h History,
    replicas: usize,
    first: Vec<u32>,
    sizes: Vec<u32>,
    updates: Vec<Vec<u32>>,
    /// What each replica knows of each: so many operations. Its own are those that it has done.
    known: Vec<u32>,
    seen: Vec<Vec<u32>>,
    order: Vec<OpId>,
}

/// A state on the way, and which turn to try next there.
struct Visit {
    known: Vec<u32>,
    turn: usize,
}

impl Turns<'_> {
    fn search(&mut self, budget: &mut Budget<'_>) -> bool {
        let mut met: FxHashSet<Vec<u32>> = FxHashSet::default();
        let mut path = vec![Visit { known: self.known.clone(), turn: 0 }];
        while let Some(visit) = path.last_mut() {
            if (0..self.replicas).all(|replica| visit.known[replica * self.replicas + replica] == self.sizes[replica]) {
                return true;
            }
            // First every replica's own next operation, then who takes over from whom.
            let turns = self.replicas + self.replicas * self.replicas;
            if visit.turn == turns || !budget.spend(1) {
                path.pop();
                continue;
            }
            let turn = visit.turn;
            visit.turn += 1;
            self.known.clone_from(&visit.known);
            let done: u32 = (0..self.replicas).map(|replica| self.known[replica * self.replicas + replica]).sum();
            self.order.truncate(done as usize);
            let moved = if turn < self.replicas { self.go_on(turn) } else { self.take_over(turn - self.replicas) };
            if moved && met.insert(self.known.clone()) {
                path.push(Visit { known: self.known.clone(), turn: 0 });
            }
        }
        false
    }

    /// The next operation of a replica; false if there is none, or its answer does not fit.
    fn go_on(&mut self, replica: usize) -> bool {
        let own = replica * self.replicas + replica;
        if self.known[own] == self.sizes[replica] {
            return false;
        }
        let op = OpId(self.first[replica] + self.known[own]);
        let knows = &self.known[replica * self.replicas..][..self.replicas];
        if !self.fits(op, knows) {
            return false;
        }
        self.seen[op.0 as usize] = knows.to_vec();
        self.order.push(op);
        self.known[own] += 1;
        true
    }

    /// One replica hears of all that another knows; false if that is nothing new.
    fn take_over(&mut self, pair: usize) -> bool {
        let (to, from) = (pair / self.replicas, pair % self.replicas);
        let mut new = false;
        for replica in 0..self.replicas {
            let heard = self.known[from * self.replicas + replica];
            let known = &mut self.known[to * self.replicas + replica];
            new |= heard > *known;
            *known = heard.max(*known);
        }
        new
    }

    fn fits(&self, op: OpId, knows: &[u32]) -> bool {
        let query = self.history.operation(op);
        let Some(object) = query.object().filter(|_| query.is_query()) else { return true };
        let updates = &self.updates[object.0 as usize];
        let seen = |at: u32, knows: &[u32]| {
            let replica = self.first.partition_point(|&first| first <= at) - 1;
            at - self.first[replica] < knows[replica]
        };
        let visible: Vec<u32> = updates.iter().copied().filter(|&update| seen(update, knows)).collect();
        if let Operation::Count(_, value) = query {
            let up = |&&update: &&u32| matches!(self.history.operation(OpId(update)), Operation::Increment(_));
            return value == 2 * visible.iter().filter(up).count() as i64 - visible.len() as i64;
        }
        let covered = |update: u32| visible.iter().any(|&other| seen(update, &self.seen[other as usize]));
        let latest =
            visible.iter().filter(|&&update| !covered(update)).map(|&update| self.history.operation(OpId(update)));
        let (mut added, mut removed, mut values) = (false, false, Vec::new());
        for update in latest {
            match update {
                Operation::Add(_) => added = true,
                Operation::Remove(_) => removed = true,
                Operation::Write(_, value) => values.push(value),
                _ => {}
            }
        }
        values.sort_unstable();
        values.dedup();
        match query {
            Operation::Contains(_, answer) => {
                let removal_wins = matches!(self.history.data_type(), DataType::RwSet | DataType::DwFlag);
                answer == (added && !(removal_wins && removed))
            }
            Operation::Read(_, returned) => returned == values,
            _ => true,
        }
    }
}
