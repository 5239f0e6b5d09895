//! `isonomy crdt`: verdicts, evidence, generated histories, and libraries.

mod place;

use std::fs;

use place::{Place, code, err, isonomy, json, out, shell};
use serde_json::Value;

const TYPES: [&str; 8] = ["or-set", "rw-set", "ew-flag", "dw-flag", "mv-register", "lww-register", "counter", "rga"];

/// For each type, a history that it allows and one that it does not.
const EXAMPLES: [(&str, &str, &str); 8] = [
    (
        "or-set",
        "a: add(x) contains(x)=true / b: remove(x) contains(x)=false",
        "a: add(x) add(y) / b: contains(y)=true contains(x)=false",
    ),
    (
        "rw-set",
        "a: add(x) contains(x)=true / b: remove(x) contains(x)=false",
        "a: remove(x) contains(x)=false add(x) contains(x)=false",
    ),
    ("ew-flag", "a: enable(p) read(p)=true / b: read(p)=false", "a: read(p)=true"),
    ("dw-flag", "a: enable(p) / b: read(p)=true disable(p) read(p)=false", "a: enable(p) disable(p) read(p)=true"),
    (
        "mv-register",
        "a: write(x,1) write(y,1) / b: write(x,2) / c: read(y)={1} read(x)={2}",
        "a: write(x,1) write(x,2) / b: read(x)={1,2}",
    ),
    (
        "lww-register",
        "a: write(x,1) read(x)=1 / b: write(x,2) read(x)=2 read(x)=1",
        "a: write(x,1) / b: write(x,2) / c: read(x)=1 read(x)=2 read(x)=1",
    ),
    ("counter", "a: inc(x) dec(x) / b: read(x)=1 read(x)=0", "a: inc(x) / b: read(x)=1 read(x)=0"),
    (
        "rga",
        "a: addAfter(_,x) addAfter(x,y) read()=[x,y] / b: read()=[x] remove(x) read()=[]",
        "a: addAfter(_,x) addAfter(x,y) / b: read()=[y,x]",
    ),
];

#[test]
fn every_type_allows_some_histories_and_not_others() {
    let place = Place::new("crdt-types");
    for (data_type, good, bad) in EXAMPLES {
        let good = place.file("good.crdt", &format!("type: {data_type}\n{good}\n").replace(" / ", "\n"));
        let bad = place.file("bad.crdt", &format!("type: {data_type}\n{bad}\n").replace(" / ", "\n"));
        let holds = isonomy(&["crdt", "check", &good]);
        assert_eq!(code(&holds), 0, "{data_type}: {}", out(&holds));
        assert!(out(&holds).contains(&format!("{data_type} holds: ")), "{}", out(&holds));
        let violated = isonomy(&["crdt", "check", &bad]);
        assert_eq!(code(&violated), 1, "{data_type}: {}", out(&violated));
        assert!(out(&violated).contains(&format!("{data_type} violated")), "{}", out(&violated));
        assert!(out(&violated).contains("line "), "{}", out(&violated));
    }
}

#[test]
fn the_worst_of_several_counts() {
    let place = Place::new("crdt-several");
    let good = place.file("good", "type: counter\na: inc(x) read(x)=1");
    let bad = place.file("bad", "type: counter\na: inc(x) read(x)=0");
    let wrong = place.file("wrong", "type: counter\na: inc(x) read(x)=yes");
    assert_eq!(code(&isonomy(&["crdt", "check", &good, &good])), 0);
    assert_eq!(code(&isonomy(&["crdt", "check", &good, &bad])), 1);
    assert_eq!(code(&isonomy(&["crdt", "check", "--timeout", "0", &good])), 3);
    let all = isonomy(&["crdt", "check", &wrong, &bad, &good]);
    assert_eq!((code(&all), out(&all).lines().filter(|line| line.contains("counter ")).count()), (2, 2));
}

