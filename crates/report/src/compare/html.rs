//! `compare.html`: one file without scripts, without network.

use maud::{Markup, html};

use super::{causes, metrics, tables};
use crate::charts::Drawn;
use crate::page;
use crate::page::warnings;
use crate::page::warnings::Notice;
use crate::page::{Fact, FirstScreen, Page, Section, Tone, figures};
use crate::text::prose;
use stapo_base::format::words;
use stapo_base::format::{grouped as count, none};
use stapo_compare::Comparison;
use stapo_compare::metric_names::{ENTROPY, PASS_RATE, REWARD, SILENCED_RATIO};
use stapo_compare::result::{AlignmentSummary, Arm, CompareWarning, MetricRow};
use stapo_compare::shown::{level, shown, shown_difference, shown_interval, shown_p};
use stapo_compare::verdict::word;

/// Metrics of the first screen.
const FIRST: [&str; 2] = [ENTROPY, SILENCED_RATIO];
/// Sentences and runs of the first screen at most.
const DIFFERENCES: usize = 6;
const ALIKE: usize = 4;
/// Runs that the heading names at most.
const NAMES: usize = 8;
const ALIGNED: usize = 8;

/// The page.
#[must_use]
pub fn page(comparison: &Comparison, charts: &[Drawn]) -> String {
    let names: Vec<String> = comparison.arms.iter().map(|arm| prose(&arm.name)).collect();
    let more = names.len().saturating_sub(NAMES);
    let heading = |between: &str| {
        let named = names[..names.len() - more].join(between);
        if more > 0 { format!("{named}{between}and {more} more") } else { named }
    };
    let notices: Vec<Notice> = comparison.warnings.iter().map(notice).collect();
    Page {
        title: format!("{} – comparison of runs", heading(", ")),
        name: heading(" · "),
        facts: format!(
            "{} runs · {} tokens · baseline {}",
            comparison.runs.len(),
            count(comparison.runs.iter().map(|run| run.tokens).sum::<u64>()),
            names.first().map_or("", String::as_str)
        ),
        verdict: verdict(comparison),
        sections: [
            Some(warnings::section(&notices, "compare.json")),
            Some(metrics::section(comparison)),
            causes::section(comparison),
            figures::section(charts, &[]),
            Some(tables::section(comparison)),
            Some(limits(comparison)),
        ]
        .into_iter()
        .flatten()
        .collect(),
        data: Vec::new(),
        script: "",
    }
    .render()
}

fn notice(warning: &CompareWarning) -> Notice {
    Notice {
        name: words(warning.code.name()),
        serious: false,
        message: warning.message.clone(),
        hint: warning.hint.clone(),
        evidence: Vec::new(),
    }
}

fn verdict(comparison: &Comparison) -> FirstScreen {
    let verdict = &comparison.verdict;
    let (tone, sign) = match (verdict.differs, verdict.decided) {
        (true, _) => (Tone::Differs, "≠"),
        (false, true) => (Tone::Unknown, "≈"),
        (false, false) => (Tone::Unknown, "?"),
    };
    let more = verdict.differences.len().saturating_sub(DIFFERENCES);
    FirstScreen {
        tone,
        sign,
        word: word(verdict).into(),
        headline: prose(&verdict.headline),
        lead: html! {
            @if !verdict.differences.is_empty() {
                ul.more {
                    @for sentence in verdict.differences.iter().take(DIFFERENCES) { li { (prose(sentence)) } }
                    @if more > 0 { li { "and " (more) " more, below" } }
                }
            }
        },
        facts: facts(comparison),
        answers: vec![
            ("What was not shown to differ", alike(comparison)),
            ("Causes", known_causes(comparison)),
            ("What it speaks of", html! { (prose(&verdict.scope)) }),
            ("Aligned", alignment(&comparison.alignment)),
        ],
    }
}

fn alike(comparison: &Comparison) -> Markup {
    let sentences = &comparison.verdict.alike;
    let nothing = match comparison.metrics.iter().any(|row| row.significant) {
        true => "nothing: all that was compared differs",
        false => "nothing could be compared",
    };
    html! {
        @if sentences.is_empty() { (nothing) }
        @for sentence in sentences.iter().take(ALIKE) { p { (prose(sentence)) } }
        (left_out(sentences.len()))
    }
}

