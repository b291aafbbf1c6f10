//! What can be told of a run whose log has no entropy, or no advantages, or texts and rewards alone.
//!
//! The pass is the same, with 0 in place of what is not logged; whatever rests on it is taken out of the
//! result before anybody sees it. That nothing is left that should not be, `tests/analyze/run/partial.rs`
//! holds: each number is that of the whole log.

mod answers;

use super::judged;
use stapo_base::error::Result;
use stapo_batch::columns::Column;
use stapo_batch::progress::Progress;
use stapo_collect::finish::second_look::Reread;
use stapo_collect::pass;
use stapo_collect::plan::{Plan, Purpose, largest_id, missing_of};
use stapo_collect::shards::Cache;
use stapo_ingest::training::of_training;
use stapo_ingest::{Dialect, Run};
use stapo_result::RunCore;
use stapo_result::partial::{Partial, PartialAnalysis, TextUnit};
use stapo_result::settings::AnalyzeSettings;
use stapo_result::stand_in::StandIn;

/// Whether a run lacks what a whole analysis needs, while a part of it can be told.
#[must_use]
pub fn is_partial(run: &Run) -> bool {
    missing_of(run).any()
}

/// Analyses a run that has no entropy, or no advantages, as far as it goes: rewards, lengths, KL, sampler against
/// trainer; groups and clipping where advantages are there, entropy where it is. Of texts, what their rewards, lengths and
/// advantages say. A cache, where given, saves reading files that it knows.
///
/// ```
/// use stapo_analyze::analyze::{AnalyzeSettings, analyze_partial};
/// use stapo_analyze::ingest::{IngestSettings, Run, Silent, UserMap};
///
/// let log = concat!(env!("CARGO_MANIFEST_DIR"), "/notebooks-data/grpo.parquet");
/// let map = UserMap::parse(&["entropy=".to_owned()])?;
/// let run = Run::open(&[log.into()], &IngestSettings { map, ..IngestSettings::default() })?;
/// let analysis = analyze_partial(&run, &AnalyzeSettings::default(), None, &Silent)?;
/// assert_eq!(analysis.totals.tokens, 612_395);
/// assert_eq!(analysis.partial.missing_columns, ["entropy"]);
/// # Ok::<(), stapo_analyze::Error>(())
/// ```
pub fn analyze_partial(
    run: &Run,
    settings: &AnalyzeSettings,
    cache: Option<&Cache>,
    progress: &dyn Progress,
) -> Result<PartialAnalysis> {
    let run = &*of_training(run)?;
    let look = Reread { run, progress };
    let (plan, (scan, collected)) = match cache {
        None => {
            let plan = Plan::partial(run, settings, Purpose::Report, largest_id)?;
            let pass = pass::read(run, settings, &plan, &look, progress)?;
            (plan, pass)
        }
        Some(cache) => {
            let plan = Plan::partial(run, settings, Purpose::Report, |run| cache.largest_id(run))?;
            let (gathered, _) = cache.gather(run, &plan, progress)?;
            let pass = pass::close(run, settings, &plan, &look, gathered)?;
            (plan, pass)
        }
    };
    let core = judged::core(scan, plan, collected)?;
    Ok(reduced(run, core))
}

/// What is left of a result.
fn reduced(run: &Run, core: RunCore) -> PartialAnalysis {
    let missing = missing_of(run);
    let missing_columns = missing_columns(missing);
    let partial = Partial {
        missing_columns: missing_columns.clone(),
        cannot_tell: cannot_tell(missing).into(),
        hint: how_to_log(run, missing),
        texts_in: missing.logprob.then(|| match run.spells_tokens() {
            true => TextUnit::Tokens,
            false => TextUnit::Characters,
        }),
    };
    let mut analysis = PartialAnalysis::of(core, partial, missing);
    analysis.answers = answers::without_energy(analysis.answers, missing);
    let cannot_tell = cannot_tell(missing);
    let part = format!(
        "Only a part of this run could be checked: its log has no {}, so {cannot_tell} cannot be told.",
        missing_columns.join(" and no ")
    );
    let health = &analysis.verdict.health;
    // Damage that was found is what a reader has to know first.
    analysis.verdict.health = match analysis.verdict.state {
        _ if missing.logprob => health.clone(),
        state if state.is_loss() => format!("{health} {part}"),
        _ => format!("{part} {health}"),
    };
    analysis.diagnosis.sentence.clone_from(&analysis.verdict.health);
    analysis.provenance.gradient_source = None;
    analysis
}

/// The columns that a run lacks, and how to log them; `None` of a whole log.
pub fn lacks(run: &Run) -> Option<(Vec<String>, String)> {
    let missing = missing_of(run);
    missing.any().then(|| (missing_columns(missing), how_to_log(run, missing)))
}

fn missing_columns(missing: StandIn) -> Vec<String> {
    let columns = [
        (missing.logprob, Column::Logprob),
        (missing.entropy, Column::Entropy),
        (missing.advantage, Column::Advantage),
    ];
    columns.iter().filter(|(is_missing, _)| *is_missing).map(|(_, column)| column.name().into()).collect()
}

/// What needs the columns that are missing.
fn cannot_tell(missing: StandIn) -> &'static str {
    match (missing.entropy, missing.advantage) {
        _ if missing.logprob => "the sampler, large updates, the KL, clipping, entropy and spurious tokens",
        (_, false) => "spurious tokens, gradient energy and the course of entropy",
        (false, true) => "spurious tokens, gradient energy, groups without a signal and clipping",
        (true, true) => {
            "spurious tokens, gradient energy, the course of entropy, groups without a signal and clipping"
        }
    }
}

/// How to log what is missing with the framework that wrote this log.
fn how_to_log(run: &Run, missing: StandIn) -> String {
    let mut dialects = run.mappings.iter().map(|mapping| mapping.dialect);
    if missing.logprob {
        let dialect = dialects.next().unwrap_or(Dialect::Unknown);
        let of = match dialect {
            Dialect::Unknown => String::new(),
            named => format!(" of {}", named.name()),
        };
        return format!(
            "texts{of} have no `logprob`, so {} cannot be told: {}",
            cannot_tell(missing),
            dialect.hook()
        );
    }
    let (what, column) = match (missing.entropy, missing.advantage) {
        (_, false) => ("`entropy`, the entropy of the policy at each token in nats,", "entropy"),
        (false, true) => ("`advantage`, the advantage of each token or response,", "advantage"),
        (true, true) => {
            ("`entropy`, the entropy of the policy at each token in nats, and `advantage`,", "entropy")
        }
    };
    let known = dialects.find(|dialect| dialect.writes_texts()).map(Dialect::hook);
    let how = known.map_or_else(
        || {
            format!(
                "log {what} in the trainer: with stapo_analyze.TokenLog of our Python package \
                 (examples/python/any_trainer.py)"
            )
        },
        String::from,
    );
    format!("{how}; if a column holds it already, name it with --map {column}=COLUMN")
}
