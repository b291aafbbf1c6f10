//! A whole replay: survey, start, arms, result.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::arms::{Arms, Done};
use super::device::parse_device;
use super::estimate::estimate;
use super::fingerprint::fingerprint;
use super::holdout::Holdout;
use super::log::{Needs, Survey, Windows, survey};
use super::model::{AdapterSettings, Engine, EngineSettings, Policy, read_shape};
use super::outcome::Replayed;
use super::own_files::{KIND, left_before, own_logs, refuse_taken_names};
use super::preflight::{
    check, refuse_identical_seeds, require_memory, require_same_policy, require_surrogate_vocabulary,
    require_vocabulary,
};
use super::progress::ReplayProgress;
use super::provenance::{TOKENIZER, copy_tokenizer, learning_rate, metadata, tokenizer, training};
use super::settings::ReplaySettings;
use super::stage::Stage;
use super::state::State;
use super::surrogate::Fitting;
use super::{differences, summary, surrogate, verdict, warnings};
use stapo_base::error::Result;
use stapo_base::output::announce;
use stapo_batch::columns::Column;
use stapo_batch::progress::Silent;
use stapo_ingest::Run;
use stapo_ingest::training::of_training;
use stapo_result::replay::OldPolicy;
use stapo_result::replay::{
    Adapter, ArmResult, Model, PromptScores, RateSource, ReplayResult, ReplayVerdict, SCHEMA_VERSION,
};

/// Where a replay keeps its token logs and what it can be resumed from.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// The folder.
    pub folder: PathBuf,
    /// Go on with what is there, where it is of the same replay.
    pub resume: bool,
}

/// Replays a log. With a workspace, every arm leaves its token log there and a stopped replay can be
/// resumed; without one, nothing is written at all.
pub fn replay(
    run: &Run,
    settings: &ReplaySettings,
    workspace: Option<&Workspace>,
    progress: &dyn ReplayProgress,
) -> Result<Replayed> {
    let limit = settings.max_minutes.and_then(|m| Duration::try_from_secs_f64(m * 60.0).ok());
    let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
    // What is of evaluation is not trained on.
    let run = &*of_training(run)?;
    check(run, settings)?;
    let output = workspace.map(|w| w.folder.as_path());
    let tokenizer = tokenizer(run, settings)?;
    refuse_taken_names(run, settings, tokenizer.as_ref(), output)?;
    let mut survey = survey(run, settings, &Silent)?;
    if settings.model.is_none() {
        require_surrogate_vocabulary(run, &survey)?;
    }
    let (settings, rate_source) = resolved(run, settings, &survey);
    let settings = &settings;
    refuse_identical_seeds(&survey, settings)?;
    let needs = Needs {
        old: run.has(Column::Logprob) && settings.old != OldPolicy::Recompute,
        rollout: settings.objectives.iter().any(|rule| rule.needs_rollout()),
    };
    survey.data.incomplete_tokens = Windows::new(run, &survey, needs).incomplete_tokens()?;
    let survey = &survey;
    let state = match workspace {
        Some(w) => Some(State::open(&w.folder, &fingerprint(run, survey, settings)?, w.resume)?),
        None => None,
    };

    let gone = output.map(|folder| left_before(settings, folder)).unwrap_or_default();
    if !gone.is_empty() {
        let names: Vec<_> = gone.iter().map(|log| log.display().to_string()).collect();
        progress.say(&format!("of an earlier replay, removed at the end: {}", names.join(", ")));
    }
    output.map_or(Ok(()), |folder| announce(folder, KIND, &own_logs(settings)))?;
    let engine = engine(settings)?;
    let windows = Windows::new(run, survey, needs);
    let folder = state.as_ref().map(|s| s.place("surrogate"));
    let fitting = Fitting { engine: &engine, settings, folder: folder.as_deref(), deadline, progress };
    let (start, model) = starting_policy(run, survey, windows, &fitting)?;
    let windows = Windows::new(run, survey, needs);
    let holdout = Holdout::new(&windows.holdout()?, &engine, &start)?;
    let mut metadata = metadata(settings, &model);
    if let (Some(tokenizer), Some(output)) = (&tokenizer, output) {
        copy_tokenizer(tokenizer, output)?;
        metadata.insert("tokenizer".into(), TOKENIZER.into());
    }
    let mut stage = Stage::new(settings, survey, &engine, &start, &holdout, windows);
    let first = stage.step(0)?;
    // Who recomputes the old policy means to train another one.
    if let Some(folder) = settings.model.as_ref().filter(|_| settings.old != OldPolicy::Recompute) {
        require_same_policy(survey, folder, &first)?;
    }
    let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    progress.say(&estimate(&stage, output.is_some(), left));
    let text_ids = [Column::GroupId, Column::SampleId].into_iter().filter(|c| run.has_text_ids(*c)).collect();
    let arms = Arms {
        settings,
        survey,
        output,
        state: state.as_ref(),
        metadata,
        text_ids,
        tokenizer,
        deadline,
        progress,
    };
    let Done { records, timing, unfinished } = arms.run(&mut stage)?;

    let cases = records.iter().flat_map(|r| r.cases.clone()).collect();
    let prompts: Vec<PromptScores> = records.iter().flat_map(|r| r.prompts.clone()).collect();
    let arms: Vec<ArmResult> = records.into_iter().map(|r| r.result).collect();
    let summary = summary::summarise(&arms, settings);
    let differences = differences::differences(&arms, &prompts, &settings.objectives);
    let mut result = ReplayResult {
        schema_version: SCHEMA_VERSION,
        verdict: ReplayVerdict::default(),
        data: survey.data.clone(),
        model,
        training: training(settings, rate_source, run),
        start: holdout.at_start.clone(),
        arms,
        unfinished,
        summary,
        differences,
        prompts,
        cases,
        warnings: Vec::new(),
    };
    result.warnings = warnings::warnings(&result, run, settings, holdout.labels());
    result.verdict = verdict::verdict(&result);
    Ok(Replayed::new(result, timing, state))
}

