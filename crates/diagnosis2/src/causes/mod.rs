//! The table of causes: a row, a file.

use crate::{Cause, Code};

mod advantage_blowup;
mod advantage_contradicts_reward;
mod advantage_missing;
mod dead_groups;
mod duplicate_rollouts;
mod end_untrained;
mod failures_trained;
mod held_out_falls;
mod no_negative_signal;
mod no_positive_signal;
mod observation_trained;
mod one_sided;
mod phantom_advantage;
mod reward_hacking;
mod spurious_tokens;
mod truncation;
mod uninformative_reward;
mod wrong_groups;

/// Every cause that is looked for.
pub const CAUSES: &[Cause] = &[
    spurious_tokens::CAUSE,
    observation_trained::CAUSE,
    end_untrained::CAUSE,
    failures_trained::CAUSE,
    truncation::CAUSE,
    advantage_missing::CAUSE,
    advantage_blowup::CAUSE,
    wrong_groups::CAUSE,
    advantage_contradicts_reward::CAUSE,
    no_negative_signal::CAUSE,
    no_positive_signal::CAUSE,
    duplicate_rollouts::CAUSE,
    uninformative_reward::CAUSE,
    reward_hacking::CAUSE,
    phantom_advantage::CAUSE,
    held_out_falls::CAUSE,
    dead_groups::CAUSE,
];

/// The row of a code.
#[must_use]
pub fn cause_of(code: Code) -> Option<&'static Cause> {
    CAUSES.iter().find(|cause| cause.code == code)
}

/// "12 %", with a digit where it is below ten.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}
