//! A file of a log, on this disk or in a bucket.

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::identity::FileIdentity;
use super::ranges::Ranges;
#[cfg(feature = "cloud")]
use super::remote::RemoteFile;
use stapo_base::error::{Error, Result};
use stapo_store::is_url;

/// A file, wherever it is kept.
#[derive(Clone)]
pub struct Stored {
    path: PathBuf,
    keeper: Keeper,
}

impl std::fmt::Debug for Stored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.path.fmt(f)
    }
}

#[derive(Clone)]
enum Keeper {
    Disk,
    /// The first bytes of a file that grows.
    Begin(u64),
    #[cfg(feature = "cloud")]
    Remote(Arc<RemoteFile>),
}

// Without buckets there is nothing to plan.
#[cfg_attr(not(feature = "cloud"), allow(unused_variables))]
impl Stored {
    /// A file of this disk.
    pub fn on_disk(path: &Path) -> Self {
        Self { path: path.to_owned(), keeper: Keeper::Disk }
    }

    /// The file of this path or address.
    pub fn at(path: &Path) -> Result<Self> {
        if !is_url(path) {
            return Ok(Self::on_disk(path));
        }
        #[cfg(feature = "cloud")]
        return super::remote::object_at(path).map(Self::remote);
        #[cfg(not(feature = "cloud"))]
        return Err(stapo_store::not_built(path));
    }

    /// Its first bytes alone: what comes after them is still being written.
    pub fn first(&self, bytes: u64) -> Self {
        Self { keeper: Keeper::Begin(bytes), ..self.clone() }
    }

    /// An object of a bucket or a web server.
    #[cfg(feature = "cloud")]
    pub fn remote(object: Arc<stapo_store::Object>) -> Self {
        let path = object.path().to_owned();
        Self { path, keeper: Keeper::Remote(Arc::new(RemoteFile::new(object))) }
    }

    /// Where it is: a path of this disk, or an address in a bucket or of a web server.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What tells it from a file that takes its name later. Of an object, known once something was
    /// read of it.
    pub fn identity(&self) -> Result<FileIdentity> {
        match &self.keeper {
            Keeper::Disk => FileIdentity::of(&self.path),
            Keeper::Begin(bytes) => {
                let mut identity = FileIdentity::of(&self.path)?;
                identity.bytes = *bytes;
                Ok(identity)
            }
            #[cfg(feature = "cloud")]
            Keeper::Remote(file) => Ok(file.identity()),
        }
    }

    /// What a look at the folder or the listing alone tells of its state.
    pub fn glance(&self) -> Result<FileIdentity> {
        match &self.keeper {
            Keeper::Disk | Keeper::Begin(_) => FileIdentity::of(&self.path),
            #[cfg(feature = "cloud")]
            Keeper::Remote(file) => Ok(file.listed()),
        }
    }

    /// Fails where the file under this name is another one by now.
    pub fn require_same(&self, identity: &FileIdentity) -> Result<()> {
        match &self.keeper {
            Keeper::Disk => identity.require_same(&self.path),
            Keeper::Begin(_) => identity.require_begin_of(&self.path),
            // Every single read of an object is on the condition that it is the same.
            #[cfg(feature = "cloud")]
            Keeper::Remote(_) => Ok(()),
        }
    }

    /// Its bytes in any order, and how many there are.
    pub fn open(&self) -> Result<(Arc<dyn Ranges>, u64)> {
        match &self.keeper {
            Keeper::Disk | Keeper::Begin(_) => {
                let file = File::open(&self.path).map_err(|e| Error::read(&self.path, e))?;
                let length = file.metadata().map_err(|e| Error::read(&self.path, e))?.len();
                Ok((Arc::new(file), length))
            }
            #[cfg(feature = "cloud")]
            Keeper::Remote(file) => Ok((file.anywhere(), file.size())),
        }
    }

    /// The bytes of some stretches, each read forward and all side by side; at most `window` bytes are
    /// fetched ahead.
    pub fn stretches(&self, stretches: &[Range<u64>], window: u64) -> Result<Arc<dyn Ranges>> {
        match &self.keeper {
            Keeper::Disk | Keeper::Begin(_) => Ok(self.open()?.0),
            #[cfg(feature = "cloud")]
            Keeper::Remote(file) => file.stretches(stretches, window),
        }
    }

    /// All bytes, from the first on.
    pub fn stream(&self, window: u64) -> Result<Box<dyn Read + Send>> {
        match &self.keeper {
            Keeper::Disk => Ok(Box::new(File::open(&self.path).map_err(|e| Error::read(&self.path, e))?)),
            Keeper::Begin(bytes) => {
                let file = File::open(&self.path).map_err(|e| Error::read(&self.path, e))?;
                Ok(Box::new(file.take(*bytes)))
            }
            #[cfg(feature = "cloud")]
            Keeper::Remote(file) => file.stream(window),
        }
    }

    /// Whether reading it means waiting, so that it pays to begin early.
    pub fn is_far(&self) -> bool {
        match &self.keeper {
            Keeper::Disk | Keeper::Begin(_) => false,
            #[cfg(feature = "cloud")]
            Keeper::Remote(_) => true,
        }
    }

    /// Begins what [`Self::stretches`] with the same arguments will need, or [`Self::stream`] where
    /// there are none. What fails here fails again there, and is told then.
    pub fn begin(&self, stretches: Option<&[Range<u64>]>, window: u64) {
        match &self.keeper {
            Keeper::Disk | Keeper::Begin(_) => {}
            #[cfg(feature = "cloud")]
            Keeper::Remote(file) => file.begin(stretches, window),
        }
    }
}
