//! PostgreSQL and H2 as databases under test.

mod support;

use isonomy_cluster::Kind;
use isonomy_driver::{Error, contract};
use support::{database, killed_is_lost, start};

#[test]
fn postgres_fulfils_the_contract() {
    let Some(server) = start(Kind::Postgres) else { return };
    for (isolation, promise) in [
        (None, "read-committed"),
        (Some("read committed"), "read-committed"),
        (Some("REPEATABLE READ"), "snapshot-isolation"),
        (Some("serializable"), "serializable"),
    ] {
        let database = database(&server, isolation);
        let description = database.describe().unwrap();
        assert_eq!(description.product, "PostgreSQL");
        assert_eq!(description.isolation.promises, Some(promise));
        contract::check(&*database);
    }
    let refused = database(&server, Some("chaos")).prepare();
    assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
}

/// Over one connection at a time it is as good as any.
#[test]
fn h2_fulfils_the_contract() {
    let Some(server) = start(Kind::H2) else { return };
    let database = database(&server, None);
    assert_eq!(database.describe().unwrap().product, "H2");
    contract::check(&*database);
    for isolation in ["snapshot", "serializable"] {
        let database = support::database(&server, Some(isolation));
        assert_eq!(database.describe().unwrap().isolation.name, isolation);
        contract::check_one_at_a_time(&*database);
    }
}

#[test]
fn a_replica_only_reads() {
    let Some(server) = start(Kind::PostgresReplica) else { return };
    let database = database(&server, Some("repeatable read"));
    database.prepare().unwrap();
    assert_eq!([database.reads_only(0), database.reads_only(1), database.reads_only(2)], [false, true, false]);
    let mut primary = database.connect(0).unwrap();
    primary.begin().unwrap();
    primary.write(1, 10).unwrap();
    primary.commit().unwrap();
    let mut replica = database.connect(1).unwrap();
    replica.begin().unwrap();
    // The primary waits until the replica has what was written, not until it shows it.
    assert!(matches!(replica.read(1).unwrap(), None | Some(10)));
    let refused = replica.write(1, 11);
    assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
    replica.rollback().unwrap();
}

#[test]
fn a_killed_server_is_lost() {
    let Some(server) = start(Kind::Postgres) else { return };
    killed_is_lost(&server);
}
