//! CSV: a header and rows of any trainer, or an export of Weights & Biases with a column a run and number.

use stapo_base::error::{Error, Result};
use stapo_base::format::counted;

use crate::table::{Cell, Table};

/// What separates the fields: what the header has most of.
fn delimiter(bytes: &[u8]) -> u8 {
    let header =
        bytes.split(|b| matches!(b, b'\n' | b'\r')).find(|line| !line.is_empty()).unwrap_or_default();
    let count = |d: u8| header.iter().filter(|b| **b == d).count();
    [b'\t', b';', b','].into_iter().max_by_key(|d| count(*d)).unwrap_or(b',')
}

/// The run and the number of a header of Weights & Biases: `run - key`.
fn run_and_key(header: &str) -> Option<(&str, &str)> {
    let (run, key) = header.rsplit_once(" - ")?;
    (!run.is_empty() && !key.is_empty()).then_some((run, key))
}

/// Reads the rows of a file into `table`.
pub(crate) fn read(file: &str, bytes: &[u8], table: &mut Table<'_>) -> Result<()> {
    let corrupt = |line: u64, error: &csv::Error| Error::Corrupt {
        path: file.into(),
        place: format!("line {line}"),
        message: error.to_string(),
    };
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter(bytes))
        .has_headers(false)
        .flexible(true)
        .from_reader(bytes);
    let mut record = csv::ByteRecord::new();
    if !reader.read_byte_record(&mut record).map_err(|e| corrupt(1, &e))? {
        return Ok(());
    }
    let header: Vec<String> =
        record.iter().map(|field| String::from_utf8_lossy(field).trim().to_owned()).collect();
    let mut places = Vec::new();
    for (at, name) in header.iter().enumerate() {
        // What W&B drew the band of a curve with.
        let band = name.ends_with("__MIN") || name.ends_with("__MAX");
        let place = match run_and_key(name) {
            _ if band || name.is_empty() => None,
            Some((run, key)) => Some(table.add_column(key, Some(run))?),
            None if header[..at].contains(name) => {
                table.notes.push(format!("column `{name}` stands twice: the first is read"));
                None
            }
            None => Some(table.add_column(name, None)?),
        };
        places.push(place);
    }
    table.reserve(rows_of(bytes));
    let mut longer: Option<(u64, usize)> = None;
    let mut count = 0_u32;
    while reader.read_byte_record(&mut record).map_err(|e| corrupt(reader_line(&reader), &e))? {
        if record.len() > places.len() {
            count += 1;
            longer.get_or_insert((record.position().map_or(0, csv::Position::line), record.len()));
            continue;
        }
        table.start_row()?;
        for (place, field) in places.iter().zip(&record) {
            let field = field.trim_ascii();
            if let (Some(at), false) = (place, field.is_empty()) {
                match std::str::from_utf8(field) {
                    Ok(text) => table.put(*at, Cell::Text(text))?,
                    Err(_) => table.put(*at, Cell::Other)?,
                }
            }
        }
    }
    if let Some((line, fields)) = longer {
        let columns = places.len();
        let rows = counted(u64::from(count), "row", "rows");
        table.notes.push(format!(
            "{rows} left out with more values than the header has columns; the first is line {line} with {fields} for \
             {columns}"
        ));
    }
    Ok(())
}

/// How many rows the file has, by its first hundred kilobytes.
fn rows_of(bytes: &[u8]) -> usize {
    let sample = &bytes[..bytes.len().min(100_000)];
    let lines = memchr::memchr_iter(b'\n', sample).count() + 1;
    bytes.len() / (sample.len() / lines).max(1) + lines
}

fn reader_line(reader: &csv::Reader<&[u8]>) -> u64 {
    reader.position().line()
}
