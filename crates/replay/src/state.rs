//! Checkpoints of a replay: what is needed to go on after a kill at any moment, bit for bit.
//!
//! A checkpoint is written beside the last one and gets its name when it is complete; the older one
//! goes afterwards. Finished arms keep their record only.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::model::{AdamW, AdamWSettings, Policy, load_state, save_state};
use super::objective::GateState;
use stapo_base::error::{Error, Result};
use stapo_base::output::AtomicFile;
use stapo_result::replay::{ArmResult, Case, PromptScores};

/// Folder of checkpoints inside of the output folder.
pub const FOLDER: &str = ".replay-state";

/// What is known of an arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArmRecord {
    /// For the result.
    pub result: ArmResult,
    /// What its policy says of each held-out prompt, as of the last evaluation.
    pub prompts: Vec<PromptScores>,
    /// Flagged tokens with alternatives.
    pub cases: Vec<Case>,
    /// What the objective's gate has seen.
    pub gate: GateState,
    /// Steps that are done.
    pub steps_done: usize,
    /// Whether the arm is at its end and its token log in place.
    pub finished: bool,
}

/// The folder of a replay's checkpoints.
#[derive(Clone, Debug)]
pub struct State {
    folder: PathBuf,
}

impl State {
    /// Opens the folder. With `resume`, its content is taken up where it is of the same replay;
    /// else it is removed. `fingerprint` is everything that the result depends on.
    pub fn open(output: &Path, fingerprint: &str, resume: bool) -> Result<Self> {
        let folder = output.join(FOLDER);
        let known = folder.join("replay.json");
        if resume && known.exists() {
            let found = std::fs::read_to_string(&known).map_err(|e| Error::read(&known, e))?;
            if found != fingerprint {
                return Err(Error::Usage {
                    message: format!(
                        "--resume: {} holds another replay (log, model or options differ: {})",
                        folder.display(),
                        first_difference(&found, fingerprint)
                    ),
                    hint: "give the options it was started with, or leave --resume out to start anew".into(),
                });
            }
            remove_litter(output);
            return Ok(Self { folder });
        }
        remove(&folder)?;
        write(&known, fingerprint.as_bytes())?;
        Ok(Self { folder })
    }

    /// The folder of one arm.
    pub fn arm(&self, name: &str) -> ArmState {
        ArmState { folder: self.folder.join(name), last: Instant::now() }
    }

    /// A place for what is made once, such as a surrogate.
    pub fn place(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The replay is complete.
    pub fn remove(self) -> Result<()> {
        remove(&self.folder)
    }
}

/// An arm's record, with its policy and optimizer where it is not finished.
pub type Loaded = (ArmRecord, Option<(Policy, AdamW)>);

/// Checkpoints of one arm.
pub struct ArmState {
    folder: PathBuf,
    last: Instant,
}

impl ArmState {
    /// Where parts of the token log go.
    pub fn tokens(&self) -> PathBuf {
        self.folder.join("tokens")
    }

    /// Seconds since the last checkpoint.
    pub fn age(&self) -> f64 {
        self.last.elapsed().as_secs_f64()
    }

    /// The last complete checkpoint, where there is one.
    pub fn load(&self, start: &Policy, settings: AdamWSettings) -> Result<Option<Loaded>> {
        let Some(folder) = self.checkpoints()?.pop() else { return Ok(None) };
        let path = folder.join("record.json");
        let text = std::fs::read_to_string(&path).map_err(|e| Error::read(&path, e))?;
        let record: ArmRecord = serde_json::from_str(&text).map_err(|e| Error::Corrupt {
            path: path.clone(),
            place: "state of a replay".into(),
            message: e.to_string(),
        })?;
        let trained = match record.finished {
            true => None,
            false => Some(load_state(&folder.join("policy.safetensors"), start, settings)?),
        };
        Ok(Some((record, trained)))
    }

    /// Writes a checkpoint, then removes older ones.
    pub fn save(&mut self, record: &ArmRecord, trained: Option<(&Policy, &AdamW)>) -> Result<()> {
        let older = self.checkpoints()?;
        let unfinished = self.folder.join("unfinished");
        remove(&unfinished)?;
        let path = unfinished.join("record.json");
        let text = serde_json::to_string(record).map_err(|e| Error::write(&path, e))?;
        write(&path, text.as_bytes())?;
        if let Some((policy, optimizer)) = trained {
            save_state(&unfinished.join("policy.safetensors"), policy, optimizer)?;
        }
        let last = if record.finished { usize::MAX >> 1 } else { record.steps_done };
        let target = self.folder.join(format!("at-{last:020}"));
        if older.contains(&target) {
            remove(&target)?;
        }
        std::fs::rename(&unfinished, &target).map_err(|e| Error::write(&target, e))?;
        for folder in older.iter().filter(|f| **f != target) {
            remove(folder)?;
        }
        self.last = Instant::now();
        Ok(())
    }

    /// Complete checkpoints, oldest first.
    fn checkpoints(&self) -> Result<Vec<PathBuf>> {
        let entries = match std::fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(Error::read(&self.folder, e)),
        };
        let mut found: Vec<PathBuf> = entries
            .filter_map(|entry| entry.ok().map(|e| e.path()))
            .filter(|p| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with("at-")))
            .collect();
        found.sort();
        Ok(found)
    }
}

/// Writes a file that appears only when it is complete.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes).map_err(|e| Error::write(path, e))?;
    file.commit()
}

/// Removes temporary files that a killed start has left; what cannot be removed does no harm.
fn remove_litter(output: &Path) {
    for entry in std::fs::read_dir(output).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(".stapo-") && name.ends_with(".tmp") {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn remove(folder: &Path) -> Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Error::write(folder, e)),
        _ => Ok(()),
    }
}

/// The first line that differs, for the message.
fn first_difference(found: &str, given: &str) -> String {
    let mut lines = found.lines().zip(given.lines());
    lines.find(|(a, b)| a != b).map_or_else(String::new, |(a, b)| {
        format!("{} instead of {}", a.trim().trim_end_matches(','), b.trim().trim_end_matches(','))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    /// A resumed replay goes on to the same bits only where JSON gives back the numbers it was given.
    #[test]
    fn numbers_come_back_from_json_with_all_their_bits() {
        let mut random = stapo_base::stats::random::Random::splitmix(5);
        for _ in 0..100_000 {
            let number = f64::from_bits(random.bits());
            if number.is_finite() {
                let text = serde_json::to_string(&number).unwrap();
                let found: f64 = serde_json::from_str(&text).unwrap();
                assert_eq!(found.to_bits(), number.to_bits(), "{text}");
            }
        }
    }
}
