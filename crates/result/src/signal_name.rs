//! The names of signals.

use std::fmt;

use serde::{Serialize, Serializer};

/// Which signal; in JSON, tables and pages its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignalName {
    /// The total reward.
    Reward,
    /// A part of the reward.
    Part(PartSignal),
    /// The share of responses that are right, where what is right is judged apart from the reward.
    PassRate,
    /// The score on held-out rows.
    HeldOut,
    /// The mean entropy of tokens.
    Entropy,
    /// The mean length of responses.
    Length,
    /// The share of responses that are cut.
    Truncated,
    /// The share of responses that end in a long loop.
    Repetition,
    /// |A| of responses that have an advantage, the largest of their tokens'.
    AdvantageSize,
    /// The share of groups without an advantage.
    DeadGroups,
    /// The number of tokens that the gradient energy is spread over.
    EffectiveNumber,
    /// k3 of the update within a step.
    UpdateK3,
    /// k3 between sampler and trainer.
    EngineK3,
    /// k3 to the reference.
    ReferenceK3,
    /// The largest ratio of the new policy to the old one.
    LargestRatio,
    /// The share of tokens that are clipped.
    ClippedShare,
    /// The share of the gradient energy that spurious tokens carry.
    SpuriousEnergyShare,
}

/// The name of the signal of a part of the reward: `reward/` and that of the part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartSignal(String);

/// The name of the series of right responses.
const PASS_RATE: &str = "pass_rate";
/// What the name of a part follows.
const BEFORE_PART: &str = "reward/";

impl PartSignal {
    /// The name of the part.
    #[must_use]
    pub fn part(&self) -> &str {
        self.0.strip_prefix(BEFORE_PART).unwrap_or(&self.0)
    }
}

impl SignalName {
    /// The signal of a part of the reward.
    #[must_use]
    pub fn part(name: &str) -> Self {
        Self::Part(PartSignal(format!("{BEFORE_PART}{name}")))
    }

    /// The signal of a series that the state is judged by: reward, pass rate, else a part.
    #[must_use]
    pub fn of_series(name: &str) -> Self {
        match name {
            "reward" => Self::Reward,
            PASS_RATE => Self::PassRate,
            part => Self::part(part.strip_prefix(BEFORE_PART).unwrap_or(part)),
        }
    }

    /// The name in JSON, tables and pages.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Reward => "reward",
            Self::Part(PartSignal(name)) => name,
            Self::PassRate => PASS_RATE,
            Self::HeldOut => "held_out",
            Self::Entropy => "entropy",
            Self::Length => "length",
            Self::Truncated => "truncated",
            Self::Repetition => "repetition",
            Self::AdvantageSize => "advantage_size",
            Self::DeadGroups => "dead_groups",
            Self::EffectiveNumber => "effective_number",
            Self::UpdateK3 => "update_k3",
            Self::EngineK3 => "engine_k3",
            Self::ReferenceK3 => "reference_k3",
            Self::LargestRatio => "largest_ratio",
            Self::ClippedShare => "clipped_share",
            Self::SpuriousEnergyShare => "spurious_energy_share",
        }
    }

    /// Whether it is a part of the reward.
    #[must_use]
    pub fn is_part(&self) -> bool {
        matches!(self, Self::Part(_))
    }
}

impl fmt::Display for SignalName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for SignalName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl PartialEq<&str> for SignalName {
    fn eq(&self, name: &&str) -> bool {
        self.as_str() == *name
    }
}
