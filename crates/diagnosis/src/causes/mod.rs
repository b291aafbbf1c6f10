//! The causes. The file of a cause has the name of its code: its statistic, its threshold and the reason for it. Where
//! one is found in several ways, they lie in the folder beside it; what several causes look with, in `shared/`.

mod advantage_contradicts_reward;
mod dead_groups;
mod entropy_of_another_policy;
mod large_updates;
mod misaligned_log;
mod no_negative_signal;
mod no_positive_signal;
mod observation_trained;
mod phantom_advantage;
mod precision_gap;
mod reward_hacking;
mod sampler_temperature;
mod sampler_truncation;
mod shared;
mod spurious_tokens;
mod stale_sampler;
mod truncation;
mod unbounded_ratio;
mod uninformative_reward;

use rayon::prelude::*;

use self::shared::gap::Gap;
use self::shared::needs::{ADVANTAGE, ENTROPY};
use super::doubt;
use super::evidence::number;
use super::finding::Finding;
use super::patient::Patient;
use stapo_batch::columns::Column;
use stapo_result::{Cause, CauseCode, Confidence, NotChecked};

/// Looks for a cause; `gap` is that between sampler and trainer, which several ask for.
fn examine(code: CauseCode, patient: &Patient<'_>, gap: Option<&Gap>) -> Finding {
    match code {
        CauseCode::MisalignedLog => misaligned_log::examine(patient),
        CauseCode::EntropyOfAnotherPolicy => entropy_of_another_policy::examine(patient, gap),
        CauseCode::ObservationTrained => observation_trained::examine(patient),
        CauseCode::AdvantageContradictsReward => advantage_contradicts_reward::examine(patient),
        CauseCode::RewardHacking => reward_hacking::examine(patient),
        CauseCode::UninformativeReward => uninformative_reward::examine(patient),
        CauseCode::NoNegativeSignal => no_negative_signal::examine(patient),
        CauseCode::NoPositiveSignal => no_positive_signal::examine(patient),
        CauseCode::SamplerTemperature => sampler_temperature::examine(patient, gap),
        CauseCode::SamplerTruncation => sampler_truncation::examine(patient, gap),
        CauseCode::StaleSampler => stale_sampler::examine(patient, gap),
        CauseCode::LargeUpdates => large_updates::examine(patient),
        CauseCode::UnboundedRatio => unbounded_ratio::examine(patient),
        CauseCode::PrecisionGap => precision_gap::examine(patient, gap),
        CauseCode::PhantomAdvantage => phantom_advantage::examine(patient),
        CauseCode::Truncation => truncation::examine(patient),
        CauseCode::SpuriousTokens => spurious_tokens::examine(patient),
        CauseCode::DeadGroups => dead_groups::examine(patient),
    }
}

