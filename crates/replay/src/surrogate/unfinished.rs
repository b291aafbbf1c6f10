//! A surrogate's fit that the time was too short for, bit for bit, so that the next start goes on with it.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::model::{AdamW, AdamWSettings, Policy, load_state, save_state};
use crate::state::write;
use stapo_base::error::{Error, Result};
use stapo_result::replay::SurrogateFit;

/// A fit on its way.
pub struct UnfinishedFit {
    /// The policy.
    pub policy: Policy,
    /// Its optimizer.
    pub optimizer: AdamW,
    /// Updates done.
    pub updates: u64,
    /// Looks at it since the best one.
    pub looks_since_best: u64,
    /// The nearest to the log so far.
    pub best: Option<(Policy, SurrogateFit)>,
}

/// What is written of it beside weights.
#[derive(Serialize, Deserialize)]
struct Facts {
    updates: u64,
    looks_since_best: u64,
    best: Option<SurrogateFit>,
}

const FACTS: &str = "unfinished.json";
const STATE: &str = "unfinished.safetensors";
const BEST: &str = "best";

impl UnfinishedFit {
    /// Nothing is done yet.
    pub fn none(policy: Policy) -> Self {
        let optimizer = AdamW::new(AdamWSettings::default());
        Self { policy, optimizer, updates: 0, looks_since_best: 0, best: None }
    }
}

/// Writes a fit.
pub fn save(folder: &Path, fit: &UnfinishedFit) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|e| Error::write(folder, e))?;
    save_state(&folder.join(STATE), &fit.policy, &fit.optimizer)?;
    if let Some((policy, _)) = &fit.best {
        policy.save(&folder.join(BEST))?;
    }
    let best = fit.best.as_ref().map(|(_, fit)| fit.clone());
    let facts = Facts { updates: fit.updates, looks_since_best: fit.looks_since_best, best };
    let path = folder.join(FACTS);
    // Last: where it exists, the rest does.
    write(&path, serde_json::to_string(&facts).map_err(|e| Error::write(&path, e))?.as_bytes())
}

/// Reads what [`save`] wrote, if it did; `blank` says which model.
pub fn load(folder: &Path, blank: &Policy) -> Result<Option<UnfinishedFit>> {
    let path = folder.join(FACTS);
    let Ok(text) = std::fs::read_to_string(&path) else { return Ok(None) };
    let facts: Facts = serde_json::from_str(&text).map_err(|e| Error::Corrupt {
        path,
        place: "state of a replay".into(),
        message: e.to_string(),
    })?;
    let (policy, optimizer) = load_state(&folder.join(STATE), blank, AdamWSettings::default())?;
    let best = match facts.best {
        Some(fit) => Some((Policy::load(&folder.join(BEST), &blank.device())?, fit)),
        None => None,
    };
    let Facts { updates, looks_since_best, .. } = facts;
    Ok(Some(UnfinishedFit { policy, optimizer, updates, looks_since_best, best }))
}

/// Removes what [`save`] wrote, where it did.
pub fn forget(folder: &Path) -> Result<()> {
    let gone = |result: std::io::Result<()>, path: &Path| match result {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Error::write(path, e)),
        _ => Ok(()),
    };
    for name in [FACTS, STATE] {
        gone(std::fs::remove_file(folder.join(name)), &folder.join(name))?;
    }
    gone(std::fs::remove_dir_all(folder.join(BEST)), &folder.join(BEST))
}
