//! From what the pass collected to the result.

mod classes;
mod clusters;
mod correlations;
pub mod flagged;
mod profiles;
mod provenance;
mod quantiles;
mod questions;
mod rules;
mod second_look;
mod steps;
mod sweep;
mod taxonomy;
mod thresholds;
mod token_text;
mod totals;
mod views;
mod vocabulary;

use std::sync::Arc;

use rayon::prelude::*;

use self::classes::{ClassTable, rare_negatives};
use self::flagged::{FlaggedSource, Verdicts};
use self::steps::StepSources;
use self::sweep::RareTokens;
use self::thresholds::Thresholds;
use self::token_text::TokenTexts;
use super::collect::Collected;
use super::collect::tally::BatchTally;
use super::diagnosis;
use super::plan::Plan;
use super::result::cases::CASE_LIMIT;
use super::result::{Cases, Correlation, EntropyChange, RunAnalysis, SUMMARY_VERSION, StepChange};
use super::settings::AnalyzeSettings;
use crate::error::Result;
use crate::ingest::{Column, Progress, Quality, RowIndex, Run};

/// What a scan leaves.
pub struct Scan<'a> {
    /// The run.
    pub run: &'a Run,
    /// What the user asked for.
    pub settings: &'a AnalyzeSettings,
    /// Missing and bad values.
    pub quality: Quality,
    /// Rows of responses.
    pub rows: RowIndex,
    /// Told about another look, where one is needed.
    pub progress: &'a dyn Progress,
}

/// Turns what was collected into the result.
pub fn finish(scan: Scan<'_>, mut plan: Plan, mut collected: Collected) -> Result<RunAnalysis> {
    let run = scan.run;
    let thresholds = Thresholds::find(run, &plan, &collected, scan.progress)?;
    let texts = TokenTexts::new(plan.tokenizer.take(), collected.vocabulary.take_texts());
    let tally = totals::run_tally(&collected);
    let has_ratio = run.has(Column::LogprobNew);
    let knows_clipping = has_ratio || run.has(Column::Clipped);
    let totals = totals::totals(&collected, &tally, knows_clipping);
    let step_groups = steps::groups_by_step(&collected);
    let source = FlaggedSource {
        candidates: std::mem::take(&mut collected.candidates),
        keys: collected.batches.iter().map(|(key, _)| *key).collect(),
        tau_h: thresholds.tau_h.clone(),
        rows: scan.rows,
        groups: std::mem::take(&mut collected.groups),
        texts,
    };
    let answers = questions::answers(&collected, &plan, &source, knows_clipping)?;
    let reports = !plan.for_comparison;
    let (judged, (rules, relations)) = rayon::join(
        || Verdicts::judge(&source),
        || {
            rayon::join(
                || reports.then(|| rules::rules(&collected, &thresholds, totals.tokens, has_ratio)),
                || reports.then(|| Relations::find(&tally, &collected)),
            )
        },
    );
    let verdicts = judged?;
    let (rules, rule_overlap) = rules.unwrap_or_default();
    let relations = relations.unwrap_or_default();
    let verdict = verdicts.total();
    let negatives = rare_negatives(&collected.rare, &plan.rule, &thresholds.split);
    let classes: Vec<ClassTable> = (0..collected.batches.len())
        .into_par_iter()
        .map(|n| {
            let (tally, verdict) = (&collected.batches[n].1, &verdicts.batches[n]);
            ClassTable::of(tally, thresholds.split[n], verdict, negatives[n])
        })
        .collect();
    let mut all_classes = ClassTable::default();
    classes.iter().for_each(|table| all_classes.merge(table));
    let groups = collected.clusters.take();
    let step_sources = StepSources {
        collected: &collected,
        plan: &plan,
        thresholds: &thresholds,
        verdicts: &verdicts.batches,
        classes: &classes,
        groups: &step_groups,
        knows_clipping,
    };
    let rare_zero = tally.counts.rare_zero;
    let tau_h = &thresholds.tau_h;
    let samples = (&collected.rare, &collected.common);
    let ((steps, taxonomy), ((sweep, strategies), clusters)) = rayon::join(
        || {
            let taxonomy = taxonomy::taxonomy(&all_classes, samples, &thresholds.split, &plan, &totals);
            (steps::step_rows(&step_sources), taxonomy)
        },
        || {
            let (rare, silenced) = (&collected.rare, verdict.silenced);
            let rare = reports.then(|| RareTokens::new(rare, tau_h, &plan, &totals, silenced, rare_zero));
            let swept = rare.map(|rare| (rare.sweep(), rare.strategies())).unwrap_or_default();
            (swept, groups.map(|groups| clusters::clusters(groups, &source)).transpose())
        },
    );
    let s2t = totals::s2t_summary(scan.settings, &plan, &totals, &verdict, &thresholds);
    let statements = provenance::statements(&collected, &plan, &totals, &thresholds, &all_classes);
    let (candidates, responses) = if reports {
        (
            views::candidate_points(&collected, &source, &plan)?,
            views::response_views(&collected, &plan, &source),
        )
    } else {
        Default::default()
    };
    let vocabulary = vocabulary::vocabulary(&collected.vocabulary, &verdicts, &source.texts);
    let token_text = source.texts.source();
    let mut analysis = RunAnalysis {
        schema_version: SUMMARY_VERSION,
        verdict: Default::default(),
        taxonomy,
        entropy_change: relations.entropy_change,
        correlations: relations.correlations,
        entropy_profiles: profiles::entropy_profiles(&collected),
        vocabulary,
        sweep,
        strategies,
        rules,
        rule_overlap,
        answers,
        quality: provenance::column_reports(&scan.quality),
        provenance: provenance::provenance(run, &plan, &totals, token_text, statements),
        plane: std::mem::take(&mut collected.plane),
        candidates,
        cases: Cases {
            spurious: verdict.silenced,
            exploratory: verdict.exploratory(),
            complete: verdict.candidates <= CASE_LIMIT as u64,
            top: verdicts.top,
            text_ids: verdicts.text_ids,
            separator: source.texts.separator(),
            source: Some(Arc::new(source)),
        },
        responses,
        clusters: clusters?,
        warnings: Vec::new(),
        totals,
        s2t,
        steps,
    };
    diagnosis::diagnose(run, &collected, &mut analysis);
    Ok(analysis)
}

/// Relations between quantities of a token.
#[derive(Default)]
struct Relations {
    entropy_change: EntropyChange,
    correlations: Vec<Correlation>,
}

impl Relations {
    fn find(tally: &BatchTally, collected: &Collected) -> Self {
        let counts = &tally.counts;
        let StepChange { predicted_low, predicted_high, lemma, measured } = steps::change_of(tally);
        let entropy_change = EntropyChange {
            certified_up: counts.up,
            certified_down: counts.down,
            certified_as_mode: counts.as_mode,
            ambiguous: counts.ambiguous,
            exact: counts.exact_changes,
            predicted_low,
            predicted_high,
            lemma,
            measured: correlations::measured_change(&collected.rare, &collected.common, measured),
        };
        Self { entropy_change, correlations: correlations::correlations(&collected.rare, &collected.common) }
    }
}
