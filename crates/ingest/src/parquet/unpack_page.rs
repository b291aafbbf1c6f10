//! Pages packed with zstd, unpacked into memory that is used again.

use std::cell::RefCell;
use std::io::Cursor;

use parquet::basic::Compression;
use parquet::column::page::Page;
use parquet::errors::{ParquetError, Result};
use zstd::bulk::Decompressor;

use super::reused_memory::ReusedMemory;
use super::run_length::bad;

thread_local! {
    /// Its tables are as large as a page: one for all columns of a worker stays in the cache.
    static ZSTD: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Whether pages of this codec are unpacked here; the decoder does the others.
pub fn is_ours(codec: Compression) -> bool {
    matches!(codec, Compression::ZSTD(_))
}

/// The page with `size` bytes, of which its packed bytes hold all but the levels in front.
pub fn unpack(mut page: Page, size: u64, memory: &mut ReusedMemory) -> Result<Page> {
    let size = usize::try_from(size).map_err(|_| bad("no place in memory"))?;
    let (bytes, levels) = match &mut page {
        Page::DictionaryPage { buf, .. } | Page::DataPage { buf, .. } => (buf, 0),
        Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, is_compressed: true, .. } => {
            (buf, *def_levels_byte_len as usize + *rep_levels_byte_len as usize)
        }
        Page::DataPageV2 { is_compressed: false, .. } => return Ok(page),
    };
    fill(bytes, levels, size, memory.emptied(size))?;
    *bytes = memory.look();
    Ok(page)
}

/// Unpacks all but the first `levels` bytes, which stay as they are, to `size` bytes in all.
fn fill(packed: &[u8], levels: usize, size: usize, into: &mut Vec<u8>) -> Result<()> {
    let (levels, packed) = packed.split_at_checked(levels).ok_or_else(|| bad("levels that are cut off"))?;
    into.extend_from_slice(levels);
    // Nothing is packed where all values are null.
    if size <= levels.len() {
        return Ok(());
    }
    ZSTD.with_borrow_mut(|zstd| {
        let zstd = match zstd {
            Some(zstd) => zstd,
            None => zstd.insert(Decompressor::new()?),
        };
        let mut cursor = Cursor::new(into);
        cursor.set_position(levels.len() as u64);
        zstd.decompress_to_buffer(packed, &mut cursor)?;
        Ok::<_, std::io::Error>(())
    })
    .map_err(ParquetError::from)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use parquet::basic::Encoding;

    fn page(levels: &[u8], packed: &[u8], is_compressed: bool) -> Page {
        Page::DataPageV2 {
            buf: Bytes::from([levels, packed].concat()),
            num_values: 3,
            encoding: Encoding::PLAIN,
            num_nulls: 0,
            num_rows: 3,
            def_levels_byte_len: levels.len() as u32,
            rep_levels_byte_len: 0,
            is_compressed,
            statistics: None,
        }
    }

    #[test]
    fn levels_in_front_are_not_packed() {
        let (values, mut memory) = ([5; 12], ReusedMemory::default());
        let packed = zstd::bulk::compress(&values, 1).unwrap();
        let unpacked = |page, size, memory: &mut ReusedMemory| {
            unpack(page, size, memory).map(|page| page.buffer().to_vec())
        };
        assert_eq!(
            unpacked(page(&[1, 2], &packed, true), 14, &mut memory).unwrap(),
            [&[1, 2][..], &values].concat()
        );
        assert_eq!(
            unpacked(page(&[1, 2], &values, false), 14, &mut memory).unwrap(),
            [&[1, 2][..], &values].concat()
        );
        // A page of nulls alone.
        assert_eq!(unpacked(page(&[1, 2], &[], true), 2, &mut memory).unwrap(), [1, 2]);
        assert!(unpacked(page(&[], &values, true), 12, &mut memory).is_err());
        assert!(unpacked(page(&[], &packed, true), 11, &mut ReusedMemory::default()).is_err());
    }
}
