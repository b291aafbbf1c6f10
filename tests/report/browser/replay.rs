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
    let files = write_replay(&result, folder.path()).unwrap();
    browser.open(&files.html);
    (browser, folder)
}

/// Nothing is wider than the window, and no chart is cut.
fn fits(browser: &Browser) {
    let facts = browser.run(
        "const cut = s => s.getBoundingClientRect().width > 0 && s.getBoundingClientRect().right > innerWidth + 1;
         return {wide: document.documentElement.scrollWidth - innerWidth,
                 cut: [...document.querySelectorAll('svg')].filter(cut).length}",
    );
    assert_eq!(facts["cut"], json!(0));
    assert!(facts["wide"].as_f64().unwrap() <= 0.0, "{facts}");
}

#[test]
#[ignore = "needs Chromium; .ci/run has one"]
fn opens_with_the_answer_three_charts_and_all_behind_it() {
    let (browser, _folder) = show_replay(|_| ());
    assert_eq!(browser.console(), Vec::<String>::new());
    let facts = browser.run(
        "const rows = s => document.querySelectorAll(s + ' tbody tr').length;
         return {trained: rows('#trained'), ends: rows('#ends'), differences: rows('#differences'),
                 cases: document.querySelectorAll('#cases li').length > 0,
                 charts: document.querySelectorAll('#charts svg').length,
                 curves: document.querySelectorAll('#curves svg').length,
                 requests: performance.getEntriesByType('resource').length,
                 answer: document.querySelector('h1').getBoundingClientRect().bottom < 200,
                 first: document.querySelector('#action').getBoundingClientRect().bottom < 900}",
    );
    // Three objectives, and the start; two pairs of objectives with six metrics.
    let expected = json!({"trained": 3, "ends": 4, "differences": 12, "cases": true, "charts": 3, "curves": 8,
                          "requests": 0, "answer": true, "first": true});
    assert_eq!(facts, expected);
}

#[test]
#[ignore = "needs Chromium; .ci/run has one"]
fn every_tab_fits_a_phone_and_turns_dark() {
    let (browser, _folder) = show_replay(|_| ());
    let light = browser.run("return getComputedStyle(document.body).backgroundColor");
    let dark = json!({"features": [{"name": "prefers-color-scheme", "value": "dark"}]});
    browser.devtools("Emulation.setEmulatedMedia", dark);
    assert_ne!(browser.run("return getComputedStyle(document.body).backgroundColor"), light);
    for width in [1280, 390] {
        let window = json!({"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500});
        browser.devtools("Emulation.setDeviceMetricsOverride", window);
        for tab in ["objectives", "curves", "tokens"] {
            browser.run(&format!("document.querySelector('[role=tab][href=\"#{tab}\"]').click()"));
            let open = browser.run("return document.querySelector('.panel.open').id");
            assert_eq!(open, json!(tab));
            fits(&browser);
        }
    }
}

#[test]
#[ignore = "needs Chromium; .ci/run has one"]
fn hostile_names_and_tokens_are_inert() {
    let attack = HOSTILE[0];
    let (browser, _folder) = show_replay(|result| {
        result.data.files = vec![attack.into()];
        result.data.correct = attack.into();
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
    assert_eq!(browser.console(), Vec::<String>::new());
    let facts = browser.run(
        "return {hacked: window.hacked !== undefined, images: document.images.length,
                 scripts: document.querySelectorAll('main script').length}",
    );
    assert_eq!(facts, json!({"hacked": false, "images": 0, "scripts": 0}));
    for place in ["h1", "#notes", "#trained", "#cases"] {
        let shown = browser.run(&format!(
            "return document.querySelector('{place}').textContent.includes({})",
            json!(attack)
        ));
        assert_eq!(shown, json!(true), "{place}");
    }
    fits(&browser);
    browser.run("const i = new Image(); i.src = 'http://127.0.0.1:9/x.png';");
    let refused = browser.console();
    assert!(refused.iter().any(|line| line.contains("Content Security Policy")), "{refused:?}");
}
