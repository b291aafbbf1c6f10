//! The `stapo-analyze` binary.

fn main() {}
