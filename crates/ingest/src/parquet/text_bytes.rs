//! Bytes that the texts of one batch take once they are decoded: a small page can stand for very long ones.

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::errors::Result;

use super::delta_lengths::DeltaLengths;
use super::run_length::{HybridRuns, bad};

/// Pages that take no more, whatever they hold, are not looked into.
const HARMLESS: u64 = 1 << 20;

/// The texts of one column, over all of its chunks.
#[derive(Debug)]
pub struct TextBytes {
    batch_rows: u64,
    /// Whether a batch keeps its dictionary, as long as it has only one, instead of a text for each row.
    keeps_dictionary: bool,
    /// Lengths of the dictionary's texts, and of the longest.
    lengths: Vec<u32>,
    longest: u64,
    batch: OpenBatch,
}

/// The batch at hand.
#[derive(Clone, Copy, Debug, Default)]
struct OpenBatch {
    rows: u64,
    bytes: u64,
    /// Dictionaries, and pages without one.
    sources: u32,
}

/// A page of texts.
pub struct TextPage {
    /// Rows that begin in it.
    pub rows: u64,
    /// Whether each row has one value at most.
    pub is_flat: bool,
    /// Values that are not null.
    pub present: usize,
    /// How they are stored.
    pub encoding: Encoding,
    /// What is stored of them.
    pub data: Bytes,
}

impl TextBytes {
    /// Of batches of so many rows.
    pub fn new(batch_rows: u64, keeps_dictionary: bool) -> Self {
        let batch = OpenBatch::default();
        Self { batch_rows: batch_rows.max(1), keeps_dictionary, lengths: Vec::new(), longest: 0, batch }
    }

    /// Notes a dictionary: texts, each after its length.
    pub fn add_dictionary(&mut self, mut page: &[u8]) -> Result<()> {
        self.lengths.clear();
        while let Some((length, rest)) = page.split_first_chunk::<4>() {
            let length = u32::from_le_bytes(*length);
            self.lengths.push(length);
            page = rest.get(length as usize..).ok_or_else(|| bad("a text that is cut off"))?;
        }
        self.longest = self.lengths.iter().max().copied().unwrap_or(0).into();
        self.batch.sources += 1;
        Ok(())
    }

    /// Notes a page; the most bytes that a batch takes with its texts.
    pub fn add_page(&mut self, page: &TextPage) -> Result<u64> {
        if page.present == 0 {
            return Ok(self.add_whole((page.rows, 0)));
        }
        let (stored, present) = (page.data.len() as u64, page.present as u64);
        #[allow(deprecated)] // by writers; readers meet it in every file of the first version
        let in_dictionary = matches!(page.encoding, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY);
        let bound = match page.encoding {
            _ if in_dictionary => present.saturating_mul(self.longest),
            // Any of them may repeat all of the one before it.
            Encoding::DELTA_BYTE_ARRAY => present.saturating_mul(stored),
            _ => stored,
        };
        if !in_dictionary {
            self.batch.sources += 2;
        }
        let is_written_out = !self.keeps_dictionary || self.batch.sources > 1;
        let whole = (page.rows, bound.min(HARMLESS.max(stored)));
        let most = if bound <= whole.1 {
            self.add_whole(whole)
        } else if in_dictionary {
            self.add_indices(page)?
        } else {
            self.add_repeating(page)?
        };
        Ok(if is_written_out { most } else { 0 })
    }

    /// A page whose texts count as if all of them were in each of its batches.
    fn add_whole(&mut self, (rows, bytes): (u64, u64)) -> u64 {
        let open = &mut self.batch;
        open.rows += rows;
        open.bytes += bytes;
        let most = open.bytes;
        if open.rows >= self.batch_rows {
            *open = OpenBatch { rows: open.rows % self.batch_rows, bytes, sources: open.sources.min(1) };
        }
        most
    }

