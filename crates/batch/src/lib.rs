//! The names of data that readers give and an analysis takes: batches of whole responses in canonical columns, who takes
//! them, and how much memory there is. A change of a reader leaves this, and what stands on it, alone.

pub mod batch;
mod batch_ops;
pub mod columns;
pub mod hash;
pub mod held_out;
pub mod limits;
pub mod others;
mod portable_batch;
pub mod progress;
pub mod sink;

pub use batch::{
    BATCH_TOKENS, Id, MISSING_FLAG, MISSING_ID, OpenStart, Origin, ResponseColumns, TokenBatch, TokenColumns,
};
pub use columns::{Column, Kind, Level, PerColumn};
pub use hash::Mixer;
pub use held_out::HeldOut;
pub use limits::{FAIL_SHARE, Limits, WARN_SHARE};
pub use others::{OtherColumns, OtherValue};
pub use progress::{Progress, Silent};
pub use sink::Sink;
