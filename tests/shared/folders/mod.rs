//! Folders that commands leave, held against each other.
#![allow(dead_code, clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Every file below a folder, by its name there, with its bytes.
pub type Tree = BTreeMap<PathBuf, Vec<u8>>;

/// Every file below a folder.
pub fn tree(folder: &Path) -> Tree {
    let mut all = Tree::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).unwrap().flatten() {
            match entry.path().is_dir() {
                true => open.push(entry.path()),
                false => {
                    let name = entry.path().strip_prefix(folder).unwrap().to_owned();
                    all.insert(name, std::fs::read(entry.path()).unwrap());
                }
            }
        }
    }
    all
}

/// The same files with the same bytes, and not just a few.
#[track_caller]
pub fn assert_same_files(expected: &Tree, found: &Tree) {
    assert!(expected.len() > 5);
    assert_eq!(expected.keys().collect::<Vec<_>>(), found.keys().collect::<Vec<_>>());
    for (name, bytes) in expected {
        assert!(found[name] == *bytes, "{} differs", name.display());
    }
}
