//! Other rules on the same tokens: what each silences, damps or amplifies.

mod batch;
mod factor;
mod tally;

use rayon::prelude::*;

use self::batch::{BatchContext, BatchFacts};
use self::factor::{note, preset};
use self::tally::RuleTally;
use super::thresholds::Thresholds;
use crate::collect::Collected;
use crate::collect::run_sample::Sample;
use crate::collect::sample::SampledToken;
use crate::plan::Plan;
use stapo_framework::rules::Rule;
use stapo_framework::s2t::DEFAULT_TAU_P;
use stapo_result::{RuleRow, Totals};

/// Rows of all rules.
pub fn rules(
    collected: &Collected,
    thresholds: &Thresholds,
    plan: &Plan,
    totals: &Totals,
    has_ratio: bool,
) -> Vec<RuleRow> {
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
    Rule::TABLE.into_iter().map(|rule| row(rule, &total, totals, has_ratio, &exact)).collect()
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
