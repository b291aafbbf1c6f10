//! A folder or a prefix of a bucket for files of our own: each appears whole or not at all.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::address::is_url;
use stapo_base::error::{Error, Result};
use stapo_base::output::{AtomicFile, make_folder};

#[cfg(feature = "cloud")]
use super::{bucket::Bucket, failure, runtime};

/// A folder, or the prefix of a bucket.
pub struct Shelf {
    path: PathBuf,
    kind: ShelfKind,
}

enum ShelfKind {
    Folder,
    #[cfg(feature = "cloud")]
    Bucket(Bucket),
}

/// A file on a shelf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Its name, without the folder.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

impl Shelf {
    /// A folder, which is made where needed, or an address such as `s3://bucket/work`.
    pub fn open(path: &Path) -> Result<Self> {
        let kind = if is_url(path) {
            remote(path)?
        } else {
            make_folder(path)?;
            ShelfKind::Folder
        };
        Ok(Self { path: path.to_owned(), kind })
    }

    /// Where a file of this name is, for messages.
    pub fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes a file; whoever reads sees the one before it or this one, never a part.
    pub fn put(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.named(name)?;
        match &self.kind {
            ShelfKind::Folder => {
                let mut file = AtomicFile::create(&path)?;
                file.write_all(bytes).map_err(|e| Error::write(&path, e))?;
                file.commit()
            }
            #[cfg(feature = "cloud")]
            ShelfKind::Bucket(bucket) => put(bucket, &path, bytes.to_vec()),
        }
    }

    /// Reads a file whole; `None` where there is none.
    pub fn get(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let path = self.named(name)?;
        match &self.kind {
            ShelfKind::Folder => match std::fs::read(&path) {
                Ok(bytes) => Ok(Some(bytes)),
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
                Err(e) => Err(Error::read(&path, e)),
            },
            #[cfg(feature = "cloud")]
            ShelfKind::Bucket(bucket) => {
                let Some(found) = bucket.find(&key_of(bucket, &path)?)? else { return Ok(None) };
                // In pieces, so that one slow answer is not waited for in vain.
                let mut bytes = Vec::new();
                let mut at = 0;
                while at < found.object.size() {
                    let end = found.object.size().min(at + PIECE);
                    bytes.extend_from_slice(&found.object.read(at..end)?);
                    at = end;
                }
                Ok(Some(bytes))
            }
        }
    }

    /// The files, by name; folders in it, and files in the making, are passed over.
    pub fn list(&self) -> Result<Vec<Held>> {
        let mut held = match &self.kind {
            ShelfKind::Folder => {
                let failed = |e| Error::read(&self.path, e);
                let mut held = Vec::new();
                for entry in std::fs::read_dir(&self.path).map_err(failed)? {
                    let entry = entry.map_err(failed)?;
                    let name = entry.file_name().to_string_lossy().into_owned();
                    // A file may go while the folder is read.
                    let Ok(metadata) = entry.metadata() else { continue };
                    if metadata.is_file() && !name.starts_with('.') {
                        held.push(Held { name, bytes: metadata.len() });
                    }
                }
                held
            }
            #[cfg(feature = "cloud")]
            ShelfKind::Bucket(bucket) => {
                let found = bucket.list(bucket.key())?;
                let inside = |key: &str| key.rsplit('/').next().map(str::to_owned).unwrap_or_default();
                let depth = bucket.key().trim_matches('/').split('/').filter(|part| !part.is_empty()).count();
                let here = found.iter().filter(|f| f.key.split('/').count() == depth + 1);
                here.map(|f| Held { name: inside(&f.key), bytes: f.object.size() }).collect()
            }
        };
        held.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(held)
    }