#[test]
fn answers_for_programs() {
    let place = Place::new("crdt-json");
    let bad = place.file("bad", "type: or-set\na: add(x)\nb: add(y)\na: contains(x)=false");
    let good = place.file("good", "type: or-set\na: add(x)");
    let lines = json(&isonomy(&["crdt", "check", "--json", &bad, &good]));
    let [violated, holds] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!((&violated["type"], &violated["verdict"]), (&"or-set".into(), &"violated".into()));
    assert_eq!(violated["history"], bad.as_str());
    let counterexample = &violated["counterexample"];
    assert_eq!(counterexample["operations"][1]["name"], "a:2");
    assert_eq!(counterexample["operations"][1]["replica"], "a");
    assert_eq!(counterexample["operations"][1]["operation"], "contains(x)=false");
    assert_eq!(counterexample["operations"][1]["line"], 4);
    assert_eq!(counterexample["minimal"], true);
    assert!(counterexample["headline"].is_string() && counterexample["sentences"].is_array());
    assert_eq!(holds["verdict"], "holds");
    for (line, [replicas, operations]) in [(violated, [2, 3]), (holds, [1, 1])] {
        assert_eq!((&line["stats"]["replicas"], &line["stats"]["operations"]), (&replicas.into(), &operations.into()));
        assert!(["seconds", "decisions", "conflicts"].iter().all(|name| line["stats"][name].is_number()));
    }
}

#[test]
fn standard_input_and_both_formats() {
    let notation = shell("echo 'a: inc(x) read(x)=0' | isonomy crdt check --type counter -");
    assert_eq!((code(&notation), out(&notation).starts_with("standard input: counter violated")), (1, true));
    let jsonl = r#"{"crdt":1,"type":"counter"}
{"replica":"a","ops":[["inc","x"],["read","x",1]]}"#;
    let read = shell(&format!("echo '{jsonl}' | isonomy crdt check -"));
    assert_eq!(code(&read), 0, "{}", out(&read));
    assert_eq!(code(&isonomy(&["crdt", "check", "-", "-"])), 2);
    let closed = shell("isonomy crdt types | true; isonomy crdt generate --operations 100000 | head -c 1 > /dev/null");
    assert_eq!((code(&closed), err(&closed)), (0, String::new()));
}

/// What is wrong, where, and what was expected.
#[test]
fn bad_input_is_named() {
    let place = Place::new("crdt-bad");
    let rejects = |text: &str, args: &[&str], expected: &[&str]| {
        let file = place.file("bad.crdt", text);
        let output = isonomy(&[&["crdt", "check"], args, &[&file]].concat());
        assert_eq!((code(&output), out(&output)), (2, String::new()), "{text}");
        for part in expected {
            assert!(err(&output).contains(part), "{text}: {}", err(&output));
        }
    };
    rejects("type: or-set\na: add(x", &[], &["bad.crdt: line 2: expected `)`"]);
    rejects("type: or-set\na: push(x)", &[], &["line 2: expected an operation of type or-set", "found `push(x)`"]);
    rejects("type: or-set\na: add(x)", &["--type", "rga"], &["line 1: the history is of type or-set"]);
    rejects("type: set\na: add(x)", &[], &["line 1: no data type is called `set`", "hint:"]);
    rejects("a: add(x)", &[], &["the type of the history is not known: give `--type`"]);
    rejects("{\"replica\":\"a\",\"opps\":[]}", &["--type", "rga"], &["line 1, column", "opps"]);
    rejects("type: rga\na: addAfter(_,x)\nb: addAfter(_,x)", &[], &["line 3: element x is added a second time"]);
    let missing = isonomy(&["crdt", "check", &place.path("absent")]);
    assert_eq!(code(&missing), 2);
    assert!(err(&missing).contains("absent: cannot be read: No such file"), "{}", err(&missing));
    let unknown = isonomy(&["crdt", "check", "--type", "map", "-"]);
    assert!(code(&unknown) == 2 && err(&unknown).contains("there are or-set"), "{}", err(&unknown));
}

#[test]
fn certificates_are_checked_again() {
    let place = Place::new("crdt-certify");
    for (data_type, good, bad) in EXAMPLES {
        for (text, claim) in [(good, "holds"), (bad, "violated")] {
            let history = place.file("history", &format!("type: {data_type} / {text}"));
            let proof = place.path("proof.json");
            isonomy(&["crdt", "check", "--certificate", &proof, &history]);
            let certified = isonomy(&["crdt", "certify", &history, &proof]);
            assert_eq!((code(&certified), out(&certified)), (0, format!("certified: {data_type} {claim}\n")));
        }
    }
}

