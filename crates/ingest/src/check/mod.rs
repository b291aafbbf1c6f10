//! `stapo-analyze check`: what was found in a log, and whether it can be trusted.

mod report;
mod tally;
mod verdicts;

pub use report::{Check, CheckOutcome, CheckReport, ColumnReport, Steps, Vocabulary};

use std::collections::BTreeMap;
use std::sync::Arc;

use self::tally::Tally;
use crate::{AlignmentRule, Dialect, Mapping, Quality, RawSource, Reason, Run, Transform, scan};
use stapo_base::error::Result;
use stapo_batch::columns::Column;
use stapo_batch::progress::Progress;
use stapo_framework::vocab::vocabulary_containing;

/// With no vocabulary known, the largest one in use bounds what is feasible.
const LARGEST_VOCABULARY: u32 = 262_144;

const WANTED: &[Column] = &[
    Column::TokenId,
    Column::TokenText,
    Column::Logprob,
    Column::LogprobRollout,
    Column::LogprobNew,
    Column::LogprobRef,
    Column::Entropy,
    Column::Advantage,
    Column::AdvantageSeq,
    Column::Reward,
    Column::Mask,
    Column::GradNorm,
    Column::SumPiSq,
    Column::SumPiSqLogPi,
    Column::LogprobAfter,
    Column::EntropyAfter,
];

/// Looks at the whole run.
pub fn check(run: &Run, vocab_size: Option<u32>, progress: &dyn Progress) -> Result<CheckReport> {
    let stated = run.metadata.get("vocab_size").and_then(|v| v.trim().parse::<u32>().ok()).filter(|v| *v > 1);
    let known = vocab_size.or(stated);
    let scanned = scan(run, WANTED, progress, || Tally::new(known.unwrap_or(LARGEST_VOCABULARY)))?;
    let mut tally = Tally::new(known.unwrap_or(LARGEST_VOCABULARY));
    for part in scanned.sinks {
        tally.merge(part);
    }
    let guessed = tally.largest_id.and_then(|id| u32::try_from(id).ok()).map(vocabulary_containing);
    let vocabulary = Vocabulary {
        size: known.or(guessed),
        from: match (vocab_size, stated) {
            (Some(_), _) => "option",
            (None, Some(_)) => "metadata",
            (None, None) => "guessed",
        },
        largest_id: tally.largest_id,
    };
    let unique = |names: Vec<String>| {
        names.into_iter().fold(Vec::new(), |mut all, n| {
            if !all.contains(&n) {
                all.push(n);
            }
            all
        })
    };
    let mut layouts = Vec::new();
    for mapping in &run.mappings {
        if !layouts.contains(&mapping.layout) {
            layouts.push(mapping.layout);
        }
    }
    Ok(CheckReport {
        frameworks: unique(run.mappings.iter().map(|m| framework(m, run)).collect()),
        layouts,
        alignments: unique(run.files.iter().map(|f| alignment_name(f.context.alignment)).collect()),
        files: run.files.len(),
        bytes: run.files.iter().map(|f| f.bytes).sum(),
        skipped: run.skipped.clone(),
        steps: Steps {
            count: tally.steps.len(),
            first: tally.steps.keys().next().copied(),
            last: tally.steps.keys().next_back().copied(),
        },
        responses: scanned.rows.responses,
        tokens: tally.tokens,
        trained_tokens: tally.trained,
        groups: (!tally.groups.is_empty()).then_some(tally.groups.len() as u64),
        columns: columns(run, &scanned.quality, &tally.parts, scanned.rows.responses),
        unused: unique(run.mappings.iter().flat_map(|m| m.unused.clone()).collect()),
        metadata: run.metadata.clone(),
        notes: run.notes.clone(),
        checks: verdicts::verdicts(run, &tally, &scanned.quality, vocabulary.size),
        vocabulary,
    })
}

/// Who wrote the log; a canonical one may say so in its metadata.
fn framework(mapping: &Mapping, run: &Run) -> String {
    match (mapping.dialect, run.metadata.get("framework")) {
        (Dialect::Canonical, Some(name)) => format!("{name} (canonical columns)"),
        (Dialect::Canonical, None) => "canonical columns".into(),
        (dialect, _) => dialect.name().into(),
    }
}

fn alignment_name(rule: AlignmentRule) -> String {
    match rule {
        AlignmentRule::Exact => "canonical".into(),
        AlignmentRule::Given(alignment) => alignment.name().into(),
        AlignmentRule::Auto => "recognised row by row".into(),
    }
}

fn columns(
    run: &Run,
    quality: &Quality,
    parts: &BTreeMap<Arc<str>, u64>,
    responses: u64,
) -> Vec<ColumnReport> {
    let mut reports = Vec::new();
    for &column in Column::ALL {
        let Some(mapped) = run.mappings.iter().find_map(|m| m.get(column)) else { continue };
        let counts = quality.get(column);
        let first = counts.and_then(|q| q.first_bad.as_ref());
        reports.push(ColumnReport {
            canonical: column.name().into(),
            sources: mapped.sources.clone(),
            reason: mapped.reason,
            values: counts.map(|q| q.values),
            missing_share: counts.map(|q| q.missing_share()),
            not_finite: counts.map_or(0, |q| q.not_finite),
            out_of_range: counts.map_or(0, |q| q.out_of_range),
            sentinel: counts.map_or(0, |q| q.sentinel),
            first_bad: first
                .map(|p| format!("{} row {} position {}", run.file_name(p.file), p.row, p.position)),
        });
    }
    let raw: BTreeMap<&str, &str> = run
        .mappings
        .iter()
        .flat_map(|m| m.reward_parts.iter().map(|(raw, part)| (part.as_str(), raw.as_str())))
        .collect();
    reports.extend(raw.into_iter().map(|(part, raw)| {
        let there = parts.get(part).copied().unwrap_or(0);
        let canonical = format!("reward/{part}");
        ColumnReport {
            reason: if raw == canonical { Reason::Name } else { Reason::Alias },
            canonical,
            sources: vec![RawSource { name: raw.into(), transform: Transform::Keep, text: false }],
            values: Some(responses),
            missing_share: Some(1.0 - there as f64 / responses.max(1) as f64),
            not_finite: 0,
            out_of_range: 0,
            sentinel: 0,
            first_bad: None,
        }
    }));
    reports
}
