//! From a step to its groups, responses and flagged tokens.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::case_rows::{CaseRow, Chosen, token};
use super::responses::View;
use crate::analyze::result::FlagKind;
use crate::report::numbers::number;
use crate::report::text::{escape_xml, token_label};

/// A flagged token with its place in the case list.
type Entry<'a> = (usize, &'a CaseRow<'a>);

/// The flagged tokens of a group, by response.
type Responses<'a> = BTreeMap<u64, Vec<&'a Entry<'a>>>;

/// A group; numbers in their own order.
type GroupKey<'a> = (Option<u64>, Option<&'a str>);

fn group_key(id: Option<&str>) -> GroupKey<'_> {
    (id.and_then(|id| id.parse().ok()), id)
}

/// `1 response`, `2 responses`.
fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Writes nested lists; whole responses are linked where the page has them.
pub fn write(out: &mut String, chosen: &Chosen, views: &[View<'_>], budget: usize) {
    if chosen.rows.is_empty() {
        return;
    }
    out.push_str("<section id=\"drill\"><h2>From steps to tokens</h2>\n<p>Step → group → response → flagged token. A token leads to its case, ▦ to the whole response as a heat map.</p>\n");
    let numbered: Vec<Entry> = chosen.rows.iter().enumerate().collect();
    let end = out.len() + budget;
    for step in numbered.chunk_by(|a, b| a.1.case.step == b.1.case.step) {
        let text = step_list(step, views);
        if out.len() + text.len() > end {
            out.push_str("<p>The other steps do not fit this page; they are in the case list above and in tables/flagged.parquet.</p>");
            break;
        }
        out.push_str(&text);
    }
    out.push_str("</section>\n");
}

fn step_list(rows: &[Entry<'_>], views: &[View<'_>]) -> String {
    let mut groups: BTreeMap<GroupKey, Responses> = BTreeMap::new();
    for entry in rows {
        let case = entry.1.case;
        groups
            .entry(group_key(case.group_id.as_deref()))
            .or_default()
            .entry(case.row)
            .or_default()
            .push(entry);
    }
    let step = rows.first().map_or(0, |r| r.1.case.step);
    let mut out = format!(
        "<details class=\"drill\"><summary><b>Step {step}</b> <span>{}, {}</span></summary>",
        counted(groups.len(), "group"),
        counted(rows.len(), "flagged token")
    );
    for ((_, group), responses) in &groups {
        let name = group.map_or_else(|| "without an id".into(), |g| escape_xml(&token_label(g)));
        let case = responses.values().flatten().next().map(|r| r.1.case);
        let passes = match case.map(|c| (c.group_passes, c.group_size)) {
            Some((Some(passes), Some(size))) => format!(", {passes} of {size} passed"),
            _ => String::new(),
        };
        let _ = write!(
            out,
            "<details><summary>Group {name} <span>{}{passes}</span></summary><ul>",
            counted(responses.len(), "response")
        );
        for (row, tokens) in responses {
            write_response(&mut out, *row, tokens, views);
        }
        out.push_str("</ul></details>");
    }
    out.push_str("</details>\n");
    out
}

fn write_response(out: &mut String, row: u64, tokens: &[&Entry<'_>], views: &[View<'_>]) {
    let reward = tokens
        .first()
        .and_then(|t| t.1.case.reward)
        .map_or(String::new(), |r| format!(" (reward {})", number(r)));
    let _ = write!(out, "<li>Response {row}{reward}: ");
    for (id, entry) in tokens {
        let sign = if entry.case.kind == FlagKind::Spurious { '◆' } else { '○' };
        let _ = write!(
            out,
            "<a href=\"#c{id}\">{sign} <code>{}</code> at {}</a> ",
            escape_xml(&token(entry.case)),
            entry.case.position
        );
    }
    if let Some(place) = views.iter().position(|v| v.0.row == row) {
        let _ = write!(out, "<a href=\"#r{place}\">▦ heat map</a>");
    }
    out.push_str("</li>");
}
