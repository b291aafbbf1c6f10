//! What can be told of a run whose log has no entropy.
//!
//! The pass is the same, with 0 in place of every entropy; whatever rests on it is taken out of the
//! result before anybody sees it. That nothing is left that should not be, `tests/partial.rs` holds:
//! each number is that of the same log with its entropies.

mod answers;

use super::finish::{self, second_look::Reread};
use super::plan::Plan;
use super::result::partial::{Partial, PartialAnalysis};
use super::settings::AnalyzeSettings;
use super::shards::{Cache, Gathered};
use super::{close, result::RunCore};
use crate::error::Result;
use crate::ingest::{ALL_UNITS, Column, Progress, Run};

/// What needs the entropy of each token.
const CANNOT_TELL: &str = "spurious tokens, gradient energy and the course of entropy";

/// Analyses a run that has no entropy, as far as it goes: rewards, lengths, groups, clipping, KL, and
/// sampler against trainer. A cache, where given, saves reading files that it knows.
///
/// ```
/// use stapo_analyze::analyze::{AnalyzeSettings, analyze_without_entropy};
/// use stapo_analyze::ingest::{IngestSettings, Run, Silent, UserMap};
///
/// let log = concat!(env!("CARGO_MANIFEST_DIR"), "/notebooks-data/grpo.parquet");
/// let map = UserMap::parse(&["entropy=".to_owned()])?;
/// let run = Run::open(&[log.into()], &IngestSettings { map, ..IngestSettings::default() })?;
/// let analysis = analyze_without_entropy(&run, &AnalyzeSettings::default(), None, &Silent)?;
/// assert_eq!(analysis.totals.tokens, 612_395);
/// assert_eq!(analysis.partial.missing_columns, ["entropy"]);
/// # Ok::<(), stapo_analyze::Error>(())
/// ```
pub fn analyze_without_entropy(
    run: &Run,
    settings: &AnalyzeSettings,
    cache: Option<&Cache>,
    progress: &dyn Progress,
) -> Result<PartialAnalysis> {
    let (plan, gathered) = match cache {
        None => {
            let plan = Plan::without_entropy(run, settings, super::plan::largest_id)?;
            let gathered = Gathered::scan(run, &plan, ALL_UNITS, progress)?;
            (plan, gathered)
        }
        Some(cache) => {
            let plan = Plan::without_entropy(run, settings, |run| cache.largest_id(run))?;
            let (gathered, _) = cache.gather(run, &plan, progress)?;
            (plan, gathered)
        }
    };
    let look = Reread { run, progress };
    let (scan, collected) = close(run, settings, &plan, &look, gathered)?;
    let core = finish::core(scan, plan, collected)?;
    Ok(reduced(run, core))
}

/// What is left of a result without entropy.
fn reduced(run: &Run, core: RunCore) -> PartialAnalysis {
    let partial = Partial {
        missing_columns: vec![Column::Entropy.name().into()],
        cannot_tell: CANNOT_TELL.into(),
        hint: how_to_log(run),
    };
    let mut analysis = PartialAnalysis::of(core, partial);
    analysis.answers = answers::without_entropy(analysis.answers);
    analysis.verdict.health = format!(
        "Only a part of this run could be checked: its log has no entropy, so {CANNOT_TELL} cannot be told. {}",
        analysis.verdict.health
    );
    analysis.diagnosis.sentence.clone_from(&analysis.verdict.health);
    analysis.provenance.gradient_source = None;
    analysis
}

/// How to log entropies with the framework that wrote this log.
fn how_to_log(run: &Run) -> String {
    let known = run.mappings.iter().find_map(|mapping| mapping.dialect.text_only());
    let ours = "log `entropy`, the entropy of the policy at each token in nats, in the trainer: with \
                stapo_analyze.TokenLog of our Python package (examples/python/any_trainer.py)";
    let named = "if a column holds it already, name it with --map entropy=COLUMN";
    format!("{}; {named}", known.unwrap_or(ours))
}
