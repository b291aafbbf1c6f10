//! A whole replay: survey, start, arms, result.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use serde::Serialize;
use serde_json::json;

use super::arm::{Arm, Files, file_stem};
use super::device::parse_device;
use super::explain::Explainer;
use super::facts::{check, copy_tokenizer, fingerprint, metadata, require_vocabulary, tokenizer, training};
use super::holdout::Holdout;
use super::log::{Survey, Windows, survey};
use super::model::{Engine, EngineSettings, Policy};
use super::result::{ArmResult, Model, ReplayResult, SCHEMA_VERSION, Verdict};
use super::stage::Stage;
use super::state::{ArmRecord, State, write};
use super::token_log::TokenLog;
use super::update::UpdateSpeed;
use super::{OldPolicy, ReplayProgress, ReplaySettings, summary, surrogate, verdict, warnings};
use crate::analyze::texts::Tokenizer;
use crate::error::{Error, Result};
use crate::ingest::{Column, Run, Silent};

/// What a replay leaves.
#[derive(Debug)]
pub struct Replayed {
    /// The result; also in `replay.json`.
    pub result: ReplayResult,
    /// How fast each arm was; also in `timing.json`.
    pub timing: Vec<ArmTiming>,
}

/// How fast an arm was. Not part of the result: another start gives other numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArmTiming {
    /// Name of the objective.
    pub objective: String,
    /// The seed.
    pub seed: u64,
    /// Seconds of this start.
    pub seconds: f64,
    /// Trained tokens over all updates (of earlier starts as well).
    pub tokens: u64,
    /// Tokens a second, with all measurements; `None` where an earlier start did a part.
    pub tokens_per_second: Option<f64>,
    /// The updates alone.
    pub updates: Vec<UpdateSpeed>,
}

/// Replays a log and writes `replay.json`, `timing.json` and the arms' token logs into `output`.
pub fn replay(
    run: &Run,
    settings: &ReplaySettings,
    output: &Path,
    resume: bool,
    progress: &dyn ReplayProgress,
) -> Result<Replayed> {
    check(run, settings)?;
    std::fs::create_dir_all(output).map_err(|e| Error::write(output, e))?;
    let mut survey = survey(run, settings, &Silent)?;
    let mut settings = settings.clone();
    if settings.objective.constant_length == 0 {
        settings.objective.constant_length = survey.data.longest_response as usize;
    }
    let settings = &settings;
    let needs_old = run.has(Column::Logprob) && settings.old != OldPolicy::Recompute;
    survey.data.incomplete_tokens = Windows::new(run, &survey, needs_old).incomplete_tokens()?;
    let survey = &survey;
    let state = State::open(output, &fingerprint(run, settings)?, resume)?;

    let device = parse_device(&settings.device)?;
    let mut engine = EngineSettings::new(&device);
    engine.gradient_checkpointing = settings.gradient_checkpointing;
    engine.half_products = settings.half_products;
    if let Some(tokens) = settings.tokens_per_microbatch {
        engine.tokens_per_microbatch = tokens;
    }
    if settings.threads > 0 {
        engine.threads = settings.threads;
    }
    let engine = Engine::new(&engine)?;
    let (start, fit) = match &settings.model {
        Some(folder) => (Policy::load(folder, &device)?, None),
        None => {
            let blank = Policy::random(surrogate::shape(survey.largest_id), 1, &device);
            let mut windows = Windows::new(run, survey, needs_old);
            let place = state.place("surrogate");
            let (policy, fit) =
                surrogate::fitted(&place, blank, &engine, survey, &mut windows, settings, progress)?;
            (policy, Some(fit))
        }
    };
    require_vocabulary(survey, &start)?;
    let model = Model {
        path: settings.model.as_ref().map(|m| m.display().to_string()),
        surrogate: fit.is_some(),
        parameters: start.parameter_count() as u64,
        vocab_size: start.config().vocab_size as u64,
        fit,
    };
    let windows = Windows::new(run, survey, needs_old);
    let holdout = Holdout::new(&windows.holdout()?, &engine, &start)?;
    let tokenizer = tokenizer(run, settings)?;
    let mut metadata = metadata(settings, &model);
    if let Some(tokenizer) = &tokenizer {
        copy_tokenizer(tokenizer, output)?;
        metadata.insert("tokenizer".into(), "tokenizer.json".into());
    }
    let mut stage = Stage::new(settings, survey, &engine, &start, &holdout, windows);
    let arms = Arms { settings, survey, output, state: &state, metadata, tokenizer, progress };
    let (records, timing) = arms.run(&mut stage)?;

    let cases = records.iter().flat_map(|r| r.cases.clone()).collect();
    let arms: Vec<ArmResult> = records.into_iter().map(|r| r.result).collect();
    let summary = summary::summarise(&arms, settings);
    let differences = summary::differences(&arms, settings);
    let mut result = ReplayResult {
        schema_version: SCHEMA_VERSION,
        verdict: Verdict::default(),
        data: survey.data.clone(),
        model,
        training: training(settings, run),
        start: holdout.at_start.clone(),
        arms,
        summary,
        differences,
        cases,
        warnings: Vec::new(),
    };
    result.warnings = warnings::warnings(&result, run, settings, holdout.labels());
    result.verdict = verdict::verdict(&result);
    write_json(&output.join("replay.json"), &result)?;
    write_json(&output.join("timing.json"), &json!({ "arms": timing }))?;
    state.remove()?;
    Ok(Replayed { result, timing })
}

