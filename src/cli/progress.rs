//! The progress bar: tokens/s and time left, on a terminal's stderr only.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};

use super::terminal::{columns_of_stderr, visible};
use stapo_batch::progress::Progress;
use stapo_ingest::Run;

/// A bar over the bytes of a run.
pub struct Bar {
    bar: ProgressBar,
    tokens: AtomicU64,
    quiet: bool,
}

impl Bar {
    /// A bar, hidden when stderr is no terminal or the user wants quiet.
    pub fn new(run: &Run, quiet: bool) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            return Self { bar: ProgressBar::hidden(), tokens: AtomicU64::new(0), quiet };
        }
        let bar = ProgressBar::new(run.files.iter().map(|f| f.bytes).sum());
        let style = ProgressStyle::with_template(match is_narrow() {
            true => "{percent:>3} %{left}  {wide_msg}",
            false => "{bar:30} {percent:>3} %  {msg}{left}",
        });
        if let Ok(style) = style {
            // Before anything is read nobody knows how long it takes.
            let left = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                if state.pos() > 0 {
                    let _ = write!(out, "  {:#} left", HumanDuration(state.eta()));
                }
            };
            bar.set_style(style.with_key("left", left).progress_chars("━╸─"));
        }
        bar.enable_steady_tick(Duration::from_millis(250));
        Self { bar, tokens: AtomicU64::new(0), quiet }
    }

    fn say(&self, kind: &str, text: &str) {
        self.bar.suspend(|| {
            let _ = writeln!(std::io::stderr(), "{kind}: {}", visible(text));
        });
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

    fn note(&self, text: &str) {
        if !self.quiet {
            self.say("note", text);
        }
    }

    fn warn(&self, text: &str) {
        self.say("warning", text);
    }
}

/// Whether a bar of 30 columns with its words would not fit into one line.
pub fn is_narrow() -> bool {
    columns_of_stderr().is_some_and(|columns| columns < 80)
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
