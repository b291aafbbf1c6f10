//! What one worker collects for these questions.

mod differences;
mod gather;

use std::cell::OnceCell;

use super::breakdown::{BreakdownCollector, TokenBins};
use super::clipped_tokens::{ClippedTokens, TokensById};
use super::difference::{ResponseDifference, TokenDifferences};
use super::places::Places;
use super::repetition::Loops;
use super::siblings::SiblingStore;
use super::slice_keys::{self, TokenPlace, replicate_of};
use super::slices::{self, LoggedK3, SliceTable, SlicedResponse};
use super::step_facts::{MeanTally, StepFacts};
use super::{Asked, OpenResponse, QuestionGates};
use crate::collect::by_step::ByStep;
use crate::collect::candidates::CandidateFacts;
use crate::collect::columns::Columns;
use crate::collect::tally::{Quantity, ResponseSums};
use crate::plan::Questions;
use stapo_base::simd;
use stapo_base::stats::exact_sum::ExactSum;
use stapo_batch::batch::MISSING_ID;

/// What one worker collects.
pub struct QuestionCollector<'a> {
    plan: &'a Questions,
    gates: &'a QuestionGates,
    steps: ByStep<StepFacts>,
    slices: Vec<SliceTable>,
    engine_breakdown: BreakdownCollector,
    reference_breakdown: BreakdownCollector,
    clipped: ClippedTokens,
    changed: Vec<TokensById>,
    siblings: SiblingStore<'a>,
    level: u32,
    keeps: bool,
    /// Of the response that is being added.
    compared_energy: Vec<f64>,
    update: TokenDifferences,
    other: TokenDifferences,
    spread: Vec<f64>,
    bins: TokenBins,
    places: Places,
    loops: Loops,
}

impl<'a> QuestionCollector<'a> {
    /// An empty collector.
    pub fn new(plan: &'a Questions, gates: &'a QuestionGates) -> Self {
        Self {
            plan,
            gates,
            steps: ByStep::default(),
            slices: vec![SliceTable::default(); plan.dimensions.len()],
            engine_breakdown: BreakdownCollector::default(),
            reference_breakdown: BreakdownCollector::default(),
            clipped: ClippedTokens::default(),
            changed: vec![TokensById::default(); plan.corrections.len()],
            siblings: SiblingStore::new(&gates.groups),
            level: 0,
            keeps: true,
            compared_energy: Vec::new(),
            update: TokenDifferences::default(),
            other: TokenDifferences::default(),
            spread: Vec::new(),
            bins: TokenBins::default(),
            places: Places::default(),
            loops: Loops::default(),
        }
    }

    /// Begins a response: its candidates need to know how far its sampler is.
    pub fn begin(&self, asked: &Asked<'_>, open: &mut OpenResponse) {
        open.facts.begin(self.plan.reports);
        open.replicate = replicate_of(asked.cluster);
        let Columns { logprob, logprob_rollout, .. } = *asked.trained;
        if logprob_rollout.is_empty() && open.engine.value.is_empty() {
            return;
        }
        open.engine.fill(if logprob_rollout.is_empty() { &[] } else { logprob }, logprob_rollout);
        open.engine_total = ResponseDifference::of(&open.engine);
        open.ratios = open.engine_total.ratios();
    }

    /// Gives back the memory of the last response.
    pub fn let_go(&mut self) {
        self.compared_energy = Vec::new();
        self.update = TokenDifferences::default();
        self.other = TokenDifferences::default();
        self.spread = Vec::new();
        self.bins = TokenBins::default();
        self.places = Places::default();
        self.loops = Loops::default();
    }

    /// What to keep of trained token `t`, at `place`, which is a candidate.
    pub fn candidate(&self, place: TokenPlace<'_>, t: usize, open: &OpenResponse) -> CandidateFacts {
        let at = match &open.engine.tokens {
            None => Some(t),
            Some(known) => known.binary_search(&(t as u32)).ok(),
        };
        CandidateFacts {
            engine: at.and_then(|at| open.engine.value.get(at)).copied().unwrap_or(f64::NAN),
            response: open.ratios,
            replicate: open.replicate,
            slices: self
                .plan
                .dimensions
                .iter()
                .map(|dimension| slice_keys::key_of(dimension, place))
                .collect(),
        }
    }

