//! `--junit`, `--sarif` and `--github`: what CI systems are told.

mod place;

use std::fs;

use place::{Place, code, isonomy, out};
use serde_json::Value;

/// Satisfies read-atomic, not causal.
const CAUSALITY: &str = r#"{"session":1,"ops":[["w","x",1]]}
{"session":2,"ops":[["r","x",1],["w","y",1]]}
{"session":3,"ops":[["r","y",1],["r","x",null]]}
"#;
/// Satisfies all levels.
const SERIAL: &str = "{\"session\":1,\"ops\":[[\"w\",\"x\",1]]}\n";

/// A history that holds, one that does not, and one that is none.
fn histories(place: &Place) -> [String; 3] {
    [
        place.file("fine.jsonl", SERIAL),
        place.file("causality & <co>.jsonl", CAUSALITY),
        place.file("bad.jsonl", "{\"session\":1}\n"),
    ]
}

#[test]
fn test_results_are_xml() {
    let place = Place::new("junit");
    let (histories, file) = (histories(&place), place.path("results.xml"));
    let [fine, causality, bad] = histories.each_ref().map(String::as_str);
    let found = isonomy(&["check", "--level", "ra,cc,ser,lin", "--junit", &file, fine, causality, bad]);
    assert_eq!(code(&found), 2);
    let text = fs::read_to_string(&file).expect("it was written");
    let document = roxmltree::Document::parse(&text).expect("it is XML");
    let suites: Vec<_> = document.root_element().children().filter(roxmltree::Node::is_element).collect();
    let numbers = |suite: &roxmltree::Node<'_, '_>| {
        ["tests", "failures", "errors", "skipped"].map(|name| suite.attribute(name).unwrap_or("-").to_string())
    };
    assert_eq!(
        suites.iter().map(|suite| suite.attribute("name")).collect::<Vec<_>>(),
        [Some(fine), Some(causality), Some(bad)]
    );
    assert_eq!(numbers(&suites[0]), ["4", "0", "0", "1"]);
    assert_eq!(numbers(&suites[1]), ["4", "2", "0", "1"]);
    assert_eq!(numbers(&suites[2]), ["1", "0", "1", "0"]);
    let failure = suites[1].descendants().find(|node| node.has_tag_name("failure")).expect("there is one");
    assert_eq!(failure.attribute("type"), Some("causality-violation"));
    assert!(failure.text().is_some_and(|story| story.contains("T(3,1) read x in its initial state")), "{text}");
}

#[test]
fn results_of_code_scanning_point_at_lines() {
    let place = Place::new("sarif");
    let [fine, causality, bad] = histories(&place);
    let run = |name: &str, histories: &[&str]| -> Value {
        let file = place.path(name);
        isonomy(&[&["check", "--level", "cc,ser", "--sarif", &file], histories].concat());
        serde_json::from_str(&fs::read_to_string(&file).expect("it was written")).expect("it is JSON")
    };
    let log = run("all.sarif", &[&fine, &causality, &bad]);
    assert_eq!(log["version"], "2.1.0");
    let run_of = |log: &Value| log["runs"][0].clone();
    let rules = run_of(&log)["tool"]["driver"]["rules"].as_array().expect("there are rules").len();
    assert_eq!(rules, 26);
    // One counterexample, two levels.
    let results = run_of(&log)["results"].as_array().expect("there are results").clone();
    assert_eq!(results.len(), 1);
    let result = &results[0];
    assert_eq!(result["ruleId"], "causality-violation");
    let index = result["ruleIndex"].as_u64().expect("a number") as usize;
    assert_eq!(run_of(&log)["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
    assert_eq!(result["properties"]["levels"], serde_json::json!(["causal", "serializable"]));
    let place_of = &result["locations"][0]["physicalLocation"];
    assert_eq!(place_of["region"]["startLine"], 3);
    let uri = place_of["artifactLocation"]["uri"].as_str().expect("text");
    assert!(uri.starts_with("file:///") && uri.ends_with("causality%20%26%20%3Cco%3E.jsonl"), "{uri}");
    assert_eq!(result["relatedLocations"].as_array().map(Vec::len), Some(3));
    let invocation = &run_of(&log)["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    assert_eq!(invocation["toolExecutionNotifications"].as_array().map(Vec::len), Some(1));
    // The same violation further down, in another file, is the same violation.
    let moved = place.file("moved.jsonl", &format!("\n\n{CAUSALITY}"));
    let again = run("moved.sarif", &[&moved]);
    let moved = &again["runs"][0]["results"][0];
    assert_eq!(moved["locations"][0]["physicalLocation"]["region"]["startLine"], 5);
    assert_eq!(moved["partialFingerprints"], result["partialFingerprints"]);
    assert_eq!(again["runs"][0]["invocations"][0]["executionSuccessful"], true);
}

#[test]
fn annotations_stand_beside_the_text() {
    let place = Place::new("github");
    let [fine, causality, bad] = histories(&place);
    let told = out(&isonomy(&["check", "--level", "cc,ser", "--github", &fine, &causality, &bad]));
    let commands: Vec<&str> = told.lines().filter(|line| line.starts_with("::")).collect();
    assert_eq!(commands.len(), 2, "{told}");
    let file = causality.replace('%', "%25").replace(':', "%3A").replace(',', "%2C");
    let head = format!(
        "::error file={file},line=3,title=isonomy%3A causality-violation::causal is violated (and so serializable)"
    );
    assert!(commands[0].starts_with(&head) && commands[0].contains("%0A1. "), "{told}");
    assert!(commands[1].contains("title=isonomy%3A unreadable::"), "{told}");
    assert!(told.contains("causal holds"), "{told}");
    let undecided = out(&isonomy(&["check", "--level", "cc", "--timeout", "0ms", "--github", &fine]));
    assert!(undecided.contains("::warning file="), "{undecided}");
    // Standard output cannot be both.
    assert_eq!(code(&isonomy(&["check", "--json", "--github", &fine])), 2);
    assert_eq!(code(&isonomy(&["check", "--sarif", "-", &fine])), 2);
}

#[test]
fn runs_are_reported_too() {
    let place = Place::new("ci-run");
    let (junit, sarif, kept) = (place.path("run.xml"), place.path("run.sarif"), place.path("kept"));
    let found =
        isonomy(&["run", "--junit", &junit, "--sarif", &sarif, "--github", "--out", &kept, "--until", "violation"]);
    assert_eq!(code(&found), 1);
    assert!(out(&found).lines().any(|line| line.starts_with("::error file=") && line.contains("history.jsonl,line=")));
    let log: Value = serde_json::from_str(&fs::read_to_string(sarif).expect("it was written")).expect("it is JSON");
    let result = &log["runs"][0]["results"][0];
    assert!(result["locations"][0]["physicalLocation"]["region"]["startLine"].is_u64(), "{result:#}");
    let text = fs::read_to_string(junit).expect("it was written");
    assert!(roxmltree::Document::parse(&text).is_ok_and(|document| document.root_element().has_children()));
}
