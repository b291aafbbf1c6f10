//! Figures: told as they are measured, and put into the documentation.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use super::arguments::Arguments;
use super::logs::Log;
use super::process::{Cost, cores};

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
        self.block(name, format!("{head}{table}"));
    }

    /// Figures of another kind, or calculated from others.
    pub fn block(&mut self, name: &'static str, text: String) {
        self.say(&format!("{name}: {text}"));
        self.blocks.push((name, text));
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
