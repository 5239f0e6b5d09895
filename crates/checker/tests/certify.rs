//! The certifier at the levels that need search: right evidence is accepted, and wrong evidence is not.

mod support;

use isonomy_checker::certify::{Flaw, certify};
use isonomy_checker::oracle::Oracle;
use isonomy_checker::report::{self, Certificate, CertificateError};
use isonomy_checker::{
    Anomaly, Case, Counterexample, Edge, End, Evidence, IsolationLevel as L, Party, Refutation, Terms, Verdict, Why,
    Witness, explain,
};
use isonomy_history::{History, Key, Name, Outcome, TxnId};

use support::enumerate::{Bound, Sources, for_each_history, session_shapes};
use support::graph::{Model, STRONG};
use support::notation::history;
use support::random::{Shape, random_history};

fn holds(order: &[TxnId]) -> Verdict {
    Verdict::Holds(Witness { order: order.to_vec() })
}

fn violated(evidence: Evidence) -> Verdict {
    Verdict::Violated(Counterexample { anomaly: Anomaly::SerializationCycle, evidence })
}

fn refuted(cases: Vec<Case>) -> Verdict {
    violated(Evidence::Refutation(Refutation { cases }))
}

/// All orders of so many things.
fn permutations(count: usize) -> Vec<Vec<usize>> {
    fn extend(count: usize, order: &mut Vec<usize>, out: &mut Vec<Vec<usize>>) {
        if order.len() == count {
            out.push(order.clone());
        }
        for next in 0..count {
            if !order.contains(&next) {
                order.push(next);
                extend(count, order, out);
                order.pop();
            }
        }
    }
    let mut out = Vec::new();
    extend(count, &mut Vec::new(), &mut out);
    out
}

/// The terms that make a difference to a level.
fn all_terms(history: &History, level: L) -> Vec<Terms> {
    let drifts: &[i64] = if level.needs_times() && history.has_times() { &[0, 3, 10] } else { &[0] };
    let sessions: &[bool] = if level.has_session_order() { &[true, false] } else { &[true] };
    let terms = |&clock_drift| sessions.iter().map(move |&session_order| Terms { session_order, clock_drift });
    drifts.iter().flat_map(terms).collect()
}

fn shown(history: &History) -> String {
    let mut text = Vec::new();
    let written = isonomy_history::formats::write(history, isonomy_history::formats::Format::Hist, &mut text);
    written.expect("hist can be written").expect("a vector takes all");
    String::from_utf8(text).expect("hist is text")
}

/// Every order of commits is accepted iff the definition allows it, so that one is iff the level holds.
fn compare_witnesses(history: &History) {
    let oracle = Oracle::new(history);
    let orders = permutations(oracle.transactions().len());
    for level in STRONG {
        for terms in all_terms(history, level) {
            let model = Model::new(history, &oracle, level, terms);
            let mut any = false;
            for order in &orders {
                let ids: Vec<TxnId> = order.iter().map(|&txn| oracle.transactions()[txn].id).collect();
                let found = certify(history, level, terms, &holds(&ids));
                let expected = model.as_ref().is_some_and(|model| model.allows(order));
                assert_eq!(found.is_ok(), expected, "{level}, {terms:?}, {ids:?}: {found:?}\n{}", shown(history));
                any |= found.is_ok();
            }
            let expected = oracle.holds(level, terms);
            assert_eq!(any, expected == Some(true), "{level}, {terms:?}\n{}", shown(history));
        }
    }
}

/// What is refuted at a level is certified there and at stronger ones, and survives JSON; it is certified at no level that holds.
fn compare_refutations(history: &History) -> usize {
    let oracle = Oracle::new(history);
    if !oracle.faults().is_empty() {
        return 0;
    }
    let mut count = 0;
    for level in STRONG {
        for terms in all_terms(history, level) {
            let Some(model) = Model::new(history, &oracle, level, terms) else { continue };
            let refutation = model.refute();
            let violated_there = oracle.holds(level, terms).map(|holds| !holds);
            assert_eq!(violated_there, Some(refutation.is_some()), "{level}, {terms:?}\n{}", shown(history));
            let Some(cases) = refutation else { continue };
            count += 1;
            let mut verdicts = vec![refuted(cases.clone())];
            if let [Case::Closed(edges)] = &cases[..] {
                verdicts.push(violated(Evidence::Cycle(edges.clone())));
            }
            for verdict in verdicts {
                let found = certify(history, level, terms, &verdict);
                assert_eq!(found, Ok(()), "{level}, {terms:?}: {verdict:?}\n{}", shown(history));
                for other in L::ALL {
                    let accepted = certify(history, other, terms, &verdict).is_ok();
                    let holds = oracle.holds(other, terms) == Some(true);
                    assert!(!accepted || !holds, "{other}, {terms:?}: {verdict:?}\n{}", shown(history));
                    // What is refuted is refuted at all stronger levels by the same evidence.
                    let stronger = terms.session_order && other.implies(level);
                    assert!(accepted || !stronger, "{other}, {terms:?}: {verdict:?}\n{}", shown(history));
                }
                let certificate = Certificate::new(history, level, terms, &verdict).expect("it is decided");
                let text = serde_json::to_string(&certificate).expect("it can be written");
                let back: Certificate = serde_json::from_str(&text).expect("it can be read");
                assert_eq!(back.terms(), terms);
                assert_eq!(back.verdict(history), Ok((level, verdict.clone())), "{text}");
                tell(history, &verdict);
            }
        }
    }
    count
}

