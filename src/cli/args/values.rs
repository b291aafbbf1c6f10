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
