//! What a response tells the diagnosis.

use super::Collector;
use super::response::Response;
use super::rises::Rises;
use super::wave::InHand;
use crate::collect::block::BlockSign;
use crate::collect::clusters::{prompt_length, prompt_of};
use crate::collect::columns::Columns;
use crate::collect::energy::Sign;
use crate::collect::groups::group_hash;
use crate::collect::signs::FAR_RATIO;
use crate::collect::signs::drivers::Driver;
use crate::collect::signs::fills::without_fills;
use crate::collect::signs::gaps::GapSums;
use crate::collect::signs::opening::{OPENING, Opening};
use crate::collect::signs::probe::Probe;
use crate::collect::signs::response_facts::ResponseFact;
use crate::collect::signs::what_if::{Bounded, RatioBound};
use crate::collect::tally::{Quantity, ResponseSums};
use stapo_base::simd;
use stapo_base::simd::widest;
use stapo_batch::batch::{Id, MISSING_ID};
use stapo_batch::columns::Column;
use stapo_batch::hash::Mixer;

/// Last tokens that an ending is told by: an answer with the words around it.
const ENDING: usize = 8;

impl Collector<'_> {
    /// Adds a block of tokens, some of which have an advantage.
    pub(super) fn sign_block(
        &mut self,
        one: &mut InHand<'_>,
        columns: &Columns<'_>,
        first: usize,
        sign: BlockSign,
    ) {
        let (n, step) = (columns.len(), one.response.key.step);
        let seen = &mut one.signs;
        match sign {
            BlockSign::Uniform(Sign::Positive) => seen[0] = true,
            BlockSign::Uniform(Sign::Negative) => seen[1] = true,
            _ => {
                seen[0] |= columns.advantage.iter().any(|a| *a > 0.0);
                seen[1] |= columns.advantage.iter().any(|a| *a < 0.0);
            }
        }
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
        let InHand { response, trained, whole, sums, .. } = one;
        if self.plan.questions.update {
            self.signs.what_if.add(&one.bounded);
        }
        let step = self.signs.step(response.key.step);
        step.concentration.add_response(trained.len(), sums.energy(), sums.get(Quantity::SquaredEnergy));
        step.largest_ratio = step.largest_ratio.max(f64::from(response.rise).exp());
        let order = self.order(response, trained);
        let known = without_fills(trained.logprob, trained.logprob_rollout, trained.turn);
        let rollout = known.as_deref().unwrap_or(trained.logprob_rollout);
        let trained = &Columns { logprob_rollout: rollout, ..*trained };
        if response.hash <= self.signs.probes.cut() {
            self.signs.probes.push(Probe::of(response.hash, (response.key.step, order), trained));
        }
        let group = match response.id(Column::GroupId) {
            Id::Missing => Mixer::new(response.key.step.cast_unsigned()).with(order),
            id => group_hash(response.key.step, id),
        };
        if group.finish() <= self.signs.facts.cut() {
            let fact = self.fact(response, (trained, whole), (sums, one.largest), (one.signs, group, order));
            self.signs.facts.push(fact);
        }
    }

    fn order(&self, response: &Response<'_>, trained: &Columns<'_>) -> u64 {
        let last = |column: &[f32]| column.last().map_or(0, |v| u64::from(v.to_bits()));
        Mixer::new(u64::from(response.hash))
            .with_id(Some(response.id(Column::SampleId)))
            .with((last(trained.logprob) << 32) | last(trained.entropy))
            .word()
    }

    #[allow(clippy::cast_possible_truncation)]
    fn fact(
        &self,
        response: &Response<'_>,
        (trained, whole): (&Columns<'_>, &Columns<'_>),
        (sums, largest): (&ResponseSums, f32),
        (signs, group, order): ([bool; 2], Mixer, u64),
    ) -> ResponseFact {
        let n = trained.len() as f64;
        let mean = |quantity: Quantity| (sums.get(quantity) / n) as f32;
        let (responses, asked) = (&response.source.responses, &self.plan.questions);
        let part = |name: &String| {
            let found = responses.reward_parts.iter().find(|(known, _)| **known == **name);
            found.map_or(f32::NAN, |(_, values)| values[response.index])
        };
        ResponseFact {
            hash: group.finish(),
            step: response.key.step,
            group: group.word(),
            alone: *response.id(Column::GroupId) == Id::Missing,
            order,
            sample: response.sample_hash(),
            reward: response.reward,
            advantage: mean(Quantity::Advantage),
            largest,
            signs,
            length: u32::try_from(trained.len()).unwrap_or(u32::MAX),
            longest_turn: longest_turn(trained),
            truncated: asked.is_cut(responses, response.index),
            entropy: mean(Quantity::Entropy),
            surprisal: -mean(Quantity::Logprob),
            distance: distance(trained),
            text: ids_hash(whole.token_id).unwrap_or(order),
            opening: trained
                .token_id
                .get(..OPENING)
                .and_then(ids_hash)
                .and_then(|ids| Opening::of(ids, trained)),
            ending: ids_hash(&trained.token_id[trained.token_id.len().saturating_sub(ENDING)..])
                .unwrap_or(order),
            left_out_end: response.left_out_end(whole),
            prompt: prompt_of(response.source, response.index).unwrap_or(0),
            prompt_length: prompt_length(response.source, response.index),
            right: asked.pass.as_ref().and_then(|rule| rule.judge(responses, response.index)),
            energy: sums.energy(),
            lag: response.steps_since_version(),
            parts: self.plan.reward_parts.iter().map(part).collect(),
            gap: GapSums::of(trained).map(Box::new),
        }
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
    /// A hash of the id of the sample; 0 where not logged.
    fn sample_hash(&self) -> u64 {
        match self.id(Column::SampleId) {
            Id::Missing => 0,
            id => Mixer::new(0).with_id(Some(id)).word(),
        }
    }

    /// The id of the last token, where it has a probability and is the only one after the last trained one.
    fn left_out_end(&self, whole: &Columns<'_>) -> Option<i32> {
        let last = whole.len().checked_sub(1)?;
        let is_next = self.picks?.last().is_some_and(|pick| *pick as usize + 1 == last);
        let id = *whole.token_id.get(last).filter(|id| **id != MISSING_ID)?;
        (is_next && whole.logprob[last].is_finite()).then_some(id)
    }

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

/// Σ (ln p − ln p_ref), as a KL term in the reward has it; NaN where one of them is not logged.
fn distance(trained: &Columns<'_>) -> f32 {
    if trained.logprob_ref.is_empty() {
        return f32::NAN;
    }
    let pairs = trained.logprob.iter().zip(trained.logprob_ref);
    pairs.map(|(own, reference)| f64::from(*own) - f64::from(*reference)).sum::<f64>() as f32
}

/// Trained tokens of the longest turn: all of them where no turns are logged.
fn longest_turn(trained: &Columns<'_>) -> u32 {
    let longest = trained.turn.chunk_by(|a, b| a == b).map(<[i32]>::len).max();
    u32::try_from(longest.unwrap_or(trained.len())).unwrap_or(u32::MAX)
}

/// A hash of all ids: equal for equal texts. `None` where one is missing, since the text
/// is like no other then.
fn ids_hash(ids: &[i32]) -> Option<u64> {
    if ids.is_empty() || !simd::all(ids, |id| id != MISSING_ID) {
        return None;
    }
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    // Four side by side, since each waits for its own last product.
    let pair = |a: i32, b: i32| (u64::from(a.cast_unsigned()) << 32) | u64::from(b.cast_unsigned());
    let (mut first, mut second, mut third, mut fourth) = (1, 2, 3, ids.len() as u64);
    let (chunks, last) = ids.as_chunks::<8>();
    for [a, b, c, d, e, f, g, h] in chunks {
        first = mix(first, pair(*a, *b));
        second = mix(second, pair(*c, *d));
        third = mix(third, pair(*e, *f));
        fourth = mix(fourth, pair(*g, *h));
    }
    let hash = last.iter().map(|id| u64::from(id.cast_unsigned())).fold(fourth, mix);
    Some([first, second, third].into_iter().fold(hash, mix))
}

#[cfg(test)]
mod tests {
    use super::{MISSING_ID, ids_hash};

    #[test]
    fn every_token_counts() {
        let ids: Vec<i32> = (0..101).collect();
        let changed = |at: usize| {
            let mut other = ids.clone();
            other[at] += 1;
            ids_hash(&other)
        };
        assert!((0..101).all(|at| changed(at) != ids_hash(&ids)));
        assert_ne!(ids_hash(&ids[..100]), ids_hash(&ids));
        assert_ne!(ids_hash(&[0]), ids_hash(&[0, 0]));
        assert_eq!([ids_hash(&[]), ids_hash(&[1, MISSING_ID, 2])], [None, None]);
    }
}
