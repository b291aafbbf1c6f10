//! What was collected of a run or of a part of it, without what collecting needs: it is written to
//! parts, read from them and merged, and becomes what is [`Collected`].

mod gather;
mod joining;
mod part;

use rayon::prelude::*;

use super::batches::Batches;
use super::by_sign::BySign;
use super::candidates::CandidateStore;
use super::claim_tokens::ClaimToken;
use super::clusters::Clusters;
use super::collected::Collected;
use super::diagnostics::Diagnostics;
use super::entropy_histogram::level_for;
use super::gates::Gates;
use super::groups::GroupTable;
use super::kept_entropies::KeptCount;
use super::kept_sample::KeptSample;
use super::plane;
use super::questions::CollectedQuestions;
use super::run_sample::Sample;
use super::sample::SampledToken;
use super::signs::{CollectedSigns, SignState};
use super::views::KeptResponses;
use super::vocabulary::VocabularyCounts;
use crate::plan::Plan;
use stapo_accumulate::Accumulate;
use stapo_ingest::right::SeenRewards;

/// What was collected of a part of a run.
pub struct State {
    batches: Batches,
    kept: KeptCount,
    groups: GroupTable,
    rewards: SeenRewards,
    plane: BySign,
    vocabulary: VocabularyCounts,
    candidates: CandidateStore,
    rare: KeptSample<SampledToken>,
    common: KeptSample<SampledToken>,
    idle: KeptSample<SampledToken>,
    claims: KeptSample<ClaimToken>,
    views: KeptResponses,
    diagnostics: Diagnostics,
    signs: SignState,
    clusters: Option<Clusters>,
    questions: CollectedQuestions,
    placed: bool,
}

impl State {
    /// Puts what may come in any order into one: the same content is then the same bytes.
    pub fn settle(&mut self) {
        self.batches.iter_mut().for_each(|(_, tally)| tally.settle());
        self.rewards.settle();
        self.groups.settle();
        self.plane.settle();
        self.vocabulary.settle();
        self.diagnostics.settle();
        self.arrange();
        self.signs.settle();
        self.questions.settle();
    }

    /// Puts what is looked at in its order into one.
    fn arrange(&mut self) {
        let Self { rare, common, idle, claims, questions, .. } = self;
        let level = level_for(self.batches.len());
        rayon::join(
            || {
                claims.settle();
                [rare, common, idle].into_par_iter().for_each(KeptSample::settle);
            },
            || questions.arrange(level),
        );
    }

    /// Gates for another part of the same run: what both together would not keep is not kept.
    pub fn gates_beside(&self, plan: &Plan) -> Gates {
        let gates = Gates::new(plan);
        gates.kept.follow(&self.kept);
        gates.rare.follow(self.rare.census.level());
        gates.common.follow(self.common.census.level());
        gates.idle.follow(self.idle.census.level());
        gates.claims.follow(self.claims.census.level());
        self.signs.bound(&gates.signs);
        self.questions.bound(&gates.questions);
        gates
    }

    /// Whether it was collected for this plan, and its tables are of the right sizes.
    pub fn fits(&self, plan: &Plan) -> bool {
        let gates = Gates::new(plan);
        let samples = [(&self.rare, &gates.rare), (&self.common, &gates.common), (&self.idle, &gates.idle)];
        let batches = self.batches.len();
        self.batches.is_sorted_by(|a, b| a.0 < b.0)
            && self.batches.iter().all(|(_, tally)| tally.histogram.fits())
            && self.kept.fits(&gates.kept)
            && self.plane.fits()
            && self.plane.len() == plane::CELLS
            && self.vocabulary.fits()
            && samples.iter().all(|(sample, gate)| {
                sample.census.fits(gate) && sample.tokens.iter().all(|token| (token.batch as usize) < batches)
            })
            && self.claims.census.fits(&gates.claims)
            && self.signs.fits(&gates.signs)
            && self.clusters.is_some() == plan.sums_by_group()
            && self.clusters.as_ref().is_none_or(Clusters::fits)
            && self.questions.fits(&gates.questions, &plan.questions)
    }

    /// Whether the numbers of scan units were hashed: they cannot be changed any more.
    pub fn is_placed(&self) -> bool {
        self.placed
    }

    /// What was collected of the whole run.
    pub fn finish(self, plan: &Plan) -> Collected {
        let Self { batches, kept, mut groups, rewards, mut plane, mut vocabulary, candidates, .. } = self;
        let Self { mut rare, mut common, mut idle, mut claims, .. } = self;
        let Self { views, signs, clusters, mut questions, mut diagnostics, .. } = self;
        diagnostics.settle();
        if let Some(clusters) = &clusters {
            plane.set_zero(&clusters.tokens_by_cell());
            vocabulary.dense().set_zero(&clusters.tokens_by_id());
        }
        let level = level_for(batches.len());
        let several_rows = {
            claims.settle();
            [&mut rare, &mut common, &mut idle].into_par_iter().for_each(KeptSample::settle);
            questions.arrange(level);
            questions.siblings.leave_out_copies();
            groups.count_responses_once()
        };
        let kept_all = kept.is_open();
        Collected {
            several_rows,
            kept_all,
            sortable: kept_all && kept.seen() <= plan.limits.kept_entropies,
            batches,
            groups,
            rewards,
            plane: plane::finish(&plane),
            vocabulary,
            candidates,
            rare: Sample::new(rare),
            common: Sample::new(common),
            idle: Sample::new(idle),
            claims: Sample::new(claims),
            views,
            diagnostics,
            signs: CollectedSigns::new(signs),
            clusters,
            questions,
        }
    }
}