    /// Ends the response, whose sums are given.
    pub fn end(&mut self, asked: &Asked<'_>, sums: &ResponseSums, open: &mut OpenResponse) {
        let plan = self.plan;
        let (energy, entropy) = (sums.energy(), sums.get(Quantity::Entropy));
        let facts = self.steps.at(asked.step);
        facts.responses += 1;
        facts.tokens += asked.trained.len() as u64;
        facts.energy.add(energy);
        add_parts(facts, asked);
        add_cut(facts, plan, asked, energy, entropy);
        let rule = plan.pass.as_ref();
        if let Some(right) = rule.and_then(|rule| rule.judge(&asked.source.responses, asked.index)) {
            facts.judged[0] += 1;
            facts.judged[1] += u64::from(right);
        }
        if plan.ids && !asked.whole.token_id.is_empty() {
            self.loops.find(asked.whole.token_id);
            let mask = asked.source.mask().map(|mask| &mask[asked.source.range(asked.index)]);
            facts.loops.repeated += self.loops.tokens(|t| mask.is_none_or(|mask| mask[t] == 1));
            facts.loops.looping += u64::from(self.loops.at_end(asked.whole.token_id.len()));
            facts.loops.stuck += u64::from(self.loops.is_stuck(asked.whole.token_id.len()));
            let ids = asked.trained.token_id;
            let known = match simd::all(ids, |id| id != MISSING_ID) {
                true => ids.len(),
                false => ids.iter().filter(|id| **id != MISSING_ID).count(),
            };
            facts.loops.tokens += known as u64;
            facts.loops.responses += u64::from(known > 0);
        }
        let compares = [asked.trained.logprob_rollout, asked.trained.logprob_ref];
        if plan.reports && compares.iter().any(|column| !column.is_empty()) {
            self.bins.fill(asked.trained);
        }
        if plan.reports {
            self.places.fill(asked);
        }
        if plan.engine || plan.update {
            self.add_differences(asked, energy, open);
        }
        if plan.reference && !asked.trained.logprob_ref.is_empty() {
            self.other.fill(asked.trained.logprob_ref, asked.trained.logprob);
            let facts = self.steps.at(asked.step);
            facts.reference.add(&ResponseDifference::of(&self.other));
            if plan.reports {
                self.reference_breakdown.add(asked, &self.other, &self.bins, &self.places);
            }
        }
        if plan.reports {
            self.add_slices(asked, sums, open);
        }
        if plan.groups && plan.ids {
            self.siblings.add(plan, asked);
        }
    }

    fn add_slices(&mut self, asked: &Asked<'_>, sums: &ResponseSums, open: &OpenResponse) {
        let k3 = match &open.engine.tokens {
            None => &open.engine.k3[..open.engine.value.len()],
            Some(known) => {
                self.spread.clear();
                self.spread.resize(asked.trained.len(), f64::NAN);
                known.iter().zip(&open.engine.k3).for_each(|(t, k3)| self.spread[*t as usize] = *k3);
                &self.spread
            }
        };
        let all = (open.engine_total.k3, open.engine_total.tokens);
        let k3 = LoggedK3 { values: k3, complete: open.engine.tokens.is_none(), all };
        let replicate = usize::from(open.replicate);
        let response = SlicedResponse { asked, facts: &open.facts, sums, k3, replicate };
        let whole = OnceCell::new();
        for (table, dimension) in self.slices.iter_mut().zip(&self.plan.dimensions) {
            slices::add(table, dimension, &response, &whole);
        }
    }

    /// Told after every batch of responses: how coarse bins are for the steps seen so far.
    pub fn settle(&mut self, level: u32) {
        self.siblings.settle();
        if self.keeps && !self.gates.differences.is_open() {
            self.keeps = false;
            self.steps.values_mut().flat_map(StepFacts::differences).for_each(|d| d.kept.settle());
        }
        if level > self.level {
            self.level = level;
            self.steps.values_mut().flat_map(StepFacts::differences).for_each(|d| d.kept.coarsen(level));
        }
    }
}

fn add_parts(facts: &mut StepFacts, asked: &Asked<'_>) {
    for (name, values) in &asked.source.responses.reward_parts {
        let value = values[asked.index];
        if value.is_finite() {
            let mut sum = ExactSum::new();
            sum.add(f64::from(value));
            facts.add_part(name, &MeanTally { responses: 1, sum });
        }
    }
}

fn add_cut(facts: &mut StepFacts, plan: &Questions, asked: &Asked<'_>, energy: f64, entropy: f64) {
    let Some(cut) = plan.is_cut(&asked.source.responses, asked.index) else { return };
    let kind = if cut { &mut facts.cut } else { &mut facts.finished };
    kind.responses += 1;
    kind.tokens += asked.trained.len() as u64;
    kind.energy.add(energy);
    kind.entropy.add(entropy);
    if asked.reward.is_finite() {
        kind.rewarded += 1;
        kind.reward.add(f64::from(asked.reward));
    }
}
