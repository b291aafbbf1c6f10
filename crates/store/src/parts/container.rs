//! The container: magic, format, header in JSON, sections of zstd in checked blocks, an end mark.

/// How a part begins.
pub const MAGIC: &[u8; 8] = b"STAPOPRT";
/// How it ends.
pub const END: &[u8; 8] = b"STAPOEND";
/// Compressed bytes of a block at most.
pub const BLOCK: usize = 1 << 20;
