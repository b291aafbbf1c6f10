//! The taxonomy table of the run.

use super::classes::ClassTable;
use super::measured_change::weighted_tokens;
use super::ratios::{mean, share};
use crate::collect::run_sample::Sample;
use crate::plan::Plan;
use stapo_framework::entropy_change::EntropyDirection;
use stapo_framework::s2t::is_low_entropy;
use stapo_framework::taxonomy::{Level, TokenClass, Trend};
use stapo_result::{ClassRow, Totals};

/// Norms of a class, from the sampled tokens.
#[derive(Clone, Copy, Default)]
struct Norms {
    tokens: u64,
    weight: f64,
    low: f64,
    point: f64,
    high: f64,
    directions: [u64; 4],
}

/// One row a class.
pub fn taxonomy(
    classes: &ClassTable,
    samples: (&Sample, &Sample),
    splits: &[f64],
    plan: &Plan,
    totals: &Totals,
) -> Vec<ClassRow> {
    let mut norms = [Norms::default(); 9];
    for (token, weight) in weighted_tokens(samples.0, samples.1) {
        let low_entropy = is_low_entropy(token.entropy, splits[token.batch as usize]);
        let rare = plan.rule.is_rare(token.logprob);
        let of_class = &mut norms[TokenClass::code_of(token.advantage, rare, low_entropy)];
        of_class.tokens += 1;
        of_class.weight += weight;
        of_class.low += weight * f64::from(token.norm_low);
        of_class.point += weight * f64::from(token.norm);
        of_class.high += weight * f64::from(token.norm_high);
        of_class.directions[usize::from(token.direction) % 4] += 1;
    }
    TokenClass::ALL.into_iter().map(|class| row(class, classes, &norms[class as usize], totals)).collect()
}

fn row(class: TokenClass, classes: &ClassTable, norms: &Norms, totals: &Totals) -> ClassRow {
    let tally = classes.classes[class as usize];
    let of = |sum: f64| share(sum, norms.weight);
    let paper = class.paper_row();
    ClassRow {
        class,
        label: class.label().into(),
        tokens: tally.tokens,
        token_share: mean(tally.tokens as f64, totals.tokens).unwrap_or(0.0),
        energy: tally.energy,
        energy_share: share(tally.energy, totals.gradient_energy),
        mean_norm: of(norms.point),
        mean_norm_low: of(norms.low),
        mean_norm_high: of(norms.high),
        norm_sample: norms.tokens,
        norm_ratio: of(norms.point).zip(totals.mean_norm).and_then(|(norm, all)| share(norm, all)),
        entropy_up: norms.directions[EntropyDirection::Up as usize],
        entropy_down: norms.directions[EntropyDirection::Down as usize],
        entropy_ambiguous: norms.directions[EntropyDirection::Ambiguous as usize],
        paper_norm: paper.map(|row| level(row.norm).into()),
        paper_entropy: paper.map(|row| trend(row.entropy).into()),
        paper_risk: paper.and_then(|row| row.risk).map(|risk| level(risk).into()),
        paper_potential: paper.map(|row| level(row.potential).into()),
    }
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Low => "low",
        Level::High => "high",
        Level::Highest => "highest",
    }
}

fn trend(trend: Trend) -> &'static str {
    match trend {
        Trend::Up => "up",
        Trend::Down => "down",
    }
}
