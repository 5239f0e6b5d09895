//! What is recorded can be read, whenever the recorder was stopped.

mod place;

use std::fs;
use std::io::Write;
use std::path::Path;

use isonomy_driver::Recorder;
use isonomy_driver::recorder::{leftover, recover};
use isonomy_history::formats::{ReadOptions, Source, read};
use isonomy_history::{History, Outcome};
use place::Place;

fn load(path: &Path) -> History {
    let file = fs::File::open(path).expect("the history is there");
    read(Source::Stream(Box::new(file)), ReadOptions::default()).expect("the history is well formed")
}

fn outcomes(history: &History) -> Vec<(String, Outcome, usize)> {
    let mut all: Vec<_> = history
        .transactions()
        .map(|txn| {
            let record = history.record(txn);
            (record.session.to_string(), record.outcome, record.events.len())
        })
        .collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

#[test]
fn all_events_come_back() {
    let place = Place::new("events");
    let path = place.path("history.jsonl");
    let recorder = Recorder::create(&path).expect("the folder is writable");
    let mut session = recorder.session("a \"quoted\",\"txn\":7 name");
    session.begin();
    session.read(1, None::<i64>);
    session.write(1, 10).expect("recorded");
    session.append("list", 1).expect("recorded");
    session.read_list("list", [1]);
    session.insert(5, 50).expect("recorded");
    session.delete(6, -60).expect("recorded");
    session.range(1, 9, [(1, 10), (5, 50), (6, -60)]);
    session.compare_and_set(7, None::<i64>, 70).expect("recorded");
    session.compared(true);
    session.compare_and_set(8, 80, 81).expect("recorded");
    session.compared(false);
    session.committing().expect("recorded");
    session.committed().expect("recorded");
    session.begin();
    session.write("text", "value").expect("recorded");
    session.aborted().expect("recorded");
    drop(session);
    assert!(leftover(&path).expect("readable").open.is_empty(), "all that is pending has ended");
    recorder.finish().expect("removed");
    assert_eq!(fs::read_dir(&place.0).expect("readable").count(), 1, "nothing is left beside");

    let history = load(&path);
    let records: Vec<_> = history.transactions().map(|txn| history.record(txn)).collect();
    assert_eq!(records.len(), 2);
    assert_eq!(records[0].events.len(), 9);
    assert!(format!("{:?}", records[0].events[8]).contains("succeeded: false"));
    let times = records[0].times.in_order();
    assert!(times.iter().all(Option::is_some) && times.is_sorted(), "{times:?}");
    assert_eq!(records[1].outcome, Outcome::Aborted);
}

#[test]
fn what_was_open_is_found() {
    let place = Place::new("open");
    let path = place.path("history.jsonl");
    let recorder = Recorder::create(&path).expect("the folder is writable");
    let mut sessions: Vec<_> = (0..4).map(|name| recorder.session(name)).collect();
    for (number, session) in sessions.iter_mut().enumerate() {
        session.begin();
        session.write(number as i64, 1).expect("recorded");
        session.committing().expect("recorded");
        session.committed().expect("recorded");
        session.begin();
        session.read(0, 1);
        if number > 0 {
            session.write(100 + number as i64, 2).expect("recorded");
        }
        if number == 2 {
            session.committing().expect("recorded");
        }
        // One outgrows its slot, twice.
        for key in 0..if number == 3 { 2000 } else { 0 } {
            session.write(1000 + key, 3).expect("recorded");
        }
    }
    // As a kill would: nobody says goodbye.
    sessions.into_iter().for_each(std::mem::forget);
    drop(recorder);
    fs::OpenOptions::new().append(true).open(&path).expect("there").write_all(b"{\"session\":1,\"t").expect("written");

    let left = leftover(&path).expect("readable");
    assert_eq!((left.cut, left.open.len()), (15, 3));
    let mut whole = String::new();
    std::io::Read::read_to_string(&mut left.read(&path).expect("readable"), &mut whole).expect("text");
    assert_eq!(recover(&path).expect("recovered"), left);
    assert_eq!(fs::read_to_string(&path).expect("text"), whole, "reading and recovering agree");
    assert!(recover(&path).expect("again").is_nothing());
    let (c, i) = (Outcome::Committed, Outcome::Indeterminate);
    let expected = [("0", c, 1), ("1", c, 1), ("1", i, 2), ("2", c, 1), ("2", i, 2), ("3", c, 1), ("3", i, 2002)];
    let expected: Vec<_> = expected.into_iter().map(|(name, outcome, events)| (name.into(), outcome, events)).collect();
    assert_eq!(outcomes(&load(&path)), expected);
}

#[test]
fn slots_are_used_again() {
    let place = Place::new("slots");
    let path = place.path("history.jsonl");
    let recorder = Recorder::create(&path).expect("the folder is writable");
    for name in 0..100 {
        let mut session = recorder.session(name);
        session.begin();
        session.write(name, 1).expect("recorded");
        // The last leaves in the middle.
        if name < 99 {
            session.unknown().expect("recorded");
        }
    }
    assert!(fs::metadata(place.path("history.pending")).expect("there").len() <= 4096);
    let left = leftover(&path).expect("readable");
    assert!(left.is_nothing(), "{left:?}");
    assert_eq!(outcomes(&load(&path)).len(), 100);
}

#[test]
fn a_place_that_takes_nothing_is_told() {
    let error = Recorder::create("/dev/full").expect_err("the device is full");
    assert!(error.to_string().contains("/dev/full: No space left"), "{error}");
    assert!(Recorder::create("/nonexistent/history.jsonl").is_err());
}

#[test]
fn a_recorder_of_nothing_leaves_no_file() {
    let recorder = Recorder::of_nothing();
    let mut session = recorder.session(1);
    let began = session.begin();
    session.read(7, None::<i64>);
    session.write(7, 1).expect("nothing is written");
    session.compare_and_set(7, 1, 2).expect("nothing is written");
    session.compared(false);
    session.committing().expect("nothing is written");
    assert!(session.committed().expect("nothing is written") >= began);
    session.begin();
    drop(session);
    assert_eq!(recorder.path().as_os_str(), "");
    recorder.finish().expect("there is nothing to remove");
}
