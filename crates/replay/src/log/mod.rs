//! The log as the replay sees it: which responses are trained on, in which order, and what of them
//! is needed. First a survey of the whole log, which keeps a few words a response; then windows of
//! whole steps, which fit into memory whatever the log's size.

mod content;
mod groups;
mod intake;
mod labels;
mod minibatches;
mod response;
mod survey;
mod window;

pub use intake::Needs;
pub use minibatches::{MINIBATCH, minibatches, order};
pub use response::LoggedResponse;
pub use survey::{Survey, survey};
pub use window::Windows;
