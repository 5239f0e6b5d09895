//! From transactions that violate a level by themselves to small evidence: fewer transactions, a proof by cases, a name.

use isonomy_history::{History, TxnId};
use isonomy_solver::{Budget, Case as SolverCase, Lemma, minimal_lemmas, refute};

use super::graph;
use super::problem::Problem;
use super::region::{self, Answer, Refuted};
use super::rules::Rules;
use super::times::happens_before;
use crate::trace::key_read;
use crate::verdict::{Case, Edge, End, Evidence, Refutation, Why};

/// Work that may be spent on picking few lemmas.
const MINIMIZING: u64 = 200_000_000;

/// Solves a part of a history, from nothing. `None` if the search was stopped.
fn solve(
    history: &History,
    rules: Rules,
    txns: &[TxnId],
    budget: &mut Budget<'_>,
) -> Option<(Problem, Option<Refuted>)> {
    let problem = Problem::part(history, rules, txns.to_vec());
    match region::solve(&problem, &[], &|txn| txn, budget) {
        Answer::Order(_) => Some((problem, None)),
        Answer::Refuted(refuted) => Some((problem, Some(refuted))),
        Answer::Stopped => None,
    }
}

/// Whether some transactions violate a level by themselves; `None` if the search was stopped.
pub(crate) fn violates(history: &History, rules: Rules, txns: &[TxnId], budget: &mut Budget<'_>) -> Option<bool> {
    solve(history, rules, txns, budget).map(|(_, refuted)| refuted.is_some())
}

/// The transactions that a refutation speaks of.
fn involved(problem: &Problem, refuted: &Refuted, lemmas: &[usize]) -> Vec<TxnId> {
    let mut txns = Vec::new();
    for &lemma in lemmas {
        let lemma = &refuted.lemmas[lemma];
        txns.extend(graph::cycle_transactions(problem, &lemma.cycle));
        for literal in &lemma.literals {
            let (one, other) = refuted.pairs[literal.choice.0 as usize];
            txns.extend([one, other].map(|version| problem.writer[version as usize]));
        }
    }
    txns.sort_unstable();
    txns.dedup();
    txns.into_iter().map(|txn| problem.txns[txn as usize]).collect()
}

fn needed_lemmas(refuted: &Refuted, budget: &mut Budget<'_>) -> Vec<usize> {
    // A cycle of known edges needs nothing else.
    if let Some(known) = refuted.lemmas.iter().position(|lemma| lemma.literals.is_empty()) {
        return vec![known];
    }
    minimal_lemmas(&refuted.lemmas, &[], budget)
}

/// Leaves out transactions as long as the others violate the level by themselves. None of those left can be spared, unless the
/// budget ended before.
pub(crate) fn shrink(history: &History, rules: Rules, txns: Vec<TxnId>, budget: &mut Budget<'_>) -> Vec<TxnId> {
    let mut txns = txns;
    txns.sort_unstable();
    txns.dedup();
    if let Some((problem, Some(refuted))) = solve(history, rules, &txns, budget) {
        let lemmas = needed_lemmas(&refuted, budget);
        txns = involved(&problem, &refuted, &lemmas);
    }
    // First many at a time, then one by one. What stays in an attempt that succeeds is only what its proof speaks of.
    let mut chunk = (txns.len() / 2).max(1);
    loop {
        let mut at = 0;
        let mut spared = false;
        while at < txns.len() {
            let end = (at + chunk).min(txns.len());
            let rest: Vec<TxnId> = txns[..at].iter().chain(&txns[end..]).copied().collect();
            match solve(history, rules, &rest, budget) {
                Some((problem, Some(refuted))) => {
                    let lemmas = needed_lemmas(&refuted, budget);
                    txns = involved(&problem, &refuted, &lemmas);
                    spared = true;
                    at = at.min(txns.len());
                }
                Some((_, None)) => at = end,
                None => return txns,
            }
        }
        if chunk > 1 {
            chunk = (chunk / 2).min(txns.len() / 2).max(1);
        } else if !spared {
            return txns;
        }
    }
}

/// The proof that some transactions violate a level by themselves.
pub(crate) fn prove(history: &History, rules: Rules, txns: &[TxnId]) -> Evidence {
    let mut unlimited = Budget::unlimited();
    let solved = solve(history, rules, txns, &mut unlimited);
    let (problem, Some(refuted)) = solved.expect("nothing stops it") else {
        unreachable!("they violate the level");
    };
    let lemmas = needed_lemmas(&refuted, &mut Budget::new(MINIMIZING));
    let tell = Teller { history, problem: &problem, refuted: &refuted };
    if let [lemma] = lemmas[..]
        && refuted.lemmas[lemma].literals.is_empty()
    {
        return Evidence::Cycle(tell.cycle(&refuted.lemmas[lemma]));
    }
    let tree = refute(&refuted.lemmas, &lemmas, &[], &mut unlimited).expect("the lemmas contradict each other");
    let cases = tree.cases.iter().map(|case| match *case {
        SolverCase::Split { choice, if_true, if_false } => {
            let (one, other) = refuted.pairs[choice.0 as usize];
            let writer = |version: u32| problem.txns[problem.writer[version as usize] as usize];
            Case::Split {
                key: problem.keys[problem.key[one as usize] as usize],
                first: writer(one),
                second: writer(other),
                before: if_true,
                after: if_false,
            }
        }
        SolverCase::Closed { lemma } => Case::Closed(tell.cycle(&refuted.lemmas[lemma])),
        SolverCase::Excluded { .. } => unreachable!("there are no clauses"),
    });
    Evidence::Refutation(Refutation { cases: cases.collect() })
}

