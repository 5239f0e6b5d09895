//! `isonomy crdt certify`: checks a certificate again.

use std::fs;
use std::io::{self, Read};
use std::path::PathBuf;

use clap::Args;
use isonomy_crdt::report::{Certificate, CertificateError};
use isonomy_crdt::{History, certify};
use serde_json::json;

use super::load::{Kind, load};
use crate::exit::{Exit, Failure};
use crate::load::{is_stdin, name, total_size};
use crate::output::{Output, Style, Terminal};
use crate::progress::Progress;

/// Arguments of `crdt certify`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  isonomy crdt check --certificate proof.json set.crdt
  isonomy crdt certify set.crdt proof.json

Exit codes: 0 certified; 1 rejected, for the evidence does not show what the certificate claims; 2 unreadable, or of another
history.")]
pub(crate) struct CertifyArgs {
    /// The history; `-` is standard input
    history: PathBuf,
    /// The certificate, as `crdt check --certificate` wrote it
    file: PathBuf,
    #[command(flatten)]
    kind: Kind,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &CertifyArgs, terminal: Terminal) -> Result<Exit, Failure> {
    if is_stdin(&args.history) && is_stdin(&args.file) {
        return Err(Failure::new("the history and its certificate cannot both be standard input"));
    }
    let progress = Progress::bytes(terminal.shows_progress(), total_size([args.history.as_path()]));
    let history = load(&args.history, &args.kind, &progress);
    progress.end();
    let history = history?;
    let certificate = certificate(args)?;
    let flaw =
        flaw(&history, &certificate).map_err(|error| Failure::new(format_args!("{}: {error}", name(&args.file))))?;
    let text = if args.json {
        json(args, &certificate, flaw.as_deref())
    } else {
        answer(&certificate, flaw.as_deref(), terminal)
    };
    Output::new().print(&text)?;
    Ok(if flaw.is_some() { Exit::Violated } else { Exit::Fine })
}

fn certificate(args: &CertifyArgs) -> Result<Certificate, Failure> {
    let file = name(&args.file);
    let mut text = String::new();
    let read = if is_stdin(&args.file) {
        io::stdin().lock().read_to_string(&mut text).map(|_| ())
    } else {
        fs::read_to_string(&args.file).map(|read| text = read)
    };
    read.map_err(|error| Failure::new(format_args!("{file}: cannot be read: {error}")))?;
    let expected = "expected a certificate of `isonomy crdt check`";
    if text.trim().is_empty() {
        return Err(Failure::new(format_args!("{file}: {expected}, found none; an undecided history has none")));
    }
    serde_json::from_str(&text).map_err(|error| Failure::new(format_args!("{file}: {expected}, found {error}")))
}

/// What is wrong with the evidence.
fn flaw(history: &History, certificate: &Certificate) -> Result<Option<String>, CertificateError> {
    match certificate.verdict(history) {
        Ok(verdict) => Ok(certify(history, &verdict).err().map(|fault| fault.to_string())),
        // It is for this history and yet speaks of what the history does not have: the evidence is at fault.
        Err(flaw @ CertificateError::Unknown(_)) => Ok(Some(flaw.to_string())),
        Err(error) => Err(error),
    }
}

fn answer(certificate: &Certificate, flaw: Option<&str>, terminal: Terminal) -> String {
    let claim = format!("{} {}", certificate.r#type, certificate.claim());
    match flaw {
        None => format!("{}: {claim}\n", terminal.out.style(Style::Good, "certified")),
        Some(flaw) => format!("{}: {claim}: {flaw}\n", terminal.out.style(Style::Bad, "rejected")),
    }
}

fn json(args: &CertifyArgs, certificate: &Certificate, flaw: Option<&str>) -> String {
    let mut value = json!({
        "history": args.history.display().to_string(),
        "type": certificate.r#type,
        "verdict": certificate.claim(),
        "certified": flaw.is_none(),
    });
    if let Some(flaw) = flaw {
        value["flaw"] = flaw.into();
    }
    format!("{value}\n")
}
