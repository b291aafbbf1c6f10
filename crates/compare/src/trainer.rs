//! Scalars that the trainer logged: CSV files with the columns `run`, `step` and anything numeric,
//! exports of Weights & Biases, and `trainer_state.json` of transformers.

mod scalars;
mod state;
mod table;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::Read;
use std::path::{Component, Path};

use self::scalars::Scalars;
use super::settings::TrainerInput;
use stapo_base::error::{Error, Result};
use stapo_base::tables::{Columns, DataFrame};

/// Bytes of a file at most.
const LARGEST: u64 = 64 << 20;
/// Metrics that are joined at most.
const METRICS: usize = 24;

/// What the trainer logged.
#[derive(Clone, Debug, Default)]
pub struct Trainer {
    /// One row a run and step, by both: `run`, `step`, and a column a metric.
    pub frame: DataFrame,
    /// The metrics in the order of the files.
    pub metrics: Vec<String>,
    /// Rows.
    pub rows: usize,
    /// Rows that repeat a run and step; the last of them counts.
    pub repeated: usize,
    /// Columns that are not numeric, with their first such value and its row.
    pub skipped: Vec<(String, String, usize)>,
    /// Columns without any number.
    pub empty: BTreeSet<String>,
    /// Metrics beyond the limit.
    pub left_out: Vec<String>,
    /// The files.
    pub files: Vec<String>,
}

impl Trainer {
    /// The runs that have any value.
    #[must_use]
    pub fn runs(&self) -> BTreeSet<&str> {
        let names = self.frame.column("run").and_then(|column| column.str());
        names.into_iter().flat_map(|names| names.iter().flatten()).collect()
    }
}

/// Values by run and step, then by metric.
type Values = BTreeMap<(String, i64), BTreeMap<String, f64>>;

/// Fails where the user names a run that is not compared.
fn require_known(input: &TrainerInput, runs: &[&str]) -> Result<()> {
    match &input.run {
        Some(run) if !runs.contains(&run.as_str()) => Err(Error::Usage {
            message: format!("--metrics {run}={}: no run here is called {run}", input.path.display()),
            hint: format!("the runs are {}", runs.join(", ")),
        }),
        _ => Ok(()),
    }
}

/// Reads all files; `runs` are the names of the runs that are compared. `None` without files.
pub fn read(inputs: &[TrainerInput], runs: &[&str]) -> Result<Option<Trainer>> {
    let mut trainer = Trainer::default();
    let mut values = Values::new();
    for input in inputs {
        require_known(input, runs)?;
        let bytes = contents(&input.path)?;
        let owner = || owner(input, runs);
        let scalars = if bytes.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'{') {
            state::scalars(&bytes, &input.path, &owner()?)?
        } else {
            table::scalars(bytes, &input.path, runs, owner)?
        };
        let scalars = match &input.run {
            Some(run) => scalars.of_run(run, &input.path)?,
            None => scalars,
        };
        trainer.add(scalars, &mut values);
        trainer.files.push(input.path.display().to_string());
    }
    trainer.empty.retain(|name| !trainer.metrics.contains(name));
    let rows: Vec<_> = values.iter().collect();
    let mut columns = Columns::of(&rows).text("run", |r| r.0.0.as_str()).int("step", |r| r.0.1);
    for name in &trainer.metrics {
        columns = columns.float(name, |r| r.1.get(name).copied());
    }
    trainer.frame = columns.frame();
    Ok((!inputs.is_empty()).then_some(trainer))
}

fn contents(path: &Path) -> Result<Vec<u8>> {
    let file = std::fs::File::open(path).map_err(|e| Error::read(path, e))?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|e| Error::read(path, e))?;
    if bytes.len() as u64 > LARGEST {
        return Err(Error::Usage {
            message: format!("--metrics {}: more than 64 MB", path.display()),
            hint: "give scalars by step, not by token".into(),
        });
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(Error::Empty { path: path.to_owned() });
    }
    Ok(bytes)
}

