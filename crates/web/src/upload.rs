//! Histories that come from the browser. They are kept in a temporary folder, as long as the server runs.

use std::fs::{self, File, OpenOptions};
use std::future::poll_fn;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::StatusCode;
use isonomy::formats;
use tokio::time::timeout;

use crate::config::Limits;
use crate::problem::Problem;

/// As much of a file as its format is told by.
const HEAD: u64 = 64 << 10;

/// How long a client may be silent in the middle of an upload.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where uploads are, and how much there is of them.
#[derive(Debug)]
pub(crate) struct Uploads {
    folder: PathBuf,
    limits: Limits,
    /// Bytes of all of them, those under way included: several at once must not get past the limit together.
    used: AtomicU64,
}

impl Uploads {
    pub(crate) fn new(folder: PathBuf, limits: Limits) -> Self {
        Uploads { folder, limits, used: AtomicU64::new(0) }
    }

    /// Takes a history in, and returns where it is. `length` is what the client said it would send.
    pub(crate) async fn take(&self, name: &str, length: Option<u64>, mut body: Body) -> Result<PathBuf, Problem> {
        if length.is_some_and(|length| length > self.limits.upload) {
            return Err(self.too_large());
        }
        let (path, mut file) = create(&self.folder, &plain(name)).map_err(Problem::internal)?;
        let mut partial = Partial { uploads: self, path: Some(path), bytes: 0 };
        while let Some(data) = next(&mut body).await? {
            partial.grow(data.len() as u64)?;
            // Chunks are small, and this is a disk of this machine: not worth a thread.
            file.write_all(&data).map_err(Problem::internal)?;
        }
        let mut head = Vec::new();
        let path = partial.path.as_deref().unwrap_or(Path::new(""));
        File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head)).map_err(Problem::internal)?;
        if formats::detect(&head).is_none() {
            let message = "this is not a history in a format that isonomy reads; `isonomy convert --help` lists them";
            return Err(Problem::unreadable(message));
        }
        partial.keep().ok_or_else(Problem::missing)
    }

    fn too_large(&self) -> Problem {
        let limit = self.limits.upload;
        let message =
            format!("an upload may have at most {limit} bytes; `isonomy serve --upload-limit` sets another limit");
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, message)
    }
}

/// The next bytes of an upload; `None` at its end.
async fn next(body: &mut Body) -> Result<Option<Bytes>, Problem> {
    loop {
        let frame = timeout(PATIENCE, poll_fn(|context| Pin::new(&mut *body).poll_frame(context))).await;
        let silent = |_| Problem::new(StatusCode::REQUEST_TIMEOUT, "the upload stopped in the middle");
        let Some(frame) = frame.map_err(silent)? else { return Ok(None) };
        let frame = frame.map_err(|error| Problem::bad(format!("the upload broke off: {error}")))?;
        if let Ok(data) = frame.into_data() {
            return Ok(Some(data));
        }
    }
}

/// A file that goes away again if it does not become complete.
struct Partial<'u> {
    uploads: &'u Uploads,
    path: Option<PathBuf>,
    bytes: u64,
}

impl Partial<'_> {
    /// Makes room for more, if there is any.
    fn grow(&mut self, by: u64) -> Result<(), Problem> {
        self.bytes += by;
        let all = self.uploads.used.fetch_add(by, Ordering::Relaxed) + by;
        if self.bytes > self.uploads.limits.upload {
            return Err(self.uploads.too_large());
        }
        if all > self.uploads.limits.uploads {
            let message = "there is no more room for uploads; they are removed when the server ends";
            return Err(Problem::new(StatusCode::INSUFFICIENT_STORAGE, message));
        }
        Ok(())
    }

    fn keep(mut self) -> Option<PathBuf> {
        self.path.take()
    }
}

impl Drop for Partial<'_> {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            let _ = fs::remove_file(path);
            self.uploads.used.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

/// The last part of a name, with nothing in it that means something to a file system.
fn plain(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let safe = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let last: String = last.trim_start_matches('.').chars().take(100).map(safe).collect();
    // What is listed is told by its ending first.
    let known = [".jsonl", ".json", ".hist", ".ison", ".txt", ".edn", ".bincode", ".yaml", ".yml", ".log"];
    if last.is_empty() {
        "history.txt".into()
    } else if known.iter().any(|ending| last.ends_with(ending)) {
        last
    } else {
        last + ".txt"
    }
}

/// A new file; of a name that is taken, the next one.
fn create(folder: &Path, name: &str) -> io::Result<(PathBuf, File)> {
    for number in 1.. {
        let path = folder.join(if number == 1 { name.to_owned() } else { format!("{number}-{name}") });
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    unreachable!("one of the numbers is free")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_uploads_together_have_a_limit() {
        let folder = tempfile::tempdir().unwrap();
        let limits = Limits { upload: 100, uploads: 150, ..Limits::default() };
        let uploads = Uploads::new(folder.path().to_path_buf(), limits);
        let history = "{\"session\":0,\"ops\":[[\"w\",\"x\",1]]}\n";
        let text = history.repeat(2);
        assert!(text.len() < 100 && 2 * text.len() < 150 && 3 * text.len() > 150);
        let status = |taken: Result<PathBuf, Problem>| taken.map_or_else(|problem| problem.status().as_u16(), |_| 200);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let take = |text: &str| status(runtime.block_on(uploads.take("a.jsonl", None, Body::from(text.to_owned()))));
        assert_eq!(take(&text.repeat(3)), 413);
        assert_eq!(take("no history"), 422);
        assert_eq!((take(&text), take(&text)), (200, 200));
        assert_eq!(take(&text), 507);
        // What was refused takes no room.
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        assert_eq!(uploads.used.load(Ordering::Relaxed), 2 * text.len() as u64);
    }

    #[test]
    fn names_mean_nothing_to_a_file_system() {
        for (name, safe) in [
            ("a.jsonl", "a.jsonl"),
            ("../../etc/passwd", "passwd.txt"),
            ("C:\\x\\b c.hist", "b_c.hist"),
            ("..", "history.txt"),
            ("", "history.txt"),
            (".hidden.edn", "hidden.edn"),
        ] {
            assert_eq!(plain(name), safe, "{name}");
        }
    }
}
