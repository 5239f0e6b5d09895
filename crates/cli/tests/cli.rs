//! The contract of the command line: exit codes, JSON, pipes, files.

mod place;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use place::{EXE, Place, code, err, isonomy, json, out, shell};
use serde_json::Value;

/// Satisfies all levels.
const SERIAL: &str = r#"{"session":1,"ops":[["w","x",1]]}
{"session":2,"ops":[["r","x",1],["w","x",2]]}
"#;
/// Violates read-committed.
const ABORTED: &str = r#"{"session":1,"status":"aborted","ops":[["w","x",1]]}
{"session":2,"ops":[["r","x",1]]}
"#;
/// Satisfies read-atomic, not causal.
const CAUSALITY: &str = r#"{"session":1,"ops":[["w","x",1]]}
{"session":2,"ops":[["r","x",1],["w","y",1]]}
{"session":3,"ops":[["r","y",1],["r","x",null]]}
"#;

fn with_input(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(EXE)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    child.stdin.take().expect("it is piped").write_all(input.as_bytes()).expect("the program reads");
    child.wait_with_output().expect("the program ends")
}

#[test]
fn exit_codes_and_their_order() {
    let place = Place::new("codes");
    let (fine, aborted) = (place.file("fine.jsonl", SERIAL), place.file("aborted.jsonl", ABORTED));
    let bad = place.file("bad.jsonl", "{\"session\":1}\n");
    let check = |args: &[&str]| code(&isonomy(&[&["check"], args].concat()));
    assert_eq!(check(&["--level", "causal", &fine]), 0);
    assert_eq!(check(&["--level", "causal", &aborted]), 1);
    assert_eq!(check(&["--level", "causal", &bad]), 2);
    assert_eq!(check(&["--level", "causal", "--timeout", "0ms", &fine]), 3);
    // Asked for by name, what cannot be decided for want of times is undecided; unasked, it is left out.
    assert_eq!(check(&["--level", "strict-serializable", &fine]), 3);
    assert_eq!(check(&[&fine]), 0);
    // 2 over 1 over 3 over 0.
    assert_eq!(check(&["--level", "causal,strict-serializable", &fine]), 3);
    assert_eq!(check(&["--level", "all", &fine, &aborted]), 1);
    assert_eq!(check(&["--level", "causal", &fine, &bad, &aborted]), 2);
    assert_eq!(check(&[&fine, &aborted]), 1);
    assert_eq!(check(&[&fine, &place.path("absent.jsonl")]), 2);
}

#[test]
fn usage_errors_are_two_and_help_is_zero() {
    for args in [
        &["check"][..],
        &["no-such-command"],
        &["check", "--level", "no-such-level", "x"],
        &["check", "--timeout", "5", "x"],
        &["check", "--threads", "0", "x"],
        &["check", "--max", "3", "x"],
        &["check", "-", "-"],
        &["check", "--certificate", "c", "x", "y"],
        &["check", "--svg", "-", "x"],
        &["check", "--dot", "d", "x", "y"],
        &["check", "--html", "-", "x"],
        &["anomalies", "--html", "-"],
        &["anomalies", "G1a", "--html", "g"],
        &["convert", "x"],
        &["convert", "x", "--to", "elle"],
        &["generate", "history", "--preset", "mini", "--events", "3"],
        &["generate", "history", "--reads", "2"],
        &["run", "--db", "no-such-database://localhost/x"],
        &["run", "--isolation", "serializable"],
        &["run", "--db", "sqlite", "--isolation", "chaos"],
        &["run", "--db", "sqlite", "--sessions", "0"],
        &["run", "--html", "-"],
        &[],
    ] {
        let output = isonomy(args);
        assert_eq!((code(&output), out(&output).as_str()), (2, ""), "{args:?}");
        assert!(!err(&output).is_empty(), "{args:?}");
    }
    let unknown = err(&isonomy(&["check", "--level", "no-such-level", "x"]));
    assert!(unknown.starts_with("isonomy: error: ") && unknown.contains("read-committed, read-atomic"), "{unknown}");
    assert!(err(&isonomy(&["run", "--db", "no-such-database://x"])).contains("known are mock:LEVEL, sqlite"));
    for command in
        ["check", "explain", "certify", "convert", "stats", "generate", "run", "card", "mock", "levels", "anomalies"]
    {
        let help = isonomy(&[command, "--help"]);
        assert_eq!(code(&help), 0);
        assert!(out(&help).contains("Examples:"), "{command}");
    }
    let help = out(&isonomy(&["--help"]));
    assert!(help.contains("0 holds, or done; 1 violated; 2 could not run") && help.contains("3 undecided"), "{help}");
}

