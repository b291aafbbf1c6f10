//! An object as a file: at random for its head, in windows ahead of the reader for the rest.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex};

use bytes::Bytes;

use super::identity::FileIdentity;
use super::ranges::{Ranges, keep};
use super::stretches::Stretches;
use stapo_base::error::{Error, Result};
use stapo_store::{Bucket, Fetch, Object};

/// The first window of a stream is small: often only the first rows are looked at.
const FIRST_WINDOW: u64 = 1 << 20;

/// The object of an address, which is no glob here.
pub fn object_at(path: &Path) -> Result<Arc<Object>> {
    let bucket = Bucket::of(path)?;
    let found = bucket.find(bucket.key())?;
    found.map(|found| found.object).ok_or_else(|| Error::NotFound { path: path.to_owned() })
}

/// An object as a file.
pub struct RemoteFile {
    object: Arc<Object>,
    /// What was begun for a reader to come, by the place it begins at.
    begun: Mutex<BTreeMap<u64, Begun>>,
}

enum Begun {
    Stretches(Arc<Stretches>),
    Stream(Box<Stream>),
}

impl RemoteFile {
    /// Of an object, with nothing begun yet.
    pub fn new(object: Arc<Object>) -> Self {
        Self { object, begun: Mutex::default() }
    }

    /// Bytes of the whole object.
    pub fn size(&self) -> u64 {
        self.object.size()
    }

    /// What tells it from an object that takes its key later.
    pub fn identity(&self) -> FileIdentity {
        let (tag, modified) = self.object.state();
        FileIdentity::of_object(self.object.size(), modified, tag)
    }

    /// The same as the listing tells it.
    pub fn listed(&self) -> FileIdentity {
        let (tag, modified) = self.object.listed();
        FileIdentity::of_object(self.object.size(), Some(modified), tag)
    }

    /// Its bytes in any order, a request each.
    pub fn anywhere(&self) -> Arc<dyn Ranges> {
        Arc::new(Anywhere { object: self.object.clone(), failure: Mutex::default() })
    }

    /// See [`super::stored::Stored::stretches`].
    pub fn stretches(&self, stretches: &[Range<u64>], window: u64) -> Result<Arc<dyn Ranges>> {
        match self.take(stretches.first().map_or(0, |first| first.start)) {
            Some(Begun::Stretches(begun)) if begun.are(stretches) => Ok(begun),
            _ => Ok(Arc::new(Stretches::begin(&self.object, stretches, window)?)),
        }
    }

    /// See [`super::stored::Stored::stream`].
    pub fn stream(&self, window: u64) -> Result<Box<dyn Read + Send>> {
        match self.take(0) {
            Some(Begun::Stream(begun)) => Ok(begun),
            _ => Ok(Box::new(Stream::begin(&self.object, window)?)),
        }
    }

    /// See [`super::stored::Stored::begin`].
    pub fn begin(&self, stretches: Option<&[Range<u64>]>, window: u64) {
        let begun = match stretches {
            Some(stretches) => Stretches::begin(&self.object, stretches, window).map(|begun| {
                (stretches.first().map_or(0, |first| first.start), Begun::Stretches(Arc::new(begun)))
            }),
            None => Stream::begin(&self.object, window).map(|begun| (0, Begun::Stream(Box::new(begun)))),
        };
        if let (Ok((at, begun)), Ok(mut all)) = (begun, self.begun.lock()) {
            all.insert(at, begun);
        }
    }

    fn take(&self, at: u64) -> Option<Begun> {
        self.begun.lock().ok()?.remove(&at)
    }
}

struct Anywhere {
    object: Arc<Object>,
    failure: Mutex<Option<Error>>,
}

impl Ranges for Anywhere {
    fn get(&self, start: u64, length: usize) -> io::Result<Bytes> {
        let end = start.checked_add(length as u64).filter(|end| *end <= self.object.size());
        let end = end.ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))?;
        self.object.read(start..end).map_err(|e| keep(&self.failure, e))
    }

    fn failure(&self) -> Option<Error> {
        self.failure.lock().ok()?.take()
    }
}

/// An object from its first byte on, a window ahead.
struct Stream {
    object: Arc<Object>,
    window: u64,
    /// What is left of the window being read, and how long it was.
    here: Bytes,
    taken: usize,
    next: Option<Fetch>,
    /// Where the window after the next begins.
    at: u64,
    length: u64,
}

impl Stream {
    fn begin(object: &Arc<Object>, window: u64) -> Result<Self> {
        let length = FIRST_WINDOW.min(window);
        let mut stream =
            Self { object: object.clone(), window, here: Bytes::new(), taken: 0, next: None, at: 0, length };
        stream.fetch_next()?;
        Ok(stream)
    }

    fn fetch_next(&mut self) -> Result<()> {
        let end = self.object.size().min(self.at.saturating_add(self.length));
        self.next = if self.at < end { Some(self.object.begin(self.at..end)?) } else { None };
        self.at = end;
        // Two are in memory: each has half of the window at most.
        self.length = (2 * self.length).min(self.window / 2).max(1);
        Ok(())
    }

    /// Goes on to the next window; at the end of the object there is none.
    fn take_next(&mut self) -> Result<()> {
        if self.next.is_none() {
            self.fetch_next()?;
        }
        if let Some(next) = self.next.take() {
            let failed_before = || Error::Internal { message: "a window that failed before".into() };
            self.here = next.part(next.range.clone())?.ok_or_else(failed_before)?;
            self.taken = self.here.len();
        }
        Ok(())
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.here.is_empty() {
            self.take_next().map_err(io::Error::other)?;
        }
        let length = buffer.len().min(self.here.len());
        buffer[..length].copy_from_slice(&self.here.split_to(length));
        // Whoever looks at the first rows only needs no more.
        if self.next.is_none() && 2 * self.here.len() <= self.taken {
            self.fetch_next().map_err(io::Error::other)?;
        }
        Ok(length)
    }
}
