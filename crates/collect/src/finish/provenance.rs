//! Where the numbers come from, and how far they can be trusted.

use std::collections::BTreeSet;

use super::classes::ClassTable;
use super::thresholds::Thresholds;
use crate::collect::Collected;
use crate::collect::entropy_histogram::relative_width;
use crate::plan::Plan;
use stapo_base::format::grouped;
use stapo_ingest::{Layout, Quality, Run, source_names};
use stapo_result::{ColumnReport, FileReport, MappedColumn, Provenance, Totals};

/// Where the numbers come from.
pub fn provenance(
    run: &Run,
    plan: &Plan,
    totals: &Totals,
    token_text: Option<String>,
    quality: &Quality,
    statements: Vec<String>,
) -> Provenance {
    let mut files: Vec<FileReport> = run
        .files
        .iter()
        .map(|f| FileReport { path: f.context.path.display().to_string(), bytes: f.bytes })
        .collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let mut mapping: Vec<MappedColumn> = Vec::new();
    for mapped in run.mappings.iter().flat_map(|m| &m.columns) {
        let one = MappedColumn { column: mapped.column.name().into(), from: source_names(mapped) };
        if !mapping.contains(&one) {
            mapping.push(one);
        }
    }
    mapping.sort_by(|a, b| (&a.column, &a.from).cmp(&(&b.column, &b.from)));
    let layouts: BTreeSet<&str> = run
        .mappings
        .iter()
        .map(|m| match m.layout {
            Layout::Nested => "nested",
            Layout::Long => "long",
        })
        .collect();
    let dialects: BTreeSet<&str> = run.mappings.iter().map(|m| m.dialect.name()).collect();
    let framework = run.metadata.get("framework").cloned();
    let mut skipped: Vec<String> = run.skipped.iter().map(|s| format!("{}: {}", s.path, s.reason)).collect();
    skipped.sort();
    Provenance {
        program: concat!("stapo-analyze ", env!("CARGO_PKG_VERSION")).into(),
        files,
        skipped,
        framework: framework.unwrap_or_else(|| joined(&dialects)),
        layout: joined(&layouts),
        mapping,
        metadata: run.metadata.clone(),
        vocab_size: plan.vocab_size,
        vocab_source: plan.vocab_source,
        gradient_source: Some(totals.gradient_source),
        clip: plan.clip.map(|clip| [clip.low, clip.high]),
        temperature: plan.temperature,
        token_text,
        repeated_ids: Some(quality.repeated_ids).filter(|n| *n > 0),
        evaluation_responses: Some(quality.evaluation).filter(|n| *n > 0),
        statements,
    }
}

fn joined(words: &BTreeSet<&str>) -> String {
    words.iter().copied().collect::<Vec<_>>().join(", ")
}

/// What is approximate, and by how much at most.
pub fn statements(
    collected: &Collected,
    plan: &Plan,
    totals: &Totals,
    thresholds: &Thresholds,
    classes: &ClassTable,
) -> Vec<String> {
    let clip = "the log states no clipping range: 0.2 and 0.28 were assumed";
    let assumed = (plan.clip.is_some() && plan.clip_assumed).then(|| clip.to_owned());
    if plan.stand_in.any() {
        return ["counts and means are exact".to_owned()].into_iter().chain(assumed).collect();
    }
    let level = collected.batches.first().map_or(0, |(_, tally)| tally.histogram.level());
    let width = 100.0 * relative_width(level);
    let mut statements = vec![
        "candidates, thresholds, silenced tokens, counts, means and energies are exact".to_owned(),
        "gradient energy is the sum of squared token norms, not the norm of the batch gradient".to_owned(),
    ];
    statements.push(if collected.sortable {
        "entropy quantiles of steps are exact".to_owned()
    } else {
        format!("entropy quantiles of steps are interpolated in bins: off by at most {width:.2} %")
    });
    if totals.tokens > 0 {
        let uncertain = 100.0 * classes.uncertain as f64 / totals.tokens as f64;
        statements.push(format!(
            "the split of frequent tokens into low and high entropy is interpolated in bins of {width:.2} %; \
             {uncertain:.2} % of the tokens lie in such bins"
        ));
    }
    if !thresholds.early_exact {
        statements
            .push(format!("thresholds of the early preset (rules table) are off by at most {width:.2} %"));
    }
    for (what, sample) in [("rare", &collected.rare), ("other", &collected.common)] {
        if !sample.is_complete() {
            statements.push(format!(
                "rules and norms of classes use 1 of {} {what} tokens with an advantage ({} kept)",
                sample.weight(),
                grouped(sample.tokens.len() as u64)
            ));
        }
    }
    if !collected.claims.is_complete() {
        statements.push(format!(
            "the paper's claims about norms use 1 of {} tokens ({} kept)",
            collected.claims.weight(),
            grouped(collected.claims.tokens.len() as u64)
        ));
    }
    if totals.gradient_source.is_estimated() {
        statements.push(format!(
            "{} gradient norms are estimated from p and H; their energies lie between the stated ends",
            totals.estimated_norms
        ));
    }
    statements.extend(assumed);
    statements
}

/// Missing and bad values by column.
pub fn column_reports(quality: &Quality) -> Vec<ColumnReport> {
    quality
        .iter()
        .map(|(column, q)| ColumnReport {
            column: column.name().into(),
            values: q.values,
            null: q.null,
            not_finite: q.not_finite,
            out_of_range: q.out_of_range,
            sentinel: q.sentinel,
            missing_share: q.missing_share(),
        })
        .collect()
}
