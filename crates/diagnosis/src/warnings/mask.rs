//! What the mask hits.

use crate::numbers::evidence;
use stapo_base::format::grouped;
use stapo_result::{RunCore, Warning, WarningCode};

/// Silenced tokens that a statement about strings needs.
const FEWEST_SILENCED: u64 = 20;
/// Shares of the mask that one and five strings may take.
const TOP1_SHARE: f64 = 0.30;
const TOP5_SHARE: f64 = 0.60;
/// Most.
const MOST: f64 = 0.5;

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

/// Most candidates were no rare draws: the trainer alone finds them improbable. Counted token by token, since a gap between
/// the policies need not be one at rare tokens.
pub fn rare_for_trainer_alone(analysis: &RunCore) -> Option<Warning> {
    let spurious = &analysis.spurious;
    let share = spurious.candidates_rare_for_sampler?;
    (spurious.candidates_compared >= FEWEST_SILENCED && share < MOST).then(|| Warning {
        code: WarningCode::RareForTrainerAlone,
        message: format!(
            "of {} tokens with A > 0 that the trainer finds rare, {:.0} % are rare for the sampler, too: most are rare for the \
             trainer alone",
            grouped(spurious.candidates_compared),
            100.0 * share
        ),
        hint: "mend the gap between trainer and sampler first: the mask would treat a symptom".into(),
        evidence: vec![evidence(None, "share rare for the sampler, too", share)],
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use stapo_result::SpuriousTokens;

    #[test]
    fn rare_draws_are_told_from_a_gap() {
        let of = |candidates_compared, share| {
            let spurious = SpuriousTokens {
                candidates_compared,
                candidates_rare_for_sampler: share,
                ..SpuriousTokens::default()
            };
            rare_for_trainer_alone(&RunCore { spurious, ..RunCore::default() })
        };
        // A healthy run with a k3 above 0.001, and one with dropout in the trainer.
        assert_eq!(of(810, Some(802.0 / 810.0)), None);
        let found = of(6_667, Some(1_934.0 / 6_667.0)).unwrap();
        assert!(
            found.message.starts_with("of 6,667 tokens with A > 0 that the trainer finds rare, 29 %"),
            "{found:?}"
        );
        assert_eq!([of(12, Some(0.1)), of(0, None)], [None, None], "too few to say");
    }
}
