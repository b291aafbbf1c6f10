//! Outcomes and numbers of the prototype (`expect.py` writes them).

use crate::runs::MadeUp;
use serde::Deserialize;
use stapo_diagnosis::state::{Gain, Hit, Outcome, Rules, Verdict, judge};

#[derive(Deserialize)]
struct Case {
    name: String,
    #[serde(flatten)]
    run: MadeUp,
    /// A rule that was switched off.
    without: Option<String>,
    expected: Expected,
}

#[derive(Deserialize)]
struct Expected {
    outcome: String,
    hits: Vec<ExpectedHit>,
    soft: Vec<ExpectedHit>,
    gain: Option<ExpectedGain>,
}

/// Series, slice, from, to, since, p.
type ExpectedHit = (String, Option<String>, f64, f64, i64, f64);

#[derive(Deserialize)]
#[serde(untagged)]
enum ExpectedGain {
    Redefined { changed: i64, before: Option<Box<ExpectedGain>>, after: Option<Box<ExpectedGain>> },
    Gain(Numbers),
}

#[derive(Deserialize)]
struct Numbers {
    start: f64,
    end: f64,
    share: f64,
    lower: f64,
    upper: f64,
    z: f64,
    mean: f64,
    sd: Option<f64>,
}

fn name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Unknown => "unknown",
        Outcome::Collapsed => "collapsed",
        Outcome::Damaged => "damaged",
        Outcome::Learned => "learned",
        Outcome::AtItsBest => "at its best",
        Outcome::NotLearning => "not learning",
        Outcome::Undecided => "undecided",
    }
}

#[track_caller]
fn assert_near(what: &str, actual: f64, expected: f64) {
    assert!((actual - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{what}: {actual} for {expected}");
}

fn assert_hits(what: &str, actual: &[Hit], expected: &[ExpectedHit]) {
    let key = |series: &str, slice: &Option<String>| (series.to_string(), slice.clone());
    let mut actual: Vec<&Hit> = actual.iter().collect();
    let mut expected: Vec<&ExpectedHit> = expected.iter().collect();
    actual.sort_by_key(|hit| key(&hit.series, &hit.slice));
    expected.sort_by_key(|hit| key(&hit.0, &hit.1));
    assert_eq!(
        actual.iter().map(|hit| (key(&hit.series, &hit.slice), hit.since)).collect::<Vec<_>>(),
        expected.iter().map(|hit| (key(&hit.0, &hit.1), hit.4)).collect::<Vec<_>>(),
        "{what}"
    );
    for (hit, (.., from, to, _, p)) in actual.iter().zip(expected) {
        assert_near(what, hit.from, *from);
        assert_near(what, hit.to, *to);
        // Relative: far in the tail, too.
        assert!((hit.p - p).abs() <= 1e-9 * p, "{what}: {} for {p}", hit.p);
    }
}

fn assert_gain(what: &str, actual: &Verdict, expected: Option<&ExpectedGain>) {
    match expected {
        Some(ExpectedGain::Redefined { changed, before, after }) => {
            let redefined =
                actual.redefined.as_ref().unwrap_or_else(|| panic!("{what}: redefined at {changed}"));
            assert_eq!(redefined.step, *changed, "{what}");
            assert_gain(what, &redefined.before, before.as_deref());
            assert_gain(what, &redefined.after, after.as_deref());
        }
        Some(ExpectedGain::Gain(expected)) => {
            assert_eq!(actual.redefined, None, "{what}");
            let actual: Gain = actual.gain.unwrap_or_else(|| panic!("{what}: no gain"));
            let numbers = [
                ("start", actual.start, expected.start),
                ("end", actual.end, expected.end),
                ("share", actual.share, expected.share),
                ("lower", actual.lower, expected.lower),
                ("upper", actual.upper, expected.upper),
                ("z", actual.z, expected.z),
                ("mean", actual.mean, expected.mean),
            ];
            for (number, actual, expected) in numbers {
                assert_near(&format!("{what}, {number}"), actual, expected);
            }
            assert_eq!(actual.sd.is_some(), expected.sd.is_some(), "{what}");
            assert_near(&format!("{what}, sd"), actual.sd.unwrap_or(0.0), expected.sd.unwrap_or(0.0));
        }
        None => assert_eq!(actual.gain, None, "{what}"),
    }
}

fn without(rule: &str) -> Rules {
    let mut rules = serde_json::to_value(Rules::default()).expect("rules");
    rules[rule] = if rule == "bins" { usize::MAX.into() } else { false.into() };
    serde_json::from_value(rules).expect(rule)
}

#[test]
fn outcomes_and_numbers_are_the_prototypes() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("expected.json")).expect("cases");
    assert!(cases.len() > 250);
    for (at, case) in cases.iter().enumerate() {
        let what = format!("{at} {} {:?}", case.name, case.without);
        let rules = case.without.as_deref().map_or_else(Rules::default, without);
        let verdict = judge(&case.run.observed(), false, &rules);
        let expected = &case.expected;
        assert_gain(&what, &verdict, expected.gain.as_ref());
        assert_hits(&what, &verdict.damage, &expected.hits);
        if verdict.redefined.is_none() {
            assert_hits(&what, &verdict.soft, &expected.soft);
        }
        assert_eq!(name(verdict.outcome), expected.outcome, "{what}");
    }
}
