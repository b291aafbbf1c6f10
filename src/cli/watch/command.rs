//! The command of `--on-alert`. Words of a log reach it as environment and stdin, never as a part of
//! the command line.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::alerts::Alert;
use crate::cli::terminal::visible;

/// A bell that rings longer is stopped: the watch goes on.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the command; says in words what went wrong.
pub fn run(command: &str, alert: &Alert, report: &Path) -> Result<(), String> {
    let json = serde_json::to_vec(alert).map_err(|e| e.to_string())?;
    let mut child = shell(command)
        .env("STAPO_ALERT_KIND", alert.kind)
        // Control characters (and bytes of zero, which no environment takes) are shown, not sent.
        .env("STAPO_ALERT_CODE", visible(&alert.code))
        .env("STAPO_ALERT_MESSAGE", visible(&alert.message))
        .env("STAPO_ALERT_STEP", alert.step.map(|s| s.to_string()).unwrap_or_default())
        .env("STAPO_REPORT", report)
        .stdin(Stdio::piped())
        .spawn()
        .map_err(|e| format!("cannot start: {e}"))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A command that does not read it is none the worse. An alert fits into a pipe.
        let _ = stdin.write_all(&json);
    }
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("ended with {status}")),
            Ok(None) if started.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(20)),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("stopped after {} s", PATIENCE.as_secs()));
            }
            Err(e) => return Err(e.to_string()),
        }
    }
}

fn shell(command: &str) -> Command {
    let (shell, option) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut run = Command::new(shell);
    run.arg(option).arg(command);
    run
}
