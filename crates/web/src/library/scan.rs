//! Goes through a folder and finds what can be looked at.

use std::collections::BTreeMap;
use std::fs::{self, DirEntry, FileType, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use isonomy::{Format, ReadOptions, formats};
use sha2::{Digest, Sha256};

use super::entry::{self, Entry, Kind};

/// How deep folders are looked into, and how many of them.
const DEPTH: usize = 6;
const FOLDERS: usize = 5_000;

/// As much of a file as its format is told by.
const HEAD: u64 = 64 << 10;

/// How names of histories end.
const ENDINGS: [&str; 10] = ["jsonl", "json", "hist", "ison", "txt", "edn", "bincode", "yaml", "yml", "log"];

/// Folders that programs fill with what is no history.
const NOT_OURS: [&str; 2] = ["node_modules", "target"];

/// The id of a path.
pub(super) fn id(path: &Path) -> String {
    let digest = Sha256::digest(path.as_os_str().as_encoded_bytes());
    digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect()
}

/// Adds what is below a folder, which is a path without links. Whether there was more than may be listed.
pub(super) fn scan(
    folder: &Path,
    most: usize,
    before: &BTreeMap<String, Entry>,
    found: &mut BTreeMap<String, Entry>,
) -> bool {
    let mut open = vec![(folder.to_path_buf(), 0)];
    let mut looked_into = 0;
    while let Some((inside, depth)) = open.pop() {
        looked_into += 1;
        if looked_into > FOLDERS {
            return true;
        }
        for child in children(&inside) {
            let (path, Ok(kind)) = (child.path(), child.file_type()) else { continue };
            let Some(entry) = look(folder, &path, kind, before) else {
                if kind.is_dir() && depth < DEPTH && !NOT_OURS.iter().any(|name| child.file_name() == *name) {
                    open.push((path, depth + 1));
                }
                continue;
            };
            // Folders may be inside each other: the first one names what is in both.
            if found.contains_key(&entry.id) {
                continue;
            }
            if found.len() >= most {
                return true;
            }
            found.insert(entry.id.clone(), entry);
        }
    }
    false
}

/// What a path below a folder is. What was known before and has not changed is not read again.
pub(super) fn look(folder: &Path, path: &Path, kind: FileType, before: &BTreeMap<String, Entry>) -> Option<Entry> {
    if kind.is_dir() {
        of_folder(folder, path, before)
    } else if kind.is_file() {
        of_file(folder, path, before)
    } else {
        // Links are not followed.
        None
    }
}

/// What is in a folder and not hidden, by name.
fn children(folder: &Path) -> Vec<DirEntry> {
    let Ok(children) = fs::read_dir(folder) else { return Vec::new() };
    let is_hidden = |child: &DirEntry| child.file_name().as_encoded_bytes().starts_with(b".");
    let mut children: Vec<DirEntry> = children.flatten().filter(|child| !is_hidden(child)).collect();
    children.sort_by_key(DirEntry::file_name);
    children
}

/// A run, or a directory of logs.
fn of_folder(folder: &Path, path: &Path, before: &BTreeMap<String, Entry>) -> Option<Entry> {
    let plain = |name: &str| fs::symlink_metadata(path.join(name)).ok().filter(Metadata::is_file);
    if let Some(history) = plain("history.jsonl") {
        let report = plain("report.json");
        let modified = report.as_ref().unwrap_or(&history).modified().unwrap_or(SystemTime::UNIX_EPOCH);
        if let Some(same) = unchanged(path, history.len(), modified, before) {
            return Some(same);
        }
        let verdicts = entry::report(path).map_or_else(Vec::new, |report| entry::verdicts(&report));
        let entry = new(folder, path, Kind::Run, Some(Format::Jsonl), history.len(), modified);
        return Some(Entry { verdicts, ..entry });
    }
    if let Some(history) = plain("history.bincode") {
        let modified = history.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        return Some(new(folder, path, Kind::History, Some(Format::Dbcop), history.len(), modified));
    }
    logs(path).map(|(format, size, modified)| new(folder, path, Kind::History, Some(format), size, modified))
}

/// The format and size of a directory that has nothing but numbered logs.
fn logs(path: &Path) -> Option<(Format, u64, SystemTime)> {
    let (mut format, mut size, mut modified) = (None, 0, SystemTime::UNIX_EPOCH);
    for child in children(path) {
        let name = child.file_name();
        let name = name.to_str()?.strip_suffix(".log")?;
        let (first, number) = (name.chars().next()?, name.get(1..)?);
        let of_name = match first {
            'T' => Format::Cobra,
            'J' => Format::Viper,
            _ => return None,
        };
        let fits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let metadata = child.metadata().ok().filter(Metadata::is_file)?;
        if !fits || format.is_some_and(|format| format != of_name) {
            return None;
        }
        format = Some(of_name);
        size += metadata.len();
        modified = modified.max(metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH));
    }
    format.map(|format| (format, size, modified))
}

/// A file whose name and content are those of a history.
fn of_file(folder: &Path, path: &Path, before: &BTreeMap<String, Entry>) -> Option<Entry> {
    let ending = path.extension()?.to_str()?;
    if !ENDINGS.contains(&ending) {
        return None;
    }
    let metadata = fs::symlink_metadata(path).ok()?;
    let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    if let Some(same) = unchanged(path, metadata.len(), modified, before) {
        return Some(same);
    }
    let mut head = Vec::new();
    entry::plain_file(path)?.take(HEAD).read_to_end(&mut head).ok()?;
    let format = formats::detect(&head)?;
    // Notes and logs can look like `hist` at first sight. Small ones are read to see.
    if format == Format::Hist && ending != "hist" && metadata.len() < HEAD {
        let source = formats::Source::Stream(Box::new(&head[..]));
        formats::read(source, ReadOptions::default()).ok()?;
    }
    Some(new(folder, path, Kind::History, Some(format), metadata.len(), modified))
}

fn unchanged(path: &Path, size: u64, modified: SystemTime, before: &BTreeMap<String, Entry>) -> Option<Entry> {
    before.get(&id(path)).filter(|entry| entry.size == size && entry.modified == modified).cloned()
}

fn new(folder: &Path, path: &Path, kind: Kind, format: Option<Format>, size: u64, modified: SystemTime) -> Entry {
    let below: PathBuf = path.strip_prefix(folder).unwrap_or(path).to_path_buf();
    let name = below.to_string_lossy().into_owned();
    Entry { id: id(path), kind, name, path: path.to_path_buf(), format, size, modified, verdicts: Vec::new() }
}
