//! Histories from files, directories and standard input, with progress and a limit of memory.

use std::cell::RefCell;
use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use isonomy::{Format, History, ReadError, ReadOptions, formats};
use isonomy_driver::recorder::leftover;

use crate::exit::Failure;
use crate::files;
use crate::output::count;
use crate::progress::Progress;

/// A history and how it came here.
pub(crate) struct Loaded {
    pub(crate) history: History,
    pub(crate) format: Option<Format>,
    pub(crate) took: Duration,
    /// What the user should know of it.
    pub(crate) note: Option<String>,
}

/// How to load histories.
#[derive(Clone, Default)]
pub(crate) struct Loader {
    /// The format; by content if absent.
    pub(crate) format: Option<Format>,
    /// The most bytes that one history may take.
    pub(crate) memory: Option<usize>,
    /// Told of the bytes that are read.
    pub(crate) progress: Progress,
}

/// As much as detection looks at.
const HEAD: usize = 64 << 10;

/// The first bytes of a file, kept to name the format that was detected.
type Head = Rc<RefCell<Vec<u8>>>;

impl Loader {
    /// Loads a history; `-` is standard input.
    pub(crate) fn load(&self, path: &Path) -> Result<Loaded, Failure> {
        let began = Instant::now();
        // `isonomy run` and dbcop name directories, and keep one file in each.
        let inside = |name: &str| Some(path.join(name)).filter(|inside| path.is_dir() && inside.is_file());
        let inside = inside("history.jsonl").or_else(|| inside("history.bincode"));
        let path = inside.as_deref().unwrap_or(path);
        if self.format.is_none_or(|format| format == Format::Jsonl) && is_unfinished(path) {
            return self.load_unfinished(path);
        }
        let options = ReadOptions { format: self.format, memory_limit: self.memory, ..ReadOptions::default() };
        let head = Head::default();
        let tap = |inner: Box<dyn Read>| Tap { inner, head: Rc::clone(&head) };
        let result = if is_stdin(path) {
            let input = tap(Box::new(self.progress.counting(io::stdin().lock())));
            formats::read(formats::Source::Stream(Box::new(input)), options)
                .map_err(|error| (format!("{}: {error}", name(path)), matches!(error, ReadError::Malformed { .. })))
        } else {
            isonomy::open_with(path, options, |file| Box::new(tap(Box::new(self.progress.counting(file)))))
                .map_err(|error| (error.to_string(), matches!(*error.source, ReadError::Malformed { .. })))
        };
        let format = self.format.or_else(|| detected(path, &head.borrow()));
        match result {
            Ok(history) => Ok(Loaded { history, format, took: began.elapsed(), note: None }),
            Err((message, malformed)) => {
                let failure = Failure::new(message);
                // A wrong guess is worth a word, unless the name of the file agrees.
                let guessed =
                    format.filter(|&format| malformed && self.format.is_none() && files::by_name(path) != Some(format));
                Err(match guessed {
                    Some(format) => failure.hint(format_args!(
                        "it was read as {format}, by its content; if it is in another format, name it with --format"
                    )),
                    None => failure,
                })
            }
        }
    }
}

/// Whether a recorder of `isonomy run` has not come to its end.
fn is_unfinished(path: &Path) -> bool {
    path.extension().is_some_and(|ext| ext == "jsonl") && path.with_extension("pending").is_file()
}

impl Loader {
    /// Loads a history whose recorder was killed, with the transactions that were open then.
    fn load_unfinished(&self, path: &Path) -> Result<Loaded, Failure> {
        let began = Instant::now();
        let fail = |error: &dyn std::fmt::Display| Failure::new(format_args!("{}: {error}", name(path)));
        let left = leftover(path).map_err(|error| fail(&error))?;
        let lines = left.read(path).map_err(|error| fail(&error))?;
        let options = ReadOptions { format: Some(Format::Jsonl), memory_limit: self.memory, size: Some(left.complete) };
        let source = formats::Source::Stream(Box::new(self.progress.counting(lines)));
        let history = formats::read(source, options).map_err(|error| fail(&error))?;
        let open = count(left.open.len(), "transaction");
        let note = format!(
            "{}: its recorder did not come to its end; {open} that it left open count as indeterminate",
            name(path)
        );
        Ok(Loaded { history, format: Some(Format::Jsonl), took: began.elapsed(), note: Some(note) })
    }
}

/// Whether a path stands for standard input, or for standard output.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// What messages call a file.
pub(crate) fn name(path: &Path) -> String {
    if is_stdin(path) { "standard input".into() } else { path.display().to_string() }
}

/// How many bytes there are to read, if that can be known.
pub(crate) fn total_size<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Option<u64> {
    let mut total = 0;
    for path in paths {
        let found = fs::metadata(path).ok()?;
        if found.is_dir() {
            let logs = fs::read_dir(path).ok()?.flatten();
            total += logs.filter_map(|entry| entry.metadata().ok()).map(|found| found.len()).sum::<u64>();
        } else {
            total += found.len();
        }
    }
    Some(total)
}

/// Most of what is free now: beyond that the machine would swap, or the kernel end the process without a word.
pub(crate) fn available_memory() -> Option<usize> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024 / 5 * 4)
}

fn detected(path: &Path, head: &[u8]) -> Option<Format> {
    if !path.is_dir() {
        return formats::detect(head);
    }
    // A directory is told by the names of its logs; see `formats`.
    let names = fs::read_dir(path).ok()?.flatten().map(|entry| entry.file_name());
    let mut logs = names.filter(|name| Path::new(name).extension().is_some_and(|ext| ext == "log"));
    match logs.next()?.as_encoded_bytes().first()? {
        b'T' => Some(Format::Cobra),
        b'J' => Some(Format::Viper),
        _ => None,
    }
}

struct Tap {
    inner: Box<dyn Read>,
    head: Head,
}

impl Read for Tap {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let mut head = self.head.borrow_mut();
        let room = HEAD - head.len();
        head.extend_from_slice(&buffer[..read.min(room)]);
        Ok(read)
    }
}
