//! What to change so that a framework logs per-token columns.

use super::Dialect;

/// For a log of no framework that is known.
pub(super) const ANY_TRAINER: &str = "log tokens with stapo_analyze.TokenLog of our Python package (examples/python/any_trainer.py), in the trainer's loss";

/// How to log the missing columns, for frameworks whose own logs hold texts and scalars only.
pub(super) const fn how_to_log(dialect: Dialect) -> Option<&'static str> {
    Some(match dialect {
        Dialect::TrlText => {
            "log tokens with the mixin of our Python package: from stapo_analyze.trl import TokenLogMixin; class Trainer(TokenLogMixin, GRPOTrainer) (not with use_liger_kernel or unsloth); see examples/python/README.md"
        }
        Dialect::VerlText => {
            "log tokens with our Python package (stapo_analyze.verl, see examples/python/README.md): it writes response_mask, old_log_probs, rollout_log_probs, entropy and advantages, which verl computes and drops"
        }
        Dialect::SwiftText => {
            "its `entropy` and `advantages` are one value a completion: log tokens with stapo_analyze.TokenLog of our Python package (examples/python/any_trainer.py), in the trainer's loss"
        }
        Dialect::ARealText => {
            "log tokens with stapo_analyze.TokenLog of our Python package (examples/python/any_trainer.py) in grpo_loss_fn of areal/trainer/ppo/actor.py: logprobs, entropy and input_data are there, rolled by one (--align shifted)"
        }
        Dialect::RollDumpText => {
            "set save_logging_board_dir: ROLL then writes per-token log-probabilities and entropies as JSONL, which is read directly"
        }
        Dialect::ArtText => {
            "ART strips log-probabilities when it writes trajectories: log tokens with stapo_analyze.TokenLog of our Python package (examples/python/any_trainer.py) in the backend's loss"
        }
        Dialect::PrimePlatformText => {
            "read the run's own files instead: rollouts/step_*/train/*/traces.jsonl, or token_exports/ with trainer.enable_token_export = true"
        }
        Dialect::RllmText => {
            "rLLM's Step has prompt_ids, response_ids and logprobs but the episode log leaves them out: log tokens with stapo_analyze.TokenLog of our Python package (examples/python/any_trainer.py) in the training backend"
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
            "an inference server knows one side only: log tokens in the trainer, with stapo_analyze.TokenLog of our Python package (examples/python/any_trainer.py)"
        }
        _ => return None,
    })
}
