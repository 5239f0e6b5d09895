//! Runs a child and measures it: CPU seconds, wall seconds, peak resident memory.
//!
//! The numbers are the kernel's own for this child and those of its descendants that it waited for (`wait4`). The kernel
//! reports a peak of memory that is never below that of this process; see `data.rs`.

use std::fs::File;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use wait4::Wait4;

/// What one run took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    pub(crate) user: Duration,
    pub(crate) system: Duration,
    pub(crate) wall: Duration,
    /// In bytes.
    pub(crate) peak_memory: u64,
}

impl Usage {
    pub(crate) fn cpu(&self) -> Duration {
        self.user + self.system
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Exited(i32),
    Killed { signal: i32 },
    TimedOut,
}

/// Where the standard output and the standard error of the last run are.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) stdout: PathBuf,
    pub(crate) stderr: PathBuf,
}

impl Output {
    /// Files rather than pipes: nobody has to read while the child runs, and what it prints may be large.
    pub(crate) fn within(directory: &Path) -> Output {
        let file = |kind| directory.join(format!("run-{}.{kind}", std::process::id()));
        Output { stdout: file("stdout"), stderr: file("stderr") }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        for path in [&self.stdout, &self.stderr] {
            let _ = std::fs::remove_file(path); // Never run, or removed by somebody else.
        }
    }
}

/// Runs a command to its end, or until it has used `limit` of CPU time or twice as much wall time.
pub(crate) fn run(command: &mut Command, output: &Output, limit: Duration) -> io::Result<(End, Usage)> {
    command.stdin(Stdio::null());
    command.stdout(File::create(&output.stdout)?).stderr(File::create(&output.stderr)?);
    // A group of its own, so that what a wrapper script started ends with it. The terminal's interrupt does not reach the
    // group; the limit of CPU time does.
    command.process_group(0);

    let start = Instant::now();
    let mut child = command.spawn()?;
    let pid = Pid::from_child(&child);
    restrict(pid, limit);
    let (stop, stopped) = mpsc::channel::<()>();
    let watch = thread::spawn(move || {
        let late = stopped.recv_timeout(2 * limit) == Err(RecvTimeoutError::Timeout);
        if late {
            let _ = kill_process_group(pid, Signal::KILL); // It may just have ended.
        }
        late
    });
    let ended = wait_for_end(pid);
    let wall = start.elapsed();
    // Nothing is killed after this, and only then is the child reaped: until then its number is nobody else's.
    drop(stop);
    let late = watch.join().expect("the watch does not panic");
    ended?;
    let (status, mut usage) = reap(&mut child)?;
    usage.wall = wall;

    let killed = matches!(status.signal(), Some(signal) if signal == Signal::KILL.as_raw());
    // The kernel counts the limit in ticks, so by the exact count the end comes somewhat early.
    let end = if late || (killed && usage.cpu() >= limit.mul_f64(0.9)) {
        End::TimedOut
    } else {
        match (status.code(), status.signal()) {
            (Some(code), _) => End::Exited(code),
            (None, signal) => End::Killed { signal: signal.unwrap_or(0) },
        }
    };
    Ok((end, usage))
}

/// Waits without reaping.
fn wait_for_end(pid: Pid) -> io::Result<()> {
    loop {
        match waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            Err(Errno::INTR) => {}
            result => return Ok(result.map(drop)?),
        }
    }
}

fn reap(child: &mut Child) -> io::Result<(ExitStatus, Usage)> {
    let used = child.wait4()?;
    let usage = Usage {
        user: used.rusage.utime,
        system: used.rusage.stime,
        wall: Duration::ZERO,
        peak_memory: used.rusage.maxrss,
    };
    Ok((used.status, usage))
}

/// Limits the CPU time of a child and of what it will start; and if the machine runs out of memory, the child is what the
/// kernel ends, not another's work.
#[cfg(target_os = "linux")]
fn restrict(pid: Pid, limit: Duration) {
    use rustix::process::{Resource, Rlimit, prlimit};

    // The child may have ended already, and then neither matters.
    let seconds = Some(limit.as_secs().max(1));
    let _ = prlimit(Some(pid), Resource::Cpu, Rlimit { current: seconds, maximum: seconds });
    let _ = std::fs::write(format!("/proc/{}/oom_score_adj", pid.as_raw_pid()), "1000");
}

/// Elsewhere only wall time is limited.
#[cfg(not(target_os = "linux"))]
fn restrict(_: Pid, _: Duration) {}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(script: &str, limit: Duration) -> (End, Usage) {
        let name = format!("isonomy-measure-{}-{:?}", std::process::id(), thread::current().id());
        let directory = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&directory).unwrap();
        let output = Output::within(&directory);
        let result = run(Command::new("sh").args(["-c", script]), &output, limit).unwrap();
        drop(output);
        std::fs::remove_dir(&directory).unwrap();
        result
    }

    #[test]
    fn a_run_is_measured() {
        let (end, usage) = measured("exit 7", Duration::from_secs(60));
        assert_eq!(end, End::Exited(7));
        assert!(usage.peak_memory > 100_000 && usage.cpu() < Duration::from_secs(10), "{usage:?}");
        assert_eq!(measured("kill -15 $$", Duration::from_secs(60)).0, End::Killed { signal: 15 });
    }

    #[test]
    fn whoever_sleeps_or_computes_too_long_is_ended_with_all_it_started() {
        let start = Instant::now();
        assert_eq!(measured("sleep 100 & sleep 100", Duration::from_millis(100)).0, End::TimedOut);
        #[cfg(target_os = "linux")]
        {
            let (end, usage) = measured("while :; do :; done", Duration::from_secs(1));
            assert_eq!(end, End::TimedOut);
            assert!(usage.cpu() >= Duration::from_millis(500), "{usage:?}");
        }
        assert!(start.elapsed() < Duration::from_secs(50));
    }
}
