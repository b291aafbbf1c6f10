//! State that is collected in pieces.
