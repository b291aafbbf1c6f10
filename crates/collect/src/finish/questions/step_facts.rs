//! Clipping, KL to the reference, parts of the reward, cut responses and loops from their sums.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::breakdown::probability_name;
use super::steps::Steps;
use crate::collect::questions::clipped_tokens::ClippedTokens;
use crate::collect::questions::step_facts::{EndTally, MeanTally, ReferenceTally, StepFacts};
use crate::finish::ratios::{mean, share};
use crate::plan::Questions;
use crate::token_text::TokenTexts;
use stapo_base::stats::exact_sum::ExactSum;
use stapo_result::clipping::{ClipCorners, ClippedBin, ClippedId, Clipping, StepClipping, UpdateClipping};
use stapo_result::questions::{
    Ended, KlReference, Repetition, RewardPart, StepKl, StepMean, StepRepetition, StepTruncated, Truncated,
};

/// Ids of a list.
const TOP_IDS: usize = 30;

/// Cut responses; `None` where no column tells.
pub fn truncated(steps: &Steps, asked: &Questions) -> Option<Truncated> {
    let column = asked.truncated?;
    let (mut cut, mut finished) = (EndTally::default(), EndTally::default());
    let mut energy = ExactSum::new();
    for facts in steps.values() {
        cut.merge(&facts.cut);
        finished.merge(&facts.finished);
        energy.merge(&facts.energy);
    }
    let known = |facts: &StepFacts| facts.cut.responses + facts.finished.responses;
    let row = |(step, facts): (&i64, &StepFacts)| StepTruncated {
        step: *step,
        known: known(facts),
        responses: facts.cut.responses,
        share: mean(facts.cut.responses as f64, known(facts)).unwrap_or(0.0),
        energy_share: share(facts.cut.energy.value(), facts.energy.value()),
    };
    (cut.responses + finished.responses > 0).then(|| Truncated {
        from: column.name().into(),
        known: cut.responses + finished.responses,
        responses: cut.responses,
        energy_share: share(cut.energy.value(), energy.value()),
        mean_reward: mean(cut.reward.value(), cut.rewarded),
        cut: ended(&cut),
        finished: ended(&finished),
        steps: steps.iter().filter(|(_, facts)| known(facts) > 0).map(row).collect(),
    })
}

fn ended(tally: &EndTally) -> Ended {
    Ended {
        responses: tally.responses,
        mean_reward: mean(tally.reward.value(), tally.rewarded),
        mean_length: mean(tally.tokens as f64, tally.responses),
        mean_entropy: mean(tally.entropy.value(), tally.tokens),
        energy_per_token: mean(tally.energy.value(), tally.tokens),
    }
}

/// The corners of the clip; `None` without ratios.
pub fn clipping(
    steps: &Steps,
    asked: &Questions,
    clipped: &ClippedTokens,
    texts: &TokenTexts,
) -> Option<Clipping> {
    let clip = asked.clip?;
    let (mut all, mut tokens) = ([0; 4], 0);
    for facts in steps.values() {
        all.iter_mut().zip(facts.corners).for_each(|(a, b)| *a += b);
        tokens += facts.update.tokens;
    }
    let row = |(step, facts): (&i64, &StepFacts)| StepClipping {
        step: *step,
        tokens: facts.update.tokens,
        corners: corners(facts.corners),
    };
    (tokens > 0).then(|| Clipping {
        clip_low: clip.low,
        clip_high: clip.high,
        corners: corners(all),
        tokens,
        steps: steps.iter().map(row).collect(),
        updates: clipped
            .updates
            .iter()
            .filter(|(_, (tokens, _))| *tokens > 0)
            .map(|(update, (tokens, found))| UpdateClipping {
                update: *update,
                tokens: *tokens,
                corners: corners(*found),
            })
            .collect(),
        by_probability: clipped
            .probability
            .iter()
            .enumerate()
            .filter(|(_, found)| found.iter().sum::<u64>() > 0)
            .map(|(bin, found)| ClippedBin { bin: probability_name(bin), corners: corners(*found) })
            .collect(),
        top: clipped_ids(clipped, texts),
    })
}

