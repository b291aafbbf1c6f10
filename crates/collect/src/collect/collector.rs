//! What one worker collects.

mod claims;
mod diagnosing;
mod keeping;
mod picked;
mod rare;
mod response;
mod rises;
mod signing;
mod tokens;
mod view;
mod wave;
mod wave_room;

use self::diagnosing::GroupPrompt;
use self::wave_room::WaveRoom;
use super::batches::BatchTable;
use super::block::Block;
use super::by_sign::BySign;
use super::candidates::CandidateBuffer;
use super::claim_tokens::ClaimToken;
use super::clusters::Clusters;
use super::columns::Columns;
use super::diagnostics::Diagnostics;
use super::gates::Gates;
use super::groups::GroupTable;
use super::plane;
use super::questions::QuestionCollector;
use super::sample::{SampleBuffer, SampledToken};
use super::signs::Signs;
use super::views::{KeptResponses, LoggedPrompt};
use super::vocabulary::VocabularyCounts;
use crate::plan::Plan;
use stapo_base::error::Result;
use stapo_batch::batch::{Id, TokenBatch};
use stapo_batch::columns::Column;
use stapo_batch::held_out::HeldOut;
use stapo_batch::limits::Limits;
use stapo_batch::sink::Sink;
use stapo_ingest::right::SeenRewards;

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
    pub(super) claims: SampleBuffer<ClaimToken>,
    pub(super) signs: Signs,
    pub(super) diagnostics: Diagnostics,
    group_prompt: Option<GroupPrompt>,
    pub(super) views: KeptResponses,
    /// The last prompt that was read: responses of its group that follow have none of their own.
    prompt: Option<(i64, Id, LoggedPrompt)>,
    pub(super) clusters: Option<Clusters>,
    /// What stands in place of columns that are not logged.
    zeros: Vec<f32>,
    pub(super) questions: QuestionCollector<'a>,
    block: Box<Block>,
    room: WaveRoom,
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
            claims: SampleBuffer::default(),
            signs: Signs::default(),
            diagnostics: Diagnostics::new(plan),
            group_prompt: None,
            views: KeptResponses::default(),
            prompt: None,
            clusters: plan.sums_by_group().then(Clusters::default),
            zeros: Vec::new(),
            questions: QuestionCollector::new(&plan.questions, &gates.questions),
            block: Box::default(),
            room: WaveRoom::default(),
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

    fn held_out(&mut self, responses: &HeldOut) -> Result<()> {
        self.diagnose_held_out(responses);
        Ok(())
    }

    /// Responses that follow may need the prompt of one before them.
    fn may_part_with(&self, batch: &TokenBatch) -> bool {
        let responses = &batch.responses;
        responses.prompt_ids.is_none()
            && responses.texts.get(Column::PromptText).is_none()
            && batch.token_count() as u64 <= Limits::SHARED_TOKENS
    }

    fn accept(&mut self, batch: &TokenBatch) -> Result<()> {
        if self.unit.replace(batch.origin.unit) != Some(batch.origin.unit) {
            // Which units a worker reads one after another is chance: nothing is remembered across.
            self.prompt = None;
            self.group_prompt = None;
            self.clusters.iter_mut().for_each(Clusters::close);
        }
        self.diagnose(batch);
        let advantages = batch.advantages();
        let mut columns = Columns::of(batch, &advantages);
        let mut stand_in = Vec::new();
        if self.plan.stand_in.any() {
            stand_in = std::mem::take(&mut self.zeros);
            stand_in.resize(stand_in.len().max(batch.token_count()), 0.0);
            let stand_in = &stand_in[..batch.token_count()];
            columns.logprob = if self.plan.stand_in.logprob { stand_in } else { columns.logprob };
            columns.entropy = if self.plan.stand_in.entropy { stand_in } else { columns.entropy };
            columns.advantage = if self.plan.stand_in.advantage { stand_in } else { columns.advantage };
        }
        // Nothing is missing of what stands in.
        let stands_in = self.plan.stand_in.logprob && self.plan.stand_in.advantage;
        self.complete = stands_in || columns.is_complete(batch.token_count());
        self.add_responses(batch, &columns)?;
        if stand_in.len() as u64 <= Limits::SHARED_TOKENS {
            self.zeros = stand_in;
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
        self.claims.settle(&self.gates.claims);
    }

    /// Whether it is time to settle them in the middle of a batch.
    fn is_crowded(&self) -> bool {
        self.rare.is_crowded()
            || self.common.is_crowded()
            || self.idle.is_crowded()
            || self.claims.is_crowded()
    }

    /// Gives back what is reused from response to response: after a large one every worker would keep
    /// as much as only one may hold.
    fn let_go(&mut self) {
        self.room = WaveRoom::default();
        self.questions.let_go();
    }
}
