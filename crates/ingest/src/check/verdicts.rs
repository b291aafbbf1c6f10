//! From counts to verdicts. Thresholds are stated here, and in the messages.

mod outcome;

use self::outcome::{check, grade, share, skipped};
use super::report::{Check, CheckOutcome};
use super::tally::Tally;
use crate::{Quality, Run};
use stapo_base::format;
use stapo_base::format::grouped;
use stapo_batch::columns::Column;
use stapo_batch::limits::{FAIL_SHARE, WARN_SHARE};

/// Share of (p, H) pairs that may be infeasible by rounding alone.
const INFEASIBLE_WARN: f64 = 1e-3;
const INFEASIBLE_FAIL: f64 = 1e-2;
const ZERO_LOGPROB_WARN: f64 = 0.5;

/// All health checks, in the order they are shown.
pub fn verdicts(run: &Run, tally: &Tally, quality: &Quality, vocabulary: Option<u32>) -> Vec<Check> {
    vec![
        columns(run),
        complete(run),
        trained(tally),
        missing(quality),
        ranges(quality),
        entropy_bound(tally, vocabulary),
        zeros(run, tally),
        feasible(tally),
    ]
}

fn columns(run: &Run) -> Check {
    if run.is_of_texts() {
        let hook = run.mappings.first().map_or("", |mapping| mapping.dialect.hook());
        let message = "texts and rewards without `logprob`: what they show is analysed".into();
        return check("columns", CheckOutcome::Warn, message, hook);
    }
    let needed = [
        (Column::Logprob, "no probability, no candidates"),
        (Column::Entropy, "no spurious tokens, no gradient energy: the rest can be analysed"),
    ];
    let advantage = run.has(Column::Advantage) || run.has(Column::AdvantageSeq);
    let mut lost: Vec<String> =
        needed.iter().filter(|(c, _)| !run.has(*c)).map(|(c, why)| format!("`{c}` ({why})")).collect();
    if !advantage {
        lost.push("`advantage` (no sign, no energy)".into());
    }
    match lost.is_empty() {
        true => check(
            "columns",
            CheckOutcome::Pass,
            "log-probability, entropy and advantage are there".into(),
            "",
        ),
        false => check(
            "columns",
            if advantage && run.has(Column::Logprob) { CheckOutcome::Warn } else { CheckOutcome::Fail },
            format!("missing: {}", lost.join(", ")),
            "name the column with --map, or log it (docs/formats.md, section Logging)",
        ),
    }
}

fn complete(run: &Run) -> Check {
    let open = run.skipped.iter().filter(|s| s.reason.contains("STABLE")).count();
    let verdict = if open > 0 { CheckOutcome::Warn } else { CheckOutcome::Pass };
    let message = match open {
        0 if run.files.len() == 1 => "the file is complete".into(),
        0 => format!("{} files read, none incomplete", run.files.len()),
        n => format!("{n} folders without a STABLE marker were skipped"),
    };
    check("complete", verdict, message, "they are still being written: run again later")
}

fn trained(tally: &Tally) -> Check {
    let message = match (tally.trained, tally.tokens) {
        (_, 0) => "no token is trained: every response is empty".into(),
        (0, all) => format!("no token is trained: the mask leaves out all {}", grouped(all)),
        (some, all) => format!("{} of {} tokens are trained", grouped(some), grouped(all)),
    };
    let verdict = if tally.trained == 0 { CheckOutcome::Fail } else { CheckOutcome::Pass };
    check(
        "trained",
        verdict,
        message,
        "the mask is 1 (true) where a token is trained: log it so, or leave it out",
    )
}

fn missing(quality: &Quality) -> Check {
    let worst = quality.iter().map(|(c, q)| (c, q.missing_share())).max_by(|a, b| a.1.total_cmp(&b.1));
    let Some((column, share)) = worst else { return skipped("missing", "at least one token") };
    let verdict = grade(share, WARN_SHARE, FAIL_SHARE);
    let message = match share {
        0.0 => "no value is missing".into(),
        _ => format!("at most {:.2} % of a column is missing or bad (`{column}`)", share * 100.0),
    };
    check(
        "missing",
        verdict,
        message,
        "see the table of columns; where a run turns NaN, it is analysed up to there",
    )
}

fn ranges(quality: &Quality) -> Check {
    let bad: Vec<String> = quality
        .iter()
        .filter(|(_, q)| q.bad() > 0)
        .map(|(c, q)| {
            format!(
                "`{c}`: {} not finite, {} out of range, {} placeholders",
                q.not_finite, q.out_of_range, q.sentinel
            )
        })
        .collect();
    let verdict = if bad.is_empty() { CheckOutcome::Pass } else { CheckOutcome::Warn };
    let message = match bad.is_empty() {
        true => "all values are finite and in range".into(),
        false => bad.join("; "),
    };
    check("ranges", verdict, message, "these values count as missing")
}

fn entropy_bound(tally: &Tally, vocabulary: Option<u32>) -> Check {
    let (Some(size), true) = (vocabulary, tally.pairs > 0) else {
        return skipped("entropy_bound", "entropy and token ids");
    };
    let bound = f64::from(size).ln();
    let largest = f64::from(tally.largest_entropy);
    let verdict = if largest > bound + 0.02 { CheckOutcome::Fail } else { CheckOutcome::Pass };
    let message = format!("largest entropy {largest:.3} nats, ln V = {bound:.3} (V = {size})");
    check(
        "entropy_bound",
        verdict,
        message,
        "entropy in bits? --entropy-unit bits; wrong vocabulary? --vocab-size",
    )
}

fn zeros(run: &Run, tally: &Tally) -> Check {
    if tally.trained == 0 || run.is_of_texts() {
        return skipped("zeros", "log-probabilities");
    }
    let share = share(tally.zero_logprobs, tally.trained);
    let verdict = grade(share, ZERO_LOGPROB_WARN, f64::INFINITY);
    let message = match tally.zero_logprobs {
        0 => "no log-probability is exactly zero".into(),
        _ => format!("{} of log-probabilities are exactly zero", format::percent(share)),
    };
    check("zeros", verdict, message, "zero often stands for \"not computed\": check what the trainer writes")
}

fn feasible(tally: &Tally) -> Check {
    if tally.pairs == 0 {
        return skipped("feasible", "log-probability and entropy");
    }
    let share = share(tally.infeasible, tally.pairs);
    let verdict = grade(share, INFEASIBLE_WARN, INFEASIBLE_FAIL);
    let message = match tally.infeasible {
        0 => "every pair of p and H can be of one distribution (tolerance 0.02 nats)".into(),
        _ => format!(
            "{} of (p, H) pairs cannot be of one distribution (tolerance 0.02 nats)",
            format::percent(share)
        ),
    };
    check(
        "feasible",
        verdict,
        message,
        "log-probability and entropy are of different policies, temperatures or tokens",
    )
}
