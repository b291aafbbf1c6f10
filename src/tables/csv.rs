//! A frame as CSV that a spreadsheet may open.
//!
//! Not polars' writer: texts of a log must not become formulas, and numbers are written as Rust
//! shows them. Truth values are 1 and 0.

use std::fmt::{Display, Write as _};

use polars::prelude::{AnyValue, DataFrame};

/// The frame as CSV, texts as `shown`; values that are missing or not finite are empty.
#[must_use]
pub fn to_csv(frame: &DataFrame, shown: impl Fn(&str) -> String) -> String {
    let names: Vec<&str> = frame.get_column_names().iter().map(|name| name.as_str()).collect();
    let mut out = names.join(",") + "\n";
    for row in 0..frame.height() {
        for (index, column) in frame.columns().iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            match column.get(row).unwrap_or(AnyValue::Null) {
                AnyValue::String("") => {}
                AnyValue::String(text) => out.push_str(&quoted(&shown(text))),
                number => write_number(&mut out, &number),
            }
        }
        out.push('\n');
    }
    out
}

fn write_number(out: &mut String, value: &AnyValue<'_>) {
    fn push(out: &mut String, value: impl Display) {
        let _ = write!(out, "{value}");
    }
    match value {
        AnyValue::Int64(value) => push(out, value),
        AnyValue::UInt64(value) => push(out, value),
        AnyValue::Float64(value) if value.is_finite() => push(out, value),
        AnyValue::Float32(value) if value.is_finite() => push(out, value),
        AnyValue::Boolean(value) => push(out, u8::from(*value)),
        _ => {}
    }
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
}
