//! The paper's claims (arXiv 2602.15620), checked on the run at hand.

use schemars::JsonSchema;
use serde::Serialize;
use stapo_base::named;
use stapo_base::tables::{Columns, DataFrame};

named! {
    /// What is claimed.
    pub enum ClaimId {
        /// The gradient norm of a token falls with its probability.
        NormFallsWithP = "norm_falls_with_p",
        /// At a fixed probability it falls with entropy.
        NormFallsWithEntropy = "norm_falls_with_entropy",
        /// Of tokens with A > 0, those that S2T takes have the largest norms.
        SpuriousNormIsLargest = "spurious_norm_is_largest",
        /// S2T takes few tokens.
        Rare = "rare",
        /// It takes them from states in which the policy was sure.
        ConfidentPolicy = "confident_policy",
        /// What is rare for the trainer is rare for the sampler that drew it.
        DrawnRarely = "drawn_rarely",
        /// An update on them raises entropy.
        EntropyRises = "entropy_rises",
        /// They carry more of the update than as many others.
        CarriesTheUpdate = "carries_the_update",
        /// The predicted entropy change orders tokens as the measured one does.
        PredictsTheChange = "predicts_the_change",
        /// What they say contributes little to the answer.
        ContributesLittle = "contributes_little",
        /// They drive instability.
        DrivesInstability = "drives_instability",
    }
}

named! {
    /// What the run says of a claim.
    pub enum ClaimVerdict {
        /// It holds.
        Holds = "holds",
        /// It does not hold on this run.
        Fails = "does not hold here",
        /// The log does not tell.
        Unchecked = "cannot be checked",
    }
}

/// A claim and what the run says of it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClaimRow {
    /// Its name.
    pub id: ClaimId,
    /// What is claimed.
    pub claim: String,
    /// The number that decides; null for a claim that cannot be checked.
    pub value: Option<f64>,
    /// What stands beside that number.
    pub beside: Option<String>,
    /// What the paper says of it.
    pub paper: String,
    /// What the run says.
    pub verdict: ClaimVerdict,
    /// Why, and what follows.
    pub why: String,
}

impl ClaimRow {
    /// One row a claim.
    #[must_use]
    pub fn frame(rows: &[Self]) -> DataFrame {
        Columns::of(rows)
            .text("id", |r| r.id.name())
            .text("claim", |r| &r.claim)
            .float("value", |r| r.value)
            .text("beside", |r| &r.beside)
            .text("paper", |r| &r.paper)
            .text("verdict", |r| r.verdict.name())
            .text("why", |r| &r.why)
            .frame()
    }
}

/// What the tokens that S2T takes are to the update, at ρ = 1 and without clipping: what claims and causes rest on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct SpuriousTokens {
    /// Tokens with A > 0 and p < τ_p of which the sampler's probability is logged.
    pub candidates_compared: u64,
    /// The share of these that are below τ_p for the sampler, too; null without any.
    pub candidates_rare_for_sampler: Option<f64>,
    /// The same share of those of them that S2T takes.
    pub rare_for_sampler: Option<f64>,
    /// The share of the gradient energy that S2T takes; null without any energy.
    pub energy_share: Option<f64>,
    /// That share over their share of tokens with A ≠ 0.
    pub energy_over_tokens: Option<f64>,
    /// The first step at which S2T takes one.
    pub first_step: Option<i64>,
}
