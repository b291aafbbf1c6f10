//! Flagged tokens, and what the policy would rather have said.

use maud::{Markup, html};

use crate::page::Section;
use crate::text::{prose, token_or_id};
use stapo_base::format::{grouped as count, number, percent};
use stapo_result::replay::Case;
use stapo_result::replay::ReplayResult;

/// Each token with the policy's alternatives.
pub fn section(result: &ReplayResult) -> Section {
    let cases = &result.cases;
    let body = html! {
        @if cases.is_empty() {
            p { "None: " code { "--explain" } " lists flagged tokens with the policy’s own alternatives." }
        } @else {
            p {
                (count(cases.len() as u64)) " flagged tokens, the riskiest of every step, with the five most probable tokens at their place under the policy in training. "
                span.f.sp { "◆ spurious" } " tokens are silenced, " span.f.ex { "○ exploratory" } " ones kept."
            }
            @for (index, group) in cases.chunk_by(|a, b| a.step == b.step).enumerate() {
                "\n" (step(group, index == 0))
            }
        }
    };
    Section { id: "cases", link: "Cases", heading: "Cases", body }
}

fn step(cases: &[Case], open: bool) -> Markup {
    let spurious = cases.iter().filter(|c| c.spurious).count();
    html! {
        details.step open[open] {
            summary {
                b { "Step " (cases.first().map_or(0, |c| c.step)) } " "
                span { "◆ " (spurious) " spurious, ○ " (cases.len() - spurious) " exploratory" }
            }
            div.scroll.cases tabindex="0" {
                table {
                    thead {
                        tr {
                            @for name in ["kind", "token", "in its context"] { th scope="col" { (name) } }
                            @for name in ["p", "H", "A"] { th.n scope="col" { (name) } }
                            th scope="col" { "alternatives" }
                        }
                    }
                    tbody { @for case in cases { "\n" (row(case)) } }
                }
            }
        }
    }
}

fn row(case: &Case) -> Markup {
    let token = token_or_id(case.token.as_deref(), case.token_id);
    let (class, kind) = if case.spurious { ("sp", "spurious") } else { ("ex", "exploratory") };
    html! {
        tr class=(class) {
            td { (kind) }
            td { code { (token) } }
            td.ctx { (prose(&case.before)) " " b { (token) } " " (prose(&case.after)) }
            td { (number(case.probability)) }
            td { (number(case.entropy)) }
            td { (number(case.advantage)) }
            td.alternatives {
                @for a in &case.alternatives {
                    span { code { (token_or_id(a.token.as_deref(), a.token_id)) } " " (percent(a.probability)) } " "
                }
            }
        }
    }
}
