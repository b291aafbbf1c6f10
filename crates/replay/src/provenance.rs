//! Where a replay comes from: what its result and its token logs say of themselves.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::log::MINIBATCH;
use super::settings::{DEFAULT_RATE, ReplaySettings};
use super::state::write;
use stapo_base::error::{Error, Result};
use stapo_batch::columns::Column;
use stapo_framework::rules::BASE_CLIP;
use stapo_ingest::Run;
use stapo_ingest::texts::Tokenizer;
use stapo_result::replay::{Model, RateSource, Training};

/// The name of the tokenizer beside token logs and models.
pub const TOKENIZER: &str = "tokenizer.json";

/// The tokenizer beside the model, else the one that the log names.
pub fn tokenizer(run: &Run, settings: &ReplaySettings) -> Result<Option<Tokenizer>> {
    let beside = settings.model.as_ref().map(|folder| folder.join(TOKENIZER)).filter(|p| p.is_file());
    match beside {
        Some(path) => Tokenizer::read(&path).map(Some),
        None => Tokenizer::find(run, None),
    }
}

/// Beside the token logs, so that they can name it.
pub fn copy_tokenizer(tokenizer: &Tokenizer, output: &Path) -> Result<()> {
    let target: PathBuf = output.join(TOKENIZER);
    let bytes = std::fs::read(tokenizer.path()).map_err(|e| Error::read(tokenizer.path(), e))?;
    if std::fs::read(&target).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
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
        ("learning_rate", settings.optimizer.rate().to_string()),
        ("grad_norm_kind", "logits".into()),
        ("policy", if model.surrogate { "surrogate fitted to the log" } else { "checkpoint" }.into()),
    ];
    if let Some(path) = &model.path {
        pairs.push(("model", path.clone()));
    }
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// How the arms are trained, for the result.
pub fn training(settings: &ReplaySettings, rate_source: RateSource, run: &Run) -> Training {
    let o = settings.optimizer;
    Training {
        minibatch: match settings.minibatch {
            None if run.has(Column::Update) => None,
            size => Some(size.unwrap_or(MINIBATCH)),
        },
        epochs: settings.epochs,
        learning_rate: o.rate(),
        learning_rate_source: rate_source,
        betas: o.betas,
        eps: o.eps,
        weight_decay: o.weight_decay,
        warmup: o.warmup,
        max_grad_norm: o.max_grad_norm,
        kl_beta: settings.kl_beta,
        seeds: settings.seeds,
        shuffled: settings.shuffle,
        tau_p: settings.objective.s2t.tau_p,
        old: settings.old,
        drift_limit: settings.drift_limit,
        holdout: settings.holdout,
        device: settings.device.clone(),
    }
}

/// The learning rate that the log says it was trained at.
pub fn logged_rate(run: &Run) -> Option<f64> {
    let text = run.metadata.get("learning_rate")?;
    text.trim().parse::<f64>().ok().filter(|rate| rate.is_finite() && *rate > 0.0)
}

/// The user's learning rate, else the log's, else the default.
pub fn learning_rate(run: &Run, given: Option<f64>) -> (f64, RateSource) {
    match (given, logged_rate(run)) {
        (Some(rate), _) => (rate, RateSource::Option),
        (None, Some(rate)) => (rate, RateSource::Log),
        (None, None) => (DEFAULT_RATE, RateSource::Default),
    }
}
