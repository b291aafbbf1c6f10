//! What engineers ask beyond the framework, held against each other: quantities that are known by step
//! are tested as the trainer's scalars are; those of a whole run stand side by side without a test.

use std::collections::BTreeSet;

use super::by_step::{Points, Scalar, row};
use super::metric_names::{KL_REFERENCE_K3, PASS_RATE, REWARD_PART};
use super::named_run::NamedRun;
use super::result::{AnswerRow, Family, MetricRow, Series, Unit};
use super::settings::CompareSettings;
use stapo_result::offpolicy::{Difference, Differences};
use stapo_result::{RunCore, StepRow};

/// A quantity of the steps of a run.
pub struct StepAnswer {
    name: String,
    label: String,
    unit: Unit,
    /// Whether it has no values below 0; of shares and tokens the unit says so.
    never_negative: bool,
    of: Box<dyn Fn(&RunCore) -> Points>,
}

impl StepAnswer {
    fn new(name: &str, label: &str, unit: Unit, of: impl Fn(&RunCore) -> Points + 'static) -> Self {
        Self { name: name.into(), label: label.into(), unit, never_negative: false, of: Box::new(of) }
    }

    /// Of k3, which is r − 1 − ln r.
    fn never_negative(self) -> Self {
        Self { never_negative: true, ..self }
    }

    fn scalar(&self, runs: &[NamedRun]) -> Scalar {
        Scalar { by_run: runs.iter().map(|run| (self.of)(&run.analysis.core)).collect() }
    }
}

/// All quantities that any of the runs has.
pub fn of_steps(runs: &[NamedRun]) -> Vec<StepAnswer> {
    type OfDifference = fn(&Difference) -> f64;
    type Which = fn(&Differences) -> Option<&Difference>;
    let ledger = |name: &str, label: &str, unit, which: Which, of: OfDifference| {
        StepAnswer::new(name, label, unit, move |run| {
            let steps = run.answers.offpolicy.iter().flat_map(|ledger| &ledger.steps);
            steps.filter_map(|row| Some((row.step, of(which(&row.differences)?)))).collect()
        })
    };
    let mut all = vec![
        ledger("engine_k3", "k3 of trainer against sampler", Unit::Nats, |d| d.engine.as_ref(), |d| d.k3)
            .never_negative(),
        ledger(
            "engine_ess",
            "effective tokens, trainer against sampler",
            Unit::Share,
            |d| d.engine.as_ref(),
            |d| d.ess,
        ),
        ledger("update_k3", "k3 of the update", Unit::Nats, |d| d.update.as_ref(), |d| d.k3).never_negative(),
        StepAnswer::new(KL_REFERENCE_K3, "KL to the reference (k3)", Unit::Nats, |run| {
            run.answers.kl_reference.iter().flat_map(|kl| &kl.steps).map(|row| (row.step, row.k3)).collect()
        })
        .never_negative(),
        StepAnswer::new("truncated_share", "cut responses", Unit::Share, |run| {
            run.answers.truncated.iter().flat_map(|cut| &cut.steps).map(|row| (row.step, row.share)).collect()
        }),
        StepAnswer::new("repetition_share", "tokens in loops", Unit::Share, |run| {
            run.answers
                .repetition
                .iter()
                .flat_map(|all| &all.steps)
                .map(|row| (row.step, row.share))
                .collect()
        }),
        StepAnswer::new(PASS_RATE, "right answers", Unit::Share, |run| {
            run.answers
                .groups
                .iter()
                .flat_map(|all| &all.steps)
                .map(|row| (row.step, row.pass_rate))
                .collect()
        }),
        StepAnswer::new("dead_group_share", "groups without an advantage", Unit::Share, |run| {
            run.steps.iter().filter_map(|row| Some((row.step, dead_groups(row)?))).collect()
        }),
        StepAnswer::new("open_corner_share", "tokens with A < 0 above the clip", Unit::Share, |run| {
            let steps = run.answers.clipping.iter().flat_map(|clipping| &clipping.steps);
            let known = steps.filter(|row| row.tokens > 0);
            known.map(|row| (row.step, row.corners.high_negative as f64 / row.tokens as f64)).collect()
        }),
        StepAnswer::new("effective_number", "effective number of tokens", Unit::Tokens, |run| {
            let teaching = run.steps.iter().filter(|row| row.teaches());
            teaching.filter_map(|row| Some((row.step, row.concentration.effective_number?))).collect()
        }),
    ];
    all.extend(largest_common_k(runs).map(pass_at));
    let parts = runs.iter().flat_map(|run| run.analysis.answers.reward_parts.iter().map(|part| &part.name));
    all.extend(parts.collect::<BTreeSet<_>>().into_iter().map(|name| reward_part(name)));
    all
}

