//! The pages in a real browser: `cargo test --release --test report -- --ignored`.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::report_support;
use crate::support;
mod compare;
mod driver;
mod replay;

use self::driver::Browser;
use crate::report_support::{Spec, synthetic};
use serde_json::{Value, json};
use stapo_analyze::analyze::AnalyzeSettings;
use stapo_analyze::analyze::result::RunAnalysis;
use stapo_analyze::framework::s2t::{EntropyCut, Population, S2tSettings};
use stapo_analyze::report::write_report;

/// A browser that shows the report of an analysis.
fn show(analysis: &RunAnalysis) -> (Browser, tempfile::TempDir) {
    let browser = Browser::start();
    let folder = tempfile::tempdir().unwrap();
    let files = write_report(analysis, folder.path()).unwrap();
    browser.open(&files.html);
    (browser, folder)
}

fn sample() -> RunAnalysis {
    report_support::sample("grpo.parquet", &AnalyzeSettings::default())
}

/// Moves a slider as a reader would.
fn slide(browser: &Browser, id: &str, value: usize) {
    browser.run(&format!(
        "const s = document.getElementById('{id}'); s.value = {value}; s.dispatchEvent(new Event('input'));"
    ));
}

fn text(browser: &Browser, id: &str) -> String {
    browser.run(&format!("return document.getElementById('{id}').textContent")).as_str().unwrap().to_owned()
}

fn number(browser: &Browser, id: &str) -> u64 {
    text(browser, id).replace(',', "").parse().unwrap()
}

/// No errors, no requests, the answer on the first screen, and so many charts that show something.
fn opens_with_charts(browser: &Browser, charts: usize) {
    assert_eq!(browser.console(), Vec::<String>::new());
    let facts = browser.run(
        "const shows = s => s.getBoundingClientRect().height > 100 && s.getBoundingClientRect().width > 300 && s.querySelectorAll('path').length > 3;
         return {charts: [...document.querySelectorAll('figure .wide svg')].map(shows),
                 requests: performance.getEntriesByType('resource').length,
                 verdict: document.querySelector('#verdict').getBoundingClientRect().bottom}",
    );
    assert_eq!(facts["charts"], json!(vec![true; charts]));
    assert_eq!(facts["requests"], json!(0));
    assert!(facts["verdict"].as_f64().unwrap() < 900.0, "the answer is on the first screen");
}

/// What attacked the page did nothing, and is shown as it is where `place` selects.
fn is_inert(browser: &Browser, scripts: usize, attack: &str, place: &str) {
    assert_eq!(browser.console(), Vec::<String>::new());
    let (attack, place) = (json!(attack), json!(place));
    let facts = browser.run(&format!(
        "return {{hacked: window.hacked !== undefined, images: document.images.length, scripts: document.scripts.length,
                 shown: document.querySelector({place}).textContent.includes({attack})}}"
    ));
    assert_eq!(facts, json!({"hacked": false, "images": 0, "scripts": scripts, "shown": true}));
}

/// The page's policy lets nothing be loaded.
fn loads_nothing(browser: &Browser) {
    browser.run("const i = new Image(); i.src = 'http://127.0.0.1:9/x.png';");
    let refused = browser.console();
    assert!(refused.iter().any(|l| l.contains("Content Security Policy")), "{refused:?}");
}

#[test]
#[ignore = "needs Chromium; .ci/run has one"]
fn opens_without_errors_with_all_charts_and_no_requests() {
    let (browser, _folder) = show(&sample());
    opens_with_charts(&browser, 14);
    assert_eq!(browser.run("return document.documentElement.classList.contains('scripted')"), json!(true));
}

