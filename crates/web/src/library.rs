//! What there is to look at: histories and run folders below the folders that the server was given.
//!
//! Whoever asks for something names it by the id that a listing gave it, never by a path. Ids are digests of paths, so that they are the same
//! after a restart; but only what was listed can be found by one. Links are not followed: where they lead inside the folder, what they lead
//! to is listed anyway, and where they lead out, it is not ours to show.

mod entry;
mod scan;
mod told;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

pub(crate) use entry::{Entry, Kind};
pub(crate) use told::{Told, weakest};

/// The folders, and what was found in them.
#[derive(Debug)]
pub(crate) struct Library {
    folders: Vec<PathBuf>,
    /// How many entries are listed at most.
    most: usize,
    known: Mutex<BTreeMap<String, Entry>>,
}

/// What a listing found.
#[derive(Debug)]
pub(crate) struct Listing {
    /// The newest first.
    pub(crate) entries: Vec<Entry>,
    /// Whether there was more than may be listed.
    pub(crate) cut: bool,
}

impl Library {
    pub(crate) fn new(folders: Vec<PathBuf>, most: usize) -> Self {
        Library { folders, most, known: Mutex::default() }
    }

    /// Looks at all folders. What was known and has not changed is not read again.
    pub(crate) fn list(&self) -> Listing {
        let before = self.known.lock().expect("no thread panics with the lock").clone();
        let mut found = BTreeMap::new();
        let mut cut = false;
        for folder in &self.folders {
            // A folder that is not there yet may come: that of runs is made by the first one.
            let Ok(folder) = fs::canonicalize(folder) else { continue };
            cut |= scan::scan(&folder, self.most, &before, &mut found);
        }
        let mut entries: Vec<Entry> = found.values().cloned().collect();
        entries.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
        *self.known.lock().expect("no thread panics with the lock") = found;
        Listing { entries, cut }
    }

    /// What has this id, as it is now, if it was listed and is still where it was.
    pub(crate) fn find(&self, id: &str) -> Option<Entry> {
        let known = || self.known.lock().expect("no thread panics with the lock");
        if !known().contains_key(id) {
            self.list();
        }
        let listed = known().get(id)?.clone();
        let (folder, path) = (self.folder_of(&listed.path)?, listed.path.clone());
        let kind = fs::symlink_metadata(&path).ok()?.file_type();
        let entry = scan::look(&folder, &path, kind, &BTreeMap::from([(listed.id.clone(), listed)]))?;
        known().insert(entry.id.clone(), entry.clone());
        Some(entry)
    }

    /// The folder that a path is below, if it is what it says, without links. It was when it was listed.
    fn folder_of(&self, path: &Path) -> Option<PathBuf> {
        let mut folders = self.folders.iter().filter_map(|folder| fs::canonicalize(folder).ok());
        fs::canonicalize(path).ok().filter(|real| real == path)?;
        folders.find(|folder| path.starts_with(folder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HISTORY: &str = "{\"session\":0,\"ops\":[[\"w\",\"x\",1]]}\n";

    #[test]
    fn only_what_was_listed_can_be_found() {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let write = |folder: &Path, name: &str| {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, HISTORY).unwrap();
            path
        };
        let secret = write(outside.path(), "secret.jsonl");
        write(inside.path(), "a.jsonl");
        write(inside.path(), "deep/b.jsonl");
        write(inside.path(), "seed-4/history.jsonl");
        write(inside.path(), ".hidden/c.jsonl");
        fs::write(inside.path().join("notes.jsonl"), "not a history\u{0}").unwrap();
        fs::write(inside.path().join("server.log"), "http://127.0.0.1:8765/\n").unwrap();
        std::os::unix::fs::symlink(&secret, inside.path().join("link.jsonl")).unwrap();
        std::os::unix::fs::symlink(outside.path(), inside.path().join("folder")).unwrap();

        let library = Library::new(vec![inside.path().to_path_buf(), "/nowhere/at/all".into()], 100);
        let listing = library.list();
        let mut names: Vec<&str> = listing.entries.iter().map(|entry| entry.name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["a.jsonl", "deep/b.jsonl", "seed-4"]);
        assert!(!listing.cut);
        let run = listing.entries.iter().find(|entry| entry.kind == Kind::Run).unwrap();
        assert_eq!(library.find(&run.id).unwrap().path, run.path);
        for bad in ["", "..", "../secret.jsonl", "a.jsonl", &scan::id(&secret)] {
            assert!(library.find(bad).is_none(), "{bad}");
        }

        // What becomes a link after it was listed is not followed either.
        let path = inside.path().join("a.jsonl");
        let id = listing.entries.iter().find(|entry| entry.name == "a.jsonl").unwrap().id.clone();
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&secret, &path).unwrap();
        assert!(library.find(&id).is_none());
        let path = run.path.join("history.jsonl");
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&secret, &path).unwrap();
        assert!(library.find(&run.id).is_none());
    }

    #[test]
    fn listings_have_an_end() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..5 {
            fs::write(folder.path().join(format!("{number}.jsonl")), HISTORY).unwrap();
        }
        let listing = Library::new(vec![folder.path().to_path_buf()], 3).list();
        assert_eq!((listing.entries.len(), listing.cut), (3, true));
    }
}