/// Tells a violation in all ways there are, and returns the one for people.
fn tell(history: &History, verdict: &Verdict) -> String {
    let Verdict::Violated(counterexample) = verdict else { panic!("there is nothing to tell") };
    let value = report::counterexample(history, counterexample);
    let told = explain(history, counterexample).to_string();
    for (step, value) in explain(history, counterexample).steps.iter().zip(value["told"].as_array().expect("texts")) {
        assert!(value.as_str().expect("a text").ends_with(&step.text));
    }
    if let Evidence::Refutation(refutation) = &counterexample.evidence {
        assert_eq!(value["cases"].as_array().expect("cases").len(), refutation.cases.len());
        let all = explain(history, counterexample).steps.len();
        assert!(all >= refutation.cases.len() / 2, "a case is not told: {told}");
    }
    told
}

#[test]
fn orders_of_commits_are_accepted_iff_the_definition_allows_them() {
    let mut count = 0;
    let outcomes = [Outcome::Committed, Outcome::Indeterminate];
    for transactions in 1..=4 {
        for sessions in session_shapes(transactions) {
            let mut at = 0;
            let mut run = |bound: Bound<'_>, one_of: usize| {
                for_each_history(&bound, |history| {
                    at += 1;
                    if at % one_of == 0 {
                        count += 1;
                        compare_witnesses(history);
                    }
                });
            };
            let many = if transactions == 4 { 23 } else { 1 };
            run(Bound::new(&sessions, 5, 2, Sources::Consistent), many);
            run(Bound { outcomes: &outcomes, ..Bound::new(&sessions, 4, 2, Sources::All) }, 3 * many);
            if transactions <= 3 {
                run(
                    Bound { timed: true, ..Bound::new(&sessions, 4, 2, Sources::Consistent) },
                    if transactions == 3 { 13 } else { 1 },
                );
            }
        }
    }
    assert!(count > 10_000, "only {count} histories were met");
}

#[test]
fn orders_of_commits_of_random_histories() {
    let mut count = 0;
    for shape in [Shape::MIXED, Shape::PLAIN, Shape::LISTS] {
        for seed in 0..3_000 {
            let history = random_history(&shape, seed);
            if Oracle::new(&history).transactions().len() <= 4 {
                count += 1;
                compare_witnesses(&history);
            }
        }
    }
    assert!(count > 1_000, "only {count} histories were met");
}

#[test]
fn refutations_of_small_histories() {
    let (mut met, mut count) = (0, 0);
    for transactions in 2..=4 {
        for sessions in session_shapes(transactions) {
            for_each_history(&Bound::new(&sessions, 6, 2, Sources::Consistent), |history| {
                met += 1;
                if met % 37 == 0 {
                    count += compare_refutations(history);
                }
            });
        }
    }
    assert!(count > 10_000, "only {count} refutations were met");
}

#[test]
fn refutations_of_random_histories() {
    let mut count = 0;
    for shape in [Shape::MIXED, Shape::PLAIN, Shape::LISTS] {
        for seed in 0..500 {
            let history = random_history(&shape, seed);
            if Oracle::new(&history).transactions().len() <= 6 {
                count += compare_refutations(&history);
            }
        }
    }
    assert!(count > 1_000, "only {count} refutations were met");
}

/// A transaction by its session and its position there: `a2`.
fn txn(history: &History, name: &str) -> TxnId {
    let (session, position) = name.split_at(1);
    let found = history.transactions().find(|&txn| {
        history.session_name(history.session_of(txn)) == Name::Text(session)
            && (history.position(txn) + 1).to_string() == position
    });
    found.unwrap_or_else(|| panic!("there is no {name}"))
}

fn party(history: &History, name: &str) -> Party {
    (name != "_").then(|| txn(history, name))
}

fn key(history: &History, name: &str) -> Key {
    let mut keys = (0..history.key_count() as u32).map(Key);
    keys.find(|&key| history.key_name(key) == Name::Text(name)).unwrap_or_else(|| panic!("there is no {name}"))
}

/// A cycle in the notation `a1 rw(x,_) b1 wr(y) a1`.
fn cycle(history: &History, text: &str) -> Vec<Edge> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let why = |word: &str| {
        let (kind, rest) = word.split_once('(').unwrap_or((word, ""));
        let (first, second) = rest.trim_end_matches(')').split_once(',').unwrap_or((rest.trim_end_matches(')'), ""));
        let end = |name| if name == "begin" { End::Begin } else { End::Commit };
        match kind {
            "initial" => Why::Initial,
            "so" => Why::Session,
            "wr" => Why::WriteRead(key(history, first)),
            "ww" => Why::Version(key(history, first)),
            "assumed" => Why::Assumed(key(history, first)),
            "rw" => Why::AntiDependency { key: key(history, first), over: party(history, second) },
            "rt" => Why::RealTime { from: end(first), to: end(second) },
            _ => panic!("unknown edge: {word}"),
        }
    };
    let edge = |at: usize| Edge {
        from: party(history, words[at]),
        to: party(history, words[at + 2]),
        why: why(words[at + 1]),
    };
    (0..words.len() - 2).step_by(2).map(edge).collect()
}

