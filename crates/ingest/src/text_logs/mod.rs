//! Logs of texts and rewards: what frameworks write without a patch.
//!
//! A row is a response; its tokens are those of its text where a tokenizer is given, else its characters. So all that
//! needs no log-probability (groups, rewards, lengths, loops, advantages) is told by the same pass as for tokens.

mod encode;
mod mapping;
mod spell;
mod weights;
mod words;

pub use encode::Encoder;
pub use mapping::{of_texts, sum_of_functions};
pub use spell::Speller;
pub use weights::fit as fit_weights;
