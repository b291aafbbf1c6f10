//! The runs that a user named: logs, each read later, and training curves, which are read at once and may be several in
//! one file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::analyze::{are_curves, curve_files};
use stapo_base::error::{Error, Result};
use stapo_compare::names::{self, Names};
use stapo_compare::{ArmInput, CompareSettings, RunInput};
use stapo_curves::{CurveRun, ReadOptions, read_files};
use stapo_ingest::Run;
use stapo_store::is_url;

/// A run.
pub struct Found<'a> {
    /// Its name in the file, where several are in one.
    own_name: Option<String>,
    /// Where it is.
    pub input: &'a RunInput,
    /// Its curves; `None` of a log.
    pub curves: Option<CurveRun>,
}

/// Runs that are compared as one.
pub struct FoundArm<'a> {
    /// Its name; `None` where it is a run of its own.
    name: Option<&'a str>,
    /// Its runs.
    pub runs: Vec<Found<'a>>,
}

/// The runs of all arms; those in one file of curves are each its own arm where the user did not name one.
pub fn found<'a>(arms: &'a [ArmInput], settings: &CompareSettings) -> Result<Vec<FoundArm<'a>>> {
    let options = options(settings)?;
    let mut all = Vec::new();
    for arm in arms {
        let runs = all_of(&arm.runs, &options)?;
        match &arm.name {
            Some(name) => all.push(FoundArm { name: Some(name), runs }),
            None => all.extend(runs.into_iter().map(|run| FoundArm { name: None, runs: vec![run] })),
        }
    }
    Ok(all)
}

/// The seeds of each recipe.
pub fn bank(settings: &CompareSettings) -> Result<Vec<Vec<Found<'_>>>> {
    let options = options(settings)?;
    settings.seeds_like.iter().map(|inputs| all_of(inputs, &options)).collect()
}

fn options(settings: &CompareSettings) -> Result<ReadOptions> {
    Ok(ReadOptions { names: stapo_curves::Names::with_map(&settings.curve_maps)?, ..ReadOptions::default() })
}

fn all_of<'a>(inputs: &'a [RunInput], options: &ReadOptions) -> Result<Vec<Found<'a>>> {
    let mut runs = Vec::new();
    for input in inputs {
        runs.extend(of_input(input, options)?);
    }
    Ok(runs)
}

fn of_input<'a>(input: &'a RunInput, options: &ReadOptions) -> Result<Vec<Found<'a>>> {
    if !are_curves(&input.paths) {
        return Ok(vec![Found { own_name: None, input, curves: None }]);
    }
    let mut read = read_files(&curve_files(&input.paths), options)?;
    let found = |own_name, run| Found { own_name, input, curves: Some(run) };
    match (&input.name, read.runs.len()) {
        (_, 0 | 1) => Ok(vec![found(None, read.run(None)?.clone())]),
        // `NAME=FILE` is the run of that name.
        (Some(name), _) => Ok(vec![found(None, read.run(Some(name))?.clone())]),
        (None, _) => Ok(read.runs.drain(..).map(|run| found(Some(run.name.clone()), run)).collect()),
    }
}

/// A run with its name and that of its arm.
type Named<'f, 'a> = (String, String, &'f Found<'a>);

/// Every run with a name of its own and that of its arm, and which names had to be changed.
pub fn named<'f, 'a>(arms: &'f [FoundArm<'a>]) -> (Vec<Named<'f, 'a>>, Vec<(String, String)>) {
    let mut arm_names = Names::default();
    let mut run_names = Names::default();
    let mut named = Vec::new();
    for arm in arms {
        let wanted = arm.name.map(str::to_owned).or_else(|| arm.runs.first().map(Found::name));
        let arm_name = arm_names.free(&wanted.unwrap_or_default());
        for found in &arm.runs {
            // A run that is its own arm has the arm's name, else they would be told apart twice.
            let name = match &arm.name {
                None => run_names.free(&arm_name),
                Some(_) => run_names.free(&found.name()),
            };
            named.push((name, arm_name.clone(), found));
        }
    }
    (named, arm_names.changed.into_iter().chain(run_names.changed).collect())
}

impl Found<'_> {
    fn name(&self) -> String {
        self.own_name.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| names::of_input(self.input))
    }

    /// The files behind it, each by the one name that all its names have in common; of several runs in one file, as if
    /// each were a file in it.
    pub fn files(&self) -> Result<BTreeSet<PathBuf>> {
        let own = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        match &self.input.paths[..] {
            paths if self.curves.is_some() => {
                let part = self.own_name.as_deref().unwrap_or_default();
                Ok(paths.iter().map(|path| own(path).join(part)).collect())
            }
            [part] if is_part(part) => match is_url(part) || part.exists() {
                true => Ok([own(part)].into()),
                false => Err(Error::NotFound { path: part.clone() }),
            },
            paths => Ok(Run::glance(paths)?.into_iter().map(|(path, _)| own(&path)).collect()),
        }
    }
}

/// Whether it is what an analysis of a part of a run has left.
pub fn is_part(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "part")
}
