//! `report.html` of a run without entropy or advantages: what cannot be told first, then what can.

use maud::html;

use super::material::{run_name, size};
use super::verdict::{badge, first_sentence, since, word};
use super::{answers, diagnosis, limits, warnings};
use crate::candidates::thinned;
use crate::charts::Drawn;
use crate::page::{Fact, FirstScreen, Page, Section, figures, with_code};
use crate::tables;
use crate::text::{prose, sentence};
use stapo_base::format::{grouped as count, number, number_or_dash};
use stapo_result::PartialAnalysis;
use stapo_result::{PartialVerdict, RunState};

/// Steps that are listed at most.
const STEPS: usize = 400;

/// The page.
#[must_use]
pub fn partial_page(analysis: &PartialAnalysis, charts: &[Drawn]) -> String {
    let totals = &analysis.totals;
    let sections = [
        Some(diagnosis::of_run(&analysis.diagnosis, charts)),
        Some(warnings::of_run(&analysis.warnings)),
        figures::section(charts, &diagnosis::CHARTS),
        answers::of_run(&analysis.answers),
        Some(steps(analysis)),
        Some(limits::of_run(&statements(analysis), &analysis.provenance, &analysis.quality)),
    ];
    let name = run_name(&analysis.provenance);
    Page {
        title: format!("{name} – token report without {}", analysis.partial.missing_columns.join(" and ")),
        name,
        facts: size(totals.tokens, totals.responses, totals.steps),
        verdict: first_screen(analysis),
        sections: sections.into_iter().flatten().collect(),
        data: Vec::new(),
        script: "",
    }
    .render()
}

/// What holds for such a report; also in `report.md`.
pub fn statements(analysis: &PartialAnalysis) -> Vec<String> {
    let partial = &analysis.partial;
    let columns = partial.missing_columns.join(", ");
    let mut found = vec![sentence(&format!(
        "the log has no column for {columns}: {} cannot be told, and nothing here says anything of them",
        partial.cannot_tell
    ))];
    if analysis.totals.missing > 0 {
        found.push(format!(
            "{} trained tokens lack a usable log-probability or advantage.",
            count(analysis.totals.missing)
        ));
    }
    found.extend(analysis.provenance.statements.iter().map(|s| sentence(&prose(s))));
    found
}

/// A state in a word or two: where nothing was found, only a part was looked at.
pub fn partial_word(analysis: &PartialAnalysis) -> String {
    match analysis.verdict.state {
        RunState::Unknown => "Partly checked".into(),
        state => word(state),
    }
}

/// When something went wrong, in words: nobody can tell of what was not looked at.
pub fn partial_when(verdict: &PartialVerdict) -> String {
    match (verdict.first_bad_step, verdict.state) {
        (None, RunState::Unknown) => "at no logged step, in what could be checked".into(),
        (step, state) => since(step, state),
    }
}

fn first_screen(analysis: &PartialAnalysis) -> FirstScreen {
    let (verdict, totals) = (&analysis.verdict, &analysis.totals);
    let (tone, sign) = badge(verdict.state);
    let (headline, rest) = first_sentence(prose(&verdict.health));
    let dead = totals.zero_advantage_groups.zip(totals.groups);
    FirstScreen {
        tone,
        sign,
        word: partial_word(analysis),
        headline,
        lead: html! {
            @if !rest.is_empty() { p.lead { (with_code(&rest)) } }
            p.lead { b { "To have the rest:" } " " (with_code(&prose(&analysis.partial.hint))) "." }
        },
        facts: [
            Some(Fact {
                value: number_or_dash(totals.mean_reward),
                what: "mean reward".into(),
                note: format!("of {} responses", count(totals.responses)),
            }),
            Some(Fact {
                value: number_or_dash(totals.mean_length),
                what: "trained tokens a response".into(),
                note: format!("{} in all", count(totals.tokens)),
            }),
            dead.map(|(dead, all)| Fact {
                value: count(dead),
                what: "dead groups: no response has an advantage".into(),
                note: format!("of {}", count(all)),
            }),
            totals.mean_entropy.map(|entropy| Fact {
                value: number(entropy),
                what: "nats, the mean entropy".into(),
                note: format!("of {} tokens", count(totals.tokens)),
            }),
        ]
        .into_iter()
        .flatten()
        .collect(),
        answers: vec![("When it went wrong", html! { (partial_when(verdict)) })],
    }
}

fn steps(analysis: &PartialAnalysis) -> Section {
    let shown = thinned(&analysis.steps.iter().collect::<Vec<_>>(), STEPS);
    let more = match analysis.steps.len() - shown.len() {
        0 => String::new(),
        left_out => format!("{} more steps are in the file.", count(left_out as u64)),
    };
    let body = html! { (tables::partial_steps(&shown).folded("Steps", Some("steps"), &more)) };
    Section { id: "tables", link: "Tables", heading: "Tables", body }
}