/// Cases: either a cycle, or `x a1 b1 -> 1 2`.
fn cases(history: &History, texts: &[&str]) -> Vec<Case> {
    let case = |text: &&str| match text.split_once("->") {
        Some((what, children)) => {
            let what: Vec<&str> = what.split_whitespace().collect();
            let children: Vec<usize> = children.split_whitespace().map(|c| c.parse().expect("an index")).collect();
            let (first, second) = (txn(history, what[1]), txn(history, what[2]));
            Case::Split { key: key(history, what[0]), first, second, before: children[0], after: children[1] }
        }
        None => Case::Closed(cycle(history, text)),
    };
    texts.iter().map(case).collect()
}

struct Example {
    history: &'static str,
    /// One without a split is a cycle as well.
    cases: &'static [&'static str],
    /// Where it is evidence.
    levels: &'static [L],
}

const WITH_SESSIONS: &[L] =
    &[L::Prefix, L::SnapshotIsolation, L::StrongSessionSi, L::Serializable, L::StrictSerializable];
const WITH_CONFLICTS: &[L] = &[
    L::SnapshotIsolation,
    L::AdyaSi,
    L::GeneralizedSi,
    L::StrongSessionSi,
    L::StrongSi,
    L::Serializable,
    L::StrictSerializable,
];
const ONE_MOMENT: &[L] = &[L::Serializable, L::StrictSerializable];
const COMMITS_IN_TIME: &[L] = &[L::GeneralizedSi, L::StrongSessionSi, L::StrongSi];

const LOST_UPDATE: Example = Example {
    history: "a: [r(x,_) w(x,1)] / b: [r(x,_) w(x,2)]",
    cases: &["x a1 b1 -> 1 2", "a1 assumed(x) b1 rw(x,_) a1", "b1 assumed(x) a1 rw(x,_) b1"],
    levels: WITH_CONFLICTS,
};

/// Nobody reads x, and yet its writers conflict.
const UNREAD_CONFLICT: Example = Example {
    history: "a: [r(y,_) w(x,1) w(z,1)] / b: [r(z,_) w(x,2) w(y,2)]",
    cases: &["x a1 b1 -> 1 2", "a1 assumed(x) b1 rw(z,_) a1", "b1 assumed(x) a1 rw(y,_) b1"],
    levels: WITH_CONFLICTS,
};

const EXAMPLES: &[Example] = &[
    LOST_UPDATE,
    UNREAD_CONFLICT,
    // The same without splits, where transactions are single moments.
    Example { history: LOST_UPDATE.history, cases: &["a1 rw(x,_) b1 rw(x,_) a1"], levels: ONE_MOMENT },
    // Write skew.
    Example {
        history: "a: [r(x,_) r(y,_) w(x,1)] / b: [r(x,_) r(y,_) w(y,1)]",
        cases: &["a1 rw(y,_) b1 rw(x,_) a1"],
        levels: ONE_MOMENT,
    },
    // Long fork.
    Example {
        history: "a: [w(x,1)] / b: [w(y,1)] / c: [r(x,1) r(y,_)] / d: [r(x,_) r(y,1)]",
        cases: &["a1 wr(x) c1 rw(y,_) b1 wr(y) d1 rw(x,_) a1"],
        levels: &STRONG,
    },
    // Read skew.
    Example { history: "a: [w(x,1) w(y,1)] / b: [r(x,1) r(y,_)]", cases: &["a1 wr(x) b1 rw(y,_) a1"], levels: &STRONG },
    // An update lost later; and the same with a case that is nowhere, and without the step from a to b.
    Example {
        history: "a: [w(x,1)] / b: [r(x,1) w(x,2)] / c: [r(x,1) w(x,3)]",
        cases: &[
            "x a1 b1 -> 1 2",
            "x a1 c1 -> 3 4",
            "b1 assumed(x) a1 wr(x) b1",
            "x b1 c1 -> 5 6",
            "c1 assumed(x) a1 wr(x) c1",
            "b1 assumed(x) c1 rw(x,a1) b1",
            "c1 assumed(x) b1 rw(x,a1) c1",
        ],
        levels: WITH_CONFLICTS,
    },
    Example {
        history: "a: [w(x,1)] / b: [r(x,1) w(x,2)] / c: [r(x,1) w(x,3)]",
        cases: &["x b1 c1 -> 1 4", "x a1 c1 -> 2 3", "b1 assumed(x) c1 rw(x,a1) b1", "c1 assumed(x) a1 wr(x) c1"],
        levels: &[],
    },
    Example {
        history: "a: [w(x,1)] / b: [r(x,1) w(x,2)] / c: [r(x,1) w(x,3)]",
        cases: &["x b1 c1 -> 1 2", "b1 assumed(x) c1 rw(x,a1) b1", "c1 assumed(x) b1 rw(x,a1) c1"],
        levels: &[],
    },
    // Sessions.
    Example { history: "a: [w(x,1)] [r(x,_)]", cases: &["a1 so a2 rw(x,_) a1"], levels: WITH_SESSIONS },
    // Lists.
    Example {
        history: "a: [append(l,1)] / b: [append(l,2) w(y,1)] / c: [list(l,[1,2])] / d: [r(y,1) list(l,[1])]",
        cases: &["b1 wr(y) d1 rw(l,a1) b1"],
        levels: &STRONG,
    },
    Example {
        history: "a: [append(l,1) r(y,1)] / b: [append(l,2) w(y,1)] / c: [list(l,[1,2])]",
        cases: &["a1 ww(l) b1 wr(y) a1"],
        levels: &STRONG,
    },
    Example {
        history: "a: [append(l,1) r(y,_)] / b: [append(l,2) w(y,1)] / c: [list(l,[1])] / d: [r(y,1) list(l,[])]",
        cases: &["b1 wr(y) d1 rw(l,_) a1 ww(l) b1"],
        levels: &STRONG,
    },
    // A stale snapshot.
    Example {
        history: "a: [w(x,1)]@10..20 / b: [r(x,_)]@30..40",
        cases: &["a1 rt(commit,begin) b1 rw(x,_) a1"],
        levels: &[L::StrongSi, L::StrictSerializable],
    },
    // Read before it was committed.
    Example {
        history: "a: [w(x,1)]@10..30 / b: [r(x,1)]@20..40",
        cases: &["a1 wr(x) b1 rt(begin,commit) a1"],
        levels: COMMITS_IN_TIME,
    },
    // Commits in another order than in real time.
    Example {
        history: "a: [w(x,1)]@10..20 / b: [w(y,1)]@15..30 / c: [r(x,_) r(y,1)]@10..40",
        cases: &["c1 rw(x,_) a1 rt(commit,commit) b1 wr(y) c1"],
        levels: COMMITS_IN_TIME,
    },
];

