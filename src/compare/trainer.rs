//! Scalars that the trainer logged: a CSV file with columns `run`, `step` and anything numeric.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Cursor, Read};
use std::path::Path;

use polars::prelude::{CsvReadOptions, DataFrame, SerReader};

use crate::error::{Error, Result};
use crate::tables::Columns;

/// Bytes of the file at most.
const LARGEST: u64 = 64 << 20;
/// Columns that are joined at most.
const COLUMNS: usize = 24;

/// What the trainer logged.
#[derive(Clone, Debug, Default)]
pub struct Trainer {
    /// One row a run and step, by both: `run`, `step`, and a column a metric.
    pub frame: DataFrame,
    /// The metrics in the order of the file.
    pub metrics: Vec<String>,
    /// Rows.
    pub rows: usize,
    /// Rows that repeat a run and step; the last of them counts.
    pub repeated: usize,
    /// Columns that are not numeric, with their first such value and its row.
    pub skipped: Vec<(String, String, usize)>,
    /// Columns beyond the limit.
    pub left_out: usize,
}

impl Trainer {
    /// The runs that have any value.
    #[must_use]
    pub fn runs(&self) -> BTreeSet<&str> {
        let names = self.frame.column("run").and_then(|column| column.str());
        names.into_iter().flat_map(|names| names.iter().flatten()).collect()
    }
}

/// Reads the file.
pub fn read(path: &Path) -> Result<Trainer> {
    let file = std::fs::File::open(path).map_err(|e| Error::read(path, e))?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|e| Error::read(path, e))?;
    if bytes.len() as u64 > LARGEST {
        return Err(Error::Usage {
            message: format!("--metrics {}: more than 64 MB", path.display()),
            hint: "give scalars by step, not by token".into(),
        });
    }
    if bytes.is_empty() {
        return Err(Error::Empty { path: path.to_owned() });
    }
    let corrupt = |message: String| Error::Corrupt { path: path.to_owned(), place: String::new(), message };
    // Everything as text: which value is no number is for us to say, with its row.
    let options = CsvReadOptions::default().with_has_header(true).with_infer_schema_length(Some(0));
    let read = || {
        let read = options.into_reader_with_file_handle(Cursor::new(bytes)).finish();
        read.map_err(|e| corrupt(e.to_string().lines().next().unwrap_or_default().to_owned()))
    };
    let frame = crate::ingest::guarded(path, String::new, read)?;
    from_frame(&frame, path)
}

fn from_frame(frame: &DataFrame, path: &Path) -> Result<Trainer> {
    let names: Vec<String> = frame.get_column_names().iter().map(|name| name.to_string()).collect();
    let runs = column(frame, &names, "run", path)?;
    let steps = column(frame, &names, "step", path)?;
    let steps: Vec<i64> = steps
        .iter()
        .enumerate()
        .map(|(row, step)| whole(step.as_deref()).ok_or_else(|| bad_step(path, row, step.as_deref())))
        .collect::<Result<_>>()?;
    let mut trainer = Trainer { rows: runs.len(), ..Trainer::default() };
    let mut rows: BTreeMap<(&str, i64), Vec<Option<f64>>> = BTreeMap::new();
    let numeric = names.iter().filter(|name| !["run", "step"].contains(&name.trim()));
    for name in numeric {
        let values = column(frame, &names, name, path)?;
        let parsed: Vec<Result<Option<f64>, &str>> = values.iter().map(|v| number(v.as_deref())).collect();
        let bad = parsed.iter().enumerate().find_map(|(row, v)| v.as_ref().err().map(|text| (row, *text)));
        if let Some((row, text)) = bad {
            trainer.skipped.push((name.clone(), text.chars().take(40).collect(), row));
            continue;
        }
        if trainer.metrics.len() == COLUMNS {
            trainer.left_out += 1;
            continue;
        }
        for (row, value) in parsed.into_iter().enumerate() {
            if let (Some(run), Ok(Some(value))) = (&runs[row], value) {
                let values = rows.entry((run.trim(), steps[row])).or_default();
                values.resize(trainer.metrics.len() + 1, None);
                values[trainer.metrics.len()] = Some(value);
            }
        }
        trainer.metrics.push(name.clone());
    }
    let mut seen = std::collections::HashSet::new();
    trainer.repeated = runs.iter().zip(&steps).filter(|row| !seen.insert(*row)).count();
    trainer.frame = joinable(rows, &trainer.metrics);
    Ok(trainer)
}

