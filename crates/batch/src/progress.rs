//! How far a scan is.

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

/// Progress that nobody looks at.
pub struct Silent;

impl Progress for Silent {
    fn advance(&self, _: u64, _: u64) {}
}
