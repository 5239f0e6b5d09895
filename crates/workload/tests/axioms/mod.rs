//! The levels by their definitions, for a given commit order or for all of them. Slow and without cleverness.

#![allow(dead_code, reason = "each test binary uses a part")]

use std::collections::HashSet;

use isonomy_history::{FaultKind, History, HistoryBuilder, Key, Name, TxnId};
use isonomy_workload::{HistorySpec, Hooks, Placed, StoreLevel, Summary};

/// A history with the store's own commit order.
pub(crate) struct Ordered {
    pub(crate) history: History,
    /// The transactions that count, in commit order.
    pub(crate) order: Vec<TxnId>,
    pub(crate) summary: Summary,
}

pub(crate) fn generate(spec: &HistorySpec) -> Ordered {
    let mut builder = HistoryBuilder::new();
    let mut placed: Vec<Placed> = Vec::new();
    let mut tell = |p| placed.push(p);
    let hooks = Hooks { commit_order: Some(&mut tell), ..Hooks::default() };
    let summary = spec.generate_with(&mut builder, hooks).expect("the specification is valid");
    let history = builder.finish().expect("values are unique");
    placed.sort_by_key(|p| p.rank);
    let order = placed.iter().map(|p| find(&history, p.session, p.position));
    let order: Vec<TxnId> = order.filter(|&txn| history.derived().counts(txn)).collect();
    assert_eq!(order.len(), history.derived().count(), "everything that counts has a place");
    Ordered { history, order, summary }
}

pub(crate) fn find(history: &History, session: i64, position: u32) -> TxnId {
    let session = history.sessions().find(|&s| history.session_name(s) == Name::Int(session));
    let session = session.expect("the session has a transaction");
    history.transactions_of(session).nth(position as usize).expect("the session is so long")
}

/// The relations of a history, transactions by number.
pub(crate) struct Relations<'h> {
    pub(crate) history: &'h History,
    pub(crate) txns: Vec<TxnId>,
    /// `so ∪ wr`.
    pub(crate) direct: Vec<Vec<bool>>,
    /// Its transitive closure.
    pub(crate) causal: Vec<Vec<bool>>,
}

/// The initial state, as a position in a commit order.
const INITIAL: i64 = -1;

impl<'h> Relations<'h> {
    pub(crate) fn of(history: &'h History) -> Self {
        let n = history.transaction_count();
        let txns: Vec<TxnId> = history.transactions().filter(|&t| history.derived().counts(t)).collect();
        let mut direct = vec![vec![false; n]; n];
        for &a in &txns {
            for &b in &txns {
                direct[a.index()][b.index()] = a < b && history.session_of(a) == history.session_of(b);
            }
        }
        for &reader in &txns {
            for writer in history.derived().reads(reader).iter().filter_map(|read| read.from()) {
                direct[writer.index()][reader.index()] = true;
            }
        }
        let mut causal = direct.clone();
        for k in 0..n {
            let through = causal[k].clone();
            for row in &mut causal {
                if row[k] {
                    row.iter_mut().zip(&through).for_each(|(to, &further)| *to |= further);
                }
            }
        }
        Relations { history, txns, direct, causal }
    }

    fn writes(&self, txn: TxnId, key: Key) -> bool {
        self.history.derived().writes(txn).binary_search(&key).is_ok()
    }

    /// Every constraint `t2 before t1`: for a read of `x` by `t3` from `t1` and another writer `t2` of `x` with `before(t2, read)`.
    fn constraints(&self, before: impl Fn(TxnId, TxnId, usize) -> bool) -> Vec<(TxnId, Option<TxnId>)> {
        let mut found = Vec::new();
        for &reader in &self.txns {
            for (at, read) in self.history.derived().reads(reader).iter().enumerate() {
                let Some(key) = read.key() else { continue };
                for &other in self.history.derived().writers(key) {
                    if Some(other) != read.from() && other != reader && before(other, reader, at) {
                        found.push((other, read.from()));
                    }
                }
            }
        }
        found
    }

    /// `(t2, reader, read)`: is `t2` before the read, at the levels whose definition does not speak of the commit order?
    fn is_before(&self, level: StoreLevel, t2: TxnId, reader: TxnId, at: usize) -> bool {
        match level {
            StoreLevel::ReadCommitted => {
                self.history.derived().reads(reader)[..at].iter().any(|read| read.from() == Some(t2))
            }
            StoreLevel::ReadAtomic => self.direct[t2.index()][reader.index()],
            StoreLevel::Causal => self.causal[t2.index()][reader.index()],
            _ => unreachable!("{level} speaks of the commit order"),
        }
    }

    pub(crate) fn reads_are_consistent(&self, level: StoreLevel) -> bool {
        let allowed = |kind| level == StoreLevel::ReadCommitted && kind == FaultKind::NonRepeatable;
        self.history.derived().faults().iter().all(|fault| allowed(fault.kind))
    }