#[test]
#[ignore = "needs Chromium; .ci/run has one"]
fn sliders_give_the_counts_of_the_engine() {
    let analysis = sample();
    let (browser, _folder) = show(&analysis);
    let stops = browser.run("return stapo.data.stops");
    let stops: Vec<f64> = stops.as_array().unwrap().iter().map(|s| s.as_f64().unwrap()).collect();
    assert_eq!(number(&browser, "live-silenced"), analysis.s2t.silenced);
    let differ = "return [...document.querySelectorAll('table.live tbody tr')]\
                  .map((row) => [row.cells[1].textContent, row.cells[2].textContent]).filter(([run, now]) => run !== now)";
    assert_eq!(browser.run(differ), json!([]), "one number is written in one way");
    for (tau_p, quantile) in [(0.002, 50), (0.0005, 75), (0.01, 90), (0.02, 100), (0.00001, 80), (0.002, 0)] {
        slide(&browser, "tau-p", stops.iter().position(|s| *s == tau_p).unwrap());
        slide(&browser, "quantile", quantile);
        bring_near(&browser, "cases");
        let s2t = S2tSettings {
            tau_p,
            entropy: EntropyCut::Quantile(quantile as f64 / 100.0),
            population: Population::Candidates,
        };
        let engine =
            report_support::sample("grpo.parquet", &AnalyzeSettings { s2t, ..AnalyzeSettings::default() });
        let found = (number(&browser, "live-candidates"), number(&browser, "live-silenced"));
        assert_eq!(found, (engine.s2t.candidates, engine.s2t.silenced), "{tau_p} {quantile}");
        assert_eq!(text(&browser, "live-exact"), "Exact: from every candidate of the run.");
        let share = browser.run("return stapo.mask(stapo.data.stops[document.getElementById('tau-p').value], document.getElementById('quantile').value / 100).energy / stapo.data.energy");
        let expected = engine.s2t.energy_share.unwrap();
        assert!(
            (share.as_f64().unwrap() - expected).abs() <= 1e-5 * expected.max(1e-3),
            "{share} {expected}"
        );
        let shown = browser
            .run("return [...document.querySelectorAll('#case-groups tbody tr.sp:not([hidden])')].length");
        let known = engine.cases.top.iter().filter(|c| {
            let flagged = |k: &&stapo_analyze::analyze::result::FlaggedToken| {
                (k.row, k.position) == (c.row, c.position)
            };
            c.kind.name() == "spurious" && analysis.cases.top.iter().any(|k| flagged(&k))
        });
        assert_eq!(shown, json!(known.count()), "cases at {tau_p} {quantile}");
        let marks =
            browser.run("return document.querySelectorAll('#svg-plane .layer-live .f-spurious').length");
        assert_eq!(marks, json!(engine.s2t.silenced.min(350)), "marks at {tau_p} {quantile}");
    }
    browser.run("document.getElementById('tune-reset').click()");
    assert_eq!(number(&browser, "live-silenced"), analysis.s2t.silenced);
    assert_eq!(browser.console(), Vec::<String>::new());
}

#[test]
#[ignore = "needs Chromium; .ci/run has one"]
fn thresholds_of_another_rule_stay_where_the_engine_put_them() {
    let settings = AnalyzeSettings { s2t: S2tSettings::v1(), ..AnalyzeSettings::default() };
    let analysis = report_support::sample("grpo.parquet", &settings);
    let (browser, _folder) = show(&analysis);
    assert_eq!(number(&browser, "live-silenced"), analysis.s2t.silenced);
    assert_eq!(browser.run("return document.getElementById('quantile').disabled"), json!(true));
    let stop = browser.run("return stapo.data.stops.indexOf(0.0005)").as_u64().unwrap();
    slide(&browser, "tau-p", stop as usize);
    let s2t = S2tSettings { tau_p: 0.0005, ..S2tSettings::v1() };
    let engine =
        report_support::sample("grpo.parquet", &AnalyzeSettings { s2t, ..AnalyzeSettings::default() });
    assert_eq!(number(&browser, "live-silenced"), engine.s2t.silenced);
}

#[test]
#[ignore = "needs Chromium; .ci/run has one"]
fn cut_candidates_are_labelled_approximate() {
    let mut analysis = synthetic(Spec::default());
    analysis.candidates.points.retain(|p| p.logprob.exp() < 0.004);
    analysis.candidates.complete_below = 0.004;
    analysis.candidates.complete = false;
    let (browser, _folder) = show(&analysis);
    assert!(text(&browser, "live-exact").starts_with("Exact"));
    let stop = browser.run("return stapo.data.stops.indexOf(0.01)").as_u64().unwrap();
    slide(&browser, "tau-p", stop as usize);
    assert!(text(&browser, "live-exact").starts_with("Approximate"));
    assert!(text(&browser, "live-candidates").starts_with('≈'));
}

