//! The answers without what rests on entropy or advantages: gradient energy, the spurious tokens, entropy itself;
//! and without advantages, outcomes of groups and clipping.
//!
//! Every struct is taken apart field by field, so that a new field does not compile until somebody
//! decides whether it needs them.

use stapo_result::breakdown::Breakdown;
use stapo_result::corrections::CorrectionRow;
use stapo_result::groups::{Groups, PassRateRow, StepGroupOutcomes};
use stapo_result::questions::{Ended, StepTruncated};
use stapo_result::stand_in::StandIn;
use stapo_result::{Answers, KlReference, NotAnswered, OffPolicy, SliceRow, Truncated};

/// What needs entropy and advantages, as `not_answered` names it.
const NEED_ENERGY: [&str; 7] =
    ["s2t", "drivers", "taxonomy", "entropy_change", "sweep", "rules", "punished_rare"];
/// What needs advantages alone.
const NEED_ADVANTAGE: [&str; 3] = ["groups", "clipping", "within_groups"];

const LOG_ENTROPY: &str = "log `entropy`: the entropy of the policy at each token";
const LOG_ADVANTAGE: &str = "log `advantage`: the advantage of each token or response";
const LOG_BOTH: &str =
    "log `entropy`, the entropy of the policy at each token, and `advantage`, that of each token or response";

const LOG_TOKENS: &str =
    "log tokens: `logprob`, the log-probability of each under the policy, with `entropy` and `advantage`";

/// The answers that need no gradient energy.
pub fn without_energy(answers: Answers, missing: StandIn) -> Answers {
    let Answers {
        offpolicy,
        groups,
        truncated,
        clipping,
        kl_reference,
        reward_parts,
        within_groups,
        punished_rare: _,
        repetition,
        slices,
        not_answered,
    } = answers;
    let energy = match (missing.entropy, missing.advantage) {
        _ if missing.logprob => LOG_TOKENS,
        (_, false) => LOG_ENTROPY,
        (false, true) => LOG_ADVANTAGE,
        (true, true) => LOG_BOTH,
    };
    let without = |parts: &'static [&'static str], needs: &'static str| {
        parts.iter().map(move |part| NotAnswered { part: (*part).into(), needs: needs.into() })
    };
    // Of texts, groups are told by their rewards.
    let has_groups = !missing.advantage || missing.logprob;
    let needs: &[&str] = if has_groups { &NEED_ADVANTAGE[1..] } else { &NEED_ADVANTAGE };
    let signs = if missing.advantage { needs } else { &[] };
    let is_told = |open: &NotAnswered| !signs.contains(&open.part.as_str());
    let open = without(&NEED_ENERGY, energy).chain(without(signs, LOG_ADVANTAGE));
    let has_signs = !missing.advantage;
    Answers {
        offpolicy: offpolicy.map(ledger),
        groups: groups.filter(|_| has_groups).map(outcomes),
        truncated: truncated.map(cut),
        clipping: clipping.filter(|_| has_signs),
        kl_reference: kl_reference.map(reference),
        reward_parts,
        within_groups: within_groups.filter(|_| has_signs),
        punished_rare: None,
        repetition,
        slices: slices
            .into_iter()
            .map(|(name, rows)| (name, rows.into_iter().map(|row| slice(row, missing)).collect()))
            .collect(),
        not_answered: open.chain(not_answered.into_iter().filter(is_told)).collect(),
    }
}

fn ledger(of: OffPolicy) -> OffPolicy {
    let OffPolicy {
        run,
        steps,
        lags,
        step_lags,
        lag_is_version,
        quantile_error,
        corrections,
        breakdown,
        spurious: _,
    } = of;
    OffPolicy {
        run,
        steps,
        lags,
        step_lags,
        lag_is_version,
        quantile_error,
        corrections: corrections.into_iter().map(correction).collect(),
        breakdown: breakdown.map(places),
        spurious: None,
    }
}

fn correction(of: CorrectionRow) -> CorrectionRow {
    let CorrectionRow {
        rule,
        mean_weight,
        ess,
        changed_tokens,
        dropped_tokens,
        dropped_responses,
        energy_kept: _,
        spurious_removed: _,
        overlap_with_s2t: _,
        top,
        steps,
    } = of;
    CorrectionRow {
        rule,
        mean_weight,
        ess,
        changed_tokens,
        dropped_tokens,
        dropped_responses,
        energy_kept: None,
        spurious_removed: None,
        overlap_with_s2t: None,
        top,
        steps,
    }
}

fn places(of: Breakdown) -> Breakdown {
    let Breakdown { by_probability, by_entropy: _, first_tokens, by_turn, largest_mean, largest_k3_share } =
        of;
    let by_entropy = Vec::new();
    Breakdown { by_probability, by_entropy, first_tokens, by_turn, largest_mean, largest_k3_share }
}

fn outcomes(of: Groups) -> Groups {
    let Groups {
        rule,
        counts,
        token_share,
        energy_share: _,
        pass_rate,
        pass_at,
        pass_at_interval,
        by_pass_rate,
        length,
        steps,
    } = of;
    let row = |of: PassRateRow| {
        let PassRateRow { pass_rate, groups, token_share, energy_share: _ } = of;
        PassRateRow { pass_rate, groups, token_share, energy_share: None }
    };
    let step = |of: StepGroupOutcomes| {
        let StepGroupOutcomes { step, groups, counts, token_share, energy_share: _, pass_rate, pass_at } = of;
        StepGroupOutcomes { step, groups, counts, token_share, energy_share: None, pass_rate, pass_at }
    };
    Groups {
        rule,
        counts,
        token_share,
        energy_share: None,
        pass_rate,
        pass_at,
        pass_at_interval,
        by_pass_rate: by_pass_rate.into_iter().map(row).collect(),
        length,
        steps: steps.into_iter().map(step).collect(),
    }
}

fn cut(of: Truncated) -> Truncated {
    let Truncated { from, known, responses, energy_share: _, mean_reward, cut, finished, steps } = of;
    let ended = |of: Ended| {
        let Ended { responses, mean_reward, mean_length, mean_entropy: _, energy_per_token: _ } = of;
        Ended { responses, mean_reward, mean_length, mean_entropy: None, energy_per_token: None }
    };
    let step = |of: StepTruncated| {
        let StepTruncated { step, known, responses, share, energy_share: _ } = of;
        StepTruncated { step, known, responses, share, energy_share: None }
    };
    Truncated {
        from,
        known,
        responses,
        energy_share: None,
        mean_reward,
        cut: ended(cut),
        finished: ended(finished),
        steps: steps.into_iter().map(step).collect(),
    }
}

fn reference(of: KlReference) -> KlReference {
    let KlReference { tokens, k1, k3, steps, breakdown } = of;
    KlReference { tokens, k1, k3, steps, breakdown: breakdown.map(places) }
}

fn slice(of: SliceRow, missing: StandIn) -> SliceRow {
    let SliceRow {
        value,
        tokens,
        token_share,
        mean_entropy: _,
        mean_prob,
        energy_share: _,
        energy_share_interval: _,
        spurious: _,
        spurious_share: _,
        spurious_share_interval: _,
        clipped_share,
        engine_k3,
    } = of;
    SliceRow {
        value,
        tokens,
        token_share,
        mean_entropy: None,
        mean_prob: mean_prob.filter(|_| !missing.logprob),
        energy_share: None,
        energy_share_interval: None,
        spurious: None,
        spurious_share: None,
        spurious_share_interval: None,
        clipped_share: clipped_share.filter(|_| !missing.advantage),
        engine_k3,
    }
}