fn dead_groups(row: &StepRow) -> Option<f64> {
    let (dead, groups) = (row.zero_advantage_groups?, row.groups?);
    (groups > 0).then(|| dead as f64 / groups as f64)
}

/// The largest k of pass@k that all runs have.
fn largest_common_k(runs: &[NamedRun]) -> Option<u64> {
    let largest =
        |run: &NamedRun| run.analysis.answers.groups.as_ref()?.pass_at.last_key_value().map(|(k, _)| *k);
    runs.iter().map(largest).min().flatten().filter(|k| *k > 1)
}

fn pass_at(k: u64) -> StepAnswer {
    StepAnswer::new(&format!("pass_at_{k}"), &format!("pass@{k}"), Unit::Share, move |run| {
        let steps = run.answers.groups.iter().flat_map(|groups| &groups.steps);
        steps.filter_map(|row| Some((row.step, *row.pass_at.get(&k)?))).collect()
    })
}

fn reward_part(name: &str) -> StepAnswer {
    let part = name.to_owned();
    let signal = format!("{REWARD_PART}{name}");
    StepAnswer::new(&signal, &signal, Unit::Number, move |run| {
        let found = run.answers.reward_parts.iter().filter(|known| known.name == part);
        found.flat_map(|known| &known.steps).map(|row| (row.step, row.mean)).collect()
    })
}

/// One row for every quantity that both arms have.
pub fn rows(answers: &[StepAnswer], arms: [&[NamedRun]; 2], settings: &CompareSettings) -> Vec<MetricRow> {
    let of_answer = |answer: &StepAnswer| {
        let described = MetricRow {
            name: answer.name.clone(),
            label: answer.label.clone(),
            family: Family::Questions,
            unit: answer.unit,
            never_negative: answer.never_negative,
            ..MetricRow::default()
        };
        row(described, &arms.map(|runs| answer.scalar(runs)), settings)
    };
    answers.iter().filter_map(of_answer).collect()
}

/// The values of all runs at all steps.
pub fn series(answers: &[StepAnswer], runs: &[NamedRun]) -> Vec<Series> {
    let of_run = |run: &NamedRun| {
        let one = |answer: &StepAnswer| Series {
            run: run.name.clone(),
            metric: answer.name.clone(),
            points: (answer.of)(&run.analysis.core),
        };
        answers.iter().map(one).filter(|series| !series.points.is_empty()).collect::<Vec<Series>>()
    };
    runs.iter().flat_map(of_run).collect()
}

/// A quantity of a whole run: its name, what it is, its unit.
type RunAnswer = (&'static str, &'static str, Unit, fn(&RunCore) -> Option<f64>);

/// Quantities of whole runs, which have no test.
const OF_RUNS: [RunAnswer; 8] = [
    ("unbounded_tokens", "tokens with A < 0 and a ratio above 10", Unit::Tokens, |run| {
        Some(run.drivers.unbounded?.tokens as f64)
    }),
    ("unbounded_energy_share", "their energy", Unit::Share, |run| run.drivers.unbounded?.energy_share),
    ("effective_number", "effective number of tokens over the run", Unit::Tokens, |run| {
        run.drivers.concentration.effective_number
    }),
    ("top_token_energy_share", "energy of the largest token", Unit::Share, |run| {
        Some(run.drivers.concentration.shares?.top_1)
    }),
    ("truncated_energy_share", "energy in cut responses", Unit::Share, |run| {
        run.answers.truncated.as_ref()?.energy_share
    }),
    ("phantom_energy_share", "energy in groups without a right answer", Unit::Share, |run| {
        Some(run.answers.groups.as_ref()?.energy_share?.phantom)
    }),
    ("advantage_length_correlation", "correlation of advantage and length", Unit::Number, |run| {
        run.answers.within_groups.as_ref()?.advantage_length_correlation
    }),
    ("punished_rare_energy_share", "energy of punished rare tokens", Unit::Share, |run| {
        run.answers.punished_rare.as_ref()?.energy_share
    }),
];

/// Quantities of whole runs side by side, the mean over the runs of each arm.
pub fn side_by_side(arms: &[&[NamedRun]]) -> Vec<AnswerRow> {
    let of_answer = |(name, label, unit, of): &RunAnswer| {
        let mean = |runs: &&[NamedRun]| {
            let known: Vec<f64> = runs.iter().filter_map(|run| of(&run.analysis.core)).collect();
            (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
        };
        AnswerRow {
            name: (*name).into(),
            label: (*label).into(),
            unit: *unit,
            values: arms.iter().map(mean).collect(),
        }
    };
    let known = |row: &AnswerRow| row.values.iter().flatten().count() > 1;
    OF_RUNS.iter().map(of_answer).filter(known).collect()
}
