//! `stapo-analyze show`.

use std::io::{self, Write};
use std::path::Path;

use super::outcome::{Outcome, stdout};
use super::progress::Bar;
use super::settings;
use super::terminal::{self, visible};
use crate::cli::args::Format;
use crate::cli::args::ShowArgs;
use stapo_base::error::Result;
use stapo_base::format::{grouped, none, number};
use stapo_base::output::json_text;
use stapo_base::tables::{Columns, text};
use stapo_ingest::show::{Selection, Shown, ShownResponse, ShownToken, show};
use stapo_ingest::{IngestSettings, Run};

/// Runs the command.
pub fn run(arguments: &ShowArgs, out: &mut dyn Write, talk: &mut dyn Write) -> Result<Outcome> {
    let reading = settings::ingest(&arguments.input.reading)?;
    let reading = IngestSettings { tokenizer: arguments.tokenizer.clone(), ..reading };
    let run = Run::open(&arguments.input.inputs, &reading)?;
    let selection = Selection {
        step: arguments.step,
        group: arguments.group.clone(),
        sample: arguments.sample.clone(),
        limit: arguments.limit as usize,
    };
    let bar = Bar::new(&run, arguments.input.reading.quiet);
    let shown = show(&run, &selection, arguments.tokenizer.as_deref(), &bar);
    bar.finish();
    let shown = shown?;
    stdout(match arguments.format {
        Format::Json => out.write_all(json_text(&shown, Path::new("stdout"))?.as_bytes()),
        Format::Text => passages(&shown, arguments.tokens, out),
    })?;
    let more = shown.matched - shown.responses.len() as u64;
    if more > 0 && !arguments.input.reading.quiet {
        let of = format!("{} of {} responses", grouped(shown.responses.len() as u64), grouped(shown.matched));
        let said = format!("{of}; more with --limit, fewer with --step, --group and --sample");
        stdout(writeln!(talk, "\n{}", terminal::paragraph("", &said, 0, terminal::columns_of_stderr())))?;
    }
    Ok(Outcome::Fine)
}

fn passages(shown: &Shown, tokens: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut prompt = None;
    for (place, response) in shown.responses.iter().enumerate() {
        if place > 0 {
            writeln!(out)?;
        }
        // Responses of a group follow each other: their prompt is said once.
        if response.prompt.is_some() && response.prompt != prompt {
            prompt.clone_from(&response.prompt);
            writeln!(out, "prompt\n{}\n", passage(prompt.as_deref().unwrap_or_default()))?;
        }
        let heading = terminal::paragraph("── ", &heading(response), 3, terminal::columns());
        writeln!(out, "{heading}\n{}", passage(&response.text()))?;
        list(response, tokens, out)?;
    }
    Ok(())
}

fn heading(r: &ShownResponse) -> String {
    let mut parts = vec![format!("step {}", r.step)];
    parts.extend(r.update.map(|u| format!("update {u}")));
    parts.extend(r.group_id.as_ref().map(|g| format!("group {}", visible(g))));
    parts.extend(r.sample_id.as_ref().map(|s| format!("sample {}", visible(s))));
    parts.push(format!("row {}", r.row));
    parts.push(format!("{} {}", grouped(r.length as u64), r.length_in));
    parts.extend(r.reward.map(|reward| format!("reward {}", number(f64::from(reward)))));
    let ending = r.finish_reason.as_deref().map(visible);
    parts.extend(ending.or_else(|| r.truncated.filter(|cut| *cut).map(|_| "cut".into())));
    parts.join(" · ")
}

/// Lines stay lines; everything else that is not text is shown.
fn passage(text: &str) -> String {
    let columns = terminal::columns();
    let lines: Vec<String> =
        text.lines().map(|line| terminal::paragraph("  ", &visible(line), 2, columns)).collect();
    lines.join("\n")
}

/// The trained tokens that are the most surprising beyond what the entropy explains.
fn list(response: &ShownResponse, limit: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut tokens: Vec<&ShownToken> =
        response.tokens.iter().filter(|t| t.trained && t.logprob.is_some()).collect();
    let rank = |t: &ShownToken| t.unexplained().or(t.logprob.map(|l| -l)).unwrap_or(0.0);
    tokens.sort_by(|a, b| rank(b).total_cmp(&rank(a)).then(a.position.cmp(&b.position)));
    tokens.truncate(limit);
    if tokens.is_empty() {
        return Ok(());
    }
    let shown = |value: Option<f32>| value.map_or_else(none, |v| number(f64::from(v)));
    let table = Columns::of(&tokens)
        .text("position", |t| t.position.to_string())
        .text("id", |t| t.token_id.map_or_else(none, |id| id.to_string()))
        .text("token", |t| visible(&t.text).chars().take(40).collect::<String>())
        .text("p", |t| shown(t.logprob.map(f32::exp)))
        .text("H", |t| shown(t.entropy))
        .text("A", |t| shown(t.advantage))
        .text("−ln p − H", |t| shown(t.unexplained()))
        .frame();
    let right = ["position", "id", "p", "H", "A", "−ln p − H"];
    text::write_within(&table, &right, &["id", "A"], terminal::columns(), out)
}
