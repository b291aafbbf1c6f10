//! What a verdict needs, and what of it is missing.

use super::{FEWEST_SEEDS, ReplayResult};

/// Held-out prompts from which on differences can be told from chance.
pub const FEWEST_PROMPTS: u64 = 30;

/// The largest share of prompts that is worth holding out: beyond, too little is left to train on.
const LARGEST_SHARE: f64 = 0.5;
/// Prompts are drawn: a little more than would be enough on average.
const SPARE: f64 = 1.15;

impl ReplayResult {
    /// What would be enough for a verdict, by the names of options; empty where there is enough.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        let Some(first) = self.differences.iter().find(|difference| difference.decides) else {
            return Vec::new();
        };
        let mut missing = Vec::new();
        if first.shuffles < FEWEST_SEEDS {
            missing.push(format!("--seeds {FEWEST_SEEDS}"));
        }
        if first.prompts < FEWEST_PROMPTS {
            missing.push(more_prompts(self.training.holdout, first.prompts));
        }
        missing
    }
}

/// How to get the fewest prompts where so many are had of this share.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn more_prompts(share: f64, prompts: u64) -> String {
    if prompts == 0 {
        return "a log whose prompts have right and wrong answers, and --holdout 0.3".into();
    }
    let factor = SPARE * FEWEST_PROMPTS as f64 / prompts as f64;
    // To the next twentieth.
    let wanted = (20.0 * share * factor).ceil() / 20.0;
    if wanted <= LARGEST_SHARE {
        return format!("--holdout {wanted}");
    }
    let times = (share * factor / LARGEST_SHARE).ceil().max(2.0) as u64;
    format!("--holdout {LARGEST_SHARE} with {times} times the prompts (more --steps or --responses)")
}

#[cfg(test)]
mod tests {
    use super::more_prompts;

    #[test]
    fn a_larger_share_is_named_where_one_is_enough() {
        assert_eq!(more_prompts(0.2, 25), "--holdout 0.3");
        assert_eq!(more_prompts(0.2, 15), "--holdout 0.5");
        assert!(more_prompts(0.2, 3).starts_with("--holdout 0.5 with 5 times the prompts"));
        assert!(more_prompts(0.2, 0).contains("right and wrong answers"));
    }
}
