//! Advantages are huge where siblings nearly agree.
//! Measured: groups whose rewards differ, whose largest |A| is above 1.5 √n, and whose scale |A| / |r − mean| there is ten
//! times that of its siblings, or of the median group, whose |A| it exceeds ten times as well (measure::advantages).
//! Null: none: divided by the deviation of its group |A| stays below √n, and centred alone it has one scale.
//! Misses: a blow-up in nearly every group.
//! Looks alike: rewards with a heavy tail that are only centred: large |A|, but one scale.

use crate::{Cause, Code, Examined, Finding, Measures, Need, Null, Proof, Symptom};
use stapo_evidence::Column;

const FEWEST: u64 = 4;
const LEVEL: f64 = 0.01;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::AdvantageBlowup,
    null: Null::Identity { rounding: 0.0 },
    needs: &[Need::Column(Column::Advantage), Need::Column(Column::Reward)],
    symptoms: &[Symptom::Damaged, Symptom::NotLearning],
    follows: &[],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let advantages = measures.advantages();
    let blown = advantages.blown;
    let share = blown.groups as f64 / advantages.groups.max(1) as f64;
    if advantages.are_of_tokens || blown.groups < FEWEST || share <= LEVEL {
        return None;
    }
    let why = vec![
        Proof::new("groups with an advantage beyond √n", blown.groups as f64, "0"),
        Proof::new("largest |A|", blown.largest, "below √n of the group"),
        Proof::new("largest |A| of the median group", blown.usual, "–"),
    ];
    let sentence = format!(
        "in {} of {} groups advantages reach up to {:.0} (median {:.1}): they are divided by a deviation of next to 0, as \
         differences of nearly equal rewards leave it; add a floor to it, or do not divide",
        blown.groups, advantages.groups, blown.largest, blown.usual
    );
    Some(Finding::likely(Code::AdvantageBlowup, share, sentence, why).from_step(blown.from))
}
