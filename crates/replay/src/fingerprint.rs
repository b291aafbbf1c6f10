//! What the result of a replay depends on, so that only the same replay is resumed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use serde_json::json;
use sha2::{Digest, Sha256};

use super::log::Survey;
use super::model::AdapterSettings;
use super::settings::ReplaySettings;
use stapo_base::error::{Error, Result};
use stapo_ingest::Run;

/// Everything that the result depends on, one fact a line: settings, how the log is read, the
/// contents of log and model. Where files lie and when they were written does not matter to it.
pub fn fingerprint(run: &Run, survey: &Survey, settings: &ReplaySettings) -> Result<String> {
    let reading = &run.settings;
    let adapter = match &settings.adapter {
        Some(AdapterSettings::Saved(folder)) => Some(folder.as_path()),
        _ => None,
    };
    let facts = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "log": { "files": run.files.len(), "content": format!("{:016x}", survey.content) },
        "reading": {
            "map": format!("{:?}", reading.map),
            "align": format!("{:?}", reading.alignment),
            "entropy_in_bits": reading.entropy_in_bits,
        },
        "model": settings.model.as_deref().map(contents).transpose()?,
        "adapter": adapter.map(contents).transpose()?,
        "settings": settings,
    });
    serde_json::to_string_pretty(&facts).map_err(|e| Error::write(Path::new("fingerprint"), e))
}

/// Hashes of a checkpoint's configuration and weights, by name.
fn contents(folder: &Path) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(|e| Error::read(folder, e))?.flatten() {
        let (name, path) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
        let counts = ["config.json", "tokenizer.json", "adapter_config.json"].contains(&name.as_str())
            || name.ends_with(".safetensors");
        if counts && path.is_file() {
            found.insert(name, hash(&path)?);
        }
    }
    Ok(found)
}

fn hash(path: &Path) -> Result<String> {
    let mut file = BufReader::new(File::open(path).map_err(|e| Error::read(path, e))?);
    let mut digest = Sha256::new();
    let mut buffer = vec![0_u8; 1 << 20];
    loop {
        match file.read(&mut buffer).map_err(|e| Error::read(path, e))? {
            0 => break,
            n => digest.update(&buffer[..n]),
        }
    }
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
