//! How far a replay is: a bar on a terminal, a line now and then elsewhere (a batch job's log).

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::progress::{is_narrow, short};
use super::terminal::{columns_of_stderr, paragraph};
use crate::format::{duration, percent};
use crate::replay::ReplayProgress;

/// Time between two lines where there is no terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(30);

/// Tokens of all arms of a replay, trained and ahead.
pub struct ReplayBar {
    bar: ProgressBar,
    /// Lines instead of a bar.
    lines: Option<Mutex<Lines>>,
    arm: Mutex<String>,
    trained: AtomicU64,
}

impl ReplayBar {
    /// A bar on a terminal, lines elsewhere; nothing where the user wants quiet.
    pub fn new(quiet: bool) -> Self {
        let terminal = io::stderr().is_terminal();
        let bar = if !quiet && terminal { ProgressBar::new(0) } else { ProgressBar::hidden() };
        let template = match is_narrow() {
            true => "{percent:>3} %  {eta} left  {wide_msg}",
            false => "{bar:30} {percent:>3} %  {msg}  {eta} left",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("━╸─"));
        }
        let lines = (!quiet && !terminal).then(|| Mutex::new(Lines::default()));
        Self { bar, lines, arm: Mutex::default(), trained: AtomicU64::new(0) }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn arm_name(&self) -> String {
        self.arm.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes what lines know, and writes the line that this made due.
    fn line(&self, change: impl FnOnce(&mut Lines) -> Option<String>) {
        let Some(lines) = &self.lines else { return };
        if let Some(line) = change(&mut lines.lock().unwrap_or_else(PoisonError::into_inner)) {
            // Where stderr is gone, nobody wants to know.
            let _ = writeln!(io::stderr(), "{line}");
        }
    }
}

impl ReplayProgress for ReplayBar {
    fn ahead(&self, tokens: u64) {
        self.bar.set_length(tokens);
        self.bar.reset_elapsed();
        if !self.bar.is_hidden() {
            self.bar.enable_steady_tick(Duration::from_millis(250));
        }
        self.line(|lines| {
            *lines = Lines { ahead: tokens, ..Lines::default() };
            None
        });
    }

    fn arm(&self, name: &str) {
        name.clone_into(&mut self.arm.lock().unwrap_or_else(PoisonError::into_inner));
        self.bar.set_message(name.to_owned());
    }

    fn trained(&self, tokens: u64) {
        self.bar.inc(tokens);
        let all = self.trained.fetch_add(tokens, Ordering::Relaxed) + tokens;
        if !self.bar.is_hidden() {
            let rate = all as f64 / self.bar.elapsed().as_secs_f64().max(1e-3);
            self.bar.set_message(format!("{}: {} tokens/s", self.arm_name(), short(rate)));
        }
        self.line(|lines| {
            lines.trained += tokens;
            lines.due(&self.arm_name(), Instant::now())
        });
    }

    fn skipped(&self, tokens: u64) {
        self.bar.inc(tokens);
        self.bar.reset_eta();
        self.line(|lines| {
            lines.skipped += tokens;
            None
        });
    }

    fn say(&self, text: &str) {
        if !self.bar.is_hidden() {
            self.bar.println(paragraph("", text, 0, columns_of_stderr()));
        }
        self.line(|_| Some(text.to_owned()));
    }
}

/// What a line is made from.
struct Lines {
    begun: Instant,
    last: Option<Instant>,
    ahead: u64,
    trained: u64,
    skipped: u64,
}

impl Default for Lines {
    fn default() -> Self {
        Self { begun: Instant::now(), last: None, ahead: 0, trained: 0, skipped: 0 }
    }
}

impl Lines {
    /// The line, after the first update and where the last one is long enough ago.
    fn due(&mut self, arm: &str, now: Instant) -> Option<String> {
        let known = self.last.is_some_and(|last| now.duration_since(last) < BETWEEN_LINES);
        if known || self.trained == 0 {
            return None;
        }
        self.last = Some(now);
        let rate = self.trained as f64 / now.duration_since(self.begun).as_secs_f64().max(1e-3);
        let done = self.trained + self.skipped;
        let left = self.ahead.saturating_sub(done) as f64 / rate;
        Some(format!(
            "{arm}: {} done, {} tokens/s, about {} left",
            percent(done as f64 / self.ahead.max(1) as f64),
            short(rate),
            duration(left)
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_comes_after_the_first_update_and_every_half_minute_and_counts_what_this_start_did() {
        let begun = Instant::now();
        let mut lines = Lines { begun, last: None, ahead: 10_000, trained: 0, skipped: 4_000 };
        let at = |seconds| begun + Duration::from_secs(seconds);
        assert_eq!(lines.due("dapo", at(60)), None, "nothing is known of the speed yet");
        lines.trained = 500;
        // 500 tokens in 10 s, 5,500 to go.
        let line = lines.due("dapo", at(10));
        assert_eq!(line.as_deref(), Some("dapo: 45.0 % done, 50 tokens/s, about 2 min left"));
        lines.trained = 1_000;
        assert_eq!(lines.due("dapo", at(20)), None);
        // 1,000 tokens in 50 s, 5,000 to go.
        let line = lines.due("dapo", at(50));
        assert_eq!(line.as_deref(), Some("dapo: 50.0 % done, 20 tokens/s, about 4 min left"));
        assert_eq!(lines.due("dapo", at(70)), None);
        assert!(lines.due("dapo", at(80)).is_some());
    }
}
