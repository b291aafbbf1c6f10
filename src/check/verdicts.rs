//! From counts to verdicts. Thresholds are stated here, and in the messages.

use super::noise::{Noisy, is_mean_something};
use super::report::{Check, CheckOutcome};
use super::tally::{SHIFTS, Tally};
use crate::format::{self, grouped};
use crate::framework::rounding::{ROUNDING, size_of_group, usual_size};
use crate::ingest::{Column, FAIL_SHARE, Quality, Run, WARN_SHARE};
use crate::stats::correlation::PearsonSums;

/// Share of (p, H) pairs that may be infeasible by rounding alone.
const INFEASIBLE_WARN: f64 = 1e-3;
const INFEASIBLE_FAIL: f64 = 1e-2;
/// Entropy and surprisal of one policy correlate; 0.5 and more is usual.
const CORRELATION_WARN: f64 = 0.3;
const CORRELATION_FAIL: f64 = 0.1;
/// On-policy, the mean surprisal is the mean entropy up to sampling noise.
const ON_POLICY_WARN: f64 = 0.05;
const ON_POLICY_FAIL: f64 = 0.25;
const DUPLICATES_WARN: f64 = 0.01;
const ZERO_ADVANTAGE_WARN: f64 = 0.9;
const ZERO_LOGPROB_WARN: f64 = 0.5;

fn grade(value: f64, warn: f64, fail: f64) -> CheckOutcome {
    match value {
        v if v > fail => CheckOutcome::Fail,
        v if v > warn => CheckOutcome::Warn,
        _ => CheckOutcome::Pass,
    }
}

fn check(code: &'static str, verdict: CheckOutcome, message: String, hint: &'static str) -> Check {
    let hint = matches!(verdict, CheckOutcome::Warn | CheckOutcome::Fail).then_some(hint);
    Check { code, verdict, message, hint }
}

