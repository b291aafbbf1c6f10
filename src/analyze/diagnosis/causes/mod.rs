//! The causes, one file each: its statistic, its threshold and the reason for it.

mod advantage_contradicts_reward;
mod composition;
mod crossed_signs;
mod dead_groups;
mod entropy_of_another_policy;
mod gap;
mod large_updates;
mod lasting;
mod misaligned_log;
mod observation_trained;
mod one_sided;
mod phantom_advantage;
mod precision_gap;
mod punished_answers;
mod reward_hacking;
mod sampler_temperature;
mod sampler_truncation;
mod siblings;
mod spurious_tokens;
mod stale_sampler;
mod truncation;
mod unbounded_ratio;
mod uninformative_reward;

use super::patient::{Finding, Patient};
use crate::analyze::result::{Cause, CauseCode, Confidence, NotChecked};
use crate::ingest::Column;

/// What looks for each cause.
fn examiner(code: CauseCode) -> fn(&Patient<'_>) -> Finding {
    match code {
        CauseCode::MisalignedLog => misaligned_log::examine,
        CauseCode::EntropyOfAnotherPolicy => entropy_of_another_policy::examine,
        CauseCode::ObservationTrained => observation_trained::examine,
        CauseCode::AdvantageContradictsReward => advantage_contradicts_reward::examine,
        CauseCode::RewardHacking => reward_hacking::examine,
        CauseCode::UninformativeReward => uninformative_reward::examine,
        CauseCode::NoNegativeSignal => one_sided::no_negative,
        CauseCode::NoPositiveSignal => one_sided::no_positive,
        CauseCode::SamplerTemperature => sampler_temperature::examine,
        CauseCode::SamplerTruncation => sampler_truncation::examine,
        CauseCode::StaleSampler => stale_sampler::examine,
        CauseCode::LargeUpdates => large_updates::examine,
        CauseCode::UnboundedRatio => unbounded_ratio::examine,
        CauseCode::PrecisionGap => precision_gap::examine,
        CauseCode::PhantomAdvantage => phantom_advantage::examine,
        CauseCode::Truncation => truncation::examine,
        CauseCode::SpuriousTokens => spurious_tokens::examine,
        CauseCode::DeadGroups => dead_groups::examine,
    }
}

const ENTROPY: &str = "entropy (of the policy at each token)";
const ADVANTAGE: &str = "advantage (of each token or response)";

/// Whether a cause cannot be looked for without entropy: its statistic is of entropy, of gradient
/// energy, or fits a model that has entropy in it.
fn needs_entropy(code: CauseCode, patient: &Patient<'_>) -> bool {
    match code {
        // Log-probabilities of trainer and sampler tell, too.
        CauseCode::MisalignedLog => !patient.has(Column::LogprobRollout),
        CauseCode::EntropyOfAnotherPolicy
        | CauseCode::ObservationTrained
        | CauseCode::UninformativeReward
        | CauseCode::SamplerTemperature
        | CauseCode::SamplerTruncation
        | CauseCode::UnboundedRatio
        | CauseCode::PrecisionGap
        | CauseCode::Truncation
        | CauseCode::SpuriousTokens => true,
        CauseCode::AdvantageContradictsReward
        | CauseCode::RewardHacking
        | CauseCode::NoNegativeSignal
        | CauseCode::NoPositiveSignal
        | CauseCode::StaleSampler
        | CauseCode::LargeUpdates
        | CauseCode::PhantomAdvantage
        | CauseCode::DeadGroups => false,
    }
}

/// Whether a cause cannot be told without the advantages: signs, energy, or what they follow.
fn needs_advantage(code: CauseCode) -> bool {
    match code {
        CauseCode::AdvantageContradictsReward
        | CauseCode::RewardHacking
        | CauseCode::NoNegativeSignal
        | CauseCode::NoPositiveSignal
        | CauseCode::UnboundedRatio
        | CauseCode::Truncation
        | CauseCode::PhantomAdvantage
        | CauseCode::SpuriousTokens
        | CauseCode::UninformativeReward
        | CauseCode::DeadGroups => true,
        CauseCode::MisalignedLog
        | CauseCode::EntropyOfAnotherPolicy
        | CauseCode::ObservationTrained
        | CauseCode::SamplerTemperature
        | CauseCode::SamplerTruncation
        | CauseCode::StaleSampler
        | CauseCode::PrecisionGap
        | CauseCode::LargeUpdates => false,
    }
}

/// What was found.
#[derive(Default)]
pub struct Examined {
    /// The causes in rank order.
    pub causes: Vec<Cause>,
    /// Those that the log cannot tell.
    pub not_checked: Vec<NotChecked>,
    /// Whether one of these has its columns, but too little of them.
    pub too_few: bool,
}

/// Looks for every cause.
pub fn examine_all(patient: &Patient<'_>) -> Examined {
    let mut examined = Examined::default();
    for code in CauseCode::ALL {
        let not_checked = |needs: &str| NotChecked { code: *code, needs: needs.into() };
        let stand_in = patient.plan.stand_in;
        let found = if stand_in.advantage && needs_advantage(*code) {
            Finding::NotChecked(ADVANTAGE)
        } else if stand_in.entropy && needs_entropy(*code, patient) {
            Finding::NotChecked(ENTROPY)
        } else {
            examiner(*code)(patient)
        };
        match found {
            Finding::Absent => {}
            Finding::NotChecked(needs) => examined.not_checked.push(not_checked(needs)),
            Finding::TooFew(needs) => {
                examined.not_checked.push(not_checked(needs));
                examined.too_few = true;
            }
            Finding::Found(cause) => examined.causes.push(cause),
        }
    }
    let damaged = patient.damaged_from();
    examined.causes.sort_by_key(|cause| rank(cause, damaged));
    examined
}

/// Likely before possible; what costs samples but harms nothing last; what began before the damage
/// before what began after it; then in the order of explanations.
fn rank(cause: &Cause, damaged: Option<i64>) -> (Confidence, bool, bool, CauseCode) {
    let after = cause.from_step.zip(damaged).is_some_and(|(from, damaged)| from > damaged);
    (cause.confidence, cause.code == CauseCode::DeadGroups, after, cause.code)
}
