//! How much a page unpacks to: measured before the decoder takes memory for it where the codec does not
//! say it, compared where the decoder would fill up with zeros.

use std::io::Read;

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use parquet::basic::Compression;
use parquet::errors::Result;

use super::run_length::bad;

/// LZ4 unpacks a byte to no more than these.
const LZ4_MOST: u64 = 255;

/// Whether a codec unpacks without a limit; all others stop at the size that the header announces.
fn is_unlimited(codec: Compression) -> bool {
    matches!(codec, Compression::GZIP(_) | Compression::BROTLI(_) | Compression::LZ4)
}

/// Bytes in front that say the size, at most.
const SNAPPY_SIZE: usize = 5;

/// Bytes in front of a page that [`check`] looks at.
pub fn looked_at(codec: Compression, packed: usize) -> usize {
    match codec {
        Compression::SNAPPY => packed.min(SNAPPY_SIZE),
        _ if is_unlimited(codec) => packed,
        _ => 0,
    }
}

/// Refuses bytes that unpack to more than `announced`, and where the decoder does not notice, to less.
pub fn check(codec: Compression, packed: Bytes, announced: u64, most: u64) -> Result<()> {
    let size = match codec {
        Compression::GZIP(_) => measured(MultiGzDecoder::new(&packed[..]), announced),
        Compression::BROTLI(_) => measured(brotli::Decompressor::new(&packed[..], 4096), announced),
        Compression::LZ4 if packed.len() as u64 > most / LZ4_MOST => {
            return Err(bad("more bytes than LZ4 can be trusted to unpack"));
        }
        Compression::SNAPPY if snappy_size(&packed) != announced => {
            return Err(bad("another size than its header announces"));
        }
        _ => return Ok(()),
    };
    if size > announced { Err(bad("more bytes in it than its header announces")) } else { Ok(()) }
}

/// What Snappy says in front of its bytes: seven bits a byte, the lowest first.
fn snappy_size(packed: &[u8]) -> u64 {
    let last = packed.iter().position(|byte| byte & 0x80 == 0).unwrap_or(packed.len());
    let bytes = packed.iter().take(last.min(SNAPPY_SIZE - 1) + 1);
    bytes.rev().fold(0, |size, byte| size << 7 | u64::from(byte & 0x7f))
}

/// The size, as far as it matters. What cannot be unpacked is the decoder's to refuse.
fn measured(mut unpacked: impl Read, most: u64) -> u64 {
    let (mut size, mut buffer) = (0, [0; 8192]);
    while size <= most {
        match unpacked.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(n) => size += n as u64,
        }
    }
    size
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_page_unpacks_to_what_it_announces() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(&vec![0; 1 << 20]).unwrap();
        let packed = Bytes::from(encoder.finish().unwrap());
        let codec = Compression::GZIP(Default::default());
        assert!(check(codec, packed.clone(), 1 << 20, 1 << 30).is_ok());
        assert!(check(codec, packed.clone(), (1 << 20) - 1, 1 << 30).is_err());
        assert!(check(Compression::ZSTD(Default::default()), packed, 0, 1 << 30).is_ok());
        let snappy = |bytes: &[u8], announced| {
            check(Compression::SNAPPY, Bytes::copy_from_slice(bytes), announced, 1 << 30).is_ok()
        };
        assert!(snappy(&[0xac, 2, 9, 9], 300) && snappy(&[8, 0xff], 8) && !snappy(&[8, 0xff], 37));
        assert!(!snappy(&[0xff; 9], 300) && !snappy(&[], 1));
        assert!(check(Compression::LZ4, Bytes::from(vec![0; 5000]), 10, 1 << 20).is_err());
    }
}
