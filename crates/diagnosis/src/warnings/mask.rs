//! What the mask hits.

use crate::evidence::evidence;
use crate::responses::drawn_gap::DrawnGap;
use stapo_base::format::words;
use stapo_result::{Cause, CauseCode, Confidence, RunCore, Warning, WarningCode};

/// Silenced tokens that a statement about strings needs.
const FEWEST_SILENCED: u64 = 20;
/// Shares of the mask that one and five strings may take.
const TOP1_SHARE: f64 = 0.30;
const TOP5_SHARE: f64 = 0.60;
/// The paper sees mostly below 1e-4, with short peaks of 3e-4.
const WIDE: f64 = 1e-3;
/// A gap between sampler and trainer that moves tokens below τ_p.
const NOTICEABLE_GAP: f64 = 1e-3;

/// A few strings take most of the mask.
pub fn concentration(analysis: &RunCore) -> Option<Warning> {
    let spread = analysis.vocabulary.silenced.as_ref()?;
    let concentrated = spread.top1_share >= TOP1_SHARE || spread.top5_share >= TOP5_SHARE;
    if spread.tokens < FEWEST_SILENCED || !concentrated {
        return None;
    }
    let count = if spread.top1_share >= TOP1_SHARE { 1 } else { 5 };
    let share = if count == 1 { spread.top1_share } else { spread.top5_share };
    let top = analysis.vocabulary.top.iter().take(count);
    let name = |row: &stapo_result::VocabularyRow| {
        row.token.clone().unwrap_or_else(|| stapo_base::format::token_of_id(row.token_id))
    };
    let named: Vec<String> = top.clone().map(|row| format!("{:?}", name(row))).collect();
    let silenced = |row: &stapo_result::VocabularyRow| {
        evidence(None, &format!("silenced {:?}", name(row)), row.silenced as f64)
    };
    Some(Warning {
        code: WarningCode::MaskConcentration,
        message: format!("{:.0} % of the silenced tokens are {}", 100.0 * share, named.join(", ")),
        hint: "read them in their context: a tag or a format token that the reward needs must not be \
               silenced; leave the mask off then"
            .into(),
        evidence: top.map(silenced).chain([evidence(None, "herfindahl", spread.herfindahl)]).collect(),
    })
}

/// The mask takes more than a rare share of tokens: a note, with the reason where the log shows one.
pub fn width(analysis: &RunCore, drawn: &DrawnGap, causes: &[Cause]) -> Option<Warning> {
    let s2t = &analysis.s2t;
    let gap = gap(analysis, drawn);
    let (reason, look) = reason(analysis, gap, causes);
    (s2t.fraction > WIDE).then(|| Warning {
        code: WarningCode::MaskTooWide,
        message: format!(
            "the mask takes {:.3} % of the tokens, more than {} %; the paper reports mostly below 0.01 %{}",
            100.0 * s2t.fraction,
            100.0 * WIDE,
            reason
        ),
        hint: format!("{look}; the chart of other thresholds in the report says what another τ_p would take"),
        evidence: [evidence(None, "s2t.fraction", s2t.fraction)]
            .into_iter()
            .chain(gap.map(|gap| evidence(None, "largest k3 of a step", gap)))
            .collect(),
    })
}

/// The largest gap between sampler and trainer, where it is noticeable at tokens that the sampler drew.
fn gap(analysis: &RunCore, drawn: &DrawnGap) -> Option<f64> {
    let steps = analysis.steps.iter().filter(|row| !drawn.is_within(row.step, NOTICEABLE_GAP));
    let gaps = steps.filter_map(|row| row.mismatch.as_ref().map(|gap| gap.kl));
    Some(gaps.fold(0.0, f64::max)).filter(|gap| *gap > NOTICEABLE_GAP)
}

/// Why many tokens are below τ_p, and what to look at.
fn reason(analysis: &RunCore, gap: Option<f64>, causes: &[Cause]) -> (String, &'static str) {
    let vocabulary = f64::from(analysis.provenance.vocab_size);
    let foreign = CauseCode::ObservationTrained;
    if causes.iter().any(|cause| cause.code == foreign && cause.confidence == Confidence::Likely) {
        let said = format!("; tokens are trained that the policy did not write ({})", words(foreign.name()));
        (said, "mend that first")
    } else if let Some(gap) = gap {
        let said = format!(
            "; the sampler differs from the trainer (k3 {gap:.4}) and draws tokens that the trainer finds rare"
        );
        (said, "mend that first")
    } else if analysis.s2t.tau_p * vocabulary < 1.0 {
        let said = format!(
            "; in a vocabulary of {vocabulary} a token that is less likely than chance is below τ_p already"
        );
        (said, "τ_p is made for large vocabularies")
    } else {
        (String::new(), "check that p and H are those of the trained policy")
    }
}
