//! What a replay is of: checks before it starts, facts for its result, its files and its resumption.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::log::Survey;
use super::model::Policy;
use super::objective::{NAMES, build};
use super::result::{Model, Training};
use super::state::write;
use super::{OldPolicy, ReplaySettings};
use crate::analyze::texts::Tokenizer;
use crate::error::{Error, Result};
use crate::framework::rules::BASE_CLIP;
use crate::ingest::{Column, Run};

/// Refuses settings that do not go together or with this log.
pub fn check(run: &Run, settings: &ReplaySettings) -> Result<()> {
    let refuse = |message: String, hint: String| Err(Error::Usage { message, hint });
    let known = || format!("known are {}", NAMES.join(", "));
    if settings.objectives.is_empty() {
        return refuse("no --objective was given".into(), known());
    }
    for (place, name) in settings.objectives.iter().enumerate() {
        let Some(objective) = build(name, &settings.objective) else {
            return refuse(format!("--objective {name}: there is no such objective"), known());
        };
        if settings.objectives[..place].contains(name) {
            return refuse(format!("--objective {name} is given twice"), "name each objective once".into());
        }
        if objective.needs_teacher() {
            run.require(Column::LogprobRef)?;
        }
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

/// Fails where the log has ids that the model does not know.
pub fn require_vocabulary(survey: &Survey, policy: &Policy) -> Result<()> {
    let size = policy.config().vocab_size;
    if (survey.largest_id as usize) < size {
        return Ok(());
    }
    Err(Error::Usage {
        message: format!(
            "the log has token id {}, the model's vocabulary has {size} tokens",
            survey.largest_id
        ),
        hint: "give the checkpoint that the run was trained from (--model)".into(),
    })
}

/// Everything that the result depends on, one fact a line.
pub fn fingerprint(run: &Run, settings: &ReplaySettings) -> Result<String> {
    let files: Vec<_> =
        run.files.iter().map(|f| json!({ "path": f.context.path, "bytes": f.bytes })).collect();
    let facts = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "files": files,
        "model": settings.model.as_deref().map(folder_facts),
        "settings": settings,
    });
    serde_json::to_string_pretty(&facts).map_err(|e| Error::write(Path::new("fingerprint"), e))
}

/// Names and sizes of a checkpoint's files.
fn folder_facts(folder: &Path) -> BTreeMap<String, u64> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|e| Some((e.file_name().to_string_lossy().into_owned(), e.metadata().ok()?)))
        .filter(|(_, facts)| facts.is_file())
        .map(|(name, facts)| (name, facts.len()))
        .collect()
}

/// The tokenizer beside the model, else the one that the log names.
pub fn tokenizer(run: &Run, settings: &ReplaySettings) -> Result<Option<Tokenizer>> {
    let beside = settings.model.as_ref().map(|folder| folder.join("tokenizer.json")).filter(|p| p.is_file());
    match beside {
        Some(path) => Tokenizer::read(&path).map(Some),
        None => Tokenizer::find(run, None),
    }
}

/// Beside the token logs, so that they can name it.
pub fn copy_tokenizer(tokenizer: &Tokenizer, output: &Path) -> Result<()> {
    let target: PathBuf = output.join("tokenizer.json");
    let bytes = std::fs::read(tokenizer.path()).map_err(|e| Error::read(tokenizer.path(), e))?;
    write(&target, &bytes)
}

/// What every token log says of itself.
pub fn metadata(settings: &ReplaySettings, model: &Model) -> BTreeMap<String, String> {
    let (low, high) = settings.objective.clip.unwrap_or((BASE_CLIP.low, BASE_CLIP.high));
    let mut pairs = vec![
        ("framework", "stapo-analyze replay".to_owned()),
        ("vocab_size", model.vocab_size.to_string()),
        ("temperature", "1.0".into()),
        ("clip_low", low.to_string()),
        ("clip_high", high.to_string()),
        ("learning_rate", settings.optimizer.learning_rate.to_string()),
        ("grad_norm_kind", "logits".into()),
        ("policy", if model.surrogate { "surrogate fitted to the log" } else { "checkpoint" }.into()),
    ];
    if let Some(path) = &model.path {
        pairs.push(("model", path.clone()));
    }
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// How the arms are trained, for the result.
pub fn training(settings: &ReplaySettings, run: &Run) -> Training {
    let o = settings.optimizer;
    Training {
        minibatch: match settings.minibatch {
            None if run.has(Column::Update) => None,
            size => Some(size.unwrap_or(super::log::MINIBATCH)),
        },
        epochs: settings.epochs,
        learning_rate: o.learning_rate,
        betas: o.betas,
        eps: o.eps,
        weight_decay: o.weight_decay,
        warmup: o.warmup,
        max_grad_norm: o.max_grad_norm,
        kl_beta: settings.kl_beta,
        seeds: settings.seeds,
        shuffled: settings.shuffle,
        tau_p: settings.tau_p,
        old: settings.old.name().into(),
        drift_limit: settings.drift_limit,
        holdout: settings.holdout,
        device: settings.device.clone(),
    }
}