    /// Whether the level holds with this commit order.
    pub(crate) fn hold_with(&self, order: &[TxnId], level: StoreLevel) -> Result<(), String> {
        if !self.reads_are_consistent(level) {
            return Err(format!("{:?}", self.history.derived().faults()));
        }
        let mut co = vec![INITIAL; self.history.transaction_count()];
        order.iter().enumerate().for_each(|(place, txn)| co[txn.index()] = place as i64);
        let name = |txn| self.history.transaction_name(txn).to_string();
        for &a in &self.txns {
            for &b in &self.txns {
                if self.direct[a.index()][b.index()] && co[a.index()] >= co[b.index()] {
                    return Err(format!("{} precedes {} but commits later", name(a), name(b)));
                }
            }
        }
        // The last commit that the Prefix axiom, and the Conflict axiom, put before each transaction.
        let latest = |reader: TxnId, before: &dyn Fn(TxnId) -> bool| {
            let found = self.txns.iter().filter(|&&t| t != reader && before(t)).map(|t| co[t.index()]);
            found.max().unwrap_or(INITIAL)
        };
        let mut last = vec![INITIAL; co.len()];
        if !matches!(level, StoreLevel::ReadCommitted | StoreLevel::ReadAtomic | StoreLevel::Causal) {
            for &reader in &self.txns {
                let prefix = latest(reader, &|t| self.direct[t.index()][reader.index()]);
                let earlier = |t: TxnId| co[t.index()] < co[reader.index()];
                let shares = |t: TxnId| self.history.derived().writes(reader).iter().any(|&key| self.writes(t, key));
                last[reader.index()] = match level {
                    StoreLevel::Prefix => prefix,
                    StoreLevel::SnapshotIsolation | StoreLevel::StrongSi => {
                        prefix.max(latest(reader, &|t| earlier(t) && shares(t)))
                    }
                    _ => latest(reader, &earlier),
                };
            }
        }
        let weak = matches!(level, StoreLevel::ReadCommitted | StoreLevel::ReadAtomic | StoreLevel::Causal);
        let broken = self
            .constraints(|t2, reader, at| {
                if weak { self.is_before(level, t2, reader, at) } else { co[t2.index()] <= last[reader.index()] }
            })
            .into_iter()
            .find(|&(t2, t1)| co[t2.index()] > t1.map_or(INITIAL, |t1| co[t1.index()]));
        if let Some((t2, t1)) = broken {
            return Err(format!("{} must precede {:?}", name(t2), t1.map(name)));
        }
        match level {
            StoreLevel::StrictSerializable => self.agrees_with_real_time(&co),
            StoreLevel::StrongSi => self.is_strong_si(&co),
            _ => Ok(()),
        }
    }

    fn agrees_with_real_time(&self, co: &[i64]) -> Result<(), String> {
        for &a in &self.txns {
            for &b in &self.txns {
                let (Some((_, finish)), Some((start, _))) =
                    (self.history.times(a).commit(), self.history.times(b).begin())
                else {
                    return Err("no times".into());
                };
                if finish < start && co[a.index()] >= co[b.index()] {
                    return Err(format!("{a:?} ends before {b:?} begins but commits later"));
                }
            }
        }
        Ok(())
    }

    /// The graph of begins and commits with real-time edges has no cycle (Viper).
    fn is_strong_si(&self, co: &[i64]) -> Result<(), String> {
        let n = co.len();
        let (begin, commit) = (|t: TxnId| t.index(), |t: TxnId| n + t.index());
        let mut edges = vec![Vec::new(); 2 * n];
        let derived = self.history.derived();
        for &a in &self.txns {
            edges[begin(a)].push(commit(a));
            for &b in &self.txns {
                let (Some(a_begin), Some(a_commit), Some(b_begin), Some(b_commit)) = (
                    self.history.times(a).begin(),
                    self.history.times(a).commit(),
                    self.history.times(b).begin(),
                    self.history.times(b).commit(),
                ) else {
                    return Err("no times".into());
                };
                if a_begin.1 < b_commit.0 {
                    edges[begin(a)].push(commit(b));
                }
                if a_commit.1 < b_commit.0 {
                    edges[commit(a)].push(commit(b));
                }
                if a_commit.1 < b_begin.0 {
                    edges[commit(a)].push(begin(b));
                }
                if co[a.index()] < co[b.index()] && derived.writes(a).iter().any(|&key| self.writes(b, key)) {
                    edges[commit(a)].push(begin(b));
                }
            }
            for read in derived.reads(a) {
                if let Some(from) = read.from() {
                    edges[commit(from)].push(begin(a));
                }
                let place = read.from().map_or(INITIAL, |from| co[from.index()]);
                let Some(key) = read.key() else { continue };
                for &writer in derived.writers(key) {
                    if writer != a && co[writer.index()] > place {
                        edges[begin(a)].push(commit(writer));
                    }
                }
            }
        }
        if is_acyclic(&edges) { Ok(()) } else { Err("begins and commits are cyclic".into()) }
    }

