//! Runs that lack something, and totals that come in any order.
#![allow(clippy::unwrap_used, clippy::panic)]

use proptest::prelude::*;
use stapo_base::stats::random::Random;
use stapo_levels::{
    Arm, Clusters, MethodsLevel, Metric, NotTested, ResponseTotals, Role, RunGroups, RunsLevel, RunsRow,
    Settings, Verdict, Window, compare_methods, compare_runs, sentences,
};

/// A run of 8 responses a group; rewards are 0 or 1.
#[derive(Clone, Copy)]
struct Made {
    seed: u64,
    steps: i64,
    groups: u64,
    /// Chance of a reward.
    reward: f64,
    tasks: &'static [&'static str],
}

const USUAL: Made = Made { seed: 1, steps: 6, groups: 12, reward: 0.5, tasks: &["add", "sort"] };

fn responses(made: Made) -> Vec<ResponseTotals<'static>> {
    let mut random = Random::new(made.seed, 0);
    let mut all = Vec::new();
    for step in 0..made.steps {
        for group in 0..made.groups {
            let prompt = random.bits();
            let task = made.tasks[random.below(made.tasks.len())];
            let chance = made.reward + 0.4 * (random.unit() - 0.5);
            for _ in 0..8 {
                let right = random.unit() < chance;
                let length = 10 + random.below(20) as u64;
                all.push(ResponseTotals {
                    step,
                    group: Some(group),
                    prompt: Some(prompt),
                    place: all.len() as u64,
                    task,
                    held_out: false,
                    reward: f64::from(u8::from(right)),
                    right: Some(right),
                    length,
                    entropy: random.unit() * length as f64,
                    entropy_tokens: length,
                });
            }
        }
    }
    all
}

