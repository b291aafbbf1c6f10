//! JSON: rows of scalars wherever they stand in a document (`trainer_state.json`, an array of rows, an object of
//! columns, either below other keys), or a row a line. A document is surveyed first, then what is a run is read.

mod fill;
mod plan;
mod survey;
mod visit;

use std::borrow::Cow;

use serde::de::{DeserializeSeed, IgnoredAny};
use stapo_base::error::Error;
use stapo_base::format::counted;
use stapo_base::non_finite;

use self::fill::Fill;
use self::survey::{Survey, Value};
use self::visit::{Any, Row, Taker};
use crate::names::Names;
use crate::table::Table;

/// Why a text gave no rows.
pub(crate) enum Fault {
    /// It is no JSON.
    Syntax(serde_json::Error),
    /// The table refused.
    Refused(Error),
}

/// Reads a whole text for a taker.
fn parse<'de>(json: &'de [u8], taker: impl Taker<'de>) -> Result<(), serde_json::Error> {
    let mut parser = serde_json::Deserializer::from_slice(json);
    Any(taker).deserialize(&mut parser).and_then(|()| parser.end())
}

/// A whole file that is one value. Of one that breaks off the whole rows are read.
pub(crate) fn document<'n>(json: &[u8], names: &'n Names, mut table: Table<'n>) -> Result<Table<'n>, Fault> {
    let mut text = Cow::Borrowed(json);
    let mut survey = Survey::new(names);
    let mut result = parse(&text, Value::new(&mut survey));
    if result.is_err()
        && let Cow::Owned(other) = non_finite::to_text(json)
    {
        text = Cow::Owned(other);
        survey = Survey::new(names);
        result = parse(&text, Value::new(&mut survey));
    }
    let cut = match result {
        Err(error) if error.is_eof() => Some(error),
        Err(error) => return Err(Fault::Syntax(error)),
        Ok(()) => None,
    };
    let plan = plan::plan(&survey, names);
    if plan.actions.is_empty() && cut.is_none() {
        // The object itself may be a row.
        let mut finite = false;
        let _ = row(&text, &mut table, &mut finite).map_err(Fault::Refused)?;
        return Ok(table);
    }
    let mut fill = Fill::new(&mut table, &plan);
    let result = parse(&text, &mut fill);
    let (of_responses, refused) = (fill.of_responses, fill.refused.take());
    match (result, refused, cut) {
        (Err(_), Some(error), _) => return Err(Fault::Refused(error)),
        (Err(error), None, None) => return Err(Fault::Syntax(error)),
        (_, _, Some(error)) if table.rows == 0 => return Err(Fault::Syntax(error)),
        (_, _, Some(error)) => {
            table.notes.push(format!("the file breaks off, its whole rows were read: {error}"));
        }
        (Ok(()), ..) => {}
    }
    table.notes.extend(plan.notes);
    tell_responses(of_responses, &mut table);
    Ok(table)
}

/// Whether a file that begins like this holds curves: rows of scalars, or lists that are columns; not responses, and
/// not tokens.
pub(crate) fn holds_curves(head: &[u8]) -> bool {
    let names = Names::default();
    let mut survey = Survey::new(&names);
    let head = non_finite::to_text(head);
    let mut parser = serde_json::Deserializer::from_slice(&head);
    let mut values = 0;
    // The head breaks off somewhere: what was seen until there counts.
    while Any(Value::new(&mut survey)).deserialize(&mut parser).is_ok() {
        values += 1;
    }
    let list = survey.places.iter().find(|place| place.of_rows && place.path.is_empty());
    let rows = list.map_or(&survey.top, |place| &place.rows);
    let is_run = || plan::holds_a_run(&survey, &names);
    match rows.responses {
        responses if responses > 0 && responses >= rows.scalars => false,
        _ if list.is_some() || values > 1 => rows.scalars > 0,
        _ => values == 1 && rows.scalars > 0 || is_run(),
    }
}

/// Whether a text may be an object: Python prints dicts with other quotes.
pub(crate) fn begins_object(text: &[u8]) -> bool {
    let inside = text.strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    inside.is_some_and(|inside| matches!(inside.first(), Some(b'"' | b'}')))
}

/// Whether a line is an object.
pub(crate) fn is_object(line: &[u8]) -> bool {
    begins_object(line) && serde_json::from_slice::<IgnoredAny>(&non_finite::to_text(line)).is_ok()
}

fn tell_responses(rows: u32, table: &mut Table<'_>) {
    if rows > 0 && table.rows > 0 {
        let rows = counted(u64::from(rows), "row", "rows");
        table.notes.push(format!("{rows} of responses left out"));
    }
}

/// What a line is.
#[derive(Clone, Copy, PartialEq)]
enum Line {
    Row,
    OfResponses,
    Broken,
}

/// A row a line; lines that are no objects are counted. The number of rows.
pub(crate) fn lines(json: &[u8], table: &mut Table<'_>) -> Result<u32, Error> {
    let (mut broken, mut of_responses, mut first, mut finite) = (0_u32, 0, 0, true);
    let before = table.rows;
    let mut start = 0;
    let mut number = 0_u64;
    while start < json.len() {
        let end = memchr::memchr(b'\n', &json[start..]).map_or(json.len(), |at| start + at);
        let line = json[start..end].trim_ascii();
        (start, number) = (end + 1, number + 1);
        if line.is_empty() {
            continue;
        }
        match if begins_object(line) { row(line, table, &mut finite)? } else { Line::Broken } {
            Line::Row => {}
            Line::OfResponses => of_responses += 1,
            Line::Broken => {
                broken += 1;
                first = if first == 0 { number } else { first };
            }
        }
    }
    if broken > 0 && table.rows > before {
        let lines = counted(u64::from(broken), "line", "lines");
        table.notes.push(format!("{lines} left out that are no JSON objects; the first is line {first}"));
    }
    tell_responses(of_responses, table);
    Ok(table.rows - before)
}

/// One object.
fn row(line: &[u8], table: &mut Table<'_>, finite: &mut bool) -> Result<Line, Error> {
    let is_read = |line: &[u8], table: &mut Table<'_>| {
        table.start_row()?;
        let mut row = Row::new(table);
        let result = parse(line, &mut row);
        let (of_responses, refused) = (row.of_responses, row.refused.take());
        match (result, refused) {
            (Ok(()), _) if !of_responses => return Ok(Line::Row),
            (Err(_), Some(error)) => return Err(error),
            _ => table.drop_row(),
        }
        Ok(if of_responses { Line::OfResponses } else { Line::Broken })
    };
    // Once a line has had a NaN, the others are looked through first.
    if *finite {
        let line = is_read(line, table)?;
        if line != Line::Broken {
            return Ok(line);
        }
    }
    match non_finite::to_text(line) {
        Cow::Owned(line) => {
            *finite = false;
            is_read(&line, table)
        }
        Cow::Borrowed(_) if *finite => Ok(Line::Broken),
        Cow::Borrowed(line) => is_read(line, table),
    }
}
