//! MariaDB, one node; and what Galera's nodes have in common with it.

use std::path::Path;

use crate::error::Error;
use crate::folder::Folder;
use crate::launch::Launch;
use crate::node::{Node, Plan};
use crate::ports::free_port;
use crate::programs::find;

const PACKAGE: &str = "mariadb-server";

/// What clients use: a user without a password, and a database of the same name.
const WELCOME: &str = "CREATE DATABASE IF NOT EXISTS isonomy; \
    CREATE USER IF NOT EXISTS isonomy@'%'; GRANT ALL ON *.* TO isonomy@'%'; \
    CREATE USER IF NOT EXISTS isonomy@localhost; GRANT ALL ON *.* TO isonomy@localhost";

/// One node.
pub(crate) fn start(folder: &Folder) -> Result<Vec<Node>, Error> {
    let node = Settings { name: "mariadb".into(), initialise: true, ..Settings::default() }.start(folder)?;
    welcome(folder, &node)?;
    Ok(vec![node])
}

/// What a node is like.
#[derive(Default)]
pub(crate) struct Settings {
    /// Its name, which its folder and its socket have too.
    pub(crate) name: String,
    /// Whether it begins with the system's own tables. A node that joins a cluster gets them from there.
    pub(crate) initialise: bool,
    /// Arguments each time it starts.
    pub(crate) arguments: Vec<String>,
    /// Arguments the first time only.
    pub(crate) first: Vec<String>,
    /// A query whose answer must contain a word before the node is ready.
    pub(crate) ready: Option<(&'static str, &'static str)>,
}

impl Settings {
    pub(crate) fn start(self, folder: &Folder) -> Result<Node, Error> {
        let server = find("mariadbd", PACKAGE)?;
        let data = folder.make(&self.name)?;
        if self.initialise {
            Launch::new(find("mariadb-install-db", PACKAGE)?)
                .args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"])
                .arg_path("--datadir", &data)
                .run(folder.path())?;
        }
        let port = free_port();
        let socket = format!("{}.sock", self.name);
        let launch = Launch::new(server)
            .arg("--no-defaults")
            .arg_path("--datadir", &data)
            .arg_path("--socket", &folder.path().join(&socket))
            .arg_path("--pid-file", &folder.path().join(format!("{}.pid", self.name)))
            .arg(format!("--port={port}"))
            .args(["--bind-address=127.0.0.1", "--skip-name-resolve", "--max-connections=200"])
            .args(["--innodb-flush-log-at-trx-commit=2", "--innodb-buffer-pool-size=64M"])
            .args(&self.arguments);
        let first = launch.clone().args(&self.first);
        let (query, word) = self.ready.unwrap_or(("SELECT 'ready'", "ready"));
        let probe = client(folder.path(), &socket)?.args(["--execute", query]);
        let here = folder.path().to_owned();
        Plan {
            url: format!("mysql://isonomy@127.0.0.1:{port}/isonomy"),
            name: self.name,
            first: Some(first),
            launch,
            ready: Box::new(move || probe.run(&here).is_ok_and(|answer| answer.contains(word))),
        }
        .start(folder)
    }
}

/// Makes the user and the database.
pub(crate) fn welcome(folder: &Folder, node: &Node) -> Result<(), Error> {
    let client = client(folder.path(), &format!("{}.sock", node.name()))?;
    client.args(["--execute", WELCOME]).run(folder.path()).map(drop)
}

fn client(folder: &Path, socket: &str) -> Result<Launch, Error> {
    Ok(Launch::new(find("mariadb", "mariadb-client")?)
        .args(["--no-defaults", "--user=root", "--batch", "--skip-column-names", "--connect-timeout=2"])
        .arg_path("--socket", &folder.join(socket)))
}
