//! Other rules on the same tokens: what each silences, damps or amplifies.

mod batch;
mod factor;
mod tally;

use ndarray::Array2;
use rayon::prelude::*;

use self::batch::{BatchContext, BatchFacts};
use self::factor::{note, preset};
use self::tally::RuleTally;
use super::thresholds::Thresholds;
use crate::analyze::collect::Collected;
use crate::analyze::collect::run_sample::Sample;
use crate::analyze::collect::sample::SampledToken;
use crate::analyze::plan::Plan;
use crate::analyze::result::{RuleOverlap, RuleRow, Totals};
use crate::framework::rules::Rule;
use crate::framework::s2t::DEFAULT_TAU_P;

/// Rows and overlaps of all rules.
pub fn rules(
    collected: &Collected,
    thresholds: &Thresholds,
    plan: &Plan,
    totals: &Totals,
    has_ratio: bool,
) -> (Vec<RuleRow>, RuleOverlap) {
    let Collected { rare, common, idle, .. } = collected;
    let mut by_batch: Vec<Vec<(&SampledToken, f64)>> = vec![Vec::new(); collected.batches.len()];
    for (token, weight) in [rare, common, idle].into_iter().flat_map(Sample::weighted) {
        by_batch[token.batch as usize].push((token, weight));
    }
    let tallies: Vec<RuleTally> = by_batch
        .par_iter()
        .enumerate()
        .map(|(number, tokens)| {
            let facts = BatchFacts {
                tally: &collected.batches[number].1,
                early: thresholds.early[number],
                sortable: collected.sortable,
                knows_candidates: plan.s2t.tau_p == DEFAULT_TAU_P,
            };
            let context = BatchContext::new(&facts, tokens);
            let mut result = RuleTally::default();
            for (token, weight) in tokens.iter().filter(|(token, _)| token.advantage != 0.0) {
                result.add(&context, token, *weight);
            }
            result
        })
        .collect();
    let mut total = RuleTally::default();
    tallies.iter().for_each(|tally| total.merge(tally));
    let exact = Exactness {
        rare: rare.is_complete(),
        learning: rare.is_complete() && common.is_complete(),
        all: [rare, common, idle].into_iter().all(Sample::is_complete),
        early: thresholds.early_exact,
    };
    let rows = Rule::TABLE.into_iter().map(|rule| row(rule, &total, totals, has_ratio, &exact)).collect();
    (rows, overlap(&total, exact.all && exact.early))
}

/// What is known of every token: those below the largest τ_p, those with an advantage, all; and
/// whether the 0.80-quantile of all entropies is exact.
struct Exactness {
    rare: bool,
    learning: bool,
    all: bool,
    early: bool,
}

impl Exactness {
    fn of(&self, rule: Rule) -> bool {
        match rule {
            Rule::StapoV5 | Rule::FullMask => self.rare,
            Rule::StapoV1 => self.rare && self.early,
            Rule::Entropy20 => self.learning && self.early,
            // Their thresholds are taken over tokens without advantage, too.
            Rule::ClipCov | Rule::KlCov => self.all,
            _ => self.learning,
        }
    }
}

fn row(rule: Rule, total: &RuleTally, totals: &Totals, has_ratio: bool, exact: &Exactness) -> RuleRow {
    let tally = total.rule(rule);
    let is_exact = exact.of(rule);
    let all = [totals.positive_energy, totals.gradient_energy - totals.positive_energy];
    let touches_rare = matches!(rule, Rule::StapoV5 | Rule::StapoV1 | Rule::FullMask);
    let [energy_kept, positive_energy_kept, negative_energy_kept] =
        total.kept(rule, Some(all).filter(|_| touches_rare));
    RuleRow {
        rule,
        description: rule.description(&preset(rule)).unwrap_or_default(),
        silenced: tally.silenced,
        damped: tally.damped,
        amplified: tally.amplified,
        silenced_share: if totals.tokens > 0 { tally.silenced / totals.tokens as f64 } else { 0.0 },
        energy_kept,
        positive_energy_kept,
        negative_energy_kept,
        exact: is_exact,
        sampling_error: if is_exact { 0.0 } else { total.sampling_error(rule) },
        note: note(rule, has_ratio).map(str::to_owned),
    }
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
        rules: Rule::TABLE.to_vec(),
        touched: Rule::TABLE.map(|rule| total.both(rule, rule)).to_vec(),
        both: grid(|a, b| total.both(a, b)),
        jaccard: grid(jaccard),
        exact,
    }
}
