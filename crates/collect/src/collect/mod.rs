//! The one pass over the tokens: every worker fills a [`Collector`], and parts merge in any order.

pub mod banded_bins;
mod batches;
mod block;
mod by_sign;
mod by_step;
pub mod candidates;
pub mod claim_tokens;
pub mod clusters;
mod collected;
mod collector;
mod columns;
pub mod energy;
pub mod entropy_histogram;
mod gates;
pub mod groups;
mod kept_entropies;
mod kept_sample;
mod mismatch;
pub mod peaks;
mod pieces;
mod place_counts;
mod plane;
pub mod questions;
mod ranking;
pub mod rows;
pub mod run_sample;
pub mod sample;
pub mod signs;
mod state;
pub mod tally;
pub mod views;
pub mod vocabulary;

pub use collected::Collected;
pub use collector::Collector;
pub use gates::Gates;
pub use state::State;
