//! What the mask hits.

use crate::numbers::evidence;
use stapo_result::{RunCore, Warning, WarningCode};

/// Silenced tokens that a statement about strings needs.
const FEWEST_SILENCED: u64 = 20;
/// Shares of the mask that one and five strings may take.
const TOP1_SHARE: f64 = 0.30;
const TOP5_SHARE: f64 = 0.60;

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
