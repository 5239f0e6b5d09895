//! Keys and values over HTTP.

mod support;

use std::time::Duration;

use isonomy_history::Outcome;
use isonomy_history::formats::{ReadOptions, Source, read};
use isonomy_store::{Options, StoreLevel};
use isonomy_wire::Limits;
use serde_json::{Value, json};
use support::{Running, newest, start, start_with};

/// What came: the status, and the body as JSON.
struct Answer(u16, Value);

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(20)))
        .build()
        .into()
}

fn post(running: &Running, path: &str, body: &str) -> Answer {
    let url = format!("http://{}{path}", running.http());
    let mut response = agent().post(&url).send(body).unwrap();
    let text = response.body_mut().read_to_string().unwrap();
    Answer(response.status().as_u16(), serde_json::from_str(&text).unwrap_or_else(|_| panic!("{path}: {text}")))
}

#[track_caller]
fn fine(running: &Running, path: &str, body: &str) -> Value {
    let Answer(status, value) = post(running, path, body);
    assert_eq!(status, 200, "{path}: {value}");
    value
}

#[track_caller]
fn refused(running: &Running, path: &str, body: &str, status: u16) -> String {
    let Answer(found, value) = post(running, path, body);
    assert_eq!(found, status, "{path}: {value}");
    value["error"].as_str().expect("errors have a sentence").to_owned()
}

fn session(running: &Running) -> String {
    let value = fine(running, "/sessions", "");
    format!("/sessions/{}", value["session"].as_str().unwrap())
}

