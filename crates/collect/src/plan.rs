//! What an analysis of one run needs to know before it starts.

mod checks;
mod dimensions;
mod ending;
mod missing;
mod purpose;
mod questions;
mod vocabulary;

pub use dimensions::{Dimension, DimensionSource};
pub use ending::{is_unknown as is_unknown_ending, was_cut};
pub use missing::missing_of;
pub use purpose::Purpose;
pub use questions::Questions;
pub use vocabulary::{KnownVocabulary, largest_id, largest_ids};

use self::checks::require;
use stapo_base::error::Result;
use stapo_batch::columns::Column;
use stapo_batch::limits::Limits;
use stapo_framework::batch::{BatchKernel, BatchSettings};
use stapo_framework::rules::BASE_CLIP;
use stapo_framework::s2t::{CandidateRule, EntropyCut, Population, S2tSettings};
use stapo_framework::token::ClipRange;
use stapo_ingest::{Mapping, Run};

use stapo_ingest::texts::Tokenizer;
use stapo_result::VocabularySource;
use stapo_result::cases::LARGEST_TAU_P;
use stapo_result::settings::{AnalyzeSettings, BatchUnit, MemoryLimits};
use stapo_result::stand_in::StandIn;

/// Columns that every analysis reads where they are logged.
const COLUMNS: &[Column] = &[
    Column::Reward,
    Column::PolicyVersion,
    Column::Source,
    Column::PromptLen,
    Column::IsWeight,
    Column::FinishReason,
    Column::Truncated,
    Column::AdvantageSeq,
    Column::Position,
    Column::TokenId,
    Column::Logprob,
    Column::LogprobNew,
    Column::LogprobRollout,
    Column::LogprobRef,
    Column::Turn,
    Column::Entropy,
    Column::Advantage,
    Column::Mask,
    Column::Clipped,
    Column::GradNorm,
    Column::SumPiSq,
    Column::SumPiSqLogPi,
    Column::EntropyAfter,
];

/// The resolved settings of one analysis.
#[derive(Debug)]
pub struct Plan {
    /// The framework's tables.
    pub kernel: BatchKernel,
    /// The mask.
    pub s2t: S2tSettings,
    /// p < τ_p.
    pub rule: CandidateRule,
    /// p below the largest τ_p of the sweep.
    pub rare: CandidateRule,
    /// The largest τ_p of the sweep.
    pub rare_below: f64,
    /// Whether batches are mini-batches.
    pub by_update: bool,
    /// Columns to read.
    pub columns: Vec<Column>,
    /// Columns to read beyond the canonical ones, by the log's names.
    pub others: Vec<String>,
    /// V.
    pub vocab_size: u32,
    /// Where V comes from.
    pub vocab_source: VocabularySource,
    /// Clipping in use.
    pub clip: Option<ClipRange>,
    /// Whether the clipping range is the default one.
    pub clip_assumed: bool,
    /// T.
    pub temperature: f64,
    /// Tokens of context on either side.
    pub context: usize,
    /// Memory.
    pub limits: MemoryLimits,
    /// What steps may take, all together.
    pub memory: Limits,
    /// What the analysis is for.
    pub purpose: Purpose,
    /// Parts of the reward, by name.
    pub reward_parts: Vec<String>,
    /// Whether groups are told by their prompts.
    pub groups_are_prompts: bool,
    /// Texts of ids.
    pub tokenizer: Option<Tokenizer>,
    /// What is asked beyond the framework.
    pub questions: Questions,
    /// What is not logged, so that 0 stands in for it: nothing that rests on it may be said.
    pub stand_in: StandIn,
}

impl Plan {
    /// Resolves settings against what the log has.
    pub fn new(run: &Run, settings: &AnalyzeSettings, purpose: Purpose) -> Result<Self> {
        Self::with_ids(run, settings, purpose, largest_id)
    }

    /// The same, where the largest token id of the run may be known.
    pub fn with_ids(
        run: &Run,
        settings: &AnalyzeSettings,
        purpose: Purpose,
        largest_id: impl FnOnce(&Run) -> Result<u32>,
    ) -> Result<Self> {
        require(run, settings, StandIn::default())?;
        Self::complete(run, settings, purpose, largest_id)
    }

    /// For what can be told of a run without entropy or advantages. No token is a candidate.
    pub fn partial(
        run: &Run,
        settings: &AnalyzeSettings,
        purpose: Purpose,
        largest_id: impl FnOnce(&Run) -> Result<u32>,
    ) -> Result<Self> {
        let stand_in = missing_of(run);
        require(run, settings, stand_in)?;
        let none = S2tSettings {
            tau_p: f64::MIN_POSITIVE,
            entropy: EntropyCut::Absolute(0.0),
            population: Population::Candidates,
        };
        let settings = AnalyzeSettings { s2t: none, ..settings.clone() };
        Ok(Self { stand_in, ..Self::complete(run, &settings, purpose, largest_id)? })
    }

