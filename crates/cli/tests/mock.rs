//! `isonomy mock`: what it tells, what it refuses, and what is left at its end.

#![cfg(unix)]

mod place;
mod server;

use place::{Place, code, err, isonomy, out};
use server::Mock;

fn post(url: &str, body: &str) -> String {
    ureq::post(url).send(body).expect("the server answers").body_mut().read_to_string().expect("the answer is text")
}

#[test]
fn a_server_tells_its_urls_and_at_the_end_what_happened() {
    let place = Place::new("mock-record");
    let record = place.path("runs/one");
    let args = ["--pg", "0", "--mysql", "127.0.0.1:0", "--http", "localhost:0", "--record", &record, "--level", "ser"];
    let mock = Mock::start(&args, 3);
    let schemes: Vec<&str> = mock.urls.iter().map(|url| url.split(':').next().unwrap()).collect();
    assert_eq!(schemes, ["postgres", "mysql", "http"]);
    assert!(mock.urls[0].starts_with("postgres://isonomy@127.0.0.1:") && mock.urls[0].ends_with("/isonomy"));
    let url = format!("{}transactions", mock.urls[2]);
    assert_eq!(post(&url, r#"{"operations":[["write","x",1]]}"#).trim(), r#"{"values":[null]}"#);
    assert_eq!(post(&url, r#"{"operations":[["read","x"]]}"#).trim(), r#"{"values":[1]}"#);
    let (code_of_end, summary, notes) = mock.stop();
    assert_eq!(code_of_end, 0);
    assert!(summary.contains("2 transactions committed, 0 aborted; 1 read, 0"), "{summary}");
    assert!(notes.contains("level serializable, seed 0") && notes.contains("history.jsonl"), "{notes}");
    let checked = isonomy(&["check", "--level", "serializable", &format!("{record}/history.jsonl")]);
    assert_eq!(code(&checked), 0, "{}", err(&checked));
    let told = out(&isonomy(&["stats", &format!("{record}/history.jsonl")]));
    assert!(told.contains("2 (2 committed)"), "{told}");
}

#[test]
fn addresses_that_others_reach_are_refused() {
    let refused = isonomy(&["mock", "--pg", "0.0.0.0:0"]);
    assert_eq!(code(&refused), 2);
    assert!(err(&refused).contains("--expose"), "{}", err(&refused));
    let mock = Mock::start(&["--pg", "0.0.0.0:0", "--expose"], 1);
    let (_, _, notes) = mock.stop();
    assert!(notes.contains("no password"), "{notes}");
    let mock = Mock::start(&["--http", "0"], 1);
    let (_, port) = mock.address(0);
    let taken = isonomy(&["mock", "--http", &port]);
    assert_eq!(code(&taken), 2);
    assert!(err(&taken).contains(&format!("127.0.0.1:{port}")) && err(&taken).contains("port 0"), "{}", err(&taken));
}

#[test]
fn usage() {
    for wrong in [
        &["--level", "best"][..],
        &["--pg", "nowhere"],
        &["--weirdness", "2"],
        &["--weirdness", "0.5", "--choice", "latest"],
        &["--patience", "soon"],
        &["--record", "/dev/null/x"],
    ] {
        let refused = isonomy(&[&["mock"], wrong].concat());
        assert_eq!(code(&refused), 2, "{wrong:?}");
    }
    let help = out(&isonomy(&["mock", "--help"]));
    assert!(help.contains("Examples:") && help.contains("--stale-connections"), "{help}");
}

#[test]
fn a_password_is_asked_for() {
    let mock = Mock::start(&["--http", "0", "--password", "secret"], 1);
    let url = format!("{}settle", mock.urls[0]);
    let refused = ureq::post(&url).send_empty();
    assert!(matches!(refused, Err(ureq::Error::StatusCode(401))), "{refused:?}");
    let fine = ureq::post(&url).header("Authorization", "Bearer secret").send_empty();
    assert_eq!(fine.unwrap().status(), 200);
}
