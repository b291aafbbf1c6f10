//! What a replay leaves, and how it is written.

use std::path::Path;

use serde::Serialize;
use serde_json::json;

use super::own_files::KIND;
use super::state::{State, write};
use stapo_base::error::{Error, Result};
use stapo_base::output::{json_text, remove_stale};
use stapo_base::tables::parquet;
use stapo_result::replay::{ArmTiming, ReplayResult};

/// What a replay leaves.
#[derive(Debug)]
pub struct Replayed {
    /// The result; `replay.json`.
    pub result: ReplayResult,
    /// How fast each arm was; `timing.json`.
    pub timing: Vec<ArmTiming>,
    state: Option<State>,
}

impl Replayed {
    pub(super) fn new(result: ReplayResult, timing: Vec<ArmTiming>, state: Option<State>) -> Self {
        Self { result, timing, state }
    }

    /// Writes `replay.json`, `timing.json` and `tables/replay_*.parquet` into a folder, and removes token logs of
    /// arms that an earlier replay left there and this one does not have.
    pub fn write(&self, folder: &Path) -> Result<()> {
        std::fs::create_dir_all(folder).map_err(|e| Error::write(folder, e))?;
        let logs = self.result.arms.iter().map(|arm| arm.token_log.clone());
        remove_stale(folder, KIND, &logs.collect())?;
        parquet::write_all(KIND, &self.result.frames(), &[], folder)?;
        write_json(&folder.join("replay.json"), &self.result)?;
        write_json(&folder.join("timing.json"), &json!({ "arms": self.timing }))
    }

    /// Removes the checkpoints of a complete replay from its workspace, once its result is safe; those
    /// of an unfinished one stay, to be resumed from.
    pub fn forget_checkpoints(self) -> Result<()> {
        match self.state {
            Some(state) if self.result.unfinished.is_empty() => state.remove(),
            _ => Ok(()),
        }
    }
}

fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<()> {
    write(path, json_text(value, path)?.as_bytes())
}
