//! The names of causes: what files, pages and command lines call them.

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// A cause, by its stable name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $($(#[$doc])* $name,)* }

        impl Code {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Its name.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

codes! {
    /// NaN or ±∞ from some step on.
    NotFinite = "not_finite",
    /// The trainer's probabilities change from one look to the next.
    TrainerDisagreesWithItself = "trainer_disagrees_with_itself",
    /// Columns are shifted against each other.
    MisalignedLog = "misaligned_log",
    /// p and H are not of one distribution.
    EntropyOfAnotherPolicy = "entropy_of_another_policy",
    /// Trainer and sampler see different prompts.
    OtherContext = "other_context",
    /// The trainer's tokens are not the sampler's.
    Retokenised = "retokenised",
    /// The sampler's weights are never renewed.
    SamplerFrozen = "sampler_frozen",
    /// The sampler's weights are old.
    StaleSampler = "stale_sampler",
    /// Sending the weights changes them.
    SyncCorruptsWeights = "sync_corrupts_weights",
    /// Positions are counted with the padding.
    PositionShifted = "position_shifted",
    /// The sampler leaves out the tail (top-p, top-k).
    SamplerTruncation = "sampler_truncation",
    /// The sampler is sharper or flatter than the trainer.
    SamplerTemperature = "sampler_temperature",
    /// Trainer and sampler compute different probabilities.
    PrecisionGap = "precision_gap",
    /// Tokens of the environment are trained on.
    ObservationTrained = "observation_trained",
    /// The token that ends a response is never trained.
    EndUntrained = "end_untrained",
    /// Responses that failed for outer reasons are trained on.
    FailuresTrained = "failures_trained",
    /// Responses are cut from the start.
    Truncation = "truncation",
    /// The correction of the sampler's gap leaves next to nothing of a batch.
    CorrectionEmptiesTheBatch = "correction_empties_the_batch",
    /// Tokens of a rewarded response have no advantage.
    AdvantageMissing = "advantage_missing",
    /// Advantages are huge where siblings nearly agree.
    AdvantageBlowup = "advantage_blowup",
    /// The baseline is of other responses.
    WrongGroups = "wrong_groups",
    /// The advantage does not rise with the reward.
    AdvantageContradictsReward = "advantage_contradicts_reward",
    /// No response is pushed down.
    NoNegativeSignal = "no_negative_signal",
    /// No response is pushed up.
    NoPositiveSignal = "no_positive_signal",
    /// Siblings are copies.
    DuplicateRollouts = "duplicate_rollouts",
    /// Nothing that is logged of a response explains its reward.
    UninformativeReward = "uninformative_reward",
    /// The reward rises while a part of it falls.
    RewardHacking = "reward_hacking",
    /// Groups without a right answer have advantages.
    PhantomAdvantage = "phantom_advantage",
    /// The score on held-out rows falls.
    HeldOutFalls = "held_out_falls",
    /// Most late groups give no signal.
    DeadGroups = "dead_groups",
    /// The KL term holds the policy at its reference.
    KlOutweighs = "kl_outweighs",
    /// An entropy bonus pushes the policy apart.
    EntropyPushed = "entropy_pushed",
    /// Nothing is left to explore with.
    EntropyConsumed = "entropy_consumed",
    /// The policy moves too far within a step.
    LargeUpdates = "large_updates",
    /// Few tokens with a huge ratio and A < 0 carry the energy.
    UnboundedRatio = "unbounded_ratio",
    /// Spurious tokens carry a large part of the energy.
    SpuriousTokens = "spurious_tokens",
    /// Training did not start at its reference.
    WrongStart = "wrong_start",
    /// The run broke where it was resumed.
    ResumeBreak = "resume_break",
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// No cause has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownCode(pub String);

impl std::fmt::Display for UnknownCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no cause is called {:?}", self.0)
    }
}

impl std::error::Error for UnknownCode {}

impl std::str::FromStr for Code {
    type Err = UnknownCode;

    fn from_str(name: &str) -> Result<Self, UnknownCode> {
        Self::ALL.iter().copied().find(|code| code.as_str() == name).ok_or_else(|| UnknownCode(name.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways() {
        assert_eq!(Code::ALL.len(), 38);
        for code in Code::ALL {
            assert_eq!(code.as_str().parse::<Code>(), Ok(*code));
        }
        assert!("overfitting".parse::<Code>().is_err());
    }
}
