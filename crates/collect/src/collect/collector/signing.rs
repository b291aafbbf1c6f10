//! What tokens add to the concentration of the energy, and the largest of them.

use super::Collector;
use super::response::Response;
use super::rises::Rises;
use super::wave::InHand;
use crate::collect::columns::Columns;
use crate::collect::signs::FAR_RATIO;
use crate::collect::signs::drivers::Driver;
use crate::collect::signs::what_if::{Bounded, RatioBound};
use crate::collect::tally::Quantity;
use stapo_base::simd::widest;
use stapo_batch::batch::MISSING_ID;
use stapo_batch::columns::Column;

impl Collector<'_> {
    /// Adds a block of tokens, some of which have an advantage.
    pub(super) fn sign_block(&mut self, one: &mut InHand<'_>, columns: &Columns<'_>, first: usize) {
        let (n, step) = (columns.len(), one.response.key.step);
        let largest = self.block.largest_energy;
        let keeps = self.signs.keeps(&self.gates.signs, n);
        let energies = &self.block.framework.norm_sq[..n];
        self.signs.step(step).concentration.add_block(energies, largest, keeps);
        if self.plan.questions.update {
            self.weigh_ratios(step, columns, &mut one.bounded);
        }
        if largest >= self.signs.drivers.threshold() {
            for t in 0..n {
                if self.block.framework.norm_sq[t] >= self.signs.drivers.threshold() {
                    let driver = self.driver(&one.response, columns, &one.whole, first, t);
                    self.signs.drivers.add(driver);
                }
            }
        }
    }

    /// What bounds on the ratio leave of a block, and what the open corner carries. No bound touches tokens
    /// without a ratio, be it that the file has none or that the value is missing.
    fn weigh_ratios(&mut self, step: i64, columns: &Columns<'_>, bounded: &mut Bounded) {
        let n = columns.len();
        let (_, most) = widest(Rises(columns.logprob_new, columns.logprob));
        if f64::from(most) <= RatioBound::LEAST.ln() {
            let [energy, squares] = self.block.energies;
            bounded.add_untouched(energy, squares);
            return;
        }
        let energies = &self.block.framework.norm_sq[..n];
        for (t, (new, old)) in columns.logprob_new.iter().zip(columns.logprob).enumerate() {
            let ratio = (f64::from(*new) - f64::from(*old)).exp();
            let (energy, advantage) = (energies[t], columns.advantage[t]);
            bounded.add(energy, if ratio.is_nan() { 1.0 } else { ratio }, advantage);
            if ratio > FAR_RATIO && advantage < 0.0 && energy > 0.0 {
                let far = &mut self.signs.step(step).far;
                far.tokens += 1;
                far.energy.add(energy);
            }
        }
    }

    /// Adds a response whose blocks were added.
    pub(super) fn sign_response(&mut self, one: &InHand<'_>) {
        let InHand { response, trained, sums, .. } = one;
        if self.plan.questions.update {
            self.signs.what_if.add(&one.bounded);
        }
        let step = self.signs.step(response.key.step);
        step.concentration.add_response(trained.len(), sums.energy(), sums.get(Quantity::SquaredEnergy));
        step.largest_ratio = step.largest_ratio.max(f64::from(response.rise).exp());
    }

    fn driver(
        &self,
        response: &Response<'_>,
        columns: &Columns<'_>,
        whole: &Columns<'_>,
        first: usize,
        t: usize,
    ) -> Driver {
        let token = response.token(first + t);
        let context = response.context(whole, token, self.plan.context);
        let logged = |column: &[f32]| column.get(t).copied().unwrap_or(f32::NAN);
        Driver {
            energy: self.block.framework.norm_sq[t],
            step: response.key.step,
            update: response.update,
            group: response.id(Column::GroupId).clone(),
            sample: response.id(Column::SampleId).clone(),
            place: response.place(),
            position: response.position(token),
            token_id: columns.token_id.get(t).copied().unwrap_or(MISSING_ID),
            logprob: columns.logprob[t],
            entropy: columns.entropy[t],
            advantage: columns.advantage[t],
            others: [logged(columns.logprob_new), logged(columns.logprob_rollout)],
            flags: self.block.framework.flags[t],
            lag: response.lag(),
            turn: columns.turn.get(t).copied().filter(|turn| *turn != MISSING_ID),
            truncated: self.plan.questions.is_cut(&response.source.responses, response.index),
            reward: response.reward,
            context: context.ids,
            texts: context.texts,
            centre: context.centre,
        }
    }
}

impl Response<'_> {
    /// The step minus the version of the sampler's weights: below 0 where these are counted otherwise.
    fn steps_since_version(&self) -> Option<i64> {
        let version = self.source.responses.ints.get(Column::PolicyVersion)?[self.index]?;
        self.key.step.checked_sub(version)
    }

    /// Steps between the sampler's weights and the trainer's, where both are counted alike.
    fn lag(&self) -> Option<i64> {
        self.steps_since_version().filter(|lag| *lag >= 0)
    }
}
