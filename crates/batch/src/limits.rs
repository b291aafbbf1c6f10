//! What reading a log may take, whatever the log says of itself.

use stapo_base::format::grouped;

/// Share of missing or bad values above which a warning is due.
pub const WARN_SHARE: f64 = 0.01;
/// Share above which a check of the log fails.
pub const FAIL_SHARE: f64 = 0.20;

/// Bytes that reading may take at once, all workers together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// As it was said, for messages.
    memory: u64,
    /// What the one worker may hold whose turn it is.
    large: u64,
    /// What the others may hold, all of them together.
    small: u64,
}

/// A token in flight: its values as stored, as Arrow has them and in canonical columns.
const TOKEN_BYTES: u64 = 256;

impl Default for Limits {
    fn default() -> Self {
        Self { memory: Self::DEFAULT, large: Self::DEFAULT, small: u64::MAX }
    }
}

impl Limits {
    /// Enough for any log seen: rows of 131,000 tokens need a tenth of it. Each worker has its
    /// [`SHARE`](Self::SHARE) beside it.
    pub const DEFAULT: u64 = 500_000_000;
    /// What a worker may hold at any time: the pages of ten columns and a batch of tokens.
    pub const SHARE: u64 = 32_000_000;
    /// Tokens of a worker's share.
    pub const SHARED_TOKENS: u64 = Self::SHARE / TOKEN_BYTES;
    /// Bytes of a line of JSON, which takes several times that when it is parsed.
    pub const SHARED_LINE: u64 = Self::SHARE / 8;

    /// At most `memory` bytes, the shares of the workers included: a quarter is for them.
    pub const fn new(memory: u64) -> Self {
        Self { memory, large: memory / 4 * 3, small: memory / 4 }
    }

    /// Workers whose shares fit.
    pub fn workers(self) -> usize {
        usize::try_from(self.small / Self::SHARE).unwrap_or(usize::MAX).max(1)
    }

    /// At most so many bytes, where it was said.
    pub fn of(said: Option<u64>) -> Self {
        said.map_or_else(Self::default, Self::new)
    }

    /// What was said; `None` where nothing was.
    pub fn said(self) -> Option<u64> {
        (self != Self::default()).then_some(self.memory)
    }

    /// Bytes of one page, one line or one footer: eight columns of one page each must fit.
    pub const fn piece(self) -> u64 {
        self.large / 8
    }

    /// Bytes of the pages that one worker holds at once.
    pub const fn pages(self) -> u64 {
        self.large / 4
    }

    /// Bytes of a far file that are fetched ahead of one worker, twice: of the unit at hand and of the
    /// next. Larger windows gain nothing: 16 MiB cover 100 ms of a fast network.
    pub fn window(self) -> u64 {
        let workers = std::thread::available_parallelism().map_or(1, |n| n.get()) as u64;
        (self.memory / 8 / workers).clamp(1 << 20, 16 << 20)
    }

    /// Tokens that are decoded at once: one response, or the responses of one batch.
    pub const fn tokens(self) -> u64 {
        self.large / TOKEN_BYTES
    }

    /// In words, for messages.
    pub fn too_much(self, what: &str, size: u64) -> String {
        let all = megabytes(self.memory);
        let too_large = size > self.memory;
        let size = megabytes(size);
        match too_large {
            true => format!("{what} of {size} would take more memory than {all}"),
            false => format!("{what} of {size} would take too much of {all}"),
        }
    }

    /// Why `steps` steps, which take so many bytes until the end, are too many; `None` where they are not.
    pub fn too_many_steps(self, steps: usize, bytes: u64) -> Option<String> {
        let what = || format!("{} steps or more would take more memory than", grouped(steps as u64));
        (bytes > self.memory).then(|| format!("{} {}", what(), megabytes(self.memory)))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_of_all_workers_together() {
        let limits = Limits::new(1_000_000_000);
        assert_eq!(limits.workers(), 7);
        assert!(limits.workers() as u64 * Limits::SHARE + limits.large <= 1_000_000_000);
        assert_eq!(Limits::new(1_000_000).workers(), 1);
        // Unless said otherwise there are as many workers as threads, and what is refused is the same
        // on every machine.
        assert!(Limits::default().workers() > 10_000);
        assert_eq!(Limits::default().piece(), Limits::DEFAULT / 8);
        for limits in [Limits::default(), limits, Limits::new(Limits::DEFAULT)] {
            assert_eq!(Limits::of(limits.said()), limits);
        }
    }
}
