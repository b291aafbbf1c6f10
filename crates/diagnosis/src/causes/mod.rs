//! The table of causes: a row, a file.

use crate::{Cause, Code};

mod advantage_blowup;
mod advantage_contradicts_reward;
mod advantage_missing;
mod correction_empties_the_batch;
mod dead_groups;
mod duplicate_rollouts;
mod end_untrained;
mod entropy_consumed;
mod entropy_of_another_policy;
mod entropy_pushed;
mod failures_trained;
mod held_out_falls;
mod kl_outweighs;
mod large_updates;
mod misaligned_log;
mod no_negative_signal;
mod no_positive_signal;
mod not_finite;
mod observation_trained;
mod one_sided;
mod other_context;
mod phantom_advantage;
mod position_shifted;
mod precision_gap;
mod resume_break;
mod retokenised;
mod reward_hacking;
mod sampler_frozen;
mod sampler_temperature;
mod sampler_truncation;
mod spurious_tokens;
mod stale_sampler;
mod sync_corrupts_weights;
mod trainer_disagrees_with_itself;
mod truncation;
mod unbounded_ratio;
mod uninformative_reward;
mod wrong_groups;
mod wrong_start;

/// Every cause that is looked for.
pub const CAUSES: &[Cause] = &[
    not_finite::CAUSE,
    trainer_disagrees_with_itself::CAUSE,
    misaligned_log::CAUSE,
    entropy_of_another_policy::CAUSE,
    other_context::CAUSE,
    retokenised::CAUSE,
    sampler_frozen::CAUSE,
    stale_sampler::CAUSE,
    sync_corrupts_weights::CAUSE,
    position_shifted::CAUSE,
    sampler_truncation::CAUSE,
    sampler_temperature::CAUSE,
    precision_gap::CAUSE,
    observation_trained::CAUSE,
    end_untrained::CAUSE,
    failures_trained::CAUSE,
    truncation::CAUSE,
    correction_empties_the_batch::CAUSE,
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
    kl_outweighs::CAUSE,
    entropy_pushed::CAUSE,
    entropy_consumed::CAUSE,
    large_updates::CAUSE,
    unbounded_ratio::CAUSE,
    spurious_tokens::CAUSE,
    wrong_start::CAUSE,
    resume_break::CAUSE,
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
