//! Kernels of our own for CUDA devices. What tensor operations compute in a dozen passes over the card's
//! memory is one or two passes here, and a tensor that only feeds products is written as the products
//! want it. Every function gives nothing where its tensors are not on a CUDA device; the tensor
//! operations beside it are then what runs, and what the tests hold these kernels against.

mod adamw;
mod attended;
mod embedding;
mod gate;
mod head_kernels;
mod heads;
mod launch;
mod norm;
mod output;
mod parts;
mod places;
mod products;
mod softmax;
mod squares;
mod tensors;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

pub use adamw::adamw;
pub use attended::{dot_and_split, join};
pub use embedding::{RowsOfTokens, add_rows};
pub use gate::{gate, gate_backward};
pub use heads::{pack, pack_backward};
pub use norm::{norm, norm_backward};
pub use output::{logit_gradient, measure};
pub use parts::parts;
pub use products::product;
pub use softmax::{probabilities, score_gradient};
pub use squares::sums_of_squares;
