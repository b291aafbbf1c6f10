//! What to change so that a framework logs per-token columns.

use super::Dialect;

/// How to log the missing columns, for frameworks whose own logs hold texts and scalars only.
pub(super) const fn how_to_log(dialect: Dialect) -> Option<&'static str> {
    Some(match dialect {
        Dialect::TrlText => {
            "subclass GRPOTrainer: keep the result of _get_per_token_logps_and_entropies and write it in _compute_loss with completion_ids, completion_mask, old_per_token_logps and advantages as list columns, one Parquet a step (not with use_liger_kernel or unsloth)"
        }
        Dialect::VerlText => {
            "override _log_rollout_data of the trainer: V1 adds response_mask, old_log_probs, rollout_log_probs, entropy and advantages to its `fields`; V0 keeps `entropys` from _compute_old_log_prob (fit() drops it) and writes the same tensors of batch.batch as lists"
        }
        Dialect::SwiftText => {
            "its `entropy` and `advantages` are one value a completion: subclass GRPOTrainer as for TRL, keep the per-token log-probabilities and entropies of the loss and write them with completion_ids and completion_mask as list columns"
        }
        Dialect::ARealText => {
            "write logprobs, entropy and input_data (input_ids, loss_mask, advantages, prox_logp) in grpo_loss_fn of areal/trainer/ppo/actor.py as list columns; there values are rolled by one (--align shifted)"
        }
        Dialect::RollDumpText => {
            "set save_logging_board_dir: ROLL then writes per-token log-probabilities and entropies as JSONL, which is read directly"
        }
        Dialect::ArtText => {
            "ART strips log-probabilities when it writes trajectories: log token ids and log-probabilities in the backend's loss, as list columns"
        }
        Dialect::PrimePlatformText => {
            "read the run's own files instead: rollouts/step_*/train/*/traces.jsonl, or token_exports/ with trainer.enable_token_export = true"
        }
        Dialect::RllmText => {
            "rLLM's Step has prompt_ids, response_ids and logprobs but the episode log leaves them out: write them as lists beside the reward, with old_log_probs and entropy of the training backend"
        }
        Dialect::SkyRlText => {
            "set trainer.dump_data_batch=true and convert the dump: python examples/convert/skyrl_to_parquet.py FILE… -o out.parquet"
        }
        Dialect::TinkerText => {
            "turn on the capture store of the cookbook: its sample.jsonl has prompt_tokens, sampled_tokens and logprobs and is read directly"
        }
        Dialect::VerifiersText => {
            "save the `trajectory` state column (legacy results.jsonl), or read the traces.jsonl of verifiers v1: both carry token ids and log-probabilities"
        }
        Dialect::OpenAiText | Dialect::SglangText => {
            "an inference server knows one side only: write token ids, its log-probabilities (logprob_rollout) and the trainer's logprob, entropy and advantage as list columns, one row a response"
        }
        _ => return None,
    })
}
