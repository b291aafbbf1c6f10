//! Values that several commands take.

use clap::ValueEnum;

/// Formats of what is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    #[value(alias = "table")]
    Text,
    /// For machines
    Json,
}

fn number(text: &str, good: impl Fn(f64) -> bool, what: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if good(value) => Ok(value),
        _ => Err(format!("not {what}")),
    }
}

/// A number from 0 to 1.
pub fn probability(text: &str) -> Result<f64, String> {
    number(text, |v| (0.0..=1.0).contains(&v), "a number from 0 to 1")
}

/// A number of 0 or more.
pub fn non_negative(text: &str) -> Result<f64, String> {
    number(text, |v| v >= 0.0 && v.is_finite(), "a number of 0 or more")
}

/// A number above 0.
pub fn positive(text: &str) -> Result<f64, String> {
    number(text, |v| v > 0.0 && v.is_finite(), "a number above 0")
}

/// How many steps, from the first on. Elsewhere `--steps` takes some of the middle, too.
#[cfg(feature = "replay")]
pub fn first_steps(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(count) if count > 0 => Ok(count),
        _ if text.contains("..") => {
            Err("a replay begins at the first step and takes a number of them; take others \
             out of the log first: stapo-analyze convert RUN --steps 10..40 -o part.parquet"
                .into())
        }
        _ => Err("not a number of steps".into()),
    }
}

/// A place on this disk: results are not written anywhere else.
pub fn on_disk(text: &str) -> Result<std::path::PathBuf, String> {
    let path = std::path::PathBuf::from(text);
    match stapo_store::is_url(&path) {
        true => Err("results are written to the disk only: give a folder, and copy it up afterwards".into()),
        false => Ok(path),
    }
}

/// A time such as `30s`, `5m`, `2h`; seconds where no unit is given.
pub fn duration(text: &str) -> Result<std::time::Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err("not a time such as 30s, 5m or 2h".into()),
    };
    let seconds = number(digits.trim(), |v| v > 0.0 && v <= 1e7, "a time such as 30s, 5m or 2h")? * unit;
    std::time::Duration::try_from_secs_f64(seconds).map_err(|e| e.to_string())
}

/// A whole number above 0, also as `2e8`.
pub fn count(text: &str) -> Result<u64, String> {
    let whole = |v: f64| (1.0..=1e18).contains(&v) && v.fract() == 0.0;
    number(text, whole, "a whole number above 0, such as 400000 or 2e8").map(|value| value as u64)
}

/// The least memory that reading is tried with.
const LEAST_MEMORY: f64 = 16e6;

/// A number of bytes: `500M`, `2G`, or plain.
pub fn memory(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        _ => return Err("not a size such as 500M or 2G".into()),
    };
    let bytes = number(digits.trim(), |v| v.is_finite() && v >= 0.0, "a size such as 500M or 2G")? * unit;
    if bytes < LEAST_MEMORY {
        return Err("less than 16M: no page of a log would fit".into());
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
    Ok(bytes as u64)
}