/// The settings with what the log decides filled in, and where the learning rate is from.
fn resolved(run: &Run, settings: &ReplaySettings, survey: &Survey) -> (ReplaySettings, RateSource) {
    let mut settings = settings.clone();
    if settings.objective.constant_length == 0 {
        settings.objective.constant_length = survey.data.longest_response as usize;
    }
    let (rate, source) = learning_rate(run, settings.optimizer.learning_rate);
    settings.optimizer.learning_rate = Some(rate);
    (settings, source)
}

fn engine(settings: &ReplaySettings) -> Result<Engine> {
    let mut engine = EngineSettings::new(&parse_device(&settings.device)?);
    engine.gradient_checkpointing = settings.gradient_checkpointing;
    engine.half_products = settings.half_products;
    engine.tokens_per_microbatch = settings.tokens_per_microbatch;
    engine.memory = settings.device_memory;
    if settings.threads > 0 {
        engine.threads = settings.threads;
    }
    Engine::new(&engine)
}

/// The checkpoint, or a surrogate fitted to the log.
fn starting_policy(
    run: &Run,
    survey: &Survey,
    mut windows: Windows<'_>,
    fitting: &Fitting<'_>,
) -> Result<(Policy, Model)> {
    let settings = fitting.settings;
    let device = parse_device(&settings.device)?;
    let (start, fit) = match &settings.model {
        Some(folder) => {
            let shape = read_shape(folder)?;
            require_vocabulary(run, survey, folder, &shape)?;
            let lora = settings.adapter.as_ref().map(|adapter| adapter.lora(&shape)).transpose()?;
            require_memory(fitting.engine, &shape, lora.as_ref(), &settings.device)?;
            let policy = match &settings.adapter {
                Some(adapter) => Policy::load_with_adapter(folder, adapter, settings.half_products, &device)?,
                None => Policy::load(folder, &device)?,
            };
            (policy, None)
        }
        None => {
            let shape = surrogate::shape(survey.largest_id);
            require_memory(fitting.engine, &shape, None, &settings.device)?;
            let blank = Policy::random(shape, 1, &device);
            let (policy, fit) = surrogate::fitted(blank, survey, &mut windows, fitting)?;
            (policy, Some(fit))
        }
    };
    let model = Model {
        path: settings.model.as_ref().map(|m| m.display().to_string()),
        surrogate: fit.is_some(),
        parameters: start.parameter_count() as u64,
        adapter: adapter(settings, &start),
        vocab_size: start.config().vocab_size as u64,
        fit,
    };
    Ok((start, model))
}

/// What the result says of the adapter, where one is trained.
fn adapter(settings: &ReplaySettings, start: &Policy) -> Option<Adapter> {
    let path = match &settings.adapter {
        Some(AdapterSettings::Saved(folder)) => Some(folder.display().to_string()),
        _ => None,
    };
    start.lora().map(|lora| Adapter {
        path,
        rank: lora.rank as u64,
        alpha: lora.alpha,
        scale: lora.scale(),
        modules: lora.targets.iter().map(|target| target.name().to_owned()).collect(),
        parameters: start.trained_count() as u64,
    })
}
