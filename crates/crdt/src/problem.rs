//! A history as flat arrays, and what its operations ask of a visibility.
//!
//! A *visibility* says for each operation how many operations of each replica it saw: `f(o)[j]`. It is what is left of a
//! happens-before order once replicas are chains. What answers ask of it is a list of [`Rule`]s, one or a few for each query.

use rustc_hash::FxHashMap;

use crate::data_type::DataType;
use crate::history::{History, LabelId, Operation};
use crate::siblings::Siblings;

/// Operations of one role for one object, in ascending order: a list in [`Problem::tracks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Track(u32);

/// What the answer of a query asks of what it saw. A seen operation is *covered* if a seen coverer saw it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rule {
    /// Some winner was seen and is not covered. With `initial` there is a winner before all operations.
    Exists { winners: Track, coverers: Track, initial: bool },
    /// All winners that were seen are covered. With `initial` there is a winner before all operations.
    Covered { winners: Track, coverers: Track, initial: bool },
    /// Every write that was seen is covered, unless the read returned its value. What covers it is covered in turn or was
    /// returned, so that something that was returned covers it.
    Only { writes: Track, returned: Track },
    /// Increments minus decrements that were seen.
    Sum { track: Track, value: i64 },
    /// The read chose one of the candidates, and of the writes that it saw that is the last.
    Choice { variable: u32, candidates: Track, writes: Track },
    /// What was seen and not returned was removed. The query before it on the same replica, if there is one.
    List { before: Option<u32> },
    /// No visibility explains it.
    Never,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Query {
    pub(crate) op: u32,
    pub(crate) rule: Rule,
}

#[derive(Debug)]
pub(crate) struct Problem<'h> {
    pub(crate) history: &'h History,
    pub(crate) replicas: u32,
    /// The first operation of each replica, and at the end their number.
    pub(crate) first: Vec<u32>,
    pub(crate) replica_of: Vec<u32>,
    pub(crate) queries: Vec<Query>,
    /// The second saw the first, in every visibility that explains the answers.
    pub(crate) seen: Vec<(u32, u32)>,
    /// The second did not see the first.
    pub(crate) unseen: Vec<(u32, u32)>,
    /// The first is before the second in the order of timestamps.
    pub(crate) before: Vec<(u32, u32)>,
    /// How many candidates each choice has.
    pub(crate) choices: Vec<u32>,
    tracks: Vec<(u32, u32)>,
    members: Vec<u32>,
    /// For tracks of counters: increments minus decrements of the replica so far, after each member.
    sums: Vec<i64>,
    /// Arrays: who adds each element, and who removes it.
    pub(crate) adder: Vec<u32>,
    removers: FxHashMap<u32, Track>,
}

pub(crate) const NOBODY: u32 = u32::MAX;

impl<'h> Problem<'h> {
    pub(crate) fn new(history: &'h History) -> Self {
        let mut first = vec![0];
        let mut replica_of = Vec::with_capacity(history.len());
        for replica in history.replicas() {
            replica_of.extend(history.operations_of(replica).map(|_| replica.0));
            first.push(replica_of.len() as u32);
        }
        let mut problem = Problem {
            history,
            replicas: history.replicas().len() as u32,
            first,
            replica_of,
            queries: Vec::new(),
            seen: Vec::new(),
            unseen: Vec::new(),
            before: Vec::new(),
            choices: Vec::new(),
            tracks: Vec::new(),
            members: Vec::new(),
            sums: Vec::new(),
            adder: Vec::new(),
            removers: FxHashMap::default(),
        };
        match history.data_type() {
            DataType::OrSet | DataType::EwFlag => problem.sets(false),
            DataType::RwSet | DataType::DwFlag => problem.sets(true),
            DataType::MvRegister => problem.multi_value(),
            DataType::LwwRegister => problem.last_writer(),
            DataType::Counter => problem.counters(),
            DataType::Rga => problem.array(),
        }
        problem
    }

    pub(crate) fn len(&self) -> usize {
        self.replica_of.len()
    }

    pub(crate) fn replica(&self, op: u32) -> u32 {
        self.replica_of[op as usize]
    }

    pub(crate) fn position(&self, op: u32) -> u32 {
        op - self.first[self.replica(op) as usize]
    }

    pub(crate) fn members(&self, track: Track) -> &[u32] {
        let (from, to) = self.tracks[track.0 as usize];
        &self.members[from as usize..to as usize]
    }

