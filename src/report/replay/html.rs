//! `replay.html`.

use std::fmt::Write as _;

use super::{cases, objectives, tables};
use crate::replay::result::{Warning, WarningCode};
use crate::replay::{ArmTiming, ReplayResult};
use crate::report::charts::Drawn;
use crate::report::html::{figures, write_head};
use crate::report::numbers::{amount, count, none, number, percent};
use crate::report::text::{escape_xml, prose};

/// The page.
pub fn page(result: &ReplayResult, timing: &[ArmTiming], charts: &[Drawn]) -> String {
    let mut out = String::with_capacity(1 << 18);
    write_head(&mut out, &format!("{} – replay", name(result)), None);
    header(&mut out, result);
    verdict(&mut out, result);
    out.push_str("<nav aria-label=\"Sections\"><a href=\"#warnings\">Warnings</a><a href=\"#arms\">Objectives</a><a href=\"#charts\">Charts</a><a href=\"#tables\">Tables</a><a href=\"#cases\">Cases</a><a href=\"#limits\">What this cannot know</a></nav>\n");
    warnings(&mut out, &result.warnings);
    objectives::write(&mut out, result, timing);
    figures::write(&mut out, charts);
    tables::write(&mut out, result);
    cases::write(&mut out, result);
    limits(&mut out, result);
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

/// The log's name.
pub fn name(result: &ReplayResult) -> String {
    match result.data.files.as_slice() {
        [file] => prose(file.rsplit(['/', '\\']).next().unwrap_or(file)),
        files => format!("Run of {} files", files.len()),
    }
}

/// What the policy is, in words.
pub fn policy(result: &ReplayResult) -> String {
    let parameters = count(result.model.parameters);
    match &result.model.path {
        Some(path) => format!("{} ({parameters} parameters)", prose(path)),
        None => format!("a surrogate fitted to the log ({parameters} parameters)"),
    }
}

fn header(out: &mut String, result: &ReplayResult) {
    let data = &result.data;
    let _ = write!(
        out,
        "<a class=\"skip\" href=\"#warnings\">Skip to warnings</a>\n<header><p class=\"run\">{} – replay</p><p class=\"facts\">{} · {} · {} · {} × {} = {}</p></header>\n<main>\n",
        escape_xml(&name(result)),
        counted(data.responses, "response"),
        counted(data.tokens, "token"),
        counted(data.steps, "step"),
        counted(result.summary.len() as u64, "objective"),
        counted(result.training.seeds, "seed"),
        counted(result.arms.len() as u64, "arm")
    );
}

/// `1 step`, `2 steps`.
fn counted(n: u64, what: &str) -> String {
    format!("{} {what}{}", count(n), if n == 1 { "" } else { "s" })
}

fn verdict(out: &mut String, result: &ReplayResult) {
    let supported = result.differences.iter().filter(|d| d.supported).count();
    let tested = result.differences.iter().filter(|d| d.p_value.is_some()).count();
    let (state, sign, word) = match (tested, supported) {
        (0, _) => ("unknown", "?", "Cannot say"),
        (_, 0) => ("unknown", "=", "No difference"),
        _ => ("differs", "≠", "A difference"),
    };
    let _ = write!(
        out,
        "<section id=\"verdict\" class=\"{state}\"><p class=\"badge\"><span aria-hidden=\"true\">{sign}</span> {word}</p>\n<h1>{}</h1>\n<p class=\"lead\">{}</p>\n<dl class=\"numbers\">",
        escape_xml(&prose(&result.verdict.headline)),
        escape_xml(&prose(&result.verdict.detail))
    );
    let silencing = result.summary.iter().find(|s| s.silenced.is_some());
    let drift = result.arms.iter().flat_map(|a| &a.steps).filter_map(|s| s.drift).reduce(f64::max);
    let numbers = [
        match tested {
            0 => (
                "0".into(),
                "differences can be tested",
                "a paired t-test needs two seeds or more".to_owned(),
            ),
            _ => (
                format!("{supported} of {tested}"),
                "differences are supported",
                "paired t-tests over seeds, adjusted by Holm, below 0.05".to_owned(),
            ),
        },
        (
            silencing.and_then(|s| s.silenced_share).map_or_else(none, percent),
            "of the trained tokens are silenced",
            silencing.map_or_else(
                || "no objective here silences tokens".into(),
                |s| format!("{}: {} a seed", s.objective, amount(s.silenced.unwrap_or(0.0))),
            ),
        ),
        (
            drift.map_or_else(none, number),
            "is the largest drift from the logged policy",
            "mean |ln ρ| before a step’s first update".into(),
        ),
    ];
    for (value, what, note) in numbers {
        let _ = write!(out, "<div><dt>{what}</dt><dd>{value}<small>{}</small></dd></div>", escape_xml(&note));
    }
    let _ = write!(
        out,
        "</dl>\n<dl class=\"answers\"><div><dt>Policy</dt><dd>{}</dd></div><div><dt>Training</dt><dd>AdamW, learning rate {:e}, {} a mini-batch, {}, gradient norm clipped to {}, on {}</dd></div><div><dt>Hold-out</dt><dd>{}</dd></div></dl></section>\n",
        escape_xml(&policy(result)),
        result.training.learning_rate,
        result
            .training
            .minibatch
            .map_or_else(|| "the log’s own responses".into(), |n| counted(n, "response")),
        counted(result.training.epochs, "epoch"),
        result.training.max_grad_norm,
        escape_xml(&result.training.device),
        match result.data.holdout_responses {
            0 => "none".into(),
            n => format!(
                "{} of {}, never trained on",
                counted(n, "response"),
                counted(result.data.holdout_prompts, "prompt")
            ),
        }
    );
}

fn warnings(out: &mut String, warnings: &[Warning]) {
    out.push_str("<section id=\"warnings\"><h2>Warnings</h2>\n");
    if warnings.is_empty() {
        out.push_str("<p>None.</p></section>\n");
        return;
    }
    out.push_str("<ul class=\"warnings\">\n");
    for warning in warnings {
        let serious = matches!(warning.code, WarningCode::Surrogate | WarningCode::ArmStopped);
        let _ = writeln!(
            out,
            "<li class=\"{}\"><p><span class=\"code\"><span aria-hidden=\"true\">{}</span> {}</span> {}</p><p class=\"hint\"><b>Next:</b> {}</p></li>",
            if serious { "serious" } else { "mild" },
            if serious { "✕" } else { "▲" },
            warning.code.label(),
            escape_xml(&prose(&warning.message)),
            escape_xml(&prose(&warning.hint))
        );
    }
    out.push_str("</ul></section>\n");
}

/// What holds for every replay; also in `replay.md`.
pub fn statements(result: &ReplayResult) -> Vec<String> {
    let mut found = vec![
        "A replay is off-policy: every arm learns from responses that the logged policy drew. A live run would have drawn others, and its effects can add up or die out where a replay shows nothing.".to_owned(),
        "All arms see the same responses in the same order, from the same start; between them only the objective differs, so a supported difference is an effect of the objective on this data, at this learning rate.".into(),
        "Correct means a reward above 0. Log-probabilities and entropies on the hold-out are of logged responses; they say how the policy rates them, not what it would answer.".into(),
        "Divergences are k3 estimates over logged tokens, not over the policy’s own.".into(),
    ];
    if result.model.surrogate {
        found.push("The policy is a surrogate: small, and fitted to this log. It shows what the objectives do to a policy of its kind, not to the one that was trained.".into());
    }
    if result.training.seeds > 1 {
        found.push("Seeds change the order of mini-batches within a step and the random masks. They do not change the data: intervals say nothing about another log.".into());
    }
    found
}

fn limits(out: &mut String, result: &ReplayResult) {
    out.push_str("<section id=\"limits\"><h2>What this cannot know</h2>\n<ul>\n");
    for statement in statements(result) {
        let _ = writeln!(out, "<li>{}</li>", escape_xml(&statement));
    }
    out.push_str("</ul></section>\n");
}
