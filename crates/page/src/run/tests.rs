//! Documents of made-up runs, in each renderer.

use stapo_result::{Answers, DriverToken, NormSource, Provenance, RewardPart, RunAnalysis};

use super::{Run, document};
use crate::document::{Document, Tone};
use crate::html::{PAGE_LIMIT, page};
use crate::markdown;
use crate::terminal::{COLUMNS, LINES, Terminal, terminal, wide};
use crate::told::{Cause, Change, Course, Evidence, Signal, State, Sure, Told};

const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\u{202E}[x](javascript:y)\u{7}";

fn series(name: &str, values: &[f64]) -> Signal {
    let points = values.iter().enumerate().map(|(i, v)| (3.0 * i as f64, *v)).collect();
    Signal { name: name.into(), points, range: None }
}

const REWARD: [f64; 10] = [0.11, 0.34, 0.54, 0.62, 0.83, 0.81, 0.84, 0.88, 0.885, 0.87];
const ENTROPY: [f64; 10] = [2.2, 2.1, 1.4, 1.1, 1.0, 1.0, 0.6, 0.6, 0.4, 0.4];

fn told(state: State) -> Told {
    Told {
        state,
        course: Some(Course { start: 0.11, best: 0.88, end: 0.88, floor: 0.0, top: 1.2 }),
        changes: vec![Change { name: "entropy".into(), step: 6, up: false }],
        signals: vec![
            series("reward", &REWARD),
            series("entropy", &ENTROPY),
            series("reward/correct", &REWARD),
        ],
        ..Told::default()
    }
}

fn cause(code: &str) -> Cause {
    let measured = |what: &str, value, healthy: &str| Evidence {
        what: what.into(),
        value,
        healthy: Some(healthy.into()),
    };
    Cause {
        code: code.into(),
        sure: Sure::Likely,
        onset: Some(0),
        slice: Some(HOSTILE.into()),
        sentence: "trainer and sampler disagree most where nothing of the response is known".into(),
        advice: "compare the prompts".into(),
        evidence: vec![
            measured("gap at the first token over later", 2.4, "below 1.4"),
            measured("gap at the first token", 0.8, "below 0.1"),
            measured(HOSTILE, 0.3, "below 0.08"),
        ],
        follows_from: None,
    }
}

fn driver(token: &str) -> DriverToken {
    DriverToken {
        energy: 1.0,
        energy_share: 0.012,
        norm_source: NormSource::Exact,
        step: 12,
        update: None,
        group_id: None,
        sample_id: None,
        row: 3,
        position: 4,
        token_id: None,
        token: Some(token.into()),
        logprob: -26.0,
        entropy: 1.0,
        advantage: 1.0,
        ratio: None,
        corner: None,
        logprob_rollout: Some(-0.17),
        lag: None,
        turn: None,
        truncated: None,
        reward: Some(1.2),
        before: vec!["used by".into(), " Smol".into()],
        after: vec![" to create".into()],
    }
}

/// A run of this state; everything that a log can bring into it is hostile.
fn made(told: Told) -> Document {
    let mut analysis = RunAnalysis::default();
    analysis.core.drivers.top = vec![driver("LM"), driver(HOSTILE)];
    analysis.core.s2t.fraction = 0.012;
    analysis.core.s2t.silenced = 860;
    analysis.core.s2t.energy_share = Some(0.039);
    let answers = Answers {
        reward_parts: vec![RewardPart { name: HOSTILE.into(), ..RewardPart::default() }],
        ..Answers::default()
    };
    let mut provenance = Provenance { framework: "torch".into(), ..Provenance::default() };
    provenance.metadata.insert("model".into(), HOSTILE.into());
    provenance.files.push(stapo_result::FileReport { path: "runs/other_prompt.parquet".into(), bytes: 1 });
    document(&Run {
        told,
        answers: &answers,
        provenance: &provenance,
        tokens: 71_829,
        responses: 2_560,
        steps: (0..10).map(|i| 3 * i).collect(),
        signs: Some((20_000, 25_000)),
        full: Some(&analysis),
        texts_in: None,
        warnings: &[],
        missing: None,
    })
}