fn verdict_of(history: &History, example: &Example) -> Verdict {
    refuted(cases(history, example.cases))
}

#[test]
fn classic_anomalies_are_refuted_where_they_are_forbidden() {
    for example in EXAMPLES {
        let history = history(example.history);
        let oracle = Oracle::new(&history);
        for level in L::ALL {
            // Of one object there may be examples too; its own test has these.
            if level == L::Linearizable {
                continue;
            }
            let expected = example.levels.contains(&level);
            let verdict = verdict_of(&history, example);
            let found = certify(&history, level, Terms::default(), &verdict);
            assert_eq!(found.is_ok(), expected, "{level}: {found:?}: {}", example.history);
            if expected {
                assert_ne!(oracle.holds(level, Terms::default()), Some(true), "{level}: {}", example.history);
            }
            if let [closed] = example.cases {
                let edges = cycle(&history, closed);
                let all_known = edges.iter().all(|edge| matches!(edge.why, Why::WriteRead(_) | Why::Version(_)));
                let weak = L::Causal.implies(level) && all_known;
                let found = certify(&history, level, Terms::default(), &violated(Evidence::Cycle(edges)));
                assert_eq!(found.is_ok(), expected || weak, "{level}: {found:?}: {closed}");
            }
        }
    }
}

/// Everything that differs from a cycle in one place.
fn mutated_cycles(history: &History, edges: &[Edge]) -> Vec<Vec<Edge>> {
    let parties: Vec<Party> = history.transactions().map(Some).chain([None]).collect();
    let keys: Vec<Key> = (0..history.key_count() as u32).map(Key).collect();
    let ends = [End::Begin, End::Commit];
    let mut out = Vec::new();
    for at in 0..edges.len() {
        let mut without = edges.to_vec();
        without.remove(at);
        out.push(without);
        let mut twice = edges.to_vec();
        twice.insert(at, edges[at].clone());
        out.push(twice);
        let edge = &edges[at];
        let mut others: Vec<Edge> = Vec::new();
        for &party in &parties {
            others.push(Edge { from: party, ..edge.clone() });
            others.push(Edge { to: party, ..edge.clone() });
        }
        others.push(Edge { from: edge.to, to: edge.from, why: edge.why.clone() });
        let mut whys = vec![Why::Initial, Why::Session];
        for &key in &keys {
            whys.extend([Why::WriteRead(key), Why::Version(key), Why::Assumed(key)]);
            whys.extend(parties.iter().map(|&over| Why::AntiDependency { key, over }));
            let seen = Vec::new();
            whys.extend(edge.from.map(|reader| Why::Overwritten { key, reader, seen }));
        }
        for from in ends {
            whys.extend(ends.map(|to| Why::RealTime { from, to }));
        }
        others.extend(whys.into_iter().map(|why| Edge { why, ..edge.clone() }));
        for other in others.into_iter().filter(|other| other != edge) {
            let mut changed = edges.to_vec();
            changed[at] = other;
            out.push(changed);
        }
    }
    out
}

/// Everything that differs from a refutation in one place.
fn mutations(history: &History, cases: &[Case]) -> Vec<Vec<Case>> {
    let mut out = vec![Vec::new(), cases[1..].to_vec(), cases[..cases.len() - 1].to_vec()];
    out.push(cases.iter().cloned().chain([cases[cases.len() - 1].clone()]).collect());
    for (at, case) in cases.iter().enumerate() {
        let mut others = Vec::new();
        match case {
            Case::Closed(edges) => others.extend(mutated_cycles(history, edges).into_iter().map(Case::Closed)),
            &Case::Split { key, first, second, before, after } => {
                others.push(Case::Split { key, first, second, before: after, after: before });
                others.push(Case::Split { key, first: second, second: first, before, after });
                for txn in history.transactions() {
                    others.push(Case::Split { key, first: txn, second, before, after });
                    others.push(Case::Split { key, first, second: txn, before, after });
                }
                for key in (0..history.key_count() as u32).map(Key) {
                    others.push(Case::Split { key, first, second, before, after });
                }
                for child in 0..=cases.len() {
                    others.push(Case::Split { key, first, second, before: child, after });
                    others.push(Case::Split { key, first, second, before, after: child });
                }
                others.extend(cases.iter().filter(|case| matches!(case, Case::Closed(_))).cloned());
            }
        }
        for other in others.into_iter().filter(|other| other != case) {
            let mut changed = cases.to_vec();
            changed[at] = other;
            out.push(changed);
        }
    }
    out
}

