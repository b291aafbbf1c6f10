//! The canonical columns: their names, levels, kinds, and the names they have in the wild.

use std::fmt;

/// Whether a column has one value a response or one value a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// One value a response.
    Response,
    /// One value a token.
    Token,
}

/// How the values of a column are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers.
    Int,
    /// Single precision; missing is NaN.
    Float,
    /// Double precision, for columns whose use cancels; missing is NaN.
    Double,
    /// 0, 1 or missing.
    Flag,
    /// Text.
    Text,
    /// A number or a text, only compared for equality.
    Id,
    /// A list of token ids.
    IdList,
}

macro_rules! columns {
    ($($variant:ident $name:literal $level:ident $kind:ident [$($alias:literal),*] $doc:literal;)*) => {
        /// A column of the token stream, whatever a log calls it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        pub enum Column { $(#[doc = $doc] $variant,)* }

        impl Column {
            /// All columns, in the order they are written.
            pub const ALL: &'static [Column] = &[$(Column::$variant,)*];

            /// The canonical name: of the column in `convert`, in options and in messages.
            pub const fn name(self) -> &'static str {
                match self { $(Column::$variant => $name,)* }
            }

            /// Response or token level.
            pub const fn level(self) -> Level {
                match self { $(Column::$variant => Level::$level,)* }
            }

            /// How values are kept.
            pub const fn kind(self) -> Kind {
                match self { $(Column::$variant => Kind::$kind,)* }
            }

            /// Names seen in logs, folded by `fold_name`, best first.
            pub const fn aliases(self) -> &'static [&'static str] {
                match self { $(Column::$variant => &[$($alias),*],)* }
            }
        }
    };
}