#[test]
fn json_has_the_fields_of_the_contract() {
    let place = Place::new("json");
    let path = place.file("causality.jsonl", CAUSALITY);
    let output = isonomy(&["check", "--json", "--level", "ra,cc,lin", &path]);
    let lines = json(&output);
    assert_eq!(code(&output), 1);
    let field = |name: &str| lines.iter().map(|line| line[name].clone()).collect::<Vec<Value>>();
    assert_eq!(field("history"), [&*path; 3]);
    assert_eq!(field("level"), ["read-atomic", "causal", "linearizable"]);
    assert_eq!(field("verdict"), ["holds", "violated", "undecided"]);
    assert_eq!(field("anomaly"), [Value::Null, "causality-violation".into(), Value::Null]);
    assert!(lines[1]["counterexample"]["transactions"].as_array().is_some_and(|all| all.len() == 3));
    assert!(lines[2]["reason"].as_str().is_some_and(|reason| reason.contains("times")));
    for line in &lines {
        let stats = &line["stats"];
        assert_eq!([&stats["sessions"], &stats["transactions"], &stats["events"], &stats["keys"]], [3, 3, 5, 2]);
        assert!(stats["seconds"].is_number() && stats["load_seconds"].is_number());
        assert!(stats["stages"]["reads"].is_number());
    }
    // Absent fields are left out.
    let absent = ["anomaly", "reason", "counterexample", "anomalies"];
    assert!(absent.iter().all(|name| lines[0].get(name).is_none()));
}

#[test]
fn without_levels_the_table_ends_with_what_you_got() {
    let place = Place::new("table");
    let output = isonomy(&["check", &place.file("causality.jsonl", CAUSALITY)]);
    assert_eq!(code(&output), 1);
    let text = out(&output);
    assert_eq!(text.lines().last(), Some("you got: read-atomic"), "{text}");
    assert!(text.lines().any(|line| line.starts_with("causal ") && line.contains("causality-violation")), "{text}");
    assert!(!text.contains("linearizable") && !text.contains("strict-serializable"), "{text}");
    let none = out(&isonomy(&["check", &place.file("aborted.jsonl", ABORTED)]));
    assert_eq!(none.lines().last(), Some("you got: none of the levels"), "{none}");
    let stopped = isonomy(&["check", "--timeout", "0ms", &place.file("serial.jsonl", SERIAL)]);
    assert_eq!((code(&stopped), out(&stopped).lines().last()), (3, Some("you got: undecided")));
}

#[test]
fn violations_are_told() {
    let place = Place::new("told");
    let text = out(&isonomy(&["check", "--level", "ra,causal", &place.file("causality.jsonl", CAUSALITY)]));
    assert!(text.contains("causality.jsonl: read-atomic holds ("), "{text}");
    assert!(text.contains("causality.jsonl: causal violated: causality-violation ("), "{text}");
    assert!(text.contains("T(3,1)") && text.contains("(line 3)"), "{text}");
}

