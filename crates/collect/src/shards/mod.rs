//! An analysis in pieces: what is collected of some units of a run is kept in a file, and pieces are
//! put together to the same bytes that one process gives.

mod cache;
mod collect;
mod look;
mod merge;
mod parts_of_run;
mod plan_file;
mod producer;

pub use cache::{Cache, CacheUse};
pub use collect::{MadePart, collect_look, collect_shard};
pub use look::LookFile;
pub use merge::MergedParts;
pub use parts_of_run::part_name;
pub use plan_file::ShardPlan;
