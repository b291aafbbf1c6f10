//! Answers over steps.

use super::lines::{Line, Lines};
use crate::charts::Chart;
use stapo_result::Answers;

/// The effective share of the tokens under each difference.
pub fn effective_share(answers: &Answers) -> Option<Chart> {
    let steps = &answers.offpolicy.as_ref()?.steps;
    let line = |name: &str, of: &dyn Fn(usize) -> Option<f64>| Line {
        name: name.into(),
        points: (0..steps.len()).filter_map(|i| Some((steps[i].step, of(i)?))).collect(),
    };
    Lines {
        name: "effective_share",
        title: "Effective share of the tokens over steps",
        reading: "How many of the tokens count once they are weighted by the ratio of the two policies: 1 is on-policy; below 0.5 a few tokens decide for all.",
        axis: "effective share of the tokens",
        lines: vec![
            line("engine: trainer / sampler", &|i| Some(steps[i].differences.engine.as_ref()?.ess)),
            line("update: at the loss / start of step", &|i| Some(steps[i].differences.update.as_ref()?.ess)),
            line("total: at the loss / sampler", &|i| Some(steps[i].differences.total.as_ref()?.ess)),
        ],
    }
    .chart()
}

/// pass@k.
pub fn pass_at(answers: &Answers) -> Option<Chart> {
    let groups = answers.groups.as_ref()?;
    let line = |k: &u64| Line {
        name: format!("pass@{k}"),
        points: groups.steps.iter().filter_map(|s| Some((s.step, *s.pass_at.get(k)?))).collect(),
    };
    Lines {
        name: "pass_at",
        title: "pass@k over steps",
        reading: "The chance that one of k responses is right: where pass@1 rises and pass@k of large k falls, the run trades diversity for certainty.",
        axis: "pass@k",
        lines: groups.pass_at.keys().map(line).collect(),
    }
    .chart()
}

/// The parts of the reward.
pub fn reward_parts(answers: &Answers) -> Option<Chart> {
    let lines = answers.reward_parts.iter().map(|part| Line {
        name: part.name.clone(),
        points: part.steps.iter().map(|s| (s.step, s.mean)).collect(),
    });
    Lines {
        name: "reward_parts",
        title: "Parts of the reward over steps",
        reading: "The mean of each part: one that rises while another falls for good is what reward hacking looks like.",
        axis: "mean",
        lines: lines.collect(),
    }
    .chart()
}

/// The corners of the clip.
pub fn clip_corners(answers: &Answers) -> Option<Chart> {
    type Corner = (&'static str, fn(&stapo_result::clipping::ClipCorners) -> u64);
    let clipping = answers.clipping.as_ref()?;
    let corners: [Corner; 4] = [
        ("above, A > 0: cut", |c| c.high_positive),
        ("below, A < 0: cut", |c| c.low_negative),
        ("above, A < 0: not cut", |c| c.high_negative),
        ("below, A > 0: not cut", |c| c.low_positive),
    ];
    let lines = corners.into_iter().map(|(name, of)| Line {
        name: name.into(),
        points: clipping
            .steps
            .iter()
            .filter(|s| s.tokens > 0)
            .map(|s| (s.step, of(&s.corners) as f64 / s.tokens as f64))
            .collect(),
    });
    Lines {
        name: "clip_corners",
        title: "Tokens beyond the clip over steps",
        reading: "Shares of trained tokens whose ratio left the clip range, by side and sign: two corners are cut, the other two keep their gradient, however large the ratio.",
        axis: "share of trained tokens",
        lines: lines.collect(),
    }
    .chart()
}
