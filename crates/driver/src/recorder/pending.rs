//! The file of open transactions: a slot for each session, written over in place.
//!
//! A slot begins with its size, so that the file can be walked, and goes on with a line of `jsonl` that is the transaction so far; what comes
//! after the end of that line is left from earlier ones. A transaction that outgrows the slot of its session moves to a larger one at the
//! end of the file. Slots of sessions that have ended are used again.
//!
//! Nobody clears a slot: its line has a number, and the history tells whether that transaction has ended.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

/// The smallest slot is a page: what is written there at once is there as a whole or not at all, even if the writer is killed.
const PAGE: u64 = 4096;
/// `slot 0000004096\n`.
pub(super) const HEAD: usize = 16;

#[derive(Debug)]
pub(super) struct Pending {
    path: PathBuf,
    file: File,
    places: Mutex<Places>,
}

#[derive(Debug, Default)]
struct Places {
    end: u64,
    free: Vec<Slot>,
}

/// A place in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Slot {
    at: u64,
    size: u64,
}

impl Pending {
    pub(super) fn create(path: &Path) -> io::Result<Pending> {
        Ok(Pending { path: path.to_path_buf(), file: File::create(path)?, places: Mutex::default() })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Puts a line into a slot, or into a larger one if it does not fit. The buffer begins with room for the head.
    pub(super) fn put(&self, slot: &mut Slot, buffer: &mut [u8]) -> io::Result<()> {
        debug_assert!(buffer.ends_with(b"\n"), "a line has an end");
        let needed = buffer.len() as u64;
        if needed <= slot.size {
            return self.write(*slot, buffer);
        }
        // Under the lock until it is written: otherwise a kill could leave a gap, and whoever walks the file would stop there.
        let mut places = self.places();
        let fits = places.free.iter().position(|free| free.size >= needed);
        let larger = match fits {
            Some(index) => places.free.swap_remove(index),
            None => Slot { at: places.end, size: needed.next_multiple_of(PAGE).max(2 * slot.size) },
        };
        self.write(larger, buffer)?;
        places.end = places.end.max(larger.at + larger.size);
        if slot.size > 0 {
            // The line in the old slot is an earlier state of the one just written. Readers take the longer of two.
            places.free.push(*slot);
        }
        *slot = larger;
        Ok(())
    }

    /// The session has ended.
    pub(super) fn give_back(&self, slot: Slot) {
        if slot.size > 0 {
            self.places().free.push(slot);
        }
    }

    pub(super) fn remove(&self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }

    fn write(&self, slot: Slot, buffer: &mut [u8]) -> io::Result<()> {
        let head = format!("slot {:010}\n", slot.size);
        buffer[..HEAD].copy_from_slice(head.as_bytes());
        write_at(&self.file, buffer, slot.at)
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().expect("nothing panics with the lock")
    }
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(windows)]
fn write_at(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = std::os::windows::fs::FileExt::seek_write(file, bytes, at)?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = &bytes[written..];
        at += written as u64;
    }
    Ok(())
}

/// The lines in the slots of a file, as far as they are complete.
pub(super) fn lines(mut content: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    while let Some((head, _)) = content.split_at_checked(HEAD) {
        let size = head.strip_prefix(b"slot ").and_then(|size| str::from_utf8(size).ok());
        let Some(size) = size.and_then(|size| size.trim_end().parse::<usize>().ok()).filter(|&size| size > HEAD) else {
            break;
        };
        let slot = &content[HEAD..size.min(content.len())];
        if let Some(end) = slot.iter().position(|&byte| byte == b'\n') {
            lines.push(&slot[..=end]);
        }
        content = content.get(size..).unwrap_or_default();
    }
    lines
}
