//! Counts and sums of one batch. Parts merge in any order to the same bits.

use super::entropy_histogram::EntropyHistogram;
use super::kept_entropies::KeptEntropies;
use super::peaks::Peaks;
use stapo_base::stats::exact_sum::ExactSum;

/// A batch: what one threshold is taken over.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct BatchKey {
    /// Step.
    pub step: i64,
    /// Mini-batch inside the step, where batches are finer than steps.
    pub update: Option<i64>,
}

macro_rules! counts {
    ($($field:ident $doc:literal;)*) => {
        /// Numbers of tokens and responses.
        #[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub struct Counts { $(#[doc = $doc] pub $field: u64,)* }

        impl Counts {
            /// Adds other counts.
            pub fn merge(&mut self, other: &Self) {
                $(self.$field += other.$field;)*
            }
        }
    };
}

counts! {
    responses "Responses.";
    rewarded "Responses with a reward.";
    tokens "Trained tokens.";
    masked_out "Tokens that are not trained on.";
    missing "Trained tokens without log-probability, entropy or advantage.";
    positive "Tokens with A > 0.";
    negative "Tokens with A < 0.";
    zero "Tokens with A = 0.";
    infeasible "Tokens whose p and H cannot be of one distribution.";
    clipped "Tokens that clipping cuts.";
    weighted "Tokens with w ≠ 0.";
    weighted_positive "Of these, with A > 0.";
    measured_norms "Tokens with w ≠ 0 and a logged norm.";
    exact_norms "Tokens with w ≠ 0 and an exact norm.";
    up "Tokens certified to raise the entropy.";
    down "Tokens certified to lower it.";
    as_mode "Of both, only because the token must be the mode.";
    ambiguous "Tokens whose direction is open.";
    exact_changes "Tokens whose entropy change is exact.";
    measured_changes "Tokens with an entropy after the update.";
    compared "Tokens with a rollout log-probability.";
}

macro_rules! quantities {
    ($($variant:ident $doc:literal;)*) => {
        /// What is summed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Quantity { $(#[doc = $doc] $variant,)* }

        impl Quantity {
            const COUNT: usize = [$(Self::$variant,)*].len();
        }
    };
}

quantities! {
    Reward "Rewards of responses.";
    RewardSquare "Their squares.";
    Entropy "H.";
    Probability "p.";
    Logprob "ln p.";
    Advantage "A.";
    PositiveEnergy "‖g‖² where A > 0.";
    NegativeEnergy "‖g‖² where A < 0.";
    SquaredEnergy "‖g‖⁴.";
    EnergyLow "Lower end of ‖g‖².";
    EnergyHigh "Upper end of ‖g‖².";
    PositiveNorm "‖g‖ where A > 0.";
    NegativeNorm "‖g‖ where A < 0.";
    ChangeLow "Lower end of the entropy change.";
    ChangeHigh "Upper end of the entropy change.";
    Own "p(ln p + H).";
    OwnAdvantage "p(ln p + H)·A.";
    MeasuredChange "Entropy after minus entropy.";
    Difference "Trainer's minus rollout's log-probability.";
    AbsoluteDifference "Its absolute value.";
    Divergence "r − 1 − ln r of the two probabilities.";
}

/// The sums of one response, in the order of its tokens.
#[derive(Clone, Debug)]
pub struct ResponseSums([f64; Quantity::COUNT]);

impl Default for ResponseSums {
    fn default() -> Self {
        Self([0.0; Quantity::COUNT])
    }
}

impl ResponseSums {
    /// Adds the sum of a block.
    #[inline]
    pub fn add(&mut self, quantity: Quantity, value: f64) {
        self.0[quantity as usize] += value;
    }

    /// A sum.
    pub fn get(&self, quantity: Quantity) -> f64 {
        self.0[quantity as usize]
    }

    /// ‖g‖² of all tokens.
    pub fn energy(&self) -> f64 {
        self.get(Quantity::PositiveEnergy) + self.get(Quantity::NegativeEnergy)
    }
}

/// Everything counted and summed over one batch.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct BatchTally {
    /// Numbers of tokens and responses.
    pub counts: Counts,
    sums: [ExactSum; Quantity::COUNT],
    /// Largest ‖g‖².
    pub largest_energy: f64,
    /// Largest difference of the two log-probabilities.
    pub largest_difference: f64,
    /// Tokens and energy by entropy.
    pub histogram: EntropyHistogram,
    /// Entropies, while there is room for them.
    pub kept: KeptEntropies,
    /// Entropies of the candidates.
    pub candidate_entropies: Vec<f32>,
    /// The tokens with the largest norms.
    pub peaks: Peaks,
}

impl BatchTally {
    /// An empty tally with a histogram of `level`.
    pub fn new(level: u32) -> Self {
        Self {
            counts: Counts::default(),
            sums: [ExactSum::new(); Quantity::COUNT],
            largest_energy: 0.0,
            largest_difference: 0.0,
            histogram: EntropyHistogram::new(level),
            kept: KeptEntropies::default(),
            candidate_entropies: Vec::new(),
            peaks: Peaks::default(),
        }
    }

    /// Adds the sums of a response.
    pub fn add_sums(&mut self, sums: &ResponseSums) {
        for (sum, value) in self.sums.iter_mut().zip(sums.0) {
            if value != 0.0 {
                sum.add(value);
            }
        }
    }

    /// A sum.
    pub fn sum(&self, quantity: Quantity) -> f64 {
        self.sums[quantity as usize].value()
    }

    /// Adds counts, sums and largest values of another batch.
    pub fn add_numbers(&mut self, other: &Self) {
        self.counts.merge(&other.counts);
        for (a, b) in self.sums.iter_mut().zip(&other.sums) {
            a.merge(b);
        }
        self.largest_energy = self.largest_energy.max(other.largest_energy);
        self.largest_difference = self.largest_difference.max(other.largest_difference);
    }

    /// Puts what may come in any order into one.
    pub fn settle(&mut self) {
        self.histogram.settle();
        self.kept.settle();
        self.candidate_entropies.sort_unstable_by(f32::total_cmp);
    }

    /// Adds another part of the batch.
    pub fn merge(&mut self, other: Self) {
        self.add_numbers(&other);
        self.histogram.merge(other.histogram);
        self.kept.merge(other.kept);
        self.candidate_entropies.extend(other.candidate_entropies);
        self.peaks.merge(other.peaks);
    }
}
