//! CSV files: with a column `run`, with the run in the names of columns, or of one run.

use std::io::Cursor;
use std::path::Path;

use polars::prelude::{CsvReadOptions, DataFrame, SerReader};

use super::scalars::Scalars;
use stapo_base::error::{Error, Result};
use stapo_base::guard::guarded;

/// Columns of steps, the most telling first.
const STEPS: [&str; 6] = ["step", "train/global_step", "trainer/global_step", "global_step", "Step", "_step"];
/// What Weights & Biases writes between run and metric in the CSV of a chart.
const OF_RUN: &str = " - ";
/// Columns of such a CSV that hold the range of a smoothed value.
const RANGES: [&str; 2] = ["__MIN", "__MAX"];
/// Columns of clocks and counters that are nobody's result.
const CLOCKS: [&str; 2] = ["_runtime", "_timestamp"];

type Texts = Vec<Option<String>>;

/// The rows of a file; `owner` is asked for its run where it names none. `runs` are those of the comparison.
pub fn scalars(
    bytes: Vec<u8>,
    path: &Path,
    runs: &[&str],
    owner: impl FnOnce() -> Result<String>,
) -> Result<Scalars> {
    let corrupt = |message: String| Error::Corrupt { path: path.to_owned(), place: String::new(), message };
    // Everything as text: which value is no number is for us to say, with its row.
    let options = CsvReadOptions::default().with_has_header(true).with_infer_schema_length(Some(0));
    let read = || {
        let read = options.into_reader_with_file_handle(Cursor::new(bytes)).finish();
        read.map_err(|e| corrupt(e.to_string().lines().next().unwrap_or_default().to_owned()))
    };
    let frame = guarded(path, String::new, read)?;
    let table =
        Table { names: frame.get_column_names().iter().map(|n| n.to_string()).collect(), frame, path };
    let step = STEPS.iter().find_map(|step| table.find(step)).ok_or_else(|| table.missing("step"))?;
    let others = || table.names.iter().filter(|name| !STEPS.contains(&name.trim()));
    if let Some(run) = table.find("run") {
        let (runs, steps) = (table.texts(run)?, table.steps(step, false)?);
        let rows = runs
            .into_iter()
            .zip(&steps)
            .map(|(run, (_, step))| (run.map_or_else(String::new, |run| run.trim().to_owned()), *step));
        return table.columns(rows.collect(), &steps, others().filter(|name| *name != run));
    }
    let steps = table.steps(step, true)?;
    if others().all(|name| name.contains(OF_RUN)) && others().next().is_some() {
        return table.chart(&steps, others(), runs);
    }
    let run = owner()?;
    let rows = steps.iter().map(|(_, step)| (run.clone(), *step)).collect();
    table.columns(rows, &steps, others().filter(|name| !CLOCKS.contains(&name.trim())))
}

struct Table<'a> {
    frame: DataFrame,
    names: Vec<String>,
    path: &'a Path,
}

