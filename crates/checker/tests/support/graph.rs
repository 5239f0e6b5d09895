//! Levels as graphs of begins and commits, naively: to judge orders of commits, and to find refutations.

use isonomy_checker::oracle::{Oracle, Read};
use isonomy_checker::{Case, Edge, End, IsolationLevel as L, Terms, Why};
use isonomy_history::{Event, History, Key, Outcome, TxnId};

/// The levels that are such graphs.
pub(crate) const STRONG: [L; 8] = [
    L::Prefix,
    L::SnapshotIsolation,
    L::AdyaSi,
    L::GeneralizedSi,
    L::StrongSessionSi,
    L::StrongSi,
    L::Serializable,
    L::StrictSerializable,
];

/// The first of two transactions, by index, wrote the earlier version of a key.
type Pair = (Key, usize, usize);

/// An edge between two moments; `None` leads from the begin to the commit of one transaction.
type Arc = (usize, usize, Option<Edge>);

/// A history at a level.
pub(crate) struct Model<'a> {
    history: &'a History,
    oracle: &'a Oracle,
    level: L,
    /// For each list in which order its appenders must be, as far as reads show.
    listed: Vec<Pair>,
    /// What is known without the order of versions.
    known: Vec<Arc>,
}

impl<'a> Model<'a> {
    /// `None` if times are missing.
    pub(crate) fn new(history: &'a History, oracle: &'a Oracle, level: L, terms: Terms) -> Option<Self> {
        let mut model = Model { history, oracle, level, listed: Vec::new(), known: Vec::new() };
        let count = oracle.transactions().len();
        let ends = [End::Begin, End::Commit];
        if level.needs_times() && (0..count).any(|t| ends.iter().any(|&end| model.moment(t, end).is_none())) {
            return None;
        }
        for later in 0..count {
            let transaction = &oracle.transactions()[later];
            if !model.one_moment() {
                model.known.push((model.node(later, End::Begin), model.node(later, End::Commit), None));
            }
            for read in &transaction.reads {
                for from in read.sources() {
                    model.know(from, End::Commit, later, End::Begin, Why::WriteRead(read.key));
                }
            }
            for earlier in (0..count).filter(|&earlier| earlier != later) {
                let same_session = oracle.transactions()[earlier].session == transaction.session;
                if terms.session_order && level.has_session_order() && same_session && earlier < later {
                    model.know(earlier, End::Commit, later, End::Begin, Why::Session);
                }
                for (from, to) in [(End::Begin, End::Commit), (End::Commit, End::Commit), (End::Commit, End::Begin)] {
                    let spoken_of = match level {
                        L::GeneralizedSi | L::StrongSessionSi => to == End::Commit,
                        L::StrongSi => true,
                        L::StrictSerializable => to == End::Begin,
                        _ => false,
                    };
                    if spoken_of && model.happened(earlier, from, later, to, terms.clock_drift) {
                        model.know(earlier, from, later, to, Why::RealTime { from, to });
                    }
                }
                for &key in &transaction.writes {
                    if model.lists_show(key, earlier, later) {
                        model.listed.push((key, earlier, later));
                    }
                }
            }
        }
        for (key, first, second) in model.listed.clone() {
            model.know(first, End::Commit, second, model.version_end(), Why::Version(key));
            let id = model.id(first);
            for from in model.readers(key, Some(first)).into_iter().filter(|&reader| reader != second) {
                let why = Why::AntiDependency { key, over: Some(id) };
                model.known.push(model.arc(from, End::Begin, second, End::Commit, why));
            }
        }
        for writer in 0..count {
            for &key in &oracle.transactions()[writer].writes {
                for from in model.readers(key, None).into_iter().filter(|&reader| reader != writer) {
                    let why = Why::AntiDependency { key, over: None };
                    model.known.push(model.arc(from, End::Begin, writer, End::Commit, why));
                }
            }
        }
        Some(model)
    }

    fn one_moment(&self) -> bool {
        matches!(self.level, L::Serializable | L::StrictSerializable)
    }

    fn id(&self, txn: usize) -> TxnId {
        self.oracle.transactions()[txn].id
    }

    fn node(&self, txn: usize, end: End) -> usize {
        2 * txn + usize::from(end == End::Commit && !self.one_moment())
    }

    fn version_end(&self) -> End {
        if self.level == L::Prefix { End::Commit } else { End::Begin }
    }

