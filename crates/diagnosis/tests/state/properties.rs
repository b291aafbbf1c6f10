//! What holds of every run, and where the prototype is not followed.

use crate::runs::{Kind, MadeUp, Part, PartKind};
use crate::simulated::draws::levels;
use proptest::prelude::*;
use stapo_accumulate::Accumulate;
use stapo_diagnosis::state::{Circumstances, Outcome, Rules, State, Verdict, judge};
use stapo_evidence::series::{Form, Observed};

fn of(run: &MadeUp) -> Verdict {
    judge(&run.observed(), false, &Rules::default())
}

fn part(name: &str, kind: PartKind, level: Option<Vec<f64>>) -> Part {
    Part { name: name.to_string(), kind, level, weight: 0.0 }
}

fn falls() -> MadeUp {
    MadeUp::new(3, &levels(12, &[(0.0, 0.1), (0.5, 0.8), (0.7, 0.8), (0.8, 0.2), (1.0, 0.2)]))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 12, ..ProptestConfig::default() })]
    /// Shards in any order, their rows in any order: the same verdict to the last bit.
    #[test]
    fn any_split_and_order_gives_the_same_verdict(seed in 0..1_000_u64, pieces in 1..7_usize, slices in 1..4_usize) {
        let mut run = MadeUp { seed, slices, kind: Kind::Bounded, missing: 0.1, ..falls() };
        run.parts = vec![part("reward/correct", PartKind::Copy, None)];
        let mut rows = run.rows();
        let whole = judge(&run.observed_of(&rows), false, &Rules::default());
        rows.sort_by_key(|row| (row.group.wrapping_mul(seed | 1) % 101, row.values[1].to_bits()));
        let mut merged = Observed::default();
        for piece in 0..pieces {
            let mut part = Observed::new(run.form(), &run.names());
            rows.iter().skip(piece).step_by(pieces).for_each(|row| part.push(row.step, row.group, &row.slice, &row.values));
            let mut next = part;
            next.merge(merged);
            merged = next;
        }
        merged.settle();
        prop_assert_eq!(judge(&merged, false, &Rules::default()), whole);
    }

    /// Any numbers at all, of any steps.
    #[test]
    fn nothing_panics(
        rows in prop::collection::vec((prop_oneof![0..12_i64, any::<i64>()], 0..4_u64, 0..3_usize, prop::collection::vec(
            prop_oneof![Just(0.0_f32), Just(1.0), Just(-0.0), Just(f32::MAX), Just(f32::MIN), any::<f32>()], 2)), 0..120),
        curve: bool,
        plain: bool,
    ) {
        let form = if curve { Form::Curve } else { Form::Responses };
        let mut observed = Observed::new(form, &["reward", "reward/b"]);
        rows.iter().for_each(|(step, group, slice, values)| observed.push(*step, *group, ["", "a", "b"][*slice], values));
        let rules = if plain { Rules { robust_range: false, own_ends: false, bins: 7, ..Rules::default() } } else { Rules::default() };
        let verdict = judge(&observed, false, &rules);
        if let Some(gain) = verdict.gain {
            prop_assert!(gain.best >= gain.start && gain.best >= gain.end);
            prop_assert!(!gain.z.is_nan() && !gain.lower.is_nan() && !gain.upper.is_nan());
        }
    }
}

/// The loss of a part that is not named as a goal went to its floor, while the reward rose and then lost some of that: the
/// run is damaged. (The prototype lets the soft loss call it collapsed.)
#[test]
fn a_soft_loss_does_not_make_a_collapse() {
    let reward = levels(12, &[(0.0, 0.1), (0.5, 0.9), (0.7, 0.9), (0.8, 0.5), (1.0, 0.5)]);
    let style = levels(12, &[(0.0, 0.7), (0.5, 0.7), (0.6, 0.0), (1.0, 0.0)]);
    let mut run = MadeUp { groups: 48, ..MadeUp::new(1, &reward) };
    run.parts = vec![part("reward/style", PartKind::Own, Some(style))];
    let verdict = of(&run);
    assert!(verdict.soft.iter().any(|hit| hit.series == "reward/style" && hit.to_the_floor), "{verdict:?}");
    assert_eq!(verdict.outcome, Outcome::Damaged);
    // Named as a goal it is one.
    run.parts[0].name = "reward/format".to_string();
    assert_eq!(of(&run).outcome, Outcome::Collapsed);
}

/// A part that was never applied is as if it were not there. (The prototype fails on it.)
#[test]
fn a_part_of_nothing_changes_nothing() {
    let mut run = falls();
    let without = of(&run);
    run.parts = vec![part("reward/never", PartKind::Absent, None)];
    assert_eq!(of(&run), without);
    assert_eq!(without.outcome, Outcome::Damaged);
}

/// Ends that share no slice say nothing of a gain. (The prototype takes the means of both for 0.)
#[test]
fn ends_without_a_common_slice_are_not_compared() {
    let rows =
        [(10, "a", 0.0_f32), (10, "a", 1.0), (11, "b", 0.0), (11, "b", 1.0), (12, "c", 1.0), (12, "c", 0.0)];
    let mut observed = Observed::new(Form::Responses, &["reward"]);
    for (at, (step, slice, value)) in rows.iter().enumerate() {
        observed.push(*step, at as u64, slice, &[*value]);
    }
    let verdict = judge(&observed, true, &Rules::default());
    let gain = verdict.gain.expect("a gain");
    assert_eq!((gain.shared, gain.lower, gain.upper), (0.0, -1.0, 1.0));
    assert_eq!(verdict.outcome, Outcome::Undecided);
}