impl Table<'_> {
    fn find(&self, wanted: &str) -> Option<&String> {
        self.names.iter().find(|name| name.trim() == wanted)
    }

    fn missing(&self, wanted: &str) -> Error {
        Error::Usage {
            message: format!(
                "{}: no column `{wanted}` (columns found: {})",
                self.path.display(),
                self.names.join(", ")
            ),
            hint: "--metrics needs a column `step` and numbers, and a column `run` (names as in this comparison) or a run to belong to".into(),
        }
    }

    fn texts(&self, name: &str) -> Result<Texts> {
        let column = self.frame.column(name).map_err(|_| self.missing(name))?;
        let texts = column.str().map_err(|_| self.missing(name))?;
        Ok(texts.iter().map(|text| text.map(str::to_owned)).collect())
    }

    /// Number of the row and step of every row; those without a step are left out where they may be.
    fn steps(&self, name: &str, may_lack: bool) -> Result<Vec<(usize, i64)>> {
        let texts = self.texts(name)?.into_iter().enumerate();
        let stepless = |text: &Option<String>| text.as_ref().is_none_or(|t| t.trim().is_empty());
        let kept = texts.filter(|(_, text)| !(may_lack && stepless(text)));
        kept.map(|(row, text)| {
            let step = whole(text.as_deref()).ok_or_else(|| self.bad_step(name, row, text.as_deref()))?;
            Ok((row, step))
        })
        .collect()
    }

    fn bad_step(&self, column: &str, row: usize, text: Option<&str>) -> Error {
        let shown: String = text.unwrap_or("nothing").chars().take(40).collect();
        Error::BadRow {
            path: self.path.to_owned(),
            row: row as u64,
            column: column.trim().into(),
            message: format!("`{shown}` is no step"),
        }
    }

    /// A column a metric.
    fn columns<'n>(
        &self,
        rows: Vec<(String, i64)>,
        steps: &[(usize, i64)],
        names: impl Iterator<Item = &'n String>,
    ) -> Result<Scalars> {
        let mut found = Scalars { rows, ..Scalars::default() };
        for name in names {
            if let Some(values) = self.numbers(name, steps, &mut found.skipped)? {
                found.columns.push((name.trim().to_owned(), values));
            }
        }
        Ok(found)
    }

    /// A column a run and metric: rows repeat for every run.
    fn chart<'n>(
        &self,
        steps: &[(usize, i64)],
        names: impl Iterator<Item = &'n String>,
        known: &[&str],
    ) -> Result<Scalars> {
        let mut found = Scalars::default();
        let mut runs: Vec<&str> = Vec::new();
        for name in names.filter(|name| !RANGES.iter().any(|range| name.ends_with(range))) {
            let Some((run, metric)) = run_and_metric(name, known) else { continue };
            let Some(values) = self.numbers(name, steps, &mut found.skipped)? else { continue };
            let (run, metric) = (run.trim(), metric.trim());
            let number = runs.iter().position(|known| *known == run).unwrap_or_else(|| {
                runs.push(run);
                found.rows.extend(steps.iter().map(|(_, step)| (run.to_owned(), *step)));
                runs.len() - 1
            });
            let at = found.columns.iter().position(|(known, _)| known == metric).unwrap_or_else(|| {
                found.columns.push((metric.to_owned(), Vec::new()));
                found.columns.len() - 1
            });
            let column = &mut found.columns[at].1;
            column.resize(number * steps.len(), None);
            column.extend(values);
        }
        Ok(found)
    }

    /// The numbers of a column; `None` where it holds something else, which is noted.
    fn numbers(
        &self,
        name: &str,
        steps: &[(usize, i64)],
        skipped: &mut Vec<(String, String, usize)>,
    ) -> Result<Option<Vec<Option<f64>>>> {
        let texts = self.texts(name)?;
        let mut numbers = Vec::with_capacity(steps.len());
        for (row, _) in steps {
            match number(texts[*row].as_deref()) {
                Ok(value) => numbers.push(value),
                Err(text) => {
                    skipped.push((name.trim().to_owned(), text.chars().take(40).collect(), *row));
                    return Ok(None);
                }
            }
        }
        Ok(Some(numbers))
    }
}

/// The two parts of the name of a chart's column. A run may have the mark in its own name, a metric hardly.
fn run_and_metric<'n>(name: &'n str, known: &[&str]) -> Option<(&'n str, &'n str)> {
    let of = |run: &&str| Some((name.get(..run.len())?, name.strip_prefix(*run)?.strip_prefix(OF_RUN)?));
    known.iter().find_map(of).or_else(|| name.rsplit_once(OF_RUN))
}

#[allow(clippy::cast_possible_truncation)]
fn whole(text: Option<&str>) -> Option<i64> {
    let text = text?.trim();
    text.parse().ok().or_else(|| {
        let value: f64 = text.parse().ok()?;
        (value.fract() == 0.0 && value.abs() < 1e15).then_some(value as i64)
    })
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
