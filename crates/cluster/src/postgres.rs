//! PostgreSQL: one node, or a primary with a replica.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::folder::Folder;
use crate::launch::Launch;
use crate::node::{Node, Plan};
use crate::ports::free_port;
use crate::programs::find_newest;

const PACKAGE: &str = "postgresql";

/// One node.
pub(crate) fn start(folder: &Folder) -> Result<Vec<Node>, Error> {
    let programs = programs()?;
    let data = initialise(&programs, folder)?;
    Ok(vec![node(&programs, folder, "postgres", &data, &[], "")?])
}

/// A primary, and a replica that the primary waits for at each commit. Sessions on the replica only read.
pub(crate) fn start_with_replica(folder: &Folder) -> Result<Vec<Node>, Error> {
    let programs = programs()?;
    let data = initialise(&programs, folder)?;
    // Commits wait for any one replica, until it has written (not yet applied) them: what "synchronous" means by default.
    let primary = node(&programs, folder, "primary", &data, &["synchronous_standby_names=*"], "")?;
    let copy = folder.path().join("replica");
    Launch::new(programs.join("pg_basebackup"))
        .args(["--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast", "--no-sync", "--dbname"])
        .arg(primary.url())
        .arg_path("--pgdata", &copy)
        .run(folder.path())?;
    let replica = node(&programs, folder, "replica", &copy, &[], "?isonomy_role=read")?;
    Ok(vec![primary, replica])
}

/// Debian keeps each version's programs in a folder of its own.
fn programs() -> Result<PathBuf, Error> {
    find_newest("/usr/lib/postgresql", "bin", "postgres", PACKAGE)
}

fn initialise(programs: &Path, folder: &Folder) -> Result<PathBuf, Error> {
    let data = folder.path().join("data");
    Launch::new(programs.join("initdb"))
        .args(["--auth=trust", "--username=postgres", "--no-sync", "--encoding=UTF8", "--no-locale"])
        .arg_path("--pgdata", &data)
        .run(folder.path())?;
    Ok(data)
}

fn node(
    programs: &Path,
    folder: &Folder,
    name: &str,
    data: &Path,
    settings: &[&str],
    parameters: &str,
) -> Result<Node, Error> {
    let port = free_port().to_string();
    let mut launch = Launch::new(programs.join("postgres")).arg("-D").arg(data).args(["-p", &port]);
    let common = [
        "listen_addresses=127.0.0.1",
        "unix_socket_directories=",
        "max_connections=200",
        "fsync=off",
        // A killed server must come back at once, however much it wrote.
        "checkpoint_timeout=1min",
    ];
    for setting in common.iter().chain(settings) {
        launch = launch.args(["-c", setting]);
    }
    let probe = Launch::new(programs.join("pg_isready")).args(["-q", "-U", "postgres", "-h", "127.0.0.1", "-p", &port]);
    let here = folder.path().to_owned();
    Plan {
        name: name.into(),
        url: format!("postgres://postgres@127.0.0.1:{port}/postgres{parameters}"),
        first: None,
        launch,
        ready: Box::new(move || probe.run(&here).is_ok()),
    }
    .start(folder)
}
