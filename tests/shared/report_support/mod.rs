//! A made-up but consistent analysis: thresholds, flags and counts follow from its candidates.
#![allow(
    dead_code,
    unused_imports,
    clippy::unwrap_used,
    clippy::field_reassign_with_default,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss
)]

/// A result with these fields, the others as by default or as in another: outside of the crate results cannot be
/// written as literals.
macro_rules! with {
    ($kind:ident { $($field:ident $(: $value:expr)?),* $(,)? }) => {
        with!($kind { $($field $(: $value)?,)* ..$kind::default() })
    };
    ($kind:ident { $($field:ident $(: $value:expr)?,)* ..$base:expr }) => {{
        let mut made: $kind = $base;
        $(with!(@set made $field $($value)?);)*
        made
    }};
    (@set $made:ident $field:ident) => { $made.$field = $field };
    (@set $made:ident $field:ident $value:expr) => { $made.$field = $value };
}

mod candidates;
mod spec;
mod tables;
mod what_if;

use stapo_analyze::analyze::result::cases::LARGEST_TAU_P;
use stapo_analyze::analyze::result::*;
use stapo_analyze::analyze::{
    AnalyzeSettings, ComparedRun, RunAnalysis, RunCore, analyze, analyze_for_comparison,
};
use stapo_analyze::framework::s2t::{Population, Preset};
use stapo_analyze::ingest::{IngestSettings, Run, Silent};

pub use candidates::mask;
use spec::token_text;
pub use spec::{HOSTILE, Spec};
use stapo_analyze::stats::random::Random;

/// The analysis of a sample run.
pub fn sample(name: &str, settings: &AnalyzeSettings) -> RunAnalysis {
    let settings = AnalyzeSettings { tokenizer: Some(data("model/tokenizer.json")), ..settings.clone() };
    analyze(&open(name), &settings, &Silent).unwrap()
}

/// A sample run as comparisons need it.
pub fn compared(name: &str) -> ComparedRun {
    let tokenizer = Some(data("model/tokenizer.json"));
    let settings = AnalyzeSettings { tokenizer, ..AnalyzeSettings::default() };
    analyze_for_comparison(&open(name), &settings, &Silent).unwrap()
}

fn open(name: &str) -> Run {
    Run::open(&[data(name)], &IngestSettings::default()).unwrap()
}

fn data(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("notebooks-data").join(name)
}

/// Signals of which one was damaged, where there are steps.
fn diagnosis(spec: &Spec) -> Diagnosis {
    if spec.steps < 2 {
        return Diagnosis::default();
    }
    let points = (0..spec.steps).map(|step| (step as i64, 1.0 / (1.0 + step as f64), Some(0.01))).collect();
    with!(Diagnosis {
        damage: vec![Damage {
            signal: SignalName::Reward,
            slice: None,
            from_step: 1,
            before: 1.0,
            after: 0.1
        }],
        onsets: vec![Onset { signal: SignalName::Reward, step: 1, direction: Direction::Down }],
        signals: vec![Signal { name: SignalName::Reward, points, range: None }],
    })
}

/// Few tokens that carry most of the energy.
fn drivers(spec: &Spec) -> Drivers {
    let curve = if spec.steps > 0 { vec![(1e-4, 0.2), (1e-2, 0.6), (1.0, 1.0)] } else { Vec::new() };
    with!(Drivers { curve })
}

/// Makes up an analysis.
pub fn synthetic(spec: Spec) -> RunAnalysis {
    let mut random = Random::splitmix(7);
    let points = candidates::points(&spec, &mut random);
    let s2t = with!(S2tSummary {
        preset: Preset::V5,
        tau_p: 0.002,
        entropy_quantile: Some(0.75),
        population: Population::Candidates,
        per: BatchKind::Step,
    });
    let outcome = candidates::mask(&points, s2t.tau_p, 0.75);
    let tokens = 50_000 * spec.steps as u64;
    let steps = tables::steps(&spec, &points, &outcome, &mut random);
    let silenced: u64 = steps.iter().map(|s| s.silenced).sum();
    let candidates: u64 = steps.iter().map(|s| s.candidates).sum();
    let s2t = with!(S2tSummary {
        candidates,
        silenced,
        exploratory: candidates - silenced,
        fraction: silenced as f64 / tokens as f64,
        energy_share: Some(0.0058),
        positive_energy_share: Some(0.0203),
        mean_norm_ratio: Some(4.61),
        mean_norm_ratio_positive: Some(6.6),
        exploratory_energy_share: Some(0.0021),
        median_tau_h: Some(0.9),
        ..s2t
    });
    let cases = with!(Cases {
        top: candidates::flagged(&spec, &points, &outcome, &mut random),
        spurious: silenced,
        exploratory: candidates - silenced,
        complete: true,
    });
    let core = with!(RunCore {
        diagnosis: diagnosis(&spec),
        drivers: drivers(&spec),
        schema_version: SUMMARY_VERSION,
        verdict: with!(RunVerdict {
            state: RunState::Healthy,
            health: "Healthy: reward rises and entropy stays above half of where it began.".into(),
            spurious:
                "A small part of the tokens is spurious; each pulls hard, together they carry little energy."
                    .into(),
            fraction: s2t.fraction,
            energy_share: s2t.energy_share,
            mean_norm_ratio: s2t.mean_norm_ratio,
            first_bad_step: None,
            top_tokens: (0..5).map(|i| token_text(i * 3, spec.hostile)).collect(),
        }),
        totals: tables::totals(&spec, tokens),
        warnings: tables::warnings(spec.hostile),
        taxonomy: tables::taxonomy(tokens),
        vocabulary: tables::vocabulary(&spec),
        answers: Default::default(),
        quality: Vec::new(),
        provenance: tables::provenance(spec.hostile),
        plane: tables::plane(&mut random),
        steps,
        s2t,
    });
    with!(RunAnalysis {
        core,
        entropy_change: tables::entropy_change(),
        claims: tables::claims(),
        sweep: what_if::sweep(&points, tokens),
        rules: what_if::rules(),
        candidates: with!(Candidates { points, complete_below: LARGEST_TAU_P, complete: true }),
        responses: candidates::responses(&spec, &mut random),
        cases,
    })
}
