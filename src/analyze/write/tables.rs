//! The small tables.

use super::table::Table;
use crate::analyze::result::{EntropyQuantiles, RunAnalysis};
use crate::framework::taxonomy::TokenClass;

const QUANTILE_NAMES: [&str; 9] = ["q01", "q05", "q25", "q50", "q75", "q80", "q90", "q95", "q99"];

/// All tables but the flagged tokens, with their names.
pub fn tables(analysis: &RunAnalysis) -> Vec<(&'static str, Table)> {
    vec![
        ("steps", steps(analysis)),
        ("taxonomy", taxonomy(analysis)),
        ("vocabulary", vocabulary(analysis)),
        ("sweep", sweep(analysis)),
        ("rules", rules(analysis)),
        ("plane", plane(analysis)),
    ]
}

fn steps(analysis: &RunAnalysis) -> Table {
    let rows = &analysis.steps;
    let mut table = Table::default()
        .ints("step", rows.iter().map(|r| Some(r.step)))
        .counts("tokens", rows.iter().map(|r| r.tokens))
        .counts("responses", rows.iter().map(|r| r.responses))
        .ints("groups", rows.iter().map(|r| r.groups.map(u64::cast_signed)))
        .ints("zero_advantage_groups", rows.iter().map(|r| r.zero_advantage_groups.map(u64::cast_signed)))
        .floats("mean_reward", rows.iter().map(|r| r.mean_reward))
        .floats("reward_std", rows.iter().map(|r| r.reward_std))
        .floats("mean_length", rows.iter().map(|r| r.mean_length))
        .floats("mean_entropy", rows.iter().map(|r| r.mean_entropy));
    for (i, name) in QUANTILE_NAMES.into_iter().enumerate() {
        let quantile = |q: &Option<EntropyQuantiles>| q.map(|q| q.values()[i]);
        table = table.floats(&format!("entropy_{name}"), rows.iter().map(|r| quantile(&r.entropy_quantiles)));
    }
    table = table
        .floats("mean_prob", rows.iter().map(|r| r.mean_prob))
        .counts("positive", rows.iter().map(|r| r.positive))
        .counts("negative", rows.iter().map(|r| r.negative))
        .counts("zero_advantage", rows.iter().map(|r| r.zero_advantage))
        .counts("missing", rows.iter().map(|r| r.missing))
        .counts("infeasible", rows.iter().map(|r| r.infeasible))
        .floats("gradient_energy", rows.iter().map(|r| Some(r.gradient_energy)))
        .floats("gradient_energy_low", rows.iter().map(|r| Some(r.gradient_energy_low)))
        .floats("gradient_energy_high", rows.iter().map(|r| Some(r.gradient_energy_high)))
        .floats("positive_energy", rows.iter().map(|r| Some(r.positive_energy)))
        .floats("max_norm", rows.iter().map(|r| r.max_norm))
        .counts("candidates", rows.iter().map(|r| r.candidates))
        .floats("tau_h", rows.iter().map(|r| r.tau_h))
        .counts("silenced", rows.iter().map(|r| r.silenced))
        .counts("exploratory", rows.iter().map(|r| r.exploratory))
        .floats("silenced_ratio", rows.iter().map(|r| Some(r.silenced_ratio)))
        .floats("spurious_energy_share", rows.iter().map(|r| r.spurious_energy_share))
        .floats("exploratory_energy_share", rows.iter().map(|r| r.exploratory_energy_share));
    for class in TokenClass::ALL {
        let code = class as usize;
        table = table
            .counts(&format!("tokens_{}", class.name()), rows.iter().map(|r| r.class_tokens[code]))
            .floats(
                &format!("energy_share_{}", class.name()),
                rows.iter().map(|r| Some(r.class_energy_shares[code])),
            );
    }
    table
        .floats("clipped_share", rows.iter().map(|r| r.clipped_share))
        .floats("predicted_change_low", rows.iter().map(|r| r.entropy_change.predicted_low))
        .floats("predicted_change_high", rows.iter().map(|r| r.entropy_change.predicted_high))
        .floats("lemma_change", rows.iter().map(|r| r.entropy_change.lemma))
        .floats("measured_change", rows.iter().map(|r| r.entropy_change.measured))
        .floats("mismatch_kl", rows.iter().map(|r| r.mismatch.as_ref().map(|m| m.kl)))
        .floats(
            "mismatch_mean_absolute_difference",
            rows.iter().map(|r| r.mismatch.as_ref().map(|m| m.mean_absolute_difference)),
        )
}

