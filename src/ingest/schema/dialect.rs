//! Which framework wrote a log, told by the names and shapes of its columns.

mod advice;

use super::alignment::ListAlignment;

/// The kind of the values of a raw column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Primitive {
    /// Whole numbers.
    Int,
    /// Numbers with a fraction.
    Float,
    /// True or false.
    Bool,
    /// Texts.
    Text,
    /// Bytes that are not marked as texts.
    Binary,
    /// Dates and times.
    Date,
    /// Anything else, or only nulls so far.
    Other,
}

/// How the values of a raw column nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One value a row.
    Scalar(Primitive),
    /// A list a row; lists of structs are lists of [`Primitive::Other`].
    List(Primitive),
    /// A list of lists a row.
    ListOfLists(Primitive),
    /// Named values a row.
    Struct,
}

impl Shape {
    /// Whether the column is a list (of lists) of anything.
    pub const fn is_list(self) -> bool {
        matches!(self, Self::List(_) | Self::ListOfLists(_))
    }

    /// In words, for messages.
    pub fn describe(self) -> String {
        let name = |p| format!("{p:?}").to_lowercase();
        match self {
            Self::Scalar(p) => format!("one {} a row", name(p)),
            Self::List(p) => format!("a list of {} a row", name(p)),
            Self::ListOfLists(p) => format!("a list of lists of {} a row", name(p)),
            Self::Struct => "a struct".into(),
        }
    }
}

/// A column as the file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawField {
    /// Its name in the file.
    pub name: String,
    /// Its shape.
    pub shape: Shape,
}

impl RawField {
    /// A column of this name and shape.
    pub fn new(name: impl Into<String>, shape: Shape) -> Self {
        Self { name: name.into(), shape }
    }
}

/// The framework (and generation of its format) that wrote a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum Dialect {
    /// This program's own schema.
    Canonical,
    /// prime-rl token exports.
    PrimeRlExport,
    /// prime-rl or verifiers episodes and traces, and verifiers' older trajectories.
    PrimeRlTraces,
    /// NeMo-RL train data.
    NemoRl,
    /// miles dashboard columns.
    Miles,
    /// open-instruct rollouts.
    OpenInstruct,
    /// RLLoggingBoard samples.
    LoggingBoard,
    /// ROLL's logging board dump.
    RollBoard,
    /// Tinker cookbook captured samples.
    Tinker,
    /// atropos groups.
    Atropos,
    /// verl rollouts; texts unless token columns were added.
    VerlText,
    /// TRL completions; texts unless token columns were added.
    TrlText,
    /// ms-swift completions, a batch a line.
    SwiftText,
    /// ROLL rollout dump, a batch a line.
    RollDumpText,
    /// AReaL rollouts.
    ARealText,
    /// ART trajectories.
    ArtText,
    /// Samples of Prime's platform.
    PrimePlatformText,
    /// rLLM episodes.
    RllmText,
    /// SkyRL evaluation dumps.
    SkyRlText,
    /// Tinker cookbook rollout summaries.
    TinkerText,
    /// verifiers results without tokens.
    VerifiersText,
    /// Responses of an OpenAI-style server.
    OpenAiText,
    /// Responses of an SGLang server.
    SglangText,
    /// None of these.
    Unknown,
}

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
    /// [`Dialect::text_only`] when no token column was found.
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
        Some(if f.has(&["input", "output", "gts", "score", "step"]) {
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

    /// The name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Canonical => "stapo-analyze",
            Self::PrimeRlExport => "prime-rl token export",
            Self::PrimeRlTraces => "prime-rl/verifiers traces",
            Self::NemoRl => "NeMo-RL",
            Self::Miles => "miles",
            Self::OpenInstruct => "open-instruct",
            Self::LoggingBoard => "RLLoggingBoard",
            Self::RollBoard => "ROLL logging board",
            Self::Tinker => "Tinker cookbook capture",
            Self::Atropos => "atropos",
            Self::VerlText => "verl",
            Self::TrlText => "TRL",
            Self::SwiftText => "ms-swift",
            Self::RollDumpText => "ROLL rollout dump",
            Self::ARealText => "AReaL",
            Self::ArtText => "ART",
            Self::PrimePlatformText => "Prime platform",
            Self::RllmText => "rLLM",
            Self::SkyRlText => "SkyRL evaluation",
            Self::TinkerText => "Tinker cookbook summary",
            Self::VerifiersText => "verifiers results",
            Self::OpenAiText => "OpenAI-style server",
            Self::SglangText => "SGLang server",
            Self::Unknown => "unknown",
        }
    }

    /// How the token columns are laid out in the file. The JSONL reader straightens some of them;
    /// what it hands out is told by its own `alignment()`.
    pub const fn alignment(self) -> Option<ListAlignment> {
        match self {
            Self::PrimeRlExport | Self::NemoRl | Self::Atropos => Some(ListAlignment::Full),
            Self::PrimeRlTraces => Some(ListAlignment::Compact),
            Self::Miles => Some(ListAlignment::Right),
            Self::Canonical | Self::OpenInstruct | Self::LoggingBoard | Self::RollBoard | Self::Tinker => {
                Some(ListAlignment::Response)
            }
            _ => None,
        }
    }

    /// Whether a bare `logprobs` column is the trainer's (`Some(true)`) or the sampler's
    /// (`Some(false)`); `None` where the framework does not say.
    pub const fn logprobs_are_trainers(self) -> Option<bool> {
        match self {
            Self::LoggingBoard | Self::RollBoard => Some(true),
            Self::OpenInstruct | Self::Tinker | Self::PrimeRlTraces | Self::ARealText => Some(false),
            _ => None,
        }
    }

    /// Whether `uid` carries `_session_index` behind the group's own id; see `group_of_uid`.
    pub const fn uid_has_suffix(self) -> bool {
        matches!(self, Self::VerlText)
    }

    /// Whether each function of the reward is a column of its own name, and the prompt is all that tells groups.
    pub const fn names_reward_functions(self) -> bool {
        matches!(self, Self::TrlText | Self::SwiftText)
    }

    /// For frameworks that log texts and scalars: how to log the missing per-token columns.
    pub const fn text_only(self) -> Option<&'static str> {
        advice::how_to_log(self)
    }
}

/// The group in a verl `uid`: what stands before the last two `_` when numbers follow them.
pub fn group_of_uid(uid: &str) -> &str {
    let number = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let mut parts = uid.rsplitn(3, '_');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(index), Some(session), Some(group))
            if number(index) && number(session) && !group.is_empty() =>
        {
            group
        }
        _ => uid,
    }
}

#[cfg(test)]
mod tests;
