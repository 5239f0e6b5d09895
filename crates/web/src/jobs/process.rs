//! The process of a job: started, listened to, waited for.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::Arc;
use std::thread;

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use serde::Deserialize;

use super::job::{Job, Progress, Task};

/// How many lines of standard error are kept, and how long they may be.
const LINES: usize = 20;
const LONGEST: u64 = 4_000;

/// Starts a job, with a thread that stays with it to the end.
pub(super) fn start(program: &Path, number: u64, folder: PathBuf, task: Task) -> io::Result<Arc<Job>> {
    let out = File::create(folder.join("verdicts.jsonl"))?;
    let mut command = Command::new(program);
    match &task {
        Task::Check(check) => check.arguments(&folder, &mut command),
        Task::Run(run) => run.arguments(&folder, &mut command),
    }
    // A terminal would get the process its ctrl-C, which is for the server to pass on.
    let mut child = std::os::unix::process::CommandExt::process_group(&mut command, 0)
        .env("ISONOMY_PROGRESS", "lines")
        // Its standard input is open for as long as we live: should we be killed, it ends, too.
        .env("ISONOMY_END_WITH", "stdin")
        .env_remove("ISONOMY_TOKEN")
        .stdin(Stdio::piped())
        .stdout(out)
        .stderr(Stdio::piped())
        .spawn()?;
    let job = Arc::new(Job::new(number, task, folder, Pid::from_child(&child)));
    let (watched, errors) = (Arc::clone(&job), child.stderr.take());
    thread::Builder::new().name(format!("job {number}")).spawn(move || attend(&watched, &mut child, errors))?;
    Ok(job)
}

/// Listens until the process is done.
fn attend(job: &Job, child: &mut Child, errors: Option<ChildStderr>) {
    if let Some(errors) = errors {
        let mut errors = BufReader::new(errors);
        let mut line = Vec::new();
        while let Ok(1..) = errors.by_ref().take(LONGEST).read_until(b'\n', &mut line) {
            job.tell(|progress| heard(progress, String::from_utf8_lossy(&line).trim_end()));
            line.clear();
        }
    }
    // Once it is waited for, its number may become somebody else's, who must not be stopped in its place.
    let _ = waitid(WaitId::Pid(Pid::from_child(child)), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
    job.forget();
    let code = child.wait().ok().and_then(|status| status.code());
    job.over(code);
}

/// A line of `ISONOMY_PROGRESS=lines`.
#[derive(Deserialize)]
struct Line {
    doing: String,
    done: u64,
    total: Option<u64>,
}

fn heard(progress: &mut Progress, line: &str) {
    if let Ok(Line { doing, done, total }) = serde_json::from_str(line) {
        (progress.doing, progress.done, progress.total) = (doing, done, total);
    } else if !line.is_empty() {
        if progress.said.len() >= LINES {
            progress.said.remove(0);
        }
        progress.said.push(line.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::super::job::State;
    use super::*;

    #[test]
    fn progress_is_told_from_words() {
        let (doing, said) = (String::new(), Vec::new());
        let mut progress = Progress { state: State::Running, doing, done: 0, total: None, seconds: 0.0, said };
        heard(&mut progress, r#"{"doing":"reading","done":3,"total":9}"#);
        heard(&mut progress, "isonomy: error: no such file");
        heard(&mut progress, "");
        assert_eq!((progress.doing.as_str(), progress.done, progress.total), ("reading", 3, Some(9)));
        assert_eq!(progress.said, ["isonomy: error: no such file"]);
    }
}
