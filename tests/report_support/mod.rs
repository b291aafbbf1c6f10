//! A made-up but consistent analysis: thresholds, flags and counts follow from its candidates.
#![allow(
    dead_code,
    unused_imports,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss
)]

mod candidates;
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

/// What to make up.
#[derive(Clone, Copy)]
pub struct Spec {
    /// Steps.
    pub steps: usize,
    /// Rare tokens (p < 0.02, A > 0) of each step.
    pub rare_per_step: usize,
    /// Share of them with p < τ_p.
    pub candidate_share: f64,
    /// Whole responses, and tokens of each.
    pub responses: (usize, usize),
    /// Whether token texts attack the page.
    pub hostile: bool,
}

impl Default for Spec {
    fn default() -> Self {
        Self { steps: 11, rare_per_step: 90, candidate_share: 0.3, responses: (6, 120), hostile: false }
    }
}

/// Texts that break pages which trust them.
pub const HOSTILE: &[&str] = &[
    "</script><img src=x onerror=\"window.hacked=1\">",
    "<script>window.hacked=1</script>",
    "\u{202E}evil\u{2066}",
    "bell\u{7}\u{0}\u{1b}[31m",
    "=cmd|' /C calc'!A0",
    "'\"><svg onload=window.hacked=1>",
    "`| **md** [x](javascript:alert(1))",
    "${alert(1)}{{7*7}}",
    "lone \u{FFFD} half",
    "&lt;b&gt;&#x3c;",
    "]]><!--",
];

/// SplitMix64: the same numbers everywhere.
pub struct Random(pub u64);

impl Random {
    /// The next number in [0, 1).
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The text of a token id.
pub fn token_text(id: usize, hostile: bool) -> String {
    const WORDS: &[&str] = &[
        " the", "=", " 12", " so", " banana", "\n", " wait", " answer", " +", " 7", " Thus", " lamp", " is",
    ];
    if hostile && id.is_multiple_of(3) {
        if id == 33 {
            return "long".repeat(2_500);
        }
        return HOSTILE[(id / 3) % HOSTILE.len()].to_owned();
    }
    format!("{}{}", WORDS[id % WORDS.len()], if id < WORDS.len() { String::new() } else { format!("{id}") })
}

/// Signals of which one was damaged, where there are steps.
fn diagnosis(spec: &Spec) -> Diagnosis {
    if spec.steps < 2 {
        return Diagnosis::default();
    }
    let points = (0..spec.steps).map(|step| (step as i64, 1.0 / (1.0 + step as f64), Some(0.01))).collect();
    Diagnosis {
        damage: vec![Damage { signal: "reward".into(), from_step: 1, before: 1.0, after: 0.1 }],
        onsets: vec![Onset { signal: "reward".into(), step: 1, direction: Direction::Down }],
        signals: vec![Signal { name: "reward".into(), points, range: None }],
        ..Diagnosis::default()
    }
}

/// Few tokens that carry most of the energy.
fn drivers(spec: &Spec) -> Drivers {
    let curve = if spec.steps > 0 { vec![(1e-4, 0.2), (1e-2, 0.6), (1.0, 1.0)] } else { Vec::new() };
    Drivers { curve, ..Drivers::default() }
}

/// Makes up an analysis.
pub fn synthetic(spec: Spec) -> RunAnalysis {
    let mut random = Random(7);
    let points = candidates::points(&spec, &mut random);
    let s2t = S2tSummary {
        preset: Preset::V5,
        tau_p: 0.002,
        entropy_quantile: Some(0.75),
        population: Population::Candidates,
        per: BatchKind::Step,
        ..S2tSummary::default()
    };
    let outcome = candidates::mask(&points, s2t.tau_p, 0.75);
    let tokens = 50_000 * spec.steps as u64;
    let steps = tables::steps(&spec, &points, &outcome, &mut random);
    let silenced: u64 = steps.iter().map(|s| s.silenced).sum();
    let candidates: u64 = steps.iter().map(|s| s.candidates).sum();
    let s2t = S2tSummary {
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
    };
    let cases = Cases {
        top: candidates::flagged(&spec, &points, &outcome, &mut random),
        spurious: silenced,
        exploratory: candidates - silenced,
        complete: true,
        ..Cases::default()
    };
    let core = RunCore {
        diagnosis: diagnosis(&spec),
        drivers: drivers(&spec),
        schema_version: SUMMARY_VERSION,
        verdict: RunVerdict {
            state: VerdictState::Healthy,
            health: "Healthy: reward rises and entropy stays above half of where it began.".into(),
            spurious:
                "A small part of the tokens is spurious; each pulls hard, together they carry little energy."
                    .into(),
            fraction: s2t.fraction,
            energy_share: s2t.energy_share,
            mean_norm_ratio: s2t.mean_norm_ratio,
            first_bad_step: None,
            top_tokens: (0..5).map(|i| token_text(i * 3, spec.hostile)).collect(),
        },
        totals: tables::totals(&spec, tokens),
        warnings: tables::warnings(spec.hostile),
        taxonomy: tables::taxonomy(tokens),
        entropy_profiles: tables::profiles(),
        vocabulary: tables::vocabulary(&spec),
        answers: Default::default(),
        quality: Vec::new(),
        provenance: tables::provenance(spec.hostile),
        plane: tables::plane(&mut random),
        steps,
        s2t,
    };
    RunAnalysis {
        core,
        entropy_change: tables::entropy_change(),
        correlations: tables::correlations(),
        sweep: what_if::sweep(&points, tokens),
        strategies: what_if::strategies(silenced, candidates),
        rules: what_if::rules(),
        rule_overlap: what_if::overlap(),
        candidates: Candidates { points, complete_below: LARGEST_TAU_P, complete: true },
        responses: candidates::responses(&spec, &mut random),
        cases,
    }
}