#[test]
#[ignore = "needs Chromium; .ci/run has one"]
fn cases_are_filtered_and_sorted() {
    let analysis = sample();
    let (browser, _folder) = show(&analysis);
    bring_near(&browser, "cases");
    let shown = "return [...document.querySelectorAll('#case-groups tbody tr:not([hidden])')]";
    browser.run("const f = document.getElementById('case-filter'); f.value = 'OKAY'; f.dispatchEvent(new Event('input'));");
    let tokens = browser.run(&format!("{shown}.map(r => r.cells[1].textContent)"));
    let expected =
        analysis.cases.top.iter().filter(|c| c.token.as_deref().is_some_and(|t| t.contains("okay")));
    assert_eq!(tokens, json!(vec!["okay"; expected.count()]));
    browser.run("const f = document.getElementById('case-filter'); f.value = ''; f.dispatchEvent(new Event('input')); document.getElementById('case-flat').click(); document.querySelectorAll('#case-groups th button')[3].click();");
    let sort = |column: usize| -> Vec<f64> {
        let values = browser.run(&format!("{shown}.map(r => r.cells[{column}].textContent)"));
        let plain = |v: &Value| {
            let text = v.as_str().unwrap().replace('−', "-").replace("·10⁻⁵", "e-5").replace("·10⁻⁶", "e-6");
            text.parse().unwrap()
        };
        values.as_array().unwrap().iter().map(plain).collect()
    };
    let down = sort(4);
    assert_eq!(down.len(), 230);
    assert!(down.is_sorted_by(|a, b| a >= b), "{down:?}");
    browser.run("document.querySelectorAll('#case-groups th button')[3].click();");
    assert!(sort(4).is_sorted());
    browser.run("document.getElementById('case-flat').click()");
    let steps = browser.run("return [...document.querySelectorAll('details.step:not([hidden])')].length");
    assert_eq!(steps, json!(analysis.steps.iter().filter(|s| s.candidates > 0).count()));
}