/// Another history, another witness, no certificate: each is refused, in its own way.
#[test]
fn what_a_certificate_does_not_show_is_rejected() {
    let place = Place::new("crdt-tampered");
    let history = place.file("history", "type: counter\na: inc(x)\nb: read(x)=1 read(x)=1");
    let proof = place.path("proof.json");
    isonomy(&["crdt", "check", "--certificate", &proof, &history]);
    let text = fs::read_to_string(&proof).expect("it was written");
    let mut certificate: Value = serde_json::from_str(&text).expect("it is JSON");
    certificate["evidence"]["witness"]["seen"] = serde_json::json!([[], [], []]);
    let tampered = place.file("tampered.json", &certificate.to_string());
    let rejected = isonomy(&["crdt", "certify", &history, &tampered]);
    assert_eq!(code(&rejected), 1);
    assert!(
        out(&rejected).starts_with("rejected: counter holds: operation 1 would have answered"),
        "{}",
        out(&rejected)
    );
    let told = json(&isonomy(&["crdt", "certify", "--json", &history, &tampered]));
    assert_eq!((&told[0]["certified"], &told[0]["verdict"]), (&false.into(), &"holds".into()));
    certificate["evidence"]["witness"]["seen"] = serde_json::json!([[], [[7, 1]], []]);
    let tampered = place.file("tampered.json", &certificate.to_string());
    assert_eq!(code(&isonomy(&["crdt", "certify", &history, &tampered])), 1);

    let other = place.file("other", "type: counter\na: inc(y)\nb: read(y)=1 read(y)=1");
    let another = isonomy(&["crdt", "certify", &other, &proof]);
    assert!(code(&another) == 2 && err(&another).contains("for another history"), "{}", err(&another));
    let none = place.file("none.json", "{\"verdict\":\"holds\"}");
    let unreadable = isonomy(&["crdt", "certify", &history, &none]);
    assert!(code(&unreadable) == 2 && err(&unreadable).contains("expected a certificate"), "{}", err(&unreadable));
}

#[test]
fn generated_histories_hold() {
    let place = Place::new("crdt-generate");
    for data_type in TYPES {
        for (name, extra) in [("a.crdt", &["--repeated-values"][..]), ("b.jsonl", &["--replicas", "5"][..])] {
            let file = place.path(name);
            let args = [&["crdt", "generate", "--type", data_type, "--seed", "3", "--out", &file], extra].concat();
            assert_eq!(code(&isonomy(&args)), 0);
            let checked = isonomy(&["crdt", "check", &file]);
            assert_eq!(code(&checked), 0, "{}", out(&checked));
        }
    }
    assert!(fs::read_to_string(place.path("b.jsonl")).expect("it was written").starts_with("{\"crdt\":1"));
    let same = |seed| out(&isonomy(&["crdt", "generate", "--seed", seed]));
    assert_eq!(same("5"), same("5"));
    assert_ne!(same("5"), same("6"));
}

#[test]
fn planted_bugs_are_found() {
    let place = Place::new("crdt-bugs");
    let planted = [
        ("lost-update", &["rw-set", "mv-register", "lww-register", "counter", "rga"][..]),
        ("non-causal-delivery", &TYPES),
        ("wrong-tie-break", &["rw-set", "dw-flag", "mv-register", "lww-register", "rga"]),
        ("tombstone-loss", &["rw-set", "dw-flag", "rga"]),
    ];
    for (bug, types) in planted {
        for data_type in types {
            let found = (0..8).any(|seed: u32| {
                let (file, seed) = (place.path("bug.crdt"), seed.to_string());
                let args = ["--type", data_type, "--bug", bug, "--operations", "200", "--seed", &seed, "-o", &file];
                assert_eq!(code(&isonomy(&[&["crdt", "generate"], &args[..]].concat())), 0);
                code(&isonomy(&["crdt", "check", "--timeout", "20s", &file])) == 1
            });
            assert!(found, "{bug} in {data_type}");
        }
    }
    let refused = isonomy(&["crdt", "generate", "--type", "counter", "--bug", "tombstone-loss"]);
    assert!(code(&refused) == 2 && err(&refused).contains("it can have lost-update"), "{}", err(&refused));
}

