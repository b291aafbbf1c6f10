//! From a step to its groups, responses and flagged tokens.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::case_rows::CaseRow;
use super::cases::{MANY_STEPS, shown_of};
use super::material::Material;
use crate::page::Section;
use crate::text::{case_token, token_label};
use stapo_base::format::{counted, number};
use stapo_result::FlagKind;

/// A flagged token with its place in the case list.
type Entry<'a> = (usize, &'a CaseRow<'a>);

/// The flagged tokens of a group, by response.
type Responses<'a> = BTreeMap<u64, Vec<&'a Entry<'a>>>;

/// A group; numbers in their own order.
type GroupKey<'a> = (Option<u64>, Option<&'a str>);

fn group_key(id: Option<&str>) -> GroupKey<'_> {
    (id.and_then(|id| id.parse().ok()), id)
}

/// The section: nested lists; whole responses are linked where the page has them.
pub fn section(of: &Material<'_>) -> Option<Section> {
    if of.cases.rows.is_empty() {
        return None;
    }
    let numbered: Vec<Entry> = of.cases.rows.iter().enumerate().collect();
    let mut room = of.budget.drill;
    let mut lists = Vec::new();
    let steps: Vec<&[Entry]> = numbered.chunk_by(|a, b| a.1.case.step == b.1.case.step).collect();
    for rows in &steps {
        let list = step(rows, of);
        let Some(left) = room.checked_sub(list.0.len()) else { break };
        room = left;
        lists.push(list);
    }
    let body = html! {
        p { "Step → group → response → flagged token. A token leads to its case, ▦ to the whole response as a heat map." } "\n"
        div class=[(lists.len() > MANY_STEPS).then_some("long")] { @for list in &lists { (list) "\n" } }
        @if lists.len() < steps.len() {
            p { "The other steps do not fit this page; they are in the case list above and in tables/flagged.parquet." }
        }
    };
    Some(Section { id: "drill", link: "Steps to tokens", heading: "From steps to tokens", body })
}

fn step(rows: &[Entry<'_>], of: &Material<'_>) -> Markup {
    let mut groups: BTreeMap<GroupKey, Responses> = BTreeMap::new();
    for entry in rows {
        let case = entry.1.case;
        let group = groups.entry(group_key(case.group_id.as_deref())).or_default();
        group.entry(case.row).or_default().push(entry);
    }
    let step = rows.first().map_or(0, |r| r.1.case.step);
    let (shown, all) = (rows.len() as u64, of.flagged_at(step).iter().sum());
    html! {
        details.drill {
            summary {
                b { "Step " (step) } " "
                span {
                    (shown_of(shown, all)) " flagged token" @if shown.max(all) != 1 { "s" } @if shown < all { " shown" }
                    ", in " (counted(groups.len() as u64, "group", "groups"))
                }
            }
            @for ((_, name), responses) in &groups {
                details {
                    summary {
                        "Group " (name.map_or_else(|| "without an id".into(), token_label)) " "
                        span { (counted(responses.len() as u64, "response", "responses")) (passes(responses)) }
                    }
                    ul { @for (row, tokens) in responses { (response(*row, tokens, of)) } }
                }
            }
        }
    }
}

fn passes(responses: &Responses<'_>) -> String {
    let case = responses.values().flatten().next().map(|r| r.1.case);
    match case.map(|c| (c.group_passes, c.group_size)) {
        Some((Some(passes), Some(size))) => format!(", {passes} of {size} passed"),
        _ => String::new(),
    }
}

fn response(row: u64, tokens: &[&Entry<'_>], of: &Material<'_>) -> Markup {
    let reward = tokens.first().and_then(|t| t.1.case.reward);
    html! {
        li {
            "Response " (row) @if let Some(reward) = reward { " (reward " (number(reward)) ")" } ": "
            @for (id, entry) in tokens {
                a href={ "#c" (id) } {
                    @if entry.case.kind == FlagKind::Spurious { "◆ " } @else { "○ " }
                    code { (case_token(entry.case)) } " at " (entry.case.position)
                }
                " "
            }
            @if let Some(place) = of.views.iter().position(|v| v.0.row == row) {
                a href={ "#r" (place) } { "▦ heat map" }
            } @else if of.rollouts.as_ref().is_some_and(|r| r.rows.contains(&row)) {
                a.js href={ "#rollout-" (row) } { "▦ heat map" }
            }
        }
    }
}
