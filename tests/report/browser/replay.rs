//! The page of a replay.

use std::sync::OnceLock;

use serde_json::json;
use stapo_analyze::framework::rules::Rule;
use stapo_analyze::framework::s2t::S2tSettings;
use stapo_analyze::ingest::{IngestSettings, Run};
use stapo_analyze::replay::objective::ObjectiveSettings;
use stapo_analyze::replay::result::{ReplayWarning, ReplayWarningCode};
use stapo_analyze::replay::{NoProgress, OptimizerSettings, ReplayResult, ReplaySettings, Replayed, replay};
use stapo_analyze::report::write_replay;

use super::driver::Browser;
use super::report_support::HOSTILE;
use super::support::{sample, small_log};
use super::{is_inert, loads_nothing, opens_with_charts, turns_dark_and_fits_a_phone};

/// The sample model on a few responses of two steps: seconds, and every part of the page is there.
fn replayed() -> &'static Replayed {
    static REPLAYED: OnceLock<Replayed> = OnceLock::new();
    REPLAYED.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let log = small_log(folder.path(), 2, 24, |batch| batch);
        let run = Run::open(&[log], &IngestSettings::default()).unwrap();
        let settings = ReplaySettings {
            objectives: vec![Rule::Dapo, Rule::Stapo, Rule::Random],
            model: Some(sample("model")),
            minibatch: Some(8),
            seeds: 2,
            objective: ObjectiveSettings {
                s2t: S2tSettings { tau_p: 0.05, ..S2tSettings::v5() },
                ..ObjectiveSettings::default()
            },
            optimizer: OptimizerSettings { learning_rate: Some(1e-4), ..OptimizerSettings::default() },
            explain: true,
            ..ReplaySettings::default()
        };
        replay(&run, &settings, None, &NoProgress).unwrap()
    })
}

/// A browser that shows a replay, with changes.
fn show_replay(change: impl Fn(&mut ReplayResult)) -> (Browser, tempfile::TempDir) {
    let browser = Browser::start();
    let folder = tempfile::tempdir().unwrap();
    let mut result = replayed().result.clone();
    change(&mut result);
    let files = write_replay(&result, &replayed().timing, folder.path()).unwrap();
    browser.open(&files.html);
    (browser, folder)
}

#[test]
#[ignore = "needs Chromium; .ci/run has one"]
fn opens_with_all_charts_tables_and_cases() {
    let (browser, _folder) = show_replay(|_| ());
    opens_with_charts(&browser, 7);
    let facts = browser.run(
        "const rows = s => document.querySelectorAll(s + ' tbody tr').length;
         return {trained: rows('#arms .table'), differences: rows('#tables > details[open]'), cases: rows('#cases') > 0,
                 speed: document.querySelector('#arms').textContent.includes('tokens/s'),
                 clipped: [...document.querySelectorAll('#arms .scroll, #tables > details[open] .scroll, #cases .scroll')]
                     .filter(box => box.scrollWidth > box.clientWidth).length}",
    );
    // Three objectives, twice, and the start; three pairs of objectives with six metrics.
    let expected = json!({"trained": 7, "differences": 18, "cases": true, "speed": true, "clipped": 0});
    assert_eq!(facts, expected, "in a window of 1,280 px");
}

#[test]
#[ignore = "needs Chromium; .ci/run has one"]
fn wide_tables_scroll_in_boxes_of_their_own() {
    let (browser, _folder) = show_replay(|_| ());
    browser.run("document.querySelectorAll('details').forEach(d => d.open = true)");
    turns_dark_and_fits_a_phone(&browser);
    let facts = browser.run(
        "const boxes = [...document.querySelectorAll('table')].map(t => t.closest('.scroll'));
         const wide = boxes.filter(b => b.scrollWidth > b.clientWidth);
         wide.forEach(b => b.scrollLeft = 1e5);
         return {outside: boxes.filter(b => b.getBoundingClientRect().right > innerWidth).length,
                 wide: wide.length > 0,
                 stuck: wide.filter(b => Math.abs(b.scrollLeft + b.clientWidth - b.scrollWidth) > 1).length}",
    );
    assert_eq!(facts, json!({"outside": 0, "wide": true, "stuck": 0}));
}

#[test]
#[ignore = "needs Chromium; .ci/run has one"]
fn hostile_names_and_tokens_are_inert() {
    let attack = HOSTILE[0];
    let shown = show_replay(|result| {
        result.data.files = vec![attack.into()];
        result.model.path = Some(attack.into());
        result.verdict.headline = attack.into();
        let (message, hint) = (attack.into(), attack.into());
        result.warnings.push(ReplayWarning { code: ReplayWarningCode::ArmStopped, message, hint });
        result.summary[0].rule = attack.into();
        for (case, text) in result.cases.iter_mut().zip(HOSTILE.iter().cycle()) {
            case.token = Some((*text).into());
            (case.before, case.after) = ((*text).into(), (*text).into());
            case.alternatives.iter_mut().for_each(|a| a.token = Some((*text).into()));
        }
    });
    let (browser, _folder) = shown;
    opens_with_charts(&browser, 7);
    for place in ["h1", "#warnings", "#arms", "#cases"] {
        is_inert(&browser, 1, attack, place);
    }
    turns_dark_and_fits_a_phone(&browser);
    loads_nothing(&browser);
}