/// Finds the reasons of edges.
struct Teller<'a> {
    history: &'a History,
    problem: &'a Problem,
    refuted: &'a Refuted,
}

impl Teller<'_> {
    /// The cycle of a lemma, from transaction to transaction.
    fn cycle(&self, lemma: &Lemma) -> Vec<Edge> {
        let rules = self.problem.rules;
        let helpers = rules.nodes(self.problem.count());
        let nodes: Vec<u32> = lemma.cycle.iter().copied().filter(|&node| node < helpers).collect();
        let assumed: Vec<(u32, u32)> = lemma
            .literals
            .iter()
            .map(|literal| {
                let (one, other) = self.refuted.pairs[literal.choice.0 as usize];
                if literal.side { (one, other) } else { (other, one) }
            })
            .collect();
        let mut edges: Vec<Edge> = Vec::new();
        for (at, &from) in nodes.iter().enumerate() {
            let to = nodes[(at + 1) % nodes.len()];
            if rules.txn(from) == rules.txn(to) {
                continue;
            }
            let name = |node: u32| Some(self.problem.txns[rules.txn(node) as usize]);
            let why = self.why(from, to, &assumed);
            match edges.last_mut() {
                // Sessions are transitive.
                Some(last) if why == Why::Session && last.why == Why::Session && last.to == name(from) => {
                    last.to = name(to);
                }
                _ => edges.push(Edge { from: name(from), to: name(to), why }),
            }
        }
        if edges.len() > 2 && edges[0].why == Why::Session && edges[edges.len() - 1].why == Why::Session {
            let last = edges.pop().expect("it has three");
            edges[0].from = last.from;
        }
        edges
    }

    /// Why one node comes before another: the plainest reason.
    fn why(&self, from: u32, to: u32, assumed: &[(u32, u32)]) -> Why {
        let problem = self.problem;
        let rules = problem.rules;
        let (earlier, later) = (rules.txn(from), rules.txn(to));
        let (first, second) = (problem.txns[earlier as usize], problem.txns[later as usize]);
        let begins = from == rules.begin(earlier);
        let commits = from == rules.commit(earlier);
        let enters_begin = to == rules.begin(later);
        let enters_commit = to == rules.commit(later);
        let key = |version: u32| problem.keys[problem.key_of(version) as usize];
        if commits && enters_begin {
            if rules.session_order
                && earlier < later
                && self.history.session_of(first) == self.history.session_of(second)
            {
                return Why::Session;
            }
            if let Some(key) = key_read(self.history, second, first) {
                return Why::WriteRead(key);
            }
        }
        let by = |version: u32, txn: u32| problem.writer[version as usize] == txn;
        if commits && to == rules.overwrite(later) {
            if let Some(&(version, _)) = problem.listed.iter().find(|&&(a, b)| by(a, earlier) && by(b, later)) {
                return Why::Version(key(version));
            }
            if let Some(&(version, _)) = assumed.iter().find(|&&(a, b)| by(a, earlier) && by(b, later)) {
                return Why::Assumed(key(version));
            }
        }
        if begins && enters_commit {
            let reads = problem.reads.of(earlier);
            let initial = reads.iter().find(|&&version| {
                version >= problem.written() && problem.version_of(later, problem.key_of(version)).is_some()
            });
            if let Some(&version) = initial {
                return Why::AntiDependency { key: key(version), over: None };
            }
            let missed = |&&(a, b): &&(u32, u32)| by(b, later) && reads.binary_search(&a).is_ok();
            if let Some(&(version, _)) = problem.listed.iter().chain(assumed).find(missed) {
                let over = problem.txns[problem.writer[version as usize] as usize];
                return Why::AntiDependency { key: key(version), over: Some(over) };
            }
        }
        for (from, is_from) in [(End::Begin, begins), (End::Commit, commits)] {
            for (to, is_to) in [(End::Begin, enters_begin), (End::Commit, enters_commit)] {
                if is_from && is_to && self.really_before(earlier, from, later, to) {
                    return Why::RealTime { from, to };
                }
            }
        }
        unreachable!("an edge has a reason")
    }

    fn really_before(&self, earlier: u32, from: End, later: u32, to: End) -> bool {
        let rules = self.problem.rules;
        let allowed = match (from, to) {
            (_, End::Commit) => rules.real_commits,
            (End::Commit, End::Begin) => rules.real_begins,
            (End::Begin, End::Begin) => false,
        };
        let moment = |txn: u32, end: End| {
            let moments = self.problem.moments[txn as usize];
            if end == End::Begin { moments.begin } else { moments.commit }
        };
        allowed && happens_before(moment(earlier, from), moment(later, to), rules.clock_drift)
    }
}
