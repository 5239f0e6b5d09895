//! Many clients at once, and whether they saw what the database promises.

use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use isonomy_checker::{IsolationLevel, Options, Verdict, check, explain};
use isonomy_history::History;
use isonomy_history::formats::{ReadOptions, Source, read};
use isonomy_workload::{Distribution, Length, RangeMix, Shape, Workload};

use crate::recorder::Recorder;
use crate::run::{Plan, Summary, Watch, run};
use crate::{Ability, Database};

/// Runs a small stress of each kind that the database can, and checks that the level which the documentation promises holds.
#[track_caller]
pub fn stress(database: &dyn Database) {
    let plain = Shape::General { length: Length::Between(1, 4), read_share: 0.5, single_access: false };
    let others = [
        (Ability::Lists, Shape::LIST_APPEND),
        (Ability::Ranges, Shape::ranges(RangeMix::BALANCED)),
        (Ability::CompareAndSet, Shape::CAS_REGISTER),
    ];
    let others = others.into_iter().filter(|(ability, _)| database.can(*ability)).map(|(_, shape)| shape);
    let promised = super::well("describe", database.describe()).isolation.promises;
    for shape in [plain].into_iter().chain(others) {
        let workload = Workload { keys: 12, distribution: Distribution::Uniform, shape };
        let (history, summary) = record(database, &Plan::new(workload, 4, 150));
        assert_eq!(summary.committed, 150, "{summary:?}");
        if let Some(level) = promised {
            let level: IsolationLevel = level.parse().expect("the promise is a level");
            expect_holds(&history, level);
        }
    }
}

/// Panics with the story if a level does not hold.
#[track_caller]
pub fn expect_holds(history: &History, level: IsolationLevel) {
    match check(history, level, &Options::default()) {
        Verdict::Holds(_) => {}
        Verdict::Violated(found) => panic!("{level} is violated: {}", explain(history, &found)),
        Verdict::Undecided(reason) => panic!("{level} is undecided: {reason}"),
    }
}

/// Runs a plan, and reads what was recorded.
#[track_caller]
pub fn record(database: &dyn Database, plan: &Plan) -> (History, Summary) {
    let folder = Folder::new();
    let recorder = Recorder::create(folder.0.join("history.jsonl")).expect("the temporary directory is writable");
    let watch = Watch { stop: &AtomicBool::new(false), progress: &mut |_| {} };
    let summary = run(database, plan, &recorder, watch).unwrap_or_else(|error| panic!("the run failed: {error:?}"));
    let path = recorder.path().to_path_buf();
    recorder.finish().expect("the recorder comes to its end");
    let file = File::open(path).expect("the history is there");
    let history = read(Source::Stream(Box::new(file)), ReadOptions::default());
    (history.unwrap_or_else(|error| panic!("what was recorded cannot be read: {error}")), summary)
}

/// A folder of its own, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("isonomy-contract-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).expect("the temporary directory is writable");
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Best effort: what is left is in the temporary directory.
        let _ = fs::remove_dir_all(&self.0);
    }
}
