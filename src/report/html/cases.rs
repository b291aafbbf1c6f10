//! Flagged tokens in their context, by step.

use std::fmt::Write as _;

use super::case_rows::{CaseRow, Chosen, token};
use crate::analyze::RunAnalysis;
use crate::analyze::result::FlagKind;
use crate::report::numbers::count;
use crate::report::text::escape_xml;

/// Columns of the list: heading, and whether its values are numbers.
const COLUMNS: [(&str, bool); 14] = [
    ("kind", false),
    ("token", false),
    ("in its context", false),
    ("risk", true),
    ("p", true),
    ("H", true),
    ("τ<sub>h</sub>", true),
    ("A", true),
    ("‖g‖", true),
    ("ΔH/η", true),
    ("step", true),
    ("group", false),
    ("passes", false),
    ("position", true),
];

/// Writes the list.
pub fn write(out: &mut String, analysis: &RunAnalysis, chosen: &Chosen) {
    let total = analysis.cases.spurious + analysis.cases.exploratory;
    out.push_str("<section id=\"cases\"><h2>Cases</h2>\n");
    if chosen.rows.is_empty() {
        out.push_str(if total == 0 {
            "<p>No token of this run is flagged.</p></section>\n"
        } else {
            "<p>The flagged tokens do not fit this page; all are in <a href=\"tables/flagged.parquet\">tables/flagged.parquet</a>.</p></section>\n"
        });
        return;
    }
    let shown = chosen.rows.len() as u64;
    let which =
        if shown < total { "those of the highest risk, and a few of every step" } else { "all of them" };
    let _ = writeln!(
        out,
        "<p>{} of {} flagged tokens: {which}. <span class=\"f sp\">◆ spurious</span> tokens are silenced, <span class=\"f ex\">○ exploratory</span> ones kept. Risk is −ln p − H in nats, this program’s own score: it sorts, it does not decide. Colour runs from <b class=\"r1\">low</b> to <b class=\"r5\">high</b> risk; hover or focus a token for its numbers. <a href=\"tables/flagged.parquet\">All flagged tokens (Parquet)</a></p>",
        count(shown),
        count(total)
    );
    out.push_str("<form class=\"controls js\" id=\"case-controls\"><label>Filter by token <input type=\"search\" id=\"case-filter\" autocomplete=\"off\"></label> <label>Sort by <select id=\"case-sort\"><option value=\"\">rank</option>");
    for (index, (name, _)) in COLUMNS.iter().enumerate().filter(|(i, _)| *i != 2) {
        let _ = write!(out, "<option value=\"{index}\">{}</option>", name.replace("<sub>h</sub>", "ₕ"));
    }
    out.push_str("</select></label> <label><input type=\"checkbox\" id=\"case-down\" checked> descending</label> <label><input type=\"checkbox\" id=\"case-flat\"> all steps in one list</label> <output id=\"case-count\"></output></form>\n<div id=\"case-groups\">\n");
    for (index, group) in chosen.rows.chunk_by(|a, b| a.case.step == b.case.step).enumerate() {
        write_step(out, group, index == 0);
    }
    out.push_str("</div></section>\n");
}

fn write_step(out: &mut String, rows: &[CaseRow], open: bool) {
    let Some(first) = rows.first() else { return };
    let spurious = rows.iter().filter(|r| r.case.kind == FlagKind::Spurious).count();
    let _ = write!(
        out,
        "<details class=\"step\" id=\"cases-{0}\"{1}><summary><b>Step {0}</b> <span>◆ {spurious} spurious, ○ {2} exploratory; riskiest <code>{3}</code></span></summary><div class=\"scroll\" tabindex=\"0\"><table class=\"cases\"><thead><tr>",
        first.case.step,
        if open { " open" } else { "" },
        rows.len() - spurious,
        escape_xml(&token(first.case))
    );
    for (name, numeric) in COLUMNS {
        let _ = write!(out, "<th scope=\"col\"{}>{name}</th>", if numeric { " class=\"n\"" } else { "" });
    }
    out.push_str("</tr></thead><tbody>\n");
    rows.iter().for_each(|row| out.push_str(&row.html));
    out.push_str("</tbody></table></div></details>\n");
}
