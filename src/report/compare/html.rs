//! `compare.html`: one file without scripts, without network.

use std::fmt::Write as _;

use super::tables;
use crate::compare::Comparison;
use crate::compare::result::{CompareWarning, MetricRow};
use crate::compare::verdict::{level, shown, shown_difference, shown_interval, shown_p};
use crate::report::charts::Drawn;
use crate::report::html::{figures, verdict::with_code, write_head};
use crate::report::numbers::{count, none};
use crate::report::text::{escape_xml, prose};

/// Warnings that are shown at most.
const WARNINGS: usize = 40;
/// Metrics of the first screen.
const FIRST: [&str; 3] = ["entropy", "reward", "silenced_ratio"];

/// A name or sentence from outside, for the page.
pub fn safe(text: &str) -> String {
    escape_xml(&prose(text))
}

/// The page.
#[must_use]
pub fn page(comparison: &Comparison, charts: &[Drawn]) -> String {
    let names: Vec<String> = comparison.arms.iter().map(|arm| prose(&arm.name)).collect();
    let mut out = String::with_capacity(1 << 19);
    write_head(&mut out, &format!("{} – comparison of runs", names.join(", ")), None);
    write_header(&mut out, comparison, &names);
    write_verdict(&mut out, comparison);
    out.push_str("<nav aria-label=\"Sections\"><a href=\"#warnings\">Warnings</a><a href=\"#metrics\">Metrics</a><a href=\"#charts\">Charts</a><a href=\"#tables\">Tables</a><a href=\"#limits\">What this cannot know</a></nav>\n");
    write_warnings(&mut out, &comparison.warnings);
    tables::metrics(&mut out, comparison);
    figures::write(&mut out, charts);
    tables::write(&mut out, comparison);
    write_limits(&mut out, comparison);
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

fn write_header(out: &mut String, comparison: &Comparison, names: &[String]) {
    let tokens = comparison.runs.iter().map(|run| run.tokens).sum::<u64>();
    let _ = write!(
        out,
        "<a class=\"skip\" href=\"#warnings\">Skip to warnings</a>\n<header><p class=\"run\">{}</p><p class=\"facts\">{} runs · {} tokens · baseline {}</p></header>\n<main>\n",
        escape_xml(&names.join(" · ")),
        comparison.runs.len(),
        count(tokens),
        escape_xml(names.first().map_or("", String::as_str))
    );
}

fn write_verdict(out: &mut String, comparison: &Comparison) {
    let verdict = &comparison.verdict;
    let (state, sign, word) = if verdict.differs {
        ("differs", "≠", "Differs beyond noise")
    } else {
        ("unknown", "≈", "No difference beyond noise")
    };
    let _ = write!(
        out,
        "<section id=\"verdict\" class=\"{state}\"><p class=\"badge\"><span aria-hidden=\"true\">{sign}</span> {word}</p>\n<h1>{}</h1>\n",
        safe(&verdict.headline)
    );
    if !verdict.differences.is_empty() {
        out.push_str("<ul class=\"more\">");
        for sentence in verdict.differences.iter().take(6) {
            let _ = write!(out, "<li>{}</li>", safe(sentence));
        }
        if verdict.differences.len() > 6 {
            let _ = write!(out, "<li>and {} more, below</li>", verdict.differences.len() - 6);
        }
        out.push_str("</ul>\n");
    }
    write_numbers(out, comparison);
    out.push_str("<dl class=\"answers\"><div><dt>What does not differ</dt><dd>");
    if verdict.alike.is_empty() {
        out.push_str("nothing that was compared");
    }
    for sentence in verdict.alike.iter().take(4) {
        let _ = write!(out, "<p>{}</p>", safe(sentence));
    }
    let _ = write!(out, "</dd></div><div><dt>What it speaks of</dt><dd>{}</dd></div>", safe(&verdict.scope));
    out.push_str("<div><dt>Aligned</dt><dd>");
    for a in comparison.alignment.iter().take(8) {
        let _ = write!(
            out,
            "<p>{}: {} steps ({}), {} prompts in both; left out: {} + {} steps, {} + {} groups without a partner</p>",
            safe(&a.run),
            count(a.steps),
            a.method,
            if a.prompts_logged { count(a.prompts) } else { "unknown".into() },
            count(a.baseline_unaligned),
            count(a.other_unaligned),
            count(a.baseline_groups_unaligned),
            count(a.other_groups_unaligned)
        );
    }
    out.push_str("</dd></div></dl></section>\n");
}

/// The numbers of the first screen: the first arm against the baseline.
fn write_numbers(out: &mut String, comparison: &Comparison) {
    let Some(arm) = comparison.arms.get(1) else { return };
    let row = |name: &&str| comparison.metrics.iter().find(|r| r.name == **name && r.run == arm.name);
    let rows: Vec<&MetricRow> = FIRST.iter().filter_map(row).collect();
    if rows.is_empty() {
        return;
    }
    out.push_str("<dl class=\"numbers\">");
    for r in rows {
        let _ = write!(
            out,
            "<div><dt>{}, {} against {}</dt><dd>{}<small>{} against {}; interval {}; p {} corrected</small></dd></div>",
            safe(&r.label),
            safe(&r.run),
            safe(&comparison.arms[0].name),
            shown_difference(r, r.difference),
            shown(r, r.other),
            shown(r, r.baseline),
            shown_interval(r).unwrap_or_else(none),
            escape_xml(&r.p_adjusted.map_or_else(none, shown_p))
        );
    }
    out.push_str("</dl>\n");
}

fn write_warnings(out: &mut String, warnings: &[CompareWarning]) {
    out.push_str("<section id=\"warnings\"><h2>Warnings</h2>\n");
    if warnings.is_empty() {
        out.push_str("<p>None.</p></section>\n");
        return;
    }
    out.push_str("<ul class=\"warnings\">\n");
    for warning in warnings.iter().take(WARNINGS) {
        let _ = writeln!(
            out,
            "<li class=\"mild\"><p><span class=\"code\"><span aria-hidden=\"true\">▲</span> {}</span> {}</p><p class=\"hint\"><b>Next:</b> {}</p></li>",
            warning.code.name().replace('_', " "),
            with_code(&prose(&warning.message)),
            with_code(&prose(&warning.hint))
        );
    }
    out.push_str("</ul>");
    if warnings.len() > WARNINGS {
        let _ = write!(out, "<p>{} more are in compare.json.</p>", warnings.len() - WARNINGS);
    }
    out.push_str("</section>\n");
}

fn write_limits(out: &mut String, comparison: &Comparison) {
    out.push_str("<section id=\"limits\"><h2>How this was computed, and what it cannot know</h2>\n<ul>\n");
    for statement in &comparison.statements {
        let _ = writeln!(out, "<li>{}</li>", safe(statement));
    }
    out.push_str("</ul>\n<details><summary>Runs, files, settings</summary><dl class=\"facts\">\n");
    let settings = &comparison.settings;
    let fact = |out: &mut String, name: &str, value: &str| {
        let _ = writeln!(out, "<div><dt>{}</dt><dd>{}</dd></div>", safe(name), safe(value));
    };
    fact(out, "Program", &format!("stapo-analyze {}", settings.program));
    fact(out, "S2T", &settings.preset);
    fact(
        out,
        "Bootstrap",
        &format!("{} draws, seed {}, {} %", count(settings.draws), settings.seed, level(settings.confidence)),
    );
    for run in comparison.runs.iter().take(40) {
        fact(out, &run.name, &format!("{} ({} norms)", run.health, run.gradient_source));
        for file in run.files.iter().take(8) {
            fact(out, "File", file);
        }
    }
    out.push_str("</dl></details></section>\n");
}