    /// Increments minus decrements of its replica up to and with each member.
    pub(crate) fn sums(&self, track: Track) -> &[i64] {
        let (from, to) = self.tracks[track.0 as usize];
        &self.sums[from as usize..to as usize]
    }

    /// The last member among the first operations of a replica.
    pub(crate) fn last_of(&self, track: Track, replica: u32, count: u32) -> Option<u32> {
        let start = self.first[replica as usize];
        let members = self.members(track);
        let at = members.partition_point(|&op| op < start + count);
        (at > 0 && members[at - 1] >= start).then(|| members[at - 1])
    }

    /// The first member of a replica that is not among its first operations.
    pub(crate) fn next_of(&self, track: Track, replica: u32, count: u32) -> Option<u32> {
        let (start, end) = (self.first[replica as usize], self.first[replica as usize + 1]);
        let members = self.members(track);
        let at = members.partition_point(|&op| op < start + count);
        members.get(at).copied().filter(|&op| op < end)
    }

    /// The read that makes a choice.
    pub(crate) fn reader_of(&self, choice: usize) -> u32 {
        let mut choosers = self.queries.iter().filter(|query| matches!(query.rule, Rule::Choice { .. }));
        choosers.nth(choice).expect("every choice is made by a read").op
    }

    pub(crate) fn removers(&self, element: LabelId) -> &[u32] {
        self.removers.get(&element.0).map_or(&[], |&track| self.members(track))
    }

    fn track(&mut self, members: &[u32]) -> Track {
        let from = self.members.len() as u32;
        self.members.extend_from_slice(members);
        self.tracks.push((from, self.members.len() as u32));
        Track(self.tracks.len() as u32 - 1)
    }

