//! The report: its files, its budget, its determinism, and what it does to hostile texts.
#![allow(clippy::unwrap_used)]

use crate::report_support;
use std::path::Path;

use crate::folders::{assert_same_files, tree};
use crate::report_support::{HOSTILE, Spec, synthetic};
use stapo_analyze::analyze::result::{Cases, ResponseView, RunAnalysis, ShownFor, Vocabulary};
use stapo_analyze::report::html::PAGE_LIMIT;
use stapo_analyze::report::{Files, write_report};

fn report(analysis: &RunAnalysis) -> (tempfile::TempDir, Files) {
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
    // Two pages, the charts, and the list of those that are ours to replace.
    assert_eq!(found.len(), 2 + files.charts.len() + 1, "{:?}", found.keys());
    assert!(!files.charts.is_empty());
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
    assert!(page.len() <= PAGE_LIMIT && PAGE_LIMIT <= 1_500_000, "{} bytes", page.len());
    assert!(page.contains("stapo-analyze show "), "how to see the others");
    assert!(read(&files.markdown).len() < 40_000);
    for chart in &files.charts {
        let size = std::fs::metadata(chart).unwrap().len();
        assert!(size < 200_000, "{}: {size}", chart.display());
    }
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
    let shown = ["&lt;script&gt;window.hacked=1", "\\u003cscript\\u003ewindow.hacked=1"];
    assert!(shown.iter().any(|text| page.contains(text)), "shown, not dropped");
    assert_eq!(page.matches("<img").count(), 0);
    for (name, bytes) in tree(folder.path()) {
        let text = String::from_utf8(bytes).unwrap();
        let invisible = |c: char| {
            (c.is_control() && c != '\n') || matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
        };
        assert_eq!(text.chars().find(|c| invisible(*c)), None, "{}", name.display());
    }
    let prose = without_code(&read(&files.markdown));
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
fn what_is_not_logged_is_left_out() {
    let mut analysis = synthetic(Spec::default());
    analysis.entropy_change.measured = None;
    analysis.vocabulary = Vocabulary::default();
    analysis.cases = Cases::default();
    analysis.responses.clear();
    analysis.candidates.points.clear();
    for step in &mut analysis.steps {
        step.mean_reward = None;
    }
    let (_folder, files) = report(&analysis);
    assert!(read(&files.html).ends_with("</html>") || read(&files.html).ends_with("</html>\n"));
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
    assert!(read(&files.html).contains("</main>"));
}

#[test]
fn the_sample_run_is_reported_as_it_is() {
    let analysis = report_support::sample("grpo.parquet", &Default::default());
    let (_folder, files) = report(&analysis);
    let (page, markdown) = (read(&files.html), read(&files.markdown));
    // S2T's tokens are counted once, in one line of the first screen.
    for text in ["0.03 %", "0.6 %"] {
        assert!(page.contains(text) && markdown.contains(text), "{text}");
    }
    assert!(page.contains("612,395 tokens"));
    for chart in &files.charts {
        let svg = read(chart);
        assert!(svg.starts_with("<svg xmlns=") && svg.contains("#FFFFFF"), "{}", chart.display());
    }
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
    let (_folder, files) = report(&analysis);
    let page = read(&files.html);
    let json = page.split("id=\"responses\">").nth(1).unwrap().split("</script>").next().unwrap();
    let data: serde_json::Value = serde_json::from_str(json).unwrap();
    let list = data["list"].as_array().unwrap();
    assert!(!list.is_empty() && list.len() <= analysis.responses.len());
    assert!(list.iter().all(|of| of["prompt"].is_number()), "each has its prompt");
}
