//! The sampler is sharper or flatter than the trainer.
//!
//! Statistic: the temperature T that fits ln μ from ln π best, through the normaliser's logarithm
//! (0 and −H at T = 1, ln Σπ² at T = ½), at the smallest lag, and the share of the gap that it explains.
//! Threshold: T beyond 5 % from 1 with the 99 % interval by drawing groups, explaining at least half
//! of the gap: a stale or an imprecise sampler differs in other ways than by one temperature. The fit is within
//! 3 % for T from 0.5 to 1.5, within a tenth where Σπ² is not logged; beyond these only that is said. A sampler that is certain of its tokens (0.98 on
//! average) where the trainer is not takes the most likely ones.
//! Only possible where weights may be old that are flatter (sharper) because entropy falls (rises) on the way.
//! Without the sampler's log-probabilities: tokens drawn from π have the mean surprisal H, exactly; a
//! mean that lies a tenth of H below by five standard errors is of a sharper sampler, one that lies as much
//! above of a flatter or an older one, or of tokens that the policy did not write. So where the sampler's
//! log-probabilities agree with the trainer's: an engine may log those before its temperature, top-p and top-k.
//! Likely where they do and tokens surprise less, most where choices are few (`agreement`): then it is not the
//! entropy that is off.

use super::shared::agreement;
use super::shared::agreement::Surprise;
use super::shared::gap::{COPIED, Gap, NOTICEABLE};
use super::shared::needs::SAMPLER;
use super::{entropy_of_another_policy, observation_trained};
use crate::evidence::number;
use crate::finding::{Finding, found};
use crate::patient::Patient;
use crate::words::{measured, percent};
use stapo_base::stats::ratio_of_sums::ratio_of_sums;
use stapo_base::stats::sustained::Direction;
use stapo_batch::columns::Column;
use stapo_collect::collect::signs::response_facts::ResponseFact;
use stapo_result::{CauseCode, Confidence, SignalName};

const OFF: f64 = 0.05;
const SURPRISE_OFF: f64 = 0.1;
const ERRORS: f64 = 5.0;

/// Temperatures that the fit tells.
const TRUSTED: [f64; 2] = [0.5, 1.5];
const RAW_HINT: &str = "let the sampler log the log-probabilities that it drew from (after temperature, top-p and top-k), and log \
                        the entropy over all tokens at the temperature that is trained";
const HINT: &str = "score with the temperature that was sampled with (divide the trainer's logits by it), or \
                    sample at 1; then ln μ and ln π_old agree. Look at top-p and top-k, too: generation_config.json \
                    sets all three together";

const OLD_HINT: &str = "log some responses of fresh weights (with policy_version) and see whether these have the gap, too: if \
                        so, score with the temperature that was sampled with; else sample with fresher weights";

/// Looks for it.
pub fn examine(patient: &Patient<'_>, gap: Option<&Gap>) -> Finding {
    let Some(gap) = gap else {
        return by_surprise(patient, Sampler::NotLogged).unwrap_or(Finding::NotChecked(SAMPLER));
    };
    if gap.is_greedy() {
        return greedy(gap);
    }
    let (b, explained) = gap.fit;
    let [low, high] = gap.interval();
    let clear = low > OFF || high < -OFF;
    if !(clear && gap.is_temperature()) {
        let surprise = agreement::surprise(&patient.signs.probes).filter(Surprise::is_off);
        // What is off is told there.
        let is_told = || {
            gap.is_truncation()
                || gap.kinds.is_some()
                || matches!(entropy_of_another_policy::examine(patient, Some(gap)), Finding::Found(_))
                || matches!(observation_trained::examine(patient), Finding::Found(_))
        };
        let logs =
            if surprise.is_some_and(|s| s.is_sharper()) { Sampler::IsSharper } else { Sampler::Agrees };
        return surprise.filter(|_| !is_told()).and_then(|_| by_surprise(patient, logs)).unwrap_or(
            match gap.is_copied() && patient.plan.stand_in.entropy {
                true => Finding::NotChecked(COPIED),
                false => Finding::Absent,
            },
        );
    }
    let t = 1.0 / (1.0 + b);
    let kind = if b > 0.0 { "sharper" } else { "flatter" };
    let (temperature, named) = match t {
        t if t < TRUSTED[0] => (format!("below {:.1}", TRUSTED[0]), "temperature, at most"),
        t if t > TRUSTED[1] => (format!("above {:.1}", TRUSTED[1]), "temperature, at least"),
        t if patient.has(Column::SumPiSq) => (format!("of {t:.2}"), "estimated temperature"),
        // Without the normaliser's bend it is good to a tenth.
        t => (format!("of about {t:.1}"), "estimated temperature"),
    };
    let mut evidence = vec![
        number(named, t.clamp(TRUSTED[0], TRUSTED[1])),
        number("share of the gap it explains", explained),
        number("engine k3", gap.k3()),
    ];
    evidence.extend(gap.slope().map(|slope| number("slope of ln μ on ln π_old, π_old < 0.95", slope)));
    let (confidence, old, hint) = match may_be_old(patient, gap) {
        true => (
            Confidence::Possible,
            "; weights that are some steps old would do the same, since entropy changes on the way",
            OLD_HINT,
        ),
        false => (Confidence::Likely, "", HINT),
    };
    found(
        CauseCode::SamplerTemperature,
        confidence,
        gap.from_step,
        format!(
            "the sampler is {kind} than the trainer{}{}: a temperature {temperature} (estimated) explains {} of \
             the gap, engine k3 {}{old}",
            gap.weights(),
            gap.side.told(),
            percent(explained),
            measured(gap.k3(), 4)
        ),
        hint,
        evidence,
    )
    .before(gap.side.end())
}

