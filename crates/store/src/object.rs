//! One object, read by ranges; what is read is always the state that was seen first.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::SystemTime;

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use object_store::path::Path as Location;
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore};

use super::address::Scheme;
use super::failure;
use super::runtime::{self, Pending};
use stapo_base::error::{Error, Result};

/// An object of a store.
pub struct Object {
    shared: Arc<Shared>,
}

struct Shared {
    store: Arc<dyn ObjectStore>,
    scheme: Scheme,
    location: Location,
    path: PathBuf,
    /// Size as the listing or the first answer says it.
    size: u64,
    listed: State,
    /// What the first answer with bytes says of the object: all later ones have to say the same.
    /// Listings write entity tags differently from answers, so they do not count.
    state: OnceLock<State>,
}

/// What tells one state of an object from another.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    tag: Option<String>,
    modified: SystemTime,
}

impl State {
    fn of(meta: &ObjectMeta) -> Self {
        Self { tag: meta.e_tag.clone(), modified: meta.last_modified.into() }
    }

    /// The tag where it can stand in a condition: weak ones cannot.
    fn strong_tag(&self) -> Option<String> {
        self.tag.clone().filter(|tag| !tag.starts_with("W/"))
    }
}

impl Object {
    pub(super) fn new(store: Arc<dyn ObjectStore>, scheme: Scheme, path: PathBuf, meta: &ObjectMeta) -> Self {
        let shared = Shared {
            store,
            scheme,
            location: meta.location.clone(),
            path,
            size: meta.size,
            listed: State::of(meta),
            state: OnceLock::new(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Its address.
    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    /// Its size in bytes.
    pub fn size(&self) -> u64 {
        self.shared.size
    }

    /// Its entity tag and when it was written, once something was read of it.
    pub fn state(&self) -> (Option<&str>, Option<SystemTime>) {
        self.shared.state.get().map_or((None, None), |state| (state.tag.as_deref(), Some(state.modified)))
    }

    /// The same as it was found; tags may be written differently there.
    pub fn listed(&self) -> (Option<&str>, SystemTime) {
        (self.shared.listed.tag.as_deref(), self.shared.listed.modified)
    }

    /// Begins to read a range.
    pub fn begin(&self, range: Range<u64>) -> Result<Fetch> {
        let shared = self.shared.clone();
        let asked = range.clone();
        let pending = runtime::start(async move { shared.read(asked).await })?;
        Ok(Fetch { range, state: Mutex::new(Under::Way(pending)) })
    }

    /// Reads a range.
    pub fn read(&self, range: Range<u64>) -> Result<Bytes> {
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        let shared = self.shared.clone();
        runtime::block(async move { shared.read(range).await })
    }
}

impl Shared {
    async fn read(&self, range: Range<u64>) -> Result<Bytes> {
        let asked = format!("read bytes {} to {}", range.start, range.end);
        let failed = |e: object_store::Error| match &e {
            // It was there when it was found.
            object_store::Error::NotFound { .. } if self.state.get().is_some() => self.changed(),
            e => failure::of(&self.path, self.scheme, &asked, e),
        };
        let state = self.state.get();
        let options = GetOptions {
            range: Some(GetRange::Bounded(range.clone())),
            if_match: state.and_then(State::strong_tag),
            ..GetOptions::default()
        };
        let answer = self.store.get_opts(&self.location, options).await.map_err(failed)?;
        let now = State::of(&answer.meta);
        if answer.meta.size != self.size || self.state.get_or_init(|| now.clone()) != &now {
            return Err(self.changed());
        }
        let wrong = |what: &str| Error::Remote {
            path: self.path.clone(),
            asked: asked.clone(),
            message: format!("the server gave {what} bytes than asked for"),
            hint: "the server or something before it is broken: download the file with another tool".into(),
        };
        let length = usize::try_from(range.end - range.start).map_err(|_| wrong("other"))?;
        let mut bytes = BytesMut::with_capacity(length);
        let mut body = answer.into_stream();
        while let Some(part) = body.next().await {
            let part = part.map_err(failed)?;
            if part.len() > length - bytes.len() {
                return Err(wrong("more"));
            }
            bytes.extend_from_slice(&part);
        }
        if bytes.len() < length { Err(wrong("fewer")) } else { Ok(bytes.freeze()) }
    }

    fn changed(&self) -> Error {
        Error::Changed { path: self.path.clone() }
    }
}

/// A range that is on its way, for any number of readers.
pub struct Fetch {
    /// The range.
    pub range: Range<u64>,
    state: Mutex<Under>,
}

enum Under {
    Way(Pending<Result<Bytes>>),
    Arrived(Bytes),
    /// The error went to whoever waited first.
    Failed,
}

impl Fetch {
    /// A part of the range, once it is there. The error of a fetch is told once; after that the part
    /// is `None`.
    pub fn part(&self, part: Range<u64>) -> Result<Option<Bytes>> {
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        if let Under::Way(_) = &*state
            && let Under::Way(pending) = std::mem::replace(&mut *state, Under::Failed)
        {
            *state = Under::Arrived(pending.wait()??);
        }
        let Under::Arrived(bytes) = &*state else { return Ok(None) };
        let at = |place: u64| usize::try_from(place.checked_sub(self.range.start)?).ok();
        let (from, to) = (at(part.start), at(part.end));
        Ok(from.zip(to).filter(|(from, to)| from <= to && *to <= bytes.len()).map(|(f, t)| bytes.slice(f..t)))
    }
}
