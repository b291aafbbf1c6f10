//! The report: its files, its budget, its determinism, and what it does to hostile texts.
#![allow(clippy::unwrap_used)]

use crate::report_support;
use std::collections::BTreeMap;
use std::path::Path;

use crate::folders::{assert_same_files, tree};
use crate::report_support::{HOSTILE, Spec, synthetic};
use stapo_analyze::analyze::result::{Cases, ResponseView, RunAnalysis, ShownFor, Vocabulary};
use stapo_analyze::report::charts::draw_all;
use stapo_analyze::report::draw::font;
use stapo_analyze::report::draw::scene::{Label, Scene, Shape, TextAnchor};
use stapo_analyze::report::html::PAGE_LIMIT;
use stapo_analyze::report::{ReportFiles, write_report};

fn report(analysis: &RunAnalysis) -> (tempfile::TempDir, ReportFiles) {
    let folder = tempfile::tempdir().unwrap();
    let files = write_report(analysis, folder.path()).unwrap();
    (folder, files)
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn the_same_analysis_gives_the_same_bytes() {
    let analysis = synthetic(Spec::default());
    let ((first, files), (second, _)) = (report(&analysis), report(&analysis));
    let found = tree(first.path());
    assert_eq!(files.missing, []);
    // Two pages, three files a chart, and the list of the charts that are ours to replace.
    assert_eq!(found.len(), 2 + 13 * 3 + 1, "{:?}", found.keys());
    assert_same_files(&found, &tree(second.path()));
}

#[test]
fn the_page_keeps_its_budget_and_says_what_it_left_out() {
    let spec =
        Spec { steps: 200, rare_per_step: 500, candidate_share: 0.5, responses: (24, 4_096), hostile: true };
    let analysis = synthetic(spec);
    assert!(analysis.cases.top.len() > 49_000);
    let (_folder, files) = report(&analysis);
    let page = read(&files.html);
    assert!(page.len() <= PAGE_LIMIT, "{} bytes", page.len());
    assert!(page.len() > PAGE_LIMIT / 2, "the budget is there to be used: {} bytes", page.len());
    let shown = page.matches("<tr id=\"c").count();
    let total = analysis.cases.spurious + analysis.cases.exploratory;
    let said =
        format!("{} of {} flagged tokens: those of the highest risk", grouped(shown as u64), grouped(total));
    assert!(page.contains(&said), "{said}");
    for step in &analysis.steps {
        assert!(page.contains(&format!("id=\"cases-{}\"", step.step)), "step {} has no case", step.step);
    }
    // What is counted is what the run has, not what is shown of it.
    let first = &analysis.steps[0];
    let row = page.split("id=\"cases-").nth(1).unwrap().split("</summary>").next().unwrap();
    let of = |all: u64| format!(" of {} ", grouped(all));
    assert!(row.contains(&format!("{}spurious", of(first.silenced))), "{row}");
    assert!(row.contains(&format!("{}exploratory shown", of(first.exploratory))), "{row}");
    let drill = page.split("<details class=\"drill\">").nth(1).unwrap().split("</summary>").next().unwrap();
    assert!(
        drill.contains(&format!("{}flagged tokens shown", of(first.silenced + first.exploratory))),
        "{drill}"
    );
    assert!(read(&files.markdown).len() < 20_000);
    for chart in &files.charts {
        let size = std::fs::metadata(chart).unwrap().len();
        let limit = if chart.extension().is_some_and(|e| e == "csv") { 4_000_000 } else { 300_000 };
        assert!(size < limit, "{}: {size}", chart.display());
    }
}

#[test]
fn the_page_names_the_program_once() {
    let (_folder, files) = report(&synthetic(Spec::default()));
    let page = read(&files.html);
    assert!(page.contains("stapo-analyze 0.1.0") && !page.contains("stapo-analyze stapo-analyze"));
}

/// Of a group that was drawn, at most 16 responses are kept: the page does not call them all.
#[test]
fn the_page_says_whether_a_group_is_whole() {
    let said = |kept: usize| {
        let mut analysis = synthetic(Spec { responses: (kept, 40), ..Spec::default() });
        for view in &mut analysis.responses {
            (view.shown_for, view.step, view.group_id) = (vec![ShownFor::Group], 0, Some("g".into()));
        }
        assert_eq!(analysis.responses.len(), kept);
        let (_folder, files) = report(&analysis);
        let page = read(&files.html);
        let end = page.find(" groups drawn at random").unwrap();
        page[..end].rsplit(", and ").next().unwrap().to_owned()
    };
    assert_eq!(said(15), "all of 1");
    assert_eq!(said(16), "up to 16 responses of 1");
}

fn grouped(value: u64) -> String {
    stapo_analyze::report::numbers::count(value)
}

/// Markdown without its code spans, whatever number of backticks they have.
fn without_code(markdown: &str) -> String {
    let ticks = |text: &str| text.chars().take_while(|c| *c == '`').count();
    let mut prose = String::new();
    let mut rest = markdown;
    while let Some(start) = rest.find('`') {
        prose.push_str(&rest[..start]);
        let fence = "`".repeat(ticks(&rest[start..]));
        let inside = &rest[start + fence.len()..];
        let mut ends = inside.match_indices(fence.as_str()).map(|(at, _)| at);
        let is_whole = |at: &usize| !inside[..*at].ends_with('`') && ticks(&inside[*at..]) == fence.len();
        match ends.find(is_whole) {
            Some(end) => rest = &inside[end + fence.len()..],
            None => {
                prose.push_str(&fence);
                rest = inside;
            }
        }
    }
    prose + rest
}

#[test]
fn code_spans_are_cut_out() {
    assert_eq!(without_code("a `<b>` c ``d ` <e>`` f ` <g>"), "a  c  f ` <g>");
}

#[test]
fn hostile_texts_stay_texts() {
    let analysis = synthetic(Spec { hostile: true, ..Spec::default() });
    let (folder, files) = report(&analysis);
    let page = read(&files.html);
    for hostile in HOSTILE.iter().filter(|h| h.contains('<')) {
        assert!(!page.contains(hostile), "{hostile}");
    }
    assert!(page.contains("&lt;script&gt;window.hacked=1&lt;/script&gt;"), "shown, not dropped");
    assert_eq!(page.matches("<script").count(), 3);
    assert_eq!(page.matches("<img").count(), 0);
    assert!(!page.contains("longlong".repeat(20).as_str()), "10,000 characters are not shown");
    for (name, bytes) in tree(folder.path()) {
        if name.extension().is_some_and(|e| e == "png") {
            continue;
        }
        let text = String::from_utf8(bytes).unwrap();
        let invisible = |c: char| {
            (c.is_control() && c != '\n') || matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
        };
        assert_eq!(text.chars().find(|c| invisible(*c)), None, "{}", name.display());
    }
    let csv = read(&folder.path().join("charts/vocabulary.csv"));
    assert!(csv.contains("\"'=cmd|"), "a formula is disarmed");
    assert!(csv.lines().all(|line| !line.split(',').any(|cell| cell.starts_with('='))));
    let markdown = read(&files.markdown);
    assert!(markdown.contains("<img"), "shown, not dropped");
    let prose = without_code(&markdown);
    for tag in ["<img", "<script", "</script", "<svg", "<b>"] {
        assert!(!prose.contains(tag), "{tag} only as code: {prose}");
    }
}

#[test]
fn the_policy_names_the_hashes_of_what_the_page_runs() {
    let (_folder, files) = report(&synthetic(Spec::default()));
    let page = read(&files.html);
    let policy =
        page.split("Content-Security-Policy\" content=\"").nth(1).unwrap().split('"').next().unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe") && !policy.contains("http"));
    assert_eq!(page.matches("style=\"").count(), 0, "inline styles would be refused");
    let handlers = [" onclick=", " onload=", " onerror=", "javascript:", " src=\""];
    assert!(handlers.iter().all(|h| !page.contains(h)));
}

#[test]
fn charts_without_data_are_named_with_the_column_they_need() {
    let mut analysis = synthetic(Spec::default());
    analysis.entropy_change.measured = None;
    analysis.vocabulary = Vocabulary::default();
    analysis.cases = Cases::default();
    analysis.responses.clear();
    analysis.candidates.points.clear();
    for step in &mut analysis.steps {
        step.mean_reward = None;
    }
    let (folder, files) = report(&analysis);
    let missing: Vec<_> = files.missing.iter().map(|m| m.needs.as_str()).collect();
    let page = read(&files.html);
    for column in ["`entropy_after`", "`token_ids`", "`reward`"] {
        assert!(missing.iter().any(|m| m.contains(column)), "{column}: {missing:?}");
        let code = format!("<code>{}</code>", column.trim_matches('`'));
        assert!(page.contains(&code), "{column}");
    }
    assert!(!folder.path().join("charts/vocabulary.svg").exists());
    assert!(folder.path().join("charts/entropy_reward.svg").exists());
}

#[test]
fn an_empty_analysis_still_gives_a_report() {
    let mut analysis = synthetic(Spec { steps: 0, rare_per_step: 0, responses: (0, 0), ..Spec::default() });
    analysis.taxonomy.clear();
    analysis.sweep = Default::default();
    analysis.rules.clear();
    analysis.plane = Default::default();
    analysis.entropy_change = Default::default();
    analysis.vocabulary = Vocabulary::default();
    let (_folder, files) = report(&analysis);
    assert_eq!((files.charts.len(), files.missing.len()), (0, 13));
    assert!(read(&files.html).ends_with("</html>\n"));
}

#[test]
fn the_sample_run_is_reported_as_it_is() {
    let analysis = report_support::sample("grpo.parquet", &Default::default());
    let (_folder, files) = report(&analysis);
    assert_eq!(files.missing, []);
    let (page, markdown) = (read(&files.html), read(&files.markdown));
    for text in ["0.027 %", "0.58 %", "4.6×", "168 of 612,395"] {
        assert!(page.contains(text) && markdown.contains(text), "{text}");
    }
    assert_eq!(page.matches("<tr id=\"c").count(), 230);
    for chart in files.charts.iter().filter(|c| c.extension().is_some_and(|e| e == "png")) {
        let bytes = std::fs::read(chart).unwrap();
        assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 10_000, "{}", chart.display());
    }
}

