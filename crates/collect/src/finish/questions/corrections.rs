//! The corrections bench from its sums, and which spurious tokens each correction would have removed.

use super::flags::CandidateFlags;
use super::steps::Steps;
use crate::collect::questions::clipped_tokens::TokensById;
use crate::collect::questions::corrections::CorrectionTally;
use crate::finish::ratios::share;
use crate::token_text::TokenTexts;
use stapo_base::stats::exact_sum::ExactSum;
use stapo_framework::corrections::Correction;
use stapo_result::corrections::{ChangedId, CorrectionRow, StepCorrection};

/// Ids of a list.
const TOP_IDS: usize = 10;

/// The bench; empty without engine differences.
pub fn corrections(
    steps: &Steps,
    rules: &[Correction],
    changed: &[TokensById],
    flags: &CandidateFlags,
    texts: &TokenTexts,
) -> Vec<CorrectionRow> {
    let (mut tokens, mut responses, mut energy) = (0, 0, ExactSum::new());
    for facts in steps.values() {
        let engine = facts.engine_size();
        tokens += engine.0;
        responses += engine.1;
        energy.merge(&facts.compared_energy);
    }
    if tokens == 0 {
        return Vec::new();
    }
    let row = |(number, rule): (usize, &Correction)| {
        let mut all = CorrectionTally::default();
        let mut rows = Vec::new();
        for (step, facts) in steps {
            let (tokens, responses) = facts.engine_size();
            if let Some(tally) = facts.corrections.get(number).filter(|_| tokens > 0) {
                all.merge(tally);
                rows.push(StepCorrection {
                    step: *step,
                    mean_weight: tally.weight.value() / tokens as f64,
                    ess: ess(tally, tokens),
                    changed_tokens: tally.changed as f64 / tokens as f64,
                    dropped_tokens: tally.dropped as f64 / tokens as f64,
                    dropped_responses: tally.dropped_responses as f64 / responses as f64,
                });
            }
        }
        let both = flags.removed[number];
        let either = all.dropped + flags.spurious - both;
        CorrectionRow {
            rule: rule.to_string(),
            mean_weight: all.weight.value() / tokens as f64,
            ess: ess(&all, tokens),
            changed_tokens: all.changed as f64 / tokens as f64,
            dropped_tokens: all.dropped as f64 / tokens as f64,
            dropped_responses: all.dropped_responses as f64 / responses as f64,
            energy_kept: share(all.energy.value(), energy.value()),
            spurious_removed: share(both as f64, flags.compared as f64),
            overlap_with_s2t: share(both as f64, either as f64),
            top: changed.get(number).map_or_else(Vec::new, |ids| changed_ids(ids, all.changed, texts)),
            steps: rows,
        }
    };
    rules.iter().enumerate().map(row).collect()
}

/// The ids that are changed most often.
fn changed_ids(ids: &TokensById, all: u64, texts: &TokenTexts) -> Vec<ChangedId> {
    let mut ids: Vec<(i32, u64)> = ids.0.iter().map(|(id, tokens)| (*id, *tokens)).collect();
    ids.sort_by_key(|(id, tokens)| (std::cmp::Reverse(*tokens), *id));
    let row = |(id, tokens): (i32, u64)| ChangedId {
        token_id: i64::from(id),
        token: texts.known(id).map(str::to_owned),
        tokens,
        share: tokens as f64 / all.max(1) as f64,
    };
    ids.into_iter().take(TOP_IDS).map(row).collect()
}

fn ess(tally: &CorrectionTally, tokens: u64) -> Option<f64> {
    let (weight, square) = (tally.weight.value(), tally.square.value());
    share(weight * weight, tokens as f64 * square)
}
