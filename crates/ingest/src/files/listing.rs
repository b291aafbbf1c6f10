//! A prefix of a bucket as a tree of folders.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use glob::{MatchOptions, Pattern};

use super::path_facts::natural_cmp;
use super::tree::Tree;
use crate::storage::stored::Stored;
use stapo_base::error::{Error, Result};
use stapo_store::{Bucket, Found, Object};

/// A star stops at a slash, as it does on a disk.
const MATCHING: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

/// What was found under a prefix.
#[derive(Default)]
pub struct Listing {
    files: BTreeMap<PathBuf, Arc<Object>>,
    folders: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
}

impl Listing {
    /// What an address means, a file, a folder or a glob, with the paths it stands for.
    pub fn of(argument: &Path) -> Result<(Self, Vec<PathBuf>)> {
        let bucket = Bucket::of(argument)?;
        let key = bucket.key().to_owned();
        let is_glob = key.contains(['*', '?', '[']);
        if !bucket.can_list() && (is_glob || key.is_empty() || key.ends_with('/')) {
            return Err(Error::Remote {
                path: argument.to_owned(),
                asked: "list it".into(),
                message: "a web server has no listing".into(),
                hint: "name the files one by one, or use s3://, gs:// or az://".into(),
            });
        }
        if is_glob {
            return Self::of_glob(argument, &bucket, &key);
        }
        if !key.ends_with('/')
            && let Some(found) = bucket.find(&key)?
        {
            let path = bucket.path_of(&key);
            let listing = Self { files: [(path.clone(), found.object)].into(), folders: BTreeMap::new() };
            return Ok((listing, vec![path]));
        }
        let folder = key.trim_end_matches('/');
        let listing = Self::new(&bucket, folder, bucket.list(folder)?);
        match listing.files.is_empty() {
            true => Err(Error::NotFound { path: argument.to_owned() }),
            false => Ok((listing, vec![bucket.path_of(folder)])),
        }
    }

    /// A key that exists is taken as it is, even if it looks like a glob.
    fn of_glob(argument: &Path, bucket: &Bucket, key: &str) -> Result<(Self, Vec<PathBuf>)> {
        let fixed = key.find(['*', '?', '[']).map_or(key, |at| &key[..at]);
        let folder = fixed.rsplit_once('/').map_or("", |(folder, _)| folder);
        let listing = Self::new(bucket, folder, bucket.list(folder)?);
        let literal = bucket.path_of(key);
        if listing.exists(&literal) {
            return Ok((listing, vec![literal]));
        }
        let pattern = Pattern::new(&literal.to_string_lossy()).map_err(|e| Error::Usage {
            message: format!("{}: {e}", argument.display()),
            hint: "correct the glob".into(),
        })?;
        let all = listing.files.keys().chain(listing.folders.keys());
        let matches = |path: &&PathBuf| pattern.matches_with(&path.to_string_lossy(), MATCHING);
        let mut matched: Vec<PathBuf> = all.filter(matches).cloned().collect();
        matched.sort_by(|a, b| natural_cmp(a, b));
        match matched.is_empty() {
            true => Err(Error::NotFound { path: argument.to_owned() }),
            false => Ok((listing, matched)),
        }
    }

    fn new(bucket: &Bucket, folder: &str, found: Vec<Found>) -> Self {
        let mut listing = Self::default();
        let root = bucket.path_of(folder);
        for Found { key, object } in found {
            let path = bucket.path_of(&key);
            let mut inner = path.clone();
            for outer in path.ancestors().skip(1).take_while(|outer| outer.starts_with(&root)) {
                let outer = outer.to_owned();
                listing.folders.entry(outer.clone()).or_default().insert(inner);
                inner = outer;
            }
            listing.files.insert(path, object);
        }
        // Some tools keep an empty object in the place of a folder.
        let folders = &listing.folders;
        listing.files.retain(|path, object| object.size() > 0 || !folders.contains_key(path));
        listing
    }
}

impl Tree for Listing {
    fn entries(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        Ok(self.folders.get(folder).into_iter().flatten().cloned().collect())
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.folders.contains_key(path)
    }

    fn exists(&self, path: &Path) -> bool {
        self.files.contains_key(path) || self.folders.contains_key(path)
    }

    fn identity(&self, path: &Path) -> Result<PathBuf> {
        Ok(path.to_owned())
    }

    fn require_regular(&self, path: &Path) -> Result<()> {
        match self.files.contains_key(path) {
            true => Ok(()),
            false => Err(Error::NotRegular { path: path.to_owned() }),
        }
    }

    fn stored(&self, path: &Path) -> Result<Stored> {
        let object = self.files.get(path).ok_or_else(|| Error::NotFound { path: path.to_owned() })?;
        Ok(Stored::remote(object.clone()))
    }
}
