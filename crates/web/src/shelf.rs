//! The last few histories that were looked into, so that the next look is quick.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use isonomy::{History, ReadOptions};

use crate::config::Limits;
use crate::library::{Entry, Kind};

/// Loaded histories, the last one used at the end.
#[derive(Debug)]
pub(crate) struct Shelf {
    limits: Limits,
    held: Mutex<Vec<Held>>,
    /// One history is loaded at a time: two large ones at once may be more than there is memory.
    loading: Mutex<()>,
}

#[derive(Clone, Debug)]
struct Held {
    id: String,
    size: u64,
    modified: SystemTime,
    history: Arc<History>,
}

impl Shelf {
    pub(crate) fn new(limits: Limits) -> Self {
        Shelf { limits, held: Mutex::default(), loading: Mutex::default() }
    }

    /// The history of an entry. Takes a while if it is not on the shelf.
    pub(crate) fn get(&self, entry: &Entry) -> Result<Arc<History>, String> {
        if let Some(history) = self.held(entry) {
            return Ok(history);
        }
        // A history whose loading panicked is a bug, but no reason to refuse all others.
        let _loading = self.loading.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(history) = self.held(entry) {
            return Ok(history);
        }
        self.make_room(entry.size);
        let options = ReadOptions { memory_limit: Some(self.limits.memory), ..ReadOptions::default() };
        let history = isonomy::open_with(file(entry), options, |file| Box::new(file));
        let history = Arc::new(history.map_err(|error| error.to_string())?);
        let Entry { id, size, modified, .. } = entry;
        let held = Held { id: id.clone(), size: *size, modified: *modified, history: Arc::clone(&history) };
        self.held.lock().expect("no thread panics with the lock").push(held);
        Ok(history)
    }

    fn held(&self, entry: &Entry) -> Option<Arc<History>> {
        let mut held = self.held.lock().expect("no thread panics with the lock");
        let at = held.iter().position(|held| held.id == entry.id)?;
        let found = held.remove(at);
        if found.size != entry.size || found.modified != entry.modified {
            return None;
        }
        held.push(found.clone());
        Some(found.history)
    }

    /// Drops the oldest until there is a place, and until files of so many bytes fit: what a history takes is about what its file does.
    fn make_room(&self, size: u64) {
        let mut held = self.held.lock().expect("no thread panics with the lock");
        let total = |held: &[Held]| held.iter().map(|held| held.size).sum::<u64>();
        while !held.is_empty()
            && (held.len() >= self.limits.loaded.max(1) || total(&held) + size > self.limits.memory as u64)
        {
            held.remove(0);
        }
    }
}

/// The file of an entry, if it is not the folder itself.
fn file(entry: &Entry) -> std::path::PathBuf {
    let plain = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    match entry.kind {
        Kind::Run => entry.path.join("history.jsonl"),
        Kind::History => {
            Some(entry.path.join("history.bincode")).filter(|path| plain(path)).unwrap_or(entry.path.clone())
        }
    }
}
