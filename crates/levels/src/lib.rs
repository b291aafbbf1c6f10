//! Whether runs differ, at two levels that never stand for each other.
//!
//! * **Runs** ([`compare_runs`]): these two runs, at these steps. What is random is which prompts and responses were
//!   drawn.
//! * **Methods** ([`compare_methods`]): another seed would have given another run. Only several seeds a side tell
//!   whether the method did it; [`compare_by_bank`] borrows the scatter of seeds of the same recipe.
//!
//! Both stand on totals of groups, [`RunGroups`], that are added up while a log is read; of training curves, on the means
//! of steps. Nothing is drawn at random.

mod bank;
mod blocks;
mod curve;
mod estimate;
mod groups;
mod least;
mod matrix;
mod methods;
mod metric;
mod mix;
mod pairing;
mod regression;
mod result;
mod runs;
mod scatter;
mod seeds;
pub mod sentences;
mod student;
mod view;

pub use bank::compare_by_bank;
pub use curve::StepValue;
pub use groups::{GroupKey, ResponseTotals, RunGroups, Totals};
pub use methods::{Arm, Role, compare_methods};
pub use metric::{Metric, Window};
pub use mix::common_steps;
pub use result::{
    BankLevel, BankRow, Clusters, Contrast, MethodsLevel, NotTested, RunsLevel, RunsRow, SeedsNeeded, Verdict,
};
pub use runs::{Settings, compare_runs};
