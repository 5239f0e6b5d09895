//! Every history of `corpus/` at every level, against what it says of itself: `# holds: causal` names the strongest levels, the rest
//! follow by [`implies`](isonomy_checker::IsolationLevel::implies); `# anomaly: lost-update` what it shows.
//!
//! The oracle answers for all six levels that need no times, the checker for those that it decides, and the certifier checks it.

use std::fs;
use std::path::Path;

use isonomy_checker::certify::certify;
use isonomy_checker::oracle::Oracle;
use isonomy_checker::{Anomaly, IsolationLevel as L, Options, Terms, Verdict, check};
use isonomy_history::History;
use isonomy_history::formats::{self, Format, ReadOptions, Source};

const LEVELS: [L; 6] = [L::ReadCommitted, L::ReadAtomic, L::Causal, L::Prefix, L::SnapshotIsolation, L::Serializable];
const WEAK: [L; 3] = [L::ReadCommitted, L::ReadAtomic, L::Causal];

struct Entry {
    name: String,
    history: History,
    holds: Vec<L>,
    anomaly: Option<Anomaly>,
}

/// All files, sorted by name.
fn corpus() -> Vec<Entry> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .expect("the corpus is part of the repository")
        .map(|entry| entry.expect("it can be listed").file_name().into_string().expect("names are plain"))
        .filter(|name| name.ends_with(".hist"))
        .collect();
    names.sort();
    names.into_iter().map(|name| read(&folder, &name)).collect()
}

fn read(folder: &Path, name: &str) -> Entry {
    let text = fs::read_to_string(folder.join(name)).expect("it can be read");
    let field = |field: &str| text.lines().find_map(|line| line.strip_prefix(&format!("# {field}: ")));
    let parsed = |text: &str| text.parse().unwrap_or_else(|error| panic!("{name}: {error}"));
    let holds = match field("holds") {
        Some("none") => Vec::new(),
        Some(levels) => levels.split(", ").map(parsed).collect(),
        None => panic!("{name} does not say `# holds: …`"),
    };
    let anomaly = field("anomaly").map(|anomaly| anomaly.parse().unwrap_or_else(|error| panic!("{name}: {error}")));
    assert_eq!(formats::detect(text.as_bytes()), Some(Format::Hist), "{name}");
    let history = formats::read(Source::Stream(Box::new(text.as_bytes())), ReadOptions::default());
    let history = history.unwrap_or_else(|error| panic!("{name}: {error}"));
    Entry { name: name.trim_end_matches(".hist").to_string(), history, holds, anomaly }
}

/// The strongest of the levels that hold.
fn strongest(levels: &[L]) -> Vec<L> {
    let weaker = |level: &L| levels.iter().any(|other| other != level && other.implies(*level));
    levels.iter().copied().filter(|level| !weaker(level)).collect()
}

#[test]
fn the_oracle_agrees() {
    let mut wrong = String::new();
    for Entry { name, history, holds, anomaly } in corpus() {
        let oracle = Oracle::new(&history);
        let answer = |level| oracle.holds(level, Terms::default()).unwrap_or_else(|| panic!("{name} is too large"));
        let found: Vec<L> = LEVELS.into_iter().filter(|&level| answer(level)).collect();
        let stated: Vec<L> =
            LEVELS.into_iter().filter(|&level| holds.iter().any(|strong| strong.implies(level))).collect();
        if found != stated || strongest(&found) != holds {
            let names: Vec<&str> = strongest(&found).into_iter().map(L::name).collect();
            wrong +=
                &format!("{name}: # holds: {}\n", if names.is_empty() { "none".to_string() } else { names.join(", ") });
        }
        // What does not hold is ruled out by something, and what is ruled out does not hold.
        assert_eq!(
            anomaly.is_some(),
            !found.contains(&L::Serializable),
            "{name}: an anomaly is stated iff there is one"
        );
        let ruled_out = |level: &L| anomaly.is_some_and(|anomaly| anomaly.rules_out(*level));
        for level in LEVELS.into_iter().chain([L::AdyaSi]).filter(ruled_out) {
            assert!(!answer(level), "{name}: whether {level} holds, which the stated anomaly rules out");
        }
    }
    assert!(wrong.is_empty(), "the oracle says otherwise:\n{wrong}");
}

#[test]
fn the_checker_agrees() {
    for Entry { name, history, holds, anomaly } in corpus() {
        let mut weakest = None;
        for level in WEAK {
            let verdict = check(&history, level, &Options::default());
            if let Err(flaw) = certify(&history, level, Terms::default(), &verdict) {
                panic!("{name}: {level}: {flaw}\n{verdict:?}");
            }
            let expected = holds.iter().any(|strong| strong.implies(level));
            match verdict {
                Verdict::Holds(_) => assert!(expected, "{name}: {level} holds"),
                Verdict::Violated(counterexample) => {
                    assert!(!expected, "{name}: {level} is violated");
                    let found = counterexample.anomaly;
                    assert!(found.rules_out(level), "{name}: {found} does not rule out {level}");
                    weakest = weakest.or(Some(found));
                }
                Verdict::Undecided(reason) => panic!("{name}: {level}: {reason}"),
            }
        }
        // Anomalies that causal allows are for other checkers to name.
        let stated = anomaly.filter(|anomaly| WEAK.into_iter().any(|level| anomaly.rules_out(level)));
        assert_eq!(weakest, stated, "{name}: the anomaly of the weakest violated level");
    }
}

#[test]
fn names_are_kebab_case_and_anomalies_have_their_own() {
    let entries = corpus();
    for Entry { name, .. } in &entries {
        assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'), "{name}");
    }
    for Entry { name, anomaly, .. } in &entries {
        if let Ok(named) = name.parse::<Anomaly>() {
            assert_eq!(*anomaly, Some(named), "{name}");
        }
    }
}
