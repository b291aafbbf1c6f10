//! The series beside the one that is judged: parts of the reward and held-out scores.

use super::blocks::{Blocks, Drop};
use super::critical::Critical;
use super::range::{Range, learned};
use super::verdict::{Cause, CauseCode, Sign};
use super::words::{short, significant};
use crate::curves::{CurveRun, Series};
use crate::math::{extent, greatest};
use crate::names::normalised;

/// Rows of a part, of a held-out score, at least.
const PART_ROWS: usize = 8;
const HELD_OUT_ROWS: usize = 6;

const GOAL: [&str; 10] =
    ["correct", "acc", "answer", "pass", "solve", "success", "match", "exact", "test", "score"];
const FORM: [&str; 12] = [
    "format",
    "xml",
    "json",
    "tag",
    "syntax",
    "valid",
    "parse",
    "_int_",
    "structure",
    "style",
    "boxed",
    "think",
];
const NO_GOAL: [&str; 19] = [
    "length", "_len", "penal", "cost", "brev", "overlong", "repet", "latency", "token", "turns", "calls",
    "minus", "diff", "gap", "bonus", "error", "wrong", "fail", "invalid",
];

fn holds(column: &str, words: &[&str]) -> bool {
    let name = normalised(column);
    words.iter().any(|word| name.contains(word))
}

/// Named as the share of right answers.
pub(crate) fn is_goal(column: &str) -> bool {
    holds(column, &GOAL) && !holds(column, &FORM) && !holds(column, &NO_GOAL)
}

/// A series that is judged beside the reward.
pub(crate) struct Beside<'a> {
    pub series: &'a Series,
    pub blocks: Blocks<'a>,
    pub range: Range,
    /// The reward itself under another name: no further series.
    pub same: bool,
    /// Speaks of the form of an answer, not of its being right.
    pub form: bool,
}

impl<'a> Beside<'a> {
    pub fn new(series: &'a Series, form: bool, same: bool) -> Self {
        let blocks = Blocks::new(&series.steps, &series.values);
        let range = Range::of(series, &blocks, None);
        Self { series, blocks, range, same, form }
    }

    pub fn name(&self) -> &'a str {
        &self.series.column
    }

    /// Named as what the training is for.
    pub fn is_goal_by_name(&self) -> bool {
        holds(self.name(), &GOAL) || holds(self.name(), &["outcome"])
    }

    /// Certainly less than a tenth of the room.
    pub fn gains_little(&self) -> bool {
        let gain = self.blocks.gains()[0];
        let most = gain.difference + Critical::Bound.value(self.blocks.rows()) * gain.error;
        most < 0.1 * (self.range.top - gain.start)
    }

    /// Certainly a tenth of the room, or twice the height.
    pub fn learned(&self) -> bool {
        learned(&self.blocks.gains(), self.blocks.rows(), self.range).1
    }

    /// `eval/acc fell 0.55 → 0.31 from step 120`.
    pub fn fell(&self, drop: &Drop) -> String {
        let step = significant(self.blocks.onset(drop), 6);
        format!("{} fell {} → {} from step {step}", self.name(), short(drop.before), short(drop.after))
    }
}

/// Parts that can be judged: goals, then forms. Penalties and lengths are no goals.
pub(crate) fn parts(run: &CurveRun) -> (Vec<&Series>, Vec<&Series>) {
    let judged = run.parts.iter().filter(|part| {
        part.values.len() >= PART_ROWS && !holds(&part.column, &NO_GOAL) && greatest(&part.values) > 0.0
    });
    let (forms, goals): (Vec<_>, Vec<_>) = judged.partition(|part| holds(&part.column, &FORM));
    (goals, forms.into_iter().filter(|form| extent(&form.values) > 0.0).collect())
}

/// Held-out scores that can be judged.
pub(crate) fn held_out(run: &CurveRun) -> Vec<&Series> {
    run.held_out.iter().filter(|score| score.values.len() >= HELD_OUT_ROWS).collect()
}

/// What the held-out scores show, beside a reward that `rose` (by much where `big`).
pub(crate) fn examine_held_out(
    scores: &[Beside<'_>],
    rose: bool,
    big: bool,
    length_ratio: f64,
) -> (Vec<Cause>, Vec<Sign>) {
    let (mut causes, mut signs) = (Vec::new(), Vec::new());
    for score in scores {
        let (series, size) = (score.name().to_owned(), score.range.size());
        // A held-out score has no floor that it is known to fall to.
        let drop = score.blocks.fall(f64::NEG_INFINITY, 0.02 * size);
        let critical = Critical::Fall.of_series(score.blocks.rows(), scores.len());
        let gain = score.blocks.gains()[0];
        if drop.t > critical && drop.before - drop.after >= 0.05 * size {
            let fell = score.fell(&drop);
            let beside = if rose { " while the reward rose" } else { "" };
            let sentence = format!("{fell}{beside}");
            causes.push(Cause { code: CauseCode::HeldOutFalls, series: series.clone(), sentence });
            if rose {
                let sentence = format!("the reward rose while {fell}");
                causes.push(Cause { code: CauseCode::RewardHacking, series, sentence });
            }
        } else if drop.t > 0.85 * critical {
            signs.push(Sign { sentence: score.fell(&drop), series });
        } else if big && length_ratio >= 2.0 && score.gains_little() {
            let (start, end) = (short(gain.start), short(gain.end));
            let sentence = format!("{series} does not follow ({start} → {end}) while reward and length rise");
            causes.push(Cause { code: CauseCode::RewardHacking, series, sentence });
        }
    }
    (causes, signs)
}