    fn add_indices(&mut self, page: &TextPage) -> Result<u64> {
        let width = *page.data.first().ok_or_else(|| bad("fewer values than announced"))?;
        let mut runs = HybridRuns::new(page.data.slice(1..), width.into())?;
        let lengths = std::mem::take(&mut self.lengths);
        let length_of = |index: u32| lengths.get(index as usize).copied();
        let (mut left, mut most) = (page.present, 0);
        while left > 0 {
            let run = runs.next_run()?;
            let length =
                length_of(run.value).ok_or_else(|| bad("a place that its dictionary does not have"))?;
            let count = run.len.min(left);
            most = most.max(self.add_equal(page.is_flat, count as u64, length.into()));
            left -= count;
        }
        self.lengths = lengths;
        self.add_rest(page);
        Ok(most)
    }

    /// Texts that begin as the one before them.
    fn add_repeating(&mut self, page: &TextPage) -> Result<u64> {
        let mut most = 0;
        for length in DeltaLengths::new(&page.data)?.take(page.present) {
            most = most.max(self.add_equal(page.is_flat, 1, length?));
        }
        self.add_rest(page);
        Ok(most + page.data.len() as u64)
    }

    /// Texts of the same length; the most bytes of the batches that they are in.
    fn add_equal(&mut self, is_flat: bool, mut count: u64, length: u64) -> u64 {
        if !is_flat {
            self.batch.bytes = self.batch.bytes.saturating_add(count.saturating_mul(length));
            return self.batch.bytes;
        }
        let mut most = 0;
        while count > 0 {
            if self.batch.rows >= self.batch_rows {
                self.batch = OpenBatch { rows: 0, bytes: 0, sources: self.batch.sources.min(1) };
            }
            let here = count.min(self.batch_rows - self.batch.rows);
            self.batch.rows += here;
            self.batch.bytes = self.batch.bytes.saturating_add(here.saturating_mul(length));
            most = most.max(self.batch.bytes);
            count -= here;
        }
        most
    }

    /// The rows of a page that were not counted with its texts.
    fn add_rest(&mut self, page: &TextPage) {
        let counted = if page.is_flat { page.present as u64 } else { 0 };
        self.add_whole((page.rows.saturating_sub(counted), 0));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn plain(rows: u64, bytes: usize) -> TextPage {
        let (encoding, data) = (Encoding::PLAIN, Bytes::from(vec![0; bytes]));
        TextPage { rows, is_flat: true, present: rows as usize, encoding, data }
    }

    /// `count` times the first text of the dictionary.
    fn indices(count: u8) -> TextPage {
        let data = Bytes::from(vec![1, count << 1, 0]);
        TextPage {
            rows: count.into(),
            present: count.into(),
            encoding: Encoding::RLE_DICTIONARY,
            data,
            ..plain(0, 0)
        }
    }

    fn dictionary(length: u32) -> Vec<u8> {
        [&length.to_le_bytes()[..], &vec![b'a'; length as usize]].concat()
    }

    #[test]
    fn texts_of_a_batch_are_added_up_over_pages_and_chunks() {
        let mut texts = TextBytes::new(3, true);
        let most: Vec<u64> = (0..4).map(|_| texts.add_page(&plain(1, 50)).unwrap()).collect();
        // The page that ends a batch may be part of the next.
        assert_eq!(most, [50, 100, 150, 100]);
    }

    #[test]
    fn a_dictionary_is_kept_once_or_written_out() {
        let length = HARMLESS as u32 + 1;
        let counted = |keeps: bool, dictionaries: usize| {
            let mut texts = TextBytes::new(10, keeps);
            let mut most = 0;
            for _ in 0..dictionaries {
                texts.add_dictionary(&dictionary(length)).unwrap();
                most = texts.add_page(&indices(4)).unwrap();
            }
            most / u64::from(length)
        };
        assert_eq!(counted(false, 1), 4);
        assert_eq!(counted(true, 1), 0);
        assert_eq!(counted(true, 2), 8);
        // Batches of ten rows hold no more, whatever the page does.
        let mut texts = TextBytes::new(10, false);
        texts.add_dictionary(&dictionary(length)).unwrap();
        assert_eq!(texts.add_page(&indices(60)).unwrap(), 10 * u64::from(length));
        assert!(texts.add_dictionary(&[9, 0, 0, 0, b'a']).is_err());
    }
}
