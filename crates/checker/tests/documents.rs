//! `docs/anomalies.md` is the table of anomalies and the histories of `corpus/` that are named after them; what `docs/levels.md` says of
//! its examples is what the oracle says.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use isonomy_checker::oracle::holds;
use isonomy_checker::{ANOMALIES, AnomalyInfo, IsolationLevel, Terms};
use isonomy_history::formats::{self, Format, ReadOptions, Source};

const INTRODUCTION: &str = "\
# Anomalies

<!-- Made from the table in `crates/checker/src/anomaly.rs` and the histories in `corpus/`; do not edit. -->

An anomaly is a named pattern that some isolation levels forbid. A verdict `violated` names one. Those that every level forbids
come first. Each is ruled out by the levels named with it, and by all levels that imply one of these ([levels](levels.md)).
Each comes with a small history that shows it, in the notation `hist` ([formats](formats.md#hist)): a line is a
session, brackets are a transaction, `_` is the initial state, `!` means aborted.

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
    writeln!(text, "\n## {}\n\n{}\n", info.name, info.meaning).unwrap();
    match fs::read_to_string(root().join(format!("corpus/{}.hist", info.name))) {
        Ok(history) => {
            let (says, sessions): (Vec<&str>, Vec<&str>) = history.lines().partition(|line| line.starts_with('#'));
            writeln!(text, "```text\n{}\n```\n", sessions.join("\n")).unwrap();
            let says = says.last().and_then(|line| line.strip_prefix("# ")).expect("a history says what it shows");
            writeln!(text, "{says}\n").unwrap();
        }
        Err(_) => {
            let timed = info.rules_out.iter().all(|&level| IsolationLevel::needs_times(level));
            assert!(timed, "corpus/{}.hist is missing", info.name);
            writeln!(text, "It takes times to show it; [levels](levels.md#real-time) has examples.\n").unwrap();
        }
    }
    let aliases: Vec<String> = info.aliases.iter().map(|(catalogue, name)| format!("{name} ({catalogue})")).collect();
    writeln!(text, "- Ruled out by: {}", levels(info)).unwrap();
    writeln!(text, "- Usual cause: {}", info.cause).unwrap();
    writeln!(text, "- Also called: {}", aliases.join("; ")).unwrap();
    writeln!(text, "- See: {}", info.citation).unwrap();
}

#[test]
fn anomalies_are_documented_as_they_are() {
    let path = root().join("docs/anomalies.md");
    let expected = rendered();
    if std::env::var_os("ISONOMY_UPDATE").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == expected,
        "docs/anomalies.md is not what the table and the corpus say; make it anew with \
         `ISONOMY_UPDATE=1 cargo test -p isonomy-checker --test documents`"
    );
}

/// An example is a block that begins `# holds: causal`: the strongest of all levels that can be decided for it.
#[test]
fn examples_of_levels_are_true() {
    let text = fs::read_to_string(root().join("docs/levels.md")).expect("the document is part of the repository");
    let mut examples = 0;
    let mut wrong = String::new();
    for block in text.split("```text\n").skip(1).filter_map(|block| block.split("```").next()) {
        let Some(stated) = block.lines().next().and_then(|line| line.trim().strip_prefix("# holds: ")) else {
            continue;
        };
        let options = ReadOptions { format: Some(Format::Hist), ..ReadOptions::default() };
        let history = formats::read(Source::Stream(Box::new(block.as_bytes())), options)
            .unwrap_or_else(|error| panic!("{error}\n{block}"));
        let found: Vec<IsolationLevel> = IsolationLevel::ALL
            .into_iter()
            .filter(|&level| holds(&history, level, Terms::default()) == Some(true))
            .collect();
        let strongest =
            found.iter().filter(|&&level| !found.iter().any(|&other| other != level && other.implies(level)));
        let names: Vec<&str> = strongest.map(|level| level.name()).collect();
        let names = if names.is_empty() { "none".to_string() } else { names.join(", ") };
        if names != stated {
            writeln!(wrong, "{block}is: # holds: {names}\n").unwrap();
        }
        examples += 1;
    }
    assert!(wrong.is_empty(), "the oracle says otherwise:\n{wrong}");
    assert!(examples > 20, "only {examples} examples were found");
}
