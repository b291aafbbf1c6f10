//! What is said of a comparison, in lines of at most 25 words.

use stapo_base::format::fixed;

use crate::metric::{Metric, Window};
use crate::result::{
    BankLevel, Clusters, Contrast, MethodsLevel, NotTested, RunsLevel, RunsRow, SeedsNeeded, Verdict,
};

const ONE_RUN_EACH: &str =
    "One run each: this describes these two runs; only several seeds a side show whether the method did it.";
const TOO_NARROW: &str = "Groups and prompts are not logged: responses count as drawn independently, and the intervals are too narrow.";

const BETWEEN_STEPS: &str = "Training curves: errors come from the scatter between neighbouring steps.";

/// Of two runs; `same_settings` says that nothing but the seed is different.
#[must_use]
pub fn runs(level: &RunsLevel, names: [&str; 2], same_settings: bool) -> Vec<String> {
    let tested = || level.rows.iter().filter(|row| row.verdict != Verdict::NotTested);
    let differs = |window| tested().find(|row| row.window == window && row.verdict == Verdict::Differs);
    let mut lines = Vec::new();
    if let Some(row) = differs(Window::Level).or_else(|| differs(Window::End)) {
        lines.push(difference(level, row, names, same_settings));
        lines.push(match same_settings {
            true => format!(
                "Seeds alone move {} this much here; judge a method over several seeds.",
                row.metric.words()
            ),
            false => ONE_RUN_EACH.into(),
        });
    } else if let Some(row) = tested().next() {
        lines.push(no_difference(row, &tested().collect::<Vec<_>>(), names));
        lines.extend(limits(row, &tested().collect::<Vec<_>>()));
    } else {
        let [a, b] = names;
        let reason = level.rows.first().and_then(|row| row.reason).unwrap_or(NotTested::NotLogged);
        lines.push(format!("{a} and {b} are not compared: {}.", reason.words()));
    }
    lines.extend(notes(level, names));
    lines
}

/// `a and b differ: reward 0.70 against 0.14 over ten steps (0.56 ± 0.04), 0.87 against 0.14 at the end.`
fn difference(level: &RunsLevel, row: &RunsRow, [a, b]: [&str; 2], same_settings: bool) -> String {
    let values = against(row);
    let size = size(row);
    if row.window == Window::End {
        let is_level = |other: &&RunsRow| other.metric == row.metric && other.window == Window::Level;
        let word = match level.rows.iter().find(is_level).map(|level| level.verdict) {
            Some(Verdict::Same) => "they are the same",
            _ => "that is open",
        };
        return format!("{a} and {b} differ at the end: {values} ({size}); over all steps {word}.");
    }
    if same_settings {
        return format!("{a} and {b} differ: {values} ({size}), although their settings are the same.");
    }
    let is_end = |other: &&RunsRow| other.metric == row.metric && other.window == Window::End;
    let end = level.rows.iter().find(is_end).filter(|end| end.verdict == Verdict::Differs);
    let steps = counted_steps(row.steps);
    let end = end.map_or_else(String::new, |end| format!(", {} at the end", two_values(end)));
    format!("{a} and {b} differ: {values} over {steps} ({size}){end}.")
}

/// `No difference found: reward 0.73 against 0.71 (0.03 ± 0.06); right answers, length, entropy neither.`
fn no_difference(row: &RunsRow, tested: &[&RunsRow], [a, b]: [&str; 2]) -> String {
    let all_same = tested.iter().all(|row| row.verdict == Verdict::Same);
    let mut others: Vec<&str> = Vec::new();
    for other in tested.iter().filter(|other| other.metric != row.metric) {
        if !others.contains(&other.metric.words()) {
            others.push(other.metric.words());
        }
    }
    let rest = |word: &str| match others.is_empty() {
        true => String::new(),
        false => format!("; {} {word}", others.join(", ")),
    };
    let (values, size) = (against(row), size(row));
    if all_same {
        format!("{a} and {b} are the same within the margins: {values} ({size}){}.", rest("too"))
    } else {
        format!("No difference found: {values} ({size}){}.", rest("neither"))
    }
}

/// What could have been missed.
fn limits(row: &RunsRow, tested: &[&RunsRow]) -> Option<String> {
    let metric = row.metric.words();
    let shown = |value: f64| fixed(value, decimals(row.metric, value));
    if tested.iter().all(|row| row.verdict == Verdict::Same) {
        let least = shown(row.least?);
        return Some(format!("Smaller differences do not count as any: for {metric} the margin is {least}."));
    }
    let least = shown(row.detectable?);
    Some(format!(
        "A {metric} difference above {least} would probably have been seen; smaller ones remain possible."
    ))
}

