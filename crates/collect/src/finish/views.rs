//! Whole responses and single candidates for the report.

use super::flagged::{FlaggedSource, shown_id};
use crate::collect::Collected;
use crate::collect::sample::SampledToken;
use crate::collect::views::{KeptResponse, Prompt};
use crate::plan::Plan;
use stapo_base::error::Result;
use stapo_batch::batch::MISSING_ID;
use stapo_framework::s2t::is_low_entropy;
use stapo_result::cases::{CANDIDATE_LIMIT, LARGEST_TAU_P};
use stapo_result::{CandidatePoint, Candidates, FlagKind, ResponseView, ShownFor};

/// The responses kept whole.
pub fn response_views(collected: &Collected, plan: &Plan, source: &FlaggedSource) -> Vec<ResponseView> {
    let mut kept = collected.views.responses();
    if !rewards_differ(kept.iter().map(|(response, kinds)| (response.reward, kinds.as_slice()))) {
        let by_reward = |kind: &ShownFor| matches!(kind, ShownFor::HighReward | ShownFor::LowReward);
        kept.iter_mut().for_each(|r| r.1.retain(|kind| !by_reward(kind)));
    }
    kept.into_iter().map(|(response, shown_for)| view(response, shown_for, plan, source)).collect()
}

/// Whether the best reward is above the worst: where all are equal, none is high or low.
fn rewards_differ<'a>(kept: impl Iterator<Item = (f32, &'a [ShownFor])>) -> bool {
    let (mut best, mut worst) = (f32::NEG_INFINITY, f32::INFINITY);
    for (reward, kinds) in kept {
        best = if kinds.contains(&ShownFor::HighReward) { best.max(reward) } else { best };
        worst = if kinds.contains(&ShownFor::LowReward) { worst.min(reward) } else { worst };
    }
    best > worst
}

/// A prompt as text.
fn prompt_text(prompt: &Prompt, source: &FlaggedSource) -> String {
    match prompt {
        Prompt::Text(text) => text.to_string(),
        Prompt::Ids(ids) => source.texts.all_shown(ids, None).join(source.texts.separator()),
    }
}

fn view(r: &KeptResponse, shown_for: Vec<ShownFor>, plan: &Plan, source: &FlaggedSource) -> ResponseView {
    let tau_h = source.keys.binary_search(&r.batch).ok().and_then(|number| source.tau_h[number]);
    let flag = |t: usize| {
        let (logprob, entropy, advantage) = (*r.logprob.get(t)?, *r.entropy.get(t)?, *r.advantage.get(t)?);
        let flagged = r.trained[t] && entropy.is_finite() && plan.rule.is_candidate(logprob, advantage);
        let kind = if is_low_entropy(entropy, tau_h?) { FlagKind::Spurious } else { FlagKind::Exploratory };
        flagged.then_some((t as u32, kind))
    };
    ResponseView {
        shown_for,
        prompt: r.prompt.as_ref().map(|prompt| prompt_text(prompt, source)),
        ending: r.ending.as_deref().map(str::to_owned),
        step: r.batch.step,
        update: r.update,
        group_id: shown_id(&r.group),
        sample_id: shown_id(&r.sample),
        row: source.rows.row(r.place.0, r.place.1),
        reward: r.reward.is_finite().then_some(f64::from(r.reward)),
        risk: r.risk,
        length: r.length as u64,
        first_position: r.first as u64,
        token_ids: r.token_ids.clone(),
        texts: source.texts.all_shown(&r.token_ids, r.texts.as_deref()),
        trained: r.trained.clone(),
        surprisal: r.logprob.iter().map(|l| -l).collect(),
        entropy: r.entropy.clone(),
        advantage: r.advantage.clone(),
        grad_norm: r.norm.clone(),
        flagged: (0..r.trained.len()).filter_map(flag).collect(),
    }
}

/// The candidates one by one: all up to the largest τ_p where they are few enough, else the
/// rarest.
#[allow(clippy::cast_possible_truncation)]
pub fn candidate_points(collected: &Collected, source: &FlaggedSource, plan: &Plan) -> Result<Candidates> {
    let mut points: Vec<CandidatePoint> = Vec::new();
    let mut complete_below = LARGEST_TAU_P;
    if collected.rare.is_complete() {
        let rewarded = collected.rare.tokens.iter().filter(|t| t.advantage > 0.0);
        points.extend(rewarded.map(|token| point_of(token, source)));
    } else {
        complete_below = plan.s2t.tau_p;
        source.candidates.for_each(|c| {
            points.push(CandidatePoint {
                step: c.batch.step,
                update: c.batch.update,
                token_id: (c.token_id != MISSING_ID).then_some(c.token_id),
                logprob: c.logprob,
                entropy: c.entropy,
                advantage: c.advantage,
                grad_norm: c.energy[1].sqrt() as f32,
            });
            // Memory stays bounded: far above the limit, only the rarest are wanted.
            if points.len() > 4 * CANDIDATE_LIMIT {
                complete_below = complete_below.min(keep_rarest(&mut points));
            }
            Ok(())
        })?;
    }
    if points.len() > CANDIDATE_LIMIT {
        complete_below = complete_below.min(keep_rarest(&mut points));
    }
    points.sort_by(|a, b| {
        let batch = |p: &CandidatePoint| (p.step, p.update);
        batch(a)
            .cmp(&batch(b))
            .then(a.entropy.total_cmp(&b.entropy))
            .then(a.logprob.total_cmp(&b.logprob))
            .then(a.token_id.cmp(&b.token_id))
            .then(a.advantage.total_cmp(&b.advantage))
            .then(a.grad_norm.total_cmp(&b.grad_norm))
    });
    Ok(Candidates { points, complete_below, complete: complete_below >= LARGEST_TAU_P })
}

fn point_of(token: &SampledToken, source: &FlaggedSource) -> CandidatePoint {
    let key = source.keys[token.batch as usize];
    CandidatePoint {
        step: key.step,
        update: key.update,
        token_id: (token.token_id != MISSING_ID).then_some(token.token_id),
        logprob: token.logprob,
        entropy: token.entropy,
        advantage: token.advantage,
        grad_norm: token.norm,
    }
}

/// Keeps only the rarest points, and returns the τ_p below which none was dropped.
fn keep_rarest(points: &mut Vec<CandidatePoint>) -> f64 {
    points.sort_by(|a, b| a.logprob.total_cmp(&b.logprob));
    let first_dropped = points[CANDIDATE_LIMIT].logprob;
    // Ties with the first that is dropped go too: what is left is all below a threshold.
    points.retain(|point| point.logprob < first_dropped);
    f64::from(first_dropped).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Responses come the riskiest first: the best and the worst reward may be anywhere.
    #[test]
    fn rewards_differ_where_the_best_and_the_worst_do() {
        let both = [ShownFor::HighReward, ShownFor::LowReward];
        let differ = |rewards: &[f32]| rewards_differ(rewards.iter().map(|r| (*r, both.as_slice())));
        assert!(differ(&[0.5, 1.0, 0.0]) && differ(&[0.5, 0.5, 0.0]));
        assert!(!differ(&[0.5, 0.5]) && !differ(&[]));
        assert!(rewards_differ([(0.0, &both[1..]), (1.0, &both[..1])].into_iter()));
    }
}
