//! Figures: told as they are measured, and put into the documentation.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use super::arguments::Arguments;
use super::logs::Log;
use super::process::{Cost, cores};
use super::{merge, shards};

/// Tokens of a shard where nothing else is said.
const SHARD: f64 = 2e8;
/// What a core is rented for, by the hour: on-demand list prices are about this.
const CORE_HOUR: f64 = 0.05;

pub struct Figures {
    began: Instant,
    blocks: Vec<(&'static str, String)>,
    write: bool,
}

impl Figures {
    pub fn new(arguments: &Arguments) -> Self {
        Self { began: Instant::now(), blocks: Vec::new(), write: arguments.write }
    }

    /// Says something at once.
    pub fn say(&self, what: &str) {
        println!("[{:6.1} s] {what}", self.began.elapsed().as_secs_f64());
        std::io::stdout().flush().unwrap();
    }

    /// Says what one run took.
    pub fn note(&self, name: &str, cost: Cost) {
        let Cost { seconds, processor, megabytes } = cost;
        self.say(&format!("{name}: {seconds:.2} s, {processor:.2} s of processors, {megabytes:.0} MB"));
    }

    /// The figures of a part.
    pub fn part(&mut self, name: &'static str, log: &Log, table: &str) {
        let head =
            format!("{:.0} M tokens in {} files, {} cores:\n\n", log.tokens as f64 / 1e6, log.files, cores());
        self.say(&format!("{name}: {head}{table}"));
        self.blocks.push((name, format!("{head}{table}")));
    }

    /// Puts the figures between the marks of their names.
    pub fn write(&self, page: &Path) {
        assert!(self.write);
        let mut text = std::fs::read_to_string(page).unwrap();
        for (name, figures) in &self.blocks {
            let [begin, end] = [format!("<!-- figures: {name} -->"), format!("<!-- end of {name} -->")];
            let (before, rest) = text.split_once(&begin).unwrap();
            let (_, after) = rest.split_once(&end).unwrap();
            text = format!("{before}{begin}\n\n{}\n\n{end}{after}", figures.trim_end());
        }
        std::fs::write(page, text).unwrap();
    }
}

pub fn table_head(against: &str) -> String {
    match against {
        "" => "| | seconds | of processors | peak memory |\n|---|---|---|---|\n".into(),
        _ => format!("| | seconds | {against} | of processors | peak memory |\n|---|---|---|---|---|\n"),
    }
}

pub fn table_row(name: &str, cost: Cost, against: Option<Cost>) -> String {
    let Cost { seconds, processor, megabytes } = cost;
    let ratio = |mine: f64, other: f64| format!("{:.3}", mine / other);
    match against {
        None => format!("| {name} | {seconds:.2} | {processor:.2} | {megabytes:.0} MB |\n"),
        Some(other) => format!(
            "| {name} | {seconds:.2} | {} | {processor:.2} ({}) | {megabytes:.0} MB |\n",
            ratio(seconds, other.seconds),
            ratio(processor, other.processor)
        ),
    }
}

/// What larger logs would take, from what was measured.
pub fn on_paper(log: &Log, shards: shards::Measured, merge: merge::Measured, figures: &mut Figures) {
    let tokens = log.tokens as f64;
    let (core_rate, bytes) = (tokens / shards.processor, log.bytes / tokens);
    let mut out = format!(
        "From these rates: {:.1} M tokens a second and core, {bytes:.1} bytes a token, one candidate in {:.0} tokens, {:.2} s \
         a part and {:.2} µs a candidate in `merge`, shards of 2e8 tokens, {CORE_HOUR} USD a core-hour (insert your own), reading \
         as fast as it is needed ({:.0} MB/s a core):\n\n",
        core_rate / 1e6,
        1.0 / merge.share,
        merge.part,
        merge.candidate * 1e6,
        core_rate * bytes / 1e6
    );
    out += "| tokens | log | shards | parts | collect, core-hours | on 16 machines of 16 cores | merge | USD |\n";
    out += "|---|---|---|---|---|---|---|---|\n";
    for size in [1e10, 1e12_f64] {
        let count = (size / SHARD).ceil();
        let candidates = size * merge.share;
        let collect = size / core_rate / 3600.0;
        let merging = (count * merge.part + candidates * merge.candidate) / 3600.0;
        out += &format!(
            "| 10^{:.0} | {:.2} TB | {count:.0} | {:.1} GB | {collect:.1} | {:.1} min | {:.1} min | {:.2} |\n",
            size.log10(),
            size * bytes / 1e12,
            (count * merge.part_bytes + candidates * merge.candidate_bytes) / 1e9,
            collect * 60.0 / 256.0,
            merging * 60.0,
            // The machine that merges has two cores.
            (collect + 2.0 * merging) * CORE_HOUR
        );
    }
    figures.say(&format!("on paper: {out}"));
    figures.blocks.push(("paper", out));
}