    /// Whether read-committed, read-atomic or causal holds with any commit order: what it must contain has no cycle.
    pub(crate) fn hold_weakly(&self, level: StoreLevel) -> bool {
        let n = self.history.transaction_count();
        let initial = n;
        let mut edges = vec![Vec::new(); n + 1];
        for &a in &self.txns {
            edges[initial].push(a.index());
            edges[a.index()].extend((0..n).filter(|&b| self.direct[a.index()][b]));
        }
        for (t2, t1) in self.constraints(|t2, reader, at| self.is_before(level, t2, reader, at)) {
            edges[t2.index()].push(t1.map_or(initial, |t1| t1.index()));
        }
        self.reads_are_consistent(level) && is_acyclic(&edges)
    }

    /// Whether the level holds with any commit order: tries them all.
    pub(crate) fn hold_somehow(&self, level: StoreLevel) -> bool {
        let mut order = self.txns.clone();
        let n = order.len();
        self.permute(&mut order, n, level)
    }

    /// Whether prefix, snapshot isolation or serializability holds with any order of begins and commits: searches all of them,
    /// session by session, as far as they go. What can follow depends only on how far each session has come.
    pub(crate) fn hold_by_search(&self, level: StoreLevel) -> bool {
        let sessions: Vec<Vec<TxnId>> = self
            .history
            .sessions()
            .map(|s| self.history.transactions_of(s).filter(|&t| self.history.derived().counts(t)).collect())
            .collect();
        let mut readers: Vec<Vec<(TxnId, Option<TxnId>)>> = vec![Vec::new(); self.history.key_count()];
        for &txn in &self.txns {
            for read in self.history.derived().reads(txn) {
                if let Some(key) = read.key() {
                    readers[key.index()].push((txn, read.from()));
                }
            }
        }
        let steps = |session: usize| 2 * sessions[session].len();
        let mut seen = HashSet::new();
        let mut stack = vec![vec![0usize; sessions.len()]];
        while let Some(state) = stack.pop() {
            if (0..sessions.len()).all(|s| state[s] == steps(s)) {
                return self.reads_are_consistent(level);
            }
            // Steps 2i and 2i + 1 of a session are the begin and commit of its transaction i.
            let mut done = vec![0; self.history.transaction_count()];
            for (session, txns) in sessions.iter().enumerate() {
                for (at, txn) in txns.iter().enumerate() {
                    done[txn.index()] = state[session].saturating_sub(2 * at).min(2);
                }
            }
            let can_begin = |txn: TxnId| {
                let derived = self.history.derived();
                let overlaps = |key: &Key| derived.writers(*key).iter().any(|&w| w != txn && done[w.index()] == 1);
                derived.reads(txn).iter().all(|read| read.from().is_none_or(|from| done[from.index()] == 2))
                    && (level != StoreLevel::SnapshotIsolation || !derived.writes(txn).iter().any(overlaps))
            };
            let can_commit = |txn: TxnId| {
                let overwritten = |&(reader, from): &(TxnId, Option<TxnId>)| {
                    reader != txn && done[reader.index()] == 0 && from.is_none_or(|f| done[f.index()] == 2)
                };
                !self.history.derived().writes(txn).iter().any(|key| readers[key.index()].iter().any(overwritten))
            };
            for session in (0..sessions.len()).filter(|&s| state[s] < steps(s)) {
                let txn = sessions[session][state[session] / 2];
                let is_begin = state[session] % 2 == 0;
                let one_step = level == StoreLevel::Serializable;
                if (!is_begin || can_begin(txn)) && ((is_begin && !one_step) || can_commit(txn)) {
                    let mut next = state.clone();
                    next[session] += if one_step { 2 } else { 1 };
                    if seen.insert(next.clone()) {
                        stack.push(next);
                    }
                }
            }
        }
        false
    }

    fn permute(&self, order: &mut Vec<TxnId>, n: usize, level: StoreLevel) -> bool {
        if n <= 1 {
            return self.hold_with(order, level).is_ok();
        }
        (0..n).any(|at| {
            order.swap(at, n - 1);
            let holds = self.permute(order, n - 1, level);
            order.swap(at, n - 1);
            holds
        })
    }
}

fn is_acyclic(edges: &[Vec<usize>]) -> bool {
    let mut incoming = vec![0; edges.len()];
    edges.iter().flatten().for_each(|&to| incoming[to] += 1);
    let mut ready: Vec<usize> = (0..edges.len()).filter(|&node| incoming[node] == 0).collect();
    let mut seen = 0;
    while let Some(node) = ready.pop() {
        seen += 1;
        for &to in &edges[node] {
            incoming[to] -= 1;
            if incoming[to] == 0 {
                ready.push(to);
            }
        }
    }
    seen == edges.len()
}
