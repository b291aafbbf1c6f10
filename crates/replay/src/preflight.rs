//! Checks before a replay starts: what cannot work is refused before anything is computed.

use std::path::Path;

use super::log::Survey;
use super::model::{Engine, Lora, MemoryPlan, ModelConfig};
use super::objective::{NAMES, build, can_dual_clip};
use super::settings::ReplaySettings;
use super::stage::StepData;
use stapo_base::error::{Error, Result};
use stapo_base::format::grouped;
use stapo_batch::columns::Column;
use stapo_framework::rules::Rule;
use stapo_ingest::Run;
use stapo_ingest::right::PassRule;
use stapo_result::replay::OldPolicy;

/// Refuses settings that do not go together or with this log.
pub fn check(run: &Run, settings: &ReplaySettings) -> Result<()> {
    let refuse = |message: String, hint: String| Err(Error::Usage { message, hint });
    let known = || format!("known are {}", NAMES.join(", "));
    if settings.objectives.is_empty() {
        return refuse("no --objective was given".into(), known());
    }
    for (place, rule) in settings.objectives.iter().enumerate() {
        if !Rule::OBJECTIVES.contains(rule) {
            return refuse(format!("--objective {rule}: there is no such objective"), known());
        }
        if rule.needs_rollout() && !run.has(Column::LogprobRollout) {
            return refuse(
                format!("--objective {rule} needs the sampler's own log-probabilities, which this log lacks"),
                "log `logprob_rollout`: what the sampler (vLLM, SGLang) returned for each token it drew"
                    .into(),
            );
        }
        let Some(objective) = build(*rule, &settings.objective) else {
            let base = settings.objective.base;
            return refuse(
                format!("--objective {rule} cannot be put on --base {base}"),
                format!("give a base with a clipped surrogate: {}", bases_for_dual_clip().join(", ")),
            );
        };
        if settings.objectives[..place].contains(rule) {
            return refuse(format!("--objective {rule} is given twice"), "name each objective once".into());
        }
        if objective.gate().is_some() && settings.adapter.is_some() {
            return refuse(
                format!("--objective {rule} needs the gradient of lm_head, which an adapter leaves as it is"),
                "leave it out, or train the whole model (without --lora and --adapter)".into(),
            );
        }
        if objective.needs_teacher() {
            run.require(Column::LogprobRef)?;
        }
    }
    if settings.adapter.is_some() && settings.model.is_none() {
        return refuse(
            "--lora and --adapter need a checkpoint: a surrogate is small enough to be trained as it is"
                .into(),
            "give the checkpoint that the run started from (--model DIR)".into(),
        );
    }
    if let Some(condition) = &settings.pass {
        PassRule::new(run, condition)?;
    }
    if settings.old == OldPolicy::Log {
        run.require(Column::Logprob)?;
    }
    if settings.seeds == 0 || settings.epochs == 0 || settings.minibatch == Some(0) {
        return refuse(
            "--seeds, --epochs and --minibatch have to be at least 1".into(),
            "leave them out for the defaults".into(),
        );
    }
    Ok(())
}

fn bases_for_dual_clip() -> Vec<&'static str> {
    Rule::OBJECTIVES.into_iter().filter(|rule| can_dual_clip(*rule)).map(Rule::name).collect()
}

/// Fails where log and checkpoint have other vocabularies: ids that the model does not know, or a size that is not
/// the model's. Before any weight is loaded.
pub fn require_vocabulary(run: &Run, survey: &Survey, folder: &Path, config: &ModelConfig) -> Result<()> {
    let size = config.vocab_size;
    let logged = logged_vocabulary(run).filter(|logged| logged.abs_diff(size) > ADDED_TOKENS as usize);
    let log = if (survey.largest_id as usize) >= size {
        format!("the log has token id {}", survey.largest_id)
    } else if let Some(logged) = logged {
        format!("the log's vocabulary has {} tokens (`vocab_size`)", grouped(logged as u64))
    } else {
        return Ok(());
    };
    Err(Error::Usage {
        message: format!(
            "{} and {} do not belong together: {log}, the checkpoint's vocabulary has {} tokens",
            survey.data.name(),
            folder.display(),
            grouped(size as u64)
        ),
        hint: "give the checkpoint that this run was trained from, with its own tokenizer (--model)".into(),
    })
}

fn logged_vocabulary(run: &Run) -> Option<usize> {
    run.metadata.get("vocab_size").and_then(|size| size.trim().parse().ok())
}

/// Mean |ln ρ| before any update beyond which a checkpoint did not write the log: a factor of e a token. Runs and
/// checkpoints that belong together differ by rounding, or by some steps of training (below 0.1).
const OTHER_POLICY: f64 = 1.0;
/// A single token counts for no more.
const LARGEST_GAP: f64 = 10.0;

