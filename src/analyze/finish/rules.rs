//! Other rules on the same tokens: what each silences, damps or amplifies.

mod batch;
mod factor;
mod tally;

use ndarray::Array2;
use rayon::prelude::*;

use self::batch::BatchContext;
use self::factor::note;
use self::tally::RuleTally;
use super::correlations::weighted_tokens;
use super::thresholds::Thresholds;
use crate::analyze::collect::Collected;
use crate::analyze::collect::sample::SampledToken;
use crate::analyze::result::{RuleOverlap, RuleRow};
use crate::framework::rules::Rule;
use crate::framework::s2t::S2tSettings;

/// Rows and overlaps of all rules.
pub fn rules(
    collected: &Collected,
    thresholds: &Thresholds,
    tokens: u64,
    has_ratio: bool,
) -> (Vec<RuleRow>, RuleOverlap) {
    let (rare, common) = (&collected.rare, &collected.common);
    let mut by_batch: Vec<Vec<(&SampledToken, f64)>> = vec![Vec::new(); collected.batches.len()];
    for (token, weight) in weighted_tokens(rare, common) {
        by_batch[token.batch as usize].push((token, weight));
    }
    let tallies: Vec<RuleTally> = by_batch
        .par_iter()
        .enumerate()
        .map(|(number, tokens)| {
            let (_, tally) = &collected.batches[number];
            let context = BatchContext::new(tally, thresholds.early[number], tokens);
            let mut result = RuleTally::default();
            for (token, weight) in tokens {
                result.add(&context, token, *weight);
            }
            result
        })
        .collect();
    let mut total = RuleTally::default();
    tallies.iter().for_each(|tally| total.merge(tally));
    let exact = Exactness {
        rare: rare.is_complete(),
        all: rare.is_complete() && common.is_complete(),
        early: thresholds.early_exact,
    };
    let rows = Rule::TABLE.into_iter().map(|rule| row(rule, &total, tokens, has_ratio, &exact)).collect();
    (rows, overlap(&total, exact.all && exact.early))
}

struct Exactness {
    rare: bool,
    all: bool,
    early: bool,
}

fn row(rule: Rule, total: &RuleTally, tokens: u64, has_ratio: bool, exact: &Exactness) -> RuleRow {
    let tally = total.rule(rule);
    let is_exact = match rule {
        Rule::StapoV5 | Rule::FullMask => exact.rare,
        Rule::StapoV1 => exact.rare && exact.early,
        Rule::Entropy20 => exact.all && exact.early,
        _ => exact.all,
    };
    RuleRow {
        rule: rule.name().into(),
        description: rule.description(&preset(rule)),
        silenced: tally.silenced,
        damped: tally.damped,
        amplified: tally.amplified,
        silenced_share: if tokens > 0 { tally.silenced / tokens as f64 } else { 0.0 },
        energy_kept: total.kept(rule),
        positive_energy_kept: total.positive_kept(rule),
        negative_energy_kept: total.negative_kept(rule),
        exact: is_exact,
        sampling_error: if exact.all { 0.0 } else { total.sampling_error(rule) },
        note: note(rule, has_ratio).map(str::to_owned),
    }
}

/// The settings that a row of the table stands for.
fn preset(rule: Rule) -> S2tSettings {
    if rule == Rule::StapoV1 { S2tSettings::v1() } else { S2tSettings::v5() }
}

/// A value for every pair of rules.
fn grid<T>(of: impl Fn(Rule, Rule) -> T) -> Array2<T> {
    let count = Rule::TABLE.len();
    Array2::from_shape_fn((count, count), |(a, b)| of(Rule::TABLE[a], Rule::TABLE[b]))
}

fn overlap(total: &RuleTally, exact: bool) -> RuleOverlap {
    let jaccard = |a: Rule, b: Rule| {
        let both = total.both(a, b);
        let either = total.both(a, a) + total.both(b, b) - both;
        (either > 0.0).then(|| both / either)
    };
    RuleOverlap {
        rules: Rule::TABLE.map(|rule| rule.name().to_owned()).to_vec(),
        touched: Rule::TABLE.map(|rule| total.both(rule, rule)).to_vec(),
        both: grid(|a, b| total.both(a, b)),
        jaccard: grid(jaccard),
        exact,
    }
}
