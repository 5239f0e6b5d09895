//! The command `mock bench`.

mod place;

use place::{code, err, isonomy, json, out};

#[test]
fn weak_levels_break_what_serializable_keeps() {
    let output = isonomy(&["mock", "bench", "--app", "stack,voter", "--level", "cc,ser", "--runs", "20", "--json"]);
    assert_eq!(code(&output), 0, "{}", err(&output));
    let lines = json(&output);
    assert_eq!(lines.len(), 4);
    for line in &lines {
        let broken = line["broken"].as_u64().expect("a number");
        assert_eq!(broken > 0, line["level"] == "causal", "{line}");
        assert_eq!(broken > 0, line["runs_to_failure"].is_number(), "{line}");
        assert_eq!(line["runs"], 20);
    }
}

#[test]
fn a_table_has_a_row_for_each_assertion() {
    let output =
        isonomy(&["mock", "bench", "--app", "courseware", "--level", "causal", "--sessions", "2,3", "--runs", "5"]);
    let table = out(&output);
    assert_eq!(table.lines().filter(|line| line.starts_with("overflow ")).count(), 2, "{table}");
    assert_eq!(table.lines().filter(|line| line.starts_with("removed-course ")).count(), 2, "{table}");

    let output = isonomy(&["mock", "bench", "--app", "bank"]);
    assert_eq!(code(&output), 2);
    assert!(err(&output).contains("smallbank"), "{}", err(&output));
}

#[test]
fn coverage_counts_states() {
    let coverage = ["mock", "bench", "--coverage", "--harnesses", "3", "--runs", "100", "--limit", "500", "--json"];
    let lines = json(&isonomy(&[&coverage[..], &["--app", "twitter", "--level", "causal"]].concat()));
    assert_eq!((&lines[0]["harnesses"], lines.len()), (&3.into(), 1));
    let share = lines[0]["share"].as_f64().expect("a number");
    assert!(share > 0.9, "{share}");

    let output = isonomy(&[&coverage[..], &["--app", "tpcc"]].concat());
    assert_eq!(code(&output), 2);
}
