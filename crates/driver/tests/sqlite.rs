//! SQLite keeps the contract, and gives what its documentation promises.

mod place;

use std::time::Duration;

use isonomy_checker::IsolationLevel;
use isonomy_driver::run::Plan;
use isonomy_driver::{Database, contract, open};
use isonomy_workload::{Preset, Workload};
use place::Place;

fn sqlite(url: &str, isolation: Option<&str>) -> Box<dyn Database> {
    open(&[url], isolation).expect("SQLite is built in")
}

#[test]
fn the_contract_is_kept() {
    let place = Place::new("sqlite");
    let url = format!("sqlite:{}", place.path("some.db").display());
    for isolation in [None, Some("immediate")] {
        contract::check(&*sqlite("sqlite", isolation));
        contract::check(&*sqlite(&url, isolation));
    }
    assert!(open(&["sqlite"], Some("chaos")).is_err_and(|error| error.to_string().contains("deferred, immediate")));
    contract::check_unreachable(open(&["sqlite:/nonexistent/some.db"], None), "/nonexistent/some.db");
}

#[test]
fn it_is_serializable() {
    for (preset, isolation) in [
        (Preset::Mini, None),
        (Preset::Mini, Some("immediate")),
        (Preset::RangeB, None),
        (Preset::CasRegister, None),
        (Preset::ListAppend, None),
    ] {
        let workload = Workload { keys: 10, ..preset.spec().workload };
        let plan = Plan { delay: Duration::from_micros(100), ..Plan::new(workload, 4, 300) };
        let (history, summary) = contract::record(&*sqlite("sqlite", isolation), &plan);
        assert_eq!(summary.committed, 300, "{summary:?}");
        contract::expect_holds(&history, IsolationLevel::Serializable);
    }
}