#[test]
fn transactions_of_reads_and_writes() {
    let running = start();
    let (a, b) = (session(&running), session(&running));
    fine(&running, &format!("{a}/begin"), "");
    assert_eq!(fine(&running, &format!("{a}/read"), r#"{"key":"x"}"#), json!({"value": null}));
    fine(&running, &format!("{a}/write"), r#"{"key":"x","value":{"deep":[1,2.50,"é"]}}"#);
    assert_eq!(fine(&running, &format!("{a}/read"), r#"{"key":"x"}"#), json!({"value": {"deep": [1, 2.5, "é"]}}));
    fine(&running, &format!("{a}/commit"), "");
    assert_eq!(fine(&running, &format!("{b}/read"), r#"{"key":"x"}"#)["value"]["deep"][0], 1);
    fine(&running, &format!("{b}/begin"), r#"{"level":"causal","choice":"latest"}"#);
    fine(&running, &format!("{b}/write"), r#"{"key":"x","value":null}"#);
    fine(&running, &format!("{b}/rollback"), "");
    assert_ne!(fine(&running, &format!("{b}/read"), r#"{"key":"x"}"#), json!({"value": null}));
    fine(&running, &format!("{b}/write"), r#"{"key":"x","value":null}"#);
    assert_eq!(fine(&running, &format!("{a}/read"), r#"{"key":"x"}"#), json!({"value": null}));
    fine(&running, "/settle", "");
    assert_eq!(running.server.counts().open, 2);
    for session in [a, b] {
        let url = format!("http://{}{session}", running.http());
        assert_eq!(agent().delete(&url).call().unwrap().status(), 200);
    }
    assert_eq!(running.server.counts().open, 0);
}

#[test]
fn whole_transactions_at_once() {
    let running = start();
    let body = r#"{"operations":[["write","x",1],["read","x"],["write","y",12345678901234567890123],["read","z"]]}"#;
    assert_eq!(fine(&running, "/transactions", body), json!({"values": [null, 1, null, null]}));
    let session = session(&running);
    let id = session.trim_start_matches("/sessions/");
    let body = format!(r#"{{"session":"{id}","operations":[["read","y"]],"level":"snapshot-isolation"}}"#);
    let url = format!("http://{}/transactions", running.http());
    let text = agent().post(&url).send(&body).unwrap().body_mut().read_to_string().unwrap();
    assert_eq!(text.trim(), r#"{"values":[12345678901234567890123]}"#, "to the letter");
    refused(&running, "/transactions", r#"{"session":"x","operations":[]}"#, 404);
    let why = refused(&running, "/transactions", r#"{"operations":[["read","x"],["jump"]]}"#, 400);
    assert!(why.starts_with("operation 2"), "{why}");
}

#[test]
fn the_history_tells_all() {
    let running = start();
    fine(&running, "/transactions", r#"{"operations":[["write","x",1]]}"#);
    fine(&running, "/transactions", r#"{"operations":[["read","x"]]}"#);
    let a = session(&running);
    fine(&running, &format!("{a}/begin"), "");
    fine(&running, &format!("{a}/write"), r#"{"key":"x","value":2}"#);
    fine(&running, &format!("{a}/rollback"), "");
    let url = format!("http://{}/history", running.http());
    let lines = agent().get(&url).call().unwrap().body_mut().read_to_vec().unwrap();
    let history = read(Source::Stream(Box::new(std::io::Cursor::new(lines))), ReadOptions::default()).unwrap();
    let outcomes: Vec<Outcome> =
        history.transactions_as_given().iter().map(|&txn| history.record(txn).outcome).collect();
    assert_eq!(outcomes, [Outcome::Committed, Outcome::Committed, Outcome::Aborted]);
}

#[test]
fn errors_say_what_is_wrong() {
    let running = start();
    let a = session(&running);
    for (path, body) in [
        (format!("{a}/read"), ""),
        (format!("{a}/read"), "{"),
        (format!("{a}/read"), r#"{"kee":"x"}"#),
        (format!("{a}/read"), "\u{0}\u{1}"),
        (format!("{a}/write"), r#"{"key":"x"}"#),
        (format!("{a}/write"), r#"{"key":1,"value":1}"#),
        (format!("{a}/begin"), r#"{"level":"best"}"#),
        (format!("{a}/commit"), ""),
        ("/transactions".into(), &"[".repeat(100_000)),
    ] {
        let why = refused(&running, &path, body, 400);
        assert!(why.contains(' '), "{path}: {why}");
    }
    fine(&running, &format!("{a}/begin"), "");
    refused(&running, &format!("{a}/begin"), "", 400);
    refused(&running, "/sessions/none/begin", "", 404);
    refused(&running, "/nowhere", "", 404);
    refused(&running, "/history", "", 405);
    let about = agent().get(format!("http://{}/", running.http())).call().unwrap().body_mut().read_to_string().unwrap();
    assert!(about.contains("POST   /sessions"), "{about}");
}

#[test]
fn conflicts_may_be_tried_again() {
    let options = Options { level: StoreLevel::SnapshotIsolation, concurrent: true, ..newest() };
    let running = start_with(options, Limits::default(), None);
    let sessions = [session(&running), session(&running)];
    for session in &sessions {
        fine(&running, &format!("{session}/begin"), "");
        fine(&running, &format!("{session}/read"), r#"{"key":"x"}"#);
    }
    for (session, status) in sessions.iter().zip([200, 409]) {
        let write = post(&running, &format!("{session}/write"), r#"{"key":"x","value":1}"#).0;
        let commit = post(&running, &format!("{session}/commit"), "").0;
        assert!(write == status || commit == status, "{write} {commit}");
    }
}

#[test]
fn whoever_waits_too_long_is_told() {
    let options = Options { patience: Duration::from_millis(100), ..newest() };
    let running = start_with(options, Limits::default(), None);
    let (a, b) = (session(&running), session(&running));
    fine(&running, &format!("{a}/begin"), "");
    refused(&running, &format!("{b}/begin"), "", 503);
    fine(&running, &format!("{a}/commit"), "");
    fine(&running, &format!("{b}/begin"), "");
}

#[test]
fn abandoned_transactions_are_rolled_back() {
    let limits =
        Limits { abandoned: Duration::from_millis(200), forgotten: Duration::from_secs(2), ..Limits::default() };
    let running = start_with(newest(), limits, None);
    let (a, b) = (session(&running), session(&running));
    fine(&running, &format!("{a}/begin"), "");
    fine(&running, &format!("{a}/write"), r#"{"key":"x","value":1}"#);
    // It waits until the other one is given up.
    fine(&running, &format!("{b}/begin"), "");
    assert_eq!(fine(&running, &format!("{b}/read"), r#"{"key":"x"}"#), json!({"value": null}));
    fine(&running, &format!("{b}/commit"), "");
    let why = refused(&running, &format!("{a}/commit"), "", 409);
    assert!(why.contains("too long"), "{why}");
    fine(&running, &format!("{a}/begin"), "");
    running.wait_for_clients(0);
    refused(&running, &format!("{a}/commit"), "", 404);
}

#[test]
fn passwords_and_limits() {
    let limits = Limits { statement: 1000, connections: 2, ..Limits::default() };
    let running = start_with(newest(), limits, Some("secret"));
    refused(&running, "/sessions", "", 401);
    let url = |path: &str| format!("http://{}{path}", running.http());
    let with = |token: &str, path: &str, body: &str| {
        let request = agent().post(url(path)).header("Authorization", &format!("Bearer {token}"));
        request.send(body).unwrap().status().as_u16()
    };
    assert_eq!(with("wrong", "/sessions", ""), 401);
    let large = format!(r#"{{"operations":[["write","x","{}"]]}}"#, "x".repeat(1000));
    assert_eq!(with("secret", "/transactions", &large), 413);
    assert_eq!([0; 3].map(|_| with("secret", "/sessions", "")), [200, 200, 503]);
}
