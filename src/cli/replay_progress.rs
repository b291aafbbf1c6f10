//! How far a replay is: a bar on a terminal, a line now and then elsewhere (a batch job's log).

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::progress::{is_narrow, short};
use super::terminal::{columns_of_stderr, paragraph};
use stapo_base::format::{duration, percent};
use stapo_replay::ReplayProgress;

/// Time between two lines where there is no terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(30);

/// Tokens of all arms of a replay, trained and ahead.
pub struct ReplayBar {
    bar: ProgressBar,
    /// Whether lines are written instead.
    writes_lines: bool,
    lines: Mutex<Lines>,
    arm: Mutex<String>,
}

impl ReplayBar {
    /// A bar on a terminal, lines elsewhere; nothing where the user wants quiet.
    pub fn new(quiet: bool) -> Self {
        let terminal = io::stderr().is_terminal();
        let bar = if !quiet && terminal { ProgressBar::new(0) } else { ProgressBar::hidden() };
        let template = match is_narrow() {
            true => "{percent:>3} %  {wide_msg}",
            false => "{bar:30} {percent:>3} %  {msg}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("━╸─"));
        }
        let writes_lines = !quiet && !terminal;
        Self { bar, writes_lines, lines: Mutex::default(), arm: Mutex::default() }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn arm_name(&self) -> String {
        self.arm.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes what is known, says it beside the bar, and writes the line that this made due.
    fn line(&self, change: impl FnOnce(&mut Lines) -> Option<String>) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let line = change(&mut lines);
        if !self.bar.is_hidden() {
            self.bar.set_message(lines.beside_bar(&self.arm_name(), Instant::now()));
        }
        if let Some(line) = line.filter(|_| self.writes_lines) {
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
        self.line(|_| None);
    }

    fn trained(&self, tokens: u64) {
        self.bar.inc(tokens);
        self.line(|lines| {
            lines.trained += tokens;
            lines.due(&self.arm_name(), Instant::now())
        });
    }

    fn skipped(&self, tokens: u64) {
        self.bar.inc(tokens);
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
        let (rate, left) = self.speed(now);
        let done = percent((self.trained + self.skipped) as f64 / self.ahead.max(1) as f64);
        Some(format!("{arm}: {done} done, {} tokens/s, about {} left", short(rate), duration(left)))
    }

    /// What stands beside a bar. Of its own: a bar that counts what was skipped, too, says that nothing is left.
    fn beside_bar(&self, arm: &str, now: Instant) -> String {
        if self.trained == 0 {
            return arm.to_owned();
        }
        let (rate, left) = self.speed(now);
        format!("{arm}  {} tokens/s  {} left", short(rate), duration(left))
    }

    /// Tokens a second of what this start trained, and the seconds that the rest takes.
    fn speed(&self, now: Instant) -> (f64, f64) {
        let rate = self.trained as f64 / now.duration_since(self.begun).as_secs_f64().max(1e-3);
        (rate, self.ahead.saturating_sub(self.trained + self.skipped) as f64 / rate)
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
        // Beside a bar the same: what was skipped is done, but says nothing of the speed.
        lines.skipped = 5_000;
        assert_eq!(lines.beside_bar("dapo", at(50)), "dapo  20 tokens/s  3 min left");
    }
}
