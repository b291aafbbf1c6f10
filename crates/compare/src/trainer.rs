//! What trainers logged, beside the runs: drawn and written down, not tested. Whatever `stapo-curves` reads.

use std::collections::BTreeSet;
use std::path::{Component, Path};

use super::result::Series;
use super::settings::TrainerInput;
use stapo_base::error::{Error, Result};
use stapo_curves::{CurveRun, ReadOptions, read_files};
use stapo_levels::StepValue;

/// What trainers logged.
#[derive(Clone, Debug, Default)]
pub struct Trainer {
    /// Of the runs that are compared.
    pub series: Vec<Series>,
    /// Names of runs in the files that are none of these.
    pub unknown: BTreeSet<String>,
    /// The files.
    pub files: Vec<String>,
}

/// Reads all files; `runs` are the names of the runs that are compared. `None` without files.
pub fn read(inputs: &[TrainerInput], runs: &[&str]) -> Result<Option<Trainer>> {
    let mut trainer = Trainer::default();
    for input in inputs {
        if let Some(run) = input.run.as_deref().filter(|run| !runs.contains(run)) {
            return Err(Error::Usage {
                message: format!("--metrics {run}={}: no run here is called {run}", input.path.display()),
                hint: format!("the runs are {}", runs.join(", ")),
            });
        }
        let found = read_files(std::slice::from_ref(&input.path), &ReadOptions::default())?;
        match (&found.runs[..], &input.run) {
            // One run is the one that the user says, whatever name the trainer gave it.
            ([only], Some(run)) => trainer.add(only, run),
            ([only], None) if runs.contains(&only.name.as_str()) => trainer.add(only, &only.name),
            ([only], None) => trainer.add(only, owner(&input.path, runs)?),
            (several, wanted) => {
                let wanted = |run: &&CurveRun| wanted.as_ref().is_none_or(|wanted| run.name == *wanted);
                let named: Vec<&CurveRun> = several.iter().filter(wanted).collect();
                if named.is_empty() {
                    return Err(several_runs(input, several));
                }
                for run in named {
                    match runs.contains(&run.name.as_str()) {
                        true => trainer.add(run, &run.name),
                        false => drop(trainer.unknown.insert(run.name.clone())),
                    }
                }
            }
        }
        trainer.files.push(input.path.display().to_string());
    }
    Ok((!inputs.is_empty()).then_some(trainer))
}

impl Trainer {
    fn add(&mut self, found: &CurveRun, run: &str) {
        let named = found.series.iter().map(|(name, series)| (name.as_str().to_owned(), series));
        let own = found.parts.iter().chain(&found.held_out).map(|series| (series.column.clone(), series));
        for (metric, series) in named.chain(own) {
            let point = |(step, value)| StepValue { step, value, error: None };
            let points = series.at_whole_steps().map(point).collect();
            self.series.push(Series { run: run.into(), metric, points });
        }
    }
}

/// The run that the file or a folder around it is named after.
fn owner<'r>(path: &Path, runs: &[&'r str]) -> Result<&'r str> {
    let folders = path.components().filter_map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    let names: Vec<&str> = folders.chain(path.file_stem().and_then(|stem| stem.to_str())).collect();
    let found: BTreeSet<&str> = runs.iter().copied().filter(|run| names.contains(run)).collect();
    match found.into_iter().collect::<Vec<_>>()[..] {
        [run] => Ok(run),
        _ => Err(Error::Usage {
            message: format!("--metrics {}: it does not say which run it is of", path.display()),
            hint: format!(
                "write --metrics RUN=FILE with one of {}, or give a CSV file with the columns `run` and `step`",
                runs.join(", ")
            ),
        }),
    }
}

fn several_runs(input: &TrainerInput, several: &[CurveRun]) -> Error {
    let names: Vec<&str> = several.iter().take(8).map(|run| run.name.as_str()).collect();
    let wanted = input.run.as_deref().unwrap_or_default();
    Error::Usage {
        message: format!(
            "--metrics {wanted}={}: it holds several runs ({}), and none is called {wanted}",
            input.path.display(),
            names.join(", ")
        ),
        hint: "give a file of one run, or rename the run in the file".into(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn input(folder: &Path, name: &str, text: &str, run: Option<&str>) -> TrainerInput {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        TrainerInput { run: run.map(str::to_owned), path }
    }

    #[test]
    fn files_are_joined_by_the_names_of_runs() {
        let folder = tempfile::tempdir().unwrap();
        let csv = "run,step,reward\na,1,0.5\nb,1,0.6\nc,1,0.7\na,2,0.8\n";
        let all = input(folder.path(), "steps.csv", csv, None);
        let found = read(&[all], &["a", "b"]).unwrap().unwrap();
        let of_a = found.series.iter().find(|series| series.run == "a").unwrap();
        assert_eq!((of_a.metric.as_str(), of_a.points.len()), ("reward", 2));
        assert_eq!(found.unknown.into_iter().collect::<Vec<_>>(), ["c"]);
        // One run is the one that the user says; else a folder says it.
        let own = input(folder.path(), "x.csv", "step,reward\n1,0.5\n2,0.25\n", Some("b"));
        assert_eq!(read(&[own], &["a", "b"]).unwrap().unwrap().series[0].run, "b");
        let own = input(folder.path(), "a/x.csv", "step,reward\n1,0.5\n2,0.25\n", None);
        assert_eq!(read(&[own], &["a", "b"]).unwrap().unwrap().series[0].run, "a");
    }

    #[test]
    fn files_of_no_run_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |name: &str, text: &str, run: Option<&str>| {
            read(&[input(folder.path(), name, text, run)], &["a", "b"]).unwrap_err().to_string()
        };
        let csv = "step,reward\n1,0.5\n2,0.25\n";
        assert!(refused("x.csv", csv, None).contains("which run it is of"));
        assert!(refused("x.csv", csv, Some("c")).contains("no run here is called c"));
        let two = "run,step,reward\nx,1,0.5\nx,2,0.5\ny,1,0.6\ny,2,0.6\n";
        assert!(refused("x.csv", two, Some("a")).contains("several runs (x, y), and none is called a"));
    }
}
