//! The pages in a real browser: `cargo test --release --test report -- --ignored`.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::report_support;
use crate::support;
mod compare;
mod driver;
mod replay;

use self::driver::Browser;
use crate::report_support::{Spec, synthetic};
use serde_json::json;
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

/// Moves a slider as a reader would.
fn slide(browser: &Browser, id: &str, value: usize) {
    browser.run(&format!(
        "const s = document.getElementById('{id}'); s.value = {value}; s.dispatchEvent(new Event('input'));"
    ));
}

/// At 1280 × 720: no errors, no requests, the whole first screen, few words and figures, nothing too wide.
fn opens_on_one_screen(browser: &Browser) {
    let laptop = json!({"width": 1280, "height": 720, "deviceScaleFactor": 1, "mobile": false});
    browser.devtools("Emulation.setDeviceMetricsOverride", laptop);
    assert_eq!(browser.console(), Vec::<String>::new());
    let facts = browser.run(
        "const visible = [...document.querySelectorAll('figure')].filter(f => f.getClientRects().length);
         return {requests: performance.getEntriesByType('resource').length,
                 ends: document.querySelector('.notes').getBoundingClientRect().bottom,
                 words: document.body.innerText.split(/\\s+/).length, figures: visible.length,
                 drawn: visible.every(f => f.querySelector('svg').getBoundingClientRect().width > 100),
                 wide: document.documentElement.scrollWidth - innerWidth}",
    );
    assert_eq!((&facts["requests"], &facts["drawn"]), (&json!(0), &json!(true)));
    assert!(facts["wide"].as_f64().unwrap() <= 0.0, "{facts}");
    assert!(facts["ends"].as_f64().unwrap() <= 720.0, "{facts}");
    assert!(facts["words"].as_u64().unwrap() <= 2000, "{facts}");
    assert!((2..=12).contains(&facts["figures"].as_u64().unwrap()), "{facts}");
}

#[test]
#[ignore = "needs Chromium; .ci/run has one"]
fn a_run_opens_on_one_screen() {
    let (browser, _folder) = show(&sample());
    opens_on_one_screen(&browser);
}

/// A link to anything opens the tab and the folds that it stands in; links to responses show them.
#[test]
#[ignore = "needs Chromium; .ci/run has one"]
fn links_open_what_they_lead_to() {
    let (browser, _folder) = show(&sample());
    let lost = browser.run(
        "const ids = [...new Set([...document.querySelectorAll('a[href^=\"#\"]')].map(a => a.hash.slice(1)))];
         const store = JSON.parse(document.getElementById('responses').textContent).list.map(r => r.id);
         return ids.filter(id => !document.getElementById(id) && !store.includes(id));",
    );
    assert_eq!(lost, json!([]));
    let opened = browser.run(
        "const found = [];
         for (const tab of document.querySelectorAll('.tabs a')) {
             tab.click(); dispatchEvent(new Event('hashchange'));
             found.push(document.querySelectorAll('.panel.open').length === 1 && document.querySelector('.panel.open').id === tab.hash.slice(1));
         }
         return found;",
    );
    assert_eq!(opened, json!([true, true, true, true]));
    let id =
        browser.run("return JSON.parse(document.getElementById('responses').textContent).list.at(-1).id");
    let id = id.as_str().unwrap();
    browser.run(&format!("location.hash = '#{id}'; dispatchEvent(new Event('hashchange'));"));
    let shown = browser.run("return document.querySelector('#response h4 a').getAttribute('href')");
    assert_eq!(shown, json!(format!("#{id}")));
    assert_eq!(browser.console(), Vec::<String>::new());
}

#[test]
#[ignore = "needs Chromium; .ci/run has one"]
fn one_search_covers_all_tabs_and_responses() {
    let (browser, _folder) = show(&sample());
    let found = |wanted: &str| {
        let script = format!(
            "const s = document.getElementById('search'); s.value = {}; s.dispatchEvent(new Event('input'));
             return document.getElementById('found').textContent",
            json!(wanted)
        );
        browser.run(&script).as_str().unwrap().to_owned()
    };
    assert!(found("okay").ends_with(" places"));
    assert_eq!(found("no such words in any response"), "0 places");
    assert!(!found("entropy").starts_with("0 "));
    browser
        .run("document.getElementById('search').dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'}))");
    assert_eq!(browser.run("return document.querySelectorAll('.panel .hit').length > 0"), json!(true));
}

/// What the page counts at other thresholds is what the engine counts there.
#[test]
#[ignore = "needs Chromium; .ci/run has one"]
fn sliders_give_the_counts_of_the_engine() {
    let (browser, _folder) = show(&sample());
    let stops = browser.run("return JSON.parse(document.getElementById('masks').textContent)");
    let list = |key: &str| -> Vec<f64> {
        stops[key].as_array().unwrap().iter().map(|s| s.as_f64().unwrap()).collect()
    };
    let (taus, quantiles) = (list("p"), list("q"));
    let far = |k: usize, of: &[f64]| (k * 7 + 3) % of.len();
    for k in 0..5 {
        let (p, q) = (far(k, &taus), far(k + 2, &quantiles));
        slide(&browser, "tau-p", p);
        slide(&browser, "quantile", q);
        let s2t = S2tSettings {
            tau_p: taus[p],
            entropy: EntropyCut::Quantile(quantiles[q]),
            population: Population::Candidates,
        };
        let engine =
            report_support::sample("grpo.parquet", &AnalyzeSettings { s2t, ..AnalyzeSettings::default() });
        let said = browser.run("return document.getElementById('masked').textContent");
        let grouped = |n: u64| {
            let digits = n.to_string();
            let parts: Vec<&str> =
                digits.as_bytes().rchunks(3).rev().map(|p| std::str::from_utf8(p).unwrap()).collect();
            parts.join(",")
        };
        let counts =
            format!(": {} of {} rare tokens", grouped(engine.s2t.silenced), grouped(engine.s2t.candidates));
        assert!(said.as_str().unwrap().contains(&counts), "{} {}: {said} {counts}", taus[p], quantiles[q]);
    }
    assert_eq!(browser.console(), Vec::<String>::new());
}

