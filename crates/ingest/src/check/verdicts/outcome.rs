//! How checks come out.

use crate::check::report::{Check, CheckOutcome};

/// Above what a value warns, and above what it fails.
pub fn grade(value: f64, warn: f64, fail: f64) -> CheckOutcome {
    match value {
        v if v > fail => CheckOutcome::Fail,
        v if v > warn => CheckOutcome::Warn,
        _ => CheckOutcome::Pass,
    }
}

/// A check; the hint is for those that are not passed.
pub fn check(code: &'static str, verdict: CheckOutcome, message: String, hint: &'static str) -> Check {
    let hint = matches!(verdict, CheckOutcome::Warn | CheckOutcome::Fail).then_some(hint);
    Check { code, verdict, message, hint }
}

/// A check that the log has nothing for.
pub fn skipped(code: &'static str, needs: &str) -> Check {
    Check { code, verdict: CheckOutcome::Skip, message: format!("needs {needs}"), hint: None }
}

/// A share; 0 of nothing.
pub fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
