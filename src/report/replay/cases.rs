//! Flagged tokens, and what the policy would rather have said.

use std::fmt::Write as _;

use crate::replay::ReplayResult;
use crate::replay::result::{Alternative, Case};
use crate::report::numbers::{count, number, percent};
use crate::report::text::{escape_xml, prose, token_label};

/// A token as it is shown.
pub fn shown(text: Option<&str>, id: u32) -> String {
    text.map_or_else(|| format!("id {id}"), token_label)
}

/// Writes the section.
pub fn write(out: &mut String, result: &ReplayResult) {
    out.push_str("<section id=\"cases\"><h2>Cases</h2>\n");
    if result.cases.is_empty() {
        out.push_str("<p>None: <code>--explain</code> lists flagged tokens with the policy’s own alternatives.</p></section>\n");
        return;
    }
    let _ = writeln!(
        out,
        "<p>{} flagged tokens, the riskiest of every step, with the five most probable tokens at their place under the policy in training. <span class=\"f sp\">◆ spurious</span> tokens are silenced, <span class=\"f ex\">○ exploratory</span> ones kept.</p>",
        count(result.cases.len() as u64)
    );
    for (index, group) in result.cases.chunk_by(|a, b| a.step == b.step).enumerate() {
        let spurious = group.iter().filter(|c| c.spurious).count();
        let _ = writeln!(
            out,
            "<details class=\"step\"{}><summary><b>Step {}</b> <span>◆ {spurious} spurious, ○ {} exploratory</span></summary><div class=\"scroll cases\" tabindex=\"0\"><table><thead><tr><th scope=\"col\">kind</th><th scope=\"col\">token</th><th scope=\"col\">in its context</th><th scope=\"col\" class=\"n\">p</th><th scope=\"col\" class=\"n\">H</th><th scope=\"col\" class=\"n\">A</th><th scope=\"col\">alternatives</th></tr></thead><tbody>",
            if index == 0 { " open" } else { "" },
            group[0].step,
            group.len() - spurious
        );
        group.iter().for_each(|case| row(out, case));
        out.push_str("</tbody></table></div></details>\n");
    }
    out.push_str("</section>\n");
}

fn row(out: &mut String, case: &Case) {
    let token = escape_xml(&shown(case.token.as_deref(), case.token_id));
    let _ = writeln!(
        out,
        "<tr class=\"{}\"><td>{}<td><code>{token}</code><td class=\"ctx\">{} <b>{token}</b> {}<td>{}<td>{}<td>{}<td class=\"alternatives\">{}",
        if case.spurious { "sp" } else { "ex" },
        if case.spurious { "spurious" } else { "exploratory" },
        escape_xml(&prose(&case.before)),
        escape_xml(&prose(&case.after)),
        number(case.probability),
        number(case.entropy),
        number(case.advantage),
        case.alternatives.iter().map(alternative).collect::<Vec<_>>().join(" ")
    );
}

fn alternative(a: &Alternative) -> String {
    format!(
        "<span><code>{}</code> {}</span>",
        escape_xml(&shown(a.token.as_deref(), a.token_id)),
        percent(a.probability)
    )
}
