//! One objective with one seed, from the start to the end of the log.

use std::path::PathBuf;

use super::assembled::Assembled;
use super::drift::old_logprobs;
use super::explain::Explainer;
use super::log::{minibatches, order};
use super::model::{AdamW, AdamWSettings, TokenStats};
use super::objective::{GateState, NAMES, Objective, build};
use super::progress::ReplayProgress;
use super::rows::{mean_entropy, trained};
use super::settings::ReplaySettings;
use super::stage::{Stage, StepData};
use super::state::{ArmRecord, ArmState};
use super::step_clock::StepClock;
use super::stop::stop;
use super::token_log::{TokenLog, TrainedResponse};
use super::update::{Rules, Trainee, UpdateOutcome, UpdatePlace, Updated, update};
use stapo_base::error::{Error, Result};
use stapo_base::stats::random::seed_of;
use stapo_framework::rules::Rule;
use stapo_result::replay::UpdateSpeed;
use stapo_result::replay::{ArmResult, PromptScores, Stop};

/// Evaluations on the hold-out along an arm at most.
pub const EVALUATIONS: usize = 6;

/// An objective with a seed.
pub struct Arm {
    objective: Box<dyn Objective>,
    seed: u64,
    explainer: Option<Explainer>,
}

/// Where an arm's files are.
pub struct Files {
    /// Checkpoints.
    pub state: ArmState,
    /// Parts of the token log.
    pub tokens: TokenLog,
    /// The token log.
    pub target: PathBuf,
}

/// How an arm ended.
pub enum Ended {
    /// At the end of the log, or where its numbers stopped to be numbers; with the speed of its updates
    /// where this start did all of them.
    Complete(Box<ArmRecord>, Option<Vec<UpdateSpeed>>),
    /// The time was up; its checkpoint says where to go on.
    OutOfTime {
        /// Steps that are done.
        steps_done: u64,
    },
}

/// Name of an arm's files: the objective's, with the seed beyond the first.
#[must_use]
pub fn file_stem(objective: Rule, seed: u64) -> String {
    if seed == 1 { objective.name().to_owned() } else { format!("{objective}.seed{seed}") }
}

/// What is left of a mini-batch to be told.
enum Visited {
    Trained(Vec<TrainedResponse>),
    Stopped(Stop),
}

impl Arm {
    /// Seeds are counted from 1.
    pub fn new(
        rule: Rule,
        seed: u64,
        settings: &ReplaySettings,
        explainer: Option<Explainer>,
    ) -> Result<Self> {
        let objective = build(rule, &settings.objective).ok_or_else(|| Error::Usage {
            message: format!("--objective {rule}: there is no such objective, or not on this base"),
            hint: format!("known are {}", NAMES.join(", ")),
        })?;
        Ok(Self { objective, seed, explainer })
    }

    /// Trains to the end or to the deadline, or takes up where a checkpoint left off.
    pub fn run(
        &self,
        stage: &mut Stage<'_>,
        mut files: Option<Files>,
        clock: &mut StepClock,
        progress: &dyn ReplayProgress,
    ) -> Result<Ended> {
        let settings = stage.settings;
        let (mut record, mut trainee) = match self.begin(stage, files.as_ref())? {
            (record, None) => {
                progress.skipped(tokens_of(stage, stage.survey.steps.len()));
                return Ok(Ended::Complete(Box::new(record), None));
            }
            (record, Some(trainee)) => (record, trainee),
        };
        let whole = record.steps_done == 0;
        progress.skipped(tokens_of(stage, record.steps_done));
        let steps = stage.survey.steps.len();
        while record.steps_done < steps && record.result.stopped.is_none() {
            if clock.is_up() {
                if let Some(files) = files.as_mut().filter(|_| record.steps_done > 0) {
                    files.state.save(&record, Some((&trainee.policy, &trainee.optimizer)))?;
                }
                return Ok(Ended::OutOfTime { steps_done: record.steps_done as u64 });
            }
            clock.step_begins();
            self.one_step(stage, &mut record, &mut trainee, files.as_ref(), progress)?;
            clock.step_done();
            if let Some(files) = &mut files
                && files.state.age() >= settings.checkpoint_seconds
                && record.steps_done < steps
            {
                files.state.save(&record, Some((&trainee.policy, &trainee.optimizer)))?;
            }
        }
        if let Some(folder) = &settings.save {
            trainee.policy.save(&folder.join(file_stem(record.result.objective, self.seed)))?;
        }
        record.finished = true;
        if let Some(files) = &mut files {
            files.tokens.join(record.steps_done, &files.target)?;
            files.state.save(&record, None)?;
            files.tokens.clear()?;
        }
        Ok(Ended::Complete(Box::new(record), whole.then_some(trainee.speeds)))
    }