#[test]
fn standard_input_and_order_of_results() {
    let place = Place::new("stdin");
    for (input, expected) in [(SERIAL, 0), (CAUSALITY, 1), ("hello\n", 2)] {
        let output = with_input(&["check", "--level", "causal", "-"], input);
        assert_eq!(code(&output), expected);
        assert!(expected < 2 || err(&output).starts_with("isonomy: error: standard input: "));
    }
    let paths: Vec<String> =
        (0..20).map(|i| place.file(&format!("{i}.jsonl"), if i % 3 == 0 { CAUSALITY } else { SERIAL })).collect();
    let mut args = vec!["check", "--json", "--level", "causal", "--threads", "4"];
    args.extend(paths.iter().map(String::as_str));
    let told: Vec<Value> = json(&isonomy(&args)).into_iter().map(|line| line["history"].clone()).collect();
    assert_eq!(told, paths);
}

#[test]
fn bad_files_are_named_and_the_others_go_on() {
    let place = Place::new("bad");
    let fine = place.file("fine.jsonl", SERIAL);
    let bad = place.file("bad.jsonl", "{\"session\":1,\"ops\":[]}\n{\"session\":1,\"ops\":[[\"z\",\"x\",1]]}\n");
    let output = isonomy(&["check", "--level", "causal", &bad, &fine]);
    assert_eq!(code(&output), 2);
    assert!(err(&output).starts_with(&format!("isonomy: error: {bad}: line 2: expected ")), "{}", err(&output));
    assert_eq!(err(&output).lines().count(), 1);
    assert!(out(&output).contains("fine.jsonl: causal holds"));
    let as_other = isonomy(&["check", "--format", "hist", &fine]);
    assert_eq!(code(&as_other), 2);
    let too_large = isonomy(&["check", "--memory", "1K", &fine]);
    assert!(code(&too_large) == 2 && err(&too_large).contains("--memory"), "{}", err(&too_large));
    let stats = isonomy(&["stats", &bad, &fine]);
    assert!(code(&stats) == 2 && out(&stats).contains("fine.jsonl"));
}

/// Jepsen's logs of one register; the places of operations are their times.
#[test]
fn registers_are_linearizable_or_not() {
    let log = |operations: &[(i32, &str)]| {
        let line = |(process, operation): &(i32, &str)| format!("{{:process {process}, {operation}}}\n");
        operations.iter().map(line).collect::<String>()
    };
    let write = [(0, ":type :invoke, :f :write, :value 1"), (0, ":type :ok, :f :write, :value 1")];
    let read = |value| [(9, ":type :invoke, :f :read, :value nil"), (9, value)];
    let cas = |process, kind| [(process, ":type :invoke, :f :cas, :value [1 2]"), (process, kind)];
    let (succeeded, failed) = (":type :ok, :f :cas, :value [1 2]", ":type :fail, :f :cas, :value [1 2]");
    let unknown = ":type :info, :f :cas, :value [1 2]";
    let (one, two) = (read(":type :ok, :f :read, :value 1"), read(":type :ok, :f :read, :value 2"));
    let other = [(5, ":type :invoke, :f :cas, :value [1 3]"), (5, ":type :ok, :f :cas, :value [1 3]")];
    for (parts, anomaly) in [
        (vec![&write, &cas(1, succeeded), &two], None),
        (vec![&write, &cas(1, failed), &one, &cas(2, succeeded), &cas(3, failed), &two], None),
        (vec![&write, &cas(1, unknown), &two], None),
        (vec![&write, &cas(1, unknown), &one], None),
        (vec![&write, &cas(1, succeeded), &one], Some("real-time-violation")),
        (vec![&write, &cas(1, succeeded), &other], Some("lost-update")),
        (vec![&write, &cas(1, failed), &two], Some("aborted-read")),
        (vec![&write, &two], Some("thin-air-read")),
    ] {
        let operations: Vec<(i32, &str)> = parts.into_iter().flatten().copied().collect();
        let output = with_input(&["check", "--json", "--level", "linearizable", "-"], &log(&operations));
        assert_eq!(code(&output), i32::from(anomaly.is_some()), "{operations:?}: {}", err(&output));
        assert_eq!(json(&output)[0]["anomaly"].as_str(), anomaly, "{operations:?}");
    }
    let repeated = log(&[write, cas(1, succeeded), cas(2, succeeded)].concat());
    let output = with_input(&["check", "--level", "linearizable", "-"], &repeated);
    assert_eq!(code(&output), 2);
    assert!(err(&output).contains("every write of a key needs its own value"), "{}", err(&output));
}

