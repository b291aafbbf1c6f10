//! What a run is called on its page: by the files that were read.

use std::path::Path;

use super::text::prose;
use stapo_base::format::grouped;
use stapo_compare::names::is_common;

/// The name of a run by its files: one is its own name, several are of a folder.
#[must_use]
pub fn by_files(files: &[&str]) -> String {
    match (telling_name(files), files.len()) {
        (Some(name), 0 | 1) => prose(&name),
        (Some(name), n) => format!("{} ({} files)", prose(&name), grouped(n as u64)),
        (None, 0) => "Run".into(),
        (None, n) => format!("Run of {} files", grouped(n as u64)),
    }
}

/// The name of a run by the files that were read: its file, else the folder that they are in; `None` where
/// that says nothing.
fn telling_name(files: &[&str]) -> Option<String> {
    let shared = |a: &Path, b: &Path| a.ancestors().find(|folder| b.starts_with(folder)).map(Path::to_owned);
    let (first, others) = files.split_first()?;
    if others.is_empty() && !is_common(Path::new(first)) {
        return Some(first.rsplit(['/', '\\']).next().unwrap_or(first).to_owned());
    }
    let folder = Path::new(first).parent()?.to_owned();
    let folder = others.iter().try_fold(folder, |found, file| shared(&found, Path::new(file)))?;
    let is_telling = |folder: &&Path| !is_common(folder) && !is_step(folder);
    let name = folder.ancestors().filter(|f| f.file_name().is_some()).find(is_telling)?.file_name()?;
    Some(name.to_string_lossy().into_owned())
}

/// Whether a folder is of one step: `step_12`, `global_step_12`.
fn is_step(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    name.rsplit_once("step")
        .is_some_and(|(_, number)| number.trim_start_matches(['_', '-']).parse::<u64>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_called_by_its_file_or_by_the_folder_of_all() {
        assert_eq!(telling_name(&["a/grpo.parquet"]).as_deref(), Some("grpo.parquet"));
        assert_eq!(telling_name(&["runs/x/tokens.parquet"]).as_deref(), Some("x"));
        let steps =
            ["/runs/x/token_log/step_00000000/a.parquet", "/runs/x/token_log/step_00000002/a.parquet"];
        assert_eq!(telling_name(&steps).as_deref(), Some("x"));
        assert_eq!(
            telling_name(&["x/global_step_3/a.parquet", "x/global_step_3/b.parquet"]).as_deref(),
            Some("x")
        );
        assert_eq!(telling_name(&["a.parquet", "b.parquet"]), None);
        assert_eq!(telling_name(&[]), None);
        assert_eq!(by_files(&steps), "x (2 files)");
        assert_eq!(by_files(&["a.parquet", "b.parquet"]), "Run of 2 files");
    }
}
