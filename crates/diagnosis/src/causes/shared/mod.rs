//! What several causes look with.
//!
//! * Shares: how sure they are (`bounds`), and over which steps something lasts (`lasting`, `change_points`).
//! * Groups: what siblings tell (`siblings`), signs that are missing (`one_sided`), answers that are right and get no
//!   more (`right_no_better`), responses with the same parts of the reward (`alike`).
//! * Trainer and sampler: the gap between them (`gap`), tokens against their entropy (`agreement`), columns against
//!   their neighbours (`shifts`).
//! * Cuts that something else explains: `lowered_budget`, `longer_prompts`.
//! * What to log: `needs`.

pub mod agreement;
pub mod alike;
pub mod bounds;
pub mod change_points;
pub mod gap;
pub mod lasting;
pub mod longer_prompts;
pub mod lowered_budget;
pub mod needs;
pub mod one_sided;
pub mod right_no_better;
pub mod shifts;
pub mod siblings;
