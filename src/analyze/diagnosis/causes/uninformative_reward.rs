//! Nothing that is logged of a response explains its reward.
//!
//! Statistic: the share of the within-group variance of the reward that its parts, length, whether
//! it was cut, entropy and surprisal explain; and how often siblings with equal tokens get different
//! rewards.
//! Threshold: an upper bound, not a p-value: likely where parts are logged and at most 5 % can be
//! explained, or where equal siblings differ at least half as often as any (a reward that reads the
//! response never lets them). Without parts, at most 2 % is only possible: length and entropy need not
//! tell a right answer.

use super::super::patient::{Finding, Patient, found, number, percent, share_bounds};
use super::within_groups::{Feature, explained};
use crate::analyze::collect::signs::facts::ResponseFact;
use crate::analyze::result::{CauseCode, Confidence};
use crate::ingest::Column;

const NEGLIGIBLE: f64 = 0.05;
const NEGLIGIBLE_WITHOUT_PARTS: f64 = 0.02;
/// Equal siblings that a statement needs.
const FEWEST_PAIRS: u64 = 10;
const MAX_PARTS: usize = 16;

const HINT: &str = "read some responses with their rewards: does the reward function see the response it \
                    scores, and the right reference answer?";

/// A quantity of a response that owns what it needs.
type OwnedFeature = Box<dyn Fn(&ResponseFact) -> f64>;

/// Pairs of siblings, and those with different rewards: of equal tokens, and of any.
#[derive(Default)]
struct Pairs {
    equal: [u64; 2],
    any: [u64; 2],
}

impl Pairs {
    fn add(&mut self, group: &[ResponseFact]) {
        for (i, a) in group.iter().enumerate() {
            for b in group[i + 1..].iter().filter(|b| b.reward.is_finite() && a.reward.is_finite()) {
                let differs = u64::from(a.reward != b.reward);
                self.any[0] += 1;
                self.any[1] += differs;
                if a.text == b.text {
                    self.equal[0] += 1;
                    self.equal[1] += differs;
                }
            }
        }
    }

    /// Whether equal siblings differ at least half as often as any, beyond chance.
    fn tell(&self) -> bool {
        let usual = self.any[1] as f64 / self.any[0].max(1) as f64;
        self.equal[0] >= FEWEST_PAIRS
            && share_bounds(self.equal[1], self.equal[0])[0] > 0.5 * usual
            && usual > 0.0
    }
}

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Finding {
    if !patient.has(Column::Reward) || !patient.has(Column::GroupId) {
        return Finding::NotChecked("reward and group_id");
    }
    let mut pairs = Pairs::default();
    if patient.has(Column::TokenId) {
        patient.groups().for_each(|group| pairs.add(group));
    }
    let parts = patient.plan.reward_parts.len().min(MAX_PARTS);
    let of_part = |i: usize| -> OwnedFeature { Box::new(move |f: &ResponseFact| f64::from(f.parts[i])) };
    let of_parts: Vec<OwnedFeature> = (0..parts).map(of_part).collect();
    let length = |f: &ResponseFact| f64::from(f.length);
    let cut = |f: &ResponseFact| f64::from(u8::from(f.truncated == Some(true)));
    let entropy = |f: &ResponseFact| f64::from(f.entropy);
    let surprisal = |f: &ResponseFact| f64::from(f.surprisal);
    let mut features: Vec<Feature<'_>> = of_parts.iter().map(AsRef::as_ref).collect();
    features.extend([&length as Feature<'_>, &cut, &entropy, &surprisal]);
    let reward = |f: &ResponseFact| f64::from(f.reward);
    let Some(explained) = explained(patient.groups(), &reward, &features) else {
        return if pairs.tell() { equal_siblings(patient, &pairs) } else { Finding::Absent };
    };
    let unexplained = parts > 0 && explained.upper < NEGLIGIBLE;
    if pairs.tell() && !unexplained {
        return equal_siblings(patient, &pairs);
    }
    let confidence = match (unexplained, parts) {
        (true, _) => Confidence::Likely,
        (false, 0) if explained.upper < NEGLIGIBLE_WITHOUT_PARTS => Confidence::Possible,
        _ => return Finding::Absent,
    };
    let what = if parts > 0 { "parts, length and entropy" } else { "length and entropy" };
    found(
        CauseCode::UninformativeReward,
        confidence,
        patient.analysis.steps.first().map(|row| row.step),
        format!(
            "{what} of a response explain at most {} of how its reward differs from its siblings': the \
             reward looks like chance",
            percent(explained.upper)
        ),
        HINT,
        vec![
            number("explained share of the reward within groups", explained.share),
            number("its upper end", explained.upper),
            number("responses", explained.responses),
            number("pairs of equal siblings", pairs.equal[0] as f64),
            number("of these with different rewards", pairs.equal[1] as f64),
        ],
    )
}

fn equal_siblings(patient: &Patient<'_>, pairs: &Pairs) -> Finding {
    let [all, differ] = pairs.equal;
    found(
        CauseCode::UninformativeReward,
        Confidence::Likely,
        patient.analysis.steps.first().map(|row| row.step),
        format!(
            "{differ} of {all} pairs of siblings with the same tokens have different rewards: the reward does not follow from the response"
        ),
        HINT,
        vec![
            number("pairs of equal siblings", all as f64),
            number("of these with different rewards", differ as f64),
            number(
                "share of any pairs with different rewards",
                pairs.any[1] as f64 / pairs.any[0].max(1) as f64,
            ),
        ],
    )
}
