//! Progress on standard error: only on a terminal, and only for work that takes a while.
//!
//! Programs that start the command ask for it with `ISONOMY_PROGRESS=lines`: then it is lines of JSON, `{"doing":"reading","done":3,"total":9}`.

use std::borrow::Cow;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use crate::exit::complain;

/// Shorter work shows no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// The least time between two lines.
const BEAT: Duration = Duration::from_millis(200);

/// Whether whoever started the command wants lines.
pub(crate) fn in_lines() -> bool {
    std::env::var_os("ISONOMY_PROGRESS").is_some_and(|value| value == "lines")
}

/// A bar that all threads share, or none.
#[derive(Clone, Default)]
pub(crate) struct Progress(Option<Arc<Shared>>);

struct Shared {
    bar: ProgressBar,
    began: Instant,
    shown: AtomicBool,
    /// When the last line was written, if it is lines.
    lines: Option<Mutex<Option<Instant>>>,
}

impl Progress {
    /// Counts bytes, of so many if that is known.
    pub(crate) fn bytes(enabled: bool, total: Option<u64>) -> Self {
        let template = match total {
            Some(_) => "{msg:20} [{bar:30}] {bytes}/{total_bytes}, {bytes_per_sec}, {eta} left",
            None => "{msg:20} {bytes}, {bytes_per_sec}",
        };
        Progress::new(enabled, total, template, "reading")
    }

    /// Counts transactions.
    pub(crate) fn transactions(enabled: bool, total: u64) -> Self {
        let template = "{msg} [{bar:30}] {human_pos}/{human_len} transactions, {per_sec}, {eta} left";
        Progress::new(enabled, Some(total), template, "generating")
    }

    /// Counts transactions that a database commits, of so many if that is known; what else is to be told is the message.
    pub(crate) fn commits(enabled: bool, total: Option<u64>) -> Self {
        let template = match total {
            Some(_) => "[{bar:30}] {human_pos}/{human_len} committed, {msg}, {eta} left",
            None => "{human_pos} committed in {elapsed}, {msg}",
        };
        Progress::new(enabled, total, template, "")
    }

    /// Counts runs of a command.
    pub(crate) fn runs(enabled: bool, total: u64) -> Self {
        Progress::new(enabled, Some(total), "[{bar:30}] {human_pos}/{human_len} runs, {per_sec}, {eta} left", "")
    }

    /// Counts runs or harnesses of applications; which application it is, is the message.
    pub(crate) fn applications(enabled: bool, total: u64, what: &str) -> Self {
        let template = format!("{{msg}} [{{bar:30}}] {{human_pos}}/{{human_len}} {what}, {{eta}} left");
        Progress::new(enabled, Some(total), &template, "")
    }

    fn new(enabled: bool, total: Option<u64>, template: &str, message: &'static str) -> Self {
        if !enabled {
            return Progress(None);
        }
        let style = ProgressStyle::with_template(template).expect("the template is well formed").progress_chars("=> ");
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden()).with_style(style);
        bar.set_message(message);
        Progress(Some(Arc::new(Shared {
            bar,
            began: Instant::now(),
            shown: AtomicBool::new(false),
            lines: in_lines().then(Mutex::default),
        })))
    }

    /// So much more is done.
    pub(crate) fn advance(&self, by: u64) {
        if let Some(shared) = &self.0 {
            shared.bar.inc(by);
            shared.show_if_due();
        }
    }

    /// So much is done in all.
    pub(crate) fn reach(&self, done: u64) {
        if let Some(shared) = &self.0 {
            shared.bar.set_position(done);
            shared.show_if_due();
        }
    }

    /// What is being done.
    pub(crate) fn doing(&self, what: impl Into<Cow<'static, str>>) {
        if let Some(shared) = &self.0 {
            shared.bar.set_message(what);
            shared.show_if_due();
        }
    }

    /// Takes the bar away while something else is written to the terminal.
    pub(crate) fn suspended<T>(&self, act: impl FnOnce() -> T) -> T {
        match &self.0 {
            Some(shared) => shared.bar.suspend(act),
            None => act(),
        }
    }

    /// Takes the bar away for good.
    pub(crate) fn end(&self) {
        if let Some(shared) = &self.0 {
            shared.bar.finish_and_clear();
        }
    }

    /// A reader that counts the bytes that are read through it.
    pub(crate) fn counting<R: Read>(&self, inner: R) -> Counting<R> {
        Counting { inner, progress: self.clone() }
    }
}

impl Shared {
    fn show_if_due(&self) {
        if let Some(last) = &self.lines {
            self.write_line_if_due(last);
            return;
        }
        if self.began.elapsed() >= PATIENCE && !self.shown.swap(true, Ordering::Relaxed) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

impl Shared {
    fn write_line_if_due(&self, last: &Mutex<Option<Instant>>) {
        let mut last = last.lock().expect("no thread panics with the lock");
        if last.is_some_and(|last| last.elapsed() < BEAT) {
            return;
        }
        *last = Some(Instant::now());
        let line = json!({ "doing": self.bar.message(), "done": self.bar.position(), "total": self.bar.length() });
        complain(&format!("{line}\n"));
    }
}

/// See [`Progress::counting`].
pub(crate) struct Counting<R> {
    inner: R,
    progress: Progress,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.progress.advance(read as u64);
        Ok(read)
    }
}
