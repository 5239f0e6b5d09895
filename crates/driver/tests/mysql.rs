//! MariaDB and Galera as databases under test.

mod support;

use isonomy_cluster::Kind;
use isonomy_driver::{Error, contract, open};
use support::{database, start};

#[test]
fn mariadb_fulfils_the_contract() {
    let Some(server) = start(Kind::Mariadb) else { return };
    for (isolation, promise) in [
        (None, None),
        (Some("read uncommitted"), None),
        (Some("read committed"), Some("read-committed")),
        (Some("repeatable read"), None),
        (Some("serializable"), Some("serializable")),
    ] {
        let database = database(&server, isolation);
        let description = database.describe().unwrap();
        assert_eq!(description.product, "MariaDB");
        assert_eq!(description.isolation.promises, promise);
        contract::check(&*database);
    }
    let refused = database(&server, Some("chaos")).prepare();
    assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
}

#[test]
fn galera_is_three_nodes() {
    let Some(server) = start(Kind::Galera) else { return };
    let database = database(&server, None);
    assert_eq!(database.describe().unwrap().product, "MariaDB Galera");
    // Nodes show what others committed a little later, so that only one node fulfils the contract.
    contract::check(&*open(&[&server.urls()[1]], None).unwrap());
    contract::stress(&*database);
}

#[test]
fn a_killed_server_is_lost() {
    let Some(server) = start(Kind::Mariadb) else { return };
    let database = database(&server, None);
    database.prepare().unwrap();
    let mut session = database.connect(0).unwrap();
    session.begin().unwrap();
    session.write(1, 10).unwrap();
    server.nodes()[0].kill();
    let lost = session.commit();
    assert!(matches!(lost, Err(Error::Lost(_))), "{lost:?}");
    let address = server.urls()[0].trim_start_matches("mysql://isonomy@").trim_end_matches("/isonomy").to_owned();
    contract::check_unreachable(open(&[&server.urls()[0]], None), &address);
    server.nodes()[0].restart().unwrap();
    let mut session = database.connect(0).unwrap();
    session.begin().unwrap();
    assert_eq!(session.read(1).unwrap(), None);
}
