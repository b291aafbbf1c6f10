//! The off-policy ledger, corrections, and where the difference sits.

use maud::{Markup, html};

use crate::page::{Kind, Sheet};
use crate::text::{prose, token_or_id};
use stapo_base::format::{grouped as count, number, number_or_dash, percent, percent_or_dash};
use stapo_result::Answers;
use stapo_result::breakdown::{BinRow, IdRow};
use stapo_result::corrections::{ChangedId, CorrectionRow};
use stapo_result::offpolicy::Difference;

/// Ids that are named of each correction.
const CHANGED: usize = 4;

const COLUMNS: [&str; 13] = [
    "difference",
    "tokens",
    "mean",
    "mean |d|",
    "k3",
    "χ²",
    "effective tokens",
    "outside 0.9–1.1",
    "outside 0.5–2",
    "outside 0.2–5",
    "largest |d|",
    "effective responses",
    "geometric mean",
];

fn cells(name: String, d: &Difference) -> Vec<String> {
    vec![
        name,
        count(d.tokens),
        number(d.mean),
        number(d.mean_abs),
        number(d.k3),
        number_or_dash(d.chi2),
        percent(d.ess),
        percent(d.outside_0_9_1_1),
        percent(d.outside_0_5_2),
        percent(d.outside_0_2_5),
        number(d.max_abs),
        percent(d.ess_sequence),
        number(d.geometric_mean),
    ]
}

/// The differences of the run.
pub fn ledger(answers: &Answers) -> Option<Markup> {
    let ledger = answers.offpolicy.as_ref()?;
    let mut sheet = Sheet::new(&COLUMNS);
    for (name, difference) in [
        ("engine: trainer − sampler", &ledger.run.engine),
        ("update: at the loss − start of step", &ledger.run.update),
        ("total: at the loss − sampler", &ledger.run.total),
    ] {
        if let Some(difference) = difference {
            sheet.push(cells(name.into(), difference));
        }
    }
    Some(sheet.folded(
        "Off-policy ledger",
        Some("offpolicy"),
        "Differences d of log-probabilities over trained tokens; ratios are e^d, of responses e^Σd. By step and lag in the file.",
    ))
}

/// The engine difference by lag.
pub fn lags(answers: &Answers) -> Option<Markup> {
    let ledger = answers.offpolicy.as_ref().filter(|ledger| ledger.lags.len() > 1)?;
    let mut sheet = Sheet::new(&COLUMNS);
    let what = if ledger.lag_is_version { "version" } else { "lag" };
    ledger.lags.iter().for_each(|row| sheet.push(cells(format!("{what} {}", row.lag), &row.difference)));
    Some(sheet.folded(
        "Trainer against sampler by lag",
        Some("offpolicy"),
        "Lag is the step minus the step whose weights the sampler had.",
    ))
}

/// The corrections bench.
pub fn corrections(answers: &Answers) -> Option<Markup> {
    let ledger = answers.offpolicy.as_ref().filter(|ledger| !ledger.corrections.is_empty())?;
    let mut sheet = Sheet::new(&[
        "correction",
        "mean weight",
        "effective tokens",
        "changed",
        "dropped tokens",
        "dropped responses",
        "energy kept",
        "spurious removed",
        "overlap with S2T",
        "tokens changed most",
    ])
    .with(Kind::Words, "tokens changed most");
    for row in &ledger.corrections {
        sheet.push([
            row.rule.clone(),
            number(row.mean_weight),
            percent_or_dash(row.ess),
            percent(row.changed_tokens),
            percent(row.dropped_tokens),
            percent(row.dropped_responses),
            percent_or_dash(row.energy_kept),
            percent_or_dash(row.spurious_removed),
            percent_or_dash(row.overlap_with_s2t),
            changed_most(row),
        ]);
    }
    Some(sheet.without_empty().folded(
        "Corrections for an off-policy sampler",
        Some("corrections"),
        "What each would do to this log: weights on top of the objective's own, of r = trainer/sampler. Other bounds: --correction.",
    ))
}

/// The ids that a correction changes most, with their share of what it changes.
fn changed_most(row: &CorrectionRow) -> String {
    let one = |id: &ChangedId| {
        let name = token_or_id(id.token.as_deref(), id.token_id);
        format!("{name} {}", percent(id.share))
    };
    row.top.iter().take(CHANGED).map(one).collect::<Vec<_>>().join(", ")
}

fn bins(title: &str, rows: &[BinRow]) -> Option<Markup> {
    let mut sheet = Sheet::new(&[
        "bin",
        "tokens",
        "share of tokens",
        "mean",
        "mean |d|",
        "k3",
        "share of k3",
        "outside 0.5–2",
    ]);
    for row in rows {
        sheet.push([
            row.bin.clone(),
            count(row.tokens),
            percent(row.token_share),
            number(row.mean),
            number(row.mean_abs),
            number(row.k3),
            percent_or_dash(row.k3_share),
            percent(row.outside_0_5_2),
        ]);
    }
    (!sheet.is_empty()).then(|| sheet.folded(title, None, ""))
}

/// Ids that carry a difference.
pub fn ids(title: &str, rows: &[IdRow], note: &str) -> Option<Markup> {
    let mut sheet = Sheet::new(&["token", "id", "tokens", "mean", "k3", "share of k3", "outside 0.5–2"])
        .with(Kind::Code, "token");
    for row in rows {
        sheet.push([
            token_or_id(row.token.as_deref(), row.token_id),
            row.token_id.to_string(),
            count(row.tokens),
            number(row.mean),
            number(row.k3),
            percent_or_dash(row.k3_share),
            percent(row.outside_0_5_2),
        ]);
    }
    (!sheet.is_empty()).then(|| sheet.folded(title, None, note))
}

/// Where the engine difference sits.
pub fn breakdown(answers: &Answers) -> Option<Markup> {
    let ledger = answers.offpolicy.as_ref()?;
    let breakdown = ledger.breakdown.as_ref()?;
    let spurious = ledger.spurious.as_ref().and_then(|overlap| {
        let band = overlap.bands.get(1)?;
        Some(format!(
            "Of the {} spurious tokens {} have a ratio outside of 0.5–2; of all tokens outside {} are spurious.",
            count(overlap.spurious),
            percent_or_dash(band.spurious_outside),
            percent_or_dash(band.outside_spurious),
        ))
    });
    Some(html! {
        (bins("Trainer against sampler by probability", &breakdown.by_probability).unwrap_or_default())
        (bins("Trainer against sampler by entropy", &breakdown.by_entropy).unwrap_or_default())
        (bins("Trainer against sampler by turn", &breakdown.by_turn).unwrap_or_default())
        (ids("Tokens that carry the divergence of trainer and sampler", &breakdown.largest_k3_share, &prose(&spurious.unwrap_or_default())).unwrap_or_default())
        (ids("Tokens with the largest mean difference", &breakdown.largest_mean, "Of at least 20 occurrences.").unwrap_or_default())
    })
}
