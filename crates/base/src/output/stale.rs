//! Files of an earlier report in the same folder, which this one does not have. What is ours to remove
//! is known from a list beside the files: others are never touched.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::write_file;
use crate::error::{Error, Result};

/// Removes from `folder` what a report of this kind (`report`, `compare`, `replay`) left there before
/// and does not have now; `now` are the names of its files.
pub fn remove_stale(folder: &Path, kind: &str, now: &BTreeSet<String>) -> Result<()> {
    for path in stale_files(folder, kind, now) {
        std::fs::remove_file(&path).map_err(|e| Error::write(&path, e))?;
    }
    write_list(folder, kind, now)
}

/// What [`remove_stale`] would remove.
pub fn stale_files(folder: &Path, kind: &str, now: &BTreeSet<String>) -> Vec<PathBuf> {
    let before = listed(folder, kind);
    let gone = before.iter().filter(|name| !now.contains(*name));
    // A link or a folder of that name is not what was written.
    let is_file = |path: &PathBuf| std::fs::symlink_metadata(path).is_ok_and(|there| there.is_file());
    gone.map(|name| folder.join(name)).filter(is_file).collect()
}

/// Fails where one of `names` is in `folder` already and no result of this kind left it there.
pub fn refuse_foreign(folder: &Path, kind: &str, names: &BTreeSet<String>) -> Result<()> {
    let own = listed(folder, kind);
    let foreign = |name: &&String| !own.contains(*name) && folder.join(name).symlink_metadata().is_ok();
    match names.iter().find(foreign) {
        None => Ok(()),
        Some(name) => Err(not_ours(&folder.join(name), kind)),
    }
}

/// What is said of a file that would be replaced and is not ours.
pub fn not_ours(path: &Path, kind: &str) -> Error {
    Error::Usage {
        message: format!("{}: a file of this name is there, and no {kind} wrote it", path.display()),
        hint: "give another folder (--report), or move the file; nothing was written".into(),
    }
}

/// Lists `names` as files of this kind of result before they are written: one that is stopped on the way finds
/// them again as its own.
pub fn announce(folder: &Path, kind: &str, names: &BTreeSet<String>) -> Result<()> {
    let mut all = listed(folder, kind);
    all.extend(names.iter().cloned());
    write_list(folder, kind, &all)
}

/// Whether a result of this kind was written into `folder`.
pub fn has_list(folder: &Path, kind: &str) -> bool {
    list_of(folder, kind).is_file()
}

fn listed(folder: &Path, kind: &str) -> BTreeSet<String> {
    let list = std::fs::read_to_string(list_of(folder, kind)).unwrap_or_default();
    list.lines().filter(|name| is_plain(name)).map(str::to_owned).collect()
}

fn write_list(folder: &Path, kind: &str, names: &BTreeSet<String>) -> Result<()> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    write_file(&list_of(folder, kind), names.join("\n").as_bytes())
}

fn list_of(folder: &Path, kind: &str) -> PathBuf {
    folder.join(format!(".{kind}-files"))
}

/// Whether a line of the list is the name of a file inside of the folder.
fn is_plain(name: &str) -> bool {
    !name.starts_with('.') && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn names(of: &[&str]) -> BTreeSet<String> {
        of.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn files_of_an_earlier_report_go_and_files_of_others_stay() {
        let root = tempfile::tempdir().unwrap();
        let charts = root.path().join("charts");
        std::fs::create_dir_all(charts.join("folder.svg")).unwrap();
        for name in ["plane.svg", "plane.csv", "sweep.svg", "mine.svg", "../outside.svg"] {
            std::fs::write(charts.join(name), "x").unwrap();
        }
        remove_stale(&charts, "report", &names(&["plane.svg", "plane.csv", "sweep.svg"])).unwrap();
        assert!(charts.join("plane.svg").exists());
        // Another kind of report in the same folder has a list of its own.
        remove_stale(&charts, "compare", &names(&[])).unwrap();
        assert!(charts.join("plane.svg").exists());
        let list = "plane.svg\nplane.csv\nsweep.svg\nfolder.svg\n../outside.svg\n";
        std::fs::write(charts.join(".report-files"), list).unwrap();
        remove_stale(&charts, "report", &names(&["sweep.svg"])).unwrap();
        assert!(!charts.join("plane.svg").exists() && !charts.join("plane.csv").exists());
        let taken = refuse_foreign(&charts, "report", &names(&["sweep.svg", "mine.svg"])).unwrap_err();
        assert!(taken.to_string().contains("mine.svg: a file of this name is there, and no report wrote it"));
        announce(&charts, "report", &names(&["new.svg"])).unwrap();
        std::fs::write(charts.join("new.svg"), "half").unwrap();
        refuse_foreign(&charts, "report", &names(&["sweep.svg", "new.svg"])).unwrap();
        for kept in ["sweep.svg", "mine.svg", "folder.svg", "../outside.svg"] {
            assert!(charts.join(kept).exists(), "{kept}");
        }
    }
}