/// All mutations are rejected, except those that happen to be right as well; returns how many were wrong.
fn reject_mutations(history: &History, level: L, terms: Terms, model: &Model<'_>, cases: &[Case]) -> usize {
    let mut wrong = 0;
    for changed in mutations(history, cases) {
        let right = model.is_refuted_by(&changed);
        let found = certify(history, level, terms, &refuted(changed.clone()));
        assert_eq!(found.is_ok(), right, "{level}, {terms:?}: {found:?}: {changed:?}\n{}", shown(history));
        wrong += usize::from(!right);
    }
    wrong
}

#[test]
fn refutations_with_one_thing_changed_are_rejected() {
    let mut wrong = 0;
    for example in EXAMPLES {
        let history = history(example.history);
        let oracle = Oracle::new(&history);
        for &level in example.levels {
            // Without times there is no model; the evidence does not speak of them then.
            let Some(model) = Model::new(&history, &oracle, level, Terms::default()) else { continue };
            let cases = cases(&history, example.cases);
            assert!(model.is_refuted_by(&cases));
            wrong += reject_mutations(&history, level, Terms::default(), &model, &cases);
        }
    }
    assert!(wrong > 3_000, "only {wrong}");
}

#[test]
fn random_refutations_with_one_thing_changed_are_rejected() {
    let mut wrong = 0;
    for shape in [Shape::MIXED, Shape::PLAIN, Shape::LISTS] {
        for seed in 0..1_500 {
            let history = random_history(&shape, seed);
            let oracle = Oracle::new(&history);
            if oracle.transactions().len() > 5 || !oracle.faults().is_empty() {
                continue;
            }
            for level in STRONG {
                let terms = Terms { clock_drift: seed as i64 % 3, session_order: seed % 4 != 0 };
                let Some(model) = Model::new(&history, &oracle, level, terms) else { continue };
                let Some(cases) = model.refute() else { continue };
                wrong += reject_mutations(&history, level, terms, &model, &cases);
            }
        }
    }
    assert!(wrong > 50_000, "only {wrong}");
}

#[test]
fn orders_of_commits_are_rejected_with_a_reason() {
    let check = |text: &str, level: L, order: &str| {
        let history = history(text);
        let order: Vec<TxnId> = order.split_whitespace().map(|name| txn(&history, name)).collect();
        certify(&history, level, Terms::default(), &holds(&order))
    };
    let rejected = |text: &str, level: L, order: &str, why: &str| {
        let flaw = check(text, level, order).expect_err("it is wrong");
        assert_eq!(flaw.to_string(), why, "{level}: {order}: {text}");
    };
    let skew = "a: [r(x,_) r(y,_) w(x,1)] / b: [r(x,_) r(y,_) w(y,1)]";
    assert_eq!(check(skew, L::SnapshotIsolation, "a1 b1"), Ok(()));
    rejected(skew, L::Serializable, "a1 b1", "T(b,1) misses a write of T(a,1) that is visible to it");
    rejected(skew, L::SnapshotIsolation, "a1", "the witness does not hold each transaction that counts exactly once");
    rejected(skew, L::StrongSi, "a1 b1", "the level speaks of real time, and some transaction has no times");
    rejected(skew, L::Linearizable, "a1 b1", "it is about several objects, where each has to stand by itself");

    let lost = LOST_UPDATE.history;
    assert_eq!(check(lost, L::Prefix, "b1 a1"), Ok(()));
    let no_place = "T(b,1) must begin after T(a,1) commits and before T(a,1) does, but they stand in another order";
    rejected(lost, L::AdyaSi, "a1 b1", no_place);

    let stale = "a: [w(x,1)]@10..20 / b: [r(x,_)]@30..40";
    assert_eq!(check(stale, L::StrongSessionSi, "a1 b1"), Ok(()));
    rejected(
        stale,
        L::StrongSessionSi,
        "b1 a1",
        "T(b,1) stands before a transaction that, by the clocks, came before it",
    );
    rejected(
        stale,
        L::StrictSerializable,
        "b1 a1",
        "T(b,1) stands before a transaction that, by the clocks, came before it",
    );
    rejected(stale, L::StrictSerializable, "a1 b1", "T(b,1) misses a write of T(a,1) that is visible to it");
    rejected(stale, L::StrongSi, "a1 b1", no_place);

    let between = "a: [w(x,1)] [w(x,2)] / b: [r(x,1)]";
    assert_eq!(check(between, L::Serializable, "a1 b1 a2"), Ok(()));
    rejected(between, L::Serializable, "a1 a2 b1", "T(b,1) misses a write of T(a,2) that is visible to it");
    assert_eq!(check(between, L::SnapshotIsolation, "a1 a2 b1"), Ok(()));
    rejected(between, L::Prefix, "a2 a1 b1", "T(a,2) stands before an earlier transaction of its session");
    rejected(between, L::Prefix, "b1 a1 a2", "T(b,1) stands before a transaction that it reads from");
}

