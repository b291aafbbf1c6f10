//! Thresholds, silenced tokens, shares and step tables equal those that numpy computed.

use serde_json::Value;
use stapo_analyze::analyze::RunAnalysis;
use stapo_analyze::analyze::result::{FlagKind, NormSource};
use stapo_analyze::framework::s2t::S2tSettings;

use super::support::sample;
use super::{analyzed, json, preset};

fn close(name: &str, ours: f64, reference: &Value, relative: f64) {
    let reference = reference.as_f64().unwrap();
    assert!((ours - reference).abs() <= relative * reference.abs(), "{name}: {ours} {reference}");
}

fn check_run(run: &str, name: &str, s2t: S2tSettings) -> RunAnalysis {
    let reference = json(&sample(&format!("reference/{run}.json")));
    let analysis = analyzed(&[sample(&format!("{run}.parquet"))], &preset(s2t));
    let totals = &analysis.totals;
    assert_eq!(totals.tokens, reference["tokens"]);
    assert_eq!(totals.responses, reference["responses"]);
    assert_eq!(totals.positive, reference["positive"]);
    assert_eq!(totals.negative, reference["negative"]);
    assert_eq!(totals.zero_advantage, reference["zero"]);
    assert_eq!(totals.infeasible, reference["infeasible_over_0_02_nats"]);
    assert_eq!(totals.gradient_source, NormSource::Measured);
    close("mean_entropy", totals.mean_entropy.unwrap(), &reference["mean_entropy"], 1e-12);
    close("mean_prob", totals.mean_prob.unwrap(), &reference["mean_prob"], 1e-12);
    close("gradient_energy", totals.gradient_energy, &reference["gradient_energy"], 1e-9);
    check_mask(&analysis, &reference["presets"][name]);
    check_steps(&analysis, &reference["steps"]);
    analysis
}

fn check_mask(analysis: &RunAnalysis, reference: &Value) {
    let s2t = &analysis.s2t;
    assert_eq!(s2t.candidates, reference["candidates"]);
    assert_eq!(s2t.silenced, reference["silenced"]);
    assert_eq!(s2t.exploratory, s2t.candidates - s2t.silenced);
    close("fraction", s2t.fraction, &reference["fraction"], 1e-12);
    close("energy_share", s2t.energy_share.unwrap(), &reference["energy_share"], 1e-9);
    close("positive", s2t.positive_energy_share.unwrap(), &reference["positive_energy_share"], 1e-9);
    close("ratio", s2t.mean_norm_ratio.unwrap(), &reference["mean_norm_ratio"], 1e-9);
    let positive = s2t.mean_norm_ratio_positive.unwrap();
    close("positive ratio", positive, &reference["mean_norm_ratio_positive"], 1e-9);
    for step in &analysis.steps {
        let tau_h = &reference["tau_h"][step.step.to_string()];
        match (step.tau_h, tau_h.as_f64()) {
            (Some(ours), Some(theirs)) => assert!((ours - theirs).abs() <= 1e-9, "step {}", step.step),
            (ours, theirs) => assert_eq!(ours, theirs, "step {}", step.step),
        }
    }
    assert!(analysis.cases.complete);
    let spurious = analysis.cases.top.iter().filter(|token| token.kind == FlagKind::Spurious);
    let mut ours: Vec<(u64, i64, i64, i64)> =
        spurious.map(|t| (t.row, t.position, t.step, t.token_id.unwrap())).collect();
    ours.sort_unstable();
    let number = |token: &Value, field: &str| token[field].as_i64().unwrap();
    let reference: Vec<(u64, i64, i64, i64)> = reference["tokens"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| (number(t, "row") as u64, number(t, "position"), number(t, "step"), number(t, "token_id")))
        .collect();
    assert_eq!(ours, reference);
}

