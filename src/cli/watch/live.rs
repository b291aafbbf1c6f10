//! `live.html`, which shows the report and takes a new one as it comes, and `live.js`, which tells it.
//!
//! The report itself is the same as of any other run; pages of the disk may not fetch, but they may
//! load a script, so the state is one.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::alerts::Alert;
use stapo_base::error::{Error, Result};
use stapo_base::output::AtomicFile;
use stapo_page::live_page;
use stapo_result::RunAnalysis;

const BEFORE: &str = "stapoLive(";
const AFTER: &str = ");\n";

/// The live page of a folder.
pub struct Live {
    folder: PathBuf,
    state: State,
}

/// What the page is told.
#[derive(Default, Serialize, Deserialize)]
struct State {
    /// Rises with every new report.
    version: u64,
    /// Seconds of the clock at the last look: a page can tell that nobody looks any more.
    looked: u64,
    every: u64,
    ended: bool,
    sentence: String,
    /// How the run stands: the colour of the line.
    #[serde(default)]
    state: String,
    /// Alerts that were told.
    known: BTreeSet<String>,
    /// The run that they are of.
    #[serde(default)]
    run: String,
}

impl Live {
    /// Goes on where an earlier watch of this folder and run stopped; of another run nothing was told.
    pub fn open(folder: &Path, run: &str, every: Duration) -> Result<Self> {
        let before = std::fs::read_to_string(folder.join("live.js")).unwrap_or_default();
        let json = before.strip_prefix(BEFORE).and_then(|rest| rest.strip_suffix(AFTER));
        let mut state: State = json.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default();
        if state.run != run {
            state.known.clear();
            run.clone_into(&mut state.run);
        }
        state.every = every.as_secs().max(1);
        state.ended = false;
        let live = Self { folder: folder.to_owned(), state };
        live.write("live.html", &live_page())?;
        Ok(live)
    }

    /// Alerts that were told before.
    pub fn known(&self) -> &BTreeSet<String> {
        &self.state.known
    }

    /// There is a new report.
    pub fn show(&mut self, analysis: &RunAnalysis) -> Result<()> {
        self.state.version += 1;
        self.state.sentence.clone_from(&analysis.diagnosis.sentence);
        self.state.state = analysis.diagnosis.state.name().to_owned();
        self.looked()
    }

    /// These alerts are told from now on.
    pub fn know(&mut self, alerts: &[Alert]) -> Result<()> {
        self.state.known.extend(alerts.iter().map(Alert::key));
        self.looked()
    }

    /// Someone looked.
    pub fn looked(&mut self) -> Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.state.looked = now.as_secs();
        let json = serde_json::to_string(&self.state).unwrap_or_default();
        self.write("live.js", &format!("{BEFORE}{json}{AFTER}"))
    }

    /// Nobody will look any more.
    pub fn end(&mut self) -> Result<()> {
        self.state.ended = true;
        self.looked()
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.folder.join(name);
        let mut file = AtomicFile::create(&path)?;
        file.write_all(text.as_bytes()).map_err(|e| Error::write(&path, e))?;
        file.commit()
    }
}
