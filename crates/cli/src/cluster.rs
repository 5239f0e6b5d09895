//! `isonomy cluster`: throw-away servers, as long as the command runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use isonomy_cluster::{Kind, Server};

use crate::args::ClusterArgs;
use crate::exit::{Exit, Failure};
use crate::output::{Output, Terminal};
use crate::run::listen;

/// How often the command looks whether it is to end.
const BEAT: Duration = Duration::from_millis(100);

pub(crate) fn after_help() -> String {
    format!(
        "\
Servers are started from the binaries that are installed, on free ports of the loopback address, with their files in a
temporary folder; all is gone when the command ends. Each line of the answer is the URL of a node.

Kinds: {}

Examples:
  isonomy cluster postgres
  isonomy cluster galera > urls &
  isonomy run $(sed 's/^/--db /' urls) --isolation serializable --level serializable

Ctrl-C ends the servers.",
        Kind::names()
    )
}

pub(crate) fn run(args: &ClusterArgs, terminal: Terminal) -> Result<Exit, Failure> {
    // First of all: a server that is just starting is to be ended, too.
    let interrupted = Arc::new(AtomicBool::new(false));
    listen(&interrupted)?;
    terminal.note(&format!("starting {} …", args.kind));
    let server = Server::start(args.kind).map_err(Failure::new)?;
    let mut lines = String::new();
    for node in server.nodes() {
        lines += &format!("{}\n", node.url());
        terminal.note(&format!("{}: log in {}", node.name(), node.log().display()));
    }
    Output::new().print(&lines)?;
    terminal.note("ready; ctrl-C ends it");
    while !interrupted.load(Ordering::Relaxed) {
        thread::sleep(BEAT);
    }
    Ok(Exit::Fine)
}
