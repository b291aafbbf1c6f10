//! The files that a replay writes, and what their names must not be taken from.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::arm::file_stem;
use super::model::AdapterSettings;
use super::provenance::TOKENIZER;
use super::settings::ReplaySettings;
use stapo_base::error::Result;
use stapo_base::output::{
    has_list, not_ours, refuse_foreign, refuse_removing, refuse_replacing, stale_files,
};
use stapo_ingest::Run;
use stapo_ingest::texts::Tokenizer;

/// What the files of a replay are listed as in its folder.
pub const KIND: &str = "replay";

/// The names of the token logs of all arms.
pub fn own_logs(settings: &ReplaySettings) -> BTreeSet<String> {
    let arms = settings.objectives.iter().flat_map(|rule| (1..=settings.seeds).map(move |seed| (rule, seed)));
    arms.map(|(rule, seed)| format!("{}.parquet", file_stem(*rule, seed))).collect()
}

/// Refuses arms whose token logs or policies would replace or remove the log or the model they start from, or
/// files that no replay wrote.
pub fn refuse_taken_names(
    run: &Run,
    settings: &ReplaySettings,
    tokenizer: Option<&Tokenizer>,
    folder: Option<&Path>,
) -> Result<()> {
    let adapter = match &settings.adapter {
        Some(AdapterSettings::Saved(adapter)) => Some(adapter),
        _ => None,
    };
    let logs = own_logs(settings);
    if let Some(save) = &settings.save {
        for stem in logs.iter().filter_map(|log| log.strip_suffix(".parquet")) {
            refuse_replacing(&save.join(stem), settings.model.iter().chain(adapter).map(|p| p.as_path()))?;
        }
    }
    let Some(folder) = folder else { return Ok(()) };
    for log in &logs {
        refuse_replacing(&folder.join(log), run.files.iter().map(|file| file.path()))?;
    }
    refuse_foreign(folder, KIND, &logs)?;
    for log in left_before(settings, folder) {
        refuse_removing(&log, run.files.iter().map(|file| file.path()))?;
    }
    match tokenizer {
        Some(tokenizer) if !has_list(folder, KIND) => refuse_other_tokenizer(tokenizer, folder),
        _ => Ok(()),
    }
}

/// Fails where the folder has a tokenizer that is another one: of a model, not of a replay.
fn refuse_other_tokenizer(tokenizer: &Tokenizer, folder: &Path) -> Result<()> {
    let there = folder.join(TOKENIZER);
    match std::fs::read(&there) {
        Ok(bytes) if std::fs::read(tokenizer.path()).is_ok_and(|own| own != bytes) => {
            Err(not_ours(&there, KIND))
        }
        _ => Ok(()),
    }
}

/// Token logs in the folder of arms that an earlier replay had and this one has not: they go when its result
/// is written.
pub fn left_before(settings: &ReplaySettings, folder: &Path) -> Vec<PathBuf> {
    stale_files(folder, KIND, &own_logs(settings))
}
