//! Documents of made-up replays, in each renderer.

use stapo_framework::rules::Rule;
use stapo_result::replay::{
    Alternative, ArmResult, ArmSummary, Case, Counts, Data, Difference, HoldoutMetrics, Metric,
    MetricSummary, Model, OldPolicy, RateSource, ReplayResult, ReplayVerdict, ReplayWarning,
    ReplayWarningCode, StepDrift, Training, Update,
};

use super::replay;
use crate::document::Tone;
use crate::html::page;
use crate::markdown;
use crate::terminal::{COLUMNS, LINES, Terminal, terminal, wide};

const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\u{202E}[x](javascript:y)\u{7}";
const RULES: [Rule; 3] = [Rule::Dapo, Rule::Stapo, Rule::Random];

fn metrics(updates: u64, margin: f64) -> HoldoutMetrics {
    HoldoutMetrics {
        updates,
        step: Some(3),
        margin: Some(margin),
        correct_logprob: Some(-0.41),
        wrong_logprob: Some(-0.41 - margin),
        auc: Some(0.53),
        entropy: 0.4 + margin,
        kl_to_start: 0.002,
    }
}

fn update(update: u64) -> Update {
    Update {
        update,
        step: 3,
        minibatch: update,
        epoch: 0,
        pass: 0,
        tokens: 1000,
        loss: 0.1,
        grad_norm: 0.5 + update as f64,
        lm_head_grad_norm: 0.1,
        dropped: false,
        mean_entropy: 0.4,
        mean_entropy_after: Some(0.41),
        mean_ratio: 1.0,
        max_ratio: 1.2,
        mean_abs_log_ratio: 0.01,
        clip_share: Some(0.0),
        kl_to_start: 0.001 * update as f64,
        counts: Counts::default(),
    }
}

fn arm(objective: Rule, seed: u64, margin: f64) -> ArmResult {
    let drift = |step, drift| StepDrift {
        step,
        drift: Some(drift),
        measured_responses: 8,
        responses: 8,
        old: OldPolicy::Log,
    };
    ArmResult {
        objective,
        rule: HOSTILE.into(),
        seed,
        token_log: format!("{objective}.parquet"),
        stopped: None,
        updates: (0..4).map(update).collect(),
        steps: vec![drift(3, 0.0), drift(4, 0.03)],
        holdout: vec![metrics(2, margin / 2.0), metrics(4, margin)],
    }
}

fn difference(baseline: Rule, metric: Metric, prompts: u64, interval: Option<(f64, f64)>) -> Difference {
    Difference {
        objective: Rule::Stapo,
        baseline,
        metric,
        prompts,
        shuffles: 3,
        mean: 0.0123,
        interval,
        decides: metric == Metric::PRIMARY,
        finding: Difference::finding(interval),
    }
}

/// A replay whose differences are so; everything that a log can bring into it is hostile.
fn made(word: &'static str, prompts: u64, interval: Option<(f64, f64)>) -> ReplayResult {
    let summary = |objective: Rule| ArmSummary {
        objective,
        rule: HOSTILE.into(),
        finished: 3,
        stopped: 0,
        silenced: (objective != Rule::Dapo).then_some(21.0),
        silenced_share: (objective != Rule::Dapo).then_some(0.0015),
        metrics: vec![MetricSummary { metric: Metric::Margin, mean: 0.02, values: vec![0.02; 3] }],
    };
    let case = Case {
        step: 3,
        sample: HOSTILE.into(),
        position: 4,
        token_id: 7,
        token: Some(HOSTILE.into()),
        before: HOSTILE.into(),
        after: HOSTILE.into(),
        probability: 4.2e-5,
        entropy: 0.0955,
        advantage: 1.0,
        spurious: true,
        alternatives: vec![Alternative { token_id: 1, token: Some(HOSTILE.into()), probability: 0.98 }],
    };
    ReplayResult {
        schema_version: 2,
        verdict: ReplayVerdict {
            word,
            headline: "stapo minus random: right over wrong answers +0.012 nats a token (+0.004 to +0.020), 40 prompts × 3 shuffles.".into(),
            detail: "stapo minus dapo: +0.010 (+0.001 to +0.019), a difference.".into(),
        },
        data: Data {
            files: vec![format!("runs/{HOSTILE}.parquet")],
            steps: 2,
            responses: 104,
            tokens: 14_260,
            holdout_responses: 320,
            holdout_tokens: 40_000,
            holdout_prompts: 40,
            correct: HOSTILE.into(),
            advantages: "logged".into(),
            ..Data::default()
        },
        model: Model { path: Some(HOSTILE.into()), parameters: 1_800_000, vocab_size: 256, ..Model::default() },
        training: Training {
            minibatch: Some(16),
            epochs: 1,
            learning_rate: 1.5e-4,
            learning_rate_source: RateSource::Option,
            betas: (0.9, 0.999),
            eps: 1e-8,
            weight_decay: 0.0,
            warmup: 0,
            max_grad_norm: 1.0,
            kl_beta: 0.0,
            seeds: 3,
            shuffled: true,
            tau_p: 0.01,
            old: OldPolicy::Auto,
            drift_limit: 0.05,
            holdout: 0.2,
            device: HOSTILE.into(),
        },
        start: Some(metrics(0, 0.0)),
        arms: RULES.iter().flat_map(|rule| (1..=3).map(|seed| arm(*rule, seed, 0.01))).collect(),
        unfinished: Vec::new(),
        summary: RULES.map(summary).into(),
        differences: vec![
            difference(Rule::Random, Metric::Margin, prompts, interval),
            difference(Rule::Dapo, Metric::Margin, prompts, interval),
            difference(Rule::Random, Metric::Entropy, prompts, interval),
        ],
        prompts: Vec::new(),
        cases: vec![case],
        warnings: vec![ReplayWarning {
            code: ReplayWarningCode::LearningRate,
            message: HOSTILE.into(),
            hint: "leave --lr out".into(),
        }],
    }
}