#[test]
fn clocks_may_differ() {
    let history = history("a: [w(x,1)]@10..20 / b: [r(x,_)]@30..40");
    let cycle = violated(Evidence::Cycle(cycle(&history, "a1 rt(commit,begin) b1 rw(x,_) a1")));
    let order = holds(&[txn(&history, "b1"), txn(&history, "a1")]);
    for (clock_drift, accepted) in [(9, true), (10, false), (i64::MAX, false)] {
        let terms = Terms { clock_drift, ..Terms::default() };
        for level in [L::StrongSi, L::StrictSerializable] {
            assert_eq!(certify(&history, level, terms, &cycle).is_ok(), accepted, "{level}, {clock_drift}");
        }
        assert_eq!(certify(&history, L::StrictSerializable, terms, &order).is_ok(), !accepted, "{clock_drift}");
    }
}

#[test]
fn kinds_of_evidence_do_not_mix() {
    let history = history("a: [w(x,1)] / b: [r(x,1) w(y,1)] / c: [r(y,1) r(x,_)]");
    let [a, b, c] = ["a1", "b1", "c1"].map(|name| txn(&history, name));
    let (x, y) = (key(&history, "x"), key(&history, "y"));
    let step = |from, to, key| isonomy_checker::Step { from, to, key: Some(key) };
    let why = Why::Overwritten { key: x, reader: c, seen: vec![step(a, b, x), step(b, c, y)] };
    let causal = vec![Edge { from: Some(a), to: None, why }, Edge { from: None, to: Some(a), why: Why::Initial }];
    let new = cycle(&history, "a1 wr(x) b1 wr(y) c1 rw(x,_) a1");
    let both = [causal.clone(), new.clone()].concat();
    for level in STRONG {
        let certified = |evidence| certify(&history, level, Terms::default(), &violated(evidence));
        assert_eq!(certified(Evidence::Cycle(causal.clone())), Ok(()), "{level}");
        assert_eq!(certified(Evidence::Cycle(new.clone())), Ok(()), "{level}");
        assert!(certified(Evidence::Cycle(both.clone())).is_err(), "{level}");
        for edges in [&causal, &both] {
            let cases = vec![Case::Closed(edges.clone())];
            assert!(certified(Evidence::Refutation(Refutation { cases })).is_err(), "{level}");
        }
    }
    for level in [L::ReadCommitted, L::ReadAtomic, L::Causal] {
        assert!(certify(&history, level, Terms::default(), &violated(Evidence::Cycle(new.clone()))).is_err());
        let cases = refuted(vec![Case::Closed(new.clone())]);
        assert_eq!(certify(&history, level, Terms::default(), &cases), Err(Flaw::Unsupported(level)));
    }
}

#[test]
fn sessions_of_different_objects_are_no_evidence_against_linearizability() {
    let history = history("a: [r(x,1)]@0..10 [w(y,1)]@20..30 / b: [r(y,1)]@0..40 [w(x,1)]@0..50");
    let cycle = violated(Evidence::Cycle(cycle(&history, "a1 so a2 wr(y) b1 so b2 wr(x) a1")));
    assert_eq!(certify(&history, L::Causal, Terms::default(), &cycle), Ok(()));
    assert_eq!(Oracle::new(&history).holds(L::Linearizable, Terms::default()), Some(true));
    let found = certify(&history, L::Linearizable, Terms::default(), &cycle);
    assert_eq!(found, Err(Flaw::SeveralObjects));
}

#[test]
fn deep_refutations_need_no_deep_stack() {
    let history = history(LOST_UPDATE.history);
    let (a, b, x) = (txn(&history, "a1"), txn(&history, "b1"), key(&history, "x"));
    // The same question again and again.
    let mut cases = Vec::new();
    for at in 0..100_000 {
        cases.push(Case::Split { key: x, first: a, second: b, before: 2 * at + 2, after: 2 * at + 1 });
        cases.push(Case::Closed(cycle(&history, "b1 assumed(x) a1 rw(x,_) b1")));
    }
    cases.push(Case::Closed(cycle(&history, "a1 assumed(x) b1 rw(x,_) a1")));
    let verdict = refuted(cases);
    assert_eq!(certify(&history, L::SnapshotIsolation, Terms::default(), &verdict), Ok(()));
    assert_eq!(tell(&history, &verdict).lines().count(), 1 + 2 + 100_000 + 2);
}

fn story(example: &Example) -> String {
    let history = history(example.history);
    let told = tell(&history, &verdict_of(&history, example));
    // What the anomaly means is not the story's own.
    told.lines().skip(1).map(|line| format!("{}\n", line.trim_start())).collect()
}

