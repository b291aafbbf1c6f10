//! `replay.html`.

use maud::html;

use super::words::{name, policy, statements};
use super::{cases, objectives, tables};
use crate::charts::Drawn;
use crate::page;
use crate::page::warnings;
use crate::page::warnings::Notice;
use crate::page::{Fact, FirstScreen, Page, Section, Tone, figures};
use crate::text::prose;
use stapo_base::format::{amount, counted, none, number, percent};
use stapo_result::replay::{ArmTiming, FEWEST_SEEDS, ReplayResult};
use stapo_result::replay::{ReplayWarning, ReplayWarningCode};

/// The page.
pub fn page(result: &ReplayResult, timing: &[ArmTiming], charts: &[Drawn]) -> String {
    let data = &result.data;
    let notices: Vec<Notice> = result.warnings.iter().map(notice).collect();
    Page {
        title: format!("{} – replay", name(result)),
        name: format!("{} – replay", name(result)),
        facts: format!(
            "{} · {} · {} · {} × {} = {}",
            counted(data.responses, "response", "responses"),
            counted(data.tokens, "token", "tokens"),
            counted(data.steps, "step", "steps"),
            counted(result.summary.len() as u64, "objective", "objectives"),
            counted(result.training.seeds, "seed", "seeds"),
            counted(result.arms.len() as u64, "arm", "arms")
        ),
        verdict: verdict(result),
        sections: [
            Some(warnings::section(&notices, "replay.json")),
            Some(objectives::section(result, timing)),
            figures::section(charts, &[]),
            Some(tables::section(result)),
            Some(cases::section(result)),
            Some(limits(result)),
        ]
        .into_iter()
        .flatten()
        .collect(),
        data: Vec::new(),
        script: "",
    }
    .render()
}

fn notice(warning: &ReplayWarning) -> Notice {
    Notice {
        name: warning.code.label().into(),
        serious: matches!(
            warning.code,
            ReplayWarningCode::Surrogate | ReplayWarningCode::PolicyLost | ReplayWarningCode::ArmStopped
        ),
        message: warning.message.clone(),
        hint: warning.hint.clone(),
        evidence: Vec::new(),
    }
}

fn verdict(result: &ReplayResult) -> FirstScreen {
    let supported = result.differences.iter().filter(|d| d.supported).count();
    let tested = result.differences.iter().filter(|d| d.p_value.is_some()).count();
    // Two seeds cannot tell a difference from chance: the headline says so, and nothing else may.
    let (tone, sign, word) = match (tested, supported) {
        (0, _) => (Tone::Unknown, "?", "Cannot say"),
        _ if result.is_lost() || result.training.seeds < FEWEST_SEEDS => (Tone::Unknown, "?", "Cannot say"),
        (_, 0) => (Tone::Unknown, "=", "No difference"),
        _ => (Tone::Differs, "≠", "A difference"),
    };
    let training = &result.training;
    let minibatch = training
        .minibatch
        .map_or_else(|| "the log’s own responses".into(), |n| counted(n, "response", "responses"));
    FirstScreen {
        tone,
        sign,
        word: word.into(),
        headline: prose(&result.verdict.headline),
        lead: html! { p.lead { (prose(&result.verdict.detail)) } },
        facts: facts(result, tested, supported),
        answers: vec![
            ("Policy", html! { (policy(result)) }),
            (
                "Training",
                html! {
                    "AdamW, learning rate " (format!("{:e}", training.learning_rate)) ", " (minibatch) " a mini-batch, "
                    (counted(training.epochs, "epoch", "epochs")) ", gradient norm clipped to " (training.max_grad_norm)
                    ", on " (prose(&training.device))
                },
            ),
            (
                "Hold-out",
                html! {
                    @match result.data.holdout_responses {
                        0 => { "none" }
                        n => {
                            (counted(n, "response", "responses")) " of " (counted(result.data.holdout_prompts, "prompt", "prompts"))
                            ", never trained on"
                        }
                    }
                },
            ),
        ],
    }
}

fn facts(result: &ReplayResult, tested: usize, supported: usize) -> Vec<Fact> {
    let silencing = result.summary.iter().find(|s| s.silenced.is_some());
    let drift = result.arms.iter().flat_map(|a| &a.steps).filter_map(|s| s.drift).reduce(f64::max);
    let differences = match tested {
        0 => Fact {
            value: "0".into(),
            what: "differences can be tested".into(),
            note: "a paired t-test needs two seeds or more".into(),
        },
        _ => Fact {
            value: format!("{supported} of {tested}"),
            what: "differences are supported".into(),
            note: "paired t-tests over seeds, adjusted by Holm, below 0.05".into(),
        },
    };
    vec![
        differences,
        Fact {
            value: silencing.and_then(|s| s.silenced_share).map_or_else(none, percent),
            what: "of the trained tokens are silenced".into(),
            note: silencing.map_or_else(
                || "no objective here silences tokens".into(),
                |s| format!("{}: {} a seed", s.objective, amount(s.silenced.unwrap_or(0.0))),
            ),
        },
        Fact {
            value: drift.map_or_else(none, number),
            what: "is the largest drift from the logged policy".into(),
            note: "mean |ln ρ| before a step’s first update".into(),
        },
    ]
}

fn limits(result: &ReplayResult) -> Section {
    Section {
        id: "limits",
        link: "What this cannot know",
        heading: "What this cannot know",
        body: page::statements(&statements(result)),
    }
}