    /// Operations by a key, as tracks.
    fn tracks_by<K: Copy + Eq + std::hash::Hash>(
        &mut self,
        key: impl Fn(Operation<'_>) -> Option<K>,
    ) -> FxHashMap<K, Track> {
        let mut numbers: FxHashMap<K, usize> = FxHashMap::default();
        let mut lists: Vec<Vec<u32>> = Vec::new();
        let mut keys = Vec::new();
        for op in self.history.operations() {
            let Some(key) = key(self.history.operation(op)) else { continue };
            let number = *numbers.entry(key).or_insert_with(|| {
                lists.push(Vec::new());
                keys.push(key);
                lists.len() - 1
            });
            lists[number].push(op.0);
        }
        let tracks: Vec<Track> = lists.iter().map(|list| self.track(list)).collect();
        keys.into_iter().zip(tracks).collect()
    }

    fn sets(&mut self, removal_wins: bool) {
        let adds = self.tracks_by(|operation| match operation {
            Operation::Add(x) => Some(x),
            _ => None,
        });
        let removes = self.tracks_by(|operation| match operation {
            Operation::Remove(x) => Some(x),
            _ => None,
        });
        let none = self.track(&[]);
        let (wins, others) = if removal_wins { (&removes, &adds) } else { (&adds, &removes) };
        for op in self.history.operations() {
            let Operation::Contains(x, answer) = self.history.operation(op) else { continue };
            let winners = wins.get(&x).copied().unwrap_or(none);
            let coverers = others.get(&x).copied().unwrap_or(none);
            let rule = if answer == removal_wins {
                Rule::Covered { winners, coverers, initial: removal_wins }
            } else {
                Rule::Exists { winners, coverers, initial: removal_wins }
            };
            self.queries.push(Query { op: op.0, rule });
        }
    }

    /// The writes of each register, and of each value of each register.
    fn writes(&mut self) -> (FxHashMap<LabelId, Track>, FxHashMap<(LabelId, LabelId), Track>) {
        let all = self.tracks_by(|operation| match operation {
            Operation::Write(x, _) => Some(x),
            _ => None,
        });
        let values = self.tracks_by(|operation| match operation {
            Operation::Write(x, value) => Some((x, value)),
            _ => None,
        });
        (all, values)
    }

    fn multi_value(&mut self) {
        let (all, values) = self.writes();
        let none = self.track(&[]);
        let mut unions: FxHashMap<(LabelId, &[LabelId]), Track> = FxHashMap::default();
        for op in self.history.operations() {
            let Operation::Read(x, returned) = self.history.operation(op) else { continue };
            let writes = all.get(&x).copied().unwrap_or(none);
            if returned.is_empty() {
                self.sees_none(op.0, writes);
            }
            let union = *unions.entry((x, returned)).or_insert_with(|| {
                let tracks = returned.iter().filter_map(|&value| values.get(&(x, value)));
                let mut members: Vec<u32> = tracks.flat_map(|&track| self.members(track)).copied().collect();
                members.sort_unstable();
                self.track(&members)
            });
            for &value in returned {
                let winners = values.get(&(x, value)).copied().unwrap_or(none);
                self.sees_one_of(op.0, winners);
                self.queries.push(Query { op: op.0, rule: Rule::Exists { winners, coverers: writes, initial: false } });
            }
            self.queries.push(Query { op: op.0, rule: Rule::Only { writes, returned: union } });
        }
    }

    fn last_writer(&mut self) {
        let (all, values) = self.writes();
        let none = self.track(&[]);
        for op in self.history.operations() {
            let Operation::Read(x, returned) = self.history.operation(op) else { continue };
            let writes = all.get(&x).copied().unwrap_or(none);
            let Some(&value) = returned.first() else {
                self.sees_none(op.0, writes);
                continue;
            };
            let Some(&candidates) = values.get(&(x, value)) else {
                self.queries.push(Query { op: op.0, rule: Rule::Never });
                continue;
            };
            self.sees_one_of(op.0, candidates);
            self.choices.push(self.members(candidates).len() as u32);
            let variable = (self.len() * self.replicas as usize + self.choices.len() - 1) as u32;
            self.queries.push(Query { op: op.0, rule: Rule::Choice { variable, candidates, writes } });
        }
    }

    fn counters(&mut self) {
        let tracks = self.tracks_by(|operation| match operation {
            Operation::Increment(x) | Operation::Decrement(x) => Some(x),
            _ => None,
        });
        let none = self.track(&[]);
        for number in 0..self.tracks.len() {
            let (mut replica, mut sum) = (NOBODY, 0);
            for at in self.members(Track(number as u32)).to_vec() {
                if self.replica(at) != replica {
                    (replica, sum) = (self.replica(at), 0);
                }
                let up = matches!(self.history.operation(crate::OpId(at)), Operation::Increment(_));
                sum += if up { 1 } else { -1 };
                self.sums.push(sum);
            }
        }
        for op in self.history.operations() {
            let Operation::Count(x, value) = self.history.operation(op) else { continue };
            let track = tracks.get(&x).copied().unwrap_or(none);
            // What is farther off than any sum is as good as just beyond, and safe to reckon with.
            let beyond = self.len() as i64 + 1;
            let value = value.clamp(-beyond, beyond);
            self.queries.push(Query { op: op.0, rule: Rule::Sum { track, value } });
        }
    }

    fn array(&mut self) {
        self.adder = vec![NOBODY; self.history.label_count()];
        for op in self.history.operations() {
            if let Operation::Insert(_, element) = self.history.operation(op) {
                self.adder[element.0 as usize] = op.0;
            }
        }
        self.removers = self.tracks_by(|operation| match operation {
            Operation::Delete(element) => Some(element.0),
            _ => None,
        });
        let mut siblings = Siblings::new(self.history, &self.adder);
        let mut before = None;
        for op in self.history.operations() {
            match self.history.operation(op) {
                Operation::Insert(Some(element), _) | Operation::Delete(element) => self.needs(op.0, element),
                Operation::List(elements) => {
                    if before.is_some_and(|before: u32| self.replica(before) != self.replica(op.0)) {
                        before = None;
                    }
                    for &element in elements {
                        self.needs(op.0, element);
                        let removers = self.removers.get(&element.0).map_or(&[][..], |&track| {
                            let (from, to) = self.tracks[track.0 as usize];
                            &self.members[from as usize..to as usize]
                        });
                        self.unseen.extend(removers.iter().map(|&remover| (remover, op.0)));
                    }
                    if !siblings.place(elements) {
                        self.queries.push(Query { op: op.0, rule: Rule::Never });
                    }
                    self.queries.push(Query { op: op.0, rule: Rule::List { before } });
                    before = Some(op.0);
                }
                _ => {}
            }
        }
        self.before = siblings.finish();
    }

    fn needs(&mut self, op: u32, element: LabelId) {
        match self.adder[element.0 as usize] {
            NOBODY => self.queries.push(Query { op, rule: Rule::Never }),
            adder => self.seen.push((adder, op)),
        }
    }

    fn sees_none(&mut self, op: u32, track: Track) {
        for replica in 0..self.replicas {
            self.unseen.extend(self.next_of(track, replica, 0).map(|write| (write, op)));
        }
    }

    /// If there is only one, that one was seen.
    fn sees_one_of(&mut self, op: u32, track: Track) {
        if let [only] = *self.members(track) {
            self.seen.push((only, op));
        }
    }
}
