//! Where state files are: a folder of this machine, or the prefix of a bucket.

use std::path::{Path, PathBuf};

use crate::{Shelf, is_url};
use stapo_base::error::{Error, Result};

/// The shelf that a file is on, and its name there.
fn shelf_of(path: &Path) -> Result<(Shelf, String)> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok((Shelf::open(folder)?, name))
}

/// Reads a file whole; fails where there is none.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    if !is_url(path) {
        return std::fs::read(path).map_err(|e| Error::read(path, e));
    }
    let (shelf, name) = shelf_of(path)?;
    shelf.get(&name)?.ok_or_else(|| Error::NotFound { path: path.to_owned() })
}

/// Writes a file, which appears whole.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let (shelf, name) = shelf_of(path)?;
    shelf.put(&name, bytes)
}

/// Removes a file; one that is not there is no error.
pub fn remove(path: &Path) -> Result<()> {
    let (shelf, name) = shelf_of(path)?;
    shelf.remove(&name)
}

/// The files of a folder whose names begin and end like this, by name.
pub fn list(folder: &Path, prefix: &str, ending: &str) -> Result<Vec<PathBuf>> {
    if !is_url(folder) && !folder.exists() {
        return Err(Error::NotFound { path: folder.to_owned() });
    }
    let shelf = Shelf::open(folder)?;
    let named = |name: &String| name.starts_with(prefix) && name.ends_with(ending);
    Ok(shelf.list()?.into_iter().map(|held| held.name).filter(named).map(|name| folder.join(name)).collect())
}

/// Whether this is a folder, or the prefix of a bucket: state files end in `.part` and `.json`.
pub fn is_folder(path: &Path) -> bool {
    match is_url(path) {
        true => !path.extension().is_some_and(|ending| ending == "part" || ending == "json"),
        false => path.is_dir(),
    }
}
