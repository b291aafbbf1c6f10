//! Derive of `Accumulate`.
