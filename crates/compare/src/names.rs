//! Names of runs: as given, else of their file, never twice.

use std::collections::HashSet;
use std::path::Path;

use super::settings::RunInput;

/// Characters of a name at most.
const LONGEST: usize = 80;

/// The name of a run, as given or of its file or folder.
#[must_use]
pub fn of_input(input: &RunInput) -> String {
    let given = input.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
    let name = given.map(str::to_owned).or_else(|| input.paths.first().map(|path| of_path(path)));
    name.unwrap_or_else(|| "run".into()).chars().take(LONGEST).collect()
}

/// Whether a name says what is in a file or folder, not which run it is of.
#[must_use]
pub fn is_common(path: &Path) -> bool {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    COMMON.contains(&name.as_str()) || name.contains(['*', '?'])
}

/// Names of contents, not of runs.
const COMMON: [&str; 15] = [
    "tokens",
    "token_log",
    "token_logs",
    "tokens_log",
    "token_exports",
    "rollouts",
    "rollout",
    "logs",
    "log",
    "train",
    "data",
    "completions",
    "trainer_state",
    "metrics",
    "log_history",
];

/// The name of a file or folder; where that says nothing, of the folder around it.
fn of_path(path: &Path) -> String {
    let telling = path.ancestors().find(|folder| folder.file_name().is_some() && !is_common(folder));
    let path = telling.unwrap_or(path);
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let bare = ["parquet", "jsonl", "jsonl.gz", "jsonl.zst", "json", "csv", "tsv", "log", "txt"]
        .iter()
        .find_map(|ending| name.strip_suffix(ending)?.strip_suffix('.'))
        .filter(|bare| !bare.is_empty());
    bare.unwrap_or(&name).to_owned()
}

/// Tells names apart that are taken: `grpo`, `grpo-2`.
#[derive(Default)]
pub struct Names {
    taken: HashSet<String>,
    /// Names that had to be changed: wanted, given.
    pub changed: Vec<(String, String)>,
}

impl Names {
    /// Only what was changed.
    #[must_use]
    pub fn renamed(changed: Vec<(String, String)>) -> Self {
        Self { taken: HashSet::new(), changed }
    }

    /// A free name, `wanted` where it is free.
    pub fn free(&mut self, wanted: &str) -> String {
        let free = (1..)
            .map(|n| if n == 1 { wanted.to_owned() } else { format!("{wanted}-{n}") })
            .find(|name| !self.taken.contains(name))
            .unwrap_or_default();
        if free != wanted {
            self.changed.push((wanted.to_owned(), free.clone()));
        }
        self.taken.insert(free.clone());
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_files_and_never_twice() {
        let of = |path: &str| of_input(&RunInput { name: None, paths: vec![path.into()] });
        assert_eq!(of("a/grpo.parquet"), "grpo");
        assert_eq!(of("a/run.jsonl.gz"), "run");
        assert_eq!(of("a/dump/"), "dump");
        assert_eq!(of("runs/x/tokens"), "x");
        assert_eq!(of("runs/x/tokens/*.parquet"), "x");
        assert_eq!(of("runs/x/token_log/rollouts"), "x");
        assert_eq!(of("tokens"), "tokens");
        assert_eq!(of(".parquet"), ".parquet");
        assert_eq!(of("/"), "/");
        let named = RunInput { name: Some(" x ".into()), paths: vec!["b.parquet".into()] };
        assert_eq!(of_input(&named), "x");
        let mut names = Names::default();
        assert_eq!(["a", "a", "a-2", "a"].map(|n| names.free(n)), ["a", "a-2", "a-2-2", "a-3"]);
        assert_eq!(names.changed.len(), 3);
    }
}
