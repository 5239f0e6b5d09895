//! Every history of `corpus/` at every level, against what it says of itself: `# holds: causal` names the strongest levels, the rest
//! follow by [`implies`](isonomy_checker::IsolationLevel::implies); `# anomaly: lost-update` what it shows.
//!
//! The oracle and the checker answer for every level; of those that speak of real time, for histories that have times. The certifier
//! checks the checker.

use std::fs;
use std::path::Path;

use isonomy_checker::certify::certify;
use isonomy_checker::oracle::Oracle;
use isonomy_checker::{ANOMALIES, Anomaly, IsolationLevel as L, Options, Reason, Terms, Verdict, check};
use isonomy_history::History;
use isonomy_history::formats::{self, Format, ReadOptions, Source};

/// In which order levels are asked for the anomaly of a history: the first that is violated names it. Not among them is `adya-si`, which is
/// violated only where `snapshot-isolation` is.
const NAMING: [L; 10] = [
    L::ReadCommitted,
    L::ReadAtomic,
    L::Causal,
    L::Prefix,
    L::SnapshotIsolation,
    L::Serializable,
    L::GeneralizedSi,
    L::StrongSessionSi,
    L::StrongSi,
    L::StrictSerializable,
];

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
        // `None` where the level speaks of times, or of single objects, and the history does not have them.
        let answer = |level: L| {
            let answer = oracle.holds(level, Terms::default());
            assert!(answer.is_some() || level.needs_times(), "{name} is too large");
            answer
        };
        let found: Vec<L> = L::ALL.into_iter().filter(|&level| answer(level) == Some(true)).collect();
        if strongest(&found) != holds {
            let names: Vec<&str> = strongest(&found).into_iter().map(L::name).collect();
            wrong +=
                &format!("{name}: # holds: {}\n", if names.is_empty() { "none".to_string() } else { names.join(", ") });
        }
        // What does not hold is ruled out by something, and what is ruled out does not hold.
        let violated = |&level: &L| answer(level) == Some(false);
        assert_eq!(anomaly.is_some(), L::ALL.iter().any(violated), "{name}: an anomaly is stated iff there is one");
        let ruled_out = |level: &L| anomaly.is_some_and(|anomaly| anomaly.rules_out(*level));
        for level in L::ALL.into_iter().filter(ruled_out) {
            assert_ne!(answer(level), Some(true), "{name}: the stated anomaly rules out {level}");
        }
    }
    assert!(wrong.is_empty(), "the oracle says otherwise:\n{wrong}");
}

#[test]
fn the_checker_agrees() {
    for Entry { name, history, holds, anomaly } in corpus() {
        let mut named = [None; L::ALL.len()];
        for level in L::ALL {
            let verdict = check(&history, level, &Options::default());
            let expected = holds.iter().any(|strong| strong.implies(level));
            match &verdict {
                Verdict::Holds(_) => assert!(expected, "{name}: {level} holds"),
                Verdict::Violated(counterexample) => {
                    assert!(!expected, "{name}: {level} is violated");
                    let found = counterexample.anomaly;
                    // What causal forbids, the table says of levels with session order; others may find it without.
                    let weak = !level.implies(L::Causal) && found.rules_out(L::Causal);
                    assert!(found.rules_out(level) || weak, "{name}: {found} does not rule out {level}");
                    named[level as usize] = Some(found);
                }
                // Where there are no times, there is nothing to hold, either.
                Verdict::Undecided(Reason::NoTimes) if level.needs_times() && !expected => continue,
                Verdict::Undecided(Reason::SeveralObjects) if level == L::Linearizable && !expected => continue,
                Verdict::Undecided(reason) => panic!("{name}: {level}: {reason}"),
            }
            if let Err(flaw) = certify(&history, level, Terms::default(), &verdict) {
                panic!("{name}: {level}: {flaw}\n{verdict:?}");
            }
        }
        let found = NAMING.into_iter().find_map(|level| named[level as usize]);
        assert_eq!(found, anomaly, "{name}: the anomaly of the weakest violated level");
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
    for info in &ANOMALIES {
        assert!(entries.iter().any(|entry| entry.name == info.name), "no history is named after {}", info.name);
    }
}
