//! `isonomy run`: what is kept, and what is left when a run is stopped, killed, or out of space.

#![cfg(unix)]

mod place;

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use place::{EXE, Place, code, err, isonomy, json, out, shell};
use serde_json::Value;

fn spawn(args: &[&str]) -> Child {
    Command::new(EXE).args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs")
}

/// Waits until a file is there and has so many bytes.
fn wait_for(path: &PathBuf, bytes: u64) {
    let began = Instant::now();
    while fs::metadata(path).map_or(0, |found| found.len()) < bytes {
        assert!(began.elapsed() < Duration::from_secs(60), "{} does not grow", path.display());
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn runs_are_kept_with_all_that_is_needed_to_repeat_them() {
    let place = Place::new("kept");
    let (runs, page, tests) = (place.path("runs"), place.path("page.html"), place.path("tests.xml"));
    let output = isonomy(&[
        "run",
        "--db",
        "sqlite",
        "--workload",
        "mini",
        "--keys",
        "20",
        "--sessions",
        "3",
        "--txns",
        "200",
        "--seed",
        "7",
        "--delay",
        "100us",
        "--repeat",
        "2",
        "--out",
        &runs,
        "--html",
        &page,
        "--junit",
        &tests,
        "--json",
    ]);
    assert_eq!(code(&output), 0, "{}", err(&output));
    let lines = json(&output);
    let told: Vec<&Value> = lines.iter().filter(|line| line["run"].is_number()).collect();
    assert_eq!(told.iter().map(|run| run["seed"].as_u64()).collect::<Vec<_>>(), [Some(7), Some(8)]);
    let serializable: Vec<&Value> = lines.iter().filter(|line| line["level"] == "serializable").collect();
    assert!(serializable.len() == 2 && serializable.iter().all(|line| line["verdict"] == "holds"));
    for seed in ["seed-7", "seed-8"] {
        let folder = place.0.join("runs").join(seed);
        let mut names: Vec<_> = fs::read_dir(&folder)
            .expect("the folder is there")
            .map(|entry| entry.expect("readable").file_name())
            .collect();
        names.sort();
        assert_eq!(names, ["history.jsonl", "report.json", "report.txt", "run.json"]);
        let report: Value =
            serde_json::from_str(&fs::read_to_string(folder.join("report.json")).expect("text")).expect("JSON");
        assert_eq!(report["committed"], 200);
        assert_eq!(report["database"]["product"], "SQLite");
        assert_eq!(report["verdicts"][0]["verdict"], "holds");
        assert!(report["command"].as_str().is_some_and(|command| command.contains("--workload mini --keys 20")));
        assert!(report["got"].as_array().is_some_and(|got| !got.is_empty()));
        let told = fs::read_to_string(folder.join("report.txt")).expect("text");
        assert!(told.contains("serializable holds") && told.contains("you got: "), "{told}");
        let checked = isonomy(&["check", "--level", "ser", folder.to_str().expect("text")]);
        assert_eq!((code(&checked), err(&checked).as_str()), (0, ""));
    }
    let page = fs::read_to_string(page).expect("the page is there");
    assert!(page.contains("Run 2, seed 8") && page.contains("<strong>serializable</strong>"), "{page}");
    let tests = fs::read_to_string(tests).expect("the results are there");
    assert_eq!(tests.matches("<testcase classname=\"SQLite ").count(), 2, "{tests}");
    // The same seed once more: nothing is overwritten.
    let again = isonomy(&["run", "--db", "sqlite", "--txns", "20", "--seed", "7", "--out", &runs]);
    assert!(code(&again) == 0 && out(&again).contains("seed-7-2"), "{}", out(&again));
}

#[test]
fn a_level_that_is_not_given_is_found_out() {
    let place = Place::new("until");
    let (page, tests) = (place.path("page.html"), place.path("tests.xml"));
    let output = isonomy(&[
        "run",
        "--db",
        "mock:snapshot-isolation",
        "--level",
        "si,ser",
        "--until",
        "violation",
        "--txns",
        "500",
        "--html",
        &page,
        "--junit",
        &tests,
    ]);
    let text = out(&output);
    assert_eq!(code(&output), 1, "{text}");
    assert!(
        text.contains("serializable is violated: ") && text.contains("No run violated snapshot-isolation"),
        "{text}"
    );
    assert!(text.contains("you got: ") && !text.contains("rejected"), "{text}");
    assert!(fs::read_to_string(page).expect("the page is there").contains("<svg"));
    let tests = fs::read_to_string(tests).expect("the results are there");
    assert!(tests.contains("<failure message=\"serializable is violated: "), "{tests}");
    // Without --level it is what the store promises.
    let kept = isonomy(&["run", "--db", "mock", "--isolation", "prefix", "--txns", "300", "--delay", "50us"]);
    assert!(code(&kept) == 0 && out(&kept).contains("does it give prefix?"), "{}", out(&kept));
}

#[test]
fn a_run_that_is_killed_leaves_a_true_history() {
    let place = Place::new("killed");
    let sqlite = format!("sqlite:{}", place.path("some.db"));
    for (number, (db, level)) in [
        ("mock:strict-serializable", "strict-serializable"),
        ("mock:snapshot-isolation", "snapshot-isolation"),
        ("mock:read-committed", "read-committed"),
        (&sqlite, "serializable"),
    ]
    .into_iter()
    .cycle()
    .take(8)
    .enumerate()
    {
        let runs = place.path(&format!("runs-{number}"));
        let args = [
            "run",
            "--db",
            db,
            "--workload",
            "mini",
            "--keys",
            "4",
            "--sessions",
            "8",
            "--duration",
            "60s",
            "--out",
            &runs,
        ];
        let mut child = spawn(&args);
        let folder = place.0.join(format!("runs-{number}/seed-4"));
        wait_for(&folder.join("history.jsonl"), 100_000 + 30_000 * number as u64);
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        assert!(folder.join("history.pending").is_file() && folder.join("run.json").is_file());
        let folder = folder.to_str().expect("text");
        let checked = isonomy(&["check", "--level", level, folder]);
        assert_eq!(code(&checked), 0, "{db}: {}{}", out(&checked), err(&checked));
        assert!(err(&checked).contains("its recorder did not come to its end"), "{}", err(&checked));
    }
}

#[test]
fn ctrl_c_ends_a_run_and_what_it_has_is_checked() {
    let place = Place::new("interrupted");
    let runs = place.path("runs");
    let args =
        ["run", "--db", "mock:causal", "--workload", "mini", "--duration", "60s", "--repeat", "5", "--out", &runs];
    let began = Instant::now();
    let child = spawn(&[&args[..], &["--think", "1ms"]].concat());
    wait_for(&place.0.join("runs/seed-4/history.jsonl"), 20_000);
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs").success());
    let output = child.wait_with_output().expect("it ends");
    let text = out(&output);
    assert_eq!(code(&output), 0, "{text}{}", err(&output));
    assert!(text.contains("stopped: what was recorded") && text.contains("No run violated causal"), "{text}");
    assert!(began.elapsed() < Duration::from_secs(40));
    assert!(!place.0.join("runs/seed-4/history.pending").exists() && !place.0.join("runs/seed-5").exists());
}

#[test]
fn a_full_disk_stops_a_run_and_what_it_has_can_be_checked() {
    let place = Place::new("run-full");
    let runs = place.path("runs");
    // A limit of the size of files does what a full disk does: a part of a line is written, and then an error comes.
    let output = shell(&format!(
        "trap '' XFSZ; ulimit -f 100; isonomy run --db mock:serializable --workload mini --duration 60s --out {runs}"
    ));
    let message = err(&output);
    assert_eq!(code(&output), 2, "{message}");
    assert!(
        message.contains("history.jsonl: File too large") && message.contains("until then is complete"),
        "{message}"
    );
    let folder = place.path("runs/seed-4");
    assert!(message.contains(&format!("isonomy check {folder}")), "{message}");
    let history = fs::read(place.0.join("runs/seed-4/history.jsonl")).expect("the history is there");
    assert!(history.len() > 50_000 && history.ends_with(b"}\n"), "a partial line is cut off");
    let checked = isonomy(&["check", "--level", "ser", &folder]);
    assert_eq!(code(&checked), 0, "{}{}", out(&checked), err(&checked));
}