fn corners([high_positive, low_negative, high_negative, low_positive]: [u64; 4]) -> ClipCorners {
    ClipCorners { high_positive, low_negative, high_negative, low_positive }
}

/// The ids that are most often beyond the clip.
fn clipped_ids(clipped: &ClippedTokens, texts: &TokenTexts) -> Vec<ClippedId> {
    let mut ids: Vec<(&i32, &[u64; 4])> = clipped.ids.iter().collect();
    ids.sort_by_key(|(id, found)| (std::cmp::Reverse(found.iter().sum::<u64>()), **id));
    let row = |(id, found): &(&i32, &[u64; 4])| ClippedId {
        token_id: i64::from(**id),
        token: texts.known(**id).map(str::to_owned),
        corners: corners(**found),
    };
    ids.iter().take(TOP_IDS).map(row).collect()
}

/// KL to the reference; `None` where it is not logged.
pub fn kl_reference(steps: &Steps) -> Option<KlReference> {
    let mut all = ReferenceTally::default();
    steps.values().for_each(|facts| all.merge(&facts.reference));
    let means = |tally: &ReferenceTally| {
        let n = tally.tokens as f64;
        // Not −0 where nothing differs.
        (0.0 - tally.sum.value() / n, tally.k3.value() / n)
    };
    let row = |(step, facts): (&i64, &StepFacts)| {
        let (k1, k3) = means(&facts.reference);
        StepKl { step: *step, tokens: facts.reference.tokens, k1, k3 }
    };
    let (k1, k3) = means(&all);
    (all.tokens > 0).then(|| KlReference {
        tokens: all.tokens,
        k1,
        k3,
        steps: steps.iter().filter(|(_, facts)| facts.reference.tokens > 0).map(row).collect(),
        breakdown: None,
    })
}

/// The parts of the reward, by name.
pub fn reward_parts(steps: &Steps) -> Vec<RewardPart> {
    let mut parts: BTreeMap<Arc<str>, (MeanTally, Vec<StepMean>)> = BTreeMap::new();
    for (step, facts) in steps {
        for (name, tally) in &facts.parts {
            let (all, rows) = parts.entry(Arc::clone(name)).or_default();
            all.merge(tally);
            rows.extend(mean(tally.sum.value(), tally.responses).map(|mean| StepMean {
                step: *step,
                responses: tally.responses,
                mean,
            }));
        }
    }
    let part = |(name, (all, steps)): (Arc<str>, (MeanTally, Vec<StepMean>))| RewardPart {
        name: name.as_ref().into(),
        responses: all.responses,
        mean: mean(all.sum.value(), all.responses).unwrap_or(0.0),
        steps,
    };
    parts.into_iter().map(part).collect()
}

/// Loops; `None` without token ids.
pub fn repetition(steps: &Steps, asked: &Questions) -> Option<Repetition> {
    let (mut tokens, mut looping, mut all) = (0, 0, 0);
    for facts in steps.values() {
        tokens += facts.loops.repeated;
        looping += facts.loops.looping;
        all += facts.loops.tokens;
    }
    let row = |(step, facts): (&i64, &StepFacts)| StepRepetition {
        step: *step,
        tokens: facts.loops.repeated,
        share: mean(facts.loops.repeated as f64, facts.loops.tokens).unwrap_or(0.0),
        looping: facts.loops.looping,
        looping_share: mean(facts.loops.looping as f64, facts.loops.responses).unwrap_or(0.0),
        stuck: facts.loops.stuck,
        stuck_share: mean(facts.loops.stuck as f64, facts.loops.responses).unwrap_or(0.0),
    };
    (asked.ids && all > 0).then(|| Repetition {
        tokens,
        share: tokens as f64 / all as f64,
        looping,
        steps: steps.iter().map(row).collect(),
    })
}
