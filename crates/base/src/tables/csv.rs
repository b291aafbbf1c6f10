//! A frame as CSV that a spreadsheet may open.
//!
//! Not polars' writer: texts of a log must not become formulas, and numbers are written as Rust
//! shows them. Truth values are 1 and 0.

use std::fmt::{Display, Write as _};

use polars::prelude::{Column, DataFrame, DataType, PolarsResult};

/// The frame as CSV, texts as `shown`; values that are missing or not finite are empty.
#[must_use]
pub fn to_csv(frame: &DataFrame, shown: impl Fn(&str) -> String) -> String {
    let names: Vec<&str> = frame.get_column_names().iter().map(|name| name.as_str()).collect();
    let mut out = names.join(",") + "\n";
    // A value of any type, asked for one at a time, costs more than its digits.
    let mut columns: Vec<Cells<'_>> =
        frame.columns().iter().map(|column| cells(column, &shown).unwrap_or_else(|_| none())).collect();
    for _ in 0..frame.height() {
        for (index, column) in columns.iter_mut().enumerate() {
            if index > 0 {
                out.push(',');
            }
            column(&mut out);
        }
        out.push('\n');
    }
    out
}

/// Writes the next value of a column.
type Cells<'a> = Box<dyn FnMut(&mut String) + 'a>;

fn none() -> Cells<'static> {
    Box::new(|_| {})
}

fn cells<'a>(column: &'a Column, shown: &'a impl Fn(&str) -> String) -> PolarsResult<Cells<'a>> {
    Ok(match column.dtype() {
        DataType::Int64 => values(column.i64()?.iter()),
        DataType::UInt64 => values(column.u64()?.iter()),
        DataType::Float64 => values(column.f64()?.iter().map(|value| value.filter(|v| v.is_finite()))),
        DataType::Float32 => values(column.f32()?.iter().map(|value| value.filter(|v| v.is_finite()))),
        DataType::Boolean => values(column.bool()?.iter().map(|value| value.map(u8::from))),
        DataType::String => {
            let texts = column.str()?.iter().map(|text| text.filter(|text| !text.is_empty()));
            values(texts.map(|text| text.map(|text| quoted(&shown(text)))))
        }
        _ => none(),
    })
}

fn values<'a, T: Display>(mut values: impl Iterator<Item = Option<T>> + 'a) -> Cells<'a> {
    Box::new(move |out| {
        if let Some(Some(value)) = values.next() {
            let _ = write!(out, "{value}");
        }
    })
}

/// Quoted where needed; an apostrophe before what a spreadsheet would take for a formula.
fn quoted(shown: &str) -> String {
    let guard = if shown.starts_with(['=', '+', '-', '@', '|', '%']) { "'" } else { "" };
    if guard.is_empty() && !shown.contains([',', '"', '\'', ';']) {
        return shown.to_owned();
    }
    format!("\"{guard}{}\"", shown.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Columns;

    #[test]
    fn formulas_and_separators_are_disarmed() {
        let rows = [("=cmd|' /C calc'!A0", Some(3_u64), 0.5), ("a,\"b\"\n", None, f64::NAN)];
        let frame =
            Columns::of(&rows).text("token", |r| r.0).count("n", |r| r.1).float("share", |r| r.2).frame();
        let shown = |text: &str| text.replace(' ', "␣").replace('\n', "↵");
        let expected = "token,n,share\n\"'=cmd|'␣/C␣calc'!A0\",3,0.5\n\"a,\"\"b\"\"↵\",,\n";
        assert_eq!(to_csv(&frame, shown), expected);
    }

    #[test]
    fn every_type_is_written_as_rust_shows_it() {
        let rows = [(Some(-7_i64), Some(0.1_f32), Some(true), 1e300), (None, None, None, f64::INFINITY)];
        let frame = Columns::of(&rows)
            .int("i", |r| r.0)
            .single("s", |r| r.1)
            .flag("f", |r| r.2)
            .float("x", |r| r.3)
            .text("none", |_| "")
            .frame();
        assert_eq!(to_csv(&frame, str::to_owned), format!("i,s,f,x,none\n-7,0.1,1,{},\n,,,,\n", 1e300));
    }
}
