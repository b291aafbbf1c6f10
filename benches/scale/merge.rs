//! A merge of many candidates, and one of many parts.

use std::path::Path;
use std::process::Command;

use super::arguments::Arguments;
use super::figures::{Figures, table_head, table_row};
use super::logs::Log;
use super::process::{bytes_in, empty, run, text};
use super::shards::in_shards;

/// A merge of this many candidates is timed.
const CANDIDATES: f64 = 1e7;
/// Parts that they are in.
const PARTS: usize = 8;
/// Parts of the other merge, with as few candidates as there are.
const MANY_PARTS: usize = 32;

/// What the estimate for larger logs needs.
pub struct Measured {
    /// Seconds for a candidate.
    pub candidate: f64,
    /// Seconds for a part.
    pub part: f64,
    /// Bytes of a part without its candidates, about.
    pub part_bytes: f64,
    /// Bytes of a candidate in a part.
    pub candidate_bytes: f64,
    /// Candidates a token, with the usual thresholds.
    pub share: f64,
}

fn summary(json: &[u8]) -> serde_json::Value {
    serde_json::from_slice(json).unwrap()
}

/// Files in which so many tokens have A > 0: with `--tau-p 1` each of them is a candidate.
pub fn files_needed(arguments: &Arguments) -> usize {
    let mut command = Command::new(&arguments.program);
    let output = command.arg(&arguments.sample).args(["--format", "json", "--full", "-q"]).output().unwrap();
    let totals = &summary(&output.stdout)["totals"];
    let share = totals["positive"].as_f64().unwrap() / totals["tokens"].as_f64().unwrap();
    (CANDIDATES * 1.02 / share / arguments.tokens as f64).ceil() as usize
}

pub fn measure(arguments: &Arguments, log: &Log, folder: &Path, figures: &mut Figures) -> Measured {
    let work = folder.join("work");
    let few = folder.join("few");
    // Many parts of a few files: what a part costs.
    empty(&few);
    for number in 0..log.files.min(8) {
        std::fs::hard_link(log.file(number), few.join(log.file(number).file_name().unwrap())).unwrap();
    }
    let tokens = log.tokens / log.files as u64 * log.files.min(8) as u64;
    let ([.., many], parts) =
        in_shards(&arguments.program, &few, &work, tokens.div_ceil(MANY_PARTS as u64), &[]);
    figures.note(&format!("merge of {parts} parts"), many);
    let usual = summary(&std::fs::read(work.join("report/summary.json")).unwrap());
    let share = usual["s2t"]["candidates"].as_f64().unwrap() / usual["totals"]["tokens"].as_f64().unwrap();
    let part_bytes = bytes_in(&work, "part") / parts as f64;
    let ([.., one], _) = in_shards(&arguments.program, &few, &work, tokens, &[]);
    figures.note("merge of the same in one part", one);
    let part = (many.processor - one.processor) / (parts - 1) as f64;
    let all = ["--tau-p", "1"];
    let ([_, collect, _], count) =
        in_shards(&arguments.program, &log.folder, &work, log.tokens.div_ceil(PARTS as u64), &all);
    figures.note("collect with every token a candidate", collect);
    let bytes = bytes_in(&work, "part");
    let (plan, report) = (work.join("plan.json"), work.join("report"));
    let mut merges = Vec::new();
    arguments.rounds(|| {
        let given = ["merge", "--plan", text(&plan), text(&work), "--report", text(&report), "-q"];
        let cost = run(&arguments.program, &given);
        figures.note("merge of all candidates", cost);
        merges.push(cost);
    });
    let merge = super::process::Cost::median(&merges);
    let found = summary(&std::fs::read(report.join("summary.json")).unwrap());
    let candidates = found["s2t"]["candidates"].as_f64().unwrap();
    let flagged = std::fs::metadata(report.join("tables/flagged.parquet")).unwrap().len() as f64;
    let mut table = table_head("");
    table += &table_row(&format!("{:.1} M candidates in {count} parts", candidates / 1e6), merge, None);
    table += &table_row(&format!("{:.0} M tokens in {parts} parts", tokens as f64 / 1e6), many, None);
    table += &table_row("the same in one part", one, None);
    table += &format!(
        "\nThe {count} parts take {:.0} MB, `flagged.parquet` with a row a candidate {:.0} MB; both are read and written in these \
         times.\n",
        bytes / 1e6,
        flagged / 1e6
    );
    figures.part("merge", log, &table);
    Measured {
        candidate: (merge.seconds - one.seconds).max(0.0) / candidates,
        part: part.max(0.0),
        part_bytes,
        candidate_bytes: bytes / candidates,
        share,
    }
}
