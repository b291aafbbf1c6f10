//! One pass over a run. Every worker collects counts, exact sums, histograms and the tokens that matter one by one
//! (`collect`); the parts merge in any order to the same bits, over any number of machines (`shards`), and are turned into
//! the result (`finish`), which nobody has judged yet.

pub mod collect;
pub mod finish;
pub mod flagged;
pub mod gathered;
pub mod part;
pub mod pass;
pub mod plan;
pub mod shards;
pub mod token_text;
