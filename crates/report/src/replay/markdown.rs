//! `replay.md`: the finding and the tables, for a terminal or a pull request.

use std::fmt::Write as _;

use super::objectives::{outcome, trained};
use super::tables::differences;
use super::words::{name, policy, statements};
use crate::charts::Drawn;
use crate::markdown::list_charts;
use crate::text::{markdown_code, markdown_prose, prose, token_or_id};
use stapo_base::format::{grouped as count, number, percent};
use stapo_result::replay::ReplayResult;

/// Cases that are listed at most.
const CASES: usize = 12;

/// The report.
pub fn render(result: &ReplayResult, charts: &[Drawn]) -> String {
    let mut out = format!(
        "# {}\n\n{}\n\nReplay of {} on {}; {} held-out responses.\n\n",
        markdown_prose(&prose(&result.verdict.headline)),
        markdown_prose(&prose(&result.verdict.detail)),
        markdown_code(&name(result)),
        markdown_prose(&policy(result)),
        count(result.data.holdout_responses)
    );
    if !result.warnings.is_empty() {
        out.push_str("## Warnings\n\n");
        for w in &result.warnings {
            let (message, hint) = (markdown_prose(&prose(&w.message)), markdown_prose(&prose(&w.hint)));
            let _ = writeln!(out, "- **{}** {message}\n  - Next: {hint}", w.code.label());
        }
        out.push('\n');
    }
    out.push_str("## What was trained\n\n");
    trained(result, &[]).markdown(&mut out);
    out.push_str("## What came of it\n\n");
    outcome(result).markdown(&mut out);
    if !result.differences.is_empty() {
        out.push_str("## Differences, paired by seed\n\n");
        differences(result).markdown(&mut out);
    }
    cases(&mut out, result);
    out.push_str("## What this replay cannot know\n\n");
    for statement in statements(result) {
        let _ = writeln!(out, "- {}", markdown_prose(&statement));
    }
    out.push_str("\n## Files\n\n`replay.html` has the charts; `replay.json` every update; each arm’s tokens are in the Parquet file of its name.\n");
    list_charts(&mut out, charts);
    out
}

fn cases(out: &mut String, result: &ReplayResult) {
    if result.cases.is_empty() {
        return;
    }
    out.push_str("## What the policy would rather have said\n\n| step | token | context | p | H | alternatives |\n|---:|---|---|---:|---:|---|\n");
    for c in result.cases.iter().filter(|c| c.spurious).take(CASES) {
        let tail: String = c.before.chars().skip(c.before.chars().count().saturating_sub(32)).collect();
        let alternatives: Vec<String> = c
            .alternatives
            .iter()
            .map(|a| {
                format!(
                    "{} {}",
                    markdown_code(&token_or_id(a.token.as_deref(), a.token_id)),
                    percent(a.probability)
                )
            })
            .collect();
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            c.step,
            markdown_code(&token_or_id(c.token.as_deref(), c.token_id)),
            markdown_code(&prose(&format!("…{tail}"))),
            number(c.probability),
            number(c.entropy),
            alternatives.join(" ")
        );
    }
    out.push('\n');
}