#[test]
fn hard_histories_are_left_undecided() {
    let place = Place::new("crdt-hard");
    let small = place.path("small.crdt");
    for data_type in ["or-set", "counter", "mv-register"] {
        let args = ["crdt", "generate", "--type", data_type, "--one-in-three", "3,3", "--seed", "2", "-o", &small];
        let told = err(&isonomy(&args));
        let expected = if told.contains("so the history holds") { 0 } else { 1 };
        assert_eq!(code(&isonomy(&["crdt", "check", &small])), expected, "{data_type}: {told}");
    }
    let hard = place.path("hard.crdt");
    isonomy(&["crdt", "generate", "--one-in-three", "200,125", "-o", &hard]);
    for (limit, value, told) in
        [("--timeout", "20ms", "20 ms were not enough"), ("--budget", "50", "50 steps were not")]
    {
        let spent = isonomy(&["crdt", "check", limit, value, &hard]);
        assert_eq!(code(&spent), 3, "{}", out(&spent));
        assert!(out(&spent).contains(told) && out(&spent).contains("NP-complete"), "{}", out(&spent));
        let line = json(&isonomy(&["crdt", "check", "--json", limit, value, &hard]));
        assert_eq!(line[0]["verdict"], "undecided");
        assert!(line[0]["reason"].as_str().is_some_and(|reason| reason.contains(limit)), "{}", line[0]);
    }
    assert_eq!(code(&isonomy(&["crdt", "generate", "--type", "rga", "--one-in-three", "4,5"])), 2);
    assert_eq!(code(&isonomy(&["crdt", "generate", "--one-in-three", "2,5"])), 2);
}

#[test]
fn libraries_are_run_and_checked() {
    let place = Place::new("crdt-run");
    let folder = place.path("found");
    let run = isonomy(&["crdt", "run", "--library", "crdts", "--runs", "3", "--out", &folder]);
    let text = out(&run);
    assert_eq!(code(&run), 1, "{text}");
    for data_type in TYPES {
        assert!(text.lines().any(|line| line.starts_with("crdts") && line.contains(data_type)), "{text}");
    }
    assert!(text.contains("crdts rga, seed 0: violated") && text.contains("isonomy crdt check "), "{text}");
    for entry in fs::read_dir(&folder).expect("it was made") {
        let file = entry.expect("it can be listed").path();
        let told = fs::read_to_string(&file).expect("it was written");
        assert!(told.starts_with("# crdts rga: List") && told.contains("isonomy crdt run"), "{told}");
        assert!(code(&isonomy(&["crdt", "check", file.to_str().expect("names are plain")])) <= 1);
    }
    let lines = json(&isonomy(&["crdt", "run", "--library", "yrs", "--runs", "3", "--delivery", "states", "--json"]));
    assert_eq!(lines.len(), 2);
    for line in lines {
        let sum: u64 = ["holds", "violated", "undecided"].iter().filter_map(|name| line[name].as_u64()).sum();
        assert_eq!((sum, &line["library"]), (3, &"yrs".into()), "{line}");
    }
    let fine = isonomy(&["crdt", "run", "--type", "counter", "--runs", "2"]);
    assert_eq!((code(&fine), out(&fine).lines().count()), (0, 3), "{}", out(&fine));
    let absent = isonomy(&["crdt", "run", "--library", "yrs", "--type", "or-set"]);
    assert!(code(&absent) == 2 && err(&absent).contains("it offers lww-register, rga"), "{}", err(&absent));
}

#[test]
fn help_has_examples() {
    let nothing = isonomy(&["crdt"]);
    assert!(code(&nothing) == 2 && err(&nothing).contains("Usage: isonomy crdt"), "{}", err(&nothing));
    for command in ["check", "certify", "generate", "run", "types"] {
        let help = isonomy(&["crdt", command, "--help"]);
        assert_eq!(code(&help), 0);
        assert!(out(&help).contains(&format!("  isonomy crdt {command}")), "{}", out(&help));
    }
    assert_eq!(json(&isonomy(&["crdt", "types", "--json"])).len(), TYPES.len());
}

#[test]
fn a_full_disk_is_told() {
    let full = shell("isonomy crdt types > /dev/full");
    assert!(code(&full) == 2 && err(&full).contains("standard output: No space left"), "{}", err(&full));
    let full = isonomy(&["crdt", "generate", "-o", "/dev/full"]);
    assert!(code(&full) == 2 && err(&full).contains("/dev/full: No space left"), "{}", err(&full));
}
