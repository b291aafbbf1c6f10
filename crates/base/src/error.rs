//! The one error type of the library. Every variant names the place (file, row, column) and
//! [`Error::hint`] says what to do next.

mod hint;
mod part_fault;

pub use part_fault::PartFault;

use std::io;
use std::path::{Path, PathBuf};

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can stop the program.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An input path or glob that matches nothing.
    #[error("{}: no such file or folder", path.display())]
    NotFound {
        /// The argument as given.
        path: PathBuf,
    },
    /// A folder (or glob) without anything that can be read.
    #[error("{}: no logs found{}", path.display(), if skipped.is_empty() { String::new() } else { format!(" ({skipped})") })]
    NoLogs {
        /// The argument as given.
        path: PathBuf,
        /// What was there but not read.
        skipped: String,
    },
    /// A file of zero bytes, or a log without a single response.
    #[error("{}: the file is empty", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A log that was read to its end and has no token.
    #[error("{}: {}", path.display(), no_tokens(*responses))]
    NoTokens {
        /// The file, the first of several.
        path: PathBuf,
        /// Its responses.
        responses: u64,
    },
    /// A pipe, socket or device given as a log.
    #[error("{}: not a regular file", path.display())]
    NotRegular {
        /// The path.
        path: PathBuf,
    },
    /// A file that is not the one that was opened any more.
    #[error("{}: the file changed while it was read", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A file that is not the one that was planned with any more.
    #[error("{}: the file changed after the plan was made", path.display())]
    ChangedSincePlan {
        /// The file.
        path: PathBuf,
    },
    /// Exact thresholds need another look at the log.
    #[error("{}: the thresholds need another look at the log", path.display())]
    AnotherLook {
        /// What to look for.
        path: PathBuf,
    },
    /// A container that would execute code when opened.
    #[error("{}: pickle and torch containers are not opened (they can run code)", path.display())]
    Pickle {
        /// The file.
        path: PathBuf,
        /// The converter script that fits.
        converter: &'static str,
    },
    /// A file whose ending says nothing this program reads.
    #[error("{}: not a known log format", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// A log of a known framework that holds text and scalars, but no per-token columns.
    #[error("{}: this is a {framework} log of texts: it has no per-token columns (missing: {missing})", path.display())]
    TextOnly {
        /// The file.
        path: PathBuf,
        /// The framework that wrote it.
        framework: &'static str,
        /// The canonical columns that are missing.
        missing: String,
        /// How to log them with this framework.
        how: &'static str,
    },
    /// A file that cannot be decoded.
    #[error("{}{}: {message}", path.display(), place_suffix(place))]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Row group, line or page; empty when the whole file is meant.
        place: String,
        /// What the decoder said.
        message: String,
    },
    /// Something that would take more memory than is allowed.
    #[error("{}{}: {message}", path.display(), place_suffix(place))]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Row group, row or line; empty when the whole file is meant.
        place: String,
        /// What is too large, and how large it is.
        message: String,
    },
    /// Lists of one row that should have equal lengths have not.
    #[error("{}: row {row}: column `{column}` has {found} values, `{other}` has {expected}", path.display())]
    UnequalLengths {
        /// The file.
        path: PathBuf,
        /// Row of the file, from 0.
        row: u64,
        /// The column that does not fit.
        column: String,
        /// Its length.
        found: usize,
        /// The column it was compared with.
        other: String,
        /// The length of that one.
        expected: usize,
    },
    /// A column that has a type the canonical column cannot have.
    #[error("{}: column `{column}` is {found}, expected {expected}", path.display())]
    ColumnType {
        /// The file.
        path: PathBuf,
        /// Column in the file.
        column: String,
        /// The type found.
        found: String,
        /// The types that would do.
        expected: String,
        /// What it was taken for, where that is known.
        canonical: Option<&'static str>,
    },
    /// A column of JSON lines that has no value where the columns are looked for.
    #[error("{}: line {line}: column `{column}` has its first value here, too late to be taken for `{canonical}`", path.display())]
    LateColumn {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// Column in the file.
        column: String,
        /// The column it would be, or the part of the reward.
        canonical: String,
    },
    /// A value that makes its whole row unusable.
    #[error("{}: row {row}: column `{column}`: {message}", path.display())]
    BadRow {
        /// The file.
        path: PathBuf,
        /// Row of the file, from 0.
        row: u64,
        /// Column in the file.
        column: String,
        /// What is wrong.
        message: String,
    },
    /// The same column has different types in two files of one run.
    #[error("column `{column}` is {first_type} in {} but {second_type} in {}", first.display(), second.display())]
    ConflictingTypes {
        /// Column in the files.
        column: String,
        /// A file with the first type.
        first: PathBuf,
        /// The first type.
        first_type: String,
        /// A file with the second type.
        second: PathBuf,
        /// The second type.
        second_type: String,
    },
    /// Files of different runs given as one.
    #[error("{} and {} are not parts of one run: {why}", first.display(), second.display())]
    SeveralRuns {
        /// A file of one run.
        first: PathBuf,
        /// A file of the other.
        second: PathBuf,
        /// What tells.
        why: String,
    },
    /// Rows that stand twice in a file.
    #[error("{}: {}{responses} responses stand there twice: same step, ids and values", path.display(), if *about { "about " } else { "at least " })]
    RowsTwice {
        /// The file.
        path: PathBuf,
        /// How many have a copy.
        responses: u64,
        /// Whether that is estimated from a sample.
        about: bool,
    },
    /// A `--map` that cannot be followed.
    #[error("--map {argument}: {message}")]
    Map {
        /// The argument as given.
        argument: String,
        /// What is wrong with it.
        message: String,
        /// What to do.
        hint: String,
    },
    /// A needed canonical column is in none of the files.
    #[error("{}: no column for `{column}` (columns found: {found})", path.display())]
    MissingColumn {
        /// The file.
        path: PathBuf,
        /// Canonical name.
        column: &'static str,
        /// The columns of the file.
        found: String,
    },
    /// Not a single value of a needed column can be used.
    #[error("column `{column}`: all of its {values} values are missing or bad{}", first_suffix(first))]
    NoValue {
        /// Canonical name.
        column: &'static str,
        /// Values looked at.
        values: u64,
        /// Where the first bad one is.
        first: String,
    },
    /// Reading failed below the decoder.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's word.
        source: io::Error,
    },
    /// A bucket or server that did not give what was asked of it.
    #[error("{}: cannot {asked}: {message}", path.display())]
    Remote {
        /// The address.
        path: PathBuf,
        /// What was asked.
        asked: String,
        /// What came instead.
        message: String,
        /// What to do.
        hint: String,
    },
    /// Writing failed; nothing is left under the final name.
    #[error("{}: cannot write: {message}", path.display())]
    Write {
        /// The file that was to be written.
        path: PathBuf,
        /// The system's word.
        message: String,
    },
    /// A `config.json` of a model that cannot be followed.
    #[error("{}: `{key}`: {message}", path.display())]
    ModelConfig {
        /// The file (or folder).
        path: PathBuf,
        /// The key in it.
        key: String,
        /// What is wrong.
        message: String,
    },
    /// A tensor of a checkpoint that is missing, not expected, or not as the configuration says.
    #[error("{}: tensor `{tensor}`: {message}", path.display())]
    ModelTensor {
        /// The file (or folder).
        path: PathBuf,
        /// Name of the tensor.
        tensor: String,
        /// What is wrong.
        message: String,
    },
    /// A defect of this program: what was computed before it is not to be trusted.
    #[error("internal error: {message}")]
    Internal {
        /// What the failing code said.
        message: String,
    },
    /// A part that cannot be used.
    #[error("{}: {fault}", path.display())]
    Part {
        /// The file, or the folder where one is missing.
        path: PathBuf,
        /// Why.
        fault: PartFault,
    },
    /// Arguments that do not go together or are out of range.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// What to do.
        hint: String,
    },
}

fn no_tokens(responses: u64) -> String {
    match responses {
        0 => "the log has no rows".into(),
        1 => "the log has one response, and it is empty".into(),
        all => format!("all {all} responses are empty"),
    }
}

fn place_suffix(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!(": {place}") }
}

fn first_suffix(first: &str) -> String {
    if first.is_empty() { String::new() } else { format!("; the first: {first}") }
}

impl Error {
    /// A read error of `path`.
    pub fn read(path: &Path, source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::NotFound {
            return Self::NotFound { path: path.to_owned() };
        }
        Self::Read { path: path.to_owned(), source }
    }

    /// A write error of `path`.
    pub fn write(path: &Path, source: impl std::fmt::Display) -> Self {
        Self::Write { path: path.to_owned(), message: source.to_string() }
    }

    /// The same error, of `file` where it names none.
    pub fn in_file(self, file: &str) -> Self {
        match self {
            Self::TooLarge { path, place, message } if path.as_os_str().is_empty() => {
                Self::TooLarge { path: file.into(), place, message }
            }
            other => other,
        }
    }
}
