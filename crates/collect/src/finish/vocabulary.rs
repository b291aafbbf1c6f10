//! The vocabulary table and how the mask spreads over it.

use super::verdicts::Verdicts;
use crate::collect::vocabulary::VocabularyCounts;
use crate::token_text::TokenTexts;
use stapo_result::vocabulary::TOP_ROWS;
use stapo_result::{Concentration, Vocabulary, VocabularyRow};

/// How counts spread; `None` where there are none.
fn concentration(counts: impl Iterator<Item = u64>) -> Option<Concentration> {
    let mut counts: Vec<u64> = counts.filter(|count| *count > 0).collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let tokens = counts.iter().sum::<u64>();
    let share = |first: usize| counts.iter().take(first).sum::<u64>() as f64 / tokens as f64;
    (tokens > 0).then(|| Concentration {
        tokens,
        distinct: counts.len() as u64,
        top1_share: share(1),
        top5_share: share(5),
        top10_share: share(10),
        herfindahl: counts.iter().map(|count| (*count as f64 / tokens as f64).powi(2)).sum(),
    })
}

/// The vocabulary of the run.
pub fn vocabulary(counts: &VocabularyCounts, verdicts: &Verdicts, texts: &TokenTexts) -> Vocabulary {
    let rows: Vec<VocabularyRow> = counts
        .iter()
        .map(|(id, tally)| {
            let verdict = verdicts.ids.get(&id).copied().unwrap_or_default();
            VocabularyRow {
                token_id: i64::from(id),
                token: texts.known(id).map(str::to_owned),
                positive: tally.positive.count,
                negative: tally.negative.count,
                zero: tally.zero,
                candidates: verdict.silenced + verdict.exploratory,
                silenced: verdict.silenced,
                exploratory: verdict.exploratory,
                positive_energy: tally.positive.energy,
                negative_energy: tally.negative.energy,
            }
        })
        .collect();
    let mut top: Vec<&VocabularyRow> = rows.iter().filter(|row| row.candidates > 0).collect();
    top.sort_by_key(|row| (std::cmp::Reverse((row.silenced, row.candidates)), row.token_id));
    Vocabulary {
        distinct: (!rows.is_empty()).then_some(rows.len() as u64),
        silenced: concentration(rows.iter().map(|row| row.silenced)),
        exploratory: concentration(rows.iter().map(|row| row.exploratory)),
        top: top.into_iter().take(TOP_ROWS).cloned().collect(),
        rows,
    }
}
