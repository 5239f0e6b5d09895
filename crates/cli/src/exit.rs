//! How a command ends: the exit codes, and the message of a command that could not run.

use std::fmt::{self, Display};
use std::io::{self, Write};
use std::process::ExitCode;

use crate::output::{Paint, Style};

/// How a command ended. What comes later weighs more, where there are several results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// The level holds, or the command did what was asked.
    Fine,
    /// Nobody knows.
    Undecided,
    /// The level is violated.
    Violated,
    /// Wrong usage, bad input, or no place for the output.
    CouldNotRun,
}

impl Exit {
    /// The heavier of two results.
    pub(crate) fn and(self, other: Exit) -> Exit {
        self.max(other)
    }

    pub(crate) fn code(self) -> u8 {
        match self {
            Exit::Fine => 0,
            Exit::Violated => 1,
            Exit::CouldNotRun => 2,
            Exit::Undecided => 3,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

/// Why a command, or a part of it, could not run.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(message: impl Display) -> Self {
        Failure { message: message.to_string(), hint: None }
    }

    /// What is wrong.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Adds what the user may do about it.
    pub(crate) fn hint(mut self, hint: impl Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// Tells the user.
    pub(crate) fn report(&self, paint: Paint) {
        let mut text = format!("isonomy: {} {}\n", paint.style(Style::Bad, "error:"), self.message);
        if let Some(hint) = &self.hint {
            text += &format!("{} {hint}\n", paint.style(Style::Strong, "hint:"));
        }
        complain(&text);
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Writes to standard error. If even that fails, there is nobody left to tell.
pub(crate) fn complain(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_over_one_over_three_over_zero() {
        let mut codes = [3, 0, 2, 1];
        let weight = |code: &u8| {
            [Exit::Fine, Exit::Undecided, Exit::Violated, Exit::CouldNotRun].into_iter().find(|e| e.code() == *code)
        };
        codes.sort_by_key(weight);
        assert_eq!(codes, [0, 3, 1, 2]);
    }
}
