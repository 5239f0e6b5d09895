//! Polygraphs of random histories: what a checker of serializability would ask.

pub(crate) type Edges = Vec<(u32, u32)>;

/// What the solver is given.
pub(crate) struct Polygraph {
    pub(crate) nodes: usize,
    pub(crate) known: Vec<(u32, u32)>,
    /// Edges of either side.
    pub(crate) choices: Vec<(Edges, Edges)>,
}

/// The shape of a history.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) transactions: usize,
    pub(crate) keys: usize,
    pub(crate) sessions: usize,
    pub(crate) operations: usize,
    /// Reads of an old version, in a thousand.
    pub(crate) stale: u64,
    pub(crate) seed: u64,
}

/// A splitmix64 generator: enough for tests, and the same everywhere.
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }
}

/// Runs transactions one after the other, and keeps what a checker sees of it.
pub(crate) fn polygraph(shape: Shape) -> Polygraph {
    let mut rng = Rng(shape.seed);
    let mut names: Vec<u32> = (0..shape.transactions as u32).collect();
    for at in (1..names.len()).rev() {
        names.swap(at, rng.below(at + 1));
    }
    let mut known = Vec::new();
    let mut last = vec![None; shape.sessions];
    // For each key, its versions: the writer, and who read it. The first is what the key held initially.
    let mut versions: Vec<Vec<(Option<u32>, Vec<u32>)>> = vec![vec![(None, Vec::new())]; shape.keys];
    for &txn in &names {
        let session = &mut last[rng.below(shape.sessions)];
        if let Some(before) = session.replace(txn) {
            known.push((before, txn));
        }
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for _ in 0..shape.operations {
            let key = rng.below(shape.keys);
            let touched = if rng.below(2) == 0 { &mut reads } else { &mut writes };
            if !touched.contains(&key) {
                touched.push(key);
            }
        }
        for &key in &reads {
            let count = versions[key].len();
            let back = if rng.below(1000) < shape.stale as usize { 1 + rng.below(3) } else { 0 };
            // A stale read of what the key held initially would be a cycle of known edges at once.
            let version = if back + 1 < count { count - 1 - back } else { count - 1 };
            let (writer, readers) = &mut versions[key][version];
            readers.push(txn);
            if let Some(writer) = *writer {
                known.push((writer, txn));
            }
        }
        for &key in &writes {
            versions[key].push((Some(txn), Vec::new()));
        }
    }
    let mut choices = Vec::new();
    for versions in &versions {
        for (at, (first, first_readers)) in versions.iter().enumerate() {
            for (second, second_readers) in &versions[at + 1..] {
                let Some(second) = *second else { unreachable!("only the first version is initial") };
                let after = |readers: &[u32], writer: u32| {
                    readers.iter().filter(move |&&r| r != writer).map(move |&r| (r, writer)).collect::<Vec<_>>()
                };
                let mut if_true = after(first_readers, second);
                let Some(first) = *first else {
                    known.extend(if_true);
                    continue;
                };
                if_true.push((first, second));
                let mut if_false = after(second_readers, first);
                if_false.push((second, first));
                choices.push(if first < second { (if_true, if_false) } else { (if_false, if_true) });
            }
        }
    }
    Polygraph { nodes: shape.transactions, known, choices }
}

/// A topological order of the known edges, as far as there is one; the rest follows in any order.
pub(crate) fn order(polygraph: &Polygraph) -> Vec<u32> {
    let mut out = vec![Vec::new(); polygraph.nodes];
    let mut waits = vec![0; polygraph.nodes];
    for &(from, to) in &polygraph.known {
        out[from as usize].push(to);
        waits[to as usize] += 1;
    }
    let mut order: Vec<u32> = (0..polygraph.nodes as u32).filter(|&node| waits[node as usize] == 0).collect();
    let mut next = 0;
    while let Some(&node) = order.get(next) {
        next += 1;
        for &to in &out[node as usize] {
            waits[to as usize] -= 1;
            if waits[to as usize] == 0 {
                order.push(to);
            }
        }
    }
    order.extend((0..polygraph.nodes as u32).filter(|&node| waits[node as usize] > 0));
    order
}
