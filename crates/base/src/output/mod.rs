//! Writing so that nothing half-done is ever seen: files that appear when they are complete,
//! folders with one writer, and nothing left behind by a run that is stopped.

mod atomic_file;
mod cleanup;
mod commits;
mod folder;
mod inputs;
mod json;
mod stale;

pub use atomic_file::{AtomicFile, write_file};
pub use cleanup::{Scratch, clean_up_on_signals};
pub use commits::{Commits, committing};
pub use folder::{OutputFolder, make_folder};
pub use inputs::{refuse_removing, refuse_replacing};
pub use json::json_text;
pub use stale::{announce, has_list, not_ours, refuse_foreign, remove_stale, stale_files};
