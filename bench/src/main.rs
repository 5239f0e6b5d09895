//! Whole runs of `isonomy` beside other checkers: how long, how much memory, and whether the verdicts agree.
//!
//! For each history and level, `isonomy check` runs on the text and on the binary file, and each peer of `bench/peers.conf` on the
//! file that it reads. A row of the table has the medians of several runs. Disagreement is loud, and a timeout is a row.

mod arguments;
mod compare;
mod data;
mod inputs;
mod lightweight;
mod machine;
mod measure;
mod peers;
mod replicated;
mod sets;
mod table;
mod verdict;

use std::error::Error;
use std::fs::{self, File};
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;

use crate::arguments::Arguments;
use crate::compare::Comparison;
use crate::data::Data;
use crate::peers::Peer;
use crate::sets::{Set, Study};
use crate::table::Row;

/// Whatever keeps the harness from running; each message says what and where.
type Failure = Box<dyn Error>;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(failure) => {
            say(&format!("error: {failure}"));
            ExitCode::from(2)
        }
    }
}

/// Tells whoever watches. Nobody may be watching, which is no error.
fn say(text: &str) {
    let _ = writeln!(io::stderr(), "isonomy-bench: {text}");
}

/// Whether everything went as it should.
fn run(arguments: &Arguments) -> Result<bool, Failure> {
    if let Some(name) = &arguments.generate {
        let set = Set::named(name).ok_or_else(|| format!("there is no history `{name}`"))?;
        match arguments.input {
            None => data::generate(&set, &arguments.data)?,
            Some(input) => data::convert(&set, &arguments.data, input)?,
        }
        return Ok(true);
    }

    if let Some(name) = &arguments.simulate {
        replicated::simulate(arguments, name)?;
        return Ok(true);
    }
    if arguments.study == Study::Crdt {
        return run_replicated(arguments);
    }

    let sets = arguments.sets();
    if arguments.list {
        let mut out = io::stdout().lock();
        for set in &sets {
            writeln!(out, "{:32} {}", set.name, set.about)?;
        }
        return Ok(true);
    }
    if sets.is_empty() {
        return Err("no history has such a name at these levels; --list shows them, also with --full".into());
    }

    let peers = if arguments.study.has_peers() { peers(arguments)? } else { Vec::new() };
    let isonomy = isonomy(arguments)?;
    let note = machine::note(&isonomy, &peers, arguments);
    let mut kept = if arguments.keep { Some(Kept::create(&arguments.results, &arguments.name())?) } else { None };
    let mut out = io::stdout().lock();
    let heading = table::heading(arguments.study);
    write!(out, "{heading}")?;
    if let Some(kept) = &mut kept {
        write!(kept.table, "{note}\n{heading}")?;
    }

    let data = Data::open(&arguments.data, arguments.fresh)?;
    let mut comparison = Comparison::new(isonomy, peers, arguments)?;
    let mut good = true;
    // For the study of rejection, the histories without anomalies; they come first.
    let mut accepted = Vec::new();
    for set in &sets {
        let history = data.history(set)?;
        for level in arguments.levels_of(set) {
            let (rows, samples) = comparison.run(&data, &history, level)?;
            for row in rows {
                good &= row.is_good();
                if arguments.study == Study::Rejection && set.plant().is_none() {
                    warn(&row);
                    accepted.push(row);
                    continue;
                }
                let baseline = accepted.iter().rev().find(|other| row.set.is_like(&other.set));
                let line = row.line(arguments.study, baseline);
                warn(&row);
                writeln!(out, "{line}")?;
                out.flush()?;
                if let Some(kept) = &mut kept {
                    writeln!(kept.table, "{line}")?;
                }
            }
            if let Some(kept) = &mut kept {
                for sample in &samples {
                    serde_json::to_writer(&mut kept.samples, sample)?;
                    writeln!(kept.samples)?;
                }
            }
        }
    }
    let load = machine::load();
    if let Some(kept) = &mut kept {
        writeln!(kept.table, "\nLoad average at the end: {load}.")?;
        say(&format!("kept in {}", kept.directory.display()));
    }
    Ok(good)
}