/// All arms, one after another.
struct Arms<'a> {
    settings: &'a ReplaySettings,
    survey: &'a Survey,
    output: &'a Path,
    state: &'a State,
    metadata: BTreeMap<String, String>,
    tokenizer: Option<Tokenizer>,
    progress: &'a dyn ReplayProgress,
}

impl Arms<'_> {
    fn run(&self, stage: &mut Stage<'_>) -> Result<(Vec<ArmRecord>, Vec<ArmTiming>)> {
        let names = &self.settings.objectives;
        let tokens: u64 = self.survey.steps.iter().map(|s| s.tokens).sum();
        let arms = names.len() as u64 * self.settings.seeds;
        self.progress.ahead(tokens * self.settings.epochs * arms);
        let mut records = Vec::new();
        let mut timing = Vec::new();
        for name in names {
            for seed in 1..=self.settings.seeds {
                let (record, time) = self.one(stage, name, seed)?;
                records.push(record);
                timing.push(time);
            }
        }
        Ok((records, timing))
    }

    fn one(&self, stage: &mut Stage<'_>, name: &str, seed: u64) -> Result<(ArmRecord, ArmTiming)> {
        let stem = file_stem(name, seed);
        self.progress.arm(&stem);
        let explains = self.settings.explain && seed == 1 && self.explained() == Some(name);
        let explainer = explains.then(|| {
            Explainer::new(self.settings.objective.s2t, self.tokenizer.clone(), self.survey.steps.len())
        });
        let arm = Arm::new(name, seed, self.settings, explainer)?;
        let state = self.state.arm(&stem);
        let mut metadata = self.metadata.clone();
        metadata.insert("algorithm".into(), name.into());
        metadata.insert("seed".into(), seed.to_string());
        let files = Files {
            tokens: TokenLog::new(state.tokens(), metadata),
            target: &self.output.join(format!("{stem}.parquet")),
            save: self.settings.save.as_ref().map(|folder| folder.join(&stem)),
            state,
        };
        let begun = Instant::now();
        let (record, speeds) = arm.run(stage, files, self.progress)?;
        let seconds = begun.elapsed().as_secs_f64();
        let tokens: u64 = record.result.updates.iter().map(|u| u.tokens).sum();
        let timing = ArmTiming {
            objective: name.into(),
            seed,
            seconds,
            tokens,
            tokens_per_second: speeds.is_some().then(|| tokens as f64 / seconds.max(1e-9)),
            updates: speeds.unwrap_or_default(),
        };
        Ok((record, timing))
    }

    /// The arm whose flagged tokens are explained: S2T's own, else the first.
    fn explained(&self) -> Option<&str> {
        let names = &self.settings.objectives;
        names.iter().find(|n| *n == "stapo").or(names.first()).map(String::as_str)
    }
}

fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<()> {
    let text = serde_json::to_string_pretty(value).map_err(|e| Error::write(path, e))?;
    write(path, (text + "\n").as_bytes())
}
