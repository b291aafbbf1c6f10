//! An analysis in pieces gives the same bytes as one process.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::folders;
mod cached;
mod commands;
mod logs;
mod refused;
mod split;

use std::path::PathBuf;

use stapo_analyze::analyze::{
    AnalyzeSettings, FlaggedTokens, MemoryLimits, RunAnalysis, analyze_with_flagged,
};
use stapo_analyze::framework::s2t::S2tSettings;
use stapo_analyze::ingest::{IngestSettings, Run, Silent};

/// Units of a few responses, so that small logs have many.
const UNIT_TOKENS: u64 = 300;

fn ingest(threads: usize) -> IngestSettings {
    IngestSettings { threads, unit_tokens: UNIT_TOKENS, ..IngestSettings::default() }
}

fn open(paths: &[PathBuf]) -> Run {
    Run::open(paths, &ingest(2)).unwrap()
}

fn preset(s2t: S2tSettings) -> AnalyzeSettings {
    AnalyzeSettings { s2t, ..AnalyzeSettings::default() }
}

/// So little memory that everything is sampled, binned and spilled.
fn tight(s2t: S2tSettings) -> AnalyzeSettings {
    let limits = MemoryLimits {
        kept_entropies: 900,
        kept_population: 1 << 20,
        candidate_bytes: 8 << 10,
        kept_differences: 700,
        group_tokens: 10_000,
        rare_tokens: 300,
        common_tokens: 200,
        idle_tokens: 200,
        claim_tokens: 300,
    };
    AnalyzeSettings { limits, ..preset(s2t) }
}

/// Everything that an analysis says.
fn everything(analysis: &RunAnalysis, flagged: &mut FlaggedTokens) -> String {
    let mut all = format!("{analysis:#?}\n");
    flagged
        .for_each(|token| {
            all += &format!("{token:?}\n");
            Ok(())
        })
        .unwrap();
    all
}

fn in_one_process(paths: &[PathBuf], settings: &AnalyzeSettings) -> String {
    let (analysis, mut flagged) = analyze_with_flagged(&open(paths), settings, &Silent).unwrap();
    everything(&analysis, &mut flagged)
}

#[track_caller]
fn assert_same(expected: &str, found: &str) {
    if expected != found {
        let first = expected.lines().zip(found.lines()).position(|(a, b)| a != b).unwrap_or(0);
        let lines =
            |text: &str| text.lines().skip(first.saturating_sub(12)).take(18).collect::<Vec<_>>().join("\n");
        panic!("they differ from line {first} on:\n{}\n--- against ---\n{}", lines(expected), lines(found));
    }
}
