//! Made-up runs that fail in known ways are told as such; those that do not are left alone.

use stapo_analyze::analyze::result::{CauseCode, NormSource, VerdictState, WarningCode};
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

#[test]
fn a_healthy_run_is_left_alone() {
    let analysis = run(12, healthy);
    let first = &analysis.diagnosis.causes[0];
    assert_eq!(first.code, CauseCode::EntropyOfAnotherPolicy, "its p and H are made up one by one");
    assert_eq!(analysis.verdict.state, VerdictState::Suspicious);
    let troubles = codes(&analysis).into_iter().filter(|code| *code < WarningCode::MaskConcentration);
    assert_eq!(troubles.collect::<Vec<_>>(), []);
    assert!(analysis.warnings.iter().all(|w| !w.hint.is_empty() && !w.message.is_empty()));
}

#[test]
fn collapsed_entropy_is_told_first() {
    let analysis = run(16, |step| Step { entropy: if step < 9 { 0.5 } else { 0.004 }, ..healthy(step) });
    assert_eq!(analysis.warnings[0].code, WarningCode::EntropyCollapse);
    assert_eq!(analysis.verdict.state, VerdictState::Collapsed);
    assert_eq!(analysis.verdict.first_bad_step, Some(9));
    assert!(analysis.verdict.health.starts_with("This run collapsed: entropy"));
    assert!(!analysis.diagnosis.exploded);
    assert_eq!(analysis.diagnosis.damage[0].from_step, 9);
}

#[test]
fn exploded_entropy_is_told() {
    let analysis = run(16, |step| Step { entropy: if step < 12 { 0.3 } else { 3.0 }, ..healthy(step) });
    assert_eq!(analysis.warnings[0].code, WarningCode::EntropyExplosion);
    assert_eq!(analysis.verdict.first_bad_step, Some(12));
    assert_eq!(analysis.verdict.state, VerdictState::Collapsed);
    let health = &analysis.verdict.health;
    assert!(health.starts_with("The entropy of this run exploded: entropy rose from "), "{health}");
    assert!(analysis.diagnosis.exploded);
}

#[test]
fn collapsed_reward_is_told() {
    let analysis = run(16, |step| Step { reward: if step < 10 { 0.8 } else { 0.05 }, ..healthy(step) });
    let warning = &analysis.warnings[0];
    assert_eq!(warning.code, WarningCode::RewardCollapse);
    assert_eq!(analysis.verdict.first_bad_step, Some(10), "{warning:?}");
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
    assert_eq!(analysis.verdict.state, VerdictState::Suspicious);
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

#[test]
fn one_step_tells_no_trend() {
    let one = run(1, |step| Step { entropy: 14.0, rare: None, ..healthy(step) });
    assert_eq!(one.verdict.state, VerdictState::Suspicious);
    let health = &one.verdict.health;
    assert!(health.starts_with("Likely cause, entropy of another policy: "), "{health}");
    assert!(
        health.contains(". 1 step is too few to tell a trend (entropy 13.365 nats at step 0, "),
        "{health}"
    );
    assert!(!health.contains('→'), "{health}");
}

#[test]
fn a_likely_cause_is_said_before_the_damage_that_is_not_there() {
    let health = run(12, healthy).verdict.health.clone();
    let places = ["Likely cause, ", ". No damage seen yet over 12 steps (entropy ", "). Do: "];
    let places = places.map(|part| health.find(part).unwrap_or_else(|| panic!("{part}: {health}")));
    assert!(places[0] == 0 && places.is_sorted(), "{health}");
}