#[test]
fn refutations_are_told() {
    assert_eq!(
        story(&UNREAD_CONFLICT),
        "T(a,1)  [r(y,_) w(x,1) w(z,1)]\n\
         T(b,1)  [r(z,_) w(x,2) w(y,2)]\n\
         1. On x, whichever came first, T(a,1)'s 1 or T(b,1)'s 2, there is a circle.\n\
         1.1. If T(a,1)'s 1 came first: T(a,1) comes before T(b,1), and T(b,1) began before T(a,1) committed (T(b,1) read z in its \
         initial state; T(a,1) overwrote that with 1).\n\
         1.2. If T(b,1)'s 2 came first: T(b,1) comes before T(a,1), and T(a,1) began before T(b,1) committed (T(a,1) read y in its \
         initial state; T(b,1) overwrote that with 2).\n"
    );
    // One question too many, so that both sides go on. Where transactions are single moments, they come before each other.
    let example = Example {
        history: "a: [r(z,_) w(x,1) w(y,1) w(z,1)] / b: [r(z,_) w(x,2) w(z,2)] / c: [w(y,2) w(v,1)]",
        cases: &[
            "x a1 b1 -> 1 4",
            "y a1 c1 -> 2 3",
            "a1 rw(z,_) b1 rw(z,_) a1",
            "a1 rw(z,_) b1 rw(z,_) a1",
            "y a1 c1 -> 5 6",
            "a1 rw(z,_) b1 rw(z,_) a1",
            "b1 assumed(x) a1 rw(z,_) b1",
        ],
        levels: &[],
    };
    let history = history(example.history);
    assert_eq!(certify(&history, L::Serializable, Terms::default(), &verdict_of(&history, &example)), Ok(()));
    let missed = "T(a,1) read z in its initial state; T(b,1) overwrote that with 2";
    let skew = format!(
        "T(a,1) comes before T(b,1) ({missed}), and T(b,1) comes before T(a,1) (T(b,1) read z in its initial state; T(a,1) \
         overwrote that with 1)"
    );
    assert_eq!(
        story(&example),
        format!(
            "T(a,1)  [r(z,_) w(x,1) w(y,1) w(z,1)]\n\
             T(b,1)  [r(z,_) w(x,2) w(z,2)]\n\
             T(c,1)  [w(y,2) … 1 more]\n\
             1. On x, either T(a,1)'s 1 came before T(b,1)'s 2, or after it.\n\
             1.1. Case 1: On x, T(a,1)'s 1 came before T(b,1)'s 2.\n\
             1.1.1. On y, whichever came first, T(a,1)'s 1 or T(c,1)'s 2, there is a circle.\n\
             1.1.1.1. If T(a,1)'s 1 came first: {skew}.\n\
             1.1.1.2. If T(c,1)'s 2 came first: {skew}.\n\
             1.2. Case 2: On x, T(b,1)'s 2 came before T(a,1)'s 1.\n\
             1.2.1. On y, whichever came first, T(a,1)'s 1 or T(c,1)'s 2, there is a circle.\n\
             1.2.1.1. If T(a,1)'s 1 came first: {skew}.\n\
             1.2.1.2. If T(c,1)'s 2 came first: T(b,1) comes before T(a,1) (on x, T(b,1)'s 2 is before T(a,1)'s 1; case 1.2), and \
             T(a,1) comes before T(b,1) ({missed}).\n"
        )
    );
}

#[test]
fn real_time_is_told_with_the_times() {
    let example = Example {
        history: "a: [w(x,1)]@10..15..20..25 / b: [r(x,_)]@30..33..40..45",
        cases: &["a1 rt(commit,begin) b1 rw(x,_) a1"],
        levels: &[],
    };
    assert_eq!(
        story(&example),
        "T(a,1)  [w(x,1)]\n\
         T(b,1)  [r(x,_)]\n\
         1. T(a,1) committed before T(b,1) began: by their clocks, 25 < 30.\n\
         2. T(b,1) began before T(a,1) committed: T(b,1) read x in its initial state; T(a,1) overwrote that with 1.\n"
    );
}

#[test]
fn refutations_as_json() {
    let history = history(UNREAD_CONFLICT.history);
    let verdict = verdict_of(&history, &UNREAD_CONFLICT);
    let Verdict::Violated(counterexample) = &verdict else { unreachable!("it was made so") };
    let value = report::counterexample(&history, counterexample);
    assert_eq!(value["edges"], serde_json::json!([]));
    assert_eq!(
        value["cases"],
        serde_json::json!([
            {
                "split": {"key": "x", "first": "T(a,1)", "second": "T(b,1)", "before": 1, "after": 2},
                "told": "On x, either T(a,1)'s 1 came before T(b,1)'s 2, or after it.",
            },
            {
                "edges": [
                    {
                        "from": "T(a,1)", "to": "T(b,1)", "kind": "assumed", "key": "x",
                        "claim": "T(a,1) comes before T(b,1)",
                        "reason": "on x, T(a,1)'s 1 is before T(b,1)'s 2",
                        "why": "T(a,1) comes before T(b,1): on x, T(a,1)'s 1 is before T(b,1)'s 2.",
                        "from_event": 1, "to_event": 1,
                    },
                    {
                        "from": "T(b,1)", "to": "T(a,1)", "kind": "rw", "key": "z", "over": null,
                        "claim": "T(b,1) began before T(a,1) committed",
                        "reason": "T(b,1) read z in its initial state; T(a,1) overwrote that with 1",
                        "why": "T(b,1) began before T(a,1) committed: T(b,1) read z in its initial state; T(a,1) overwrote that with 1.",
                        "from_event": 0, "to_event": 2,
                    },
                ],
                "told": "T(a,1) comes before T(b,1) (on x, T(a,1)'s 1 is before T(b,1)'s 2), and T(b,1) began before T(a,1) committed \
                         (T(b,1) read z in its initial state; T(a,1) overwrote that with 1).",
            },
            {
                "edges": [
                    {
                        "from": "T(b,1)", "to": "T(a,1)", "kind": "assumed", "key": "x",
                        "claim": "T(b,1) comes before T(a,1)",
                        "reason": "on x, T(b,1)'s 2 is before T(a,1)'s 1",
                        "why": "T(b,1) comes before T(a,1): on x, T(b,1)'s 2 is before T(a,1)'s 1.",
                        "from_event": 1, "to_event": 1,
                    },
                    {
                        "from": "T(a,1)", "to": "T(b,1)", "kind": "rw", "key": "y", "over": null,
                        "claim": "T(a,1) began before T(b,1) committed",
                        "reason": "T(a,1) read y in its initial state; T(b,1) overwrote that with 2",
                        "why": "T(a,1) began before T(b,1) committed: T(a,1) read y in its initial state; T(b,1) overwrote that with 2.",
                        "from_event": 0, "to_event": 2,
                    },
                ],
                "told": "T(b,1) comes before T(a,1) (on x, T(b,1)'s 2 is before T(a,1)'s 1), and T(a,1) began before T(b,1) committed \
                         (T(a,1) read y in its initial state; T(b,1) overwrote that with 2).",
            },
        ])
    );
    let certificate = Certificate::new(&history, L::SnapshotIsolation, Terms::default(), &verdict);
    assert_eq!(
        serde_json::to_string(&certificate).expect("it can be written"),
        concat!(
            r#"{"isonomy-certificate":1,"transactions":2,"events":6,"level":"snapshot-isolation","session_order":true,"clock_drift":0,"#,
            r#""evidence":{"refutation":{"anomaly":"serialization-cycle","cases":["#,
            r#"{"split":{"key":1,"first":0,"second":1,"before":1,"after":2}},"#,
            r#"{"closed":[{"from":0,"to":1,"kind":"assumed","key":1},{"from":1,"to":0,"kind":"rw","key":2,"over":null}]},"#,
            r#"{"closed":[{"from":1,"to":0,"kind":"assumed","key":1},{"from":0,"to":1,"kind":"rw","key":0,"over":null}]}]}}}"#
        )
    );
}