/// Whether old weights may be what is flatter or sharper: their age is not 0 or not known, entropy falls or rises in that
/// direction for good, and there was no gap at the first step of the training, where no weights are old.
fn may_be_old(patient: &Patient<'_>, gap: &Gap) -> bool {
    let direction = if gap.fit.0 < 0.0 { Direction::Down } else { Direction::Up };
    gap.lag != Some(0)
        && patient.changes_of(&SignalName::Entropy).any(|change| change.direction == direction)
        && gap.k3_at_start().is_none_or(|k3| k3 < NOTICEABLE)
}

/// A sampler that takes the most likely token.
fn greedy(gap: &Gap) -> Finding {
    let [n, trainer, sampler, ..] = gap.all.slope;
    let [trainer, sampler] = [trainer, sampler].map(|sum| (sum / n).exp());
    found(
        CauseCode::SamplerTemperature,
        Confidence::Likely,
        gap.from_step,
        format!(
            "the sampler is certain of its tokens{} (probability {sampler:.2}) where the trainer is not ({trainer:.2}): \
             it takes the most likely one, as at a temperature near 0",
            gap.side.told()
        ),
        "sample at the temperature that is trained, without top-k: without chance siblings do not differ",
        vec![
            number("probability by the sampler where the trainer's is below 0.95 (geometric mean)", sampler),
            number("the same by the trainer", trainer),
            number("engine k3", gap.k3()),
        ],
    )
    .before(gap.side.end())
}

/// What is logged of the sampler.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sampler {
    /// Nothing.
    NotLogged,
    /// Log-probabilities, which are the trainer's.
    Agrees,
    /// The same, but tokens were drawn from something sharper.
    IsSharper,
}

/// Tokens that surprise the trainer more or less than its entropy.
fn by_surprise(patient: &Patient<'_>, sampler: Sampler) -> Option<Finding> {
    let agrees = sampler != Sampler::NotLogged;
    let groups: Vec<f64> = patient
        .groups()
        .map(|group| {
            let tokens: f64 = group.iter().map(|f| f64::from(f.length)).sum();
            let off = |f: &ResponseFact| f64::from(f.length) * f64::from(f.surprisal - f.entropy);
            group.iter().filter(|f| f.length > 0).map(off).sum::<f64>() / tokens.max(1.0)
        })
        .collect();
    let (mean, error) = ratio_of_sums(groups.iter().map(|off| [1.0, *off]));
    let entropy = patient.analysis.totals.mean_entropy.unwrap_or(0.0);
    let clear = groups.len() > 20 && mean.abs() > SURPRISE_OFF * entropy && mean.abs() > ERRORS * error;
    if !clear {
        return None;
    }
    let (than, because, hint) = match mean < 0.0 {
        true if sampler == Sampler::IsSharper => (
            "less",
            ", most where choices are few: they were sampled at a lower temperature, or with top-p or top-k, and the \
             sampler logs its log-probabilities as they are before that",
            RAW_HINT,
        ),
        true if agrees => (
            "less",
            ": they were sampled at a lower temperature, or with top-p or top-k, and the sampler logs its \
             log-probabilities as they are before that; or the entropy is too large",
            RAW_HINT,
        ),
        false if agrees => (
            "more",
            ": they were sampled at a higher temperature, and the sampler logs its log-probabilities as they are before \
             that; or the policy did not write them (the environment's tokens in the mask); or the entropy is too small",
            RAW_HINT,
        ),
        true => ("less", ": they were sampled at a lower temperature, or with top-p or top-k", HINT),
        false => (
            "more",
            ": they were sampled at a higher temperature or with older weights, or the policy did not write them \
             (the environment's tokens in the mask), or the entropies are of its most likely tokens only",
            "log logprob_rollout, which tells these apart; take the environment's tokens out of the mask",
        ),
    };
    Some(found(
        CauseCode::SamplerTemperature,
        if sampler == Sampler::IsSharper { Confidence::Likely } else { Confidence::Possible },
        patient.analysis.steps.first().map(|row| row.step),
        format!(
            "tokens surprise the trainer {than} than its own entropy says ({:.3} against {entropy:.3} nats){because}",
            entropy + mean
        ),
        hint,
        vec![
            number("mean surprisal", entropy + mean),
            number("mean surprisal minus mean entropy", mean),
            number("mean entropy", entropy),
        ],
    ))
}