#[test]
fn a_closed_pipe_changes_nothing() {
    let place = Place::new("pipe");
    let violated = place.file("causality.jsonl", CAUSALITY);
    let many = format!("{violated} ").repeat(400);
    assert_eq!(code(&shell("isonomy levels | head -n1 >/dev/null")), 0);
    assert_eq!(code(&shell("isonomy anomalies | true")), 0);
    assert_eq!(code(&shell("isonomy --help | true")), 0);
    let checked = format!("isonomy check --json --level all {many} | head -n1 >/dev/null");
    assert_eq!(code(&shell(&checked)), 1);
    let generated = shell("isonomy generate history --txns 20000 --quiet | head -n1 >/dev/null");
    assert_eq!((code(&generated), err(&generated).as_str()), (0, ""));
    let converted =
        format!("isonomy generate history -q -o {0}; isonomy convert {0} --to jsonl | head -c 9", place.path("a.ison"));
    assert_eq!(code(&shell(&converted)), 0);
}

#[test]
fn a_full_disk_is_told() {
    let place = Place::new("full");
    let (fine, ison) = (place.file("fine.jsonl", SERIAL), place.path("fine.ison"));
    assert_eq!(code(&isonomy(&["convert", &fine, "-o", &ison])), 0);
    for command in [
        "--help",
        "levels",
        "anomalies lost-update",
        "run",
        "generate history",
        &format!("check {fine}"),
        &format!("check --json --level causal {fine} {fine}"),
        &format!("stats {fine}"),
        &format!("convert {fine} --to binary"),
    ] {
        let output = shell(&format!("isonomy {command} >/dev/full"));
        assert!(code(&output) == 2 && err(&output).contains("standard output: No space left"), "{}", err(&output));
    }
    // Devices are written to, not replaced.
    let output = isonomy(&["convert", &fine, "-o", "/dev/full", "--to", "hist"]);
    assert!(code(&output) == 2 && err(&output).contains("/dev/full: No space left"), "{}", err(&output));
    let output = isonomy(&["check", "--level", "causal", "--certificate", "/dev/full", &fine]);
    assert!(code(&output) == 2 && out(&output).contains("holds"), "{}", err(&output));
    assert!(!Path::new("/dev/full").metadata().expect("the device is still there").is_file());
}

