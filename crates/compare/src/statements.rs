//! What holds for the numbers of a comparison, in plain words.

use super::settings::CompareSettings;
use super::shown::level;
use stapo_base::format::{grouped, number};

/// The statements.
pub fn statements(settings: &CompareSettings, class_entropy_cut: Option<f64>) -> Vec<String> {
    let mut all = vec![
        format!(
            "Intervals are at {} %, from {} draws with seed {}: steps are drawn with replacement, jointly for both runs where they are aligned by number, then the groups of each step; percentiles are moved outwards as Student's t asks for so few steps. With fewer than 6 aligned steps only groups are drawn, and the interval is of these steps.",
            level(settings.confidence),
            grouped(settings.draws as u64),
            settings.seed
        ),
        "Tests are two-sided: Wilcoxon's signed ranks of the differences at aligned steps (of prompts where fewer than 9 steps are aligned and prompts are logged), Mann–Whitney where nothing is paired. They ask whether these runs differ at these steps by more than the sampling of prompts and responses.".into(),
        "Where each arm has several runs, runs are what is counted: Welch's t of their means, which are taken as about normal, in test and interval.".into(),
        "Ranks take steps as independent. Neighbours may differ alike, so the mean difference is tested too, by Student's t with a variance from the lowest frequencies of the series about its straight trend; the larger p-value counts, and intervals are widened to match. A steady drift of one run away from the other counts as a difference of these runs; whether the next pair of runs would drift apart the same way, only more seeds can tell.".into(),
        format!(
            "p-values are corrected after Holm over all metrics, families and runs together. Reward, entropy, length and KL were named in advance and share half of the level (four fifths where runs are what is counted); the other families share the rest. Called different is what stays at or below {} and has an interval without 0.",
            // Without the error of the subtraction.
            (1e9 * (1.0 - settings.confidence)).round() / 1e9
        ),
        "Values are means over the aligned steps by tokens, responses or energy, so long steps weigh more; the test gives every step the same weight. Where steps differ and the interval of the mean includes 0, the metric is not called different, and the answer says so.".into(),
        "Intervals of regions and tokens come from 16 random groups of prompts and are not corrected for having picked the largest changes.".into(),
        "Runs trained with different masks see different tokens: a difference is of the whole run, not of the mask on the same tokens.".into(),
    ];
    all.extend(class_entropy_cut.map(|cut| {
        format!(
            "Classes of tokens are cut at the same entropy in all runs, {} nats, about the median of their τ_h; a run's own report cuts at its own τ_h.",
            number(cut)
        )
    }));
    all
}
