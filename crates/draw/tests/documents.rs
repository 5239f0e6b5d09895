//! `docs/anomalies.md` is the table of anomalies, the histories of `corpus/` that are named after them, and their drawings; `docs/gallery.html` is the
//! same to step through.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use isonomy_checker::{ANOMALIES, AnomalyInfo, IsolationLevel, Options, Verdict, check};
use isonomy_draw::{Drawing, gallery};
use isonomy_history::formats::{self, Format, ReadOptions, Source};

const INTRODUCTION: &str = "\
# Anomalies

<!-- Made from the table in `crates/checker/src/anomaly.rs` and the histories in `corpus/`; do not edit. -->

An anomaly is a named pattern that some isolation levels forbid. A verdict `violated` names one. Those that every level forbids
come first. Each is ruled out by the levels named with it, and by all levels that imply one of these ([levels](levels.md)).
Each comes with a small history that shows it, in the notation `hist` ([formats](formats.md#hist)): a line is a
session, brackets are a transaction, `_` is the initial state, `!` means aborted, `@` is when it ran. The drawings are what `isonomy check --svg` makes of
these histories.

The letters of the two catalogues by the authors of C4 differ: `C4` names the twelve patterns of the paper, `Plume` the fourteen of its
successor.

";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn rendered() -> String {
    let mut text = INTRODUCTION.to_string();
    text += "| anomaly | ruled out by |\n| --- | --- |\n";
    for info in &ANOMALIES {
        writeln!(text, "| [{0}](#{0}) | {1} |", info.name, levels(info)).unwrap();
    }
    for info in &ANOMALIES {
        section(&mut text, info);
    }
    text
}

fn levels(info: &AnomalyInfo) -> String {
    info.rules_out.iter().map(|level| format!("`{level}`")).collect::<Vec<_>>().join(", ")
}

fn section(text: &mut String, info: &AnomalyInfo) {
    let history = example(info);
    let (says, sessions): (Vec<&str>, Vec<&str>) = history.lines().partition(|line| line.starts_with('#'));
    let says = says.last().and_then(|line| line.strip_prefix("# ")).expect("a history says what it shows");
    writeln!(text, "\n## {}\n\n{}\n", info.name, info.meaning).unwrap();
    writeln!(text, "```text\n{}\n```\n\n{says}\n", sessions.join("\n")).unwrap();
    writeln!(text, "![{0}, drawn: {says}](anomalies/{0}.svg)\n", info.name).unwrap();
    let aliases: Vec<String> = info.aliases.iter().map(|(catalogue, name)| format!("{name} ({catalogue})")).collect();
    writeln!(text, "- Ruled out by: {}", levels(info)).unwrap();
    writeln!(text, "- Usual cause: {}", info.cause).unwrap();
    writeln!(text, "- Also called: {}", aliases.join("; ")).unwrap();
    writeln!(text, "- See: {}", info.citation).unwrap();
}

fn example(info: &AnomalyInfo) -> String {
    let path = format!("corpus/{}.hist", info.name);
    fs::read_to_string(root().join(&path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The drawing of an anomaly's example, at a level that calls it so.
fn drawn(info: &AnomalyInfo) -> String {
    let text = example(info);
    let options = ReadOptions { format: Some(Format::Hist), ..ReadOptions::default() };
    let history = formats::read(Source::Stream(Box::new(text.as_bytes())), options).expect("the corpus is well formed");
    let counterexample = IsolationLevel::ALL.into_iter().find_map(|level| {
        let Verdict::Violated(found) = check(&history, level, &Options::default()) else { return None };
        (found.anomaly == info.anomaly).then_some(found)
    });
    Drawing::new(&history, &counterexample.expect("the example shows the anomaly")).svg()
}

/// Compares a document with what it should be, and writes it first if asked to.
fn compare(path: &str, expected: &str) {
    let file = root().join(path);
    if std::env::var_os("ISONOMY_UPDATE").is_some() {
        fs::create_dir_all(file.parent().expect("documents are in a folder")).unwrap();
        fs::write(&file, expected).unwrap();
    }
    assert!(
        fs::read_to_string(&file).unwrap_or_default() == expected,
        "{path} is not what the table and the corpus say; make it anew with \
         `ISONOMY_UPDATE=1 cargo test -p isonomy-draw --test documents`"
    );
}

#[test]
fn anomalies_are_documented_as_they_are() {
    compare("docs/anomalies.md", &rendered());
}

#[test]
fn anomalies_are_drawn() {
    for info in &ANOMALIES {
        compare(&format!("docs/anomalies/{}.svg", info.name), &drawn(info));
    }
    let files = fs::read_dir(root().join("docs/anomalies")).unwrap().count();
    assert_eq!(files, ANOMALIES.len(), "docs/anomalies has drawings of something else");
}

#[test]
fn the_gallery_is_as_it_is() {
    let html = gallery(|info| example(info).into()).html();
    assert!(html.len() < 1 << 20, "{} bytes are too many to keep", html.len());
    compare("docs/gallery.html", &html);
}
