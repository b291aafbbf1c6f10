//! Opens a page in the browser. That it cannot is a note, never an error: the page is written.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::outcome::stdout;
use stapo_base::error::Result;

/// How long the system's opener may take to say that it failed.
const PATIENCE: Duration = Duration::from_secs(2);

/// Shows a page in the user's browser.
pub fn in_browser(page: &Path, talk: &mut dyn Write) -> Result<()> {
    match start(page) {
        Ok(()) => Ok(()),
        Err(why) => stdout(writeln!(talk, "note: no browser was opened ({why})")),
    }
}

fn opener() -> Command {
    if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        let mut command = Command::new("cmd");
        // `start` takes a first argument in quotes for a title.
        command.args(["/C", "start", ""]);
        command
    } else {
        Command::new("xdg-open")
    }
}

fn start(page: &Path) -> Result<(), String> {
    // An absolute path: one that begins with a dash would be taken for an option.
    let page = std::path::absolute(page).map_err(|e| e.to_string())?;
    let mut command = opener();
    let name = command.get_program().to_string_lossy().into_owned();
    command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|e| format!("{name}: {e}"))?;
    let since = Instant::now();
    // An opener that is still there after a while shows the page itself.
    while since.elapsed() < PATIENCE {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("{name} ended with {status}")),
            Ok(None) => std::thread::sleep(Duration::from_millis(20)),
            Err(e) => return Err(format!("{name}: {e}")),
        }
    }
    Ok(())
}
