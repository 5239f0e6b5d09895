//! Files that are written: whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use isonomy::Format;

use crate::exit::Failure;
use crate::load;

const BUFFER: usize = 256 << 10;

/// Where something is written.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    Stdout,
    File(PathBuf),
}

impl Target {
    /// `-` and nothing are standard output.
    pub(crate) fn new(path: Option<&Path>) -> Self {
        match path {
            Some(path) if !load::is_stdin(path) => Target::File(path.to_path_buf()),
            _ => Target::Stdout,
        }
    }

    /// The format that the name of the file speaks for.
    pub(crate) fn format(&self) -> Option<Format> {
        let Target::File(path) = self else { return None };
        by_name(path)
    }

    /// Refuses what cannot be written there.
    pub(crate) fn accepts(&self, format: Format) -> Result<(), Failure> {
        if !format.is_writable() {
            let writable: Vec<&str> = Format::ALL.into_iter().filter(|f| f.is_writable()).map(Format::name).collect();
            let known = writable.join(", ");
            return Err(Failure::new(format_args!("format {format} can be read but not written; written are {known}")));
        }
        if matches!(self, Target::Stdout) && format == Format::Binary && io::stdout().is_terminal() {
            return Err(Failure::new("format binary is not for terminals").hint("write to a file with -o FILE.ison"));
        }
        Ok(())
    }

    fn name(&self) -> String {
        match self {
            Target::Stdout => "standard output".into(),
            Target::File(path) => path.display().to_string(),
        }
    }

    /// Writes it. `None` if whoever reads it went away before the end, which is no error.
    ///
    /// A file appears under its name only when it is complete: it is written beside and then renamed. Devices and pipes
    /// are written as they are.
    pub(crate) fn write<T, E: Into<Problem>>(
        &self,
        write: impl FnOnce(&mut dyn Write) -> Result<T, E>,
    ) -> Result<Option<T>, Failure> {
        let fail = |error: io::Error| Failure::new(format_args!("{}: {error}", self.name()));
        let mut beside = None;
        let out: Box<dyn Write> = match self {
            Target::Stdout => Box::new(io::stdout().lock()),
            Target::File(path) => match fs::metadata(path) {
                Ok(found) if !found.is_file() => Box::new(OpenOptions::new().write(true).open(path).map_err(fail)?),
                found => {
                    // The file that a link names is replaced, not the link.
                    let path = if found.is_ok() { fs::canonicalize(path).map_err(fail)? } else { path.clone() };
                    let (temporary, file) = Beside::create(path).map_err(fail)?;
                    beside = Some(temporary);
                    Box::new(file)
                }
            },
        };
        let mut out = PipeAware { out: BufWriter::with_capacity(BUFFER, out), closed: false };
        let result = write(&mut out).map_err(Into::into).and_then(|value| {
            out.flush()?;
            Ok(value)
        });
        match result {
            Err(_) if out.closed => Ok(None),
            Err(Problem::Io(error)) => Err(fail(error)),
            Err(Problem::Other(failure)) => Err(failure),
            Ok(value) => {
                drop(out);
                if let Some(beside) = beside {
                    beside.keep().map_err(fail)?;
                }
                Ok(Some(value))
            }
        }
    }
}

/// The format that the name of a file speaks for.
pub(crate) fn by_name(path: &Path) -> Option<Format> {
    match path.extension()?.to_str()? {
        "jsonl" => Some(Format::Jsonl),
        "hist" => Some(Format::Hist),
        "ison" => Some(Format::Binary),
        "txt" => Some(Format::Text),
        _ => None,
    }
}

/// Why something was not written.
pub(crate) enum Problem {
    /// The place is at fault.
    Io(io::Error),
    /// What was to be written is at fault.
    Other(Failure),
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Problem::Io(error)
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        Problem::Other(failure)
    }
}

/// Remembers that the other end of the pipe was closed: writers above may turn the error into another.
struct PipeAware<W> {
    out: W,
    closed: bool,
}

impl<W: Write> PipeAware<W> {
    fn seen<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        self.closed |= result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe);
        result
    }
}

impl<W: Write> Write for PipeAware<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.out.write(bytes);
        self.seen(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.out.flush();
        self.seen(result)
    }
}

/// A file that is not yet complete. Removed unless it is kept.
struct Beside {
    temporary: PathBuf,
    path: PathBuf,
    kept: bool,
}

impl Beside {
    fn create(path: PathBuf) -> io::Result<(Self, File)> {
        let mut name = OsString::from(".");
        name.push(path.file_name().ok_or(io::ErrorKind::InvalidInput)?);
        name.push(format!(".{}.tmp", std::process::id()));
        let temporary = path.with_file_name(name);
        let file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
        Ok((Beside { temporary, path, kept: false }, file))
    }

    fn keep(mut self) -> io::Result<()> {
        fs::rename(&self.temporary, &self.path)?;
        self.kept = true;
        Ok(())
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        if !self.kept {
            // Best effort: the failure that led here is what the user must hear of.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}
