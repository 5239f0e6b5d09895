//! Violations are told in sentences that rest on the operations of the counterexample alone.

use isonomy_crdt::enumerate::{Bounds, histories};
use isonomy_crdt::{Budget, DataType, Effort, Explanation, History, Verdict, check, explain, read};

fn story(history: &History) -> Option<Explanation> {
    match check(history, &mut Budget::unlimited(), &mut Effort::default()) {
        Verdict::Violated(counterexample) => Some(explain(history, &counterexample)),
        _ => None,
    }
}

fn told(text: &str) -> Vec<String> {
    let history = read(text.as_bytes(), None, None).unwrap();
    let explanation = story(&history).expect("it is violated");
    explanation.sentences.into_iter().map(|sentence| sentence.text).collect()
}

#[test]
fn every_small_violation_has_a_story() {
    for data_type in DataType::ALL {
        let bounds = Bounds { data_type, operations: 3, replicas: 2, objects: 1, values: 2 };
        histories(&bounds, |history| {
            let Some(explanation) = story(history) else { return };
            assert!(!explanation.sentences.is_empty() && !explanation.headline.is_empty());
            for sentence in &explanation.sentences {
                assert!(sentence.operations.iter().all(|op| explanation.operations.contains(op)), "{explanation:?}");
                assert!(
                    sentence.arrows.iter().all(|arrow| sentence.operations.contains(&arrow.from)),
                    "{explanation:?}"
                );
            }
        });
    }
}

#[test]
fn what_was_seen_is_carried_on() {
    assert_eq!(
        told("type: counter\na: inc(x) inc(y)\nb: read(y)=1 read(x)=0"),
        [
            "b:1 read(y)=1 saw 1 more inc(y) than dec(y). So b:1 saw a:2 inc(y).",
            "b:2 read(x)=0 saw 0 more inc(x) than dec(x). b:2 saw a:1 inc(x). It must have seen at least 1.",
        ]
    );
}

#[test]
fn timestamps_that_go_in_a_circle_are_shown() {
    assert_eq!(
        told("type: rga\na: addAfter(_,p) addAfter(p,q)\nb: read()=[p,q] addAfter(p,r) read()=[p,q,r]"),
        [
            "b:1 read()=[p,q] saw a:2 addAfter(p,q): it lists q.",
            "Timestamps would go in a circle: b:1 read()=[p,q] after a:2 addAfter(p,q), which it saw, b:2 addAfter(p,r) after b:1, \
             on its replica, and a:2 after b:2, as lists have it in front.",
        ]
    );
}

#[test]
fn what_nobody_did_is_said() {
    assert_eq!(told("type: lww-register\na: read(x)=1"), ["a:1 read(x)=1: nobody wrote 1 to x."]);
    assert_eq!(
        told("type: rga\na: addAfter(_,p) remove(p) read()=[p]"),
        ["a:3 read()=[p] cannot be: it lists p, but a:3 comes after a:2 remove(p)."]
    );
    assert_eq!(told("type: rga\na: read()=[p]"), ["a:1 read()=[p]: nobody added p."]);
}

#[test]
fn cases_are_told_one_by_one() {
    let history = "type: or-set\na: add(x) remove(x)\nb: add(x) remove(x)\nc: contains(x)=true contains(x)=false contains(x)=true \
                   contains(x)=false contains(x)=true";
    let history = read(history.as_bytes(), None, None).unwrap();
    let explanation = story(&history).expect("there are only two additions");
    assert!(explanation.sentences.iter().any(|sentence| sentence.depth > 0), "{explanation:#?}");
}
