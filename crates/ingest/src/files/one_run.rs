//! Whether the files of a run are of one run: two of them pooled would share groups and steps that
//! have nothing to do with each other.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::files::opened::Opened;
use stapo_base::error::{Error, Result};

/// Facts of a run that do not change while it goes on, the one that tells most first.
const FACTS: [&str; 7] = ["run_id", "algorithm", "model", "seed", "framework", "tokenizer", "vocab_size"];

/// Refuses files whose metadata are of different runs.
pub fn require_one_run(opened: &[Opened]) -> Result<()> {
    for fact in FACTS {
        let mut said: BTreeMap<&str, Vec<&Opened>> = BTreeMap::new();
        for file in opened {
            if let Some(value) = file.metadata.get(fact) {
                said.entry(value).or_default().push(file);
            }
        }
        let mut values = said.into_iter();
        let (Some((a, first)), Some((b, second))) = (values.next(), values.next()) else { continue };
        let tail = stale_tail(&first, &second).or_else(|| stale_tail(&second, &first));
        let why = match tail.filter(|_| fact == "run_id") {
            Some(tail) => format!("{tail}: a logger that started again into the folder of a longer run"),
            None => format!("their `{fact}` is `{a}` and `{b}`"),
        };
        return Err(Error::SeveralRuns {
            first: first[0].log.path().to_owned(),
            second: second[0].log.path().to_owned(),
            why,
        });
    }
    Ok(())
}

/// The files of one run that all come after those of the other.
fn stale_tail(earlier: &[&Opened], later: &[&Opened]) -> Option<String> {
    let steps = |files: &[&Opened]| files.iter().map(|f| f.log.step).collect::<Option<Vec<i64>>>();
    let (last, first) = (steps(earlier)?.into_iter().max()?, steps(later)?.into_iter().min()?);
    (last < first).then(|| format!("{} files from step {first} on are of another run", later.len()))
}

/// Where files carry no name of their run: a tail of steps that was written before the steps ahead of
/// it is what an earlier run left.
pub fn note_stale_tail(opened: &[Opened]) -> Option<String> {
    let mut files: Vec<(i64, std::time::SystemTime, &Opened)> = opened
        .iter()
        .filter(|f| !f.metadata.contains_key("run_id"))
        .map(|f| Some((f.log.step?, f.identity.modified()?, f)))
        .collect::<Option<_>>()?;
    files.sort_by_key(|(step, written, _)| (*step, *written));
    // One place where time jumps back, to before the first of all.
    let jumps: Vec<usize> = (1..files.len()).filter(|i| files[*i].1 < files[i - 1].1).collect();
    let [at] = jumps[..] else { return None };
    let (head, tail) = files.split_at(at);
    let start = head.iter().map(|f| f.1).min()?;
    let older = tail.len() >= 2 && head.len() >= 2 && tail.iter().all(|f| f.1 < start);
    older.then(|| {
        format!(
            "{} files from step {} on ({}) are older than all files before them: if a run was started again into this folder, they are the tail of the earlier one and do not belong to it",
            tail.len(),
            tail[0].0,
            tail[0].2.log.path().display()
        )
    })
}

/// Where files were named one by one and nothing says that they are of one run: that they are taken as one, and how to hold
/// them against each other. Ranks and numbered steps say it by their names.
pub fn note_pooled(arguments: &[PathBuf], opened: &[Opened]) -> Option<String> {
    let is_named = |file: &Opened| arguments.iter().any(|argument| argument == file.log.path());
    let is_part = |file: &Opened| {
        let name = file.log.path().file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        file.log.step.is_some() || file.metadata.contains_key("run_id") || name.contains("rank")
    };
    let are_several = opened.len() > 1 && opened.iter().all(|file| is_named(file) && !is_part(file));
    are_several.then(|| {
        let paths: Vec<String> =
            opened.iter().map(|file| quoted(&file.log.path().to_string_lossy())).collect();
        format!(
            "{} files are taken as one run; if each is a run of its own: stapo-analyze compare {}",
            paths.len(),
            paths.join(" ")
        )
    })
}

/// As a shell takes it for one word.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | ':');
    if path.chars().all(is_plain) { path.into() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}
