//! Replay training: logged batches through a real policy, once per objective from the same start.

pub mod objective;
pub mod random;
