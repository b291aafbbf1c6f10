//! Tokens that the paper's claims are held against.

use super::Collector;
use super::response::Response;
use crate::collect::block::{BlockSign, token_hash};
use crate::collect::claim_tokens::{ClaimToken, LogOrder, UnitNorm};
use crate::collect::columns::Columns;
use crate::collect::energy::Sign;
use stapo_batch::columns::Column;

impl Collector<'_> {
    /// Keeps the tokens of the block that was just computed, where it is drawn.
    pub(super) fn add_claims(
        &mut self,
        response: &Response<'_>,
        columns: &Columns<'_>,
        first: usize,
        sign: BlockSign,
    ) {
        let hash = token_hash(response.hash, first as u32);
        // Without gradients, norms are known from a logged Σ π² alone.
        let has_gradients = sign != BlockSign::Uniform(Sign::Zero);
        let tells = has_gradients || !columns.sum_pi_sq.is_empty();
        if hash > self.claims.cut() || !tells || self.plan.stand_in.any() {
            return;
        }
        let place =
            LogOrder::of(response.key.step, response.id(Column::GroupId), response.id(Column::SampleId));
        for t in 0..columns.len() {
            let norm = self.unit_norm(columns, t, has_gradients);
            if norm.value.is_finite() {
                self.claims.push(ClaimToken {
                    hash,
                    order: place.token(first + t),
                    logprob: columns.logprob[t],
                    entropy: columns.entropy[t],
                    advantage: columns.advantage[t],
                    norm,
                });
            }
        }
    }

    /// ‖g‖/|w| of token `t` of the present block: from Σ π², else from the logged norm, else an estimate.
    pub(super) fn unit_norm(&self, columns: &Columns<'_>, t: usize, has_gradients: bool) -> UnitNorm {
        let (kernel, block) = (&self.plan.kernel, &self.block.framework);
        let exact = columns.sum_pi_sq.get(t).and_then(|sum| kernel.unit_norm_sq_at(block, t, *sum));
        let logged = || {
            let weight = block.weight[t].abs();
            let norm = f64::from(*columns.grad_norm.get(t)?);
            (has_gradients && weight > 0.0 && norm >= 0.0).then(|| norm / weight)
        };
        match exact.map(f64::sqrt).or_else(logged) {
            Some(norm) => UnitNorm { value: norm, known: true },
            None if has_gradients => {
                UnitNorm { value: kernel.norm_sq_at(block, t, 1.0, None).sqrt(), known: false }
            }
            None => UnitNorm { value: f64::NAN, known: false },
        }
    }
}
