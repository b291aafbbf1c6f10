//! From input arguments to the list of log files: files, folders, globs, completeness markers.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::files::container::{Container, container_of, is_pickle, pickle_error};
#[cfg(feature = "cloud")]
use crate::files::listing::Listing;
use crate::files::path_facts::{is_eval, natural_cmp, step_from_path};
use crate::files::tree::{Disk, Tree};
use crate::json::Annotations;
use crate::storage::stored::Stored;
use stapo_base::error::{Error, Result};
use stapo_store::is_url;

/// A log file of the run.
#[derive(Clone, Debug)]
pub struct LogFile {
    /// Where it is.
    pub stored: Stored,
    /// How to read it.
    pub container: Container,
    /// Step from folder or file name.
    pub step: Option<i64>,
    /// What was noted of its traces, beside it.
    pub annotations: Option<Arc<Annotations>>,
}

impl LogFile {
    /// Its path or address.
    pub fn path(&self) -> &Path {
        self.stored.path()
    }
}

/// The files of a run and what was left out.
#[derive(Clone, Debug, Default)]
pub struct Discovered {
    /// In the order of the arguments; inside a folder or glob in natural order.
    pub files: Vec<LogFile>,
    /// What was not read, and why.
    pub skipped: Vec<Skipped>,
}

/// A file or folder that was left out.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Skipped {
    /// The file or folder.
    pub path: String,
    /// Why it was left out, in words.
    pub reason: String,
}

const MARKER: &str = "STABLE";
/// The folder of Parquet tables in a report, …
const TABLES: &str = "tables";
/// … what stands beside it, whichever comes first, …
const BESIDE_TABLES: [&str; 5] = ["summary.json", "compare.json", REPLAY, "live.html", "report.html"];
/// … and what stands beside the token logs of a replay.
const REPLAY: &str = "replay.json";
const OF_REPORT: &str = "tables of a report";
const OF_REPLAY: &str = "a replay's own logs, not the run's";

/// Finds all log files behind the arguments.
pub fn discover(arguments: &[PathBuf]) -> Result<Discovered> {
    let mut found = Discovered::default();
    let mut seen = BTreeSet::new();
    for argument in arguments {
        let before = found.files.len();
        let (tree, paths) = expand(argument)?;
        let tree = tree.as_ref();
        let searched = searched_by(argument, &paths);
        for path in paths {
            if let Some(reason) = searched.as_deref().and_then(|root| not_of_the_run(tree, root, &path)) {
                skip(&mut found.skipped, &path, reason);
                continue;
            }
            if tree.is_folder(&path) {
                let mut inside = Vec::new();
                walk(tree, &path, &mut BTreeSet::new(), &mut inside, &mut found.skipped)?;
                inside.sort_by(|a: &PathBuf, b| natural_cmp(a, b));
                for file in inside {
                    match container_of(&file) {
                        Ok(container) => push(&mut found, &mut seen, tree, &file, container)?,
                        Err(error) => skip(&mut found.skipped, &file, &error.to_string()),
                    }
                }
            } else {
                // `.json` in folders is configuration more often than a log: only by name.
                tree.require_regular(&path)?;
                let json = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
                let container = if json { Container::Json } else { container_of(&path)? };
                push(&mut found, &mut seen, tree, &path, container)?;
            }
        }
        let given = tree.identity(argument).is_ok_and(|known| seen.contains(&known));
        if found.files.len() == before && !given {
            return Err(nothing_found(argument, &found.skipped));
        }
    }
    Ok(found)
}

/// A folder of nothing but pickles gets the converter's name, not "no logs".
pub fn nothing_found(argument: &Path, skipped: &[Skipped]) -> Error {
    let pickle = skipped.iter().map(|s| Path::new(&s.path)).find(|p| is_pickle(p));
    match pickle {
        Some(path) => pickle_error(path),
        None => Error::NoLogs {
            path: argument.to_owned(),
            skipped: match skipped {
                [] => String::new(),
                [one] => format!("skipped {}: {}", one.path, one.reason),
                [one, rest @ ..] => {
                    format!("skipped {}: {}; and {} more", one.path, one.reason, rest.len())
                }
            },
        },
    }
}

fn push(
    found: &mut Discovered,
    seen: &mut BTreeSet<PathBuf>,
    tree: &dyn Tree,
    path: &Path,
    container: Container,
) -> Result<()> {
    let identity = tree.identity(path).unwrap_or_else(|_| path.to_owned());
    if !seen.insert(identity) {
        skip(&mut found.skipped, path, "given twice");
        return Ok(());
    }
    let step = step_from_path(path);
    found.files.push(LogFile { stored: tree.stored(path)?, container, step, annotations: None });
    Ok(())
}

fn skip(skipped: &mut Vec<Skipped>, path: &Path, reason: &str) {
    skipped.push(Skipped { path: path.display().to_string(), reason: reason.to_owned() });
}

