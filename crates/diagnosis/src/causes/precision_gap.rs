//! Trainer and sampler compute different probabilities with the same weights.
//!
//! Statistic: k3 of the engine gap of the youngest weights that neither a temperature nor truncation
//! explains, with ratios cut at 10 and two standard errors over groups taken off: tokens that are far out make
//! a mean of e^d any size, and a few of them are no gap of two engines (effective share and ratios tell them).
//! Only possible without entropies, which a temperature is told by (but where some responses differ throughout and
//! others do not), and where these weights are not known to be the trainer's own: by their version, or since the gap
//! is there at the first step of the training, where no weights are old.
//! Threshold: 0.001 is possible (a bfloat16 sampler leaves a tenth of it), 0.01 likely: there
//! importance weights are asked for. A gap that grows from nothing is that of old weights (`growth`).

use super::misaligned_log::is_of_other_tokens;
use super::shared::gap::kinds::TwoKinds;
use super::shared::gap::{COPIED, Gap, LARGE, NOTICEABLE};
use super::shared::lasting::Side;
use super::shared::needs::SAMPLER;
use crate::evidence::number;
use crate::finding::{Finding, found};
use crate::patient::Patient;
use crate::words::{measured, percent};
use stapo_base::format::counted;
use stapo_batch::columns::Column;
use stapo_result::{CauseCode, Confidence, Evidence};

const HINT_FRESH: &str =
    "bring precision and kernels of both together, or correct with importance weights (TIS, MIS)";
const HINT: &str = "see whether the sampler gets new weights at every step; then bring precision and kernels of both \
                    together, or correct with importance weights (TIS, MIS)";
const HINT_FEW: &str = "see whether the trainer scores the very ids that were sampled (texts that are tokenised anew differ at \
                        a few places) and routes experts as the sampler did; mask such tokens (IcePop, MIS) until then";
const HINT_KINDS: &str = "hold what trainer and sampler are given for such a response side by side: sequences packed without a \
                          mask between them, another prompt or chat template, one engine of several with other \
                          weights, other sampling settings for some requests";

/// Looks for it.
pub fn examine(patient: &Patient<'_>, gap: Option<&Gap>) -> Finding {
    let Some(gap) = gap else { return Finding::NotChecked(SAMPLER) };
    if gap.is_copied() {
        return Finding::NotChecked(COPIED);
    }
    let is_other = gap.is_temperature() || gap.is_truncation() || gap.growth().is_some();
    if gap.k3_of_many() < NOTICEABLE || is_other || is_of_other_tokens(&patient.signs.probes) {
        return Finding::Absent;
    }
    let from_the_start = gap.k3_at_start().is_some_and(|k3| k3 > LARGE);
    // No weights are old, by their version or at the first step.
    let is_fresh = gap.lag == Some(0) || gap.lag.is_none() && from_the_start;
    let knows_entropy = !patient.plan.stand_in.entropy;
    let likely = (knows_entropy || gap.kinds.is_some()) && gap.k3_of_many() > LARGE && is_fresh;
    let ages = match gap.lag {
        None if likely => "; it is there at the first step, where no weights are old".to_owned(),
        None if !patient.has(Column::PolicyVersion) => {
            "; how old the sampler's weights are is not logged (policy_version)".to_owned()
        }
        None => {
            "; policy_version is no step number, so how old the sampler's weights are is not known".into()
        }
        Some(0) => String::new(),
        Some(lag) => {
            let old = counted(lag.unsigned_abs(), "step", "steps");
            format!("; the youngest weights are {old} old, which may explain it")
        }
    };
    let confidence = if likely { Confidence::Likely } else { Confidence::Possible };
    if let Some(kinds) = &gap.kinds {
        return of_some(gap, kinds, confidence, &ages);
    }
    let other = match knows_entropy {
        true => "no single temperature and no truncation alone explains",
        false => "no truncation explains, but a temperature may (entropy would tell)",
    };
    let few = match gap.is_of_few() {
        true => format!(
            "; {} of its squares are those of {} of the tokens, which the trainer finds ten times less likely than \
             the sampler did",
            percent(gap.share_far()),
            percent(gap.all.far[0] / gap.all.tokens)
        ),
        false => String::new(),
    };
    found(
        CauseCode::PrecisionGap,
        confidence,
        gap.from_step,
        format!(
            "trainer and sampler disagree{}{}: engine k3 {}, which {other}{ages}{few}",
            gap.weights(),
            gap.side.told(),
            gap.told_k3()
        ),
        match (gap.is_of_few(), gap.lag.is_none() && from_the_start) {
            (true, _) => HINT_FEW,
            (false, true) => HINT_FRESH,
            (false, false) => HINT,
        },
        evidence(gap),
    )
    .before(gap.side.end())
}

fn evidence(gap: &Gap) -> Vec<Evidence> {
    vec![
        number("engine k3 at the smallest lag", gap.k3()),
        number("the same of the many, at least", gap.k3_of_many()),
        number("mean of |ln μ − ln π_old|", gap.all.absolute / gap.all.tokens),
        number("share of squares above ln 10", gap.share_far()),
        number("share of tokens above ln 10", gap.all.far[0] / gap.all.tokens),
    ]
}

/// A gap that some responses have throughout, and others do not have at all.
fn of_some(gap: &Gap, kinds: &TwoKinds, confidence: Confidence, ages: &str) -> Finding {
    let side = if kinds.far.side == Side::Whole { gap.side } else { kinds.far.side };
    let [near, far] = kinds.distances.map(|distance| measured(distance, 3));
    let mut evidence = evidence(gap);
    evidence.extend(kinds.far.evidence("share of responses that differ throughout", "responses"));
    found(
        CauseCode::PrecisionGap,
        confidence,
        Some(kinds.far.from_step),
        format!(
            "trainer and sampler disagree{} in {} of the responses{}: their tokens differ throughout ({far} nats on \
             average), those of the others hardly do ({near}), while a temperature or top-p would move all; engine k3 \
             {}{ages}",
            gap.weights(),
            percent(kinds.far.value()),
            side.told(),
            gap.told_k3()
        ),
        HINT_KINDS,
        evidence,
    )
    .before(side.end())
}
