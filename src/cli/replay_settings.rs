//! Raw arguments of a replay become its settings.

use crate::cli::args::{OldArg, RandomFromArg, ReplayArgs};
use stapo_framework::s2t::{EntropyCut, S2tSettings};
use stapo_replay::objective::{ObjectiveSettings, RandomFrom};
use stapo_replay::{AdapterSettings, OptimizerSettings, ReplaySettings};
use stapo_result::replay::OldPolicy;

/// Resolves how to train.
pub fn replay(arguments: &ReplayArgs) -> ReplaySettings {
    let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let s2t = S2tSettings {
        tau_p: arguments.tau_p,
        entropy: EntropyCut::Quantile(arguments.entropy_quantile),
        ..S2tSettings::v5()
    };
    ReplaySettings {
        objectives: arguments.objective.clone(),
        objective: ObjectiveSettings {
            s2t,
            clip: arguments.clip_low.zip(arguments.clip_high),
            base: arguments.base,
            dual_clip: arguments.dual_clip,
            ratio_cap: arguments.ratio_cap,
            tis_cap: arguments.tis_cap,
            icepop_bounds: arguments.icepop_bounds.0,
            mis_bounds: arguments.mis_bounds.0,
            geometric_bounds: arguments.geometric_bounds.0,
            stare_target: arguments.stare_target,
            random_from: match arguments.random_from {
                RandomFromArg::All => RandomFrom::All,
                RandomFromArg::Positive => RandomFrom::Positive,
                RandomFromArg::Candidates => RandomFrom::Candidates,
            },
            constant_length: arguments.constant_length.map_or(0, size),
        },
        model: arguments.model.clone(),
        adapter: adapter(arguments),
        device: arguments.device.clone(),
        tokens_per_microbatch: arguments.tokens_per_microbatch.map(size),
        gradient_checkpointing: arguments.gradient_checkpointing,
        half_products: arguments.bf16,
        device_memory: arguments.device_memory,
        threads: arguments.input.reading.threads,
        responses: arguments.responses,
        steps: arguments.steps,
        minibatch: arguments.minibatch,
        epochs: arguments.epochs,
        optimizer: OptimizerSettings {
            learning_rate: arguments.lr,
            betas: arguments.betas.0,
            eps: arguments.eps,
            weight_decay: arguments.weight_decay,
            warmup: arguments.warmup,
            max_grad_norm: arguments.max_grad_norm,
        },
        kl_beta: arguments.kl_beta,
        seeds: arguments.seeds,
        shuffle: !arguments.no_shuffle,
        holdout: arguments.holdout,
        old: match arguments.old {
            OldArg::Log => OldPolicy::Log,
            OldArg::Recompute => OldPolicy::Recompute,
            OldArg::Auto => OldPolicy::Auto,
        },
        drift_limit: arguments.drift_limit,
        surrogate_updates: arguments.surrogate_updates,
        explain: arguments.explain,
        checkpoint_seconds: arguments.checkpoint_seconds,
        save: arguments.save.clone(),
        max_minutes: arguments.max_minutes,
        pass: arguments.pass.clone(),
        ..ReplaySettings::default()
    }
}

/// The adapter that is asked for: twice the rank is the alpha that TRL and most recipes take, and keeps its
/// part's size whatever the rank.
fn adapter(arguments: &ReplayArgs) -> Option<AdapterSettings> {
    let new = |rank: u64| AdapterSettings::New {
        rank: usize::try_from(rank).unwrap_or(usize::MAX),
        alpha: arguments.lora_alpha.unwrap_or(2.0 * rank as f64),
    };
    arguments.lora.map(new).or_else(|| arguments.adapter.clone().map(AdapterSettings::Saved))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::args::{Cli, Command};
    use stapo_framework::rules::Rule;

    /// What the user does not say is what the library does by itself.
    #[test]
    fn bare_arguments_are_the_defaults_of_the_library() {
        let cli = Cli::try_parse_from(["stapo-analyze", "replay", "run.parquet", "--report", "out"]).unwrap();
        let Some(Command::Replay(replayed)) = cli.command else { panic!() };
        let own = ReplaySettings {
            // The library has none by itself.
            objectives: vec![Rule::Dapo, Rule::Stapo, Rule::Random],
            // 0 stands for the longest response of the log.
            objective: ObjectiveSettings { constant_length: 0, ..ObjectiveSettings::default() },
            ..ReplaySettings::default()
        };
        assert_eq!(replay(&replayed), own);
    }
}
