//! The page of a comparison.

use serde_json::json;
use stapo_analyze::compare::{CompareSettings, NamedRun, compare_runs};
use stapo_analyze::report::write_comparison;

use super::driver::Browser;
use super::{is_inert, loads_nothing, opens_with_charts, report_support, turns_dark_and_fits_a_phone};

const ATTACK: &str = "</h1><img src=x onerror=\"window.hacked=1\">";

/// The page of a comparison of the sample runs.
fn show_comparison() -> (Browser, tempfile::TempDir) {
    let browser = Browser::start();
    let folder = tempfile::tempdir().unwrap();
    let runs: Vec<NamedRun> = [("grpo", "grpo.parquet"), (ATTACK, "stapo.parquet")]
        .into_iter()
        .map(|(name, file)| NamedRun {
            name: name.into(),
            arm: name.into(),
            analysis: report_support::compared(file),
        })
        .collect();
    let comparison = compare_runs(&runs, None, &CompareSettings::default());
    let files = write_comparison(&comparison, folder.path()).unwrap();
    browser.open(&files.html);
    (browser, folder)
}

#[test]
#[ignore = "needs Chromium; .ci/run has one"]
fn opens_inert_with_all_charts_in_light_and_dark_and_on_a_phone() {
    let (browser, _folder) = show_comparison();
    opens_with_charts(&browser, 9);
    is_inert(&browser, 1, ATTACK, "h1");
    assert_eq!(browser.run("return document.querySelectorAll('#metrics tr.yes').length > 0"), json!(true));
    turns_dark_and_fits_a_phone(&browser);
    loads_nothing(&browser);
}