#[test]
fn a_case_without_a_text_is_shown_by_its_id() {
    let mut analysis = report_support::sample("grpo.parquet", &Default::default());
    for case in &mut analysis.cases.top {
        (case.token, case.token_id) = (None, Some(4711));
    }
    let (_folder, files) = report(&analysis);
    let markdown = read(&files.markdown);
    let cases = markdown.split("## Riskiest cases").nth(1).unwrap();
    assert!(cases.contains("| `⟨4711⟩` |") && cases.contains("[⟨4711⟩]"), "{cases}");
    assert!(!cases.contains("| `?` |"), "{cases}");
}

/// Left, top, right and bottom of a text.
fn bounds(label: &Label) -> [f64; 4] {
    let wide = font::width(&label.text, label.size, label.bold);
    let (above, below) = (label.size * 0.74, label.size * 0.2);
    let start = match label.anchor {
        TextAnchor::Start => 0.0,
        TextAnchor::Middle => -wide / 2.0,
        TextAnchor::End => -wide,
    };
    let (x, y) = label.at;
    if label.upwards {
        [x - above, y - start - wide, x + below, y - start]
    } else {
        [x + start, y - above, x + start + wide, y + below]
    }
}

fn texts(scene: &Scene) -> Vec<(&str, [f64; 4])> {
    let labels = scene.shapes.iter().filter_map(|shape| match shape {
        Shape::Text(label) => Some(label),
        _ => None,
    });
    labels.filter(|l| !l.text.is_empty()).map(|l| (l.text.as_str(), bounds(l))).collect()
}

