//! The shared corpus: `ISONOMY_CORPUS`, or `shared/corpus` beside the repository. Tests that lack it say so and pass.

#![allow(dead_code, reason = "each test binary uses its own part of this")]
#![allow(clippy::print_stderr, reason = "whoever runs the tests should know what they did not do")]

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use isonomy_history::History;
use isonomy_history::formats::{self, ReadOptions, Source};

pub(crate) fn corpus() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let root = std::env::var_os("ISONOMY_CORPUS").map_or(beside, PathBuf::from);
    if root.is_dir() {
        return Some(root);
    }
    eprintln!("no corpus at {}: nothing is tested", root.display());
    None
}

pub(crate) fn load(path: &Path) -> History {
    let source = if path.is_dir() {
        let files = fs::read_dir(path).unwrap().map(|entry| {
            let entry = entry.unwrap();
            let input: Box<dyn Read> = Box::new(File::open(entry.path()).unwrap());
            (entry.file_name().into_string().unwrap(), input)
        });
        Source::Directory(files.collect())
    } else {
        Source::Stream(Box::new(File::open(path).unwrap()))
    };
    formats::read(source, ReadOptions::default()).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Sorted paths of the histories below a folder.
pub(crate) fn histories(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

pub(crate) fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap().to_str().unwrap().to_string()
}
