//! Charts of an earlier run in the same folder, which this run has no data for. What is ours to
//! remove is known from a list beside the charts: other files are never touched.

use std::path::Path;

use crate::error::{Error, Result};
use crate::output::write_file;

/// Removes the charts that were drawn for this page before and are not now.
pub(super) fn remove(charts: &Path, page: &str, now: &[&str]) -> Result<()> {
    let list = charts.join(format!(".{page}-charts"));
    let before = std::fs::read_to_string(&list).unwrap_or_default();
    let plain =
        |name: &&str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    for name in before.lines().filter(plain).filter(|name| !now.contains(name)) {
        for ending in ["svg", "png", "csv"] {
            let path = charts.join(format!("{name}.{ending}"));
            match std::fs::remove_file(&path) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(Error::write(&path, e)),
                _ => {}
            }
        }
    }
    let mut names = now.to_vec();
    names.sort_unstable();
    write_file(&list, names.join("\n").as_bytes())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn charts_of_an_earlier_run_go_and_files_of_others_stay() {
        let root = tempfile::tempdir().unwrap();
        let charts = root.path().join("charts");
        std::fs::create_dir_all(&charts).unwrap();
        for name in ["plane.svg", "plane.csv", "sweep.svg", "mine.svg"] {
            std::fs::write(charts.join(name), "x").unwrap();
        }
        remove(&charts, "report", &["plane", "sweep"]).unwrap();
        assert!(charts.join("plane.svg").exists());
        remove(&charts, "report", &["sweep"]).unwrap();
        assert!(!charts.join("plane.svg").exists() && !charts.join("plane.csv").exists());
        assert!(charts.join("sweep.svg").exists() && charts.join("mine.svg").exists());
    }
}
