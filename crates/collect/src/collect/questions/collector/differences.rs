//! The differences between the policies of a response, and what follows from them: corrections of the
//! engine's, tokens beyond the clip of the update's.

use std::cell::OnceCell;

use super::QuestionCollector;
use crate::collect::columns::Columns;
use crate::collect::questions::clipped_tokens::{ClippedTokens, Corners};
use crate::collect::questions::corrections::{CorrectedResponse, CorrectionTally};
use crate::collect::questions::difference::{ResponseDifference, TokenDifferences};
use crate::collect::questions::{Asked, OpenResponse};
use stapo_batch::columns::Column;
use stapo_framework::token::ClipRange;

impl QuestionCollector<'_> {
    /// Adds those of a response with a gradient energy of `energy`.
    pub(super) fn add_differences(&mut self, asked: &Asked<'_>, energy: f64, open: &mut OpenResponse) {
        let Columns { logprob, logprob_rollout, logprob_new, .. } = *asked.trained;
        let keeps = self.keeps && self.gates.differences.admit(logprob.len());
        let facts = self.steps.at(asked.step);
        if !logprob_rollout.is_empty() {
            let versions = asked.source.responses.ints.get(Column::PolicyVersion);
            let version = versions.and_then(|versions| versions[asked.index]);
            let tally = facts.engine_of(version);
            tally.kept.coarsen(self.level);
            tally.add(&open.engine_total, &open.engine, keeps);
            self.add_corrections(asked, energy, open);
        }
        let facts = self.steps.at(asked.step);
        if !logprob_new.is_empty() {
            self.update.fill(logprob_new, logprob);
            facts.update.kept.coarsen(self.level);
            facts.update.add(&ResponseDifference::of(&self.update), &self.update, keeps);
            if let Some(clip) = self.plan.clip {
                let found = add_corners(&mut self.clipped, clip, asked.trained, &self.update);
                facts.corners.iter_mut().zip(found).for_each(|(all, found)| *all += found);
                if let Some(update) = asked.update {
                    self.clipped.add_update(update, self.update.value.len() as u64, &found);
                }
            }
            if !logprob_rollout.is_empty() {
                self.other.fill(logprob_new, logprob_rollout);
                facts.total.kept.coarsen(self.level);
                facts.total.add(&ResponseDifference::of(&self.other), &self.other, keeps);
            }
        }
    }

    fn add_corrections(&mut self, asked: &Asked<'_>, energy: f64, open: &mut OpenResponse) {
        if !self.plan.reports {
            return;
        }
        let facts = self.steps.at(asked.step);
        facts.corrections.resize_with(self.plan.corrections.len(), CorrectionTally::default);
        let energies = open.facts.all_energies();
        let (compared_energy, total_energy) = match &open.engine.tokens {
            None => (&energies[..open.engine.value.len()], energy),
            Some(known) => {
                self.compared_energy.clear();
                self.compared_energy.extend(known.iter().map(|t| energies[*t as usize]));
                (&self.compared_energy[..], self.compared_energy.iter().sum())
            }
        };
        let corrected = CorrectedResponse {
            ratios: &open.ratios,
            ratio: &open.engine.ratio,
            energy: compared_energy,
            total_energy,
            range: open.engine_total.ratio_range(),
            untouched: OnceCell::new(),
        };
        let ids = asked.trained.token_id;
        let tallies = facts.corrections.iter_mut().zip(&mut self.changed);
        for ((tally, by_id), rule) in tallies.zip(&self.plan.corrections) {
            let changed = tally.add(rule, &corrected);
            if changed > 0 && !rule.is_of_responses() && !ids.is_empty() {
                for (i, ratio) in open.engine.ratio.iter().enumerate() {
                    let id = ids[open.engine.token(i)];
                    if id >= 0 && !rule.weight(*ratio, &open.ratios).1 {
                        by_id.add(id, 1);
                    }
                }
            }
        }
        facts.compared_energy.add(corrected.total_energy);
        self.engine_breakdown.add(asked, &open.engine, &self.bins, &self.places);
    }
}

/// Counts the tokens beyond the clip by side and sign.
fn add_corners(
    clipped: &mut ClippedTokens,
    clip: ClipRange,
    trained: &Columns<'_>,
    update: &TokenDifferences,
) -> Corners {
    let mut corners = Corners::default();
    for (i, ratio) in update.ratio.iter().enumerate() {
        let (above, below) = (*ratio > 1.0 + clip.high, *ratio < 1.0 - clip.low);
        if above | below {
            let t = update.token(i);
            let advantage = trained.advantage[t];
            let (positive, negative) = (advantage > 0.0, advantage < 0.0);
            let found = [above & positive, below & negative, above & negative, below & positive];
            corners.iter_mut().zip(found).for_each(|(corner, found)| *corner += u64::from(found));
            clipped.add(trained.token_id.get(t).copied(), trained.logprob[t], found);
        }
    }
    corners
}