/// Scrolls to a part of the page that starts when it is near, and waits for it.
fn bring_near(browser: &Browser, id: &str) {
    browser.run(&format!("document.getElementById('{id}').scrollIntoView({{behavior: 'instant'}})"));
    let ready = format!("return document.getElementById('{id}').dataset.ready === 'yes'");
    for _ in 0..100 {
        if browser.run(&ready) == json!(true) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("#{id} did not start");
}

/// Types into a control of the browser of responses.
fn ask(browser: &Browser, id: &str, value: &str) {
    let (id, value) = (json!(format!("rollout-{id}")), json!(value));
    browser.run(&format!(
        "const c = document.getElementById({id}); c.value = {value}; c.dispatchEvent(new Event('input'));"
    ));
}

#[test]
#[ignore = "needs Chromium; .ci/run has one"]
fn responses_are_searched_filtered_and_shown_beside_their_siblings() {
    let analysis = sample();
    let (browser, _folder) = show(&analysis);
    bring_near(&browser, "rollouts");
    let listed = || browser.run("return document.querySelectorAll('#rollout-list li').length");
    assert_eq!(listed(), json!(analysis.responses.len().min(200)));
    ask(&browser, "outcome", "fail");
    let failed = analysis.responses.iter().filter(|r| r.reward.is_some_and(|r| r <= 0.0)).count();
    assert!(failed > 8);
    assert_eq!(listed(), json!(failed.min(200)));
    ask(&browser, "outcome", "negative");
    let below = browser.run("return document.querySelector('#rollout-shown article i').dataset.t");
    assert!(below.as_str().unwrap().contains("A −"), "{below}");
    ask(&browser, "outcome", "");
    let wanted = analysis.responses.iter().find(|r| r.texts.iter().any(|t| t == "okay")).unwrap();
    ask(&browser, "search", "okay");
    assert!(listed().as_u64().unwrap() >= 1);
    let id = wanted.token_ids[wanted.texts.iter().position(|t| t == "okay").unwrap()];
    ask(&browser, "search", &id.to_string());
    assert!(listed().as_u64().unwrap() >= 1);
    ask(&browser, "search", "no such words in any response");
    assert_eq!(listed(), json!(0));
    ask(&browser, "search", "");
    ask(&browser, "outcome", "group");
    let facts = browser.run(
        "const link = document.querySelectorAll('#rollout-list a')[3]; link.click();
         return {siblings: document.querySelectorAll('#rollout-shown .siblings article').length,
                 prompt: document.querySelector('#rollout-shown .prompt').textContent.length > 3,
                 command: document.getElementById('rollout-command').textContent}",
    );
    assert_eq!((&facts["siblings"], &facts["prompt"]), (&json!(7), &json!(true)));
    let command = facts["command"].as_str().unwrap();
    assert!(command.contains("--group") && command.contains("--sample"), "{command}");
    assert_eq!(browser.console(), Vec::<String>::new());
}

#[test]
#[ignore = "needs Chromium; .ci/run has one"]
fn hostile_tokens_are_inert() {
    let (browser, _folder) = show(&synthetic(Spec { hostile: true, ..Spec::default() }));
    slide(&browser, "tau-p", 30);
    bring_near(&browser, "cases");
    bring_near(&browser, "rollouts");
    is_inert(&browser, 3, report_support::HOSTILE[0], "body");
    browser.run("const s = document.createElement('script'); s.textContent = 'window.injected = 1'; document.body.append(s);");
    assert_eq!(browser.run("return window.injected === undefined"), json!(true));
    loads_nothing(&browser);
}

fn turns_dark_and_fits_a_phone(browser: &Browser) {
    let light = browser.run("return getComputedStyle(document.body).backgroundColor");
    browser.devtools(
        "Emulation.setEmulatedMedia",
        json!({"features": [{"name": "prefers-color-scheme", "value": "dark"}]}),
    );
    assert_ne!(browser.run("return getComputedStyle(document.body).backgroundColor"), light);
    let phone = json!({"width": 390, "height": 800, "deviceScaleFactor": 2, "mobile": true});
    browser.devtools("Emulation.setDeviceMetricsOverride", phone);
    let wide = browser.run("return document.documentElement.scrollWidth - innerWidth");
    assert!(wide.as_f64().unwrap() <= 0.0, "the page is {wide} px too wide for a phone");
    let cut = browser.run(
        "const inside = s => s.getBoundingClientRect().right <= innerWidth && s.getBoundingClientRect().width > 300;
         return [...document.querySelectorAll('figure .narrow svg')].filter(s => !inside(s)).length",
    );
    assert_eq!(cut, json!(0), "charts are whole on a phone");
    let shown = "return document.querySelectorAll('figure .narrow svg').length === document.querySelectorAll('figure .wide svg').length";
    assert_eq!(browser.run(shown), json!(true), "every chart has its small form on a phone");
}

#[test]
#[ignore = "needs Chromium; .ci/run has one"]
fn works_without_scripts_on_a_phone_and_in_the_dark() {
    let (browser, folder) = show(&sample());
    let page = folder.path().join("report.html");
    turns_dark_and_fits_a_phone(&browser);
    // A token of little surprise and a large norm: the two heat maps shade it differently.
    let shade =
        "return getComputedStyle(document.querySelector('.view .s1.g5, .view .s1.g4')).backgroundColor";
    let before = browser.run(shade);
    browser.run("document.getElementById('heat-g').click()");
    assert_ne!(browser.run(shade), before, "the heat map follows its switch");
    browser.run("document.querySelector('.cases b').focus()");
    let tip = browser.run("return getComputedStyle(document.querySelector('.cases b'), '::after').content");
    assert!(tip.as_str().unwrap().contains("‖g‖"), "{tip}");

    browser.devtools("Emulation.setScriptExecutionDisabled", json!({"value": true}));
    browser.open(&page);
    let source = browser.devtools("DOM.getDocument", json!({"depth": 2}));
    assert!(!source.to_string().contains("scripted"), "the script did not run");
    let root = &source["root"]["nodeId"];
    for (selector, least) in
        [("#case-groups tbody tr", 230), ("figure .wide svg", 12), (".view", 1), ("#drill a", 230)]
    {
        let found = browser.devtools("DOM.querySelectorAll", json!({"nodeId": root, "selector": selector}));
        assert!(found["nodeIds"].as_array().unwrap().len() >= least, "{selector}");
    }
}

/// What opening costs is counted, not timed: on a busy machine too the page has as many bytes, elements and
/// passes over them. Cases and responses are folded away until they are asked for, and the script that fills the
/// page in does not ask for a layout per row.
#[test]
#[ignore = "needs Chromium; .ci/run has one"]
fn the_largest_page_opens_with_little_work() {
    let spec =
        Spec { steps: 200, rare_per_step: 500, candidate_share: 0.5, responses: (24, 4_096), hostile: false };
    let (browser, folder) = show(&synthetic(spec));
    let page = folder.path().join("report.html");
    assert!(std::fs::metadata(&page).unwrap().len() < 5_000_000);
    browser.devtools("Performance.enable", json!({}));
    browser.open(&page);
    let metrics = browser.devtools("Performance.getMetrics", json!({}));
    let counted = |name: &str| {
        let found = metrics["metrics"].as_array().unwrap().iter().find(|metric| metric["name"] == name);
        found.unwrap()["value"].as_f64().unwrap()
    };
    let elements = browser.run("return document.getElementsByTagName('*').length").as_f64().unwrap();
    assert!(elements > 50_000.0 && elements < 100_000.0, "{elements} elements");
    let shown = "return [...document.querySelectorAll('*')].filter((e) => e.checkVisibility()).length";
    let shown = browser.run(shown).as_f64().unwrap();
    assert!(shown > 0.0 && shown < elements / 4.0, "{shown} of {elements} elements are shown");
    for passes in ["LayoutCount", "RecalcStyleCount"] {
        assert!((1.0..=100.0).contains(&counted(passes)), "{passes}: {}", counted(passes));
    }
    assert_eq!(browser.console(), Vec::<String>::new());
}

/// What a reader has done to the page is there again when it is loaded anew in the same tab.
#[test]
#[ignore = "needs Chromium; .ci/run has one"]
fn a_page_that_is_loaded_again_keeps_the_place() {
    let (browser, _folder) = show(&sample());
    slide(&browser, "quantile", 30);
    let before = text(&browser, "live-silenced");
    browser.run(
        "[...document.querySelectorAll('details')].forEach((d, i) => { d.open = i % 2 === 0; });
         scrollTo({top: 1200, behavior: 'instant'});",
    );
    let state = "return {folds: [...document.querySelectorAll('details')].map(d => d.open),
                         slider: document.getElementById('quantile').value,
                         top: document.getElementById('diagnosis').getBoundingClientRect().top}";
    std::thread::sleep(std::time::Duration::from_millis(500));
    let there = browser.run(state);
    assert!(there["top"].as_f64().unwrap() < -300.0, "scrolled: {there}");
    browser.run("location.reload()");
    std::thread::sleep(std::time::Duration::from_millis(2000));
    let again = browser.run(state);
    assert_eq!((&again["folds"], &again["slider"]), (&there["folds"], &there["slider"]));
    let moved = again["top"].as_f64().unwrap() - there["top"].as_f64().unwrap();
    assert!(moved.abs() < 20.0, "the reader's place moved by {moved} px");
    assert_eq!(text(&browser, "live-silenced"), before);
    assert_eq!(browser.console(), Vec::<String>::new());
}

