//! The progress bar: tokens/s and time left, on a terminal's stderr only.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::ingest::{Progress, Run};
use crate::replay::ReplayProgress;

/// A bar over the bytes of a run.
pub struct Bar {
    bar: ProgressBar,
    tokens: AtomicU64,
}

impl Bar {
    /// A bar, hidden when stderr is no terminal or the user wants quiet.
    pub fn new(run: &Run, quiet: bool) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            return Self { bar: ProgressBar::hidden(), tokens: AtomicU64::new(0) };
        }
        let bar = ProgressBar::new(run.files.iter().map(|f| f.bytes).sum());
        let style = ProgressStyle::with_template("{bar:30} {percent:>3} %  {msg}  {eta} left");
        if let Ok(style) = style {
            bar.set_style(style.progress_chars("━╸─"));
        }
        bar.enable_steady_tick(Duration::from_millis(250));
        Self { bar, tokens: AtomicU64::new(0) }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Progress for Bar {
    fn advance(&self, tokens: u64, bytes: u64) {
        let all = self.tokens.fetch_add(tokens, Ordering::Relaxed) + tokens;
        self.bar.inc(bytes);
        if !self.bar.is_hidden() && tokens > 0 {
            let seconds = self.bar.elapsed().as_secs_f64().max(1e-3);
            self.bar.set_message(format!("{} tokens, {}/s", short(all as f64), short(all as f64 / seconds)));
        }
    }
}

/// A bar over the tokens of all arms of a replay.
pub struct ReplayBar {
    bar: ProgressBar,
    talks: bool,
    arm: Mutex<String>,
    trained: AtomicU64,
}

impl ReplayBar {
    /// A bar, hidden when stderr is no terminal or the user wants quiet.
    pub fn new(quiet: bool) -> Self {
        let bar = match !quiet && std::io::stderr().is_terminal() {
            true => ProgressBar::new(0),
            false => ProgressBar::hidden(),
        };
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3} %  {msg}  {eta} left") {
            bar.set_style(style.progress_chars("━╸─"));
        }
        Self { bar, talks: !quiet, arm: Mutex::default(), trained: AtomicU64::new(0) }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl ReplayProgress for ReplayBar {
    fn ahead(&self, tokens: u64) {
        self.bar.set_length(tokens);
        self.bar.reset_elapsed();
        if !self.bar.is_hidden() {
            self.bar.enable_steady_tick(Duration::from_millis(250));
        }
    }

    fn arm(&self, name: &str) {
        if let Ok(mut arm) = self.arm.lock() {
            name.clone_into(&mut arm);
        }
        self.bar.set_message(name.to_owned());
    }

    fn trained(&self, tokens: u64) {
        self.bar.inc(tokens);
        let all = self.trained.fetch_add(tokens, Ordering::Relaxed) + tokens;
        if !self.bar.is_hidden() {
            let rate = all as f64 / self.bar.elapsed().as_secs_f64().max(1e-3);
            let arm = self.arm.lock().map(|arm| arm.clone()).unwrap_or_default();
            self.bar.set_message(format!("{arm}: {} tokens/s", short(rate)));
        }
    }

    fn skipped(&self, tokens: u64) {
        self.bar.inc(tokens);
        self.bar.reset_eta();
    }

    fn say(&self, text: &str) {
        if self.talks && !self.bar.is_hidden() {
            self.bar.println(text);
        }
    }
}

/// A number with a letter: 1.2 M.
pub fn short(n: f64) -> String {
    match n {
        n if n >= 1e9 => format!("{:.1} G", n / 1e9),
        n if n >= 1e6 => format!("{:.1} M", n / 1e6),
        n if n >= 1e3 => format!("{:.1} k", n / 1e3),
        n => format!("{n:.0}"),
    }
}
