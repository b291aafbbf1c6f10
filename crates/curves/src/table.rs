//! Rows and columns of a file, as they stand there: of each column that the table of names knows its numbers, of the
//! others the names.

use std::collections::HashMap;

use stapo_base::error::{Error, Result};
use stapo_base::format::{bytes, grouped};

use crate::categories::Category;
use crate::names::{CanonicalName, Names};
use crate::number::number;

/// Columns of a file at most.
const COLUMNS: usize = 20_000;
/// Runs of a file at most.
const RUNS: usize = 1_000;
/// Names that are told at most.
const UNKNOWN: usize = 200;

/// A column of a file.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// Its name in the file, without the run's.
    pub name: String,
    /// The run that it belongs to, where the header says one (`run - key`).
    pub run: Option<usize>,
    /// What it holds, and the rank of this name.
    pub role: Option<(CanonicalName, usize)>,
    /// Whether its texts say which run a row is of.
    names_run: bool,
    /// Row and value, by row; not finite where the file has something that is no finite number.
    pub cells: Vec<(u32, f64)>,
    /// How many texts are no numbers; the first with its row.
    pub texts: (u32, Option<(u32, String)>),
    /// Whether any value of an unknown column was a number.
    numeric: bool,
    /// Its texts, where it is none of the known numbers.
    pub category: Category,
}

/// What a file gives for a row and column.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cell<'a> {
    /// A number.
    Number(f64),
    /// A text, which may be a number.
    Text(&'a str),
    /// Anything else that is there.
    Other,
}

/// Rows of a file.
#[derive(Clone, Debug)]
pub(crate) struct Table<'n> {
    names: &'n Names,
    /// Where the file lies, for messages.
    file: String,
    pub columns: Vec<Column>,
    places: HashMap<String, usize>,
    /// Columns of the row before stand in the same order: where the next one is looked for first.
    expected: usize,
    pub rows: u32,
    /// How many cells of each row are filled.
    pub filled: Vec<u32>,
    /// Whether the filled cells of the last row are the first ones.
    pub last_is_prefix: bool,
    last_column: usize,
    /// Columns that the current row has put something into.
    touched: Vec<usize>,
    /// Names of runs, from headers or from a column `run`.
    pub runs: Vec<String>,
    /// The run of each row, where a column says it.
    pub run_of_row: Vec<Option<usize>>,
    /// What was left out, and why.
    pub notes: Vec<String>,
    cells: usize,
    cells_allowed: usize,
}

impl<'n> Table<'n> {
    /// An empty table that takes so many bytes at most.
    pub fn new(file: &str, names: &'n Names, memory: u64) -> Self {
        Self {
            names,
            file: file.to_owned(),
            columns: Vec::new(),
            places: HashMap::new(),
            expected: 0,
            rows: 0,
            filled: Vec::new(),
            last_is_prefix: false,
            last_column: 0,
            touched: Vec::new(),
            runs: Vec::new(),
            run_of_row: Vec::new(),
            notes: Vec::new(),
            cells: 0,
            cells_allowed: usize::try_from(memory / 24).unwrap_or(usize::MAX),
        }
    }

