//! What is compared, and over which steps.

use stapo_base::named;

named! {
    /// A metric that has an error of its own at fixed steps: it is a mean over drawn responses or their tokens.
    pub enum Metric {
        /// Mean reward of a response.
        Reward = "reward",
        /// Share of right answers.
        RightAnswers = "right_answers",
        /// Mean number of trained tokens of a response.
        Length = "length",
        /// Mean entropy of a trained token, in nats.
        Entropy = "entropy",
        /// Mean reward of a held-out response.
        HeldOut = "held_out",
    }
}

impl Metric {
    /// In a sentence.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Reward => "reward",
            Self::RightAnswers => "right answers",
            Self::Length => "length",
            Self::Entropy => "entropy",
            Self::HeldOut => "held-out reward",
        }
    }

    /// Whether it is of held-out responses, which are not trained on.
    #[must_use]
    pub const fn is_held_out(self) -> bool {
        matches!(self, Self::HeldOut)
    }
}

named! {
    /// The steps that a value is of. The rest of a curve is drawn, not tested.
    pub enum Window {
        /// All common steps.
        Level = "level",
        /// The last fifth of them, rounded up.
        End = "end",
    }
}

impl Window {
    /// Its steps among the common ones.
    #[must_use]
    pub fn of(self, steps: &[i64]) -> &[i64] {
        match self {
            Self::Level => steps,
            Self::End => &steps[steps.len() - steps.len().div_ceil(5)..],
        }
    }
}
