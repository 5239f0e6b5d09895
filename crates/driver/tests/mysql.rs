//! MariaDB and Galera as databases under test.

mod support;

use isonomy_cluster::Kind;
use isonomy_driver::{Error, contract, open};
use support::{database, killed_is_lost, start};

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
    killed_is_lost(&server);
}