fn differing() -> ReplayResult {
    made("It is the mask", 40, Some((0.004, 0.0206)))
}

fn lines(result: &ReplayResult, columns: usize, verbose: bool) -> String {
    terminal(&replay(result), Terminal { columns, colours: false, verbose })
}

#[test]
fn a_difference_in_the_terminal() {
    insta::assert_snapshot!(lines(&differing(), COLUMNS, false));
}

#[test]
fn too_little_in_the_terminal() {
    insta::assert_snapshot!(lines(&made("Too little to tell", 3, None), COLUMNS, false));
}

#[test]
fn a_difference_in_markdown() {
    insta::assert_snapshot!(markdown::markdown(&replay(&differing())));
}

#[test]
fn the_colour_is_that_of_the_finding() {
    let tone = |interval| replay(&made("", 40, interval)).tone;
    assert_eq!(tone(Some((0.004, 0.02))), Tone::Different);
    assert_eq!((tone(Some((-0.004, 0.02))), tone(None)), (Tone::Open, Tone::Open));
    assert_eq!(replay(&ReplayResult { summary: Vec::new(), ..differing() }).tone, Tone::Bad);
}

#[test]
fn what_would_be_enough_is_to_be_done() {
    let said = lines(&made("Too little to tell", 15, None), COLUMNS, true);
    assert!(said.contains("For a verdict: --holdout 0.5."), "{said}");
    assert!(!lines(&differing(), COLUMNS, true).contains("For a verdict"));
}

#[test]
fn terminals_keep_their_width_and_their_lines() {
    for result in [differing(), made("Too little to tell", 3, None)] {
        for columns in [40, 80, 200] {
            for verbose in [false, true] {
                let text = lines(&result, columns, verbose);
                assert!(text.lines().all(|line| wide(line) <= columns), "{columns}: {text}");
                assert!(verbose || text.lines().count() <= LINES[0], "{text}");
            }
        }
    }
}

#[test]
fn a_replay_without_anything_has_a_page() {
    let empty = ReplayResult {
        start: None,
        arms: Vec::new(),
        summary: Vec::new(),
        differences: Vec::new(),
        cases: Vec::new(),
        warnings: Vec::new(),
        ..differing()
    };
    assert!(page(&replay(&empty)).ends_with("</html>"));
}

#[test]
fn nothing_of_a_log_is_markup() {
    let document = replay(&differing());
    let html = page(&document);
    assert!(!html.contains("<img") && !html.contains('\u{202E}') && !html.contains('\u{7}'));
    let text = markdown::markdown(&document);
    let prose = |line: &str| line.split('`').step_by(2).collect::<String>();
    let text: String = text.lines().map(prose).collect();
    assert!(!text.contains("<img") && !text.contains("[x](javascript") && !text.contains('\u{202E}'));
    let said = lines(&differing(), COLUMNS, true);
    assert!(!said.chars().any(|c| c.is_control() && c != '\n') && !said.contains('\u{202E}'));
    for target in html.split("popovertarget=\"").skip(1).filter_map(|part| part.split('"').next()) {
        assert!(html.contains(&format!("id=\"{target}\"")), "{target}");
    }
}