    fn arc(&self, from: usize, leaves: End, to: usize, arrives: End, why: Why) -> Arc {
        let edge = Edge { from: Some(self.id(from)), to: Some(self.id(to)), why };
        (self.node(from, leaves), self.node(to, arrives), Some(edge))
    }

    fn know(&mut self, from: usize, leaves: End, to: usize, arrives: End, why: Why) {
        let arc = self.arc(from, leaves, to, arrives, why);
        self.known.push(arc);
    }

    fn moment(&self, txn: usize, end: End) -> Option<(i64, i64)> {
        let id = self.id(txn);
        let times = self.history.times(id);
        let start = times.start?;
        match end {
            End::Begin => Some((start, times.began.unwrap_or(start))),
            End::Commit => match times.finish {
                Some(finish) => Some((times.committing.unwrap_or(finish), finish)),
                None if self.history.outcome(id) == Outcome::Indeterminate => {
                    Some((times.committing.or(times.began).unwrap_or(start), i64::MAX))
                }
                None => None,
            },
        }
    }

    fn happened(&self, earlier: usize, from: End, later: usize, to: End, clock_drift: i64) -> bool {
        let (first, second) = (self.moment(earlier, from), self.moment(later, to));
        first.expect("there are times").1.saturating_add(clock_drift) < second.expect("there are times").0
    }

    fn readers(&self, key: Key, version: Option<usize>) -> Vec<usize> {
        let reads = |read: &Read| read.key == key && read.from == version;
        let transactions = self.oracle.transactions();
        (0..transactions.len()).filter(|&t| transactions[t].reads.iter().any(reads)).collect()
    }

    /// Some list has an element of the first and then one of the second, or misses one of the second.
    fn lists_show(&self, key: Key, first: usize, second: usize) -> bool {
        let appended = |txn: usize| {
            self.history.events(self.id(txn)).filter_map(|event| match event {
                Event::Append(value) if self.history.key_of(value) == key => Some(value),
                _ => None,
            })
        };
        self.oracle.transactions().iter().any(|reader| {
            let events = self.history.events(reader.id).collect::<Vec<_>>();
            events.iter().enumerate().any(|(at, event)| {
                let Event::ReadList { key: list, elements } = *event else { return false };
                let own = |event: &Event<'_>| matches!(event, Event::Append(v) if self.history.key_of(*v) == key);
                let own = events[..at].iter().filter(|event| own(event)).count();
                if list != key || elements.len() < own {
                    return false;
                }
                let elements = &elements[..elements.len() - own];
                let place = |value| elements.iter().position(|&element| element == value);
                let Some(begin) = appended(first).filter_map(place).min() else { return false };
                appended(second).any(|value| place(value).is_none_or(|end| end > begin))
            })
        })
    }

    /// What follows from the order of two versions.
    fn following(&self, (key, first, second): Pair, arcs: &mut Vec<Arc>) {
        arcs.push(self.arc(first, End::Commit, second, self.version_end(), Why::Assumed(key)));
        for reader in self.readers(key, Some(first)).into_iter().filter(|&reader| reader != second) {
            let why = Why::AntiDependency { key, over: Some(self.id(first)) };
            arcs.push(self.arc(reader, End::Begin, second, End::Commit, why));
        }
    }

    fn writers(&self, key: Key) -> Vec<usize> {
        let transactions = self.oracle.transactions();
        (0..transactions.len()).filter(|&t| transactions[t].writes.contains(&key)).collect()
    }

