//! `isonomy mock`, running, for tests of the command.

#![allow(dead_code, reason = "each test binary uses what it needs")]

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::place::EXE;

/// A server that ends with the test.
pub(crate) struct Mock {
    child: Child,
    out: BufReader<ChildStdout>,
    /// The URLs that it told, in the order of its listeners.
    pub(crate) urls: Vec<String>,
}

impl Mock {
    /// Starts a server with so many listeners.
    pub(crate) fn start(args: &[&str], listeners: usize) -> Self {
        let mut child = Command::new(EXE)
            .arg("mock")
            .args(args)
            .env_remove("ISONOMY_PASSWORD")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let mut out = BufReader::new(child.stdout.take().expect("it is a pipe"));
        let mut urls = Vec::new();
        for _ in 0..listeners {
            let mut line = String::new();
            out.read_line(&mut line).expect("the output is text");
            assert!(line.contains("://"), "{args:?}: {line}");
            urls.push(line.trim().to_owned());
        }
        Mock { child, out, urls }
    }

    /// What follows the scheme and the user: host and port.
    pub(crate) fn address(&self, listener: usize) -> (String, String) {
        let rest = self.urls[listener].split("://").nth(1).expect("a URL has a scheme");
        let place = rest.split('/').next().and_then(|rest| rest.rsplit('@').next()).expect("a URL has an address");
        let (host, port) = place.rsplit_once(':').expect("an address has a port");
        (host.to_owned(), port.to_owned())
    }

    /// Ends it as `kill` does: its exit code, the rest of its output, and its messages.
    pub(crate) fn stop(mut self) -> (i32, String, String) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::TERM).expect("it is still running");
        let (mut out, mut err) = (String::new(), String::new());
        self.out.read_to_string(&mut out).expect("the output is text");
        self.child.stderr.take().expect("it is a pipe").read_to_string(&mut err).expect("the messages are text");
        let code = self.child.wait().expect("it ends").code().expect("it ends by itself");
        assert!(!err.contains("panicked"), "{err}");
        (code, out, err)
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
