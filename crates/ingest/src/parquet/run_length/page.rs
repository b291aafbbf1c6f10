//! What is left of one data page, as runs or number by number.

mod numbers;
mod split_bytes;

use bytes::{Buf, Bytes};
use parquet::basic::Encoding;
use parquet::column::page::Page;
use parquet::errors::{ParquetError, Result};

use super::hybrid::{HybridRuns, Repeated, bad};

pub use self::numbers::{Number, Numbers};
use self::split_bytes::SplitBytes;

/// The bits of a value; `None` for null.
pub type Bits = Option<u64>;

/// What is left of a data page.
#[derive(Debug)]
pub struct OpenPage {
    /// Rows not yet read.
    pub rows: usize,
    levels: Option<HybridRuns>,
    values: PageValues,
    open_level: Repeated<u32>,
    open_value: Repeated<u64>,
    open_index: Repeated<u32>,
}

#[derive(Debug)]
enum PageValues {
    Indices(HybridRuns),
    Plain { bytes: Bytes, width: usize },
    Split(SplitBytes),
}

impl OpenPage {
    /// Opens a data page of a column whose values have `width` bytes.
    pub fn open(page: Page, width: usize, nullable: bool) -> Result<Self> {
        match page {
            Page::DataPage { mut buf, num_values, encoding, def_level_encoding, .. } => {
                let levels =
                    if nullable { Some(prefixed_levels(&mut buf, def_level_encoding)?) } else { None };
                Self::new(buf, num_values, encoding, levels, width)
            }
            Page::DataPageV2 {
                mut buf,
                num_values,
                encoding,
                def_levels_byte_len,
                rep_levels_byte_len,
                ..
            } => {
                cut(&mut buf, rep_levels_byte_len)?;
                let levels = cut(&mut buf, def_levels_byte_len)?;
                let levels = if nullable { Some(HybridRuns::new(levels, 1)?) } else { None };
                Self::new(buf, num_values, encoding, levels, width)
            }
            Page::DictionaryPage { .. } => Err(bad("a second dictionary")),
        }
    }

    fn new(
        mut buf: Bytes,
        rows: u32,
        encoding: Encoding,
        levels: Option<HybridRuns>,
        width: usize,
    ) -> Result<Self> {
        #[allow(deprecated)]
        let values = match encoding {
            Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY => {
                // A page of nulls alone may have no indices at all.
                let bits = if buf.is_empty() { 0 } else { u32::from(buf.get_u8()) };
                PageValues::Indices(HybridRuns::new(buf, bits)?)
            }
            Encoding::PLAIN => PageValues::Plain { bytes: buf, width },
            Encoding::BYTE_STREAM_SPLIT => PageValues::Split(SplitBytes::new(buf, width)),
            _ => return Err(bad("an encoding that its column does not announce")),
        };
        let (open_level, open_value, open_index) = Default::default();
        Ok(Self { rows: rows as usize, levels, values, open_level, open_value, open_index })
    }

    /// The next run, of at most `most` rows.
    pub fn next_run(&mut self, most: usize, dictionary: &[u64]) -> Result<Repeated<Bits>> {
        let most = most.min(self.rows);
        self.open_level()?;
        let mut len = most.min(self.open_level.len);
        let value = if self.open_level.value == 0 {
            None
        } else {
            if self.open_value.len == 0 {
                self.open_value = self.values.next_run(dictionary)?;
            }
            len = len.min(self.open_value.len);
            self.open_value.len -= len;
            Some(self.open_value.value)
        };
        self.open_level.len -= len;
        self.rows -= len;
        Ok(Repeated { value, len })
    }
}

impl OpenPage {
    fn open_level(&mut self) -> Result<()> {
        if self.open_level.len == 0 {
            self.open_level = match &mut self.levels {
                Some(levels) => levels.next_run()?,
                None => Repeated { value: 1, len: self.rows },
            };
        }
        Ok(())
    }
}

fn too_few() -> ParquetError {
    bad("fewer values than announced")
}

impl PageValues {
    fn next_run(&mut self, dictionary: &[u64]) -> Result<Repeated<u64>> {
        match self {
            Self::Indices(indices) => {
                let Repeated { value: index, len } = indices.next_run()?;
                let value = dictionary.get(index as usize);
                let value = *value.ok_or_else(|| bad("an index beyond its dictionary"))?;
                Ok(Repeated { value, len })
            }
            Self::Plain { bytes, width } => {
                let first = bytes.get(..*width).ok_or_else(too_few)?;
                let len = bytes.chunks_exact(*width).take_while(|value| *value == first).count();
                let value = fixed_width(first);
                bytes.advance(len * *width);
                Ok(Repeated { value, len })
            }
            Self::Split(split) => split.next_run().ok_or_else(too_few),
        }
    }
}

/// The values of a dictionary page.
pub fn dictionary(page: &Bytes, values: u32, width: usize) -> Result<Vec<u64>> {
    let all = page.get(..values as usize * width).ok_or_else(|| bad("a dictionary that is cut off"))?;
    Ok(all.chunks_exact(width).map(fixed_width).collect())
}

fn fixed_width(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |bits, byte| (bits << 8) | u64::from(*byte))
}

fn prefixed_levels(buf: &mut Bytes, encoding: Encoding) -> Result<HybridRuns> {
    if encoding != Encoding::RLE || buf.len() < 4 {
        return Err(bad("no levels that can be read"));
    }
    let size = buf.get_u32_le();
    HybridRuns::new(cut(buf, size)?, 1)
}

fn cut(buf: &mut Bytes, size: u32) -> Result<Bytes> {
    if buf.len() < size as usize {
        return Err(bad("levels that are cut off"));
    }
    Ok(buf.split_to(size as usize))
}
