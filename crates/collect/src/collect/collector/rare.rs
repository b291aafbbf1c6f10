//! Tokens that are kept one by one: candidates, samples, peaks, whole responses.

use super::Collector;
use super::response::Response;
use crate::collect::block::{BlockSign, token_hash};
use crate::collect::candidates::Candidate;
use crate::collect::columns::Columns;
use crate::collect::energy::Sign;
use crate::collect::peaks::PeakToken;
use crate::collect::questions::OpenResponse;
use crate::collect::questions::slice_keys::TokenPlace;
use crate::collect::sample::SampledToken;
use crate::plan::Purpose;
use stapo_base::error::Result;
use stapo_batch::batch::MISSING_ID;
use stapo_batch::columns::Column;
use stapo_framework::batch::{BLOCK, TokenSlices};
use stapo_framework::entropy_change::EntropyDirection;
use stapo_framework::risk::spurious_risk;

/// Keeps ratios within what an f32 holds.
const LARGEST_LOG_RATIO: f64 = 80.0;

impl Collector<'_> {
    /// Keeps what has to be kept of a block; returns the risk of its candidates.
    pub(super) fn add_rare(
        &mut self,
        response: &Response<'_>,
        columns: &Columns<'_>,
        whole: &Columns<'_>,
        first: usize,
        sign: BlockSign,
        open: &OpenResponse,
    ) -> Result<f64> {
        let mut risk = 0.0;
        if matches!(sign, BlockSign::Uniform(Sign::Zero) | BlockSign::Mixed)
            && self.plan.purpose == Purpose::Report
        {
            self.add_idle(response, columns, first);
        }
        if sign == BlockSign::Uniform(Sign::Zero) {
            return Ok(risk);
        }
        // Few tokens are of interest: they are listed without a branch.
        let (rule, cut) = (&self.plan.rare, self.common.cut());
        let (mut listed, mut length) = ([0_u16; BLOCK], 0);
        for (t, (logprob, hash)) in columns.logprob.iter().zip(&self.block.hash).enumerate() {
            listed[length] = t as u16;
            length += usize::from(rule.is_rare(*logprob) | (*hash <= cut));
        }
        for t in listed[..length].iter().map(|t| usize::from(*t)) {
            if self.plan.rare.is_rare(columns.logprob[t]) {
                risk += self.add_rare_token(response, columns, whole, (first, t), open)?;
            } else if columns.advantage[t] != 0.0 {
                let token = self.sampled(response, columns, t);
                self.common.push(token);
            }
        }
        self.add_peaks(response, columns, first);
        Ok(risk)
    }

    fn add_rare_token(
        &mut self,
        response: &Response<'_>,
        columns: &Columns<'_>,
        whole: &Columns<'_>,
        (first, t): (usize, usize),
        open: &OpenResponse,
    ) -> Result<f64> {
        let (logprob, advantage) = (columns.logprob[t], columns.advantage[t]);
        if advantage == 0.0 {
            return Ok(0.0);
        }
        if self.block.hash[t] <= self.rare.cut() {
            let token = self.sampled(response, columns, t);
            self.rare.push(token);
        }
        if !self.plan.rule.is_candidate(logprob, advantage) {
            return Ok(0.0);
        }
        let candidate = self.candidate(response, columns, whole, (first, t), open);
        self.candidates.push(candidate)?;
        self.batches.tally(response.batch).candidate_entropies.push(columns.entropy[t]);
        Ok(spurious_risk(f64::from(logprob), f64::from(columns.entropy[t]), f64::from(advantage)))
    }

    /// Keeps the tokens without advantage of some blocks: rules choose among them, too. Blocks are
    /// chosen as a whole, so that the many that are not cost one hash.
    fn add_idle(&mut self, response: &Response<'_>, columns: &Columns<'_>, first: usize) {
        let hash = token_hash(response.hash, first as u32);
        if hash > self.idle.cut() {
            return;
        }
        for t in (0..columns.len()).filter(|t| columns.advantage[*t] == 0.0) {
            self.idle.push(SampledToken {
                hash,
                batch: response.batch as u32,
                token_id: columns.token_id.get(t).copied().unwrap_or(MISSING_ID),
                logprob: columns.logprob[t],
                entropy: columns.entropy[t],
                advantage: 0.0,
                ratio: 1.0,
                response_ratio: response.ratio,
                norm_low: 0.0,
                norm: 0.0,
                norm_high: 0.0,
                unclipped_norm: 0.0,
                change_low: 0.0,
                change_high: 0.0,
                measured_change: measured_change(columns, t),
                direction: EntropyDirection::Unchanged as u8,
                moves: false,
            });
        }
    }

    #[allow(clippy::cast_possible_truncation)]
    fn sampled(&self, response: &Response<'_>, columns: &Columns<'_>, t: usize) -> SampledToken {
        let block = &self.block.framework;
        let new = columns.logprob_new.get(t).copied().unwrap_or(f32::NAN);
        let log_ratio =
            (f64::from(new) - f64::from(columns.logprob[t])).clamp(-LARGEST_LOG_RATIO, LARGEST_LOG_RATIO);
        let ratio = if log_ratio.is_nan() { 1.0 } else { log_ratio.exp() };
        let (norm, moves) = (self.block.norm[t] as f32, block.weight[t] != 0.0);
        let unclipped_norm = if moves {
            norm
        } else {
            let (weight, logged) =
                (ratio * f64::from(columns.advantage[t]), columns.sum_pi_sq.get(t).copied());
            self.plan.kernel.norm_sq_at(block, t, weight, logged).sqrt() as f32
        };
        SampledToken {
            hash: self.block.hash[t],
            batch: response.batch as u32,
            token_id: columns.token_id.get(t).copied().unwrap_or(MISSING_ID),
            logprob: columns.logprob[t],
            entropy: columns.entropy[t],
            advantage: columns.advantage[t],
            ratio: ratio as f32,
            response_ratio: response.ratio,
            norm_low: block.norm_sq_low[t].sqrt() as f32,
            norm,
            norm_high: block.norm_sq_high[t].sqrt() as f32,
            unclipped_norm,
            change_low: block.change_low[t] as f32,
            change_high: block.change_high[t] as f32,
            measured_change: measured_change(columns, t),
            direction: block.direction[t],
            moves,
        }
    }

    fn candidate(
        &mut self,
        response: &Response<'_>,
        columns: &Columns<'_>,
        whole: &Columns<'_>,
        (first, t): (usize, usize),
        open: &OpenResponse,
    ) -> Candidate {
        let token = response.token(first + t);
        let (source, index, step) = (response.source, response.index, response.key.step);
        let facts = self.questions.candidate(TokenPlace { source, index, step, token }, first + t, open);
        let norm = self.unit_norm(columns, t, true);
        let block = &self.block.framework;
        let context = response.context(whole, token, self.plan.context);
        Candidate {
            batch: response.key,
            update: response.update,
            group: response.id(Column::GroupId).clone(),
            sample: response.id(Column::SampleId).clone(),
            place: response.place(),
            position: response.position(token),
            token_id: columns.token_id.get(t).copied().unwrap_or(MISSING_ID),
            logprob: columns.logprob[t],
            entropy: columns.entropy[t],
            advantage: columns.advantage[t],
            reward: response.reward,
            measured_change: measured_change(columns, t),
            energy: [block.norm_sq_low[t], block.norm_sq[t], block.norm_sq_high[t]],
            change: [block.change_low[t], block.change_high[t]],
            flags: block.flags[t],
            norm,
            context: context.ids,
            texts: context.texts,
            centre: context.centre as u32,
            facts,
        }
    }

    fn add_peaks(&mut self, response: &Response<'_>, columns: &Columns<'_>, first: usize) {
        let tally = self.batches.tally(response.batch);
        let energies = &self.block.framework.norm_sq[..columns.len()];
        let largest = self.block.largest_energy;
        tally.largest_energy = tally.largest_energy.max(largest);
        if largest < tally.peaks.threshold() {
            return;
        }
        let start = response.source.range(response.index).start;
        for (t, energy) in energies.iter().enumerate() {
            if *energy >= tally.peaks.threshold() {
                let token = start + response.token(first + t);
                tally.peaks.add(PeakToken {
                    energy: *energy,
                    token_id: columns.token_id.get(t).copied().unwrap_or(MISSING_ID),
                    position: response.source.position(response.index, token),
                    logprob: columns.logprob[t],
                    entropy: columns.entropy[t],
                    advantage: columns.advantage[t],
                    text: response.source.token_text(token).map(Into::into),
                });
            }
        }
    }

    #[allow(clippy::cast_possible_truncation)]
    pub(super) fn norms(&mut self, columns: &Columns<'_>) -> Vec<f32> {
        let block = &mut self.block.framework;
        let mut norms = Vec::with_capacity(columns.len());
        let mut first = 0;
        while first < columns.len() {
            let part = columns.slice(first..columns.len().min(first + BLOCK));
            let input = TokenSlices {
                logprob: part.logprob,
                entropy: part.entropy,
                advantage: part.advantage,
                grad_norm: (!part.grad_norm.is_empty()).then_some(part.grad_norm),
                sum_pi_sq: (!part.sum_pi_sq.is_empty()).then_some(part.sum_pi_sq),
                logprob_new: (!part.logprob_new.is_empty()).then_some(part.logprob_new),
                sum_pi_sq_log_pi: None,
            };
            self.plan.kernel.gradients(&input, block);
            norms.extend(
                (0..part.len()).map(|t| if part.has(t) { block.norm_sq[t].sqrt() as f32 } else { f32::NAN }),
            );
            first += BLOCK;
        }
        norms
    }
}

fn measured_change(columns: &Columns<'_>, t: usize) -> f32 {
    columns.entropy_after.get(t).map_or(f32::NAN, |after| after - columns.entropy[t])
}
