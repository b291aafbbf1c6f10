//! What is in a bucket, or on a web server.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use object_store::path::Path as Location;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};

use super::address::{Address, Scheme};
use super::object::Object;
use super::{connect, failure, runtime};
use stapo_base::error::{Error, Result};

/// Objects under one prefix that are looked at; a run has thousands.
const MOST_OBJECTS: usize = 1_000_000;
/// A listing takes no longer: a server could go on forever with empty pages.
const LIST_TIME: Duration = Duration::from_secs(600);

/// A bucket or host.
pub struct Bucket {
    store: Arc<dyn ObjectStore>,
    address: Address,
    path: PathBuf,
}

/// An object that a listing found.
pub struct Found {
    /// Its key.
    pub key: String,
    /// The object.
    pub object: Arc<Object>,
}

impl Bucket {
    /// The bucket or host of an address.
    pub fn of(path: &Path) -> Result<Self> {
        let address = Address::parse(path)?;
        let store = connect::client(&address, path)?;
        Ok(Self { store, address, path: path.to_owned() })
    }

    /// The key of the address, as given.
    pub fn key(&self) -> &str {
        &self.address.key
    }

    /// The address of a key.
    pub fn path_of(&self, key: &str) -> PathBuf {
        self.address.of_key(key)
    }

    /// Whether prefixes can be listed: web servers have none.
    pub fn can_list(&self) -> bool {
        self.address.scheme != Scheme::Web
    }

    /// The object of this key; `None` where there is none.
    pub fn find(&self, key: &str) -> Result<Option<Found>> {
        let location = self.location(key)?;
        if location.as_ref().is_empty() {
            return Ok(None);
        }
        let (store, at) = (self.store.clone(), location.clone());
        let (path, scheme) = (self.path_of(key), self.address.scheme);
        let found = runtime::block(async move {
            match store.head(&at).await {
                Ok(meta) => Ok(Some(meta)),
                // Without a body nothing tells a missing key from a missing bucket: a listing does.
                Err(object_store::Error::NotFound { .. }) if scheme != Scheme::Web => Ok(None),
                Err(e) => Err(failure::of(&path, scheme, "look for it", &e)),
            }
        })?;
        Ok(found.map(|meta| self.found(&meta)))
    }

    /// All objects under a prefix, by key. A prefix ends where a folder would: `a` does not find `ab`.
    pub fn list(&self, prefix: &str) -> Result<Vec<Found>> {
        let location = self.location(prefix)?;
        let store = self.store.clone();
        let (path, scheme) = (self.path.clone(), self.address.scheme);
        let listing = async move {
            let mut metas = Vec::new();
            let mut pages = store.list(Some(&location));
            while let Some(meta) = pages.next().await {
                metas.push(meta.map_err(|e| failure::of(&path, scheme, "list it", &e))?);
                if metas.len() > MOST_OBJECTS {
                    return Err(too_many(&path));
                }
            }
            Ok(metas)
        };
        let path = self.path.clone();
        let metas: Vec<ObjectMeta> = runtime::block(async move {
            tokio::time::timeout(LIST_TIME, listing).await.unwrap_or_else(|_| Err(too_long(&path)))
        })?;
        let mut found: Vec<Found> = metas.iter().map(|meta| self.found(meta)).collect();
        found.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(found)
    }

    fn found(&self, meta: &ObjectMeta) -> Found {
        let key = meta.location.to_string();
        let object = Object::new(self.store.clone(), self.address.scheme, self.path_of(&key), meta);
        Found { key, object: Arc::new(object) }
    }

    /// Keys of buckets are taken as they are; those of web servers are written as in any address.
    pub(super) fn location(&self, key: &str) -> Result<Location> {
        let parsed = match self.address.scheme {
            Scheme::Web => Location::from_url_path(key),
            _ => Location::parse(key),
        };
        parsed.map_err(|e| Error::Usage {
            message: format!("{}: {e}", self.path.display()),
            hint: "a key is names with single slashes between them, without . and ..".into(),
        })
    }

    /// For what only the shelf does.
    pub(super) fn parts(&self) -> (Arc<dyn ObjectStore>, Scheme) {
        (self.store.clone(), self.address.scheme)
    }
}

fn too_many(path: &Path) -> Error {
    Error::Remote {
        path: path.to_owned(),
        asked: "list it".into(),
        message: format!("more than {} objects", stapo_base::format::grouped(MOST_OBJECTS as u64)),
        hint: "give a longer prefix: the folder of one run".into(),
    }
}

fn too_long(path: &Path) -> Error {
    Error::Remote {
        path: path.to_owned(),
        asked: "list it".into(),
        message: format!("the listing did not end in {} s", LIST_TIME.as_secs()),
        hint: "give a longer prefix: the folder of one run".into(),
    }
}
