//! Small memory changes nothing that is promised to be exact.

use stapo_analyze::analyze::{AnalyzeSettings, RunAnalysis};
use stapo_analyze::framework::s2t::{EntropyCut, Population, Preset, S2tSettings};

use super::support::sample;
use super::{analyzed, preset};

fn tight(settings: &AnalyzeSettings) -> AnalyzeSettings {
    let mut tight = settings.clone();
    tight.limits.kept_entropies = 1_000;
    tight.limits.kept_population = 3_000;
    tight.limits.candidate_bytes = 10_000;
    tight.limits.rare_tokens = 200;
    tight.limits.common_tokens = 8_000;
    tight.limits.claim_tokens = 120_000;
    tight
}

fn tokens(analysis: &RunAnalysis) -> Vec<(u64, i64, &'static str)> {
    let mut tokens: Vec<_> = analysis.cases.top.iter().map(|t| (t.row, t.position, t.kind.name())).collect();
    tokens.sort_unstable();
    tokens
}

#[test]
fn thresholds_and_flags_do_not_depend_on_memory() {
    for population in [Population::Candidates, Population::Positive, Population::All] {
        for q in [0.3, 0.8, 1.0] {
            let settings = preset(S2tSettings { tau_p: 0.01, entropy: EntropyCut::Quantile(q), population });
            let plenty = analyzed(&[sample("stapo.parquet")], &settings);
            let little = analyzed(&[sample("stapo.parquet")], &tight(&settings));
            let tau_h = |a: &RunAnalysis| a.steps.iter().map(|s| s.tau_h).collect::<Vec<_>>();
            assert_eq!(tau_h(&plenty), tau_h(&little), "{population:?} {q}");
            assert_eq!(tokens(&plenty), tokens(&little), "{population:?} {q}");
            assert_eq!(plenty.s2t, little.s2t);
            assert_eq!(plenty.totals, little.totals);
        }
    }
}

#[test]
fn samples_estimate_what_they_stand_for() {
    let settings = AnalyzeSettings::default();
    let plenty = analyzed(&[sample("grpo.parquet")], &settings);
    let little = analyzed(&[sample("grpo.parquet")], &tight(&settings));
    assert!(!little.sweep.exact && plenty.sweep.exact);
    assert!(little.provenance.statements.iter().any(|s| s.contains("1 of 64 other tokens")));
    let rules = |a: &RunAnalysis| a.rules.iter().map(|row| row.rule).collect::<Vec<_>>();
    let steps = |a: &RunAnalysis| a.steps.iter().map(|row| row.step).collect::<Vec<_>>();
    assert_eq!(rules(&plenty), rules(&little));
    assert_eq!(steps(&plenty), steps(&little));
    assert!(!plenty.rules.is_empty() && !plenty.steps.is_empty());
    for (exact, sampled) in plenty.rules.iter().zip(&little.rules) {
        let error = (exact.energy_kept.unwrap() - sampled.energy_kept.unwrap()).abs();
        assert!(error <= 5.0 * sampled.sampling_error + 0.02, "{}: {error}", exact.rule);
        assert!(sampled.sampling_error < 0.05 && exact.sampling_error == 0.0);
    }
    assert!(little.provenance.statements.iter().any(|s| s.contains("claims about norms use 1 of")));
    for (exact, sampled) in plenty.claims.iter().zip(&little.claims) {
        assert_eq!((exact.id, exact.verdict), (sampled.id, sampled.verdict));
        let (Some(exact), Some(value)) = (exact.value, sampled.value) else { continue };
        assert!((exact - value).abs() <= 0.1 * exact.abs() + 0.05, "{}: {exact} {value}", sampled.id);
    }
    for (exact, sampled) in plenty.steps.iter().zip(&little.steps) {
        let (exact, sampled) = (exact.entropy_quantiles.unwrap(), sampled.entropy_quantiles.unwrap());
        for (a, b) in exact.values().into_iter().zip(sampled.values()) {
            assert!((a - b).abs() <= 0.0079 * a + 1e-4, "{a} {b}");
        }
    }
}

#[test]
fn absolute_thresholds_need_no_quantile() {
    let settings = preset(S2tSettings { entropy: EntropyCut::Absolute(0.5), ..S2tSettings::v5() });
    let analysis = analyzed(&[sample("grpo.parquet")], &settings);
    assert_eq!(analysis.steps.len(), 11);
    assert!(analysis.steps.iter().all(|step| step.tau_h == Some(0.5)));
    assert_eq!(analysis.s2t.preset, Preset::Custom);
    assert_eq!(analysis.s2t.entropy_threshold, Some(0.5));
    let below = |spurious: bool| analysis.cases.top.iter().any(|t| (t.entropy < 0.5) == spurious);
    assert!(below(true) && below(false), "the list has both kinds");
    assert!(analysis.cases.top.iter().all(|t| (t.kind.name() == "spurious") == (t.entropy < 0.5)));
}

#[test]
fn settings_out_of_range_are_refused() {
    let refused = |settings: AnalyzeSettings| {
        let run = super::open(&[sample("grpo.parquet")], 1);
        stapo_analyze::analyze::analyze(&run, &settings, &stapo_analyze::ingest::Silent).is_err()
    };
    assert!(refused(preset(S2tSettings { tau_p: 0.0, ..S2tSettings::v5() })));
    assert!(refused(preset(S2tSettings { entropy: EntropyCut::Quantile(1.5), ..S2tSettings::v5() })));
    assert!(refused(AnalyzeSettings { vocab_size: Some(1), ..AnalyzeSettings::default() }));
    assert!(refused(AnalyzeSettings { temperature: Some(0.0), ..AnalyzeSettings::default() }));
}
