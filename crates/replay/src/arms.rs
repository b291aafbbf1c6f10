//! All arms of a replay, one after another.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use super::arm::{Arm, Ended, Files, file_stem};
use super::explain::Explainer;
use super::log::Survey;
use super::progress::ReplayProgress;
use super::settings::ReplaySettings;
use super::stage::Stage;
use super::state::{ArmRecord, State};
use super::step_clock::StepClock;
use super::token_log::TokenLog;
use stapo_base::error::Result;
use stapo_batch::columns::Column;
use stapo_framework::rules::Rule;
use stapo_ingest::texts::Tokenizer;
use stapo_result::replay::ArmTiming;
use stapo_result::replay::UnfinishedArm;

/// What all arms need.
pub struct Arms<'a> {
    /// The settings.
    pub settings: &'a ReplaySettings,
    /// The log at a glance.
    pub survey: &'a Survey,
    /// Where token logs go; nowhere without one.
    pub output: Option<&'a Path>,
    /// Checkpoints.
    pub state: Option<&'a State>,
    /// What every token log says of itself.
    pub metadata: BTreeMap<String, String>,
    /// Columns whose ids are texts.
    pub text_ids: Vec<Column>,
    /// Texts of ids.
    pub tokenizer: Option<Tokenizer>,
    /// When to stop.
    pub deadline: Option<Instant>,
    /// Told how far it is.
    pub progress: &'a dyn ReplayProgress,
}

/// What came of them.
#[derive(Default)]
pub struct Done {
    /// Arms that came to their end.
    pub records: Vec<ArmRecord>,
    /// How fast those were.
    pub timing: Vec<ArmTiming>,
    /// Arms that the time was too short for.
    pub unfinished: Vec<UnfinishedArm>,
}

impl Arms<'_> {
    /// Trains every objective with every seed.
    pub fn run(&self, stage: &mut Stage<'_>) -> Result<Done> {
        let objectives = &self.settings.objectives;
        let tokens: u64 = self.survey.steps.iter().map(|s| s.tokens).sum();
        let arms = objectives.len() as u64 * self.settings.seeds;
        self.progress.ahead(tokens * self.settings.epochs * arms);
        let (mut done, mut clock) = (Done::default(), StepClock::new(self.deadline));
        for objective in objectives {
            for seed in 1..=self.settings.seeds {
                self.one(stage, *objective, seed, &mut clock, &mut done)?;
            }
        }
        Ok(done)
    }

    fn one(
        &self,
        stage: &mut Stage<'_>,
        objective: Rule,
        seed: u64,
        clock: &mut StepClock,
        done: &mut Done,
    ) -> Result<()> {
        let stem = file_stem(objective, seed);
        self.progress.arm(&stem);
        let explains = self.settings.explain && seed == 1 && self.explained() == Some(objective);
        let explainer = explains.then(|| {
            Explainer::new(self.settings.objective.s2t, self.tokenizer.clone(), self.survey.steps.len())
        });
        let arm = Arm::new(objective, seed, self.settings, explainer)?;
        let begun = Instant::now();
        let ended = arm.run(stage, self.files(objective, seed, &stem), clock, self.progress)?;
        let (record, speeds) = match ended {
            Ended::Complete(record, speeds) => (*record, speeds),
            Ended::OutOfTime { steps_done } => {
                let steps = self.survey.steps.len() as u64;
                done.unfinished.push(UnfinishedArm { objective, seed, steps_done, steps });
                return Ok(());
            }
        };
        let seconds = begun.elapsed().as_secs_f64();
        let tokens: u64 = record.result.updates.iter().map(|u| u.tokens).sum();
        done.timing.push(ArmTiming {
            objective,
            seed,
            seconds,
            tokens,
            tokens_per_second: speeds.is_some().then(|| tokens as f64 / seconds.max(1e-9)),
            updates: speeds.unwrap_or_default(),
        });
        done.records.push(record);
        Ok(())
    }

    fn files(&self, objective: Rule, seed: u64, stem: &str) -> Option<Files> {
        let state = self.state?.arm(stem);
        let mut metadata = self.metadata.clone();
        metadata.insert("algorithm".into(), objective.name().into());
        metadata.insert("seed".into(), seed.to_string());
        Some(Files {
            tokens: TokenLog::new(state.tokens(), metadata, self.text_ids.clone()),
            target: self.output?.join(format!("{stem}.parquet")),
            state,
        })
    }

    /// The arm whose flagged tokens are explained: S2T's own, else the first.
    fn explained(&self) -> Option<Rule> {
        let objectives = &self.settings.objectives;
        let is_s2t = |objective: &&Rule| **objective == Rule::Stapo;
        objectives.iter().find(is_s2t).or(objectives.first()).copied()
    }
}
