//! One log, read once: what the program says of it, what it would say without each rule, and the trivial baseline.

use crate::ablation::SWITCHES;
use crate::baseline::Baseline;
use stapo_analyze::analyze::{AnalyzeSettings, Purpose};
use stapo_analyze::ingest::{IngestSettings, Run, Silent};
use stapo_collect::finish::Finished;
use stapo_collect::finish::second_look::Reread;
use stapo_collect::plan::Plan;
use stapo_diagnosis::state::{Outcome as Judged, Rules, judge};
use stapo_diagnosis::{Confidence, Measures, Outcome, examine_all};
use stapo_evidence::Evidence;
use stapo_evidence::series::Observed;
use stapo_ingest::training::of_training;
use stapo_result::RunState;
use std::path::Path;

/// State and causes; notes are no causes here.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    pub state: &'static str,
    pub is_sick: bool,
    /// The first first.
    pub causes: Vec<String>,
    /// The first so many of them are likely.
    pub likely: usize,
}

impl Told {
    /// Sick, or a likely cause: what no healthy run may be.
    pub fn is_alarm(&self) -> bool {
        self.is_sick || self.likely > 0
    }

    /// Whether one of these stands among the first two.
    pub fn names(&self, causes: &[&str]) -> bool {
        self.causes.iter().take(2).any(|found| causes.contains(&found.as_str()))
    }
}

/// What is known of a log.
pub struct Reading {
    pub told: Told,
    /// By the same rules, without the claims about spurious tokens: what [`without`](Self::without) is held against.
    pub bare: Told,
    /// Without each of the [`SWITCHES`].
    pub without: Vec<Told>,
    pub baseline: Baseline,
}

impl Reading {
    pub fn of(path: &Path) -> Self {
        let settings = AnalyzeSettings::default();
        let run = Run::open(&[path.to_owned()], &IngestSettings::default()).unwrap();
        let run = &*of_training(&run).unwrap();
        let plan = Plan::new(run, &settings, Purpose::Report).unwrap();
        let look = Reread { run, progress: &Silent };
        let (scan, collected) = stapo_collect::pass::read(run, &settings, &plan, &look, &Silent).unwrap();
        let finished = Finished::new(scan, plan, collected).unwrap();
        let mut core = finished.core();
        stapo_diagnosis::diagnose(
            run,
            &finished.plan,
            &finished.collected,
            &finished.source.texts,
            &mut core,
        );
        let diagnosis = &core.diagnosis;
        let of = |confidence| {
            let causes = diagnosis.causes.iter().filter(move |cause| cause.confidence == confidence);
            causes.map(|cause| cause.code.name().to_owned()).collect::<Vec<_>>()
        };
        let likely = of(stapo_result::Confidence::Likely);
        let told = Told {
            state: diagnosis.state.words(),
            is_sick: diagnosis.state.is_sick(),
            likely: likely.len(),
            causes: [likely, of(stapo_result::Confidence::Possible)].concat(),
        };
        let found = &finished.collected.diagnostics;
        let judges = Judges { evidence: &found.evidence, observed: &found.trained };
        let (bare, outcome) = judges.told(&Rules::default(), None);
        let same = Some((&bare, outcome));
        let without = SWITCHES.iter().map(|switch| judges.told(&switch.off(), same.clone()).0).collect();
        Self { told, without, baseline: Baseline::of(&means(&found.trained)), bare }
    }
}

struct Judges<'a> {
    evidence: &'a Evidence,
    observed: &'a Observed,
}

impl Judges<'_> {
    /// What these rules say; where the judge says the same as by other rules, so do the causes.
    fn told(&self, rules: &Rules, known: Option<(&Told, JudgedAs)>) -> (Told, JudgedAs) {
        let at_reference = Measures::new(self.evidence, &Outcome::default()).starts_at_reference();
        let judged = judge(self.observed, at_reference, rules);
        let outcome = Outcome::of(&judged, None);
        let key = JudgedAs { judged: judged.outcome, soft: judged.soft.is_empty(), outcome: outcome.clone() };
        if let Some((told, as_before)) = known.filter(|known| known.1 == key) {
            return (told.clone(), as_before);
        }
        let measures = Measures::new(self.evidence, &outcome);
        let examined = examine_all(&measures);
        let state = shown(judged.state(&examined.circumstances(&measures)));
        let of = |confidence| {
            let findings = examined.findings.iter().map(|ranked| &ranked.finding);
            findings
                .filter(move |f| f.confidence == confidence)
                .map(|f| f.code.as_str().to_owned())
                .collect::<Vec<_>>()
        };
        let likely = of(Confidence::Likely);
        let told = Told {
            state: state.words(),
            is_sick: state.is_sick(),
            likely: likely.len(),
            causes: [likely, of(Confidence::Possible)].concat(),
        };
        (told, key)
    }
}

/// What causes and state can know of a verdict.
#[derive(Clone, PartialEq)]
struct JudgedAs {
    judged: Judged,
    soft: bool,
    outcome: Outcome,
}

fn shown(state: stapo_diagnosis::state::State) -> RunState {
    RunState::named(&state.name().replace(' ', "_")).unwrap()
}

/// The mean reward of each step.
pub fn means(observed: &Observed) -> Vec<f64> {
    let series = observed.names().iter().position(|name| name == "reward").unwrap();
    let mut steps = std::collections::BTreeMap::<i64, (f64, f64)>::new();
    for group in observed.groups() {
        let sums = steps.entry(group.step).or_default();
        for (value, count) in group.of(series) {
            sums.0 += f64::from(value) * f64::from(count);
            sums.1 += f64::from(count);
        }
    }
    steps.values().filter(|sums| sums.1 > 0.0).map(|(sum, count)| sum / count).collect()
}
