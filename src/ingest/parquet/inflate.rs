//! Codecs that do not say how much they unpack: measured before the decoder takes memory for it.

use std::io::Read;

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use parquet::basic::Compression;
use parquet::errors::Result;

use super::run_length::bad;

/// LZ4 unpacks a byte to no more than these.
const LZ4_MOST: u64 = 255;

/// Whether a codec unpacks without a limit; all others stop at the size that the header announces.
pub fn is_unlimited(codec: Compression) -> bool {
    matches!(codec, Compression::GZIP(_) | Compression::BROTLI(_) | Compression::LZ4)
}

/// Refuses bytes that unpack to more than `announced`.
pub fn check(codec: Compression, packed: Bytes, announced: u64, most: u64) -> Result<()> {
    let size = match codec {
        Compression::GZIP(_) => measured(MultiGzDecoder::new(&packed[..]), announced),
        Compression::BROTLI(_) => measured(brotli::Decompressor::new(&packed[..], 4096), announced),
        Compression::LZ4 if packed.len() as u64 > most / LZ4_MOST => {
            return Err(bad("more bytes than LZ4 can be trusted to unpack"));
        }
        _ => return Ok(()),
    };
    if size > announced { Err(bad("more bytes in it than its header announces")) } else { Ok(()) }
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
        assert!(check(Compression::SNAPPY, packed, 0, 1 << 30).is_ok());
        assert!(check(Compression::LZ4, Bytes::from(vec![0; 5000]), 10, 1 << 20).is_err());
    }
}
