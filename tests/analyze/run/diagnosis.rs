//! Made-up runs that fail in known ways are told as such; those that do not are left alone.

use stapo_analyze::analyze::result::{NormSource, WarningCode};
use stapo_analyze::analyze::{AnalyzeSettings, RunAnalysis};

use super::analyzed;
use super::synthetic::{Step, Synthetic, healthy};

fn run(steps: i64, of: fn(i64) -> Step) -> RunAnalysis {
    let folder = tempfile::tempdir().unwrap();
    analyzed(&[Synthetic::new(steps, of).write(folder.path())], &AnalyzeSettings::default())
}

fn codes(analysis: &RunAnalysis) -> Vec<WarningCode> {
    analysis.warnings.iter().map(|warning| warning.code).collect()
}

/// Entropy is a sign, however far it falls or rises: a state speaks of what the run is for.
#[test]
fn entropy_alone_is_no_damage() {
    let falls = run(16, |step| Step { entropy: if step < 9 { 0.5 } else { 0.004 }, ..healthy(step) });
    let rises = run(16, |step| Step { entropy: if step < 9 { 0.5 } else { 3.0 }, ..healthy(step) });
    for analysis in [falls, rises] {
        assert!(analysis.diagnosis.damage.is_empty(), "{:?}", analysis.diagnosis.damage);
        assert!(!analysis.verdict.state.is_loss(), "{:?}", analysis.verdict.state);
        assert!(analysis.diagnosis.onsets.iter().any(|onset| onset.signal == "entropy"));
    }
}

#[test]
fn lost_reward_is_told() {
    let analysis = run(16, |step| Step { reward: if step < 10 { 0.8 } else { 0.05 }, ..healthy(step) });
    assert!(analysis.verdict.state.is_loss(), "{:?}", analysis.verdict.state);
    assert_eq!(analysis.verdict.first_bad_step, Some(10));
    let health = &analysis.verdict.health;
    assert!(health.contains("The run lost what it had: reward fell from "), "{health}");
}

#[test]
fn dead_batches_are_counted() {
    let analysis =
        run(10, |step| Step { learns: step < 6, reward: if step < 6 { 0.5 } else { 1.0 }, ..healthy(step) });
    let dead = analysis.warnings.iter().find(|w| w.code == WarningCode::DeadBatches).unwrap();
    assert!(dead.message.starts_with("4 of 10 batches"), "{}", dead.message);
    assert_eq!(dead.evidence[0].step, Some(6));
    assert_eq!(analysis.totals.zero_advantage_groups.unwrap(), 32);
    assert_eq!(analysis.steps[9].gradient_energy, 0.0);
    assert_eq!(analysis.steps[9].spurious_energy_share, None);
}

#[test]
fn spikes_name_the_tokens_that_caused_them() {
    let analysis =
        run(14, |step| Step { scale: if step == 7 { 30.0 } else { 1.0 }, rare: Some(77), ..healthy(step) });
    let spike = analysis.warnings.iter().find(|w| w.code == WarningCode::EnergySpike).unwrap();
    assert_eq!(spike.evidence[0].step, Some(7));
    assert!(spike.message.contains("⟨77⟩"), "{}", spike.message);
}

#[test]
fn a_mask_on_one_string_is_told() {
    let analysis = run(12, |step| Step { rare: Some(42), ..healthy(step) });
    let warning = analysis.warnings.iter().find(|w| w.code == WarningCode::MaskConcentration).unwrap();
    assert!(warning.message.contains("100 %") && warning.message.contains("⟨42⟩"), "{}", warning.message);
    assert_eq!(analysis.vocabulary.silenced.as_ref().unwrap().herfindahl, 1.0);
    assert!(!codes(&run(12, healthy)).contains(&WarningCode::MaskConcentration));
}

#[test]
fn what_the_log_leaves_open_is_said() {
    let analysis = run(5, healthy);
    let codes = codes(&analysis);
    for code in [WarningCode::EstimatedGradients, WarningCode::VocabularyGuessed, WarningCode::NoTokenText] {
        assert!(codes.contains(&code), "{code:?}");
    }
    assert_eq!(analysis.totals.gradient_source, NormSource::Estimated);
    assert_eq!(analysis.provenance.vocab_size, 32_000);
    assert!(analysis.totals.gradient_energy_low < analysis.totals.gradient_energy);
}

#[test]
fn impossible_entropies_are_counted() {
    let analysis = run(5, |step| Step { entropy: 14.0, rare: None, ..healthy(step) });
    assert!(codes(&analysis).contains(&WarningCode::Infeasible));
    assert!(analysis.totals.infeasible > 0);
}