/// Whether a cause cannot be looked for without entropy: its statistic is of entropy, of gradient
/// energy, or fits a model that has entropy in it.
fn needs_entropy(code: CauseCode, patient: &Patient<'_>) -> bool {
    match code {
        // Log-probabilities of trainer and sampler tell, too.
        CauseCode::MisalignedLog | CauseCode::ObservationTrained => !patient.has(Column::LogprobRollout),
        CauseCode::EntropyOfAnotherPolicy
        | CauseCode::UninformativeReward
        | CauseCode::SamplerTemperature
        | CauseCode::UnboundedRatio
        | CauseCode::SpuriousTokens => true,
        CauseCode::AdvantageContradictsReward
        | CauseCode::RewardHacking
        | CauseCode::NoNegativeSignal
        | CauseCode::NoPositiveSignal
        | CauseCode::SamplerTruncation
        | CauseCode::StaleSampler
        | CauseCode::LargeUpdates
        | CauseCode::PrecisionGap
        | CauseCode::PhantomAdvantage
        | CauseCode::Truncation
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

/// The columns that a cause needs and that others stand in for.
fn stood_in(code: CauseCode, patient: &Patient<'_>) -> Vec<&'static str> {
    let stand_in = patient.plan.stand_in;
    let advantage = (stand_in.advantage && needs_advantage(code)).then_some(ADVANTAGE);
    let entropy = (stand_in.entropy && needs_entropy(code, patient)).then_some(ENTROPY);
    advantage.into_iter().chain(entropy).collect()
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
    let gap = Gap::fresh(patient);
    let look = |code: &CauseCode| examine(*code, patient, gap.as_ref());
    let found: Vec<Finding> = CauseCode::ALL.par_iter().map(look).collect();
    for (code, found) in CauseCode::ALL.iter().zip(found) {
        let not_checked = |needs: &str| NotChecked { code: *code, needs: needs.into() };
        let missing = stood_in(*code, patient);
        match found {
            // What was found has numbers in it that were not logged; what else it needs still holds.
            Finding::NotChecked(needs) if !missing.is_empty() && needs != uninformative_reward::NEEDS => {
                examined.not_checked.push(not_checked(&[&missing[..], &[needs]].concat().join(", and ")));
            }
            _ if !missing.is_empty() => examined.not_checked.push(not_checked(&missing.join(", and "))),
            Finding::Absent => {}
            Finding::NotChecked(needs) => examined.not_checked.push(not_checked(needs)),
            Finding::TooFew(needs) => {
                examined.not_checked.push(not_checked(needs));
                examined.too_few = true;
            }
            Finding::Found(cause) => examined.causes.push(of_sample(cause, patient.signs.facts.level)),
        }
    }
    doubt::drop_what_a_grader_took(&mut examined.causes, patient);
    doubt::doubt_what_is_misaligned(&mut examined.causes);
    let damaged = patient.damaged_from();
    examined.causes.sort_by_key(|cause| rank(cause, damaged));
    examined
}

/// A cause that counts responses or groups, where these are a sample of the run's: said where its numbers stand.
fn of_sample(mut cause: Cause, level: u32) -> Cause {
    if level > 0 && counts_responses(cause.code) {
        let groups = 1_u64 << level.min(63);
        cause.message = format!("{} (told from a sample of one group in {groups})", cause.message);
        cause.evidence.push(number("groups of the run for each that was looked at, about", groups as f64));
    }
    cause
}

/// Whether a cause is judged by responses one by one, of which large runs keep a sample.
fn counts_responses(code: CauseCode) -> bool {
    match code {
        CauseCode::AdvantageContradictsReward
        | CauseCode::RewardHacking
        | CauseCode::UninformativeReward
        | CauseCode::NoNegativeSignal
        | CauseCode::NoPositiveSignal
        | CauseCode::SamplerTemperature
        | CauseCode::SamplerTruncation
        | CauseCode::StaleSampler
        | CauseCode::PrecisionGap
        | CauseCode::PhantomAdvantage
        | CauseCode::Truncation => true,
        CauseCode::MisalignedLog
        | CauseCode::EntropyOfAnotherPolicy
        | CauseCode::ObservationTrained
        | CauseCode::LargeUpdates
        | CauseCode::UnboundedRatio
        | CauseCode::SpuriousTokens
        | CauseCode::DeadGroups => false,
    }
}

/// Likely before possible; what harms little last; what began before the damage before what began after
/// it; what lasts before what is over, where nothing was damaged; then in the order of explanations.
fn rank(cause: &Cause, damaged: Option<i64>) -> (Confidence, bool, bool, bool, CauseCode) {
    // Hacking is dated by what it took away, which is damage itself.
    let is_dated = cause.code != CauseCode::RewardHacking;
    let after = is_dated && cause.from_step.zip(damaged).is_some_and(|(from, damaged)| from > damaged);
    let is_over = damaged.is_none() && cause.before_step.is_some();
    (cause.confidence, !is_sickness(cause), after, is_over, cause.code)
}

/// Whether a cause can damage a run: groups that teach nothing only cost, and spurious tokens of a few hundredths
/// of the energy, which S2T's own sentence tells of, do little.
pub fn is_sickness(cause: &Cause) -> bool {
    let is_small = cause.code == CauseCode::SpuriousTokens && cause.confidence != Confidence::Likely;
    cause.code != CauseCode::DeadGroups && !is_small
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_a_cause_has_the_name_of_its_code() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/causes");
        for code in CauseCode::ALL {
            assert!(folder.join(format!("{}.rs", code.name())).is_file(), "{}", code.name());
        }
    }

    #[test]
    fn what_a_sample_tells_is_told_as_such() {
        let cause = |code: CauseCode, level: u32| {
            let message = "in 77 of 943 groups".into();
            let cause = Cause {
                code,
                confidence: Confidence::Likely,
                from_step: None,
                before_step: None,
                message,
                hint: String::new(),
                evidence: Vec::new(),
            };
            of_sample(cause, level).message
        };
        let contradicts = CauseCode::AdvantageContradictsReward;
        assert_eq!(cause(contradicts, 0), "in 77 of 943 groups");
        assert_eq!(cause(contradicts, 3), "in 77 of 943 groups (told from a sample of one group in 8)");
        assert_eq!(cause(CauseCode::DeadGroups, 3), "in 77 of 943 groups");
    }
}
