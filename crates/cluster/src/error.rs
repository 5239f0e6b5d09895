//! Why a server could not be started.

use std::path::PathBuf;

/// Why a server could not be started, stopped or restarted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no such kind of server.
    #[error("there is no server `{name}`; known: {known}")]
    UnknownKind {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A program is not installed.
    #[error("`{program}` is not installed; on Debian: apt-get install {package}")]
    Missing {
        /// What was looked for.
        program: String,
        /// The Debian packages that have it.
        package: &'static str,
    },
    /// A program said no.
    #[error("{program} failed:\n{output}")]
    Failed {
        /// Which.
        program: String,
        /// The end of what it printed.
        output: String,
    },
    /// A server did not get ready, or ended while it was waited for.
    #[error("{name} {what}; its log {log} ends:\n{end}", log = .log.display())]
    NotReady {
        /// Which node.
        name: String,
        /// What became of it.
        what: String,
        /// Its log.
        log: PathBuf,
        /// The last lines of the log.
        end: String,
    },
    /// The system refused.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: String,
        /// What it said.
        #[source]
        source: std::io::Error,
    },
}

impl Error {
    /// Makes an error of what the system said about `what`.
    pub(crate) fn system<E: Into<std::io::Error>>(what: impl Into<String>) -> impl FnOnce(E) -> Error {
        let what = what.into();
        move |source| Error::System { what, source: source.into() }
    }
}

/// The last lines of what a program printed.
pub(crate) fn end_of(text: &[u8]) -> String {
    const LINES: usize = 12;
    let text = String::from_utf8_lossy(text);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}
