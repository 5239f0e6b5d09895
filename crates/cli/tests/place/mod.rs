//! What tests of the command share: a place for files, and the command itself.

#![allow(dead_code, reason = "each test binary uses what it needs")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

pub(crate) const EXE: &str = env!("CARGO_BIN_EXE_isonomy");

/// A directory of its own for each test, removed at the end.
pub(crate) struct Place(pub(crate) PathBuf);

impl Place {
    pub(crate) fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("isonomy-cli-{test}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("the temporary directory is writable");
        Place(path)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("the path is text").to_string()
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::write(&path, text).expect("the temporary directory is writable");
        path
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("the directory is there");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn isonomy(args: &[&str]) -> Output {
    Command::new(EXE).args(args).stdin(Stdio::null()).output().expect("the program runs")
}

pub(crate) fn shell(script: &str) -> Output {
    let script = format!("set -o pipefail; isonomy() {{ \"$EXE\" \"$@\"; }}; {script}");
    Command::new("bash").args(["-c", &script]).env("EXE", EXE).output().expect("bash runs")
}

pub(crate) fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("the output is text")
}

pub(crate) fn err(output: &Output) -> String {
    let text = String::from_utf8(output.stderr.clone()).expect("the messages are text");
    assert!(!text.contains("panicked"), "{text}");
    text
}

pub(crate) fn code(output: &Output) -> i32 {
    err(output);
    output.status.code().expect("the program ended by itself")
}

pub(crate) fn json(output: &Output) -> Vec<Value> {
    out(output).lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
}