/// What an argument stands for, and where that is.
fn expand(argument: &Path) -> Result<(Box<dyn Tree>, Vec<PathBuf>)> {
    if !is_url(argument) {
        return Ok((Box::new(Disk), expand_on_disk(argument)?));
    }
    #[cfg(feature = "cloud")]
    return Listing::of(argument).map(|(tree, paths)| (Box::new(tree) as Box<dyn Tree>, paths));
    #[cfg(not(feature = "cloud"))]
    return Err(stapo_store::not_built(argument));
}

/// A path that exists is taken as it is, even if it looks like a glob.
fn expand_on_disk(argument: &Path) -> Result<Vec<PathBuf>> {
    if argument.exists() {
        return Ok(vec![argument.to_owned()]);
    }
    let not_found = || Error::NotFound { path: argument.to_owned() };
    let pattern = argument.to_str().filter(|p| p.contains(['*', '?', '['])).ok_or_else(not_found)?;
    let paths = glob::glob(pattern).map_err(|e| Error::Usage {
        message: format!("{pattern}: {e}"),
        hint: "correct the glob, or quote the path so that it is taken literally".into(),
    })?;
    // A match that cannot be looked at is a part of the run that would be missing.
    let unreadable = |e: glob::GlobError| Error::read(e.path(), std::io::Error::other(e.error().to_string()));
    let mut matched: Vec<PathBuf> = paths.map(|p| p.map_err(unreadable)).collect::<Result<_>>()?;
    if matched.is_empty() {
        return Err(not_found());
    }
    matched.sort_by(|a, b| natural_cmp(a, b));
    Ok(matched)
}

/// The folder that a glob searches.
fn searched_by(argument: &Path, found: &[PathBuf]) -> Option<PathBuf> {
    let is_wild = |path: &Path| path.as_os_str().to_string_lossy().contains(['*', '?', '[']);
    let is_glob = is_wild(argument) && found != [argument.to_owned()];
    is_glob.then(|| argument.ancestors().find(|outer| !is_wild(outer)).map(Path::to_owned)).flatten()
}

/// Why what a glob found is no log: the folders below the one that is searched follow the rule of
/// [`walk`].
fn not_of_the_run(tree: &dyn Tree, searched: &Path, path: &Path) -> Option<&'static str> {
    path.ancestors().take_while(|inner| *inner != searched).find_map(|inner| {
        let of_report = inner.ends_with(TABLES) && inner.parent().is_some_and(|outer| is_report(tree, outer));
        match tree.exists(&inner.join(REPLAY)) {
            true => Some(OF_REPLAY),
            false => of_report.then_some(OF_REPORT),
        }
    })
}

fn is_report(tree: &dyn Tree, folder: &Path) -> bool {
    BESIDE_TABLES.iter().any(|name| tree.exists(&folder.join(name)))
}

/// `entered` are the folders on the way and those already walked: links may lead back to them.
fn walk(
    tree: &dyn Tree,
    folder: &Path,
    entered: &mut BTreeSet<PathBuf>,
    files: &mut Vec<PathBuf>,
    skipped: &mut Vec<Skipped>,
) -> Result<()> {
    let given = entered.is_empty();
    if !entered.insert(tree.identity(folder)?) {
        skip(skipped, folder, "a link to a folder that is read already");
        return Ok(());
    }
    if !given && tree.exists(&folder.join(REPLAY)) {
        skip(skipped, folder, OF_REPLAY);
        return Ok(());
    }
    let reported = is_report(tree, folder);
    let mut folders = Vec::new();
    for path in tree.entries(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with(['.', '_']) || name.ends_with(".tmp") {
            continue;
        }
        if tree.is_folder(&path) {
            folders.push(path);
        } else if is_eval(&path) {
            skip(skipped, &path, "evaluation, not training");
        } else if container_of(&path).is_ok() {
            match tree.require_regular(&path) {
                Ok(()) => files.push(path),
                Err(error) => skip(skipped, &path, &error.to_string()),
            }
        } else if is_pickle(&path) {
            skip(skipped, &path, "pickle or torch container");
        }
    }
    folders.sort_by(|a, b| natural_cmp(a, b));
    let marked = folders.iter().any(|f| tree.exists(&f.join(MARKER)));
    let effective = folders.iter().any(|f| f.ends_with("effective"));
    for inner in folders {
        if marked && !tree.exists(&inner.join(MARKER)) {
            skip(skipped, &inner, "not complete yet (no STABLE marker)");
        } else if is_eval(&inner) {
            skip(skipped, &inner, "evaluation, not training");
        } else if reported && inner.ends_with(TABLES) {
            skip(skipped, &inner, OF_REPORT);
        } else if effective && inner.ends_with("all") {
            // prime-rl writes the trained subset beside the whole: both would count tokens twice.
            skip(skipped, &inner, "the trained part is in `effective` beside it");
        } else {
            walk(tree, &inner, entered, files, skipped)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
