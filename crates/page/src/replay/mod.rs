//! The document of a replay: whether it is the mask, and how far it is known.

mod curves;
mod first;
mod tabs;

#[cfg(test)]
mod tests;

use stapo_base::format::counted;
use stapo_framework::rules::Rule;
use stapo_result::replay::{ArmResult, Finding, HoldoutMetrics, ReplayResult};

use crate::document::{Document, Term, Text, Tone};
use crate::hostile::Hostile;

/// The document of a replay.
#[must_use]
pub fn replay(result: &ReplayResult) -> Document {
    let mut sections = first::sections(result);
    sections.extend(tabs::sections(result));
    Document {
        name: name(result),
        size: size(result),
        tone: tone(result),
        word: result.verdict.word,
        sections,
        terms: TERMS.to_vec(),
    }
}

const TERMS: &[Term] = &[
    Term {
        id: "margin",
        word: "Right over wrong",
        meaning: "Log-probability a token of right answers less that of wrong ones to the same held-out prompt, \
                  where each prompt counts the same. +0.01 is 1 % a token. It says how the policy rates logged \
                  answers, not what it would answer.",
    },
    Term {
        id: "shuffle",
        word: "Shuffle",
        meaning: "A seed: the order of mini-batches, and which tokens the random mask takes. Arms of one seed share it.",
    },
    Term {
        id: "k3",
        word: "Divergence from the start",
        meaning: "Estimated over logged tokens (k3), not over the policy's own: how far an arm has moved.",
    },
    Term {
        id: "drift",
        word: "Drift",
        meaning: "By what factor probabilities of logged tokens differ on average between the replayed policy and the \
                  one that drew them (exp of mean |ln ρ|), before a step's first update. 1.00× is the same policy.",
    },
];

/// A finding has its colour; nothing else has.
fn tone(result: &ReplayResult) -> Tone {
    let nothing = result.summary.iter().all(|row| row.finished == 0) && result.unfinished.is_empty();
    if nothing || result.verdict.word == "Policy lost" {
        return Tone::Bad;
    }
    let first = result.differences.iter().find(|difference| difference.decides);
    let differs = first.is_some_and(|difference| difference.finding == Finding::Differs);
    if differs && result.unfinished.is_empty() { Tone::Different } else { Tone::Open }
}

/// The log's file, or the first and the last of them.
fn name(result: &ReplayResult) -> Hostile {
    let stem = |path: &String| {
        let name = path.trim_end_matches('/').rsplit(['/', '\\']).next().unwrap_or(path).to_owned();
        name.split_once('.').map_or(name.clone(), |parts| parts.0.to_owned())
    };
    let names: Vec<String> = result.data.files.iter().map(stem).collect();
    let name = match names.as_slice() {
        [] => "run".into(),
        [one] => one.clone(),
        [first, .., last] => format!("{first} … {last}, {} files", names.len()),
    };
    Hostile::new(format!("{name}: replay"))
}

fn size(result: &ReplayResult) -> Vec<Text> {
    let data = &result.data;
    let trained = format!(
        "{} in {}",
        counted(data.responses, "answer", "answers"),
        counted(data.steps, "step", "steps")
    );
    let held_out = match data.holdout_responses {
        0 => "nothing held out".to_owned(),
        n => format!("{n} held out, of {}", counted(data.holdout_prompts, "prompt", "prompts")),
    };
    let arms = format!(
        "{} × {}",
        counted(result.summary.len() as u64, "objective", "objectives"),
        counted(result.training.seeds, "shuffle", "shuffles")
    );
    vec![trained.into(), format!("{held_out} · {arms}").into()]
}

/// Arms of an objective that came to their end; all of them where none did.
fn arms_of(result: &ReplayResult, objective: Rule) -> Vec<&ArmResult> {
    let mine: Vec<&ArmResult> = result.arms.iter().filter(|arm| arm.objective == objective).collect();
    let finished: Vec<&ArmResult> = mine.iter().copied().filter(|arm| arm.stopped.is_none()).collect();
    if finished.is_empty() { mine } else { finished }
}

/// The objective that the first line is about, else the last that was replayed.
fn leading(result: &ReplayResult) -> Option<Rule> {
    let first = result.differences.iter().find(|difference| difference.decides);
    first.map(|difference| difference.objective).or_else(|| result.summary.last().map(|row| row.objective))
}

/// Mean of the finite values.
fn mean(values: &[f64]) -> Option<f64> {
    let fine: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    (!fine.is_empty()).then(|| fine.iter().sum::<f64>() / fine.len() as f64)
}

/// A number of the held-out answers.
type OfHoldout = fn(&HoldoutMetrics) -> Option<f64>;