fn run_of(responses: &[ResponseTotals<'_>]) -> RunGroups {
    let mut run = RunGroups::default();
    responses.iter().for_each(|response| run.add(response));
    run
}

fn changed(made: Made, change: impl Fn(usize, &mut ResponseTotals<'static>)) -> RunGroups {
    let mut all = responses(made);
    all.iter_mut().enumerate().for_each(|(place, response)| change(place, response));
    run_of(&all)
}

fn compared(a: &RunGroups, b: &RunGroups) -> RunsLevel {
    compare_runs(a, b, &Settings::default())
}

fn row(level: &RunsLevel, metric: Metric, window: Window) -> &RunsRow {
    level.rows.iter().find(|row| (row.metric, row.window) == (metric, window)).unwrap()
}

fn text(level: &RunsLevel) -> String {
    let lines = sentences::runs(level, ["a", "b"], false);
    assert!(lines.iter().all(|line| line.split_whitespace().count() <= 25), "{lines:?}");
    lines.join(" ")
}

const OTHER: Made = Made { seed: 2, ..USUAL };

#[test]
fn one_step_has_no_end() {
    let [a, b] = [1, 2].map(|seed| run_of(&responses(Made { seed, steps: 1, ..USUAL })));
    let level = compared(&a, &b);
    assert_eq!((level.steps, level.tests), (1, 4));
    let end = row(&level, Metric::Reward, Window::End);
    assert_eq!((end.verdict, end.reason), (Verdict::NotTested, Some(NotTested::EndIsAll)));
    assert_eq!(end.values, row(&level, Metric::Reward, Window::Level).values);
    assert!(row(&level, Metric::Reward, Window::Level).half.is_some());
}

#[test]
fn few_groups_are_drawn_but_not_tested() {
    let [a, b] = [1, 2].map(|seed| run_of(&responses(Made { seed, steps: 3, groups: 2, ..USUAL })));
    let level = compared(&a, &b);
    assert!(level.rows.iter().all(|row| row.values.iter().all(Option::is_some) && row.half.is_none()));
    assert_eq!(row(&level, Metric::Length, Window::Level).reason, Some(NotTested::FewGroups));
    assert_eq!(text(&level), "a and b are not compared: fewer than eight groups a side.");
}

#[test]
fn no_common_step_is_said() {
    let a = run_of(&responses(USUAL));
    let b = changed(OTHER, |_, response| response.step += 100);
    let level = compared(&a, &b);
    assert_eq!((level.steps, level.tests), (0, 0));
    assert_eq!(text(&level), "a and b are not compared: not at the same steps of both runs.");
}

/// Without ids responses stand for themselves: the error forgets what a prompt's responses share.
#[test]
fn without_ids_intervals_are_too_narrow_and_it_says_so() {
    let without = |made| changed(made, |_, response| (response.group, response.prompt) = (None, None));
    let with = compared(&run_of(&responses(USUAL)), &run_of(&responses(OTHER)));
    let level = compared(&without(USUAL), &without(OTHER));
    let half = |level| row(level, Metric::Reward, Window::Level).half.unwrap();
    assert!(half(&level) < half(&with), "{} {}", half(&level), half(&with));
    assert!(level.rows.iter().all(|row| row.clusters == Some(Clusters::Responses)));
    assert!(text(&level).contains("intervals are too narrow"));
    assert!(!text(&with).contains("narrow"));
}

/// A step's responses to one prompt are a group, whether or not the log says so.
#[test]
fn prompts_stand_in_for_groups() {
    let without = |made| changed(made, |_, response| response.group = None);
    let [with, level] = [
        compared(&run_of(&responses(USUAL)), &run_of(&responses(OTHER))),
        compared(&without(USUAL), &without(OTHER)),
    ];
    for (found, expected) in level.rows.iter().zip(&with.rows) {
        assert_eq!((found.verdict, found.clusters), (expected.verdict, Some(Clusters::Prompts)));
        assert!((found.half.unwrap() - expected.half.unwrap()).abs() < 1e-12);
    }
}

#[test]
fn few_prompts_make_groups_the_clusters() {
    let few = |made| changed(made, |_, response| response.prompt = response.prompt.map(|prompt| prompt % 4));
    let level = compared(&few(USUAL), &few(OTHER));
    assert!(level.rows.iter().all(|row| row.clusters == Some(Clusters::Groups) && row.half.is_some()));
}

/// The same responses twice: pairing leaves no error but the floor.
#[test]
fn a_run_is_the_same_as_itself() {
    let run = run_of(&responses(USUAL));
    let level = compared(&run, &run);
    assert!(level.rows.iter().all(|row| row.difference == Some(0.0) && row.half > Some(0.0)));
    let at_level = level.rows.iter().filter(|row| row.window == Window::Level);
    assert!(at_level.into_iter().all(|row| row.verdict == Verdict::Same));
}

#[test]
fn a_task_of_one_run_is_named() {
    let b = run_of(&responses(Made { tasks: &["add", "sort", "code"], ..OTHER }));
    let level = compared(&run_of(&responses(USUAL)), &b);
    assert_eq!(level.tasks_of_one, [Vec::<String>::new(), vec!["code".into()]]);
    assert!(row(&level, Metric::Reward, Window::Level).half.is_some());
    assert!(text(&level).contains("Only b has task code"));
}

#[test]
fn what_was_not_logged_is_left_out_and_counted() {
    // Every fifth reward of the first run, all of its last step, and its entropy.
    let a = changed(USUAL, |place, response| {
        if place.is_multiple_of(5) || response.step == USUAL.steps - 1 {
            response.reward = f64::NAN;
        }
        response.entropy_tokens = 0;
    });
    let level = compared(&a, &run_of(&responses(OTHER)));
    let reward = row(&level, Metric::Reward, Window::Level);
    assert_eq!((reward.steps, row(&level, Metric::Length, Window::Level).steps), (5, 6));
    assert!(reward.values[0].unwrap().is_finite() && reward.half.is_some());
    assert!(reward.lacking[0] > 96 && reward.lacking[1] == 0);
    let entropy = row(&level, Metric::Entropy, Window::Level);
    assert_eq!((entropy.verdict, entropy.reason), (Verdict::NotTested, Some(NotTested::NotLogged)));
    assert_eq!(level.tests, 6);
    let text = text(&level);
    assert!(text.contains("Not tested: entropy (not at the same steps of both runs)."), "{text}");
    assert!(text.contains(&format!("left out: {} responses of a", reward.lacking[0])), "{text}");
}

#[test]
fn rewards_without_bounds_are_judged_by_their_scatter() {
    let scaled = |made| changed(made, |_, response| response.reward = 1e6 * (response.reward - 3.0));
    let [a, b] = [scaled(USUAL), scaled(Made { reward: 0.8, ..OTHER })];
    let least = |unbounded_reward| {
        let level = compare_runs(&a, &b, &Settings { unbounded_reward });
        assert_eq!(row(&level, Metric::Reward, Window::Level).verdict, Verdict::Differs);
        row(&level, Metric::Reward, Window::Level).least.unwrap()
    };
    // 0.02 of the range of groups' means, which is next to that of rewards; 0.05 of √(0.5 · 0.5 to 0.8 · 0.2).
    assert!(least(false) / 1e6 > 0.02 * 0.8 && least(false) / 1e6 < 0.02 + 1e-9, "{}", least(false));
    assert!(least(true) / 1e6 > 0.05 * 0.4 && least(true) / 1e6 < 0.05 * 0.5, "{}", least(true));
}

#[test]
fn held_out_rewards_are_a_metric_of_their_own() {
    let with = |made: Made, reward: f64| {
        let mut run = run_of(&responses(made));
        let evaluated = responses(Made { reward, seed: made.seed + 10, ..made });
        evaluated.iter().for_each(|response| run.add(&ResponseTotals { held_out: true, ..*response }));
        run
    };
    let level = compared(&with(USUAL, 0.3), &with(OTHER, 0.7));
    assert_eq!(level.tests, 10);
    assert_eq!(row(&level, Metric::HeldOut, Window::Level).verdict, Verdict::Differs);
    assert_ne!(row(&level, Metric::Reward, Window::Level).verdict, Verdict::Differs);
}

/// Four seeds of three arms; seed k of each draws the prompts of k.
fn arms_of(rewards: [f64; 3]) -> [Vec<RunGroups>; 3] {
    let run = |arm: u64, seed: u64| {
        let prompts = responses(Made { seed, steps: 4, ..USUAL });
        let drawn =
            responses(Made { seed: 100 * arm + seed, steps: 4, reward: rewards[arm as usize], ..USUAL });
        let both = drawn.iter().zip(&prompts);
        let rows: Vec<_> =
            both.map(|(r, p)| ResponseTotals { prompt: p.prompt, task: p.task, ..*r }).collect();
        run_of(&rows)
    };
    [0, 1, 2].map(|arm| (0..4).map(|seed| run(arm, seed)).collect())
}

fn methods_of(arms: &[Vec<RunGroups>; 3]) -> MethodsLevel {
    let arms = [
        Arm { name: "base", role: Role::Baseline, runs: &arms[0] },
        Arm { name: "random", role: Role::Random, runs: &arms[1] },
        Arm { name: "new", role: Role::Method, runs: &arms[2] },
    ];
    compare_methods(&arms, Metric::Reward)
}

#[test]
fn a_method_that_does_it_is_significant_in_the_primary_metric_alone() {
    let level = methods_of(&arms_of([0.3, 0.35, 0.7]));
    let significant: Vec<_> = level.contrasts.iter().filter(|c| c.significant).collect();
    assert_eq!(significant.iter().map(|c| c.against.as_str()).collect::<Vec<_>>(), ["base", "random"]);
    assert!(significant.iter().all(|c| (c.metric, c.window) == (Metric::Reward, Window::Level)));
    // Right answers are the same numbers here: an interval, no test.
    let right = level.contrasts.iter().find(|c| c.metric == Metric::RightAnswers).unwrap();
    assert!(right.interval.unwrap()[0] > 0.0 && right.p_value.is_none());
    let lines = sentences::methods(&level);
    assert!(lines[0].starts_with("new is above base with four seeds a side: +0."), "{lines:?}");
    assert!(lines[1].contains("significant"), "{lines:?}");
}

/// Pairs are found by their prompts, in whatever order runs are named.
#[test]
fn four_seeds_of_the_same_prompts_are_held_in_pairs() {
    let mut arms = arms_of([0.4, 0.4, 0.5]);
    let level = methods_of(&arms);
    let first = &level.contrasts[0];
    assert!(first.paired && first.freedom == Some(3.0));
    let differences: Vec<f64> = first.values[0].iter().zip(&first.values[1]).map(|(a, b)| a - b).collect();
    let mean = differences.iter().sum::<f64>() / 4.0;
    let error = (differences.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>() / 3.0 / 4.0).sqrt();
    // t(0.975, 3).
    let [low, high] = first.interval.unwrap();
    assert!(
        (low - (mean - 3.182_446_305_284 * error)).abs() < 1e-9 && (low + high - 2.0 * mean).abs() < 1e-12
    );
    arms[0].reverse();
    let reversed = &methods_of(&arms).contrasts[0];
    assert!((reversed.interval.unwrap()[0] - low).abs() < 1e-12);
    let said = sentences::methods(&methods_of(&arms));
    let needed = methods_of(&arms).needed.into_iter().find(|needed| needed.paired).unwrap();
    assert!(said[1].ends_with(&format!("0.05 needs about {} a side.", needed.seeds)), "{said:?}");
    // All seeds of an arm with the prompts of one: none is another's partner.
    let one = arms[0][0].clone();
    arms[0] = vec![one; 4];
    assert!(!methods_of(&arms).contrasts[0].paired);
}

#[test]
fn seeds_that_do_not_scatter_tell_nothing() {
    let run = run_of(&responses(USUAL));
    let level = methods_of(&[0, 1, 2].map(|_| vec![run.clone(); 3]));
    assert!(level.contrasts.iter().all(|c| c.reason == Some(NotTested::NoScatter) && !c.significant));
    assert!(level.needed.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn order_and_splits_give_the_same_bytes(seed in any::<u64>(), parts in 1_usize..7) {
        let all = responses(Made { steps: 4, ..USUAL });
        let whole = run_of(&all);
        let mut shuffled = all.clone();
        Random::new(seed, 1).shuffle(&mut shuffled);
        let mut pieces: Vec<RunGroups> =
            shuffled.chunks(shuffled.len().div_ceil(parts)).map(run_of).collect();
        pieces.reverse();
        let mut merged = RunGroups::default();
        pieces.iter().for_each(|piece| merged.merge(piece));
        let bytes = |run: &RunGroups| postcard::to_allocvec(run).unwrap();
        prop_assert_eq!(bytes(&merged), bytes(&whole));
        let back: RunGroups = postcard::from_bytes(&bytes(&merged)).unwrap();
        let other = run_of(&responses(Made { steps: 4, ..OTHER }));
        let said = |run: &RunGroups| serde_json::to_string(&compared(run, &other)).unwrap();
        prop_assert_eq!(said(&back), said(&whole));
    }

    /// Turned round, differences change their sign and nothing else.
    #[test]
    fn the_order_of_two_runs_changes_signs_alone(seed in 2_u64..1_000) {
        let [a, b] = [USUAL, Made { seed, reward: 0.4, ..USUAL }].map(|made| run_of(&responses(made)));
        let [there, back] = [compared(&a, &b), compared(&b, &a)];
        for (there, back) in there.rows.iter().zip(&back.rows) {
            prop_assert!((there.difference.unwrap() + back.difference.unwrap()).abs() < 1e-12);
            prop_assert!((there.half.unwrap() / back.half.unwrap() - 1.0).abs() < 1e-9);
            prop_assert_eq!(there.verdict, back.verdict);
        }
    }
}
