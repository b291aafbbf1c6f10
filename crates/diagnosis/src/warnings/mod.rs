//! Warnings, a file for each kind: about what was lost (`losses`), what engineers ask (`answers`), single steps
//! (`spikes`), rewards (`far_rewards`), the mask (`mask`, `untrained`) and the log (`log`, `endings`, `several_rows`).

pub mod answers;
pub mod endings;
pub mod far_rewards;
pub mod log;
pub mod losses;
pub mod mask;
pub mod several_rows;
pub mod spikes;
pub mod untrained;
