//! What all workers collected of the whole run.

use super::batches::Batches;
use super::candidates::CandidateStore;
use super::claim_tokens::ClaimToken;
use super::clusters::Clusters;
use super::diagnostics::Diagnostics;
use super::groups::GroupTable;
use super::questions::CollectedQuestions;
use super::rows::SeveralRows;
use super::run_sample::Sample;
use super::signs::CollectedSigns;
use super::views::KeptResponses;
use super::vocabulary::VocabularyCounts;
use stapo_ingest::right::SeenRewards;
use stapo_result::Plane;

/// What all workers collected.
pub struct Collected {
    /// Tallies by batch, ascending.
    pub batches: Batches,
    /// Whether the entropies of all tokens were kept.
    pub kept_all: bool,
    /// Whether they are few enough to be sorted.
    pub sortable: bool,
    /// Groups.
    pub groups: GroupTable,
    /// Responses that have several rows.
    pub several_rows: SeveralRows,
    /// The distinct rewards, and those of the part that says what is right, while they are few.
    pub rewards: SeenRewards,
    /// The plane.
    pub plane: Plane,
    /// Token ids.
    pub vocabulary: VocabularyCounts,
    /// Candidates.
    pub candidates: CandidateStore,
    /// Tokens with p below the largest τ_p of the sweep, and an advantage.
    pub rare: Sample,
    /// Other tokens with an advantage.
    pub common: Sample,
    /// Tokens without advantage; none in comparisons.
    pub idle: Sample,
    /// Tokens that the paper's claims are held against.
    pub claims: Sample<ClaimToken>,
    /// Responses kept whole.
    pub views: KeptResponses,
    /// What the diagnosis is judged by.
    pub diagnostics: Diagnostics,
    /// Energies, ratios and responses that are looked at one by one.
    pub signs: CollectedSigns,
    /// Sums by group, where asked for.
    pub clusters: Option<Clusters>,
    /// What is asked beyond the framework.
    pub questions: CollectedQuestions,
}
