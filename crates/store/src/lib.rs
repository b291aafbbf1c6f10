//! Where bytes are kept beside the disk: buckets and web servers, behind plain blocking calls, and
//! [`Shelf`], a folder or prefix of small files that appear whole.
//!
//! All that is asynchronous stays inside of this module, on one thread of its own.

mod address;
#[cfg(feature = "cloud")]
mod aws_profile;
#[cfg(feature = "cloud")]
mod bucket;
#[cfg(feature = "cloud")]
mod connect;
#[cfg(feature = "cloud")]
mod failure;
#[cfg(feature = "cloud")]
mod object;
pub mod parts;
#[cfg(feature = "cloud")]
mod runtime;
mod shelf;

pub use address::is_url;
#[cfg(not(feature = "cloud"))]
pub use address::not_built;
#[cfg(feature = "cloud")]
pub use bucket::{Bucket, Found};
#[cfg(feature = "cloud")]
pub use object::{Fetch, Object};
pub use shelf::{Held, Shelf};