    /// Looks up what the log does not state.
    fn complete(
        run: &Run,
        settings: &AnalyzeSettings,
        purpose: Purpose,
        largest_id: impl FnOnce(&Run) -> Result<u32>,
    ) -> Result<Self> {
        let tokenizer = Tokenizer::find(run, settings.tokenizer.as_deref())?;
        let known = KnownVocabulary::find(run, settings, tokenizer.as_ref(), largest_id)?;
        Ok(Self { tokenizer, ..Self::settled(run, settings, purpose, &known)? })
    }

    /// Resolves settings against what the log has, given the vocabulary; reads nothing.
    pub fn resolve(
        run: &Run,
        settings: &AnalyzeSettings,
        purpose: Purpose,
        vocabulary: &KnownVocabulary,
    ) -> Result<Self> {
        require(run, settings, StandIn::default())?;
        Self::settled(run, settings, purpose, vocabulary)
    }

    fn settled(
        run: &Run,
        settings: &AnalyzeSettings,
        purpose: Purpose,
        vocabulary: &KnownVocabulary,
    ) -> Result<Self> {
        let (vocab_size, vocab_source) = (vocabulary.size, vocabulary.source);
        let logged_clip = metadata_number(run, "clip_low").zip(metadata_number(run, "clip_high"));
        let known_clip = settings.clip.or(logged_clip.map(|(low, high)| ClipRange { low, high }));
        let has_ratio = run.has(Column::LogprobNew);
        let clip = has_ratio.then(|| known_clip.unwrap_or(BASE_CLIP));
        let temperature = settings.temperature.unwrap_or(1.0);
        let mut columns = COLUMNS.to_vec();
        columns.extend(questions::COLUMNS);
        // Where it comes too late to be read, responses of evaluation would count as trained on: that is refused.
        columns.push(Column::Split);
        let questions = Questions::new(run, settings, clip, purpose)?;
        columns.extend(questions.dimensions.iter().filter_map(Dimension::column));
        if !vocabulary.texts {
            columns.push(Column::TokenText);
        }
        // A comparison pairs by prompts, a report shows them.
        columns.extend([Column::PromptIds, Column::PromptText].into_iter().find(|c| run.has(*c)));
        if purpose == Purpose::Report {
            columns.extend([Column::FinishReason, Column::Truncated]);
        }
        let rare_below = LARGEST_TAU_P.max(settings.s2t.tau_p);
        Ok(Self {
            kernel: BatchKernel::new(&BatchSettings { vocab_size, clip, temperature }),
            s2t: settings.s2t,
            rule: settings.s2t.rule(),
            rare: S2tSettings { tau_p: rare_below, ..settings.s2t }.rule(),
            rare_below,
            by_update: settings.per != BatchUnit::Step && run.has(Column::Update),
            columns,
            others: questions.dimensions.iter().filter_map(Dimension::other).map(str::to_owned).collect(),
            vocab_size,
            vocab_source,
            clip,
            clip_assumed: known_clip.is_none(),
            temperature,
            context: settings.context,
            limits: settings.limits,
            memory: run.settings.limits,
            reward_parts: reward_parts(run),
            groups_are_prompts: run.mappings.iter().any(Mapping::groups_are_prompts),
            purpose,
            tokenizer: None,
            questions,
            stand_in: StandIn::default(),
        })
    }

    /// Everything that decides what is collected, in words that are the same for the same.
    pub fn describe(&self) -> String {
        let Self {
            kernel: _,
            s2t,
            rule,
            rare,
            rare_below,
            by_update,
            columns,
            others,
            vocab_size,
            vocab_source: _,
            clip,
            clip_assumed: _,
            temperature,
            context,
            limits,
            memory: _,
            purpose,
            reward_parts,
            groups_are_prompts: _,
            tokenizer: _,
            questions,
            stand_in,
        } = self;
        format!(
            "{s2t:?} {rule:?} {rare:?} {rare_below:?} {by_update} {columns:?} {others:?} {vocab_size} {clip:?} {temperature:?} \
             {context} {limits:?} {purpose:?} {reward_parts:?} {questions:?} {stand_in:?}"
        )
    }

    /// Whether sums by group are collected.
    pub fn sums_by_group(&self) -> bool {
        self.purpose == Purpose::Comparison
    }

    /// Whether τ_h is a quantile over more than the candidates.
    pub fn needs_population(&self) -> bool {
        matches!(self.s2t.entropy, EntropyCut::Quantile(_)) && self.s2t.population != Population::Candidates
    }
}

/// The parts of the reward that any file has, ascending.
fn reward_parts(run: &Run) -> Vec<String> {
    let parts = run.mappings.iter().flat_map(|m| m.reward_parts.iter().map(|(_, part)| part.clone()));
    parts.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
}

fn metadata_number(run: &Run, key: &str) -> Option<f64> {
    run.metadata.get(key)?.trim().parse().ok().filter(|v: &f64| v.is_finite() && *v >= 0.0)
}
