//! A directory of its own for each test, removed at the end.

use std::fs;
use std::path::PathBuf;

pub(crate) struct Place(pub(crate) PathBuf);

impl Place {
    pub(crate) fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("isonomy-driver-{test}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("the temporary directory is writable");
        Place(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