columns! {
    Step "step" Response Int ["step", "global_step", "training_step", "iteration", "gen_step", "rollout_id", "tail_version"] "Trainer or rollout step.";
    Update "update" Response Int ["update", "minibatch", "minibatch_id", "mini_batch"] "Mini-batch (update) inside the step.";
    GroupId "group_id" Response Id ["uid", "group_id", "group_index", "group_idx", "prompt_idx", "prompt_id", "problem_id", "example_id", "task_id", "task_hash", "instance_id"] "Prompt, the GRPO group.";
    SampleId "sample_id" Response Id ["sample_id", "sample_index", "sample_idx", "index", "idx", "traj_idx", "rollout_idx", "request_id", "trajectory_id", "export_sequence_idx", "sequence_id", "episode_id"] "Response id.";
    RunId "run_id" Response Text ["run_id"] "Run.";
    Source "source" Response Text ["source", "env", "env_name", "data_source", "datasource", "dataset", "environment", "env_id", "env_class", "task_name", "task", "task_type", "domain", "ability"] "Environment or data source.";
    Split "split" Response Text ["split"] "Train or eval.";
    PolicyVersion "policy_version" Response Int ["policy_version", "weight_version", "model_version"] "Version of the sampler's weights.";
    Reward "reward" Response Float ["reward", "score", "raw_reward", "filtered_reward", "total_reward", "final_reward", "total_score", "acc"] "Final scalar reward.";
    AdvantageSeq "advantage_seq" Response Float ["advantage_seq", "advantage", "adv"] "Advantage of the whole response.";
    PromptLen "prompt_len" Response Int ["prompt_len", "prompt_length"] "Tokens of the prompt.";
    ResponseLen "response_len" Response Int ["response_len", "response_length", "completion_length"] "Tokens of the response.";
    FinishReason "finish_reason" Response Text ["finish_reason", "stop_reason", "status"] "Why generation ended.";
    Truncated "truncated" Response Flag ["truncated", "is_truncated"] "Whether the response was cut.";
    PromptIds "prompt_ids" Response IdList ["prompt_id", "prompt", "prompt_token", "prompt_token_id"] "Token ids of the prompt.";
    PromptText "prompt_text" Response Text ["prompt_text", "prompt", "input", "input_prompt", "query"] "Text of the prompt.";
    ResponseText "response_text" Response Text ["response_text", "completion", "output", "response", "output_response", "content"] "Text of the response.";
    Position "position" Token Int ["position", "pos", "token_position", "position_id"] "Position in the response, from 0.";
    TokenId "token_id" Token Int ["token_id", "token", "input_id", "response", "response_id", "response_token", "completion_id", "sampled_token", "generated_token_id", "output_id", "sequence", "query_response"] "Token id.";
    TokenText "token_text" Token Text ["token_text", "response_token", "decoded_token", "token", "token_str"] "Text of the token.";
    Logprob "logprob" Token Float ["old_log_prob", "old_logprob", "old_logp", "trainer_logprob", "train_log_prob", "prev_logprob", "log_prob", "action_log_prob", "prox_logp", "logp", "logprob"] "Log-probability under the old (trainer) policy, nats.";
    LogprobRollout "logprob_rollout" Token Float ["rollout_log_prob", "rollout_logprob", "inference_logprob", "infer_logprob", "generation_logprob", "generation_log_prob", "sampling_logp", "vllm_logprob", "completion_logprob", "response_logprob", "output_log_prob", "output_token_logprob", "sampled_logprob", "logprob_rollout"] "Log-probability as the inference engine gave it.";
    LogprobNew "logprob_new" Token Float ["logprob_new", "curr_logprob", "new_logprob", "local_logprob"] "Log-probability of the current policy at loss time.";
    LogprobRef "logprob_ref" Token Float ["ref_log_prob", "ref_logprob", "ref_logp", "reference_logprob", "reference_policy_logprob", "base_action_log_prob", "teacher_log_prob", "logprob_ref"] "Log-probability of the reference or teacher.";
    Entropy "entropy" Token Float ["entropy", "entropie", "token_entropy", "old_log_probs2_entropy", "output_token_entropy_val"] "Entropy of the policy at the position, nats.";
    Advantage "advantage" Token Float ["advantage", "adv"] "Advantage of the token.";
    TokenReward "token_reward" Token Float ["token_reward", "token_level_score", "token_level_reward", "rm_score", "tot_reward"] "Reward of the token.";
    Value "value" Token Float ["value", "vpred"] "Value head.";
    Return "return" Token Float ["return"] "Return.";
    Mask "mask" Token Flag ["loss_mask", "response_mask", "action_mask", "completion_mask", "token_loss_mask", "sampled_mask", "mask", "new_response_mask", "final_response_mask", "tool_mask", "sample_loss_mask", "remove_sample"] "Whether the token is trained on.";
    IsWeight "is_weight" Token Float ["is_weight", "rollout_is_weight", "importance_sampling_ratio", "vllm_is_ratio", "tis_weight"] "Importance weight that was applied.";
    Ratio "ratio" Token Float ["ratio", "coef_1", "imp_ratio", "importance_ratio", "log_importance_ratio"] "Importance ratio as logged.";
    Kl "kl" Token Float ["kl", "mismatch_kl", "ppo_kl"] "KL of the token as logged.";
    Clipped "clipped" Token Flag ["clipped", "is_masked", "is_masked_high", "is_masked_low", "is_low_clipped", "is_high_clipped"] "Whether the trainer clipped the token.";
    GradNorm "grad_norm" Token Float ["grad_norm", "gradient_norm", "token_grad_norm"] "Measured gradient norm of the token.";
    SumPiSq "sum_pi_sq" Token Double ["sum_pi_sq", "sum_pi_squared", "collision"] "Sum of squared probabilities.";
    SumPiSqLogPi "sum_pi_sq_log_pi" Token Double ["sum_pi_sq_log_pi"] "Sum of squared probabilities times log-probability.";
    LogprobAfter "logprob_after" Token Float ["logprob_after"] "The token's log-probability after the update.";
    EntropyAfter "entropy_after" Token Float ["entropy_after"] "The position's entropy after the update.";
    Turn "turn" Token Int ["turn"] "Agentic turn.";
    TokenVersion "token_version" Token Int ["token_version", "version", "weight_version", "policy_version"] "Version of the sampler's weights at the token.";
}

impl Column {
    /// Number of columns.
    pub const COUNT: usize = Self::ALL.len();