fn known_causes(comparison: &Comparison) -> Markup {
    html! {
        @if comparison.causes.is_empty() { "none in any run" }
        @for row in comparison.causes.iter().take(ALIKE) { p { (prose(&row.sentence)) } }
        (left_out(comparison.causes.len()))
    }
}

/// What the first screen has no room for.
fn left_out(all: usize) -> Markup {
    let more = all.saturating_sub(ALIKE);
    html! { @if more > 0 { p { "and " (more) " more, below" } } }
}

fn alignment(arms: &[AlignmentSummary]) -> Markup {
    let more = arms.len().saturating_sub(ALIGNED);
    html! {
        @for arm in arms.iter().take(ALIGNED) { p { (aligned(arm)) } }
        @if more > 0 { p { "and " (more) " more, in compare.json" } }
    }
}

fn aligned(a: &AlignmentSummary) -> String {
    format!(
        "{}: {} steps ({}), {} prompts in both; left out: {} + {} steps, {} + {} groups without a partner",
        prose(&a.run),
        count(a.steps),
        a.method,
        if a.prompts_logged { count(a.prompts) } else { "unknown".into() },
        count(a.baseline_unaligned),
        count(a.other_unaligned),
        count(a.baseline_groups_unaligned),
        count(a.other_groups_unaligned)
    )
}

/// The numbers of the first screen: the arm that the headline speaks of against the baseline, else the first.
fn facts(comparison: &Comparison) -> Vec<Fact> {
    let [base, first, ..] = comparison.arms.as_slice() else { return Vec::new() };
    let arms = || comparison.arms.iter().skip(1);
    let is_named = |arm: &&Arm| comparison.verdict.headline.starts_with(&format!("{} has a ", arm.name));
    let arm = arms().find(is_named).unwrap_or(first);
    let row = |name: &&str| comparison.metrics.iter().find(|r| r.name == **name && r.run == arm.name);
    let fact = |r: &MetricRow| Fact {
        value: shown_difference(r, r.difference),
        what: format!("{}, {} against {}", prose(&r.label), prose(&r.run), prose(&base.name)),
        note: format!(
            "{} against {}; interval {}; p {} corrected",
            shown(r, r.other),
            shown(r, r.baseline),
            shown_interval(r).unwrap_or_else(none),
            r.p_adjusted.map_or_else(none, shown_p)
        ),
    };
    // Right answers stand in for rewards that cannot be compared.
    let is_tested = |name: &&str| row(name).is_some_and(|r| r.p_value.is_some());
    let first = if is_tested(&REWARD) || !is_tested(&PASS_RATE) { REWARD } else { PASS_RATE };
    std::iter::once(&first).chain(&FIRST).filter_map(row).map(fact).collect()
}

fn limits(comparison: &Comparison) -> Section {
    let statements: Vec<String> = comparison.statements.iter().map(|s| prose(s)).collect();
    let body = html! {
        (page::statements(&statements))
        (page::folded_facts("Runs, files, settings", &settings(comparison)))
    };
    Section {
        id: "limits",
        link: "What this cannot know",
        heading: "How this was computed, and what it cannot know",
        body,
    }
}

fn settings(comparison: &Comparison) -> Vec<(String, String)> {
    let settings = &comparison.settings;
    let mut facts = vec![
        ("Program".to_owned(), format!("stapo-analyze {}", settings.program)),
        ("S2T".into(), settings.preset.name().into()),
        (
            "Bootstrap".into(),
            format!(
                "{} draws, seed {}, {} %",
                count(settings.draws),
                settings.seed,
                level(settings.confidence)
            ),
        ),
    ];
    for run in comparison.runs.iter().take(40) {
        facts.push((prose(&run.name), prose(&format!("{} ({} norms)", run.health, run.gradient_source))));
        facts.extend(run.files.iter().take(8).map(|file| ("File".to_owned(), prose(file))));
    }
    facts
}
