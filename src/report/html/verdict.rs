//! The first screen: the answer, the numbers behind it, and the warnings.

use std::fmt::Write as _;

use crate::analyze::RunAnalysis;
use crate::analyze::result::{Verdict, VerdictState, Warning};
use crate::report::numbers::{count, none, number, percent, percent_or_dash, times};
use crate::report::text::{escape_xml, prose, token_label};

/// Warnings, and lines of evidence for each, that are shown at most.
const WARNINGS: usize = 40;
const EVIDENCE: usize = 8;

/// Writes header, verdict and warnings.
pub fn write(out: &mut String, analysis: &RunAnalysis) {
    let totals = &analysis.totals;
    let _ = write!(
        out,
        "<a class=\"skip\" href=\"#warnings\">Skip to warnings</a>\n<header><p class=\"run\">{}</p><p class=\"facts\">{} tokens · {} responses · {} {}</p></header>\n<main>\n",
        escape_xml(&super::run_name(analysis)),
        count(totals.tokens),
        count(totals.responses),
        count(totals.steps),
        if totals.steps == 1 { "step" } else { "steps" }
    );
    write_verdict(out, analysis);
    out.push_str("<nav aria-label=\"Sections\"><a href=\"#warnings\">Warnings</a><a href=\"#tune\">Thresholds</a><a href=\"#charts\">Charts</a><a href=\"#tables\">Tables</a><a href=\"#cases\">Cases</a><a href=\"#drill\">Steps to tokens</a><a href=\"#responses\">Responses</a><a href=\"#limits\">What this cannot know</a></nav>\n");
    write_warnings(out, &analysis.warnings);
}

fn write_verdict(out: &mut String, analysis: &RunAnalysis) {
    let verdict = &analysis.verdict;
    let (state, sign, word) = match verdict.state {
        VerdictState::Healthy => ("healthy", "✓", "Healthy"),
        VerdictState::Suspicious => ("suspicious", "▲", "Needs a look"),
        VerdictState::Collapsed => ("collapsed", "✕", "Collapsed"),
        VerdictState::Unknown => ("unknown", "?", "Cannot say"),
    };
    let _ = write!(
        out,
        "<section id=\"verdict\" class=\"{state}\"><p class=\"badge\"><span aria-hidden=\"true\">{sign}</span> {word}</p>\n<h1>{}</h1>\n<p class=\"lead\">{}</p>\n<dl class=\"numbers\">",
        escape_xml(&prose(&verdict.health)),
        escape_xml(&prose(&verdict.spurious))
    );
    let estimated = estimate_note(analysis);
    let numbers = [
        (
            percent(verdict.fraction),
            "of the trained tokens are spurious",
            format!("{} of {}", count(analysis.s2t.silenced), count(analysis.totals.tokens)),
        ),
        (
            percent_or_dash(verdict.energy_share),
            "of the gradient energy is theirs",
            format!(
                "{} of the energy with A > 0{estimated}",
                percent_or_dash(analysis.s2t.positive_energy_share)
            ),
        ),
        (
            verdict.mean_norm_ratio.map_or_else(none, times),
            "the mean gradient norm, per token",
            format!(
                "{} of tokens with A > 0{estimated}",
                analysis.s2t.mean_norm_ratio_positive.map_or_else(none, times)
            ),
        ),
    ];
    for (value, what, more) in numbers {
        let _ = write!(out, "<div><dt>{what}</dt><dd>{value}<small>{more}</small></dd></div>");
    }
    out.push_str("</dl>\n<dl class=\"answers\"><div><dt>Which tokens</dt><dd>");
    if verdict.top_tokens.is_empty() {
        out.push_str(if analysis.s2t.silenced == 0 { "none" } else { "their texts are not known" });
    }
    for token in verdict.top_tokens.iter().take(8) {
        let _ = write!(out, "<code>{}</code> ", escape_xml(&token_label(token)));
    }
    out.push_str("</dd></div><div><dt>When it went wrong</dt><dd>");
    out.push_str(&when(verdict));
    let s2t = &analysis.s2t;
    let cut = match (s2t.entropy_threshold, s2t.entropy_quantile) {
        (Some(nats), _) => format!("τ<sub>h</sub> = {} nats", number(nats)),
        (None, Some(q)) => {
            let population = match s2t.population.as_str() {
                "candidates" => "its candidates’ entropy",
                "positive" => "the entropy of its tokens with A &gt; 0",
                _ => "the entropy of its tokens",
            };
            let batch = if s2t.per == "step" { "step" } else { "mini-batch" };
            format!("τ<sub>h</sub> = the {q} quantile of {population}, per {batch}")
        }
        (None, None) => "no entropy threshold".into(),
    };
    let _ = writeln!(
        out,
        "</dd></div><div><dt>Rule</dt><dd>S2T {}: A &gt; 0, p &lt; {}, H &lt; τ<sub>h</sub>; {cut}</dd></div></dl></section>",
        escape_xml(&s2t.preset),
        s2t.tau_p
    );
}

