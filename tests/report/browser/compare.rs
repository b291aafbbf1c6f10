//! The page of a comparison.

use serde_json::json;
use stapo_analyze::compare::{CompareSettings, NamedRun, compare_runs};
use stapo_analyze::report::write_comparison;

use super::driver::Browser;
use super::{is_dark_and_fits_a_phone, is_inert, loads_nothing, report_support};

const ATTACK: &str = "</h1><img src=x onerror=\"window.hacked=1\">";

/// The page of a comparison of two sample runs.
fn show_comparison() -> (Browser, tempfile::TempDir) {
    let browser = Browser::start();
    let folder = tempfile::tempdir().unwrap();
    let runs: Vec<NamedRun> = [("healthy", "real/healthy.parquet"), (ATTACK, "real/dropout_1.parquet")]
        .into_iter()
        .map(|(name, file)| NamedRun {
            name: name.into(),
            arm: name.into(),
            analysis: report_support::compared(file),
        })
        .collect();
    let comparison = compare_runs(&runs, &[], None, &CompareSettings::default());
    let files = write_comparison(&comparison, folder.path()).unwrap();
    browser.open(&files.html);
    (browser, folder)
}

#[test]
#[ignore = "needs Chromium; .ci/run has one"]
fn opens_inert_with_four_charts_in_light_and_dark_and_on_a_phone() {
    let (browser, _folder) = show_comparison();
    assert_eq!(browser.run("return document.querySelectorAll('#compared svg').length"), json!(4));
    assert_eq!(browser.run("return document.querySelectorAll('#intervals tr.hot').length > 4"), json!(true));
    is_inert(&browser, 3, ATTACK, "h1");
    is_dark_and_fits_a_phone(&browser);
    loads_nothing(&browser);
}
