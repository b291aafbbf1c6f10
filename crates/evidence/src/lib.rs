//! What the diagnosis is judged by: sums that every response adds to, that merge over shards in any order, and whose
//! size does not grow with the log.

mod response;
pub mod rewards;

pub use response::Response;
