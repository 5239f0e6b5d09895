//! What tests against real servers share.

#![allow(dead_code, reason = "each test uses some of it")]
#![allow(clippy::print_stderr, reason = "whoever runs the tests should know what they did not do")]

use std::env;

use isonomy_cluster::{Error, Kind, Server};
use isonomy_driver::contract::{expect_holds, record};
use isonomy_driver::run::{Plan, Summary};
use isonomy_driver::{Database, Error as DriverError, contract, open};
use isonomy_workload::Preset;

/// Starts a server. Without its binaries this says so and the test passes, unless `ISONOMY_SERVERS=1` demands them.
pub(crate) fn start(kind: Kind) -> Option<Server> {
    match Server::start(kind) {
        Ok(server) => Some(server),
        Err(error @ Error::Missing { .. }) if env::var_os("ISONOMY_SERVERS").is_none() => {
            eprintln!("{kind} is not tested: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Opens all nodes of a server.
pub(crate) fn database(server: &Server, isolation: Option<&str>) -> Box<dyn Database> {
    let urls = server.urls();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    open(&urls, isolation).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs some transactions of a workload in six sessions, and checks that what the database promises holds.
#[track_caller]
pub(crate) fn holds_as_promised(database: &dyn Database, preset: Preset, transactions: u64) -> Summary {
    let mut workload = preset.spec().workload;
    // Few enough that clients meet.
    workload.keys = workload.keys.min(20);
    let (history, summary) = record(database, &Plan::new(workload, 6, transactions));
    assert_eq!(summary.committed, transactions, "{preset}: {summary:?}");
    let promised = database.describe().unwrap().isolation.promises.expect("a level is promised");
    expect_holds(&history, promised.parse().expect("promises are levels"));
    if promised == "strict-serializable" && preset == Preset::CasRegister {
        expect_holds(&history, isonomy_checker::IsolationLevel::Linearizable);
    }
    summary
}

/// A commit whose server was killed is lost, nobody answers then, and what was not committed is gone after the restart.
pub(crate) fn killed_is_lost(server: &Server) {
    let database = database(server, None);
    let (node, url) = (&server.nodes()[0], &server.urls()[0]);
    database.prepare().unwrap();
    let mut session = database.connect(0).unwrap();
    session.begin().unwrap();
    session.write(1, 10).unwrap();
    node.kill();
    let lost = session.commit();
    assert!(matches!(lost, Err(DriverError::Lost(_))), "{lost:?}");
    let address = url.rsplit('@').next().and_then(|rest| rest.split('/').next()).expect("a URL has an address");
    contract::check_unreachable(open(&[url], None), address);
    node.restart().unwrap();
    let mut session = database.connect(0).unwrap();
    session.begin().unwrap();
    assert_eq!(session.read(1).unwrap(), None);
}
