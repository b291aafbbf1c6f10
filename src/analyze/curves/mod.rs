//! Training curves alone: what can be said of a run from what its trainer or tracker wrote, without its tokens.

mod sniff;

pub use self::sniff::are_curves;

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use stapo_base::error::Result;
use stapo_curves::{Cause, CurveGain, CurveRun, CurveVerdict, Event, Names, ReadOptions, Sign};
use stapo_result::{RunState, SUMMARY_VERSION};

/// What curves say of a run: `summary.json` of a log of scalars.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CurveAnalysis {
    /// Version of the summary's schema.
    pub schema_version: u32,
    /// The run, as the file names it; empty where it names none.
    pub run: String,
    /// Its steps.
    pub steps: CurveSteps,
    /// State, events, causes and signs.
    pub diagnosis: CurveDiagnosis,
    /// The curves that were read.
    pub curves: Vec<ReadCurve>,
    /// Columns of numbers that nobody knows: candidates for `--map`.
    pub unknown_columns: Vec<String>,
    /// What tokens would tell more, and how to log them.
    pub more: String,
}

/// The steps of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct CurveSteps {
    /// Steps with any number.
    pub count: usize,
    /// The first.
    pub first: f64,
    /// The last.
    pub last: f64,
}

/// What is said of a run by its curves.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CurveDiagnosis {
    /// How the run stands.
    pub state: RunState,
    /// The answer with its numbers.
    pub sentence: String,
    /// Start and end of what the run is for; null where nothing could be judged.
    pub reward: Option<CurveGain>,
    /// Falls, also those that came back.
    pub events: Vec<Event>,
    /// Likely causes.
    pub causes: Vec<Cause>,
    /// What moved, which is no verdict by itself.
    pub signs: Vec<Sign>,
    /// What to know beside it.
    pub notes: Vec<String>,
}

/// A curve.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReadCurve {
    /// What it is.
    pub name: String,
    /// The column of the file.
    pub column: String,
    /// Values.
    pub rows: usize,
    /// Step and value, as they were read.
    #[serde(skip)]
    pub points: Vec<(f64, f64)>,
}

/// Reads curves and judges them; `run` names one of several runs in a file, `maps` are `--map`'s.
pub fn analyze_curves(paths: &[PathBuf], maps: &[String], run: Option<&str>) -> Result<CurveAnalysis> {
    let options = ReadOptions { names: Names::with_map(maps)?, ..ReadOptions::default() };
    let read = stapo_curves::read_files(paths, &options)?;
    let run = read.run(run)?;
    Ok(CurveAnalysis::of(run, stapo_curves::judge(run)))
}

impl CurveAnalysis {
    fn of(run: &CurveRun, verdict: CurveVerdict) -> Self {
        let CurveVerdict { state, sentence, events, causes, signs, gain, notes } = verdict;
        Self {
            schema_version: SUMMARY_VERSION,
            run: run.name.clone(),
            steps: CurveSteps {
                count: run.steps.len(),
                first: run.steps.first().copied().unwrap_or_default(),
                last: run.steps.last().copied().unwrap_or_default(),
            },
            diagnosis: CurveDiagnosis { state, sentence, reward: gain, events, causes, signs, notes },
            curves: curves(run),
            unknown_columns: run.unknown.clone(),
            more: more(run, state),
        }
    }
}

/// All curves of a run: those with a name of their own, parts of the reward, held-out scores.
fn curves(run: &CurveRun) -> Vec<ReadCurve> {
    let named = run.series.iter().map(|(name, series)| (name.as_str().to_owned(), series));
    let parts = run.parts.iter().map(|series| ("part".to_owned(), series));
    let held_out = run.held_out.iter().map(|series| ("held_out".to_owned(), series));
    let curve = |(name, series): (String, &stapo_curves::Series)| ReadCurve {
        name,
        column: series.column.clone(),
        rows: series.values.len(),
        points: series.steps.iter().copied().zip(series.values.iter().copied()).collect(),
    };
    named.chain(parts).chain(held_out).map(curve).collect()
}

/// The smallest hook for the framework that the columns are of.
fn more(run: &CurveRun, state: RunState) -> String {
    let is_of_verl = |column: &str| column.starts_with("actor/") || column.starts_with("critic/");
    let columns = run.series.values().map(|series| series.column.as_str());
    let hook = match columns.into_iter().any(is_of_verl) {
        true => {
            "set trainer.rollout_data_dir for responses and rewards, and log tokens as docs/formats.md shows for verl"
        }
        false => "use TokenLogMixin of stapo_analyze in TRL (docs/formats.md), or TokenLog in any trainer",
    };
    let shown =
        if state.is_loss() { "curves show that something fell, not why" } else { "curves do not show why" };
    format!(
        "{shown}: trainer against sampler, advantages, groups and single tokens are in a \
         token log; {hook}"
    )
}
