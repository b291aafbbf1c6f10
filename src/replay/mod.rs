//! Replay training: logged batches through a real policy, once per objective from the same start.

pub mod device;
pub mod model;
pub mod objective;
pub mod random;