fn taxonomy(analysis: &RunAnalysis) -> Table {
    let rows = &analysis.taxonomy;
    Table::default()
        .texts("class", rows.iter().map(|r| Some(r.class.clone())))
        .texts("label", rows.iter().map(|r| Some(r.label.clone())))
        .counts("tokens", rows.iter().map(|r| r.tokens))
        .floats("token_share", rows.iter().map(|r| Some(r.token_share)))
        .floats("energy", rows.iter().map(|r| Some(r.energy)))
        .floats("energy_share", rows.iter().map(|r| r.energy_share))
        .floats("mean_norm", rows.iter().map(|r| r.mean_norm))
        .floats("mean_norm_low", rows.iter().map(|r| r.mean_norm_low))
        .floats("mean_norm_high", rows.iter().map(|r| r.mean_norm_high))
        .counts("norm_sample", rows.iter().map(|r| r.norm_sample))
        .floats("norm_ratio", rows.iter().map(|r| r.norm_ratio))
        .counts("entropy_up", rows.iter().map(|r| r.entropy_up))
        .counts("entropy_down", rows.iter().map(|r| r.entropy_down))
        .counts("entropy_ambiguous", rows.iter().map(|r| r.entropy_ambiguous))
        .texts("paper_norm", rows.iter().map(|r| r.paper_norm.clone()))
        .texts("paper_entropy", rows.iter().map(|r| r.paper_entropy.clone()))
        .texts("paper_risk", rows.iter().map(|r| r.paper_risk.clone()))
        .texts("paper_potential", rows.iter().map(|r| r.paper_potential.clone()))
}

fn vocabulary(analysis: &RunAnalysis) -> Table {
    let rows = &analysis.vocabulary.rows;
    Table::default()
        .ints("token_id", rows.iter().map(|r| Some(r.token_id)))
        .texts("token", rows.iter().map(|r| r.token.clone()))
        .counts("positive", rows.iter().map(|r| r.positive))
        .counts("negative", rows.iter().map(|r| r.negative))
        .counts("zero", rows.iter().map(|r| r.zero))
        .counts("candidates", rows.iter().map(|r| r.candidates))
        .counts("silenced", rows.iter().map(|r| r.silenced))
        .counts("exploratory", rows.iter().map(|r| r.exploratory))
        .floats("positive_energy", rows.iter().map(|r| Some(r.positive_energy)))
        .floats("negative_energy", rows.iter().map(|r| Some(r.negative_energy)))
}

fn sweep(analysis: &RunAnalysis) -> Table {
    let rows = &analysis.sweep.cells;
    Table::default()
        .floats("tau_p", rows.iter().map(|r| Some(r.tau_p)))
        .floats("quantile", rows.iter().map(|r| Some(r.quantile)))
        .floats("candidates", rows.iter().map(|r| Some(r.candidates)))
        .floats("silenced", rows.iter().map(|r| Some(r.silenced)))
        .floats("fraction", rows.iter().map(|r| Some(r.fraction)))
        .floats("energy_share", rows.iter().map(|r| r.energy_share))
        .floats("positive_energy_share", rows.iter().map(|r| r.positive_energy_share))
        .floats("overlap", rows.iter().map(|r| r.overlap))
        .flags("exact", rows.iter().map(|r| r.exact))
}

fn rules(analysis: &RunAnalysis) -> Table {
    let rows = &analysis.rules;
    let mut table = Table::default()
        .texts("rule", rows.iter().map(|r| Some(r.rule.clone())))
        .texts("description", rows.iter().map(|r| Some(r.description.clone())))
        .floats("silenced", rows.iter().map(|r| Some(r.silenced)))
        .floats("damped", rows.iter().map(|r| Some(r.damped)))
        .floats("amplified", rows.iter().map(|r| Some(r.amplified)))
        .floats("silenced_share", rows.iter().map(|r| Some(r.silenced_share)))
        .floats("energy_kept", rows.iter().map(|r| r.energy_kept))
        .floats("positive_energy_kept", rows.iter().map(|r| r.positive_energy_kept))
        .floats("negative_energy_kept", rows.iter().map(|r| r.negative_energy_kept))
        .flags("exact", rows.iter().map(|r| r.exact))
        .floats("sampling_error", rows.iter().map(|r| Some(r.sampling_error)))
        .texts("note", rows.iter().map(|r| r.note.clone()));
    for (other, name) in analysis.rule_overlap.rules.iter().enumerate() {
        let jaccard = &analysis.rule_overlap.jaccard;
        table = table.floats(&format!("overlap_{name}"), jaccard.iter().map(|row| row[other]));
    }
    table
}

fn plane(analysis: &RunAnalysis) -> Table {
    let plane = &analysis.plane;
    let rows = &plane.cells;
    let x = |of: usize| rows.iter().map(move |r| Some(plane.log10_prob.edge(usize::from(r.x) + of)));
    let y = |of: usize| rows.iter().map(move |r| Some(plane.entropy.edge(usize::from(r.y) + of)));
    Table::default()
        .floats("log10_prob_from", x(0))
        .floats("log10_prob_to", x(1))
        .floats("entropy_from", y(0))
        .floats("entropy_to", y(1))
        .counts("positive", rows.iter().map(|r| r.positive))
        .counts("negative", rows.iter().map(|r| r.negative))
        .counts("zero", rows.iter().map(|r| r.zero))
        .floats("positive_energy", rows.iter().map(|r| Some(r.positive_energy)))
        .floats("negative_energy", rows.iter().map(|r| Some(r.negative_energy)))
}
