//! What a recorder that was killed has left.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::path::Path;

use super::{beside, pending};

/// What belongs to a history beside its complete lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leftover {
    /// How many bytes of the file are complete lines.
    pub complete: u64,
    /// How many bytes after them are a line that was cut off.
    pub cut: u64,
    /// Lines for the transactions that were open, as indeterminate ones.
    pub open: Vec<String>,
}

impl Leftover {
    /// Whether the recorder came to its end.
    pub fn is_nothing(&self) -> bool {
        self.cut == 0 && self.open.is_empty()
    }

    /// The history with what was left: reads as if it had been [recovered](recover), and changes nothing.
    pub fn read(&self, path: &Path) -> io::Result<impl Read + use<>> {
        let open = self.open.concat().into_bytes();
        Ok(File::open(path)?.take(self.complete).chain(io::Cursor::new(open)))
    }
}

/// Looks for what a recorder has left, beside the complete lines of its history.
pub fn leftover(path: impl AsRef<Path>) -> io::Result<Leftover> {
    let path = path.as_ref();
    let mut file = File::open(path)?;
    let beside = match fs::read(beside(path)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let (complete, cut) = complete(&mut file)?;
            return Ok(Leftover { complete, cut, open: Vec::new() });
        }
        found => found?,
    };
    // The last state of the last transaction of each session. A transaction that has moved to a larger slot is in two.
    let mut open: BTreeMap<&[u8], (u64, &[u8])> = BTreeMap::new();
    for line in pending::lines(&beside) {
        let Some((session, number)) = session_and_number(line) else { continue };
        let known = open.entry(session).or_insert((number, line));
        if (number, line.len()) > (known.0, known.1.len()) {
            *known = (number, line);
        }
    }
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut left = Leftover::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line)? as u64;
        if !line.ends_with(b"\n") {
            left.cut = read;
            break;
        }
        left.complete += read;
        if let Some((session, number)) = session_and_number(&line)
            && open.get(session).is_some_and(|&(pending, _)| pending <= number)
        {
            open.remove(session);
        }
    }
    left.open = open.into_values().map(|(_, line)| String::from_utf8_lossy(line).into_owned()).collect();
    Ok(left)
}

/// Makes a history whole after its recorder was killed: cuts off a line that is not complete, and adds the transactions that were open, as
/// indeterminate ones. Not while it is being recorded.
pub fn recover(path: impl AsRef<Path>) -> io::Result<Leftover> {
    let path = path.as_ref();
    let left = leftover(path)?;
    if left.cut > 0 {
        OpenOptions::new().write(true).open(path)?.set_len(left.complete)?;
    }
    if !left.open.is_empty() {
        OpenOptions::new().append(true).open(path)?.write_all(left.open.concat().as_bytes())?;
    }
    match fs::remove_file(beside(path)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(left),
    }
}

/// How many bytes are complete lines, and how many come after.
fn complete(file: &mut File) -> io::Result<(u64, u64)> {
    let length = file.metadata()?.len();
    let mut window = 1 << 16;
    loop {
        let from = length.saturating_sub(window);
        file.seek(io::SeekFrom::Start(from))?;
        let mut tail = Vec::new();
        Read::by_ref(file).take(length - from).read_to_end(&mut tail)?;
        match tail.iter().rposition(|&byte| byte == b'\n') {
            Some(at) => return Ok((from + at as u64 + 1, length - from - at as u64 - 1)),
            None if from == 0 => return Ok((0, length)),
            None => window *= 16,
        }
    }
}

/// Which transaction of which session a line of a recorder is. Within a text a quotation mark has a backslash before it, so the first
/// field that looks like the number is the number.
fn session_and_number(line: &[u8]) -> Option<(&[u8], u64)> {
    const NUMBER: &[u8] = b",\"txn\":";
    let at = line.windows(NUMBER.len()).position(|window| window == NUMBER)?;
    let digits = &line[at + NUMBER.len()..];
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    let number = str::from_utf8(&digits[..end]).ok()?.parse().ok()?;
    Some((line[..at].strip_prefix(b"{\"session\":")?, number))
}
