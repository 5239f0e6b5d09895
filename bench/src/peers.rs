//! Other checkers: how to call them, and how to read their verdicts. `bench/peers.conf` has the syntax, with an example.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::Path;
use std::process::Command;

use crate::inputs::Input;
use crate::measure::{End, Output};
use crate::sets::Level;
use crate::verdict::{Outcome, Verdict};

/// Another checker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Peer {
    pub(crate) name: String,
    /// The levels that it has, each with its own name for it.
    levels: Vec<(Level, String)>,
    holds: Rule,
    violated: Rule,
    /// What it reads.
    pub(crate) input: Input,
    /// The words of its command line.
    command: Vec<String>,
}

/// Conditions that must all be met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Rule {
    exit: Option<i32>,
    /// Texts that must occur in what it printed.
    present: Vec<String>,
    /// Texts that must not.
    absent: Vec<String>,
}

impl Peer {
    /// Its own name for a level, if it has the level.
    pub(crate) fn level(&self, level: Level) -> Option<&str> {
        self.levels.iter().find(|(ours, _)| *ours == level).map(|(_, theirs)| theirs.as_str())
    }

    /// The program that is run.
    pub(crate) fn program(&self) -> &str {
        &self.command[0]
    }

    /// Its command line, with the places for the level and the file still open.
    pub(crate) fn template(&self) -> String {
        self.command.join(" ")
    }

