//! What is asked of a log beyond the mask.

use clap::Args;

use stapo_base::condition::Condition;
use stapo_framework::corrections::Correction;

/// What is asked beyond the mask.
#[derive(Debug, Args)]
pub struct QuestionArgs {
    /// When a response is right, such as "reward/answer>0.5" [default: a part of the reward
    /// whose name says so, else the higher of two rewards]
    #[arg(long, value_name = "CONDITION", value_parser = condition, help_heading = "Questions")]
    pub pass: Option<Condition>,

    /// Slice tokens by these columns, too, such as policy_version or reward/answer [default: turn, lag and
    /// finish_reason, where logged]
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',', help_heading = "Questions")]
    pub by: Vec<String>,

    /// Try another correction for an off-policy sampler, such as token_tis_3 or token_mis_0.3_3 (repeatable)
    #[arg(long = "correction", value_name = "RULE", help_heading = "Questions")]
    pub corrections: Vec<Correction>,
}

/// Reads a condition, or says how one is written.
pub fn condition(text: &str) -> Result<Condition, String> {
    Condition::parse(text)
        .map_err(|what| format!("{what}: write a name, a comparison and a number, such as \"reward>0.5\""))
}
