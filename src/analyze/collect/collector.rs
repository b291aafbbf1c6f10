//! What one worker collects.

mod rare;
mod response;
mod signing;
mod view;

use super::batches::{BatchRegistry, BatchTable};
use super::block::Block;
use super::by_sign::BySign;
use super::candidates::{CandidateBuffer, CandidateStore};
use super::clusters::Clusters;
use super::columns::{Columns, PickedColumns};
use super::entropy_histogram::level_for;
use super::groups::{GroupTable, RewardValues};
use super::kept_entropies::KeptGate;
use super::plane;
use super::questions::{CollectedQuestions, QuestionCollector, QuestionGates};
use super::sample::{Sample, SampleBuffer, SampleGate, SampledToken};
use super::signs::{CollectedSigns, SignGates, Signs};
use super::tally::{BatchKey, BatchTally};
use super::views::{KeptResponses, LoggedPrompt};
use super::vocabulary::VocabularyCounts;
use crate::analyze::plan::{Plan, Purpose};
use crate::analyze::result::Plane;
use crate::error::Result;
use crate::ingest::{Id, Sink, TokenBatch};

/// What all workers share while they collect.
#[derive(Debug)]
pub struct Gates {
    batches: BatchRegistry,
    kept: KeptGate,
    questions: QuestionGates,
    rare: SampleGate,
    common: SampleGate,
    idle: SampleGate,
    signs: SignGates,
}

impl Gates {
    /// The gates of an analysis.
    pub fn new(plan: &Plan) -> Self {
        let limits = &plan.limits;
        let kept = if plan.needs_population() { limits.kept_population } else { limits.kept_entropies };
        Self {
            batches: BatchRegistry::default(),
            kept: KeptGate::new(kept),
            questions: QuestionGates::new(limits.kept_differences, limits.group_tokens),
            rare: SampleGate::new(limits.rare_tokens),
            common: SampleGate::new(limits.common_tokens),
            idle: SampleGate::new(limits.idle_tokens),
            signs: SignGates::default(),
        }
    }
}

/// What one worker collects.
pub struct Collector<'a> {
    plan: &'a Plan,
    gates: &'a Gates,
    batches: BatchTable,
    groups: GroupTable,
    rewards: RewardValues,
    plane: BySign,
    vocabulary: VocabularyCounts,
    candidates: CandidateBuffer,
    rare: SampleBuffer<SampledToken>,
    common: SampleBuffer<SampledToken>,
    idle: SampleBuffer<SampledToken>,
    signs: Signs,
    views: KeptResponses,
    /// The last prompt that was read: responses of its group that follow have none of their own.
    prompt: Option<(i64, Id, LoggedPrompt)>,
    clusters: Option<Clusters>,
    questions: QuestionCollector<'a>,
    block: Box<Block>,
    picks: Vec<u32>,
    picked: PickedColumns,
    keeps: bool,
    /// Whether every token of the present batch has all values.
    complete: bool,
}

impl<'a> Collector<'a> {
    /// An empty collector.
    pub fn new(plan: &'a Plan, gates: &'a Gates, workers: usize) -> Self {
        Self {
            plan,
            gates,
            batches: BatchTable::default(),
            groups: GroupTable::default(),
            rewards: RewardValues::default(),
            plane: BySign::new(plane::CELLS),
            vocabulary: VocabularyCounts::default(),
            candidates: CandidateBuffer::new(plan.limits.candidate_bytes / workers.max(1)),
            rare: SampleBuffer::default(),
            common: SampleBuffer::default(),
            idle: SampleBuffer::default(),
            signs: Signs::default(),
            views: KeptResponses::default(),
            prompt: None,
            clusters: (plan.purpose == Purpose::Comparison).then(Clusters::default),
            questions: QuestionCollector::new(&plan.questions, &gates.questions),
            block: Box::default(),
            picks: Vec::new(),
            picked: PickedColumns::default(),
            keeps: true,
            complete: false,
        }
    }
}

