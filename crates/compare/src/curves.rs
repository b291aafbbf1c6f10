//! Runs that are known by their training curves alone: what a comparison takes of them.

use std::collections::BTreeMap;

use stapo_curves::{CanonicalName, CurveRun, CurveVerdict, Series, judge, whole};
use stapo_levels::{Metric, RunGroups};
use stapo_result::{Cause, CauseCode, ComparedRun, Confidence, FileReport, StepRow};

/// Columns that stand for a metric in all runs: held-out scores and right answers have names of their own in each log, and
/// two that are called otherwise need not be of the same prompts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommonColumns {
    held_out: Option<String>,
    right: Option<String>,
}

impl CommonColumns {
    /// The first of each kind that every run has.
    #[must_use]
    pub fn of(runs: &[&CurveRun]) -> Self {
        let first = |of: fn(&CurveRun) -> Vec<&Series>| {
            let (first, others) = runs.split_first()?;
            let has = |run: &CurveRun, name: &str| of(run).iter().any(|series| series.column == name);
            let names = of(first).into_iter().map(|series| series.column.as_str());
            names.into_iter().find(|name| others.iter().all(|run| has(run, name))).map(str::to_owned)
        };
        Self { held_out: first(|run| run.held_out.iter().collect()), right: first(CurveRun::right_answers) }
    }
}

/// A run as comparisons need it: means of those of its steps that are to be read, and the verdict of all.
#[must_use]
pub fn compared(
    run: &CurveRun,
    common: &CommonColumns,
    files: &[String],
    is_read: impl Fn(i64) -> bool,
) -> ComparedRun {
    let verdict = judge(run);
    let mut compared = ComparedRun::default();
    compared.clusters.groups = RunGroups::of_means(&means(run, common, &verdict, &is_read));
    let core = &mut compared.core;
    let steps = run.steps.iter().filter_map(|step| whole(*step)).filter(|step| is_read(*step));
    core.steps = steps.map(|step| StepRow { step, ..StepRow::default() }).collect();
    core.totals.steps = core.steps.len() as u64;
    core.provenance.files =
        files.iter().map(|path| FileReport { path: path.clone(), ..FileReport::default() }).collect();
    core.verdict.health.clone_from(&verdict.sentence);
    core.diagnosis.state = verdict.state;
    core.diagnosis.sentence = verdict.sentence;
    core.diagnosis.causes = verdict.causes.into_iter().map(cause).collect();
    compared
}

fn cause(found: stapo_curves::Cause) -> Cause {
    Cause {
        code: CauseCode::new(found.code.as_str()),
        confidence: Confidence::Likely,
        from_step: None,
        slice: None,
        follows_from: None,
        message: found.sentence,
        hint: String::new(),
        evidence: Vec::new(),
    }
}

type Means = BTreeMap<Metric, (BTreeMap<i64, f64>, f64)>;

/// Of each metric its values by step, and how wide it can be.
fn means(
    run: &CurveRun,
    common: &CommonColumns,
    verdict: &CurveVerdict,
    is_read: &impl Fn(i64) -> bool,
) -> Means {
    fn column<'r>(all: &'r [Series], name: Option<&String>) -> Option<&'r Series> {
        name.and_then(|name| all.iter().find(|series| series.column == *name))
    }
    let single = |name| run.series.get(&name);
    let logged = [
        (Metric::Reward, single(CanonicalName::Reward)),
        (Metric::RightAnswers, column(&run.parts, common.right.as_ref())),
        (Metric::Length, single(CanonicalName::Length)),
        (Metric::Entropy, single(CanonicalName::Entropy)),
        (Metric::HeldOut, column(&run.held_out, common.held_out.as_ref())),
    ];
    let judged = verdict.gain.as_ref().filter(|gain| gain.series == "reward");
    let range = |metric: Metric, series: &Series| match judged {
        Some(gain) if metric == Metric::Reward => gain.top - gain.floor,
        _ => {
            let ends = series.values.iter().fold((0.0, 1.0), |(a, b), v| (f64::min(a, *v), f64::max(b, *v)));
            ends.1 - ends.0
        }
    };
    let known = logged.into_iter().filter_map(|(metric, series)| Some((metric, series?)));
    known
        .map(|(metric, series)| {
            let values = series.at_whole_steps().filter(|(step, _)| is_read(*step)).collect();
            (metric, (values, range(metric, series)))
        })
        .collect()
}