/// When something went wrong, in words; also in `report.md`.
pub fn when(verdict: &Verdict) -> String {
    match (verdict.first_bad_step, verdict.state) {
        (None, _) => "at no logged step".into(),
        (Some(step), VerdictState::Collapsed) => format!("from step {step}"),
        (Some(step), _) => format!("first sign at step {step}"),
    }
}

/// Escaped, with what stands between backticks as code.
pub(in crate::report) fn with_code(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return escape_xml(text);
    }
    let part = |(index, part): (usize, &&str)| {
        let escaped = escape_xml(part);
        if index % 2 == 1 { format!("<code>{escaped}</code>") } else { escaped }
    };
    parts.iter().enumerate().map(part).collect()
}

/// Said beside every number that rests on estimated norms.
fn estimate_note(analysis: &RunAnalysis) -> &'static str {
    match analysis.totals.gradient_source.as_str() {
        "estimated" => "; estimated norms",
        "mixed" => "; partly estimated norms",
        "exact" => "; exact norms",
        _ => "; measured norms",
    }
}

fn write_warnings(out: &mut String, warnings: &[Warning]) {
    out.push_str("<section id=\"warnings\"><h2>Warnings</h2>\n");
    if warnings.is_empty() {
        out.push_str("<p>None.</p></section>\n");
        return;
    }
    out.push_str("<ul class=\"warnings\">\n");
    for warning in warnings.iter().take(WARNINGS) {
        let serious = warning.code.is_serious();
        let _ = write!(
            out,
            "<li class=\"{}\"><p><span class=\"code\"><span aria-hidden=\"true\">{}</span> {}</span> {}</p><p class=\"hint\"><b>Next:</b> {}</p>",
            if serious { "serious" } else { "mild" },
            if serious { "✕" } else { "▲" },
            warning.code.name().replace('_', " "),
            with_code(&prose(&warning.message)),
            with_code(&prose(&warning.hint))
        );
        if !warning.evidence.is_empty() {
            out.push_str("<details><summary>Evidence</summary><ul>");
            for evidence in warning.evidence.iter().take(EVIDENCE) {
                let place = evidence.step.map_or(String::new(), |s| format!("step {s}: "));
                let _ = write!(
                    out,
                    "<li>{place}{} = {}</li>",
                    escape_xml(&token_label(&evidence.what).replace('␣', " ")),
                    number(evidence.value)
                );
            }
            if warning.evidence.len() > EVIDENCE {
                let _ =
                    write!(out, "<li>and {} more, in summary.json</li>", warning.evidence.len() - EVIDENCE);
            }
            out.push_str("</ul></details>");
        }
        out.push_str("</li>\n");
    }
    out.push_str("</ul>");
    if warnings.len() > WARNINGS {
        let _ = write!(out, "<p>{} more are in summary.json.</p>", warnings.len() - WARNINGS);
    }
    out.push_str("</section>\n");
}
