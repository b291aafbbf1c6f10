//! Logs of which it is known what was made wrong.

/// A log and its truth.
pub struct Label {
    /// Below the folder of the data.
    pub log: &'static str,
    /// What was made wrong; "" where nothing was.
    pub wrong: &'static str,
    /// Causes that name it; none where nothing was made wrong.
    pub causes: &'static [&'static str],
}

impl Label {
    pub fn is_healthy(&self) -> bool {
        self.causes.is_empty()
    }
}

const fn healthy(log: &'static str) -> Label {
    Label { log, wrong: "", causes: &[] }
}

const fn sick(log: &'static str, wrong: &'static str, causes: &'static [&'static str]) -> Label {
    Label { log, wrong, causes }
}

/// Folders of the labels, and what stands above their rows.
pub const KINDS: [(&str, &str); 4] = [
    ("real/", "SmolLM2-135M"),
    ("real/edited/", "SmolLM2-135M, the fault put into the columns of a healthy log"),
    ("trl/", "trained with TRL"),
    ("", "a policy of 4 layers, trained from scratch"),
];

/// All of them: real ones first.
pub const LABELS: &[Label] = &[
    healthy("real/healthy"),
    healthy("real/healthy_two_turns_lag1"),
    healthy("real/arms/grpo_1"),
    healthy("real/arms/grpo_2"),
    healthy("real/arms/grpo_3"),
    healthy("real/arms/stapo_1"),
    healthy("real/arms/stapo_2"),
    healthy("real/arms/stapo_3"),
    healthy("real/arms/random_1"),
    healthy("real/arms/random_2"),
    healthy("real/arms/random_3"),
    // 0.01 · H in the objective: it learns, and no column shows harm.
    healthy("real/entropy_bonus_small"),
    sick("real/retokenised", "responses decoded and encoded again", &["retokenised"]),
    sick("real/other_prompt", "the trainer's prompts lack the system message", &["other_context"]),
    sick("real/no_attention_mask", "the trainer attends to padding", &["other_context", "position_shifted"]),
    sick("real/dropout_1", "dropout of 0.01 in the trainer", &["trainer_disagrees_with_itself"]),
    sick("real/dropout_10", "dropout of 0.1", &["trainer_disagrees_with_itself"]),
    sick("real/sampler_5bit", "the sampler's weights in 5 bits", &["precision_gap"]),
    sick(
        "real/sampler_4bit_diverges",
        "in 4 bits, which swallow the updates",
        &["precision_gap", "sampler_frozen"],
    ),
    sick("real/weights_never_sent", "the sampler keeps the first weights", &["sampler_frozen"]),
    sick("real/sampler_top_k", "the sampler draws from the first 20", &["sampler_truncation"]),
    sick("real/flipped_sum", "advantages of one task negated", &["advantage_contradicts_reward"]),
    sick("real/coin_json", "the reward of one task is a coin", &["uninformative_reward"]),
    sick("real/entropy_bonus_large", "0.04 · H in the objective", &["entropy_pushed"]),
    sick("real/kl_weight_1", "a KL term of weight 1", &["kl_outweighs"]),
    sick("real/eos_untrained_two_turns", "the end token is never trained", &["end_untrained"]),
    sick("real/edited/duplicate_rollouts", "four of eight siblings are copies", &["duplicate_rollouts"]),
    sick("real/edited/failures_labelled", "errors trained as wrong answers", &["failures_trained"]),
    sick("real/edited/advantage_blowup", "deviation by cancellation", &["advantage_blowup"]),
    sick("real/edited/wrong_groups", "baseline over other groups", &["wrong_groups"]),
    sick("real/edited/advantage_missing", "one turn without advantage", &["advantage_missing"]),
    sick("trl/noise", "the reward is a coin", &["uninformative_reward"]),
    healthy("ward/healthy"),
    healthy("ward/easy"),
    healthy("grpo"),
    healthy("stapo"),
    sick("ward/hot", "learning rate ten times too high", &["large_updates"]),
    sick("ward/temperature", "the sampler has another temperature", &["sampler_temperature"]),
    sick("ward/flipped", "advantages of the wrong sign", &["advantage_contradicts_reward"]),
    sick("ward/hacked", "length is paid for", &["reward_hacking"]),
    sick("ward/positive_only", "no negative advantages", &["no_negative_signal"]),
    sick("ward/noise", "the reward is chance", &["uninformative_reward"]),
];
