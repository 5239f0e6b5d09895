//! One run of a command on a fresh store.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use isonomy::{History, HistoryBuilder};
use isonomy_sql::{Datum, Engine};
use isonomy_store::{Counts, Ended, Script, Store};
use isonomy_wire::{Config, Server};
use rustix::process::{Pid, Signal, kill_process_group};

use super::super::record::Folder;
use crate::exit::Failure;

/// What of its output is kept: the end.
const OUTPUT: u64 = 64 << 10;

/// How often it is looked whether the command has ended, at first and later.
const POLLS: (Duration, Duration) = (Duration::from_micros(500), Duration::from_millis(20));

/// How the command talks to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Protocol {
    Postgres,
    Mysql,
    Http,
}

/// What is run, again and again.
pub(super) struct Job<'j> {
    pub(super) command: &'j [OsString],
    pub(super) protocol: Protocol,
    pub(super) timeout: Duration,
    pub(super) store: isonomy_store::Options,
    pub(super) sql: isonomy_sql::Options,
    pub(super) interrupted: &'j AtomicBool,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Passed,
    Failed(ExitStatus),
    /// It took too long.
    Late,
    /// Somebody wants to stop.
    Interrupted,
}

/// A run that has ended.
pub(super) struct Trial {
    pub(super) seed: u64,
    pub(super) ending: Ending,
    /// The end of what the command printed.
    pub(super) output: String,
    pub(super) run: Vec<Ended>,
    pub(super) counts: Counts,
    store: Store<Datum>,
}

impl Trial {
    /// Whether the command did not like what it saw.
    pub(super) fn has_failed(&self) -> bool {
        matches!(self.ending, Ending::Failed(_) | Ending::Late)
    }

    /// What happened, for the checker.
    pub(super) fn history(&self) -> Result<History, Failure> {
        let mut builder = HistoryBuilder::new();
        self.store.write_history(&mut builder).map_err(Failure::new)?;
        builder.finish().map_err(Failure::new)
    }

    /// Writes what happened to a folder.
    pub(super) fn keep(&self, folder: &Path) -> Result<(), Failure> {
        Folder::create(folder)?.write(&self.store)?;
        let path = folder.join("output.txt");
        fs::write(&path, &self.output).map_err(|error| Failure::new(format_args!("{}: {error}", path.display())))
    }
}

impl std::fmt::Display for Ending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Ending::Passed => f.write_str("passed"),
            Ending::Failed(status) => match (status.code(), status.signal()) {
                (Some(code), _) => write!(f, "exit code {code}"),
                (None, Some(signal)) => write!(f, "killed by signal {signal}"),
                (None, None) => f.write_str("failed"),
            },
            Ending::Late => f.write_str("took too long"),
            Ending::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl Job<'_> {
    /// Runs the command on a store of its own, which follows a script if there is one.
    pub(super) fn run(&self, seed: u64, script: Option<Script>) -> Result<Trial, Failure> {
        let options = isonomy_store::Options { seed, ..self.store.clone() };
        let store = match script {
            Some(script) => Store::following(options, script),
            None => Store::new(options),
        };
        let engine = Engine::new(store.clone(), self.sql);
        let (mut server, url) = self.serve(engine)?;
        let mut output =
            tempfile::tempfile().map_err(|error| Failure::new(format_args!("cannot keep output: {error}")))?;
        let ending = self.execute(seed, &url, &output)?;
        server.stop();
        let output = tail(&mut output).map_err(|error| Failure::new(format_args!("cannot read output: {error}")))?;
        Ok(Trial { seed, ending, output, run: store.run(), counts: store.counts(), store })
    }

    fn serve(&self, engine: Engine) -> Result<(Server, String), Failure> {
        let any: Option<SocketAddr> = Some((Ipv4Addr::LOCALHOST, 0).into());
        let only = |protocol| any.filter(|_| self.protocol == protocol);
        let config = Config {
            postgres: only(Protocol::Postgres),
            mysql: only(Protocol::Mysql),
            http: only(Protocol::Http),
            ..Config::default()
        };
        let server = Server::start(engine, &config).map_err(Failure::new)?;
        let at = server.addresses();
        let address = at.postgres.or(at.mysql).or(at.http).expect("one of them was asked for");
        let url = match self.protocol {
            Protocol::Postgres => format!("postgres://isonomy@{address}/isonomy"),
            Protocol::Mysql => format!("mysql://isonomy@{address}/isonomy"),
            Protocol::Http => format!("http://{address}"),
        };
        Ok((server, url))
    }

    fn execute(&self, seed: u64, url: &str, output: &File) -> Result<Ending, Failure> {
        let (program, arguments) = self.command.split_first().expect("clap asks for a command");
        let copy = || output.try_clone().map(Stdio::from);
        let spawned = copy().and_then(|out| {
            Command::new(program)
                .args(arguments)
                .env("DATABASE_URL", url)
                .env("ISONOMY_SEED", seed.to_string())
                .stdin(Stdio::null())
                .stdout(out)
                .stderr(copy()?)
                .process_group(0)
                .spawn()
        });
        let program = program.display();
        let mut child = spawned.map_err(|error| Failure::new(format_args!("cannot run {program}: {error}")))?;
        let (began, mut pause) = (Instant::now(), POLLS.0);
        loop {
            let ended =
                child.try_wait().map_err(|error| Failure::new(format_args!("cannot wait for {program}: {error}")))?;
            match ended {
                Some(status) if status.success() => return Ok(Ending::Passed),
                Some(status) => return Ok(Ending::Failed(status)),
                None if self.interrupted.load(Ordering::Relaxed) => return Ok(end(&mut child, Ending::Interrupted)),
                None if began.elapsed() > self.timeout => return Ok(end(&mut child, Ending::Late)),
                None => {}
            }
            thread::sleep(pause);
            pause = (pause * 2).min(POLLS.1);
        }
    }
}

/// Kills the command and all it has started.
fn end(child: &mut Child, ending: Ending) -> Ending {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // If it is gone already, that is as well.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
    ending
}

fn tail(file: &mut File) -> std::io::Result<String> {
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(OUTPUT)))?;
    let mut bytes = Vec::new();
    file.take(OUTPUT).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