    /// Whether there is such a program: in PATH, or where its path says.
    pub(crate) fn is_installed(&self) -> bool {
        let program = Path::new(self.program());
        if program.components().count() > 1 {
            return program.is_file();
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
    }

    /// The command that checks a file at a level, named in its own way.
    pub(crate) fn command(&self, level: &str, file: &Path) -> Command {
        let mut command = Command::new(self.program());
        let place = place(self.input);
        for word in &self.command[1..] {
            let word = word.replace("{level}", level);
            match word.split_once(&place) {
                None => command.arg(word),
                Some((before, after)) => {
                    let parts = [OsStr::new(before), file.as_os_str(), OsStr::new(after)];
                    command.arg(parts.into_iter().collect::<std::ffi::OsString>())
                }
            };
        }
        command
    }

    /// What a run came to.
    pub(crate) fn outcome(&self, end: End, output: &Output) -> io::Result<Outcome> {
        let End::Exited(code) = end else { return Outcome::unclear(end, output) };
        let holds = self.holds.is_met(code, output)?;
        let violated = self.violated.is_met(code, output)?;
        match (holds, violated) {
            (true, false) => Ok(Outcome::Decided(Verdict::Holds)),
            (false, true) => Ok(Outcome::Decided(Verdict::Violated)),
            (true, true) => Ok(Outcome::Failed("both rules for its verdict apply".to_owned())),
            (false, false) => Outcome::unclear(end, output),
        }
    }
}

impl Rule {
    fn is_met(&self, code: i32, output: &Output) -> io::Result<bool> {
        if self.exit.is_some_and(|expected| expected != code) {
            return Ok(false);
        }
        let says = |text: &String| -> io::Result<bool> {
            Ok(contains(File::open(&output.stdout)?, text.as_bytes())?
                || contains(File::open(&output.stderr)?, text.as_bytes())?)
        };
        for text in &self.present {
            if !says(text)? {
                return Ok(false);
            }
        }
        for text in &self.absent {
            if says(text)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn read(text: &str) -> Result<Rule, String> {
        let mut rule = Rule::default();
        let mut rest = text.trim();
        loop {
            let (negated, condition) = match rest.strip_prefix("not ") {
                Some(condition) => (true, condition.trim_start()),
                None => (false, rest),
            };
            if let Some(quoted) = condition.strip_prefix('"') {
                let (text, after) = quoted.split_once('"').ok_or("a quotation mark is missing")?;
                if text.is_empty() {
                    return Err("an empty text occurs everywhere".to_owned());
                }
                (if negated { &mut rule.absent } else { &mut rule.present }).push(text.to_owned());
                rest = after;
            } else if let Some(code) = condition.strip_prefix("exit ").filter(|_| !negated) {
                let end = code.find(',').unwrap_or(code.len());
                let number = code[..end].trim();
                let code_given = number.parse().map_err(|_| format!("expected an exit code, found `{number}`"))?;
                if rule.exit.replace(code_given).is_some() {
                    return Err("there can be only one exit code".to_owned());
                }
                rest = &code[end..];
            } else {
                return Err(format!("expected `exit N`, `\"text\"` or `not \"text\"`, found `{rest}`"));
            }
            rest = match rest.trim_start() {
                "" => return Ok(rule),
                more => more.strip_prefix(',').ok_or_else(|| format!("expected a comma, found `{more}`"))?.trim_start(),
            };
        }
    }
}

/// Whether a text occurs; the input may be larger than memory.
fn contains(mut input: impl Read, text: &[u8]) -> io::Result<bool> {
    let mut buffer = vec![0; text.len() + (1 << 16)];
    let mut filled = 0;
    loop {
        let read = match input.read(&mut buffer[filled..]) {
            Ok(0) => return Ok(false),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        filled += read;
        if buffer[..filled].windows(text.len()).any(|window| window == text) {
            return Ok(true);
        }
        // The text may begin in what was read and end in what follows.
        let kept = filled.min(text.len() - 1);
        buffer.copy_within(filled - kept..filled, 0);
        filled = kept;
    }
}

/// Reads a peers file.
pub(crate) fn read(input: impl BufRead) -> Result<Vec<Peer>, String> {
    let mut peers: Vec<Peer> = Vec::new();
    for (index, line) in input.lines().enumerate() {
        let line = line.map_err(|error| error.to_string())?;
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let peer = read_line(line).map_err(|error| format!("line {}: {error}", index + 1))?;
        if peers.iter().any(|other| other.name == peer.name) {
            return Err(format!("line {}: there is another peer `{}`", index + 1, peer.name));
        }
        peers.push(peer);
    }
    Ok(peers)
}

fn read_line(line: &str) -> Result<Peer, String> {
    // The command comes last and may contain bars.
    let fields: Vec<&str> = line.splitn(5, '|').map(str::trim).collect();
    let &[name, levels, holds, violated, command] = fields.as_slice() else {
        return Err(format!("expected `name | levels | holds | violated | command`, found {} fields", fields.len()));
    };
    if name.is_empty() {
        return Err("the peer has no name".to_owned());
    }
    let levels = levels.split_whitespace().map(|level| {
        let (ours, theirs) = level.split_once('=').unwrap_or((level, level));
        Ok((ours.parse()?, theirs.to_owned()))
    });
    let levels: Vec<(Level, String)> = levels.collect::<Result<_, String>>()?;
    if levels.is_empty() {
        return Err("the peer has no levels".to_owned());
    }
    let command: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
    let asked = |input: &Input| command.iter().skip(1).any(|word| word.contains(&place(*input)));
    let inputs: Vec<Input> = Input::ALL.into_iter().filter(asked).collect();
    let &[input] = inputs.as_slice() else {
        let places: Vec<String> = Input::ALL.into_iter().map(|input| format!("`{}`", place(input))).collect();
        return Err(format!("expected a command with one of {} among its arguments", places.join(", ")));
    };
    Ok(Peer {
        name: name.to_owned(),
        levels,
        holds: Rule::read(holds).map_err(|error| format!("holds: {error}"))?,
        violated: Rule::read(violated).map_err(|error| format!("violated: {error}"))?,
        input,
        command,
    })
}

/// Where in a command the history goes.
fn place(input: Input) -> String {
    format!("{{{}}}", input.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_the_repository_is_read() {
        let peers = read(include_bytes!("../peers.conf").as_slice()).unwrap();
        let awdit = peers.iter().find(|peer| peer.name == "awdit").unwrap();
        assert_eq!(awdit.level(Level::ALL[2]), Some("causal"));
        let command = awdit.command("causal", Path::new("some where/a.txt"));
        let words: Vec<&OsStr> = command.get_args().collect();
        assert_eq!(words, ["check", "-i", "causal", "-f", "plume", "some where/a.txt"]);
        let dbcop = peers.iter().find(|peer| peer.name == "dbcop").unwrap();
        assert_eq!((dbcop.input, dbcop.level(Level::ALL[2])), (Input::Dbcop, None));
        assert_eq!(dbcop.command("serializable", Path::new("a.dbcop")).get_args().nth(2), Some(OsStr::new("a.dbcop")));
    }

    #[test]
    fn rules_are_read() {
        let rule = Rule::read(r#" exit 0, "yes, it does" , not "no" "#).unwrap();
        assert_eq!(rule, Rule { exit: Some(0), present: vec!["yes, it does".into()], absent: vec!["no".into()] });
        for (bad, complaint) in [
            ("", "expected `exit N`"),
            ("exit", "expected `exit N`"),
            ("exit x", "expected an exit code"),
            ("exit 0, exit 1", "only one exit code"),
            ("not exit 0", "expected `exit N`"),
            ("\"a", "quotation mark"),
            ("\"\"", "empty text"),
            ("\"a\" \"b\"", "expected a comma"),
            ("\"a\",", "expected `exit N`"),
        ] {
            let error = Rule::read(bad).unwrap_err();
            assert!(error.contains(complaint), "{bad}: {error}");
        }
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        for (bad, complaint) in [
            ("x | causal | exit 0 | exit 1", "found 4 fields"),
            (" | causal | exit 0 | exit 1 | x {file}", "no name"),
            ("x | | exit 0 | exit 1 | x {file}", "no levels"),
            ("x | causality | exit 0 | exit 1 | x {file}", "unknown level `causality`"),
            ("x | causal | exit 0 | yes | x {file}", "violated: expected"),
            ("x | causal | exit 0 | exit 1 | x", "`{file}`"),
            ("x | causal | exit 0 | exit 1 | {file}", "`{file}`"),
            ("x | causal | exit 0 | exit 1 | x {file} {viper}", "one of"),
        ] {
            let error = read(format!("# a peer\n\n{bad}\n").as_bytes()).unwrap_err();
            assert!(error.starts_with("line 3: ") && error.contains(complaint), "{bad}: {error}");
        }
        let line = "x | causal=TCC | exit 0 | exit 1 | x {file}";
        assert!(read(format!("{line}\n{line}").as_bytes()).unwrap_err().contains("another peer"));
    }

    #[test]
    fn a_text_is_found_wherever_it_is() {
        struct Slow<'a>(&'a [u8]);
        impl Read for Slow<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let most = buffer.len().min(2);
                self.0.read(&mut buffer[..most])
            }
        }
        for at in 0..5 {
            let text = [vec![b'a'; at], b"abc".to_vec(), vec![b'a'; 4]].concat();
            assert!(contains(Slow(&text), b"abc").unwrap());
            assert!(!contains(Slow(&text), b"abd").unwrap());
        }
        let mut large = vec![b'x'; (1 << 16) + 1];
        large.extend_from_slice(b"end");
        assert!(contains(large.as_slice(), b"xend").unwrap());
    }
}