#[test]
#[ignore = "needs Chromium; .ci/run has one"]
fn hostile_tokens_are_inert() {
    let (browser, _folder) = show(&synthetic(Spec { hostile: true, ..Spec::default() }));
    browser.run("for (const tab of document.querySelectorAll('.tabs a')) tab.click();");
    assert_eq!(browser.console(), Vec::<String>::new());
    let facts = browser.run("return {hacked: window.hacked !== undefined, images: document.images.length}");
    assert_eq!(facts, json!({"hacked": false, "images": 0}));
    browser.run("const s = document.createElement('script'); s.textContent = 'window.injected = 1'; document.body.append(s);");
    assert_eq!(browser.run("return window.injected === undefined"), json!(true));
    browser.console();
    loads_nothing(&browser);
}

/// In the dark colours change; on a phone nothing is too wide in any tab.
fn is_dark_and_fits_a_phone(browser: &Browser) {
    let colours = "return ['body', 'figure svg [stroke]'].map(s => document.querySelector(s)).map(e => getComputedStyle(e).backgroundColor + getComputedStyle(e).stroke)";
    let light = browser.run(colours);
    browser.devtools(
        "Emulation.setEmulatedMedia",
        json!({"features": [{"name": "prefers-color-scheme", "value": "dark"}]}),
    );
    assert_ne!(browser.run(colours), light);
    let phone = json!({"width": 390, "height": 800, "deviceScaleFactor": 2, "mobile": true});
    browser.devtools("Emulation.setDeviceMetricsOverride", phone);
    let wide = browser.run(
        "const wide = [];
         for (const tab of [{hash: ''}, ...document.querySelectorAll('.tabs a')]) {
             location.hash = tab.hash; dispatchEvent(new Event('hashchange'));
             wide.push(document.documentElement.scrollWidth - innerWidth);
         }
         return wide.filter(w => w > 0)",
    );
    assert_eq!(wide, json!([]), "px too wide for a phone");
}

#[test]
#[ignore = "needs Chromium; .ci/run has one"]
fn all_is_there_without_scripts_in_the_dark_and_on_a_phone() {
    let (browser, folder) = show(&sample());
    is_dark_and_fits_a_phone(&browser);
    browser.devtools("Emulation.setScriptExecutionDisabled", json!({"value": true}));
    browser.open(&folder.path().join("report.html"));
    let source = browser.devtools("DOM.getDocument", json!({"depth": 2}));
    assert!(!source.to_string().contains("\"js\""), "the script did not run");
    let root = &source["root"]["nodeId"];
    for (selector, least) in [(".panel table tr", 30), ("figure svg", 8), ("article", 1)] {
        let found = browser.devtools("DOM.querySelectorAll", json!({"nodeId": root, "selector": selector}));
        assert!(found["nodeIds"].as_array().unwrap().len() >= least, "{selector}");
    }
}

/// What opening costs is counted, not timed: on a busy machine too the page has as many bytes, elements and passes
/// over them.
#[test]
#[ignore = "needs Chromium; .ci/run has one"]
fn the_largest_page_opens_with_little_work() {
    let spec =
        Spec { steps: 200, rare_per_step: 500, candidate_share: 0.5, responses: (24, 4_096), hostile: false };
    let (browser, folder) = show(&synthetic(spec));
    browser.devtools("Performance.enable", json!({}));
    browser.open(&folder.path().join("report.html"));
    let metrics = browser.devtools("Performance.getMetrics", json!({}));
    let counted = |name: &str| {
        let found = metrics["metrics"].as_array().unwrap().iter().find(|metric| metric["name"] == name);
        found.unwrap()["value"].as_f64().unwrap()
    };
    let elements = browser.run("return document.getElementsByTagName('*').length").as_f64().unwrap();
    assert!(elements < 20_000.0, "{elements} elements");
    for passes in ["LayoutCount", "RecalcStyleCount"] {
        assert!((1.0..=100.0).contains(&counted(passes)), "{passes}: {}", counted(passes));
    }
    assert_eq!(browser.console(), Vec::<String>::new());
}

/// What a reader has done to the page is there again when it is loaded anew, as a watch does.
#[test]
#[ignore = "needs Chromium; .ci/run has one"]
fn a_page_that_is_loaded_again_keeps_the_place() {
    let (browser, _folder) = show(&sample());
    browser.run("document.querySelectorAll('.tabs a')[3].click(); dispatchEvent(new Event('hashchange'));");
    browser.run("history.replaceState(null, '', location.pathname);");
    slide(&browser, "quantile", 2);
    browser.run(
        "document.querySelectorAll('details').forEach((d, i) => { d.open = i % 2 === 0; });
         scrollTo({top: 900, behavior: 'instant'});",
    );
    let state = "return {folds: [...document.querySelectorAll('details')].map(d => d.open), top: scrollY,
                         masked: document.getElementById('masked').textContent,
                         tab: document.querySelector('.panel.open').id}";
    let there = browser.run(state);
    assert_eq!(there["tab"], json!("s2t"));
    browser.run("location.reload()");
    std::thread::sleep(std::time::Duration::from_millis(1500));
    assert_eq!(browser.run(state), there);
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
