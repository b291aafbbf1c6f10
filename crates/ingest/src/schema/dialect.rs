//! The frameworks that write logs, and what is to be known of the columns of each.

mod advice;
mod fingerprints;

use crate::schema::alignment::ListAlignment;

/// The framework (and generation of its format) that wrote a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
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

impl Dialect {
    /// The framework's name, as documentation calls it; none for logs that may be of any.
    pub fn framework(self) -> Option<&'static str> {
        match self {
            Self::VerlText => Some("verl"),
            Self::TrlText => Some("TRL"),
            Self::PrimeRlExport | Self::PrimeRlTraces => Some("prime-rl"),
            Self::Miles => Some("slime"),
            _ => None,
        }
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

    /// Whether `ratio` is the trainer against the sampler, not the new policy against the old one.
    pub const fn ratio_is_mismatch(self) -> bool {
        matches!(self, Self::PrimeRlExport | Self::PrimeRlTraces)
    }

    /// Whether it is a framework whose own logs hold texts and scalars.
    pub const fn writes_texts(self) -> bool {
        advice::how_to_log(self).is_some()
    }

    /// The smallest change after which the framework of this log writes the missing per-token columns, too.
    pub const fn hook(self) -> &'static str {
        match advice::how_to_log(self) {
            Some(how) => how,
            None => advice::ANY_TRAINER,
        }
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
