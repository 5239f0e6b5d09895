//! `isonomy serve`: the web application, as long as the command runs.

use std::env;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use clap::Args;
use isonomy_cluster::Kind;
use isonomy_driver::schemes;
use isonomy_web::{Choices, Config, Database, Limits, Server, StartError, Token};
use isonomy_workload::Preset;

use crate::exit::{Exit, Failure};
use crate::output::{Output, Terminal};
use crate::run::listen;
use crate::values::size;

/// How often the command looks whether it is to end.
const BEAT: Duration = Duration::from_millis(50);

const TOKEN: &str = "ISONOMY_TOKEN";

const AFTER_HELP: &str = "\
Shown are the histories and the run folders below the given folders, links not followed. Uploads and the results of checks
are kept in a temporary folder until the command ends; runs that are started from the page stay, in `runs` of the first folder.

On loopback whoever is on this machine is let in, unless there is a token. Other addresses need --expose and a token.

Examples:
  isonomy serve
  isonomy serve --dir runs --dir corpus --address 9000
  ISONOMY_TOKEN=… isonomy serve --expose --address 0.0.0.0:8765

Exit codes: 0 ended by ctrl-C; 2 could not run.";

/// Arguments of `serve`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ServeArgs {
    /// Where to serve, such as 127.0.0.1:8765, or only a port; 0 picks one
    #[arg(long, value_name = "ADDR", value_parser = address, default_value = "127.0.0.1:8765")]
    address: SocketAddr,
    /// A folder whose histories and runs are shown; several times for several; where the command is started if absent
    #[arg(long, value_name = "FOLDER")]
    dir: Vec<PathBuf>,
    /// What clients must know; better in the environment, as ISONOMY_TOKEN, where others do not see it
    #[arg(long, value_name = "T")]
    token: Option<String>,
    /// Allow an address that other machines can reach; needs a token
    #[arg(long)]
    expose: bool,
    /// The largest history that can be uploaded
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "1GB")]
    upload_limit: usize,
}

/// Reads an address. A port alone is one of this machine.
fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix("localhost:").unwrap_or(text);
    if let Ok(port) = port.parse() {
        return Ok(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port));
    }
    text.parse().map_err(|_| "expected an address such as 127.0.0.1:8765 or [::1]:8765, or a port".to_string())
}

impl ServeArgs {
    fn config(&self) -> Result<Config, Failure> {
        let token = self.token.clone().or_else(|| env::var(TOKEN).ok()).filter(|token| !token.is_empty());
        if !self.address.ip().is_loopback() {
            let failure = Failure::new(format_args!("other machines could reach {}", self.address));
            if !self.expose {
                return Err(failure.hint("take 127.0.0.1, or allow it with --expose"));
            }
            if token.is_none() {
                return Err(failure.hint(format_args!("give a token that they must know, in {TOKEN}")));
            }
        }
        let folders = if self.dir.is_empty() { vec![PathBuf::from(".")] } else { self.dir.clone() };
        for folder in &folders {
            if !folder.is_dir() {
                return Err(Failure::new(format_args!("{}: this is no folder", folder.display())));
            }
        }
        let runs = std::path::absolute(&folders[0]).map_err(Failure::new)?.join("runs");
        let upload = self.upload_limit as u64;
        let defaults = Limits::default();
        let limits = Limits { upload, uploads: defaults.uploads.max(upload), ..defaults };
        // Long work happens in processes of this command itself.
        let program = env::current_exe().map_err(Failure::new)?;
        let (address, token) = (self.address, token.map(Token::new));
        Ok(Config { address, folders, token, choices: choices(), limits, ..Config::new(program, runs) })
    }
}

/// What the form of a run offers.
fn choices() -> Choices {
    let known = schemes().iter().map(|scheme| Database { form: scheme.form.into(), what: scheme.what.into() });
    let started = Database {
        form: "cluster:KIND".into(),
        what: format!("servers started for the run from what is installed: {}", Kind::names()),
    };
    Choices {
        databases: known.chain([started]).collect(),
        workloads: Preset::ALL.iter().map(|preset| preset.name().to_string()).collect(),
    }
}

pub(crate) fn run(args: &ServeArgs, terminal: Terminal) -> Result<Exit, Failure> {
    let interrupted = Arc::new(AtomicBool::new(false));
    listen(&interrupted)?;
    let mut server = Server::start(args.config()?).map_err(|error| {
        let in_use = |source: &std::io::Error| source.kind() == std::io::ErrorKind::AddrInUse;
        let failure = Failure::new(&error);
        match &error {
            StartError::Listen { source, .. } if in_use(source) => {
                failure.hint("--address 0 picks a port that is free")
            }
            _ => failure,
        }
    })?;
    Output::new().print(&format!("http://{}/\n", server.address()))?;
    terminal.note("ready; ctrl-C ends it");
    while !interrupted.load(Ordering::Relaxed) {
        thread::sleep(BEAT);
    }
    server.stop();
    Ok(Exit::Fine)
}
