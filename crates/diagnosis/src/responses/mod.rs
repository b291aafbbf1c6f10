//! What single responses say: which are right (`right`), which stand there more than once (`copies`), what their reward
//! follows (`within_groups`, `told_reward`), and how far trainer and sampler are apart at their tokens (`drawn_gap`).

pub mod copies;
pub mod drawn_gap;
pub mod right;
pub mod told_reward;
pub mod within_groups;
