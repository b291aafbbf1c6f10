//! What one worker collects.

mod rare;
mod response;
mod signing;
mod view;

use super::batches::{BatchRegistry, BatchTable, Batches};
use super::block::Block;
use super::by_sign::BySign;
use super::candidates::{CandidateBuffer, CandidateStore};
use super::clusters::Clusters;
use super::columns::{Columns, PickedColumns};
use super::groups::GroupTable;
use super::kept_entropies::KeptGate;
use super::plane;
use super::questions::{CollectedQuestions, QuestionCollector, QuestionGates};
use super::run_sample::Sample;
use super::sample::{SampleBuffer, SampleGate, SampledToken};
use super::signs::{CollectedSigns, SignGates, Signs};
use super::state::State;
use super::views::{KeptResponses, LoggedPrompt};
use super::vocabulary::VocabularyCounts;
use crate::analyze::plan::{Plan, Purpose};
use crate::analyze::result::Plane;
use crate::analyze::right::SeenRewards;
use crate::error::Result;
use crate::ingest::{Id, Limits, Sink, TokenBatch};

/// What all workers share while they collect.
#[derive(Debug)]
pub struct Gates {
    pub(super) batches: BatchRegistry,
    pub(super) kept: KeptGate,
    pub(super) questions: QuestionGates,
    pub(super) rare: SampleGate,
    pub(super) common: SampleGate,
    pub(super) idle: SampleGate,
    pub(super) signs: SignGates,
}

impl Gates {
    /// The gates of an analysis.
    pub fn new(plan: &Plan) -> Self {
        let limits = &plan.limits;
        let kept = if plan.needs_population() { limits.kept_population } else { limits.kept_entropies };
        Self {
            batches: BatchRegistry::new(plan.memory),
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
    pub(super) batches: BatchTable,
    pub(super) groups: GroupTable,
    pub(super) rewards: SeenRewards,
    pub(super) plane: BySign,
    pub(super) vocabulary: VocabularyCounts,
    pub(super) candidates: CandidateBuffer,
    pub(super) rare: SampleBuffer<SampledToken>,
    pub(super) common: SampleBuffer<SampledToken>,
    pub(super) idle: SampleBuffer<SampledToken>,
    pub(super) signs: Signs,
    pub(super) views: KeptResponses,
    /// The last prompt that was read: responses of its group that follow have none of their own.
    prompt: Option<(i64, Id, LoggedPrompt)>,
    pub(super) clusters: Option<Clusters>,
    pub(super) questions: QuestionCollector<'a>,
    block: Box<Block>,
    picks: Vec<u32>,
    picked: PickedColumns,
    keeps: bool,
    /// Whether every token of the present batch has all values.
    complete: bool,
    /// The scan unit of the present batch.
    unit: Option<u32>,
    /// Whether the place of a response was taken for its missing ids.
    pub(super) placed: bool,
}

impl<'a> Collector<'a> {
    /// An empty collector.
    pub fn new(plan: &'a Plan, gates: &'a Gates, workers: usize) -> Self {
        Self {
            plan,
            gates,
            batches: BatchTable::default(),
            groups: GroupTable::default(),
            rewards: SeenRewards::default(),
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
            unit: None,
            placed: false,
        }
    }
}

impl Sink for Collector<'_> {
    fn accept_joined(&mut self, batch: &TokenBatch) -> Result<()> {
        self.unit = None;
        self.accept(batch)?;
        self.unit = None;
        Ok(())
    }

    fn accept(&mut self, batch: &TokenBatch) -> Result<()> {
        if self.unit.replace(batch.origin.unit) != Some(batch.origin.unit) {
            // Which units a worker reads one after another is chance: nothing is remembered across.
            self.prompt = None;
            self.clusters.iter_mut().for_each(Clusters::close);
        }
        let advantages = batch.advantages();
        let mut columns = Columns::of(batch, &advantages);
        let stand_in: Vec<f32>;
        if self.plan.stand_in.any() {
            stand_in = vec![0.0; batch.token_count()];
            columns.entropy = if self.plan.stand_in.entropy { &stand_in } else { columns.entropy };
            columns.advantage = if self.plan.stand_in.advantage { &stand_in } else { columns.advantage };
        }
        self.complete = columns.is_complete(batch.token_count());
        for i in 0..batch.len() {
            self.add_response(batch, &columns, i)?;
        }
        self.batches.coarsen(self.gates.batches.level());
        self.questions.settle(self.gates.batches.level());
        self.settle_samples();
        self.signs.settle(&self.gates.signs);
        if self.keeps && !self.gates.kept.is_open() {
            self.keeps = false;
            self.batches.forget_entropies();
        }
        if batch.token_count() as u64 > Limits::SHARED_TOKENS {
            self.let_go();
        }
        Ok(())
    }
}

impl Collector<'_> {
    /// Keeps no more sampled tokens than all workers together should.
    fn settle_samples(&mut self) {
        self.rare.settle(&self.gates.rare);
        self.common.settle(&self.gates.common);
        self.idle.settle(&self.gates.idle);
    }

    /// Gives back what is reused from response to response: after a large one every worker would keep
    /// as much as only one may hold.
    fn let_go(&mut self) {
        self.picks = Vec::new();
        self.picked = PickedColumns::default();
        self.questions.let_go();
    }
}

/// What all workers collected.
pub struct Collected {
    /// Tallies by batch, ascending.
    pub batches: Batches,
    /// Whether the entropies of all tokens were kept.
    pub kept_all: bool,
    /// Whether they are few enough to be sorted.
    pub sortable: bool,
    /// Groups.
    pub groups: GroupTable,
    /// The distinct rewards, and those of the part that says what is right, while they are few.
    pub rewards: SeenRewards,
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
    /// What was collected of the whole run.
    pub fn new(state: State, plan: &Plan) -> Self {
        state.finish(plan)
    }
}
