//! A command line that is run, now and again, as an unprivileged user.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{Error, end_of};
use crate::folder::{UNPRIVILEGED, is_root};
use crate::programs::find;

/// A program and its arguments.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    program: PathBuf,
    arguments: Vec<OsString>,
}

impl Launch {
    pub(crate) fn new(program: impl Into<PathBuf>) -> Self {
        Launch { program: program.into(), arguments: Vec::new() }
    }

    pub(crate) fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// An argument of the form `--name=path`.
    pub(crate) fn arg_path(self, name: &str, path: &Path) -> Self {
        let mut argument = OsString::from(name);
        argument.push("=");
        argument.push(path);
        self.arg(argument)
    }

    pub(crate) fn args<A: AsRef<OsStr>>(self, arguments: impl IntoIterator<Item = A>) -> Self {
        arguments.into_iter().fold(self, Launch::arg)
    }

    /// The name of the program, without folders.
    pub(crate) fn name(&self) -> String {
        self.program.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The command: it gives up root's rights, leads a process group of its own, so that ctrl-C in a terminal does not reach it, and is
    /// killed when the thread that started it ends.
    pub(crate) fn command(&self, folder: &Path) -> Result<Command, Error> {
        let mut command = Command::new(find("setpriv", "util-linux")?);
        command.args(["--pdeathsig", "KILL"]);
        if is_root() {
            command.args(["--reuid", UNPRIVILEGED, "--regid", "nogroup", "--clear-groups"]);
        }
        command.arg("--").arg(&self.program).args(&self.arguments);
        command.process_group(0).current_dir(folder).stdin(Stdio::null());
        // Settings in the tester's environment (PGPORT, MYSQL_HOME, …) are not meant for these servers.
        command.env_clear();
        command.env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        command.env("HOME", folder).env("TMPDIR", folder).env("LC_ALL", "C.UTF-8");
        Ok(command)
    }

    /// Runs it to its end; what it printed.
    pub(crate) fn run(&self, folder: &Path) -> Result<String, Error> {
        let output = self.command(folder)?.output().map_err(Error::system(format!("running {}", self.name())))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let printed = [output.stdout, output.stderr].concat();
        Err(Error::Failed { program: self.name(), output: end_of(&printed) })
    }
}
