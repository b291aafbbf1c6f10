//! What reading a log may take, whatever the log says of itself.

use crate::format::grouped;

/// Bytes that reading may take at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    memory: u64,
}

/// A token in flight: its values as stored, as Arrow has them and in canonical columns.
const TOKEN_BYTES: u64 = 256;

impl Default for Limits {
    fn default() -> Self {
        Self { memory: Self::DEFAULT }
    }
}

impl Limits {
    /// Enough for any log seen: rows of 131,000 tokens need a tenth of it.
    pub const DEFAULT: u64 = 500_000_000;

    /// At most `memory` bytes.
    pub const fn new(memory: u64) -> Self {
        Self { memory }
    }

    /// Bytes in all.
    pub const fn memory(self) -> u64 {
        self.memory
    }

    /// Bytes of one page, one line or one footer: eight columns of one page each must fit.
    pub const fn piece(self) -> u64 {
        self.memory / 8
    }

    /// Bytes of the pages that one worker holds at once.
    pub const fn pages(self) -> u64 {
        self.memory / 4
    }

    /// Bytes of a far file that are fetched ahead of one worker, twice: of the unit at hand and of the
    /// next. Larger windows gain nothing: 16 MiB cover 100 ms of a fast network.
    pub fn window(self) -> u64 {
        let workers = std::thread::available_parallelism().map_or(1, |n| n.get()) as u64;
        (self.memory / 8 / workers).clamp(1 << 20, 16 << 20)
    }

    /// Tokens that are decoded at once: one response, or the responses of one batch.
    pub const fn tokens(self) -> u64 {
        self.memory / TOKEN_BYTES
    }

    /// In words, for messages.
    pub fn too_much(self, what: &str, size: u64) -> String {
        format!("{what} of {} would take more memory than {}", megabytes(size), megabytes(self.memory))
    }

    /// In words, for messages about tokens.
    pub fn too_many_tokens(self, tokens: u64) -> String {
        format!(
            "{} tokens in one response or one batch of responses would take more memory than {}",
            grouped(tokens),
            megabytes(self.memory)
        )
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", grouped(bytes.div_ceil(1_000_000)))
}
