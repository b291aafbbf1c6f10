//! The diagnosis: what was damaged, why, in which order, and the tokens that drive the update.

use maud::{Markup, html};

use super::material::Material;
use crate::charts::Drawn;
use crate::markdown_diagnosis::name;
use crate::page::figures::figure;
use crate::page::{Kind, Section, Sheet, with_code};
use crate::text::{in_order, prose, token_in_context, token_label};
use stapo_base::format::words;
use stapo_base::format::{amount, number, number_or_dash, percent};
use stapo_result::{Cause, Confidence, Diagnosis, DriverToken, Evidence};

/// Charts that stand here and not among the others.
pub const CHARTS: [&str; 3] = ["timeline", "signals", "concentration"];
/// Tokens in the list, those of them that need no click, and tokens on either side of each.
const DRIVERS: usize = 50;
const OPEN: usize = 12;
const CONTEXT: usize = 6;

/// The diagnosis.
pub fn section(of: &Material<'_>) -> Option<Section> {
    Some(of_run(&of.analysis.diagnosis, of.charts))
}

/// The section of any diagnosis.
pub fn of_run(diagnosis: &Diagnosis, charts: &[Drawn]) -> Section {
    let body = html! {
        @if !diagnosis.damage.is_empty() {
            h3 { "Damage" }
            ul.damage {
                @for damage in &diagnosis.damage {
                    li {
                        b { (prose(damage.signal.as_str())) } " " (number(damage.before)) " → " (number(damage.after))
                        ", from step " (damage.from_step)
                    }
                }
            }
        }
        h3 { "Causes" }
        @if diagnosis.causes.is_empty() {
            p { @if diagnosis.not_checked.is_empty() { "None was found." } @else { "None was found in what could be checked." } }
        }
        ol.warnings { @for cause in &diagnosis.causes { (item(cause)) "\n" } }
        @for chart in charts.iter().filter_map(|c| c.as_ref().ok()).filter(|c| c.name != "concentration") {
            @if CHARTS.contains(&chart.name) { (figure(chart)) "\n" }
        }
        @if !diagnosis.not_checked.is_empty() {
            details {
                summary {
                    "Not checked: " (diagnosis.not_checked.len())
                    @if diagnosis.not_checked.len() == 1 { " cause" } @else { " causes" } " that this log cannot tell"
                }
                ul { @for open in &diagnosis.not_checked { li { (words(open.code.name())) ": log " (open.needs) } } }
            }
        }
        @if !charts.iter().flatten().any(|chart| chart.name == "signals") {
            p.note { (prose(&diagnosis.statement)) "." }
        }
    };
    Section { id: "diagnosis", link: "Diagnosis", heading: "Diagnosis", body }
}

fn item(cause: &Cause) -> Markup {
    let (class, sign, word) = match cause.confidence {
        Confidence::Likely => ("serious", "✕", "likely"),
        Confidence::Possible => ("mild", "▲", "possible"),
        Confidence::Note => ("mild", "·", "note"),
    };
    html! {
        li class=(class) {
            p {
                span.code { span aria-hidden="true" { (sign) } " " (word) ": " (words(cause.code.name())) }
                " " (with_code(&cause.message)) "."
                @if let Some(root) = &cause.follows_from { " Follows from " (words(root.name())) "." }
            }
            p.hint { b { "Next:" } " " (with_code(&cause.hint)) "." }
            @if !cause.evidence.is_empty() {
                details {
                    summary { "Evidence" }
                    ul { @for evidence in &cause.evidence { li { (line(evidence)) } } }
                }
            }
        }
    }
}

/// A number behind a finding; counts are whole.
pub fn line(evidence: &Evidence) -> String {
    let place = evidence.step.map_or(String::new(), |s| format!("step {s}: "));
    let value = evidence.value;
    let is_count = value.fract() == 0.0 && (0.0..1e9).contains(&value);
    let shown = if is_count { amount(value) } else { number(value) };
    format!("{place}{} = {shown}", token_label(&evidence.what).replace('␣', " "))
}

/// The tokens that carry the energy.
pub fn drivers(of: &Material<'_>) -> Option<Section> {
    let drivers = &of.analysis.drivers;
    let (effective, shares) = (drivers.concentration.effective_number?, drivers.concentration.shares?);
    let chart = of.charts.iter().filter_map(|c| c.as_ref().ok()).find(|c| c.name == "concentration");
    let mut rules = Sheet::new(&["rule", "energy kept", "effective number after"]);
    for row in &drivers.what_if {
        let after = number_or_dash(row.effective_number);
        rules.push([row.rule.clone(), percent(row.energy_kept), after]);
    }
    let body = html! {
        p {
            "The gradient energy is as concentrated as that of " b { (number(effective)) } " equal tokens. The largest "
            "token carries " (percent(shares.top_1)) ", the ten largest " (percent(shares.top_10))
            "; the largest 0.1 % of the tokens carry " (percent(shares.top_0_1_percent)) ", the largest 1 % "
            (percent(shares.top_1_percent)) "."
        }
        @if let Some(chart) = chart { (figure(chart)) }
        h3 { "What a bound would leave" }
        (rules.html())
        h3 { "The largest tokens" }
        @let (first, others) = drivers.top.split_at(drivers.top.len().min(OPEN));
        (list(first))
        @if !others.is_empty() {
            details { summary { (others.len().min(DRIVERS - OPEN)) " more" } (list(&others[..others.len().min(DRIVERS - OPEN)])) }
        }
    };
    Some(Section { id: "drivers", link: "Drivers", heading: "Tokens that drive the update", body })
}

fn list(tokens: &[DriverToken]) -> Markup {
    let columns = [
        "token", "context", "energy", "step", "p", "H", "A", "ratio", "corner", "lag", "turn", "position",
        "cut", "reward",
    ];
    let mut sheet = Sheet::new(&columns)
        .with(Kind::Code, "token")
        .with(Kind::Words, "context")
        .with(Kind::Text, "corner");
    let whole = |value: Option<i64>| value.map_or("–".to_owned(), |v| v.to_string());
    for d in tokens {
        let before = d.before[d.before.len().saturating_sub(CONTEXT)..].iter();
        let after = d.after.iter().take(CONTEXT);
        let around: Vec<String> = before
            .map(|t| token_in_context(t))
            .chain([format!("[{}]", token_in_context(&name(d)))])
            .chain(after.map(|t| token_in_context(t)))
            .collect();
        sheet.push([
            token_label(&name(d)),
            in_order(&around, " "),
            percent(d.energy_share),
            d.step.to_string(),
            number(d.logprob.exp()),
            number(d.entropy),
            number(d.advantage),
            number_or_dash(d.ratio),
            words(d.corner.map_or("–", |c| c.name())),
            whole(d.lag),
            whole(d.turn),
            d.position.to_string(),
            d.truncated.map_or("–", |t| if t { "yes" } else { "no" }).to_owned(),
            number_or_dash(d.reward),
        ]);
    }
    sheet.without_empty().html()
}