/// The page of a watch takes a new report when its state says so, from the disk and under its policy.
#[test]
#[ignore = "needs Chromium; .ci/run has one"]
fn a_live_page_takes_the_new_report() {
    let (browser, folder) = show(&sample());
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let state = |version: u32, sentence: &str| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
        let state =
            json!({"version": version, "looked": now, "every": 1, "ended": false, "sentence": sentence});
        write("live.js", &format!("stapoLive({state});\n"));
    };
    write("live.html", &stapo_analyze::report::live_page());
    state(1, "all is well");
    browser.open(&folder.path().join("live.html"));
    let shows = |version: u32, sentence: &str| {
        let script = "const f = document.querySelectorAll('iframe');
                      return [f.length, f[0].src.split('/').pop(), document.getElementById('live-state').textContent]";
        for _ in 0..100 {
            let seen = browser.run(script);
            let line = seen[2].as_str().unwrap_or_default().to_owned();
            if seen[0] == json!(1)
                && seen[1] == json!(format!("report.html?{version}"))
                && line.ends_with(sentence)
            {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("version {version} is not shown: {}", browser.run(script));
    };
    shows(1, "all is well");
    state(2, "entropy fell");
    shows(2, "entropy fell");
    assert_eq!(browser.console(), Vec::<String>::new());
}