/// Fails where the checkpoint's probabilities of the log's first step are another policy's, or another tokenizer's whose
/// ids happen to fit.
pub fn require_same_policy(survey: &Survey, folder: &Path, first: &StepData) -> Result<()> {
    let tokens = first.responses.iter().zip(first.start.iter()).flat_map(|(response, start)| {
        response
            .old
            .iter()
            .zip(start)
            .zip(&response.trained)
            .filter(|(_, trained)| **trained)
            .map(|(of, _)| of)
    });
    let (mut sum, mut count) = (0.0, 0.0);
    for (old, start) in tokens {
        let gap = f64::from((old - start).abs());
        if !gap.is_nan() {
            sum += gap.min(LARGEST_GAP);
            count += 1.0;
        }
    }
    let gap = sum / f64::max(count, 1.0);
    if gap <= OTHER_POLICY {
        return Ok(());
    }
    Err(Error::Usage {
        message: format!(
            "{} and {} do not belong together: before any update, probabilities of the logged tokens differ by a factor of {:.1} on average",
            survey.data.name(),
            folder.display(),
            gap.exp()
        ),
        hint: "give the checkpoint that wrote the first step of this log, with its own tokenizer (--model); --old recompute trains another one on these answers all the same".into(),
    })
}

/// The largest vocabulary that a surrogate is made for: twice that of any model in use. Each further token
/// would take memory and time, and would stand for nothing.
const LARGEST_SURROGATE: u32 = 1 << 19;
/// Tokenizers are often counted without their added tokens: ids this far above a vocabulary are taken for such.
const ADDED_TOKENS: u32 = 1_024;

/// Without a checkpoint the vocabulary is as large as the ids of the log: fails where one of them is far
/// above the vocabulary that the log names, or above any.
pub fn require_surrogate_vocabulary(run: &Run, survey: &Survey) -> Result<()> {
    let logged = run.metadata.get("vocab_size").and_then(|size| size.trim().parse::<u32>().ok());
    let id = survey.largest_id;
    let above = match logged {
        Some(size) if id >= size.saturating_add(size.max(ADDED_TOKENS)) => {
            format!("the log's own vocabulary has {} tokens (`vocab_size`)", grouped(size.into()))
        }
        _ if id >= LARGEST_SURROGATE => {
            format!("a surrogate policy has at most {} tokens", grouped(LARGEST_SURROGATE.into()))
        }
        _ => return Ok(()),
    };
    Err(Error::Usage {
        message: format!("the log has token id {id}, {above}"),
        hint: "look for ids that the tokenizer does not have (`stapo-analyze check`), or give the checkpoint that the run was trained from (--model)".into(),
    })
}

/// Share of a device's memory that can be planned with; the rest is the driver's and the allocator's.
const USABLE: f64 = 0.9;

/// Rank that is recommended where a model does not fit.
const SMALL_RANK: usize = 16;

/// Refuses a model that cannot be trained in the device's memory, before any of it is loaded.
pub fn require_memory(
    engine: &Engine,
    config: &ModelConfig,
    lora: Option<&Lora>,
    device: &str,
) -> Result<()> {
    // Whatever the log is, one response has to go through.
    let plan = engine.memory_plan(config, lora, 0);
    let Some(memory) = plan.device else { return Ok(()) };
    let usable = (memory as f64 * USABLE) as u64;
    let fits = |plan: &MemoryPlan| plan.total() <= usable;
    if fits(&plan) {
        return Ok(());
    }
    let each = plan.standing() as f64 / plan.model as f64;
    let small = Lora::on_all(SMALL_RANK, 2.0 * SMALL_RANK as f64);
    let adapter = match lora.is_none() && fits(&engine.memory_plan(config, Some(&small), 0)) {
        true => format!("train an adapter of it (--lora {SMALL_RANK}); "),
        false => String::new(),
    };
    let fitting = usable.saturating_sub(plan.activations) as f64 / each / 1e9;
    Err(Error::Usage {
        message: format!(
            "the model does not fit: it takes {} to train {}{:.1} billion parameters on {device}",
            plan.told(0),
            if lora.is_some() { "an adapter of " } else { "" },
            plan.model as f64 / 1e9,
        ),
        hint: format!(
            "{adapter}up to {fitting:.1} billion parameters fit there (`stapo-analyze devices` lists others), or use --device cpu"
        ),
    })
}

/// Refuses seeds that would give the same numbers: a seed orders the mini-batches of a step, so where
/// that order is fixed or a step is one mini-batch, an objective without random choices repeats itself.
pub fn refuse_identical_seeds(survey: &Survey, settings: &ReplaySettings) -> Result<()> {
    let single = survey.steps.iter().all(|step| step.minibatches <= 1);
    if settings.seeds < 2 || (settings.shuffle && !single) {
        return Ok(());
    }
    let is_random = |rule: &Rule| build(*rule, &settings.objective).is_some_and(|o| o.is_random());
    let same: Vec<&str> =
        settings.objectives.iter().filter(|rule| !is_random(rule)).map(|rule| rule.name()).collect();
    if same.is_empty() {
        return Ok(());
    }
    let (why, way_out) = match single {
        true => ("every step is one mini-batch", "give a smaller --minibatch"),
        false => ("--no-shuffle fixes the order of mini-batches", "leave --no-shuffle out"),
    };
    Err(Error::Usage {
        message: format!(
            "--seeds {}: {why}, so {} would give the same numbers with every seed",
            settings.seeds,
            same.join(", ")
        ),
        hint: format!("{way_out}, or leave --seeds out"),
    })
}