#[test]
fn certificates_are_checked_again() {
    let place = Place::new("certify");
    for (name, text, expected) in [("serial", SERIAL, 0), ("causality", CAUSALITY, 1), ("aborted", ABORTED, 1)] {
        let (history, proof) = (place.file(&format!("{name}.jsonl"), text), place.path(&format!("{name}.proof")));
        let checked = isonomy(&["check", "--level", "rc,ra,cc", "--certificate", &proof, &history]);
        assert_eq!(code(&checked), expected);
        let certified = isonomy(&["certify", &history, &proof]);
        assert_eq!(code(&certified), 0, "{}", out(&certified));
        assert_eq!(out(&certified).lines().filter(|line| line.starts_with("certified: ")).count(), 3);
    }
    let (serial, proof) = (place.path("serial.jsonl"), place.path("serial.proof"));
    assert!(out(&isonomy(&["certify", &serial, &proof])).contains("certified: causal holds\n"));
    // An order turned around, or a transaction that is not there, is no evidence.
    let genuine = fs::read_to_string(&proof).expect("it was written");
    for order in ["[1,0]", "[0,7]", "[0]"] {
        let tampered = place.file("tampered.proof", &genuine.replace("[0,1]", order));
        let rejected = isonomy(&["certify", &serial, &tampered]);
        assert_eq!(code(&rejected), 1, "{order}");
        assert!(out(&rejected).contains("rejected: causal holds: "), "{}", out(&rejected));
        let lines = json(&isonomy(&["certify", "--json", &serial, &tampered]));
        assert!(lines.iter().all(|line| line["certified"] == false && line["flaw"].is_string()));
    }
    // Of another history, no certificate at all, nothing.
    assert_eq!(code(&isonomy(&["certify", &place.path("causality.jsonl"), &proof])), 2);
    assert_eq!(code(&isonomy(&["certify", &serial, &serial])), 2);
    assert_eq!(code(&isonomy(&["certify", &serial, &place.file("empty", "")])), 2);
    assert_eq!(code(&isonomy(&["certify", &serial, &place.path("absent")])), 2);
    // A history that cannot be read leaves no certificate, and nothing leaves temporary files.
    let bad = place.file("bad.jsonl", "{}\n");
    assert_eq!(code(&isonomy(&["check", "--certificate", &place.path("bad.proof"), &bad])), 2);
    assert!(place.names().iter().all(|name| name != "bad.proof" && !name.ends_with(".tmp")), "{:?}", place.names());
}

#[test]
fn violations_are_drawn() {
    let place = Place::new("draw");
    let (violated, fine) = (place.file("violated.jsonl", CAUSALITY), place.file("fine.jsonl", SERIAL));
    let (svg, dot) = (place.path("a.svg"), place.path("a.dot"));
    let output = isonomy(&["check", "--svg", &svg, "--dot", &dot, &violated]);
    assert_eq!((code(&output), err(&output).as_str()), (1, ""));
    let read = |path: &str| fs::read_to_string(path).expect("it was written");
    // Serializable is violated too; the weakest level says why.
    for text in [read(&svg), read(&dot)] {
        assert!(text.contains("causality-violation") && text.contains("T(3,1)"), "{text}");
    }
    // The order in which levels are asked for does not matter.
    let other = place.path("b.svg");
    assert_eq!(code(&isonomy(&["check", "--level", "ser,cc", "--svg", &other, &violated])), 1);
    assert!(read(&other) == read(&svg), "another counterexample was drawn");
    let none = place.path("none.svg");
    let output = isonomy(&["check", "--svg", &none, &fine]);
    assert!(code(&output) == 0 && err(&output) == format!("nothing is violated: {none} is not written\n"));
    assert_eq!(err(&isonomy(&["check", "--quiet", "--svg", &none, &fine])), "");
    assert!(place.names().iter().all(|name| name != "none.svg" && !name.ends_with(".tmp")), "{:?}", place.names());
    let full = isonomy(&["check", "--level", "causal", "--svg", "/dev/full", &violated]);
    assert!(code(&full) == 2 && out(&full).contains("violated"), "{}", err(&full));
}

