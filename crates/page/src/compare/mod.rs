//! The document of a comparison.

mod charts;
mod first;
mod intervals;
mod tabs;
#[cfg(test)]
mod tests;

use stapo_base::format::counted;
use stapo_compare::Comparison;
use stapo_compare::result::{Level, Said};

use crate::document::{Document, Place, Section, Text, Tone};
use crate::hostile::{Hostile, visible};

/// The document of a comparison.
#[must_use]
pub fn compare(comparison: &Comparison) -> Document {
    let (tone, word) = state(comparison);
    let section =
        |id, title: Text, place, blocks, in_terminal| Section { id, title, place, blocks, in_terminal };
    let mut sections = vec![
        section("answer", headline(comparison), Place::Headline, Vec::new(), true),
        section("intervals", intervals::title(comparison), Place::Proof, intervals::first(comparison), true),
        section(
            "shows",
            "What it does and does not show".into(),
            Place::Action,
            first::shows(comparison),
            true,
        ),
        section("compared", Text::new(), Place::Charts, charts::figures(comparison), false),
        section("notes", Text::new(), Place::Notes, vec![first::notes(comparison)], true),
    ];
    sections.extend(tabs::sections(comparison));
    sections.retain(|section| section.place == Place::Headline || !section.blocks.is_empty());
    Document {
        name: Hostile::new(name(comparison)),
        size: size(comparison),
        tone,
        word,
        sections,
        terms: Vec::new(),
    }
}

/// What is said first: of methods where several seeds tell of them, else of runs.
fn leading(comparison: &Comparison) -> Option<&Said> {
    let has_intervals = has_methods(comparison);
    comparison.said.iter().find(|said| (said.level == Level::Methods) == has_intervals)
}

/// Whether methods have an interval.
fn has_methods(comparison: &Comparison) -> bool {
    comparison
        .methods
        .iter()
        .flat_map(|methods| &methods.contrasts)
        .any(|contrast| contrast.interval.is_some())
}

fn state(comparison: &Comparison) -> (Tone, &'static str) {
    if has_methods(comparison) {
        return match comparison.methods_differ {
            true => (Tone::Different, "Different"),
            false => (Tone::Open, "Undecided"),
        };
    }
    let tested = || comparison.metrics.iter().filter(|row| row.ci_low.is_some());
    match comparison.runs_differ {
        true => (Tone::Different, "Different"),
        false if tested().next().is_none() => (Tone::Open, "Not compared"),
        false if tested().all(|row| row.verdict == stapo_compare::Verdict::Same) => {
            (Tone::Healthy, "The same")
        }
        false => (Tone::Open, "No difference"),
    }
}

fn headline(comparison: &Comparison) -> Text {
    let line = leading(comparison).and_then(|said| said.lines.first());
    // The word stands before it already.
    let (_, word) = state(comparison);
    line.map_or_else(Text::new, |line| Text::quoting(line.strip_prefix(word).unwrap_or(line).trim_start()))
}

fn name(comparison: &Comparison) -> String {
    let names: Vec<&str> = comparison.arms.iter().map(|arm| arm.name.as_str()).collect();
    match names[..] {
        [first, ref others @ ..] if others.len() < 4 => format!("{first} against {}", others.join(", ")),
        [first, ref others @ ..] => format!("{first} against {} others", others.len()),
        [] => String::new(),
    }
}

fn size(comparison: &Comparison) -> Vec<Text> {
    let steps = comparison.pairs.iter().map(|pair| pair.steps).min().unwrap_or(0);
    let all = |of: fn(&stapo_compare::result::RunSummary) -> u64| comparison.runs.iter().map(of).sum::<u64>();
    let runs = counted(comparison.runs.len() as u64, "run", "runs");
    let (answers, tokens) = (all(|run| run.responses), all(|run| run.tokens));
    let long = match comparison.runs.iter().any(|run| run.in_characters) {
        true => counted(tokens, "character", "characters"),
        false => counted(tokens, "token", "tokens"),
    };
    let size = match answers {
        // Training curves.
        0 => runs,
        _ => format!("{runs}, {}, {long}", counted(answers, "answer", "answers")),
    };
    vec![counted(steps, "common step", "common steps").into(), size.into()]
}

/// A name that fits into a head of a table or beside a line.
fn short(name: &str) -> String {
    visible(name, 14)
}
