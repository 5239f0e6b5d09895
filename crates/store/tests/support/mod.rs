//! Small programs, and all that they can do on a store.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use isonomy_store::{Chooser, Options, Session, Store};
use isonomy_workload::Rng;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Read(u8),
    Write(u8),
}

use Operation::{Read, Write};

/// Sessions of transactions of operations.
pub(crate) type Program = Vec<Vec<Vec<Operation>>>;

/// All values that reads returned, in the order of the program.
pub(crate) type Outcome = Vec<Option<u32>>;

/// The value that an operation writes is its own.
pub(crate) fn value(session: usize, transaction: usize, operation: usize) -> u32 {
    (session * 100 + transaction * 10 + operation) as u32
}

pub(crate) fn random(rng: &mut Rng) -> Program {
    let sessions = 2 + rng.below(2) as usize;
    let mut left = 4;
    let mut program: Program = vec![Vec::new(); sessions];
    for (at, session) in program.iter_mut().enumerate() {
        let most = (left - (sessions - 1 - at)).min(3);
        for _ in 0..=rng.below(most as u64) {
            let operations = 1 + rng.below(3);
            let operation =
                |rng: &mut Rng| if rng.chance(0.5) { Read(rng.below(2) as u8) } else { Write(rng.below(2) as u8) };
            session.push((0..operations).map(|_| operation(rng)).collect());
            left -= 1;
        }
    }
    program
}

/// A path through all choices that can be made, one after the other.
#[derive(Clone, Default)]
pub(crate) struct Paths {
    inner: Arc<Mutex<Path>>,
}

#[derive(Default)]
struct Path {
    taken: Vec<(usize, usize)>,
    depth: usize,
}

impl Paths {
    pub(crate) fn choose(&self, count: usize) -> usize {
        let mut path = self.inner.lock().unwrap();
        let depth = path.depth;
        path.depth += 1;
        if depth == path.taken.len() {
            path.taken.push((0, count));
        }
        assert_eq!(path.taken[depth].1, count, "a run repeats");
        path.taken[depth].0
    }

    /// Goes to the next path. Whether there is one.
    pub(crate) fn next(&self) -> bool {
        let mut path = self.inner.lock().unwrap();
        path.depth = 0;
        while let Some((taken, count)) = path.taken.pop() {
            if taken + 1 < count {
                path.taken.push((taken + 1, count));
                return true;
            }
        }
        false
    }
}

struct Along(Paths);

impl Chooser for Along {
    fn choose(&mut self, allowed: usize) -> usize {
        self.0.choose(allowed)
    }
}

/// Runs a transaction; `None` if it cannot commit.
pub(crate) fn run(
    client: &mut Session<u32>,
    session: usize,
    number: usize,
    operations: &[Operation],
) -> Option<Outcome> {
    client.begin().ok()?;
    let mut outcome = Vec::new();
    for (place, operation) in operations.iter().enumerate() {
        match operation {
            Read(key) => outcome.push(client.read(&key.to_string()).ok()?),
            Write(key) => client.write(&key.to_string(), Some(value(session, number, place))).ok()?,
        }
    }
    client.commit().ok()?;
    Some(outcome)
}

/// All outcomes of a program, over all orders of its transactions and all choices of its reads.
pub(crate) fn all_outcomes(program: &Program, options: &Options) -> BTreeSet<Vec<Outcome>> {
    let paths = Paths::default();
    let mut outcomes = BTreeSet::new();
    loop {
        let store = Store::with_chooser(options.clone(), Box::new(Along(paths.clone())));
        outcomes.extend(one_run(program, &store, |count| paths.choose(count)));
        if !paths.next() {
            return outcomes;
        }
    }
}

/// Runs a program. `None` if a transaction could not commit.
pub(crate) fn one_run(
    program: &Program,
    store: &Store<u32>,
    mut choose: impl FnMut(usize) -> usize,
) -> Option<Vec<Outcome>> {
    let mut clients: Vec<_> = program.iter().map(|_| store.session()).collect();
    let mut next = vec![0; program.len()];
    let mut outcome = vec![Vec::new(); program.len()];
    loop {
        let ready: Vec<usize> = (0..program.len()).filter(|&session| next[session] < program[session].len()).collect();
        let session = match ready.len() {
            0 => return Some(outcome),
            1 => ready[0],
            count => ready[choose(count)],
        };
        let number = next[session];
        next[session] += 1;
        outcome[session].extend(run(&mut clients[session], session, number, &program[session][number])?);
    }
}
