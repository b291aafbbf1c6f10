//! Advantages whose size changes on the way.

use stapo_analyze::analyze::RunAnalysis;
use stapo_analyze::analyze::result::{CauseCode, Confidence, Direction, RunState};

use super::innocent::changed;
use super::run::{Fault, Kind, Shape};
use super::{SHAPE, alarms, told};

/// A healthy run whose advantages are so many times as large from a step on.
fn scaled(shape: Shape, times: f32, from: i64) -> RunAnalysis {
    changed(Fault::Nothing, shape, |log| {
        for (advantage, step) in log.advantages.iter_mut().zip(&log.steps) {
            *advantage *= if *step >= from { times } else { 1.0 };
        }
    })
}

fn onset(analysis: &RunAnalysis) -> Option<(i64, Direction)> {
    let onsets = &analysis.diagnosis.onsets;
    onsets.iter().find(|onset| onset.signal == "advantage_size").map(|onset| (onset.step, onset.direction))
}

/// Their normalisation is dropped.
#[test]
fn advantages_that_become_large_are_a_sign_and_a_possible_cause() {
    for kind in [Kind::Plain, Kind::NoRatio] {
        let found = scaled(Shape { kind, ..SHAPE }, 50.0, 7);
        assert_eq!(onset(&found), Some((7, Direction::Up)), "{}", told(&found));
        let cause = found.diagnosis.causes.iter().find(|c| c.code == CauseCode::LargeUpdates).unwrap();
        assert_eq!((cause.confidence, cause.from_step), (Confidence::Possible, Some(7)), "{cause:?}");
        assert!(cause.message.starts_with("from step 7 on advantages are "), "{}", cause.message);
        let times = cause.evidence.iter().find(|e| e.what == "times as large as before").unwrap().value;
        assert!((40.0..60.0).contains(&times), "{}", cause.message);
        assert_eq!(alarms(&found), Vec::<&str>::new(), "{}", told(&found));
        assert_eq!(found.diagnosis.state, RunState::Healthy, "{}", told(&found));
    }
}

#[test]
fn advantages_that_become_small_or_a_little_larger_are_a_sign_only() {
    for (times, direction) in [(0.02, Direction::Down), (4.0, Direction::Up)] {
        let found = scaled(SHAPE, times, 7);
        assert_eq!(onset(&found), Some((7, direction)), "{}", told(&found));
        let causes = &found.diagnosis.causes;
        assert!(!causes.iter().any(|c| c.code == CauseCode::LargeUpdates), "{}", told(&found));
    }
    let same = scaled(SHAPE, 1.0, 7);
    assert_eq!(onset(&same), None, "{}", told(&same));
}
