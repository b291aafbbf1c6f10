//! The table of names: one row a number of the training.

use super::CanonicalName;
use super::CanonicalName as N;

/// Where a name begins that is of held-out prompts.
pub(super) const HELD_OUT: &str = "(eval|val|valid|validation|test|held_?out)";

/// A row of the table: patterns of whole names in order of preference, and what such a name must not hold.
pub(super) type Row = (CanonicalName, &'static str, &'static str);

/// The first row that matches a name claims it. Names are lower case, `/ . - @` and blanks are `_`, a leading `train_`,
/// `global_` or `metrics_` is gone.
pub(super) const TABLE: &[Row] = &[
    (
        N::Step,
        "(training_|train_)?global_step step iteration iter update progress_step progress_batch batch episode _step \
         step_max_steps grpo_step rollout_step optimi[sz]er_step steps episodes",
        "",
    ),
    (N::Epoch, "epochs? training_epoch", ""),
    (
        N::Ignored,
        ".*(timing|perf_|throughput|per_second|runtime|memory|num_tokens|progress|epoch|seqlen|timestamp|prompt_length|advantage|returns|values).* \
         .*(vf_|non_aborted|n_groups|num_(rubrics|passed)|turns_per|ob_tokens|total_(tokens|episodes|turns|flos)).* \
         (.*_)?(time|seconds)(_.*)? best_.* critic_(lr|grad_norm|loss)",
        "",
    ),
    (
        N::HeldOut,
        "{held_out}(_.*)?",
        "loss|length|kl$|entropy|_std|clip|zero|frac|tokens|n_scored|num_|count|call|error|max$|min$|best|maj|turns|lccp|format|seconds|time|temperature|size|top_p|stop",
    ),
    (N::Ignored, "{held_out}_.*", ""),
    // `clip_ratio` is not truncation but PPO's clip fraction.
    (
        N::Truncated,
        "completions_clipped_ratio response_length_clip_ratio clipped_ratio .*trunc.*(ratio|rate|frac|share|mean) .*overlong_(ratio|rate|frac) \
         (is|rollout)_truncated(_mean)? length_cap_hit_rate",
        "",
    ),
    // TRL's objective/kl is a sum over tokens.
    (
        N::Ignored,
        ".*(clip_ratio|clipfrac|clip_frac).*(_min|_max|lower|low_mean|high_mean) .*aborted.* objective_kl",
        "",
    ),
    (
        N::ClipFraction,
        "(actor_)?pg_clipfrac clip_ratio_region_mean clip_ratio(_mean)? (policy_|optim_|ppo_)?clip_?frac(tion)?(_mean)? \
         (policy_|actor_)clip_?frac ppo_actor_(update_)?clip_ratio policy_ppo_clip_ratio",
        "",
    ),
    (
        N::DeadGroups,
        "frac_reward_zero_std (frac_)?zero_std(_frac|_ratio|_share)? .*by_group_frac_(all_good|all_bad) \
         group_reward_all_zero_rate .*(zero_(std|var|variance|adv)|dead_group|skipped_group)s?(_frac|_ratio|_share)",
        "",
    ),
    (
        N::Kl,
        "kl (actor_|policy_|ref_|critic_|exact_)?kl(_div|_divergence|_ref)?(_mean)? reference_kl (actor|policy)_policy_?kl (actor_)?kl_loss actor_reward_kl_penalty kl_penalty",
        "",
    ),
    (N::KlStep, "(actor_)?ppo_kl (policy_|actor_)?approx_?kl", ""),
    (N::KlGap, ".*kl_sample_train_v1 .*(mismatch|rollout|sampler)_kl", ""),
    (
        N::Entropy,
        "(actor_|policy_|optim_|token_|approx_|objective_|critic_)?entropy(_mean)? policy_policy_entropy ppo_actor_update_entropy (actor_)?entropy_loss",
        "",
    ),
    (
        N::Length,
        "completions_mean_length completion_len(gth)?(_mean)? response_len(gth)?(_mean)? (.*_)?seq_len(gth)?_mean \
         (mean|avg|average)_(response_|completion_|gen_)?len(gth)? env_all_ac_tokens_per_turn (gen|output)_len(gth)?(_mean)? length seq(uence)?_len(gth)? \
         response_(token_)?len(gth)?s? token_response_length(_mean)? (mean_|avg_)?gen_tokens(_per_sample)? generate_avg_num_tokens",
        "",
    ),
    (N::Ignored, ".*_(length|len)(_.*)?", "^(rewards?_|response_length_|completion_length_)"),
    (
        N::GradNorm,
        "(actor_|optim_|policy_)?grad(ient)?_norm (actor_train|policy_raw|ppo_actor_update|skyrl_ai)_grad_norm grad",
        "",
    ),
    (N::LearningRate, "(actor_|optim_)?(lr|learning_rate)", ""),
    (N::RewardMax, "critic_score_max critic_rewards_max reward_max", ""),
    (N::RewardMin, "critic_score_min critic_rewards_min reward_min", ""),
    (N::RewardStd, "reward_std(_mean)? std_reward rewards_std", ""),
    (
        N::Reward,
        "reward critic_score_mean reward_mean mean_reward avg_reward average_reward critic_rewards_mean episode_reward_mean \
         env_all_reward_total (total_)?reward(_total)? rewards_mean objective_scores scores?(_mean)? mean_return rewards \
         episode_(rewards?|returns?) \
         ((raw|total|task|avg|mean|env|episode|rollout|ppo|actor|final|overall|selected|objective|rlhf|reward)_)*rewards?(_(raw|total|mean|avg|overall|selected))*",
        "",
    ),
    (N::Ignored, ".*_(std|max|min|var|count) q_.*", ""),
    (N::Loss, "(actor_)?(pg_|policy_)loss actor_loss (policy_)?loss(es)?", ""),
    (
        N::Part,
        "rewards_.+ reward_.+ pass_?(at_)?[0-9]+ \
         (.*_)?(accurac(y|ies)|acc|pass_rate|success_rate|correct(ness)?|exact_match|format|solve_rate|match_rate|reward|success)(_raw|_mean|_rate|_reward)* \
         (.*_)?(ndcg|recall|f1|mrr|bleu|rouge_?[12l]?|hit_rate|hits)(_(at_)?[0-9]+)?(_mean|_score)*",
        "",
    ),
];