/// One start, one best, one end: the last point of every sentence is the mean of the course's last fifth.
#[test]
fn start_best_and_end_are_those_of_the_course() {
    let verdict = of(&falls());
    let course = &verdict.courses[0];
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let gain = verdict.gain.expect("a gain");
    assert_eq!(course.gain, gain);
    assert_eq!((course.steps.len(), course.means.len()), (12, 12));
    assert!((gain.start - course.means[0]).abs() < 1e-12);
    assert!((gain.end - mean(&course.means[9..])).abs() < 1e-12);
    let best = (0..=9).map(|at| mean(&course.means[at..at + 3])).fold(f64::MIN, f64::max);
    assert!((gain.best - best).abs() < 1e-12);
}

/// A log beyond the bound is judged by a sample of its groups, which says the same.
#[test]
fn a_sample_judges_as_the_whole() {
    let rows = MadeUp { groups: 100, ..falls() }.rows();
    let mut sample = Observed::bounded(Form::Responses, &["reward"], 1_500);
    rows.iter().for_each(|row| sample.push(row.step, row.group, &row.slice, &row.values));
    let verdict = judge(&sample, false, &Rules::default());
    assert!((1_500..2_500).contains(&verdict.looked_at), "{}", verdict.looked_at);
    assert_eq!(sample.responses(), 9_600);
    let whole = of(&MadeUp { groups: 100, ..falls() });
    assert_eq!(
        (verdict.outcome, whole.outcome, whole.looked_at),
        (Outcome::Damaged, Outcome::Damaged, 9_600)
    );
    let end = |verdict: &Verdict| verdict.gain.map_or(f64::NAN, |gain| gain.end);
    assert!((end(&verdict) - end(&whole)).abs() < 0.1);
}

/// A name for every prompt is not a task: sums of slices by steps would fill the memory.
#[test]
fn a_slice_for_every_prompt_is_no_slice() {
    let mut observed = Observed::new(Form::Responses, &["reward"]);
    for group in 0..2_100_u64 {
        for value in [0.0, 1.0] {
            observed.push(group.cast_signed(), group, &format!("prompt {group}"), &[value]);
        }
    }
    let verdict = judge(&observed, false, &Rules::default());
    assert!(!verdict.has_slices && verdict.courses.len() == 1);
}

#[test]
fn slices_have_courses_of_their_own() {
    let mut run = MadeUp { slices: 2, groups: 64, ..falls() };
    run.level = run.level.iter().map(|row| vec![row[0], 0.5]).collect();
    let verdict = of(&run);
    let slices: Vec<Option<&str>> = verdict.courses.iter().map(|course| course.slice.as_deref()).collect();
    assert_eq!(slices, [None, Some("task 00"), Some("task 01")]);
    assert!(verdict.has_slices && !of(&falls()).has_slices);
    assert!(verdict.damage.iter().any(|hit| hit.slice.as_deref() == Some("task 00")), "{:?}", verdict.damage);
    assert!(verdict.damage.iter().all(|hit| hit.slice.as_deref() != Some("task 01")));
}

#[test]
fn states_are_asked_in_order() {
    let of = |outcome, circumstances| Verdict { outcome, ..Verdict::default() }.state(&circumstances);
    let nothing = Circumstances::default();
    let likely = Circumstances { likely_cause: true, ..nothing };
    let holds = Circumstances { likely_cause: true, cause_holds: true, ..nothing };
    let long = Circumstances { trainer_steps: 200, ..nothing };
    let not_finite = Circumstances { not_finite: true, ..holds };
    for (outcome, circumstances, state) in [
        (Outcome::Collapsed, not_finite, State::NotFinite),
        (Outcome::Collapsed, holds, State::Collapsed),
        (Outcome::Damaged, holds, State::Damaged),
        (Outcome::NotLearning, nothing, State::Undecided),
        (Outcome::NotLearning, likely, State::Suspicious),
        (Outcome::NotLearning, holds, State::NotLearning),
        (Outcome::NotLearning, long, State::NotLearning),
        (Outcome::Undecided, long, State::Undecided),
        (Outcome::Undecided, likely, State::Suspicious),
        (Outcome::Learned, likely, State::Suspicious),
        (Outcome::Learned, nothing, State::Healthy),
        (Outcome::AtItsBest, nothing, State::Healthy),
        (Outcome::Unknown, nothing, State::Unknown),
        (Outcome::Unknown, likely, State::Suspicious),
    ] {
        assert_eq!(of(outcome, circumstances), state, "{outcome:?} {circumstances:?}");
    }
    let mut run = MadeUp { groups: 32, ..MadeUp::new(1, &levels(12, &[(0.0, 0.1), (1.0, 0.9)])) };
    run.parts = vec![part(
        "reward/style",
        PartKind::Own,
        Some(levels(12, &[(0.0, 0.7), (0.5, 0.7), (0.6, 0.1), (1.0, 0.1)])),
    )];
    let soft = self::of(&run);
    assert_eq!((soft.outcome, soft.damage.len()), (Outcome::Learned, 0));
    assert_eq!(soft.state(&nothing), State::Suspicious, "a part fell while the reward rose");
}
