//! The run as tables: one sheet each for the page and for Markdown.

use super::page::{Kind, Sheet};
use super::text::{prose, token_or_id};
use stapo_base::format::{
    amount, grouped as count, none, number, number_or_dash, percent, percent_or_dash, times,
};
use stapo_result::RunAnalysis;
use stapo_result::{ClassRow, PartialStep, StepRow};

/// Steps, a row each.
pub fn steps(steps: &[&StepRow]) -> Sheet {
    let mut sheet = Sheet::new(&[
        "step",
        "tokens",
        "responses",
        "reward",
        "entropy",
        "energy",
        "max ‖g‖",
        "candidates",
        "τₕ",
        "silenced",
        "ratio",
        "their energy",
        "groups without advantage",
        "clipped",
    ]);
    for s in steps {
        sheet.push([
            s.step.to_string(),
            count(s.tokens),
            count(s.responses),
            number_or_dash(s.mean_reward),
            number_or_dash(s.mean_entropy),
            number(s.gradient_energy),
            number_or_dash(s.max_norm),
            count(s.candidates),
            match s.minibatches.len() {
                0 | 1 => number_or_dash(s.tau_h),
                n => format!("{n} batches"),
            },
            count(s.silenced),
            percent(s.silenced_ratio),
            percent_or_dash(s.spurious_energy_share),
            without_advantage(s.zero_advantage_groups, s.groups),
            percent_or_dash(s.clipped_share),
        ]);
    }
    sheet
}

/// The steps of a run without entropy.
pub fn partial_steps(steps: &[&PartialStep]) -> Sheet {
    let mut sheet = Sheet::new(&[
        "step",
        "tokens",
        "responses",
        "reward",
        "length",
        "probability",
        "entropy",
        "engine k3",
        "update k3",
        "reference k3",
        "groups without advantage",
        "clipped",
    ]);
    for s in steps {
        sheet.push([
            s.step.to_string(),
            count(s.tokens),
            count(s.responses),
            number_or_dash(s.mean_reward),
            number_or_dash(s.mean_length),
            number_or_dash(s.mean_prob),
            number_or_dash(s.mean_entropy),
            number_or_dash(s.mismatch.as_ref().map(|m| m.kl)),
            number_or_dash(s.update_k3),
            number_or_dash(s.reference_k3),
            without_advantage(s.zero_advantage_groups, s.groups),
            percent_or_dash(s.clipped_share),
        ]);
    }
    sheet.without_empty()
}

fn without_advantage(zero: Option<u64>, all: Option<u64>) -> String {
    zero.zip(all).map_or_else(none, |(zero, all)| format!("{} of {}", count(zero), count(all)))
}

/// The classes of the taxonomy.
pub fn classes(analysis: &RunAnalysis) -> Sheet {
    let mut sheet = Sheet::new(&[
        "class",
        "tokens",
        "share",
        "energy",
        "mean ‖g‖",
        "interval",
        "× mean",
        "entropy up",
        "down",
        "open",
        "the paper: norm, entropy",
    ]);
    for c in &analysis.taxonomy {
        sheet.push([
            c.label.clone(),
            count(c.tokens),
            percent(c.token_share),
            percent_or_dash(c.energy_share),
            number_or_dash(c.mean_norm),
            interval(c),
            c.norm_ratio.map_or_else(none, times),
            count(c.entropy_up),
            count(c.entropy_down),
            count(c.entropy_ambiguous),
            match (&c.paper_norm, &c.paper_entropy) {
                (Some(norm), Some(entropy)) => format!("{norm}, {entropy}"),
                _ => none(),
            },
        ]);
    }
    sheet
}

fn interval(class: &ClassRow) -> String {
    match (class.mean_norm_low, class.mean_norm_high) {
        (Some(low), Some(high)) if high > low => format!("{} to {}", number(low), number(high)),
        _ => none(),
    }
}

/// What other rules do to the same tokens.
pub fn rules(analysis: &RunAnalysis) -> Sheet {
    let columns =
        ["rule", "silenced", "damped", "amplified", "energy kept", "of A > 0", "of A < 0", "what it does"];
    let mut sheet = Sheet::new(&columns).with(Kind::Words, "what it does");
    for r in &analysis.rules {
        let sampled =
            if r.exact { String::new() } else { format!(" ± {} (sampled)", percent(r.sampling_error)) };
        let note = r.note.as_deref().map_or(String::new(), |n| format!(" ({})", prose(n)));
        sheet.push([
            r.rule.to_string(),
            amount(r.silenced),
            amount(r.damped),
            amount(r.amplified),
            format!("{}{sampled}", percent_or_dash(r.energy_kept)),
            percent_or_dash(r.positive_energy_kept),
            percent_or_dash(r.negative_energy_kept),
            format!("{}{note}", prose(&r.description)),
        ]);
    }
    sheet
}

/// The paper's claims, checked on this run.
pub fn claims(analysis: &RunAnalysis) -> Sheet {
    let mut sheet =
        Sheet::new(&["claim", "verdict", "value", "beside", "the paper", "why"]).with(Kind::Words, "why");
    for row in &analysis.claims {
        sheet.push([
            prose(&row.claim),
            row.verdict.to_string(),
            number_or_dash(row.value),
            row.beside.as_deref().map_or_else(none, prose),
            prose(&row.paper),
            prose(&row.why),
        ]);
    }
    sheet
}

/// The tokens that are silenced most.
pub fn silenced_tokens(analysis: &RunAnalysis, rows: usize) -> Sheet {
    let columns = ["token", "silenced", "exploratory", "with A > 0", "with A < 0"];
    let mut sheet = Sheet::new(&columns).with(Kind::Code, "token");
    for r in analysis.vocabulary.top.iter().filter(|r| r.silenced > 0).take(rows) {
        sheet.push([
            token_or_id(r.token.as_deref(), r.token_id),
            count(r.silenced),
            count(r.exploratory),
            count(r.positive),
            count(r.negative),
        ]);
    }
    sheet
}
