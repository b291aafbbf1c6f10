//! The numbers that prove the state, beside what a healthy run has.

use super::charts::{CLIP, Gap, ratios};
use super::{Run, in_words};
use crate::document::{Fact, Text};
use crate::told::{Cause, Course, Evidence, State};
use crate::words;

/// Facts at most.
const FACTS: usize = 3;

/// Their heading and the facts.
pub(super) fn facts(run: &Run<'_>) -> (&'static str, Vec<Fact>) {
    let told = &run.told;
    if told.state == State::Healthy {
        return ("Why it counts as healthy", healthy(run));
    }
    let mut facts: Vec<Fact> = told
        .losses
        .iter()
        .take(1)
        .map(|loss| {
            let name = Text::quoting(words::capital(&in_words(&loss.name)))
                .say(format!(" at the end; before step {}", loss.step));
            Fact::proof(name, words::sig(loss.after, 2), words::sig(loss.before, 2))
        })
        .collect();
    if let Some(cause) = told.first_cause() {
        facts.extend(of_cause(cause));
    } else {
        facts.extend(course(run));
    }
    facts.truncate(FACTS);
    (if told.first_cause().is_some() { "What proves it" } else { "What is known" }, facts)
}

fn of_cause(cause: &Cause) -> impl Iterator<Item = Fact> {
    cause.evidence.iter().map(|evidence| {
        let (value, healthy) = shown(evidence);
        Fact {
            name: Text::quoting(words::capital(&evidence.what)),
            value: value.into(),
            healthy: Some(healthy),
        }
    })
}

/// A value of the evidence and what a healthy run has, in the unit of what it measures.
pub(super) fn shown(evidence: &Evidence) -> (String, Text) {
    // Logarithms of ratios read as ratios.
    let of_gap = ["gap ", "ln π"].into_iter().any(|log_ratio| evidence.what.starts_with(log_ratio));
    let is_ratio = of_gap && evidence.what.contains(" over ");
    let of_all = ["share", "part of", "rate of"].into_iter().any(|word| evidence.what.contains(word));
    let unit = |value: f64| match () {
        () if is_ratio => words::times(value),
        () if of_gap => words::times(value.abs().min(5.0).exp()),
        () if of_all && (0.0..=1.0).contains(&value) => words::percent(value),
        () if value.fract() == 0.0 && value.abs() < 1e4 => format!("{value}").replace('-', "−"),
        () if value.abs() >= 1e4 && value.is_finite() => words::count(value.abs()),
        () => words::sig(value, 2),
    };
    // "below 0.1" is in the unit of the value.
    let rounded = |text: String| match text.contains('.') && text.ends_with('0') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    };
    let in_unit =
        |word: &str| word.parse::<f64>().map_or_else(|_| word.to_owned(), |value| rounded(unit(value)));
    let healthy = evidence.healthy.as_deref().map_or_else(
        || "–".into(),
        |text| {
            text.split(' ')
                .map(in_unit)
                .collect::<Vec<_>>()
                .join(" ")
                .replace("below ", "< ")
                .replace("above ", "> ")
        },
    );
    (unit(evidence.value), Text::quoting(healthy))
}

/// What part of the room above its start a reward has gained.
pub(super) fn gained(course: Course) -> Option<f64> {
    let room = course.top - course.start;
    (room > 0.0).then(|| (course.end - course.start) / room)
}

fn course(run: &Run<'_>) -> Vec<Fact> {
    let Some(course) = run.told.course else { return Vec::new() };
    let mut facts = Vec::new();
    if let Some(gained) = gained(course) {
        facts.push(Fact::proof(
            "Possible gain in reward that was made",
            words::percent(gained.max(0.0)),
            "> 10 %",
        ));
    }
    facts.push(Fact::proof("Logged steps", words::count(run.steps.len() as f64), "≥ 10"));
    facts
}

fn healthy(run: &Run<'_>) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(gained) = run.told.course.and_then(gained) {
        facts.push(Fact::proof("Possible gain in reward that was made", words::percent(gained), "> 10 %"));
    }
    let parts = run.told.signals.iter().filter(|signal| signal.name.starts_with("reward")).count();
    let fell = run.told.losses.len();
    facts.push(Fact::proof("Rewards and their parts that fell", format!("{fell} of {parts}"), "0"));
    let gaps = ratios(run, Gap::Sampler);
    let most = gaps.iter().map(|p| p.1).filter(|v| v.is_finite()).fold(f64::NAN, f64::max);
    if most.is_finite() {
        facts.push(Fact::proof(
            "Trainer against sampler: typically at most",
            words::times(most),
            format!("< {CLIP}×"),
        ));
    } else if let Some(cut) = run.answers.truncated.as_ref().filter(|cut| cut.known > 0) {
        facts.push(Fact::proof(
            "Answers that were cut",
            words::percent(cut.responses as f64 / cut.known as f64),
            "< 50 %",
        ));
    }
    facts
}