fn sick() -> Document {
    made(Told { causes: vec![cause("other_context")], ..told(State::Suspicious) })
}

fn healthy() -> Document {
    made(told(State::Healthy))
}

fn lines(document: &Document, columns: usize, verbose: bool) -> String {
    terminal(document, Terminal { columns, colours: false, verbose })
}

#[test]
fn a_sick_run_in_the_terminal() {
    insta::assert_snapshot!(lines(&sick(), COLUMNS, false));
}

#[test]
fn a_healthy_run_in_the_terminal() {
    insta::assert_snapshot!(lines(&healthy(), COLUMNS, false));
}

#[test]
fn a_sick_run_in_markdown() {
    insta::assert_snapshot!(markdown::first_screen(&sick()));
}

#[test]
fn a_healthy_run_in_markdown() {
    insta::assert_snapshot!(markdown::markdown(&healthy()));
}

/// The page without style, script and drawings, a tag a line.
#[test]
fn a_sick_run_as_a_page() {
    let page = page(&sick());
    let body =
        page.split_once("<main>").and_then(|parts| parts.1.split_once("</main>")).map_or("", |parts| parts.0);
    let mut out = String::new();
    for (i, part) in body.split("<svg").enumerate() {
        let text = if i == 0 { part } else { part.split_once("</svg>").map_or("", |parts| parts.1) };
        out += text;
    }
    insta::assert_snapshot!(out.replace("><", ">\n<"));
}

#[test]
fn terminals_keep_their_width_and_their_lines() {
    for (document, most) in [(sick(), LINES[0]), (healthy(), LINES[1])] {
        for columns in [40, 80, 200] {
            for verbose in [false, true] {
                let text = lines(&document, columns, verbose);
                assert!(text.lines().all(|line| wide(line) <= columns), "{columns}: {text}");
                assert!(verbose || columns < 80 || text.lines().count() <= most, "{text}");
            }
        }
    }
}

#[test]
fn sentences_have_at_most_eighteen_words() {
    for plain in crate::causes::all() {
        for state in
            [State::NotFinite, State::Collapsed, State::Damaged, State::NotLearning, State::Suspicious]
        {
            let document = made(Told { causes: vec![cause(plain.code)], ..told(state) });
            let said = document.sections[0].title.flat();
            assert!(said.split_whitespace().count() <= 18, "{said}");
        }
    }
    for state in [State::Healthy, State::Undecided, State::Unknown] {
        let said = made(told(state)).sections[0].title.flat();
        assert!(said.split_whitespace().count() <= 18, "{said}");
    }
}

#[test]
fn nothing_of_a_log_is_markup() {
    let document = sick();
    assert_eq!(document.tone, Tone::Suspicious);
    let html = page(&document);
    assert!(!html.contains("<img") && !html.contains('\u{202E}') && !html.contains('\u{7}'));
    assert!(!html.contains(" style=") && !html.contains("onclick"), "the policy allows no attributes");
    assert!(html.contains("script-src 'sha256-") && html.len() < PAGE_LIMIT);
    let text = markdown::markdown(&document);
    // Tokens stand in code, where nothing is markup.
    let prose = |line: &str| line.split('`').step_by(2).collect::<String>();
    let text: String = text.lines().map(prose).collect();
    assert!(!text.contains("<img") && !text.contains("[x](javascript") && !text.contains('\u{202E}'));
    let said = lines(&document, COLUMNS, true);
    assert!(!said.chars().any(|c| c.is_control() && c != '\n') && !said.contains('\u{202E}'));
}

#[test]
fn links_lead_somewhere() {
    let html = page(&sick());
    let targets: Vec<&str> =
        html.split("href=\"#").skip(1).filter_map(|part| part.split('"').next()).collect();
    assert!(targets.len() > 5);
    for target in targets {
        assert!(html.contains(&format!("id=\"{target}\"")), "#{target}");
    }
}
