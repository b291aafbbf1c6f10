//! By which columns a framework is told: names, and shapes where names are shared.

use super::Dialect;
use crate::schema::raw_field::{Primitive, RawField, Shape};

/// The fields of a log, asked by name.
struct Names<'a>(&'a [RawField]);

impl Names<'_> {
    fn shape(&self, name: &str) -> Option<Shape> {
        self.0.iter().find(|f| f.name == name).map(|f| f.shape)
    }

    fn has(&self, names: &[&str]) -> bool {
        names.iter().all(|n| self.shape(n).is_some())
    }

    fn list(&self, name: &str) -> bool {
        self.shape(name).is_some_and(Shape::is_list)
    }

    fn list_of(&self, name: &str, primitive: Primitive) -> bool {
        self.shape(name) == Some(Shape::List(primitive))
    }

    fn scalar(&self, name: &str) -> bool {
        matches!(self.shape(name), Some(Shape::Scalar(_)))
    }
}

impl Dialect {
    /// The dialect of a log with these columns; the first fingerprint that fits wins.
    ///
    /// A text dialect says only whose log it is: users add token columns to such logs, so ask
    /// [`Dialect::writes_texts`] when no token column was found.
    pub(crate) fn detect(fields: &[RawField]) -> Self {
        let f = Names(fields);
        Self::with_tokens(&f).or_else(|| Self::with_texts(&f)).unwrap_or(Self::Unknown)
    }

    fn with_tokens(f: &Names<'_>) -> Option<Self> {
        const CANONICAL: [&str; 5] = ["logprob", "logprob_rollout", "logprob_new", "entropy", "response_len"];
        let named_canonically = f.has(&["token_id"]) || f.has(&["token_text"]);
        let ids = |name| f.list_of(name, Primitive::Int);
        Some(if named_canonically && CANONICAL.iter().any(|n| f.has(&[n])) {
            Self::Canonical
        } else if f.has(&["schema_version", "trainer_logprobs", "inference_logprobs"]) {
            Self::PrimeRlExport
        } else if f.has(&["generation_logprobs", "prev_logprobs", "token_loss_mask"]) {
            Self::NemoRl
        } else if f.has(&["sample_index", "response_length", "total_length", "tokens"])
            && f.has(&["loss_mask", "rollout_log_probs"])
        {
            Self::Miles
        } else if f.has(&["prompt_tokens", "prompt_idx", "finish_reason"]) && ids("response_tokens") {
            Self::OpenInstruct
        } else if f.list_of("response_tokens", Primitive::Text) && f.has(&["logprobs"]) {
            // The reference is optional with both writers; the names below are ROLL's alone.
            if f.has(&["new_response_mask"]) || f.has(&["old_log_probs2_entropy"]) {
                Self::RollBoard
            } else {
                Self::LoggingBoard
            }
        } else if f.has(&["prompt_tokens", "logprobs", "iteration"])
            && (f.has(&["sampled_tokens"]) || f.has(&["tokens"]))
        {
            Self::Tinker
        } else if matches!(f.shape("tokens"), Some(Shape::ListOfLists(_))) && f.has(&["masks", "scores"]) {
            Self::Atropos
        } else if f.list_of("traces", Primitive::Other) && (f.has(&["task"]) || f.has(&["id"]))
            || f.list_of("nodes", Primitive::Other) && (f.has(&["task"]) || f.has(&["id"]))
            || f.list_of("trajectory", Primitive::Other)
        {
            Self::PrimeRlTraces
        } else {
            return None;
        })
    }

    fn with_texts(f: &Names<'_>) -> Option<Self> {
        Some(if f.has(&["input", "output", "score"]) && (f.has(&["step"]) || f.has(&["gts"])) {
            Self::VerlText
        } else if f.list("prompt") && f.list("completion") && f.list("advantages") {
            Self::SwiftText
        } else if f.list("global_step") && f.list("responses") && f.list("scores") {
            Self::RollDumpText
        } else if f.has(&["step", "prompt", "completion", "advantage"]) {
            Self::TrlText
        } else if f.has(&["group_index", "messages", "reward"]) {
            Self::ArtText
        } else if f.has(&["run_id", "problem_id", "sample_id", "completion"]) {
            Self::PrimePlatformText
        } else if f.has(&["head_version", "tail_version", "prompt", "completion"]) {
            Self::ARealText
        } else if f.has(&["trajectories"]) || f.has(&["episode_id", "task_hash"]) {
            Self::RllmText
        } else if f.has(&["input_prompt", "output_response", "score"]) {
            Self::SkyRlText
        } else if f.has(&["total_reward", "iteration", "group_idx", "traj_idx"]) {
            Self::TinkerText
        } else if f.has(&["example_id", "prompt", "completion", "reward"]) {
            Self::VerifiersText
        } else if f.list("choices") {
            Self::OpenAiText
        } else if f.shape("meta_info") == Some(Shape::Struct) && (f.scalar("text") || f.list("output_ids")) {
            Self::SglangText
        } else {
            return None;
        })
    }
}
