//! The command `card`.

mod place;

use place::{code, err, isonomy, json, out};

#[test]
fn cards_are_tables_or_lines() {
    let output = isonomy(&["card", "--db", "mock"]);
    assert_eq!(code(&output), 0, "{}", err(&output));
    let table = out(&output);
    assert!(table.contains("snapshot-isolation") && table.contains("write-skew") && table.contains("shows"), "{table}");

    let output = isonomy(&["card", "--db", "mock:serializable", "--json"]);
    assert_eq!(code(&output), 0, "{}", err(&output));
    let cards = json(&output);
    assert_eq!(cards.len(), 15);
    for card in &cards {
        assert_eq!(card["isolation"], "serializable");
        assert_eq!(card["broken_promise"], false);
        // Serializability says nothing of real time.
        assert!(card["result"] != "shows" || card["scenario"] == "stale-read", "{card}");
        assert!(!card["steps"].as_array().expect("steps are a list").is_empty());
    }
}

#[test]
fn one_scenario_is_told_step_by_step() {
    let output = isonomy(&["card", "--db", "mock:prefix", "--scenario", "lost-update"]);
    let told = out(&output);
    assert!(told.contains("2  begin") && told.contains("read 1") && told.contains("commit"), "{told}");

    let output = isonomy(&["card", "--db", "mock", "--scenario", "phantasm"]);
    assert_eq!(code(&output), 2);
    assert!(err(&output).contains("phantom"), "{}", err(&output));
    let output = isonomy(&["card", "--db", "cluster:oracle"]);
    assert_eq!(code(&output), 2);
    assert!(err(&output).contains("galera"), "{}", err(&output));
}
