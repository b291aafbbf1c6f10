//! The second edition of the diagnosis.