/// What was not tested and why, and what else limits the answer.
fn notes(level: &RunsLevel, names: [&str; 2]) -> Vec<String> {
    let mut lines = Vec::new();
    if level.rows.iter().any(|row| row.clusters == Some(Clusters::Responses)) {
        lines.push(TOO_NARROW.into());
    }
    if level.rows.iter().any(|row| row.clusters == Some(Clusters::Steps)) {
        lines.push(BETWEEN_STEPS.into());
    }
    if level.rows.iter().any(|row| row.verdict != Verdict::NotTested) {
        for reason in NotTested::ALL.into_iter().filter(|reason| *reason != NotTested::EndIsAll) {
            let at = |window| move |row: &&RunsRow| row.reason == Some(reason) && row.window == window;
            let words = |window| level.rows.iter().filter(at(window)).map(|row| row.metric.words());
            let metrics: Vec<&str> = words(Window::Level).collect();
            let at_end: Vec<&str> = words(Window::End).filter(|word| !metrics.contains(word)).collect();
            if !metrics.is_empty() {
                lines.push(format!("Not tested: {} ({}).", metrics.join(", "), reason.words()));
            }
            if !at_end.is_empty() {
                lines.push(format!("Not tested at the end: {} ({}).", at_end.join(", "), reason.words()));
            }
        }
    }
    for (tasks, name) in level.tasks_of_one.iter().zip(names) {
        if !tasks.is_empty() {
            let tasks = some_of(tasks);
            lines.push(format!("Only {name} has {tasks}: part of any difference may be the tasks."));
        }
    }
    let lacking: Vec<&RunsRow> =
        level.rows.iter().filter(|row| row.window == Window::Level && row.lacking != [0, 0]).collect();
    for row in lacking.into_iter().filter(|row| row.reason != Some(NotTested::NotLogged)) {
        let [a, b] = row.lacking;
        let [first, second] = names;
        lines.push(format!(
            "Without a value of {}, and left out: {a} responses of {first}, {b} of {second}.",
            row.metric.words()
        ));
    }
    lines
}

/// Of methods: each against the baseline and against the random mask, then what so many seeds show.
#[must_use]
pub fn methods(level: &MethodsLevel) -> Vec<String> {
    let primary: Vec<&Contrast> =
        level.contrasts.iter().filter(|c| c.metric == level.primary && c.window == Window::Level).collect();
    let is_random = |name: &str| primary.iter().any(|c| c.against_random && c.against == name);
    let mut told: Vec<&str> = Vec::new();
    let mut lines = Vec::new();
    let mut plan = Vec::new();
    // What is tested stands first: methods, then the random mask where nothing else is there.
    for first in &primary {
        let is_control = is_random(&first.arm) && !lines.is_empty();
        if told.contains(&first.arm.as_str()) || first.against_random || is_control {
            continue;
        }
        told.push(&first.arm);
        lines.push(contrast(first));
        let second = primary.iter().find(|c| c.arm == first.arm && c.against_random);
        let random = second.and_then(|second| against_random(second, level.primary));
        if plan.is_empty() {
            plan = planned(level, first);
            let line: Vec<String> = random.into_iter().chain(plan.first().cloned()).collect();
            lines.extend((!line.is_empty()).then(|| line.join(" ")));
        } else {
            lines.extend(random);
        }
    }
    lines.extend(plan.into_iter().skip(1));
    lines
}

/// `Against the random mask +0.04 (−0.04 to +0.12), undecided.`
fn against_random(contrast: &Contrast, primary: Metric) -> Option<String> {
    let [low, high] = contrast.interval?;
    let word = if contrast.significant { "significant" } else { "undecided" };
    let [difference, low, high] = signed(primary, [contrast.difference?, low, high]);
    Some(format!("Against the random mask {difference} ({low} to {high}), {word}."))
}

/// What so many seeds show, and how roughly that is known.
fn planned(level: &MethodsLevel, first: &Contrast) -> Vec<String> {
    let needed: Vec<&SeedsNeeded> =
        level.needed.iter().filter(|needed| needed.paired == first.paired).collect();
    let Some((shown, least)) = first.detectable.zip(needed.first()) else { return Vec::new() };
    let seeds = first.seeds[0].min(first.seeds[1]);
    let shows = format!(
        "{} seeds show about {}; {} needs about {} a side.",
        capitalised(&number_word(seeds)),
        fixed(shown, decimals(level.primary, shown)),
        plain(least.difference),
        least.seeds
    );
    std::iter::once(shows).chain(uncertainty(level, &needed)).collect()
}

/// `Undecided with three seeds a side: STAPO minus GRPO +0.02 in reward, interval −0.09 to +0.14.`
fn contrast(contrast: &Contrast) -> String {
    let (arm, against) = (&contrast.arm, &contrast.against);
    let [a, b] = contrast.seeds;
    let seeds = match a == b {
        true => format!("{} seeds a side", number_word(a)),
        false => format!("{} and {} seeds", number_word(a), number_word(b)),
    };
    let Some((difference, [low, high])) = contrast.difference.zip(contrast.interval) else {
        let reason = contrast.reason.unwrap_or(NotTested::NotLogged).words();
        return format!("{arm} and {against} are not compared as methods: {reason}.");
    };
    let [shown, low, high] = signed(contrast.metric, [difference, low, high]);
    let metric = contrast.metric.words();
    if contrast.significant {
        let word = if difference > 0.0 { "above" } else { "below" };
        format!("{arm} is {word} {against} with {seeds}: {shown} in {metric}, interval {low} to {high}.")
    } else {
        let capital = format!("Undecided with {seeds}");
        format!("{capital}: {arm} minus {against} {shown} in {metric}, interval {low} to {high}.")
    }
}