/// The run that a file without names of runs belongs to: as the user says, else the one that the
/// file or a folder around it is named after.
fn owner(input: &TrainerInput, runs: &[&str]) -> Result<String> {
    let path = &input.path;
    if let Some(run) = &input.run {
        return Ok(run.clone());
    }
    let folders = path.components().filter_map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    let names: Vec<&str> = folders.chain(path.file_stem().and_then(|stem| stem.to_str())).collect();
    let found: HashSet<&str> = runs.iter().copied().filter(|run| names.contains(run)).collect();
    match found.into_iter().collect::<Vec<_>>()[..] {
        [run] => Ok(run.to_owned()),
        _ => Err(Error::Usage {
            message: format!("--metrics {}: it does not say which run it is of", path.display()),
            hint: format!(
                "write --metrics RUN=FILE with one of {}, or give a CSV file with the columns `run` and `step`",
                runs.join(", ")
            ),
        }),
    }
}

impl Trainer {
    fn add(&mut self, scalars: Scalars, values: &mut Values) {
        self.rows += scalars.rows.len();
        for skipped in scalars.skipped {
            if !self.skipped.iter().any(|(name, ..)| *name == skipped.0) {
                self.skipped.push(skipped);
            }
        }
        let mut repeated = HashSet::new();
        for (name, column) in scalars.columns {
            if column.iter().all(Option::is_none) {
                self.empty.insert(name);
                continue;
            }
            if !self.metrics.contains(&name) {
                if self.metrics.len() == METRICS {
                    if !self.left_out.contains(&name) {
                        self.left_out.push(name);
                    }
                    continue;
                }
                self.metrics.push(name.clone());
            }
            for (number, (place, value)) in scalars.rows.iter().zip(column).enumerate() {
                if let Some(value) = value
                    && values.entry(place.clone()).or_default().insert(name.clone(), value).is_some()
                {
                    repeated.insert(number);
                }
            }
        }
        self.repeated += repeated.len();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn parsed(name: &str, text: &str, runs: &[&str]) -> Result<Trainer> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        read(&[TrainerInput { run: None, path }], runs).map(Option::unwrap)
    }

    /// Steps and values of a metric of a run.
    fn values(trainer: &Trainer, metric: &str, run: &str) -> Vec<(i64, f64)> {
        let column = |name: &str| trainer.frame.column(name).unwrap().clone();
        let (runs, steps, numbers) = (column("run"), column("step"), column(metric));
        let rows =
            runs.str().unwrap().iter().zip(steps.i64().unwrap().iter()).zip(numbers.f64().unwrap().iter());
        rows.filter(|((name, _), _)| *name == Some(run))
            .filter_map(|((_, step), value)| Some((step?, value?)))
            .collect()
    }

    #[test]
    fn numbers_are_joined_by_run_and_step() {
        let text = "run,step,reward,note,loss\na,0,0.5,x,1\na,1,nan,y,2\nb,0,0.7,z,\na,0,0.6,x,3\n";
        let found = parsed("steps.csv", text, &["a", "b"]).unwrap();
        assert_eq!(found.metrics, ["reward", "loss"]);
        assert_eq!(values(&found, "reward", "a"), [(0, 0.6)]);
        assert_eq!(values(&found, "loss", "a"), [(0, 3.0), (1, 2.0)]);
        assert_eq!(found.skipped, [("note".to_owned(), "x".to_owned(), 0)]);
        assert_eq!((found.rows, found.repeated), (4, 1));
    }

    #[test]
    fn exports_without_names_of_runs_belong_to_the_run_they_are_named_after() {
        let history = "_step,train/global_step,train/reward,_runtime\n0,1,0.5,3\n1,,,4\n2,2,0.6,5\n";
        for name in ["grpo.csv", "grpo/history.csv"] {
            let found = parsed(name, history, &["grpo", "stapo"]).unwrap();
            assert_eq!(values(&found, "train/reward", "grpo"), [(1, 0.5), (2, 0.6)], "{name}");
            assert_eq!(found.rows, 2);
        }
        let refused = parsed("history.csv", history, &["grpo", "stapo"]).unwrap_err();
        assert!(format!("{refused}").contains("does not say which run"), "{refused}");
    }