fn check_steps(analysis: &RunAnalysis, reference: &Value) {
    let reference = reference.as_array().unwrap();
    assert_eq!(analysis.steps.len(), reference.len());
    for (ours, theirs) in analysis.steps.iter().zip(reference) {
        assert_eq!(ours.step, theirs["step"]);
        assert_eq!(ours.tokens, theirs["tokens"]);
        assert_eq!(ours.candidates, theirs["candidates"]);
        assert_eq!(ours.zero_advantage, theirs["zero_advantage_tokens"]);
        close("mean_entropy", ours.mean_entropy.unwrap(), &theirs["mean_entropy"], 1e-12);
        close("mean_prob", ours.mean_prob.unwrap(), &theirs["mean_prob"], 1e-12);
        close("energy", ours.gradient_energy, &theirs["gradient_energy"], 1e-9);
        let quantiles = ours.entropy_quantiles.unwrap();
        close("median", quantiles.q50, &theirs["median_entropy"], 1e-12);
        close("q80", quantiles.q80, &theirs["q80_entropy"], 1e-12);
        assert_eq!(ours.class_tokens.iter().sum::<u64>(), ours.tokens);
        let shares = ours.class_energy_shares.iter().sum::<f64>();
        assert!((shares - 1.0).abs() < 1e-9, "{shares}");
    }
}

#[test]
fn the_late_preset_on_both_runs() {
    let grpo = check_run("grpo", "v5", S2tSettings::v5());
    check_run("stapo", "v5", S2tSettings::v5());
    let reference = json(&sample("reference/grpo.json"));
    let certified = |name: &str| reference["entropy_direction"][name].as_u64().unwrap();
    let ours = &grpo.entropy_change;
    let decided = ours.certified_up + ours.certified_down;
    assert_eq!(decided - ours.certified_as_mode, certified("certified_up") + certified("certified_down"));
    assert_eq!(decided + ours.ambiguous, grpo.totals.positive + grpo.totals.negative);
    let texts: Vec<_> = grpo.cases.top.iter().map(|token| token.token.clone().unwrap()).collect();
    assert!(texts.contains(&"actually".to_owned()));
}

#[test]
fn the_early_preset_on_both_runs() {
    check_run("grpo", "v1", S2tSettings::v1());
    check_run("stapo", "v1", S2tSettings::v1());
}

#[test]
fn what_the_parts_say_agrees() {
    let analysis = analyzed(&[sample("grpo.parquet")], &preset(S2tSettings::v5()));
    let s2t = &analysis.s2t;
    let own = analysis.sweep.cells.iter().find(|cell| cell.tau_p == 0.002 && cell.quantile == 0.75).unwrap();
    assert_eq!((own.candidates, own.silenced), (s2t.candidates as f64, s2t.silenced as f64));
    assert_eq!(own.overlap, Some(1.0));
    assert!((own.energy_share.unwrap() / s2t.energy_share.unwrap() - 1.0).abs() < 1e-6);
    let rule = |name: &str| analysis.rules.iter().find(|rule| rule.rule.name() == name).unwrap();
    assert_eq!(rule("stapo_v5").silenced, s2t.silenced as f64);
    assert_eq!(rule("fullmask").silenced, s2t.candidates as f64);
    assert_eq!(rule("stapo_v1").silenced, 169.0);
    assert!(rule("stapo_v5").exact && rule("ar").exact);
    let class = |name: &str| analysis.taxonomy.iter().find(|row| row.class.name() == name).unwrap();
    assert_eq!(class("positive_low_p_low_h").tokens, s2t.silenced);
    assert_eq!(class("positive_low_p_high_h").tokens, s2t.exploratory);
    let plane = &analysis.plane.cells;
    assert_eq!(plane.iter().map(|c| c.positive + c.negative + c.zero).sum::<u64>(), analysis.totals.tokens);
    let energy: f64 = plane.iter().map(|c| c.positive_energy + c.negative_energy).sum();
    assert!((energy / analysis.totals.gradient_energy - 1.0).abs() < 1e-5, "{energy}");
    let rows = &analysis.vocabulary.rows;
    assert_eq!(rows.iter().map(|r| r.positive + r.negative + r.zero).sum::<u64>(), analysis.totals.tokens);
    assert_eq!(rows.iter().map(|r| r.silenced).sum::<u64>(), s2t.silenced);
    assert!(analysis.candidates.complete);
    let below = analysis.candidates.points.iter().filter(|p| f64::from(p.logprob).exp() < 0.002);
    assert_eq!(below.count() as u64, s2t.candidates);
    let view = &analysis.responses[0];
    assert_eq!(view.texts.len(), view.surprisal.len());
    assert!(!view.flagged.is_empty() && view.risk >= analysis.responses[1].risk);
    let measured = analysis.entropy_change.measured.unwrap();
    let rank = measured.spearman.unwrap();
    assert!((0.03..0.15).contains(&rank), "{rank}");
}
