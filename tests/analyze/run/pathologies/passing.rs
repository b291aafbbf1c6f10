//! What was over before the end, what hardly weighs, and what never moved.

use stapo_analyze::analyze::RunAnalysis;

use super::paid::{part, regraded, way};
use super::run::{Kind, Shape};
use super::{SHAPE, told};

const LONG: Shape = Shape { steps: 24, ..SHAPE };

fn is_damaged(found: &RunAnalysis, signal: &str) -> bool {
    found.diagnosis.damage.iter().any(|damage| damage.signal == signal)
}

/// Most responses are cut and earn nothing in two of the last six steps, and then none; or in the last two.
#[test]
fn a_spike_that_is_over_is_no_damage_and_a_late_one_that_stays_is() {
    for (cut, expected) in [(18..20, false), (22..24, true)] {
        let found = regraded(LONG, |log, random| {
            for row in (0..log.steps.len()).filter(|row| cut.contains(&log.steps[*row])) {
                if random.unit() < 0.8 {
                    log.truncated[row] = true;
                    log.rewards[row] = 0.0;
                    log.parts.iter_mut().for_each(|(_, values)| values[row] = 0.0);
                }
            }
        });
        for signal in ["reward/format", "truncated"] {
            assert_eq!(is_damaged(&found, signal), expected, "{cut:?}, {signal}: {}", told(&found));
        }
    }
}

/// A part that few responses have, and none any more, while answers get better: by its weight it is next to nothing, or
/// not; and a format that a sixth of the responses lost.
#[test]
fn a_part_that_hardly_weighs_is_no_damage() {
    for (has, value, weight, expected) in
        [([0.05, 0.0], 0.33, 0.05, false), ([0.05, 0.0], 0.33, 5.0, true), ([0.97, 0.81], 1.0, 0.05, true)]
    {
        let found = regraded(Shape { kind: Kind::LearnsFast, ..LONG }, |log, random| {
            let style = |row: usize| {
                let share = has[usize::from(way(log, row) > 0.5)];
                if random.unit() < share { value } else { 0.0 }
            };
            let styles: Vec<f32> = (0..log.rewards.len()).map(style).collect();
            let answers = part(log, "reward/answer").to_vec();
            log.rewards =
                answers.iter().zip(&styles).map(|(answer, style)| answer + weight * style).collect();
            log.parts = vec![("reward/answer", answers), ("reward/style", styles)];
        });
        assert_eq!(is_damaged(&found, "reward/style"), expected, "{has:?} × {weight}: {}", told(&found));
    }
}

/// Enough steps to see a noticeable change of the reward, and too few; then a run that learns.
#[test]
fn a_run_that_did_not_learn_is_told_where_a_change_could_have_been_seen() {
    for (kind, steps, expected) in
        [(Kind::Flat, 64, true), (Kind::Flat, 5, false), (Kind::LearnsFast, 64, false)]
    {
        let found = regraded(Shape { kind, steps, ..SHAPE }, |_, _| ());
        let health = &found.verdict.health;
        assert_eq!(health.contains("It did not learn"), expected, "{kind:?}, {steps}: {health}");
    }
}