    /// The table of names.
    pub fn names(&self) -> &'n Names {
        self.names
    }

    fn too_large(&self, message: String) -> Error {
        let place = format!("row {}", self.rows);
        Error::TooLarge { path: self.file.clone().into(), place, message }
    }

    fn count_cell(&mut self) -> Result<()> {
        self.cells += 1;
        if self.cells > self.cells_allowed {
            let allowed = bytes(24 * self.cells_allowed as u64);
            return Err(self.too_large(format!("curves of more than {allowed}")));
        }
        Ok(())
    }

    /// Begins a row.
    pub fn start_row(&mut self) -> Result<()> {
        self.count_cell()?;
        self.rows =
            self.rows.checked_add(1).ok_or_else(|| self.too_large("more than 4 billion rows".into()))?;
        self.filled.push(0);
        self.touched.clear();
        (self.expected, self.last_column, self.last_is_prefix) = (0, 0, true);
        Ok(())
    }

    /// Adds a column of a run.
    pub fn add_column(&mut self, name: &str, run: Option<&str>) -> Result<usize> {
        if self.columns.len() == COLUMNS {
            return Err(self.too_large(format!("more than {} columns", grouped(COLUMNS as u64))));
        }
        let run = run.map(|run| self.run(run)).transpose()?;
        let column = Column {
            name: name.to_owned(),
            names_run: matches!(name, "run" | "run_name"),
            run,
            role: self.names.of(name),
            cells: Vec::new(),
            texts: (0, None),
            numeric: false,
            category: Category::default(),
        };
        self.columns.push(column);
        Ok(self.columns.len() - 1)
    }

    /// Makes room for so many rows of values.
    pub fn reserve(&mut self, rows: usize) {
        let kept = self.columns.iter().filter(|column| column.is_kept()).count();
        let most = self.cells_allowed / kept.max(1);
        for column in self.columns.iter_mut().filter(|column| column.is_kept()) {
            column.cells.reserve_exact(rows.min(most));
        }
    }

    /// The number of the run of this name.
    fn run(&mut self, name: &str) -> Result<usize> {
        if let Some(at) = self.runs.iter().position(|known| known == name) {
            return Ok(at);
        }
        if self.runs.len() == RUNS {
            return Err(self.too_large(format!("more than {} runs", grouped(RUNS as u64))));
        }
        self.runs.push(name.chars().take(200).collect());
        Ok(self.runs.len() - 1)
    }

    /// Says which run a row is of.
    pub fn set_run(&mut self, row: usize, name: &str) -> Result<()> {
        let run = self.run(name)?;
        if self.run_of_row.len() <= row {
            self.run_of_row.resize(row + 1, None);
        }
        self.run_of_row[row] = Some(run);
        Ok(())
    }

    /// The column of this name, a new one where there is none.
    pub fn column(&mut self, name: &str) -> Result<usize> {
        if self.columns.get(self.expected).is_some_and(|column| column.name == name) {
            self.expected += 1;
            return Ok(self.expected - 1);
        }
        let at = match self.places.get(name) {
            Some(at) => *at,
            None => {
                let at = self.add_column(name, None)?;
                self.places.insert(name.to_owned(), at);
                at
            }
        };
        self.expected = at + 1;
        Ok(at)
    }

    /// Puts a value into the current row.
    pub fn put(&mut self, at: usize, cell: Cell<'_>) -> Result<()> {
        let Some(row) = self.rows.checked_sub(1) else { return Ok(()) };
        if let Some(filled) = self.filled.last_mut() {
            *filled += 1;
            self.last_column = self.last_column.max(at);
            self.last_is_prefix = self.last_column + 1 == *filled as usize;
        }
        self.touched.push(at);
        self.put_at(at, row, cell)
    }

    /// A value of the current row, by the name of its column.
    pub fn put_named(&mut self, name: &str, cell: Cell<'_>) -> Result<()> {
        let at = self.column(name)?;
        self.put(at, cell)
    }

    /// Takes the current row back: it broke off.
    pub fn drop_row(&mut self) {
        let Some(row) = self.rows.checked_sub(1) else { return };
        for at in std::mem::take(&mut self.touched) {
            if let Some(column) = self.columns.get_mut(at) {
                column.cells.pop_if(|cell| cell.0 == row);
                column.category.drop_row(row);
            }
        }
        self.run_of_row.truncate(row as usize);
        self.filled.pop();
        self.rows = row;
    }

    /// Puts a value into a row.
    pub fn put_at(&mut self, at: usize, row: u32, cell: Cell<'_>) -> Result<()> {
        let Some(column) = self.columns.get_mut(at) else { return Ok(()) };
        if let Cell::Text(text) = cell
            && column.names_run
        {
            return self.set_run(row as usize, text);
        }
        let kept = column.is_kept();
        if let Cell::Text(text) = cell
            && column.role.is_none()
            && !column.numeric
            && !text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
        {
            if column.category.add(row, text) {
                self.count_cell()?;
            }
            return Ok(());
        }
        let value = match cell {
            Cell::Number(value) => value,
            Cell::Text(_) | Cell::Other if !kept && column.numeric => return Ok(()),
            Cell::Text(text) if column.role.is_some_and(|role| role.0 == CanonicalName::Step) => {
                // `2/4389`: the step and how many there will be.
                number(text.split_once('/').map_or(text, |(step, _)| step))
            }
            Cell::Text(text) => number(text),
            Cell::Other => return Ok(()),
        };
        if !kept {
            column.numeric |= column.role.is_none() && value.is_finite();
            return Ok(());
        }
        if let Cell::Text(text) = cell
            && value.is_nan()
            && !text.trim().eq_ignore_ascii_case("nan")
        {
            column.texts.0 += 1;
            column.texts.1.get_or_insert_with(|| (row, text.chars().take(20).collect()));
        }
        match column.cells.last_mut() {
            Some(last) if last.0 == row => last.1 = value,
            _ => {
                column.cells.push((row, value));
                self.count_cell()?;
            }
        }
        Ok(())
    }

    /// Columns with numbers that nobody knows.
    pub fn unknown(&self) -> Vec<String> {
        let names = self.columns.iter().filter(|c| c.role.is_none() && c.numeric).map(|c| c.name.clone());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names.dedup();
        names.truncate(UNKNOWN);
        names
    }

    /// Whether any column can be judged.
    pub fn has_curves(&self) -> bool {
        self.columns.iter().any(Column::is_curve)
    }
}

impl Column {
    /// Whether its values are of any use.
    fn is_kept(&self) -> bool {
        !matches!(self.role, None | Some((CanonicalName::Ignored, _)))
    }

    /// Whether it is a number of the training, not its clock.
    pub fn is_curve(&self) -> bool {
        !self.cells.is_empty() && self.role.is_some_and(|(name, _)| name.is_curve())
    }

    /// Finite values.
    pub fn finite(&self) -> usize {
        self.cells.iter().filter(|cell| cell.1.is_finite()).count()
    }
}