    #[test]
    fn charts_of_weights_and_biases_name_their_runs() {
        let text = "\"Step\",\"grpo - train/kl\",\"grpo - train/kl__MIN\",\"grpo - train/kl__MAX\",\"stapo - train/kl\"\n\
                    10,0.1,0.1,0.1,0.2\n20,0.3,0.3,0.3,\n";
        let found = parsed("chart.csv", text, &["grpo", "stapo"]).unwrap();
        assert_eq!(found.metrics, ["train/kl"]);
        assert_eq!(values(&found, "train/kl", "grpo"), [(10, 0.1), (20, 0.3)]);
        assert_eq!(values(&found, "train/kl", "stapo"), [(10, 0.2)]);
    }

    #[test]
    fn the_state_of_transformers_is_read() {
        let text = r#"{"best_metric": null, "global_step": 2, "log_history": [
            {"epoch": 0.1, "step": 1, "loss": 0.5, "reward": 0.25, "kl": NaN},
            {"epoch": 0.2, "step": 2, "loss": 0.4, "note": "x"},
            {"epoch": 0.2, "step": 2, "eval_reward": 0.75}]}"#;
        let found = parsed("stapo/trainer_state.json", text, &["grpo", "stapo"]).unwrap();
        assert_eq!(values(&found, "loss", "stapo"), [(1, 0.5), (2, 0.4)]);
        assert_eq!(values(&found, "eval_reward", "stapo"), [(2, 0.75)]);
        assert_eq!((found.rows, found.repeated), (3, 0));
        assert!(!found.metrics.contains(&"epoch".to_owned()));
        let refused = parsed("stapo/config.json", "{\"a\": 1}", &["stapo"]).unwrap_err();
        assert!(format!("{refused}").contains("log_history"), "{refused}");
    }

    #[test]
    fn what_is_left_out_is_named_once() {
        let folder = tempfile::tempdir().unwrap();
        let inputs = ["a", "b"].map(|run| {
            let path = folder.path().join(format!("{run}.csv"));
            std::fs::write(&path, "_step,kl,note,bad\n0,0.1,x,nan\n1,0.2,y,\n").unwrap();
            TrainerInput { run: Some(run.into()), path }
        });
        let found = read(&inputs, &["a", "b"]).unwrap().unwrap();
        assert_eq!(found.metrics, ["kl"]);
        assert_eq!(found.skipped, [("note".to_owned(), "x".to_owned(), 0)]);
        assert_eq!(found.empty.into_iter().collect::<Vec<_>>(), ["bad"]);
        let refused = read(&inputs, &["a", "c"]).unwrap_err().to_string();
        assert!(refused.contains("no run here is called b"), "{refused}");
    }

    #[test]
    fn metrics_beyond_the_limit_are_named() {
        let names: Vec<String> = (0..30).map(|i| format!("m{i}")).collect();
        let text = format!("run,step,{}\na,0{}\n", names.join(","), ",1".repeat(30));
        let found = parsed("steps.csv", &text, &["a"]).unwrap();
        assert_eq!(
            (found.metrics.len(), &found.left_out[..2]),
            (24, &["m24".to_owned(), "m25".to_owned()][..])
        );
    }

    #[test]
    fn bad_files_are_refused_with_their_place() {
        let message = |text: &str| parsed("steps.csv", text, &["a", "b"]).unwrap_err().to_string();
        assert!(message("").contains("empty"));
        assert!(message("reward,loss\n1,2\n").contains("no column `step`"));
        assert!(message("run,step,x\na,1,1\na,later,1\n").contains("row 1: column `step`: `later`"));
        assert!(message("run,step,x\na,1,1,7,8\n").contains("steps.csv"));
        assert!(message("run,step,x\na,1.5,1\n").contains("`1.5` is no step"));
    }
}
