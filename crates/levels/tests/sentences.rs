//! What is said, in the words of the specification.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use stapo_levels::{
    Arm, Clusters, Metric, Role, RunsLevel, RunsRow, Settings, Verdict, Window, compare_by_bank,
    compare_methods, compare_runs, sentences,
};
use support::{arm, real_runs};

fn row(metric: Metric, window: Window, values: [f64; 2], half: f64, verdict: Verdict) -> RunsRow {
    RunsRow {
        metric,
        window,
        steps: if window == Window::Level { 10 } else { 2 },
        values: values.map(Some),
        difference: Some(values[0] - values[1]),
        half: Some(half),
        freedom: Some(100.0),
        least: Some(0.02),
        detectable: Some(0.102),
        clusters: Some(Clusters::Prompts),
        lacking: [0, 0],
        verdict,
        reason: None,
    }
}

fn level(rows: Vec<RunsRow>) -> RunsLevel {
    RunsLevel { steps: 10, tests: rows.len() as u64, rows, tasks_of_one: [Vec::new(), Vec::new()] }
}

fn assert_short(lines: &[String]) {
    for line in lines {
        assert!(line.split_whitespace().count() <= 25, "{line}");
        assert!(line.ends_with('.'), "{line}");
    }
}

#[test]
fn a_difference_is_of_these_runs() {
    let level = level(vec![
        row(Metric::Reward, Window::Level, [0.701, 0.139], 0.036, Verdict::Differs),
        row(Metric::Reward, Window::End, [0.871, 0.142], 0.07, Verdict::Differs),
    ]);
    assert_eq!(
        sentences::runs(&level, ["a1", "a22"], false),
        [
            "a1 and a22 differ: reward 0.70 against 0.14 over ten steps (0.56 ± 0.04), 0.87 against 0.14 at the end.",
            "One run each: this describes these two runs; only several seeds a side show whether the method did it.",
        ]
    );
}

#[test]
fn seeds_alone_move_the_reward() {
    let runs = real_runs();
    let level = compare_runs(&runs["grpo_1"], &runs["grpo_2"], &Settings::default());
    assert_eq!(
        sentences::runs(&level, ["grpo_1", "grpo_2"], true),
        [
            "grpo_1 and grpo_2 differ: reward 0.68 against 0.78 (0.10 ± 0.05), although their settings are the same.",
            "Seeds alone move reward this much here; judge a method over several seeds.",
        ]
    );
}

#[test]
fn no_difference_says_what_would_have_been_seen() {
    let open = |metric, window| row(metric, window, [0.734, 0.709], 0.06, Verdict::Open);
    let metrics = [Metric::Reward, Metric::RightAnswers, Metric::Length, Metric::Entropy];
    let rows = metrics.iter().flat_map(|metric| Window::ALL.map(|window| open(*metric, window)));
    assert_eq!(
        sentences::runs(&level(rows.collect()), ["a", "b"], false),
        [
            "No difference found: reward 0.73 against 0.71 (0.03 ± 0.06); right answers, length, entropy neither.",
            "A reward difference above 0.10 would probably have been seen; smaller ones remain possible.",
        ]
    );
}

#[test]
fn methods_are_undecided_with_three_seeds() {
    let runs = real_runs();
    let [stapo, grpo, random] = ["stapo", "grpo", "random"].map(|name| arm(&runs, name));
    let mut arms = vec![
        Arm { name: "STAPO", role: Role::Method, runs: &stapo },
        Arm { name: "GRPO", role: Role::Baseline, runs: &grpo },
        Arm { name: "random", role: Role::Random, runs: &random },
    ];
    let lines = sentences::methods(&compare_methods(&arms, Metric::Reward));
    assert_eq!(
        lines,
        [
            "Undecided with three seeds a side: STAPO minus GRPO +0.02 in reward, interval −0.09 to +0.14.",
            "Against the random mask +0.04 (−0.04 to +0.12), undecided. Three seeds show about 0.15; 0.05 needs about 13 a side.",
            "So few seeds tell this roughly: 13 may be 6 to 58; 0.10 needs 5 (3 to 16); in pairs 8 and 4.",
        ]
    );
    assert_short(&lines);
    arms.truncate(2);
    let lines = sentences::methods(&compare_methods(&arms, Metric::Reward));
    assert_eq!(lines[1], "Three seeds show about 0.15; 0.05 needs about 17 a side.");
    arms[0].runs = &stapo[..2];
    assert_eq!(
        sentences::methods(&compare_methods(&arms, Metric::Reward)),
        ["STAPO and GRPO are not compared as methods: fewer than three seeds a side."]
    );
}

#[test]
fn a_bank_of_seeds_bounds_single_runs() {
    let runs = real_runs();
    let bank = ["stapo", "grpo", "random"].map(|name| arm(&runs, name));
    let level = compare_by_bank(&runs["stapo_1"], &runs["grpo_1"], &bank);
    assert_eq!(
        sentences::bank(&level, ["stapo_1", "grpo_1"], Metric::Reward),
        [
            "stapo_1 and grpo_1 differ by no more than seeds do: reward 0.06, seeds ±0.15 after nine runs of one recipe."
        ]
    );
    let level = compare_by_bank(&runs["stapo_1"], &runs["sampler_4bit_diverges"], &bank);
    assert!(
        sentences::bank(&level, ["a", "b"], Metric::Reward)[0]
            .starts_with("a and b differ by more than seeds do")
    );
}

/// Every pair of real runs, whatever holds of it.
#[test]
fn lines_are_short_and_speak_of_runs_alone() {
    let runs = real_runs();
    let names: Vec<&String> = runs.keys().collect();
    let mut said = [0, 0, 0];
    for (place, a) in names.iter().enumerate() {
        for b in names[place..].iter().step_by(3) {
            let level = compare_runs(&runs[*a], &runs[*b], &Settings::default());
            let lines = sentences::runs(&level, [a, b], false);
            assert_short(&lines);
            let text = lines.join(" ");
            assert!(!["better", "worse", "significant"].iter().any(|word| text.contains(word)), "{text}");
            said[usize::from(lines[0].contains("differ"))] += 1;
            said[2] += usize::from(lines[0].contains("the same"));
        }
    }
    assert!(said.iter().all(|count| *count > 0), "{said:?}");
}
