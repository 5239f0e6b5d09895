//! Histories that come from the browser. They are kept in a temporary folder, as long as the server runs.

use std::fs::{self, File, OpenOptions};
use std::future::poll_fn;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::pin::Pin;

use axum::body::{Body, HttpBody};
use axum::http::StatusCode;
use isonomy::formats;

use crate::config::Limits;
use crate::problem::Problem;

/// As much of a file as its format is told by.
const HEAD: u64 = 64 << 10;

/// Takes a history in, and returns where it is. `length` is what the client said it would send.
pub(crate) async fn take(
    folder: &Path,
    name: &str,
    length: Option<u64>,
    limits: Limits,
    body: Body,
) -> Result<PathBuf, Problem> {
    let room = limits.upload.min(limits.uploads.saturating_sub(used(folder)));
    let too_large = || {
        let message = format!("a history may have {} bytes here; `isonomy serve --upload-limit` allows more", room);
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, message)
    };
    if length.is_some_and(|length| length > room) {
        return Err(too_large());
    }
    let (path, mut file) = create(folder, &plain(name)).map_err(Problem::internal)?;
    let partial = Partial(Some(path));
    let mut body = body;
    let mut written = 0;
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|error| Problem::bad(format!("the upload broke off: {error}")))?;
        let Ok(data) = frame.into_data() else { continue };
        written += data.len() as u64;
        if written > room {
            return Err(too_large());
        }
        // Chunks are small, and this is a disk of this machine: not worth a thread.
        file.write_all(&data).map_err(Problem::internal)?;
    }
    let mut head = Vec::new();
    let path = partial.0.as_deref().unwrap_or(Path::new(""));
    File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head)).map_err(Problem::internal)?;
    if formats::detect(&head).is_none() {
        let message = "this is no history in a format that isonomy knows";
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, message));
    }
    partial.keep().ok_or_else(Problem::missing)
}

/// A file that goes away again if it does not become complete.
struct Partial(Option<PathBuf>);

impl Partial {
    fn keep(mut self) -> Option<PathBuf> {
        self.0.take()
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            let _ = fs::remove_file(path);
        }
    }
}

fn used(folder: &Path) -> u64 {
    let Ok(files) = fs::read_dir(folder) else { return 0 };
    files.flatten().filter_map(|file| file.metadata().ok()).map(|found| found.len()).sum()
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