    fn keys(&self) -> Vec<Key> {
        let mut keys: Vec<Key> = self.oracle.transactions().iter().flat_map(|t| t.writes.clone()).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// Whether commits in this order, of indices, satisfy the level.
    pub(crate) fn allows(&self, order: &[usize]) -> bool {
        if !self.oracle.faults().is_empty() {
            return false;
        }
        let mut arcs = self.known.clone();
        for pair in order.windows(2) {
            arcs.push((self.node(pair[0], End::Commit), self.node(pair[1], End::Commit), None));
        }
        for key in self.keys() {
            let writers: Vec<usize> = order.iter().copied().filter(|t| self.writers(key).contains(t)).collect();
            if !self.oracle.lists_allow(key, &writers) {
                return false;
            }
            for (at, &first) in writers.iter().enumerate() {
                writers[at + 1..].iter().for_each(|&second| self.following((key, first, second), &mut arcs));
            }
        }
        self.cycle(&arcs).is_none()
    }

    /// A tree of cases, if no order of versions works.
    pub(crate) fn refute(&self) -> Option<Vec<Case>> {
        let mut open = Vec::new();
        for key in self.keys() {
            let writers = self.writers(key);
            for (at, &first) in writers.iter().enumerate() {
                let is_open = |&second: &usize| {
                    !self.listed.contains(&(key, first, second)) && !self.listed.contains(&(key, second, first))
                };
                open.extend(writers[at + 1..].iter().copied().filter(is_open).map(|second| (key, first, second)));
            }
        }
        let mut cases = Vec::new();
        self.close(&open, &self.known, &mut cases).then_some(cases)
    }

    fn close(&self, open: &[Pair], arcs: &[Arc], cases: &mut Vec<Case>) -> bool {
        if let Some(cycle) = self.cycle(arcs) {
            cases.push(Case::Closed(cycle));
            return true;
        }
        let Some((&(key, first, second), open)) = open.split_first() else { return false };
        let own = cases.len();
        cases.push(Case::Closed(Vec::new()));
        let side = |pair: Pair, cases: &mut Vec<Case>| {
            let place = cases.len();
            let mut arcs = arcs.to_vec();
            self.following(pair, &mut arcs);
            self.close(open, &arcs, cases).then_some(place)
        };
        let Some(before) = side((key, first, second), cases) else { return false };
        let Some(after) = side((key, second, first), cases) else { return false };
        cases[own] = Case::Split { key, first: self.id(first), second: self.id(second), before, after };
        true
    }

    /// Whether a tree of cases is a refutation.
    pub(crate) fn is_refuted_by(&self, cases: &[Case]) -> bool {
        let mut children: Vec<usize> = Vec::new();
        for (at, case) in cases.iter().enumerate() {
            if let Case::Split { before, after, .. } = *case {
                if before <= at || after <= at {
                    return false;
                }
                children.extend([before, after]);
            }
        }
        children.sort_unstable();
        !cases.is_empty() && children.into_iter().eq(1..cases.len()) && self.closes(cases, 0, &self.known)
    }

    fn closes(&self, cases: &[Case], at: usize, arcs: &[Arc]) -> bool {
        match &cases[at] {
            Case::Closed(edges) => self.is_cycle(edges, arcs),
            Case::Split { key, first, second, before, after } => {
                let writer = |id: &TxnId| self.writers(*key).into_iter().find(|&txn| self.id(txn) == *id);
                let (Some(first), Some(second)) = (writer(first), writer(second)) else { return false };
                let side = |case: usize, first: usize, second: usize| {
                    let mut arcs = arcs.to_vec();
                    self.following((*key, first, second), &mut arcs);
                    self.closes(cases, case, &arcs)
                };
                first != second && side(*before, first, second) && side(*after, second, first)
            }
        }
    }

    fn is_cycle(&self, edges: &[Edge], arcs: &[Arc]) -> bool {
        let find = |edge: &Edge| arcs.iter().find(|arc| arc.2.as_ref() == Some(edge));
        let Some(found) = edges.iter().map(find).collect::<Option<Vec<&Arc>>>() else { return false };
        let own_commit = |begin: usize, commit: usize| arcs.contains(&(begin, commit, None));
        !found.is_empty()
            && found
                .iter()
                .zip(found.iter().cycle().skip(1))
                .all(|(arc, next)| arc.1 == next.0 || own_commit(arc.1, next.0))
    }

    /// A shortest cycle.
    fn cycle(&self, arcs: &[Arc]) -> Option<Vec<Edge>> {
        let nodes = 2 * self.oracle.transactions().len();
        (0..nodes).filter_map(|start| self.cycle_from(start, nodes, arcs)).min_by_key(Vec::len)
    }

    fn cycle_from(&self, start: usize, nodes: usize, arcs: &[Arc]) -> Option<Vec<Edge>> {
        let mut came_by: Vec<Option<usize>> = vec![None; nodes];
        let mut reached = vec![start];
        let mut next = 0;
        while next < reached.len() && came_by[start].is_none() {
            for (index, &(from, to, _)) in arcs.iter().enumerate() {
                if from == reached[next] && came_by[to].is_none() {
                    came_by[to] = Some(index);
                    reached.push(to);
                }
            }
            next += 1;
        }
        let mut edges = Vec::new();
        let mut at = start;
        loop {
            let (from, _, edge) = &arcs[came_by[at]?];
            edges.extend(edge.clone());
            at = *from;
            if at == start {
                edges.reverse();
                return Some(edges);
            }
        }
    }
}
