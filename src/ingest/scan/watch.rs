//! How far a scan is, and whether it should stop.

use std::sync::atomic::{AtomicBool, Ordering};

/// Told how far a scan is.
pub trait Progress: Sync {
    /// Some tokens and compressed bytes are done.
    fn advance(&self, tokens: u64, bytes: u64);

    /// Something that does not change the result, but is worth knowing.
    fn note(&self, _: &str) {}

    /// Something that was asked for and could not be done; the result is right without it.
    fn warn(&self, text: &str) {
        self.note(text);
    }
}

/// No one looks.
pub struct Silent;

impl Progress for Silent {
    fn advance(&self, _: u64, _: u64) {}
}

/// Lets workers tell how far they are, and tells them to stop early.
pub struct Watch<'a> {
    stopped: AtomicBool,
    progress: &'a dyn Progress,
}

impl<'a> Watch<'a> {
    /// A scan that `progress` is told of.
    pub fn new(progress: &'a dyn Progress) -> Self {
        Self { stopped: AtomicBool::new(false), progress }
    }

    /// Whether to stop.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Some tokens are done.
    pub fn tokens(&self, tokens: u64) {
        self.progress.advance(tokens, 0);
    }

    /// Some compressed bytes are done.
    pub fn bytes(&self, bytes: u64) {
        self.progress.advance(0, bytes);
    }

    /// Tells all workers to stop.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}
