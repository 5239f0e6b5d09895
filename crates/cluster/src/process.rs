//! A running server, with all processes that it started.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::error::Error;
use crate::launch::Launch;

/// How long processes may take to be gone once they were killed: those with large memories are not gone at once.
const DYING: Duration = Duration::from_secs(10);

/// Processes of one server. Dropping it kills them.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
}

impl Process {
    /// Starts it; what it prints goes to the end of `log`.
    pub(crate) fn spawn(launch: &Launch, folder: &Path, log: &Path) -> Result<Self, Error> {
        let what = format!("starting {}", launch.name());
        let log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(log)
            .map_err(Error::system(format!("opening {}", log.display())))?;
        let mut command = launch.command(folder)?;
        command.stderr(log.try_clone().map_err(Error::system(what.clone()))?).stdout(log);
        let child = spawn_from_lasting_thread(command).map_err(Error::system(what))?;
        Ok(Process { child })
    }

    /// How it ended, if it did.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Stops all of its processes where they are.
    pub(crate) fn pause(&self) {
        self.signal_all(Signal::STOP);
    }

    /// Lets them go on.
    pub(crate) fn resume(&self) {
        self.signal_all(Signal::CONT);
    }

    /// Kills them, without a chance to say goodbye.
    pub(crate) fn kill(&mut self) {
        if self.ended().is_some() {
            return;
        }
        // Paused first, nobody starts another process between the look and the shot. And whoever is not yet paused when its parent dies
        // would no longer be found.
        let all = self.signal_all(Signal::STOP);
        let _ = kill_process_group(self.pid(), Signal::KILL);
        for &pid in &all {
            signal(pid, Signal::KILL);
        }
        // It was just killed, so this cannot take long. It cannot fail either, but for a child that was waited for already.
        let _ = self.child.wait();
        // A new server would not start on files that a process of the old one still has.
        let deadline = Instant::now() + DYING;
        while all.iter().any(|&pid| is_alive(pid)) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// A process group is not enough: the processes of PostgreSQL's connections lead groups of their own. Nor are descendants: helpers
    /// whose parent has ended are nobody's.
    fn signal_all(&self, what: Signal) -> BTreeSet<i32> {
        // Whoever is gone already needs no signal, hence errors are no errors, here and below.
        let _ = kill_process_group(self.pid(), what);
        let mut reached = BTreeSet::new();
        loop {
            let before = reached.len();
            for pid in descendants(self.pid()) {
                if reached.insert(pid) {
                    signal(pid, what);
                }
            }
            // Those that were not yet stopped may have started others.
            if reached.len() == before {
                return reached;
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Starts a process from a thread that lives as long as we do: the kernel kills a server when the *thread* that started it ends, and
/// threads of tests end early.
fn spawn_from_lasting_thread(command: Command) -> io::Result<Child> {
    type Order = (Command, Sender<io::Result<Child>>);
    static SPAWNER: OnceLock<Sender<Order>> = OnceLock::new();
    let spawner = SPAWNER.get_or_init(|| {
        let (orders, received) = channel::<Order>();
        thread::spawn(move || {
            for (mut command, answer) in received {
                // If whoever asked is gone, the child is dropped, and ends with us.
                let _ = answer.send(command.spawn());
            }
        });
        orders
    });
    let (answer, spawned) = channel();
    spawner.send((command, answer)).expect("the spawning thread never ends");
    spawned.recv().expect("the spawning thread answers")
}

/// All processes below one, itself included.
fn descendants(root: Pid) -> BTreeSet<i32> {
    let parents: Vec<(i32, i32)> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let pid = entry.ok()?.file_name().to_str()?.parse().ok()?;
            Some((pid, parent_of(pid)?))
        })
        .collect();
    let mut found = BTreeSet::from([root.as_raw_nonzero().get()]);
    loop {
        let more: Vec<i32> = parents
            .iter()
            .filter(|(pid, parent)| found.contains(parent) && !found.contains(pid))
            .map(|&(pid, _)| pid)
            .collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

fn signal(pid: i32, what: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, what);
    }
}

/// Whether there is such a process, other than a dead one that nobody has asked about.
fn is_alive(pid: i32) -> bool {
    stat_of(pid).is_some_and(|stat| stat.first().is_some_and(|state| state != "Z" && state != "X"))
}

fn parent_of(pid: i32) -> Option<i32> {
    stat_of(pid)?.get(1)?.parse().ok()
}

/// What the kernel tells about a process, from its state on; its parent comes next.
fn stat_of(pid: i32) -> Option<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // Before it, the name in parentheses, which may contain anything.
    Some(stat[stat.rfind(')')? + 1..].split_whitespace().map(String::from).collect())
}