/// In every chart, at both widths: texts that leave the picture, or lie over another.
fn unreadable_texts(analysis: &RunAnalysis) -> Vec<String> {
    let mut found = Vec::new();
    for chart in draw_all(analysis).into_iter().flatten() {
        for scene in [&chart.scenes.wide, &chart.scenes.narrow] {
            let (name, wide, high) = (chart.name, f64::from(scene.width), f64::from(scene.height));
            let texts = texts(scene);
            for (index, (text, a)) in texts.iter().enumerate() {
                if a[0] < -1.0 || a[2] > wide + 1.0 || a[3] > high + 1.0 {
                    found.push(format!("{name} at {wide}: `{text}` is cut: {a:?}"));
                }
                for (other, b) in &texts[index + 1..] {
                    let over = [a[2].min(b[2]) - a[0].max(b[0]), a[3].min(b[3]) - a[1].max(b[1])];
                    if over[0] >= 1.5 && over[1] >= 1.5 {
                        found.push(format!("{name} at {wide}: `{text}` lies over `{other}`"));
                    }
                }
            }
        }
    }
    found
}

#[test]
fn texts_of_charts_can_be_read_on_a_screen_and_on_a_phone() {
    let mut analyses = ["grpo.parquet", "async.parquet"]
        .map(|name| report_support::sample(name, &Default::default()))
        .to_vec();
    analyses.extend([1, 3, 1_000].map(|steps| synthetic(Spec { steps, ..Spec::default() })));
    let found: Vec<String> = analyses.iter().flat_map(unreadable_texts).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn responses_are_a_spread_with_their_prompts_and_siblings() {
    let analysis = report_support::sample("grpo.parquet", &Default::default());
    for kind in [ShownFor::Risk, ShownFor::HighReward, ShownFor::LowReward, ShownFor::Group] {
        assert!(analysis.responses.iter().any(|r| r.shown_for.contains(&kind)), "{kind:?}");
    }
    assert!(analysis.responses.iter().all(|r| r.prompt.is_some()), "the sample has prompts");
    let negative = |r: &&ResponseView| r.advantage.iter().any(|a| *a < 0.0);
    assert!(analysis.responses.iter().filter(negative).count() > 5);
    let drawn: Vec<_> =
        analysis.responses.iter().filter(|r| r.shown_for.contains(&ShownFor::Group)).collect();
    let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
    drawn.iter().for_each(|r| groups.entry((r.step, r.group_id.clone())).or_default().push(r));
    assert_eq!(groups.len(), 24);
    for (group, members) in &groups {
        assert_eq!(members.len(), 8, "all of {group:?}");
        assert!(members.iter().all(|m| m.prompt == members[0].prompt), "one prompt");
    }
    let (_folder, files) = report(&analysis);
    let page = read(&files.html);
    let json = page.split("id=\"rollouts-data\">").nth(1).unwrap().split("</script>").next().unwrap();
    let data: serde_json::Value = serde_json::from_str(json).unwrap();
    assert_eq!(data["list"].as_array().unwrap().len(), analysis.responses.len(), "all fit");
    let low = analysis.responses.iter().find(|r| r.shown_for.contains(&ShownFor::LowReward)).unwrap();
    assert!(
        page.contains(&format!("response {}", low.sample_id.as_deref().unwrap())),
        "without scripts, too"
    );
    assert!(page.contains("low reward") && page.contains("high reward"));
}