#[test]
fn pages_have_all_histories() {
    let place = Place::new("pages");
    let (violated, fine) = (place.file("violated.jsonl", CAUSALITY), place.file("fine.jsonl", SERIAL));
    let (bad, page) = (place.file("bad.jsonl", "{}\n"), place.path("page.html"));
    let read = |path: &str| fs::read_to_string(path).expect("it was written");
    let output = isonomy(&["check", "--html", &page, &violated, &fine]);
    assert_eq!((code(&output), err(&output).as_str()), (1, ""));
    let html = read(&page);
    assert_eq!(html.matches("<article class=\"exhibit\"").count(), 1, "{html}");
    assert!(html.find("violated.jsonl</h2>") < html.find("fine.jsonl</h2>"), "{html}");
    assert!(html.contains("causality-violation</h3>") && html.contains("line 3"), "{html}");
    // Neither the time that it took nor the order in which threads ended is on the page.
    let again = place.path("again.html");
    isonomy(&["check", "--html", &again, "--threads", "1", &violated, &fine]);
    assert!(read(&again) == html, "the same histories gave another page");
    // Without a violation there is still the table; what cannot be read is told.
    assert_eq!(code(&isonomy(&["check", "--html", &page, "--level", "causal", &fine])), 0);
    assert!(read(&page).contains("holds</td>") && !read(&page).contains("<article"));
    assert_eq!(code(&isonomy(&["check", "--html", &page, &bad, &violated])), 2);
    assert!(read(&page).contains("could not be read: ") && read(&page).contains("<article"));
    assert_eq!(code(&isonomy(&["check", "--html", "/dev/full", &fine])), 2);
    let gallery = place.path("gallery.html");
    let output = isonomy(&["anomalies", "--html", &gallery]);
    assert_eq!((code(&output), out(&output).as_str(), err(&output).as_str()), (0, "", ""));
    assert_eq!(read(&gallery).matches("<article class=\"exhibit\"").count(), 26);
    assert!(place.names().iter().all(|name| !name.ends_with(".tmp")), "{:?}", place.names());
}

#[test]
fn conversions_come_back() {
    let place = Place::new("convert");
    let first = place.path("first.jsonl");
    let generated = ["generate", "history", "--txns", "200", "--times", "--aborted", "--indeterminate", "0.1"];
    assert_eq!(code(&isonomy(&[&generated[..], &["-o", &place.path("raw.jsonl")]].concat())), 0);
    let convert = |from: &str, to: &str| {
        let output = isonomy(&["convert", from, "-o", to]);
        assert_eq!(code(&output), 0, "{}", err(&output));
    };
    // `hist` brings transactions into the order of sessions; from then on nothing changes.
    convert(&place.path("raw.jsonl"), &place.path("raw.hist"));
    convert(&place.path("raw.hist"), &first);
    convert(&first, &place.path("a.ison"));
    convert(&place.path("a.ison"), &place.path("b.hist"));
    convert(&place.path("b.hist"), &place.path("last.jsonl"));
    let read = |path: &str| fs::read_to_string(path).expect("it was written");
    assert!(read(&first) == read(&place.path("last.jsonl")), "the history changed on the way");
    let piped = with_input(&["convert", "-", "--to", "jsonl"], &read(&first));
    assert!(out(&piped) == read(&first), "the history changed on the way");
    // What a format cannot hold is refused, and no half file stays.
    let refused = isonomy(&["convert", &first, "-o", &place.path("c.txt")]);
    assert!(code(&refused) == 2 && err(&refused).contains("format text cannot hold"), "{}", err(&refused));
    assert!(place.names().iter().all(|name| name != "c.txt" && !name.ends_with(".tmp")), "{:?}", place.names());
}

#[test]
fn all_anomalies_are_listed() {
    let place = Place::new("all");
    let path = place.file("aborted.jsonl", &(ABORTED.to_string() + "{\"session\":3,\"ops\":[[\"r\",\"x\",1]]}\n"));
    let output = isonomy(&["check", "--level", "causal", "--all-anomalies", "--max", "1", &path]);
    assert_eq!(code(&output), 1);
    let text = out(&output);
    assert!(text.lines().any(|line| line.split_whitespace().eq(["aborted-read", "b", "b", "2"])), "{text}");
    assert!(
        text.contains("T(2,1) read x=1, which T(1,1) wrote; but T(1,1) aborted.") && text.contains("1 more"),
        "{text}"
    );
    let lines = json(&isonomy(&["check", "--json", "--level", "causal", "--all-anomalies", &path]));
    let group = &lines[0]["anomalies"][0];
    assert_eq!([&group["anomaly"], &group["c4"], &group["plume"]], ["aborted-read", "b", "b"]);
    assert_eq!((&group["count"], group["instances"].as_array().map(Vec::len)), (&2.into(), Some(2)));
}

