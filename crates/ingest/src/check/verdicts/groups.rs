//! Whether responses, groups and advantages are what an update is made of.

use super::outcome::{check, grade, share, skipped};
use crate::check::report::{Check, CheckOutcome};
use crate::check::tally::{Group, Tally};
use stapo_base::format;
use stapo_base::format::grouped;
use stapo_framework::rounding::{ROUNDING, size_of_group, usual_size};

const DUPLICATES_WARN: f64 = 0.01;
const ZERO_ADVANTAGE_WARN: f64 = 0.9;

/// Whether responses come again in other steps.
pub fn duplicates(tally: &Tally) -> Check {
    let (all, repeated) = tally.duplicates.repeated();
    if all == 0 {
        return skipped("duplicates", "responses with tokens");
    }
    let share = share(repeated, all);
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

/// How many tokens have an advantage.
pub fn zero_advantage(tally: &Tally) -> Check {
    let (all, zero) = tally.advantages;
    if all == 0 {
        return skipped("zero_advantage", "an advantage");
    }
    let share = share(zero, all);
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

/// Whether groups have as many responses each.
pub fn groups(tally: &Tally) -> Check {
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

/// Whether advantages are relative to their group.
pub fn group_means(tally: &Tally) -> Check {
    let differs = |g: &&Group| g.responses > 1 && g.largest > 0.0 && !g.is_even();
    let differing = tally.groups.values().filter(differs);
    let usual = usual_size(differing.map(|g| size_of_group(g.squares.value(), g.responses))).unwrap_or(0.0);
    let teaches = |g: &&Group| differs(g) && f64::from(g.largest) >= ROUNDING * usual;
    let judged = || tally.groups.values().filter(teaches);
    let all = judged().count() as u64;
    if all == 0 {
        return skipped("group_means", "groups with an advantage");
    }
    let off = |g: &&Group| (g.advantage.value() / g.responses as f64).abs() > 0.05 * f64::from(g.largest);
    let centred = 1.0 - share(judged().filter(off).count() as u64, all);
    let (responses, varying) = tally.varying_advantage;
    let token_level = share(varying, responses);
    let verdict = if token_level < 0.5 && centred < 0.9 { CheckOutcome::Warn } else { CheckOutcome::Pass };
    let message = format!(
        "{:.0} % of groups with an advantage have mean zero; advantage differs inside {:.0} % of responses",
        centred * 100.0,
        token_level * 100.0
    );
    check("group_means", verdict, message, "not a group-relative advantage, or the log holds parts of groups")
}