impl Sink for Collector<'_> {
    fn accept(&mut self, batch: &TokenBatch) -> Result<()> {
        let advantages = batch.advantages();
        let columns = Columns::of(batch, &advantages);
        self.complete = columns.is_complete(batch.token_count());
        for i in 0..batch.len() {
            self.add_response(batch, &columns, i)?;
        }
        self.batches.coarsen(self.gates.batches.level());
        self.questions.settle(self.gates.batches.level());
        self.rare.settle(&self.gates.rare);
        self.common.settle(&self.gates.common);
        self.idle.settle(&self.gates.idle);
        self.signs.settle(&self.gates.signs);
        if self.keeps && !self.gates.kept.is_open() {
            self.keeps = false;
            self.batches.forget_entropies();
        }
        Ok(())
    }
}

/// What all workers collected.
pub struct Collected {
    /// Tallies by batch, ascending.
    pub batches: Vec<(BatchKey, BatchTally)>,
    /// Whether the entropies of all tokens were kept.
    pub kept_all: bool,
    /// Whether they are few enough to be sorted.
    pub sortable: bool,
    /// Groups.
    pub groups: GroupTable,
    /// The distinct rewards, while they are few.
    pub rewards: RewardValues,
    /// The plane.
    pub plane: Plane,
    /// Token ids.
    pub vocabulary: VocabularyCounts,
    /// Candidates.
    pub candidates: CandidateStore,
    /// Tokens with p below the largest τ_p of the sweep, and an advantage.
    pub rare: Sample,
    /// Other tokens with an advantage.
    pub common: Sample,
    /// Tokens without advantage; none in comparisons.
    pub idle: Sample,
    /// Responses kept whole.
    pub views: KeptResponses,
    /// What the diagnosis looks at.
    pub signs: CollectedSigns,
    /// Sums by group, where asked for.
    pub clusters: Option<Clusters>,
    /// What is asked beyond the framework.
    pub questions: CollectedQuestions,
}

impl Collected {
    /// Merges what the workers collected.
    pub fn merge(collectors: Vec<Collector<'_>>, gates: &Gates, plan: &Plan) -> Self {
        let mut groups = GroupTable::default();
        let mut rewards = RewardValues::default();
        let mut plane = BySign::new(plane::CELLS);
        let mut vocabulary = VocabularyCounts::default();
        let mut views = KeptResponses::default();
        let mut clusters: Option<Clusters> = None;
        let (mut tables, mut buffers, mut questions) = (Vec::new(), Vec::new(), Vec::new());
        let (mut rare, mut common, mut idle) = (Vec::new(), Vec::new(), Vec::new());
        let mut signs = Vec::new();
        for collector in collectors {
            groups.merge(collector.groups);
            rewards.merge(&collector.rewards);
            plane.merge(&collector.plane);
            vocabulary.merge(collector.vocabulary);
            views.merge(collector.views);
            clusters = match (clusters, collector.clusters) {
                (Some(mut all), Some(more)) => {
                    all.merge(more);
                    Some(all)
                }
                (all, more) => all.or(more),
            };
            tables.push(collector.batches);
            questions.push(collector.questions);
            buffers.push(collector.candidates);
            rare.push(collector.rare);
            common.push(collector.common);
            idle.push(collector.idle);
            signs.push(collector.signs);
        }
        if let Some(clusters) = &clusters {
            plane.set_zero(&clusters.tokens_by_cell());
            vocabulary.dense().set_zero(&clusters.tokens_by_id());
        }
        let keys: Vec<Vec<BatchKey>> = tables.iter().map(BatchTable::keys).collect();
        let batches = BatchTable::merge(tables);
        let number = |key: &BatchKey| batches.partition_point(|(known, _)| known < key) as u32;
        let numbers: Vec<Vec<u32>> = keys.iter().map(|keys| keys.iter().map(number).collect()).collect();
        let renumber = |worker: usize, batch: u32| numbers[worker][batch as usize];
        Self {
            kept_all: gates.kept.is_open(),
            sortable: gates.kept.is_open() && gates.kept.seen() <= plan.limits.kept_entropies,
            groups,
            rewards,
            plane: plane::finish(&plane),
            vocabulary,
            candidates: CandidateStore::merge(buffers),
            rare: Sample::merge(rare, &gates.rare, renumber),
            common: Sample::merge(common, &gates.common, renumber),
            idle: Sample::merge(idle, &gates.idle, renumber),
            views,
            signs: CollectedSigns::merge(signs, &gates.signs),
            clusters,
            questions: QuestionCollector::merge(questions, level_for(batches.len())),
            batches,
        }
    }
}