#[test]
fn histories_are_generated_the_same_each_time() {
    let generate = |seed: &str, more: &[&str]| {
        let args =
            ["generate", "history", "--quiet", "--txns", "100", "--keys", "20", "--events", "1..6", "--seed", seed];
        let output = isonomy(&[&args[..], more].concat());
        assert_eq!((code(&output), err(&output).as_str()), (0, ""));
        output.stdout
    };
    assert!(generate("7", &[]) == generate("7", &[]), "one seed, one history");
    assert!(generate("7", &[]) != generate("8", &[]), "the seed matters");
    assert!(generate("7", &["--format", "binary"]) == generate("7", &["--format", "binary"]), "in every format");
    for (anomaly, level) in [("thin-air-read", "rc"), ("fractured-read", "ra"), ("causality-violation", "cc")] {
        let planted = String::from_utf8(generate("7", &["--plant", anomaly])).expect("jsonl is text");
        let output = with_input(&["check", "--json", "--level", level, "-"], &planted);
        assert_eq!((code(&output), &json(&output)[0]["anomaly"]), (1, &anomaly.into()));
    }
    let text = String::from_utf8(generate("7", &[])).expect("jsonl is text");
    assert_eq!(code(&with_input(&["check", "--level", "rc,ra,cc", "-"], &text)), 0);
}

#[test]
fn mini_transactions_have_the_shapes_asked_for() {
    let generate = |more: &[&str]| isonomy(&[&["generate", "history", "--quiet", "--txns", "300"], more].concat());
    let output = generate(&["--preset", "mini", "--shapes", "R1W1=3,R1=1", "--distribution", "hotspot:one/0.2"]);
    assert_eq!((code(&output), err(&output).as_str()), (0, ""));
    let [mut updates, mut hot] = [0; 2];
    for line in json(&output) {
        let events = line["ops"].as_array().expect("there are events");
        let kinds: Vec<&str> = events.iter().filter_map(|event| event[0].as_str()).collect();
        assert!(kinds == ["r"] || (kinds == ["r", "w"] && events[0][1] == events[1][1]), "{line}");
        updates += usize::from(kinds.len() == 2);
        hot += usize::from(events[0][1] == 0);
    }
    assert!((200..250).contains(&updates) && (40..80).contains(&hot), "{updates} {hot}");
    for mix in ["all", "reference", "jepsen", "single-access"] {
        assert_eq!(code(&generate(&["--preset", "d", "--shapes", mix])), 0);
    }
    let wrong = |more: &[&str], expected: &str| {
        let output = generate(more);
        assert!(code(&output) == 2 && err(&output).contains(expected), "{}", err(&output));
    };
    wrong(&["--preset", "mini", "--shapes", "R1X1"], "unknown shape `R1X1`; known are R1, R1R1");
    wrong(&["--preset", "mini", "--shapes", "R1=many"], "expected a whole number");
    wrong(
        &["--preset", "a", "--shapes", "all"],
        "does not apply to preset a; presets of mini-transactions are d, mini",
    );
}

#[test]
fn lightweight_transactions_are_generated() {
    let generate = |more: &[&str]| {
        let args = ["generate", "lwt", "--quiet", "--sessions", "20", "--txns", "300", "--keys", "3"];
        let output = isonomy(&[&args[..], more].concat());
        assert_eq!((code(&output), err(&output).as_str()), (0, ""));
        out(&output)
    };
    let checked = |history: &str| code(&with_input(&["check", "--level", "linearizable", "-"], history));
    let unknown = ["--failed", "0.2", "--indeterminate", "0.2"];
    for (more, expected) in
        [(&[][..], 0), (&["--concurrent", "0"], 0), (&unknown, 0), (&["--missing-link", "--concurrent", "1"], 1)]
    {
        for seed in ["1", "2"] {
            let history = generate(&[&["--seed", seed], more].concat());
            assert_eq!(history.lines().count(), 300);
            assert_eq!(checked(&history), expected, "{more:?}");
        }
    }
    assert!(generate(&["--seed", "7"]) == generate(&["--seed", "7"]), "one seed, one history");
    let output = isonomy(&["generate", "lwt", "--txns", "3", "--keys", "3", "--missing-link"]);
    assert!(code(&output) == 2 && err(&output).contains("more transactions than keys"), "{}", err(&output));
}