    /// The record and the policy to go on with; no policy where an earlier start came to the end.
    fn begin(&self, stage: &Stage<'_>, files: Option<&Files>) -> Result<(ArmRecord, Option<Trainee>)> {
        let o = stage.settings.optimizer;
        let adamw = AdamWSettings { betas: o.betas, eps: o.eps, weight_decay: o.weight_decay };
        let known = match files {
            Some(files) => files.state.load(stage.start, adamw)?,
            None => None,
        };
        if let Some((record, trained)) = known {
            let gate = record.gate;
            let trainee =
                trained.map(|(policy, optimizer)| Trainee { policy, optimizer, gate, speeds: Vec::new() });
            return Ok((record, trainee));
        }
        if let Some(files) = files {
            files.tokens.clear()?;
        }
        let trainee = Trainee {
            policy: stage.start.clone(),
            optimizer: AdamW::new(adamw),
            gate: GateState::default(),
            speeds: Vec::new(),
        };
        Ok((self.new_record(), Some(trainee)))
    }

    /// The next step, and the hold-out after it where that is due.
    fn one_step(
        &self,
        stage: &mut Stage<'_>,
        record: &mut ArmRecord,
        trainee: &mut Trainee,
        files: Option<&Files>,
        progress: &dyn ReplayProgress,
    ) -> Result<()> {
        let (index, steps) = (record.steps_done, stage.survey.steps.len());
        self.step(stage, index, record, trainee, files.map(|f| &f.tokens), progress)?;
        record.steps_done += 1;
        record.gate = trainee.gate;
        if record.result.stopped.is_none() && is_evaluated(index, steps) && !stage.holdout.is_empty() {
            let done = record.result.updates.len() as u64;
            let step = Some(stage.survey.steps[index].step);
            let found = stage.holdout.evaluate(stage.engine, &trainee.policy, done, step)?;
            record.result.holdout.push(found.metrics);
            let (objective, seed) = (record.result.objective, self.seed);
            let one =
                |(prompt, responses, metrics)| PromptScores { objective, seed, prompt, responses, metrics };
            record.prompts = found.prompts.into_iter().map(one).collect();
        }
        Ok(())
    }

    fn new_record(&self) -> ArmRecord {
        let objective = self.objective.rule();
        let result = ArmResult {
            objective,
            rule: self.objective.describe(),
            seed: self.seed,
            token_log: format!("{}.parquet", file_stem(objective, self.seed)),
            stopped: None,
            updates: Vec::new(),
            steps: Vec::new(),
            holdout: Vec::new(),
        };
        ArmRecord {
            result,
            prompts: Vec::new(),
            cases: Vec::new(),
            gate: GateState::default(),
            steps_done: 0,
            finished: false,
        }
    }