/// `Of so few seeds these counts are rough: 13 may be 6 to 58, for 0.10 about 5 (3 to 16); in pairs 8 and 4.`
fn uncertainty(level: &MethodsLevel, needed: &[&SeedsNeeded]) -> Option<String> {
    let [small, large] = needed else { return None };
    let paired: Vec<u64> =
        level.needed.iter().filter(|n| n.paired && !small.paired).map(|n| n.seeds).collect();
    let pairs = match paired[..] {
        [small, large] => format!("; in pairs {small} and {large}"),
        _ => String::new(),
    };
    Some(format!(
        "So few seeds tell this roughly: {} may be {} to {}; {} needs {} ({} to {}){pairs}.",
        small.seeds,
        small.interval[0],
        small.interval[1],
        plain(large.difference),
        large.seeds,
        large.interval[0],
        large.interval[1],
    ))
}

/// Of two runs beside a bank of seeds: the primary metric over all steps.
#[must_use]
pub fn bank(level: &BankLevel, names: [&str; 2], primary: Metric) -> Vec<String> {
    let [a, b] = names;
    let Some(row) = level.rows.iter().find(|row| row.metric == primary && row.window == Window::Level) else {
        return Vec::new();
    };
    let (Some(difference), Some(half)) = (row.difference, row.half) else {
        let reason = row.reason.unwrap_or(NotTested::NotLogged).words();
        return vec![format!("{a} and {b} are not held against a bank of seeds: {reason}.")];
    };
    let metric = primary.words();
    let digits = decimals(primary, half);
    let [difference, half] = [difference, half].map(|v| fixed(v.abs(), digits));
    let seeds = number_word(level.seeds);
    vec![match row.verdict {
        Verdict::Differs => format!(
            "{a} and {b} differ by more than seeds do: {metric} {difference}, seeds ±{half} after {seeds} runs of one recipe."
        ),
        _ => format!(
            "{a} and {b} differ by no more than seeds do: {metric} {difference}, seeds ±{half} after {seeds} runs of one recipe."
        ),
    }]
}

fn against(row: &RunsRow) -> String {
    format!("{} {}", row.metric.words(), two_values(row))
}

fn two_values(row: &RunsRow) -> String {
    let digits = decimals(row.metric, row.half.unwrap_or(1.0));
    let [a, b] = row.values.map(|value| fixed(value.unwrap_or(f64::NAN), digits));
    format!("{a} against {b}")
}

/// `0.56 ± 0.04`.
fn size(row: &RunsRow) -> String {
    let half = row.half.unwrap_or(f64::NAN);
    let digits = decimals(row.metric, half);
    format!("{} ± {}", fixed(row.difference.map_or(f64::NAN, f64::abs), digits), fixed(half, digits))
}

/// Two decimals, of tokens one; as many more as the error needs for a digit.
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn decimals(metric: Metric, error: f64) -> usize {
    let usual = if metric == Metric::Length { 1 } else { 2 };
    let needed = if error > 0.0 && error.is_finite() { -error.log10().floor() } else { 0.0 };
    (needed.clamp(0.0, 6.0) as usize).max(usual)
}

fn signed(metric: Metric, values: [f64; 3]) -> [String; 3] {
    let digits = decimals(metric, (values[2] - values[1]) / 2.0);
    values.map(|value| {
        let text = fixed(value, digits);
        if value > 0.0 { format!("+{text}") } else { text }
    })
}

/// `0.05`, `0.10`, `1.8`.
fn plain(value: f64) -> String {
    fixed(value, if value < 1.0 { 2 } else { 1 })
}

fn counted_steps(steps: u64) -> String {
    format!("{} step{}", number_word(steps), if steps == 1 { "" } else { "s" })
}

fn number_word(number: u64) -> String {
    const WORDS: [&str; 13] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    let word = usize::try_from(number).ok().and_then(|place| WORDS.get(place));
    word.map_or_else(|| number.to_string(), |word| (*word).to_owned())
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Up to three names of tasks.
fn some_of(tasks: &[String]) -> String {
    let shown = tasks.iter().take(3).map(String::as_str).collect::<Vec<_>>().join(", ");
    match tasks.len() {
        1 => format!("task {shown}"),
        2 | 3 => format!("tasks {shown}"),
        more => format!("tasks {shown} and {} more", more - 3),
    }
}