#[test]
fn stats_count() {
    let place = Place::new("stats");
    let path = place.file("aborted.jsonl", ABORTED);
    let output = isonomy(&["stats", "--json", &path]);
    let stats = &json(&output)[0];
    assert_eq!(code(&output), 0);
    assert_eq!([&stats["format"], &stats["hottest_key"]["key"]], ["jsonl", "x"]);
    assert_eq!(
        [&stats["transactions"]["aborted"], &stats["transactions"]["counting"], &stats["events"]["read"]],
        [1; 3]
    );
    let text = out(&isonomy(&["stats", &path]));
    assert!(text.contains("2 (1 committed, 1 aborted)"), "{text}");
}

#[test]
fn levels_and_anomalies_are_listed() {
    let levels = json(&isonomy(&["levels", "--json"]));
    let causal = levels.iter().find(|level| level["level"] == "causal").expect("causal is a level");
    assert_eq!(causal["needs_times"], false);
    assert!(out(&isonomy(&["levels"])).contains("strong-session-si"));
    assert!(out(&isonomy(&["anomalies"])).contains("lost-update"));
    assert!(out(&isonomy(&["anomalies", "g1A"])).starts_with("aborted-read\n"));
    assert_eq!(code(&isonomy(&["anomalies", "no-such-anomaly"])), 2);
}

#[test]
fn the_demonstration_finds_a_violation() {
    let place = Place::new("run");
    let output = isonomy(&["run"]);
    let text = out(&output);
    assert_eq!(code(&output), 1, "{text}");
    assert!(text.contains("causal is violated: ") && text.contains("That is how it should end"), "{text}");
    assert!(text.contains("read-atomic holds") && !text.contains("rejected"), "{text}");
    let kept = isonomy(&["run", "--db", "mock:causal", "--level", "causal", "--repeat", "3"]);
    assert_eq!(code(&kept), 0, "{}", out(&kept));
    let saved = place.path("saved.jsonl");
    let again = isonomy(&["run", "--json", "--save", &saved]);
    assert_eq!(json(&again).last().map(|line| line["verdict"].clone()), Some("holds".into()));
    assert_eq!(code(&isonomy(&["check", "--level", "causal", &saved])), 1);
    assert_eq!(code(&isonomy(&["check", "--level", "ra", &saved])), 0);
}

#[test]
fn colours_are_as_asked() {
    let place = Place::new("colour");
    let path = place.file("serial.jsonl", SERIAL);
    assert!(!out(&isonomy(&["check", &path])).contains('\x1b'));
    assert!(out(&isonomy(&["check", "--color", "always", &path])).contains("\x1b[32mholds\x1b[0m"));
    let colours = Command::new(EXE).args(["check", "--color", "never", &path]).output().expect("the program runs");
    assert!(!out(&colours).contains('\x1b'));
}

/// The project's own outside check, where it is at hand.
#[test]
fn the_outside_check_passes() {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");
    let shared = std::env::var("ISONOMY_SHARED").unwrap_or_else(|_| beside.into());
    let check = Path::new(&shared).join("checks/contract");
    if !check.exists() {
        let _ = writeln!(std::io::stderr(), "{} is not here: not run", check.display());
        return;
    }
    let output = Command::new(check).arg(EXE).output().expect("the check runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
