//! The first screen: the answer, and the numbers behind it.

use maud::{Markup, html};

use crate::page;
use crate::page::{Fact, Tone};
use crate::text::{prose, token_label};
use stapo_base::format::{grouped as count, none, number, percent, percent_or_dash, times};
use stapo_framework::s2t::Population;
use stapo_result::RunAnalysis;
use stapo_result::{BatchKind, NormSource, RunState, RunVerdict};

/// The first screen.
pub fn verdict(analysis: &RunAnalysis) -> page::FirstScreen {
    let verdict = &analysis.verdict;
    let (tone, sign) = badge(verdict.state);
    let word = word(verdict.state);
    let (headline, rest) = first_sentence(prose(&verdict.health));
    page::FirstScreen {
        tone,
        sign,
        word,
        headline,
        lead: html! {
            @if !rest.is_empty() { p.lead { (page::with_code(&rest)) } }
            p.lead { (prose(&verdict.spurious)) }
        },
        facts: facts(analysis),
        answers: vec![
            ("Which tokens", tokens(analysis)),
            ("When it went wrong", html! { (when(verdict)) }),
            ("Rule", rule(analysis)),
        ],
    }
}

/// The colour and the sign of a state.
pub fn badge(state: RunState) -> (Tone, &'static str) {
    match state {
        RunState::Healthy => (Tone::Healthy, "✓"),
        RunState::Suspicious => (Tone::Suspicious, "▲"),
        RunState::NotLearning => (Tone::Suspicious, "∅"),
        RunState::NotFinite | RunState::Damaged | RunState::Collapsed => (Tone::Collapsed, "✕"),
        RunState::Undecided | RunState::Unknown => (Tone::Unknown, "?"),
    }
}

/// A state in a word or two, as on a terminal; also in `report.md`.
pub fn word(state: RunState) -> String {
    capitalised(state.words())
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Letters that a headline may have before it is cut after its first sentence.
const HEADLINE: usize = 160;

/// The first sentence of a long text and the rest of it; a short one stays whole.
pub fn first_sentence(text: String) -> (String, String) {
    match text.split_once(". ") {
        Some((first, rest)) if text.chars().count() > HEADLINE => (format!("{first}."), rest.to_owned()),
        _ => (text, String::new()),
    }
}

fn facts(analysis: &RunAnalysis) -> Vec<Fact> {
    let (verdict, s2t) = (&analysis.verdict, &analysis.s2t);
    let estimated = estimate_note(analysis);
    vec![
        Fact {
            value: percent(verdict.fraction),
            what: "of the trained tokens are spurious".into(),
            note: format!("{} of {}", count(s2t.silenced), count(analysis.totals.tokens)),
        },
        Fact {
            value: percent_or_dash(verdict.energy_share),
            what: "of the gradient energy is theirs".into(),
            note: format!(
                "{} of the energy with A > 0{estimated}",
                percent_or_dash(s2t.positive_energy_share)
            ),
        },
        Fact {
            value: verdict.mean_norm_ratio.map_or_else(none, times),
            what: "the mean gradient norm, per token".into(),
            note: format!(
                "{} of tokens with A > 0{estimated}",
                s2t.mean_norm_ratio_positive.map_or_else(none, times)
            ),
        },
    ]
}

fn tokens(analysis: &RunAnalysis) -> Markup {
    let tokens = &analysis.verdict.top_tokens;
    html! {
        @if tokens.is_empty() {
            @if analysis.s2t.silenced == 0 { "none" } @else { "their texts are not known" }
        }
        @for token in tokens.iter().take(8) { code { (token_label(token)) } " " }
    }
}

fn rule(analysis: &RunAnalysis) -> Markup {
    let s2t = &analysis.s2t;
    let population = match s2t.population {
        Population::Candidates => "its candidates’ entropy",
        Population::Positive => "the entropy of its tokens with A > 0",
        Population::All => "the entropy of its tokens",
    };
    let batch = if s2t.per == BatchKind::Step { "step" } else { "mini-batch" };
    html! {
        "S2T " (s2t.preset) ": A > 0, p < " (s2t.tau_p) ", H < τ" sub { "h" } "; "
        @match (s2t.entropy_threshold, s2t.entropy_quantile) {
            (Some(nats), _) => { "τ" sub { "h" } " = " (number(nats)) " nats" }
            (None, Some(q)) => { "τ" sub { "h" } " = the " (q) " quantile of " (population) ", per " (batch) }
            (None, None) => { "no entropy threshold" }
        }
    }
}

/// When something went wrong, in words; also in `report.md`.
pub fn when(verdict: &RunVerdict) -> String {
    since(verdict.first_bad_step, verdict.state)
}

/// The same from the step and the state.
pub fn since(first_bad_step: Option<i64>, state: RunState) -> String {
    match (first_bad_step, state) {
        (None, RunState::Unknown | RunState::Undecided) => "cannot be told".into(),
        (None, _) => "at no logged step".into(),
        (Some(step), state) if state.is_loss() => format!("from step {step}"),
        (Some(step), _) => format!("first sign at step {step}"),
    }
}

/// Said beside every number that rests on estimated norms.
fn estimate_note(analysis: &RunAnalysis) -> &'static str {
    match analysis.totals.gradient_source {
        NormSource::Estimated => "; estimated norms",
        NormSource::Mixed => "; partly estimated norms",
        NormSource::Exact => "; exact norms",
        NormSource::Measured => "; measured norms",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_verdict_has_a_headline_of_one_sentence() {
        let short = "No collapse over 11 steps (entropy 0.4 → 0.2). See the warnings.".to_owned();
        assert_eq!(first_sentence(short.clone()), (short, String::new()));
        let (first, rest) =
            first_sentence(format!("It fell from 0.85 to 0. Likely cause: {}.", "x".repeat(200)));
        assert_eq!(first, "It fell from 0.85 to 0.");
        assert!(rest.starts_with("Likely cause"));
    }
}
