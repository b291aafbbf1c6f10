//! The signals over the steps. Which there are: `of_run`; what one is: `series`; means over responses with their
//! errors: `response_series`. The others tell what a part of the reward means when it moves: one that is taken off
//! (`costs`), whose weight is taken back (`annealed`), or that belongs to one of several tasks (`task_mix`).

pub mod annealed;
pub mod costs;
pub mod of_run;
pub mod response_series;
pub mod series;
pub mod task_mix;