fn skipped(code: &'static str, needs: &str) -> Check {
    Check { code, verdict: CheckOutcome::Skip, message: format!("needs {needs}"), hint: None }
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// All health checks, in the order they are shown.
pub fn verdicts(run: &Run, tally: &Tally, quality: &Quality, vocabulary: Option<u32>) -> Vec<Check> {
    vec![
        columns(run),
        complete(run),
        trained(tally),
        missing(quality),
        ranges(quality),
        entropy_bound(tally, vocabulary),
        zeros(tally),
        feasible(tally),
        entropy_correlation(tally),
        entropy_alignment(tally),
        logprob_alignment(tally),
        on_policy(tally),
        duplicates(tally),
        zero_advantage(tally),
        groups(tally),
        group_means(tally),
    ]
}

fn columns(run: &Run) -> Check {
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
    check("missing", verdict, message, "see the table of columns; --allow-missing goes on beyond 20 %")
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

fn zeros(tally: &Tally) -> Check {
    if tally.trained == 0 {
        return skipped("zeros", "log-probabilities");
    }
    let share = percent(tally.zero_logprobs, tally.trained);
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
    let share = percent(tally.infeasible, tally.pairs);
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

fn entropy_correlation(tally: &Tally) -> Check {
    let Some(seen) = Noisy::of(&tally.entropy_shift[1]) else {
        return skipped("entropy_correlation", "log-probability and entropy that vary");
    };
    let (r, tokens) = (seen.r, grouped(tally.entropy_shift[1].count()));
    let verdict = match r {
        _ if seen.is_below(CORRELATION_FAIL) => CheckOutcome::Fail,
        _ if seen.is_below(CORRELATION_WARN) => CheckOutcome::Warn,
        r if r < CORRELATION_WARN => {
            let needs = format!("more tokens: a correlation of {r:.3} on {tokens} may be chance");
            return skipped("entropy_correlation", &needs);
        }
        _ => CheckOutcome::Pass,
    };
    let message = format!("correlation of entropy with −log-probability is {}", format::fixed(r, 3));
    check(
        "entropy_correlation",
        verdict,
        message,
        "near zero, the entropies belong to other tokens or other responses",
    )
}

/// The shift at which two columns fit best, and the correlation at each.
fn best_shift(sums: &[PearsonSums; 3]) -> Option<(usize, [Noisy; 3])> {
    let [before, same, after] = sums;
    let seen = [Noisy::of(before)?, Noisy::of(same)?, Noisy::of(after)?];
    let best = (0..3).max_by(|a, b| seen[*a].r.total_cmp(&seen[*b].r))?;
    Some((best, seen))
}

fn aligned(
    code: &'static str,
    what: &str,
    sums: &[PearsonSums; 3],
    needs: &str,
    hint: &'static str,
) -> Check {
    let Some((best, seen)) = best_shift(sums) else { return skipped(code, needs) };
    let [before, same, after] = seen.map(|s| s.r);
    let [before, same, after] = [before, same, after].map(|r| format::fixed(r, 3));
    let found = format!("correlation {before} at −1, {same} at 0, {after} at +1");
    let is_best = SHIFTS[best] == 0 || seen[best].is_above(&seen[1]);
    if !seen[best].is_something() || !is_best {
        let needs = format!("more tokens: {found} on {} may be chance", grouped(sums[1].count()));
        return skipped(code, &needs);
    }
    let verdict = if SHIFTS[best] == 0 { CheckOutcome::Pass } else { CheckOutcome::Fail };
    let shift = match SHIFTS[best] {
        0 => "0".to_owned(),
        shift => format!("{}{}", if shift < 0 { '−' } else { '+' }, shift.unsigned_abs()),
    };
    check(code, verdict, format!("{what} fit best at shift {shift} ({found})"), hint)
}

fn entropy_alignment(tally: &Tally) -> Check {
    let needs = "log-probability and entropy that vary";
    let hint = "off by one: the entropies belong to the neighbouring token; try --align shifted";
    aligned("entropy_alignment", "entropy and log-probability", &tally.entropy_shift, needs, hint)
}

fn logprob_alignment(tally: &Tally) -> Check {
    let hint = "off by one: the two log-probabilities belong to different tokens; try --align shifted";
    let needs = "two log-probabilities (trainer's and rollout's)";
    aligned("logprob_alignment", "trainer's and rollout log-probability", &tally.logprob_shift, needs, hint)
}

fn on_policy(tally: &Tally) -> Check {
    if tally.pairs == 0 || tally.entropy.value() == 0.0 {
        return skipped("on_policy", "log-probability and entropy");
    }
    let n = tally.pairs as f64;
    let (entropy, surprisal) = (tally.entropy.value() / n, tally.surprisal.value() / n);
    let gap = (surprisal - entropy).abs() / entropy;
    let apart = tally.surprisal.value() - tally.entropy.value();
    let told = is_mean_something(apart, tally.gap_squares.value(), tally.pairs);
    let message = format!(
        "mean −log-probability {surprisal:.4}, mean entropy {entropy:.4} nats ({:.1} % apart)",
        gap * 100.0
    );
    if gap > ON_POLICY_WARN && !told {
        return skipped("on_policy", &format!("more tokens: {message} may be chance"));
    }
    let verdict = grade(gap, ON_POLICY_WARN, ON_POLICY_FAIL);
    check("on_policy", verdict, message, "another temperature or top-p, stale samples, or an entropy in bits")
}

fn duplicates(tally: &Tally) -> Check {
    let (all, repeated) = tally.duplicates.repeated();
    if all == 0 {
        return skipped("duplicates", "responses with tokens");
    }
    let share = percent(repeated, all);
    let verdict = grade(share, DUPLICATES_WARN, f64::INFINITY);
    let message = match repeated {
        0 => "no response repeats one of another step".into(),
        _ => format!("{} of responses repeat one of another step", format::percent(share)),
    };
    check(
        "duplicates",
        verdict,
        message,
        "the trainer logged a buffer more than once: log each step's own responses",
    )
}

fn zero_advantage(tally: &Tally) -> Check {
    let (all, zero) = tally.advantages;
    if all == 0 {
        return skipped("zero_advantage", "an advantage");
    }
    let share = percent(zero, all);
    let verdict =
        if zero == all { CheckOutcome::Fail } else { grade(share, ZERO_ADVANTAGE_WARN, f64::INFINITY) };
    let message = format!("{:.1} % of trained tokens have advantage zero", share * 100.0);
    check(
        "zero_advantage",
        verdict,
        message,
        "groups with equal rewards teach nothing: harder or more varied prompts, or a collapsed run",
    )
}

fn groups(tally: &Tally) -> Check {
    if tally.groups.is_empty() {
        return skipped("groups", "a group id");
    }
    let mut sizes: Vec<u64> = tally.groups.values().map(|g| g.responses).collect();
    sizes.sort_unstable();
    let (least, median, most) = (sizes[0], sizes[sizes.len() / 2], sizes[sizes.len() - 1]);
    let verdict = if median < 2 || least != most { CheckOutcome::Warn } else { CheckOutcome::Pass };
    let message = match least == most {
        true => format!("{} groups of {most} responses", grouped(sizes.len() as u64)),
        false => {
            format!("{} groups of {least} to {most} responses (median {median})", grouped(sizes.len() as u64))
        }
    };
    check(
        "groups",
        verdict,
        message,
        "unequal groups: some responses were not logged, or the group id is another thing",
    )
}

fn group_means(tally: &Tally) -> Check {
    let differs = |g: &&super::tally::Group| g.responses > 1 && g.largest > 0.0 && !g.is_even();
    let differing = tally.groups.values().filter(differs);
    let usual = usual_size(differing.map(|g| size_of_group(g.squares.value(), g.responses))).unwrap_or(0.0);
    let teaches = |g: &&super::tally::Group| differs(g) && f64::from(g.largest) >= ROUNDING * usual;
    let judged = || tally.groups.values().filter(teaches);
    let all = judged().count() as u64;
    if all == 0 {
        return skipped("group_means", "groups with an advantage");
    }
    let off = |g: &&super::tally::Group| {
        (g.advantage.value() / g.responses as f64).abs() > 0.05 * f64::from(g.largest)
    };
    let centred = 1.0 - percent(judged().filter(off).count() as u64, all);
    let (responses, varying) = tally.varying_advantage;
    let token_level = percent(varying, responses);
    let verdict = if token_level < 0.5 && centred < 0.9 { CheckOutcome::Warn } else { CheckOutcome::Pass };
    let message = format!(
        "{:.0} % of groups with an advantage have mean zero; advantage differs inside {:.0} % of responses",
        centred * 100.0,
        token_level * 100.0
    );
    check("group_means", verdict, message, "not a group-relative advantage, or the log holds parts of groups")
}
