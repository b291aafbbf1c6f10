//! The curves in a folder as trainers and trackers leave it.

use std::path::{Path, PathBuf};

/// Endings of logs of tokens or texts: a folder that holds one is read for those.
const LOGS: [&str; 3] = ["parquet", "jsonl", "zst"];

/// Endings of files that hold curves, if any of a folder does: settings are JSON, too.
const CURVES: [&str; 3] = ["csv", "tsv", "log"];

/// Files, with the file of curves in the place of each folder that has one and no other log: `trainer_state.json` of a
/// trainer's folder or of its last checkpoint, the console that Weights & Biases keeps of a run, the only table or console.
#[must_use]
pub fn curve_files(paths: &[PathBuf]) -> Vec<PathBuf> {
    let file =
        |path: &PathBuf| if path.is_dir() { of_folder(path) } else { None }.unwrap_or_else(|| path.clone());
    paths.iter().map(file).collect()
}

fn of_folder(folder: &Path) -> Option<PathBuf> {
    let inside = children(folder);
    // TRL's texts lie in a folder of their own, and say more.
    let is_log = |path: &PathBuf| ends(path, &LOGS) || path.ends_with("completions");
    if inside.iter().any(is_log) {
        return None;
    }
    let own = [folder.join("trainer_state.json"), folder.join("files/output.log"), folder.join("output.log")];
    let of_checkpoint = || {
        let last = inside.iter().filter_map(|path| Some((checkpoint(path)?, path))).max()?;
        Some(last.1.join("trainer_state.json")).filter(|path| path.is_file())
    };
    let only = || match inside.iter().filter(|path| ends(path, &CURVES)).collect::<Vec<_>>()[..] {
        [only] => Some(only.clone()),
        _ => None,
    };
    own.into_iter().find(|path| path.is_file()).or_else(of_checkpoint).or_else(only)
}

fn ends(path: &Path, endings: &[&str]) -> bool {
    path.extension().is_some_and(|ending| endings.iter().any(|one| ending == *one))
}

/// Some files of a folder with many are enough to know what it is.
const CHILDREN: usize = 10_000;

fn children(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.take(CHILDREN).map(|entry| entry.path()).collect()
}

/// The step of `checkpoint-500`.
fn checkpoint(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.strip_prefix("checkpoint-")?.parse().ok()
}
