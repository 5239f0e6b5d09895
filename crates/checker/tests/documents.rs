//! `docs/levels.md`: what it says of its examples is what the oracle says.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use isonomy_checker::oracle::holds;
use isonomy_checker::{IsolationLevel, Terms};
use isonomy_history::formats::{self, Format, ReadOptions, Source};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
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
