//! Where servers keep their files.

use std::fs;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;
use tempfile::TempDir;

use crate::error::Error;

/// Database servers refuse to run as root, so root starts them as this user. It exists everywhere and owns nothing.
pub(crate) const UNPRIVILEGED: &str = "nobody";
const UNPRIVILEGED_ID: u32 = 65534;

/// Whether servers have to be started as [`UNPRIVILEGED`].
pub(crate) fn is_root() -> bool {
    geteuid().is_root()
}

/// A temporary folder that servers can write to.
#[derive(Debug)]
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new(name: &str) -> Result<Self, Error> {
        // Paths of Unix sockets must be short, hence no deep names.
        let folder = tempfile::Builder::new()
            .prefix(&format!("isonomy-{name}-"))
            .tempdir()
            .map_err(Error::system("making a temporary folder"))?;
        give_away(folder.path())?;
        Ok(Folder(folder))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Makes a folder inside.
    pub(crate) fn make(&self, name: &str) -> Result<PathBuf, Error> {
        let path = self.path().join(name);
        fs::create_dir(&path).map_err(Error::system(format!("making {}", path.display())))?;
        give_away(&path)?;
        Ok(path)
    }
}

fn give_away(path: &Path) -> Result<(), Error> {
    if is_root() {
        chown(path, Some(UNPRIVILEGED_ID), Some(UNPRIVILEGED_ID))
            .map_err(Error::system(format!("giving {} to {UNPRIVILEGED}", path.display())))?;
    }
    Ok(())
}