fn joinable(rows: BTreeMap<(&str, i64), Vec<Option<f64>>>, metrics: &[String]) -> DataFrame {
    let rows: Vec<((&str, i64), Vec<Option<f64>>)> = rows.into_iter().collect();
    let mut columns = Columns::of(&rows).text("run", |r| r.0.0).int("step", |r| r.0.1);
    for (i, metric) in metrics.iter().enumerate() {
        columns = columns.float(metric, |r| r.1.get(i).copied().flatten());
    }
    columns.frame()
}

fn column(frame: &DataFrame, names: &[String], wanted: &str, path: &Path) -> Result<Vec<Option<String>>> {
    let found = names.iter().find(|name| name.trim() == wanted.trim());
    let missing = || Error::Usage {
        message: format!("{}: no column `{wanted}` (columns found: {})", path.display(), names.join(", ")),
        hint: "--metrics needs the columns `run` (names as in this comparison), `step`, and numbers".into(),
    };
    let column = frame.column(found.ok_or_else(missing)?).map_err(|_| missing())?;
    let texts = column.str().map_err(|_| missing())?;
    Ok(texts.iter().map(|text| text.map(str::to_owned)).collect())
}

#[allow(clippy::cast_possible_truncation)]
fn whole(text: Option<&str>) -> Option<i64> {
    let text = text?.trim();
    text.parse().ok().or_else(|| {
        let value: f64 = text.parse().ok()?;
        (value.fract() == 0.0 && value.abs() < 1e15).then_some(value as i64)
    })
}

fn bad_step(path: &Path, row: usize, text: Option<&str>) -> Error {
    let shown: String = text.unwrap_or("nothing").chars().take(40).collect();
    Error::BadRow {
        path: path.to_owned(),
        row: row as u64,
        column: "step".into(),
        message: format!("`{shown}` is no step"),
    }
}

/// A number; empty, `nan` and `inf` are none. The text where it is something else.
fn number(text: Option<&str>) -> Result<Option<f64>, &str> {
    let text = text.unwrap_or_default().trim();
    if text.is_empty() || ["na", "null", "none"].contains(&text.to_lowercase().as_str()) {
        return Ok(None);
    }
    match text.parse::<f64>() {
        Ok(value) => Ok(Some(value).filter(|v| v.is_finite())),
        Err(_) => Err(text),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Trainer> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("steps.csv");
        std::fs::write(&path, text).unwrap();
        read(&path)
    }

    #[test]
    fn numbers_are_joined_by_run_and_step() {
        let found =
            parsed("run,step,reward,note,loss\na,0,0.5,x,1\na,1,nan,y,2\nb,0,0.7,z,\na,0,0.6,x,3\n").unwrap();
        assert_eq!(found.metrics, ["reward", "loss"]);
        let column = |name: &str| -> Vec<Option<f64>> {
            found.frame.column(name).unwrap().f64().unwrap().iter().collect()
        };
        let steps: Vec<Option<i64>> = found.frame.column("step").unwrap().i64().unwrap().iter().collect();
        assert_eq!(steps, [Some(0), Some(1), Some(0)], "of a, a and b");
        assert_eq!(column("reward"), [Some(0.6), None, Some(0.7)], "the last of a and 0 counts");
        assert_eq!(column("loss"), [Some(3.0), Some(2.0), None]);
        assert_eq!(found.skipped, [("note".to_owned(), "x".to_owned(), 0)]);
        assert_eq!((found.rows, found.repeated), (4, 1));
    }

    #[test]
    fn bad_files_are_refused_with_their_place() {
        let message = |text: &str| parsed(text).unwrap_err().to_string();
        assert!(message("").contains("empty"));
        assert!(message("step,reward\n1,2\n").contains("no column `run`"));
        assert!(message("run,step,x\na,1,1\na,later,1\n").contains("row 1: column `step`: `later`"));
        assert!(message("run,step,x\na,1,1,7,8\n").contains("steps.csv"));
        assert!(message("run,step,x\na,1.5,1\n").contains("`1.5` is no step"));
    }
}