    fn step(
        &self,
        stage: &mut Stage<'_>,
        index: usize,
        record: &mut ArmRecord,
        trainee: &mut Trainee,
        tokens: Option<&TokenLog>,
        progress: &dyn ReplayProgress,
    ) -> Result<()> {
        let number = stage.survey.steps[index].step;
        let data = stage.step(index)?;
        let write = |rows: Vec<TrainedResponse>| match tokens {
            Some(tokens) => tokens.write(index, &data.responses, rows),
            None => Ok(()),
        };
        let (old, drift) = old_logprobs(stage.engine, &trainee.policy, &data, number, stage.settings)?;
        record.result.steps.push(drift);
        let batches = minibatches(&data.responses, stage.settings.minibatch);
        let mut rows = Vec::with_capacity(data.responses.len());
        for epoch in 0..stage.settings.epochs {
            for which in order(batches.len(), stage.settings.shuffle, self.seed, number, epoch) {
                let members = &batches[which];
                let batch = Assembled::new(&data, members, &old);
                let place = UpdatePlace {
                    update: record.result.updates.len() as u64,
                    step: number,
                    minibatch: which as u64,
                    epoch,
                    pass: 0,
                    seed: seed_of(&[self.seed, 2, number.cast_unsigned(), epoch, which as u64]),
                };
                match self.visit(stage, &data, members, &batch, place, record, trainee)? {
                    // A response is logged once: with its first epoch.
                    Visited::Trained(trained) if epoch == 0 => rows.extend(trained),
                    Visited::Trained(_) => {}
                    Visited::Stopped(stop) => {
                        record.result.stopped = Some(stop);
                        return write(rows);
                    }
                }
                progress.trained(batch.sequences.iter().map(|s| s.tokens.len() as u64).sum());
            }
        }
        write(rows)
    }

    /// All of the objective's updates on one mini-batch.
    #[allow(clippy::too_many_arguments)]
    fn visit(
        &self,
        stage: &Stage<'_>,
        data: &StepData,
        members: &[usize],
        batch: &Assembled,
        mut place: UpdatePlace,
        record: &mut ArmRecord,
        trainee: &mut Trainee,
    ) -> Result<Visited> {
        let rules = Rules {
            engine: stage.engine,
            start: stage.start,
            objective: &*self.objective,
            optimizer: &stage.settings.optimizer,
            kl_beta: stage.settings.kl_beta,
        };
        let mut first: Option<(Vec<TokenStats>, Updated)> = None;
        for pass in 0..self.objective.passes() {
            place.pass = pass;
            place.update = record.result.updates.len() as u64;
            let explained = self.explainer.as_ref().filter(|_| pass == 0 && place.epoch == 0);
            let explained = explained.map(|explainer| (explainer, trainee.policy.clone()));
            let updated = match update(&rules, trainee, batch, place)? {
                UpdateOutcome::Done(updated) => *updated,
                UpdateOutcome::NotFinite { what, stats } => {
                    return Ok(Visited::Stopped(stop(what, place, data, members, &stats)));
                }
            };
            record.result.updates.push(updated.record.clone());
            if let Some((explainer, policy)) = explained {
                let known = &record.cases;
                let cases = explainer.cases(stage.engine, &policy, data, members, &updated.before, known)?;
                record.cases.extend(cases);
            }
            let goes_on = updated.goes_on;
            if first.is_none() {
                first = Some((updated.before.clone(), updated));
            }
            if !goes_on {
                break;
            }
        }
        let Some((before, updated)) = first else { return Ok(Visited::Trained(Vec::new())) };
        let after = stage.engine.measure(&trainee.policy, &batch.sequences)?;
        if let Some(last) = record.result.updates.last_mut() {
            last.mean_entropy_after = mean_entropy(&after, batch);
        }
        Ok(Visited::Trained(trained(members, place.minibatch, batch, &before, after, &updated)))
    }
}

/// Tokens of the first steps, over all epochs.
fn tokens_of(stage: &Stage<'_>, steps: usize) -> u64 {
    stage.survey.steps[..steps].iter().map(|s| s.tokens).sum::<u64>() * stage.settings.epochs
}

/// Evenly spaced, and always after the last step.
fn is_evaluated(index: usize, steps: usize) -> bool {
    (index + 1) * EVALUATIONS / steps > index * EVALUATIONS / steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evaluations_are_few_and_end_with_the_last_step() {
        for steps in [1, 2, 5, 6, 11, 500] {
            let chosen: Vec<usize> = (0..steps).filter(|i| is_evaluated(*i, steps)).collect();
            assert_eq!(chosen.len(), steps.min(EVALUATIONS));
            assert_eq!(chosen.last(), Some(&(steps - 1)));
        }
    }

    #[test]
    fn further_seeds_have_files_of_their_own() {
        assert_eq!(
            (file_stem(Rule::Stapo, 1), file_stem(Rule::Stapo, 2)),
            ("stapo".into(), "stapo.seed2".into())
        );
    }
}