#[test]
fn certificates_that_say_too_little_are_refused() {
    let history = history("a: [w(x,1)]@10..20 / b: [r(x,_)]@30..40");
    let verdict = violated(Evidence::Cycle(cycle(&history, "a1 rt(commit,begin) b1 rw(x,_) a1")));
    let terms = Terms { clock_drift: 5, ..Terms::default() };
    let certificate = Certificate::new(&history, L::StrongSi, terms, &verdict);
    let text = serde_json::to_string(&certificate).expect("it can be written");
    let read = |text: &str| serde_json::from_str::<Certificate>(text).expect("it can be read");
    assert_eq!(read(&text).verdict(&history), Ok((L::StrongSi, verdict)));
    assert!(text.contains(r#""from_end":"commit","to_end":"begin""#), "{text}");

    // Older certificates do not speak of clocks.
    assert_eq!(read(&text.replace(r#""clock_drift":5,"#, "")).terms(), Terms::default());
    let changes = [(r#","over":null"#, ""), (r#","to_end":"begin""#, ""), (r#""key":0,"#, ""), (r#""rt""#, r#""rr""#)];
    for (what, instead) in changes {
        assert!(text.contains(what), "{what}: {text}");
        assert!(read(&text.replace(what, instead)).verdict(&history).is_err(), "{what}");
    }
    let found = read(&text.replace(r#""clock_drift":5"#, r#""clock_drift":-5"#)).verdict(&history);
    assert_eq!(found, Err(CertificateError::ClockDrift(-5)));
}

#[test]
fn objects_are_linearized_one_by_one() {
    let check = |text: &str, order: &str, terms: Terms| {
        let history = history(text);
        let order: Vec<TxnId> = order.split_whitespace().map(|name| txn(&history, name)).collect();
        let found = certify(&history, L::Linearizable, terms, &holds(&order));
        (found.is_ok(), Oracle::new(&history).holds(L::Linearizable, terms))
    };
    let both = Terms::default();
    // The order of different objects does not matter, that of one does.
    let two = "a: [w(x,1)]@0..10 [r(y,_)]@20..30 / b: [w(y,1)]@40..50 [r(x,1)]@60..70";
    assert_eq!(check(two, "a1 b2 a2 b1", both), (true, Some(true)));
    assert_eq!(check(two, "a2 b1 a1 b2", both), (true, Some(true)));
    assert!(!check(two, "b1 a2 a1 b2", both).0);
    assert!(!check(two, "a1 b2 a2", both).0);
    // A read that is too old: clocks may excuse it.
    let stale = "a: [w(x,1)]@0..10 / b: [r(x,_)]@15..20";
    assert_eq!(check(stale, "b1 a1", both), (false, Some(false)));
    assert_eq!(check(stale, "a1 b1", both), (false, Some(false)));
    assert_eq!(check(stale, "b1 a1", Terms { clock_drift: 5, ..both }), (true, Some(true)));
    // Compare-and-sets, one of which found something else.
    let swaps = "a: [cas(x,_,1)]@0..10 / b: [cas(x,1,2)]@0..10 / c: [r(x,2)]@20..30";
    assert_eq!(check(swaps, "a1 b1 c1", both), (true, Some(true)));
    assert!(!check(swaps, "b1 a1 c1", both).0);
    // Sessions hold within an object.
    let session = "a: [w(x,1)]@0..50 [r(x,_)]@0..50";
    assert_eq!(check(session, "a2 a1", both), (false, Some(false)));
    assert_eq!(check(session, "a2 a1", Terms { session_order: false, ..both }), (true, Some(true)));
}