    /// The column with this canonical name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|c| c.name() == name)
    }

    /// Whether logs call it so.
    pub fn is_called(self, raw: &str) -> bool {
        self.name() == raw || self.aliases().contains(&fold_name(raw).as_str())
    }

    /// Whether the values are log-probabilities (same sentinels and ranges).
    pub const fn is_logprob(self) -> bool {
        matches!(
            self,
            Self::Logprob | Self::LogprobRollout | Self::LogprobNew | Self::LogprobRef | Self::LogprobAfter
        )
    }

    /// Whether the values are entropies.
    pub const fn is_entropy(self) -> bool {
        matches!(self, Self::Entropy | Self::EntropyAfter)
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Folds a raw column name to the form of the alias table: lower case, `/` as `_`, without
/// `per_token_` and without the plural's `s`.
pub fn fold_name(raw: &str) -> String {
    let lower = raw.to_lowercase().replace(['/', '.', '-'], "_");
    let bare = lower.replace("per_token_", "");
    let plural =
        bare.len() > 3 && bare.ends_with('s') && !["ss", "us", "is"].iter().any(|e| bare.ends_with(e));
    if plural { bare[..bare.len() - 1].to_owned() } else { bare }
}

/// One optional value for every column, indexed by [`Column`].
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct PerColumn<T>(Vec<Option<T>>);

impl<T> Default for PerColumn<T> {
    fn default() -> Self {
        Self(std::iter::repeat_with(|| None).take(Column::COUNT).collect())
    }
}

impl<'de, T: serde::Deserialize<'de>> serde::Deserialize<'de> for PerColumn<T> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let values = Vec::<Option<T>>::deserialize(from)?;
        match values.len() == Column::COUNT {
            true => Ok(Self(values)),
            false => Err(serde::de::Error::custom("not a value for every column")),
        }
    }
}

impl<T> PerColumn<T> {
    /// The value of `column`.
    pub fn get(&self, column: Column) -> Option<&T> {
        self.0[column as usize].as_ref()
    }

    /// The value of `column`, to change.
    pub fn get_mut(&mut self, column: Column) -> Option<&mut T> {
        self.0[column as usize].as_mut()
    }

    /// The value of `column`, made first where there is none.
    pub fn get_or_default(&mut self, column: Column) -> &mut T
    where
        T: Default,
    {
        self.0[column as usize].get_or_insert_with(T::default)
    }

    /// Sets the value of `column`.
    pub fn set(&mut self, column: Column, value: T) {
        self.0[column as usize] = Some(value);
    }

    /// Removes and returns the value of `column`.
    pub fn take(&mut self, column: Column) -> Option<T> {
        self.0[column as usize].take()
    }

    /// The columns that have a value, in canonical order.
    pub fn iter(&self) -> impl Iterator<Item = (Column, &T)> {
        Column::ALL.iter().copied().filter_map(|c| self.get(c).map(|v| (c, v)))
    }

    /// Applies `f` to every value.
    pub fn map<U>(&self, mut f: impl FnMut(&T) -> U) -> PerColumn<U> {
        PerColumn(self.0.iter().map(|v| v.as_ref().map(&mut f)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_folded() {
        assert_eq!(fold_name("per_token_logps"), "logp");
        assert_eq!(fold_name("Old_Log_Probs"), "old_log_prob");
        assert_eq!(fold_name("old_per_token_logps"), "old_logp");
        assert_eq!(fold_name("mismatch/kl"), "mismatch_kl");
        assert_eq!(fold_name("entropys"), "entropy");
        assert_eq!(fold_name("loss"), "loss");
        assert_eq!(fold_name("status"), "status");
    }

    #[test]
    fn aliases_are_folded_already() {
        for column in Column::ALL {
            for alias in column.aliases() {
                assert_eq!(fold_name(alias), *alias, "alias of {column}");
            }
        }
    }

    #[test]
    fn names_round_trip() {
        for column in Column::ALL {
            assert_eq!(Column::from_name(column.name()), Some(*column));
        }
    }
}