    /// Removes a file; one that is not there is no error.
    pub fn remove(&self, name: &str) -> Result<()> {
        let path = self.named(name)?;
        match &self.kind {
            ShelfKind::Folder => match std::fs::remove_file(&path) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Error::write(&path, e)),
                _ => Ok(()),
            },
            #[cfg(feature = "cloud")]
            ShelfKind::Bucket(bucket) => remove(bucket, &path),
        }
    }

    /// Names are of one file: nothing leads out of the shelf.
    fn named(&self, name: &str) -> Result<PathBuf> {
        if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\']) {
            return Err(Error::Internal { message: format!("`{name}` is no name for a file on a shelf") });
        }
        Ok(self.path.join(name))
    }
}

#[cfg(not(feature = "cloud"))]
fn remote(path: &Path) -> Result<ShelfKind> {
    Err(super::address::not_built(path))
}

#[cfg(feature = "cloud")]
fn remote(path: &Path) -> Result<ShelfKind> {
    let bucket = Bucket::of(path)?;
    match bucket.can_list() {
        true => Ok(ShelfKind::Bucket(bucket)),
        false => Err(Error::Usage {
            message: format!("{}: a web server keeps nothing for us", path.display()),
            hint: "give a folder, s3://, gs:// or az://".into(),
        }),
    }
}

#[cfg(feature = "cloud")]
const PIECE: u64 = 16 << 20;

#[cfg(feature = "cloud")]
fn key_of(bucket: &Bucket, path: &Path) -> Result<String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let folder = bucket.key().trim_matches('/');
    Ok(if folder.is_empty() { name.into_owned() } else { format!("{folder}/{name}") })
}

#[cfg(feature = "cloud")]
fn put(bucket: &Bucket, path: &Path, bytes: Vec<u8>) -> Result<()> {
    use object_store::{MultipartUpload, ObjectStoreExt, PutPayload};
    let location = bucket.location(&key_of(bucket, path)?)?;
    let ((store, scheme), path) = (bucket.parts(), path.to_owned());
    runtime::block(async move {
        let failed = |e| failure::of(&path, scheme, "write it", &e);
        let bytes = bytes::Bytes::from(bytes);
        if bytes.len() as u64 <= PIECE {
            return store.put(&location, PutPayload::from(bytes)).await.map(|_| ()).map_err(failed);
        }
        // It appears when all parts are there.
        let mut upload = store.put_multipart(&location).await.map_err(failed)?;
        let mut rest = bytes;
        while !rest.is_empty() {
            let part = rest.split_to(rest.len().min(PIECE as usize));
            if let Err(e) = upload.put_part(PutPayload::from(part)).await {
                let _ = upload.abort().await;
                return Err(failed(e));
            }
        }
        upload.complete().await.map(|_| ()).map_err(failed)
    })
}

#[cfg(feature = "cloud")]
fn remove(bucket: &Bucket, path: &Path) -> Result<()> {
    use object_store::ObjectStoreExt;
    let location = bucket.location(&key_of(bucket, path)?)?;
    let ((store, scheme), path) = (bucket.parts(), path.to_owned());
    runtime::block(async move {
        match store.delete(&location).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(e) => Err(failure::of(&path, scheme, "remove it", &e)),
        }
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_folder_come_and_go_whole() {
        let root = tempfile::tempdir().unwrap();
        let shelf = Shelf::open(&root.path().join("deep/work")).unwrap();
        assert_eq!(shelf.get("a.part").unwrap(), None);
        shelf.put("b.part", b"two").unwrap();
        shelf.put("a.part", b"one").unwrap();
        shelf.put("a.part", b"once more").unwrap();
        let names: Vec<(String, u64)> =
            shelf.list().unwrap().into_iter().map(|h| (h.name, h.bytes)).collect();
        assert_eq!(names, [("a.part".to_owned(), 9), ("b.part".to_owned(), 3)]);
        assert_eq!(shelf.get("a.part").unwrap().unwrap(), b"once more");
        shelf.remove("a.part").unwrap();
        shelf.remove("a.part").unwrap();
        assert_eq!(shelf.list().unwrap().len(), 1);
        for name in ["../out", "", ".hidden", "a/b"] {
            assert!(shelf.put(name, b"").is_err());
        }
    }
}