/// Histories of replicated data types, which need neither files nor the command.
fn run_replicated(arguments: &Arguments) -> Result<bool, Failure> {
    let cases = arguments.cases();
    let mut out = io::stdout().lock();
    if arguments.list {
        for case in &cases {
            writeln!(out, "{}", case.name)?;
        }
        return Ok(true);
    }
    if cases.is_empty() {
        return Err("no history has such a name; --list shows them, also with --full".into());
    }
    let mut kept = if arguments.keep { Some(Kept::create(&arguments.results, &arguments.name())?) } else { None };
    let heading = table::heading(arguments.study);
    write!(out, "{heading}")?;
    if let Some(kept) = &mut kept {
        write!(kept.table, "{}\n{heading}", machine::note(&std::env::current_exe()?, &[], arguments))?;
    }
    let mut good = true;
    for case in &cases {
        let (samples, line, well) = replicated::run(arguments, case)?;
        good &= well;
        writeln!(out, "{line}")?;
        out.flush()?;
        if let Some(kept) = &mut kept {
            writeln!(kept.table, "{line}")?;
            for sample in &samples {
                serde_json::to_writer(&mut kept.samples, sample)?;
                writeln!(kept.samples)?;
            }
        }
    }
    if let Some(kept) = &mut kept {
        writeln!(kept.table, "\nLoad average at the end: {}.", machine::load())?;
        say(&format!("kept in {}", kept.directory.display()));
    }
    Ok(good)
}

fn warn(row: &Row) {
    if let Some(trouble) = row.trouble() {
        say(&format!("TROUBLE: {} at {}: {trouble}", row.set.name, row.level));
    }
}

/// The peers that are installed. Which file is read by default depends on the directory, so its absence is no error.
fn peers(arguments: &Arguments) -> Result<Vec<Peer>, Failure> {
    let default = Path::new(arguments::PEERS);
    let path = match &arguments.peers {
        _ if arguments.no_peers => return Ok(Vec::new()),
        Some(path) => path,
        None if default.exists() => default,
        None => {
            say(&format!("{} is not here: no peers", default.display()));
            return Ok(Vec::new());
        }
    };
    let name = path.display();
    let file = File::open(path).map_err(|error| format!("{name}: {error}"))?;
    let mut peers = peers::read(BufReader::new(file)).map_err(|error| format!("{name}: {error}"))?;
    peers.retain(|peer| {
        let found = peer.is_installed();
        if !found {
            say(&format!("{} is not installed (no `{}` in PATH): left out", peer.name, peer.program()));
        }
        found
    });
    Ok(peers)
}

/// The checker to be measured: as told, or the one beside this program.
fn isonomy(arguments: &Arguments) -> Result<PathBuf, Failure> {
    let path = match &arguments.isonomy {
        Some(path) => path.clone(),
        None => std::env::current_exe()?.with_file_name(format!("isonomy{}", std::env::consts::EXE_SUFFIX)),
    };
    // A bare name would be looked up in PATH, which is not what a path means.
    fs::canonicalize(&path).map_err(|error| {
        format!("{}: {error}; build it with `cargo build --release -p isonomy-cli`", path.display()).into()
    })
}

/// Files that remain after the run; written as it goes, so that an interrupted run leaves what it measured.
struct Kept {
    directory: PathBuf,
    table: File,
    samples: File,
}

impl Kept {
    fn create(results: &Path, name: &str) -> io::Result<Kept> {
        let directory = results.join(machine::date());
        fs::create_dir_all(&directory)?;
        // A second run on the same day does not replace the first.
        for attempt in 1.. {
            let stem = if attempt == 1 { name.to_owned() } else { format!("{name}-{attempt}") };
            match File::create_new(directory.join(format!("{stem}.md"))) {
                Ok(table) => {
                    let samples = File::create(directory.join(format!("{stem}.jsonl")))?;
                    return Ok(Kept { directory, table, samples });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        unreachable!("some number is free")
    }
}
