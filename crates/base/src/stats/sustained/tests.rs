#![allow(clippy::unwrap_used)]

use super::*;

fn series(values: impl IntoIterator<Item = f64>, error: Option<f64>) -> Vec<Point> {
    let point = |(i, value)| Point { step: 3 * i as i64, value, error };
    values.into_iter().enumerate().map(point).collect()
}

fn noisy(random: &mut Random, steps: usize, error: f64, level: impl Fn(usize) -> f64) -> Vec<f64> {
    (0..steps).map(|i| level(i) + error * random.normal()).collect()
}

#[test]
fn falls_are_dated_to_their_beginning() {
    let values = [0.2, 0.5, 0.8, 0.82, 0.79, 0.81, 0.6, 0.4, 0.2, 0.05, 0.03, 0.04];
    let change = sustained(&series(values, Some(0.02)), Direction::Down).unwrap();
    assert_eq!(change.onset, 18);
    assert!((change.before - 0.8).abs() < 0.03 && (change.after - 0.04).abs() < 0.01, "{change:?}");
    assert_eq!(sustained(&series(values, Some(0.02)), Direction::Up), None);
    let back = [0.8, 0.82, 0.79, 0.1, 0.12, 0.8, 0.81, 0.8, 0.79];
    assert_eq!(sustained(&series(back, Some(0.02)), Direction::Down), None, "it came back");
}

/// Steps of few responses scatter nearly as much as the reward fell: one that chance lifts back to where
/// the fall came from is not its beginning.
#[test]
fn noise_does_not_delay_a_beginning() {
    let mut random = Random::new(13, 0);
    let (mut found, mut off, mut late) = (0, 0, 0);
    for _ in 0..200 {
        let values = noisy(&mut random, 40, 0.1, |i| if i < 20 { 0.5 } else { 0.24 });
        let Some(change) = sustained(&series(values, Some(0.1)), Direction::Down) else { continue };
        let steps = change.onset / 3 - 20;
        found += 1;
        off += steps.abs();
        late += i64::from(steps > 8);
    }
    assert!(found > 150, "{found}");
    assert!(off <= 2 * found && 20 * late <= found, "{off} steps off, {late} late, of {found}");
}

#[test]
fn one_step_before_is_enough_where_its_error_is_known() {
    let mut values = vec![0.97; 11];
    values[0] = 0.22;
    let change = sustained(&series(values.clone(), Some(0.03)), Direction::Up).unwrap();
    assert_eq!(change.onset, 3);
    assert_eq!(sustained(&series(values, None), Direction::Up), None, "one of eleven may be chance");
}

/// The mean of the last quarter holds an excursion that was over before the end.
#[test]
fn what_came_back_before_the_end_is_no_change() {
    let cut = |i: usize| [0.7, 0.4].get(i.wrapping_sub(33)).copied().unwrap_or(0.0);
    let spike = series((0..40).map(cut), Some(0.03));
    assert_eq!(sustained(&spike, Direction::Up), None);
    let out = series((0..60).map(|i| if (50..53).contains(&i) { 0.0 } else { 0.9 }), Some(0.04));
    assert_eq!(sustained(&out, Direction::Down), None);
    let twice = series((0..60).map(|i| if [46, 50].contains(&i) { 0.0 } else { 0.9 }), Some(0.04));
    assert_eq!(sustained(&twice, Direction::Down), None);
    let unknown = series((0..60).map(|i| cut(i / 2 + 8) + 0.001 * (i % 7) as f64), None);
    assert_eq!(sustained(&unknown, Direction::Up), None);
    let partly =
        series((0..60).map(|i| [0.9, 0.2, 0.6][usize::from(i >= 40) + usize::from(i >= 52)]), Some(0.04));
    let change = sustained(&partly, Direction::Down).unwrap();
    assert!((change.after - 0.6).abs() < 1e-9 && change.onset == 120, "{change:?}");
}

#[test]
fn a_late_fall_that_stays_is_a_change() {
    let mut random = Random::new(14, 0);
    let (mut late, mut lasting) = (0, 0);
    for _ in 0..300 {
        let values = noisy(&mut random, 60, 0.05, |i| if i < 56 { 0.9 } else { 0.4 });
        late += u32::from(sustained(&series(values, Some(0.05)), Direction::Down).is_some());
        let values = noisy(&mut random, 60, 0.1, |i| if i < 30 { 0.9 } else { 0.75 });
        let change = sustained(&series(values, Some(0.1)), Direction::Down);
        lasting += u32::from(change.is_some_and(|change| (change.after - 0.75).abs() < 0.08));
    }
    assert!(late >= 297 && lasting >= 285, "{late} and {lasting} of 300");
}

/// A slow fall under much noise: no window stands out, the halves do.
#[test]
fn halves_that_differ_are_enough() {
    let first = [0.30, 0.24, 0.19, 0.22, 0.20, 0.11, 0.18, 0.23, 0.28, 0.15];
    let second = [0.14, 0.04, 0.14, 0.08, 0.12, 0.12, 0.12, 0.08, 0.08, 0.08];
    let change = sustained(&series(first.into_iter().chain(second), Some(0.055)), Direction::Down).unwrap();
    assert!((change.before - 0.21).abs() < 1e-9 && (change.after - 0.096).abs() < 1e-9, "{change:?}");
}

#[test]
fn too_few_steps_say_nothing() {
    assert_eq!(sustained(&series([1.0, 1.0, 0.0], Some(0.01)), Direction::Down), None);
    assert_eq!(sustained(&series([9.0, 9.0, 9.0, 1.0, 1.0, 1.0], None), Direction::Down), None);
}

/// A series without change is called changed no more often than stated, however long it is.
#[test]
fn false_alarms_are_as_stated() {
    let mut random = Random::new(11, 0);
    for steps in [4, 11, 40, 400] {
        let mut alarms = 0;
        for _ in 0..1_000 {
            let values = noisy(&mut random, steps, 0.05, |_| 0.5);
            alarms += u32::from(sustained(&series(values, Some(0.05)), Direction::Down).is_some());
        }
        assert!(alarms <= 5, "{alarms} of 1000 at {steps} steps");
    }
    let mut alarms = 0;
    for _ in 0..200 {
        let values = noisy(&mut random, 30, 1.0, |_| 0.0);
        alarms += u32::from(sustained(&series(values, None), Direction::Up).is_some());
    }
    assert!(alarms <= 2, "{alarms} of 200 without errors");
}

#[test]
fn falls_and_drifts_are_found() {
    let mut random = Random::new(12, 0);
    for steps in [8, 11, 40, 400] {
        let (mut jumps, mut drifts, mut unknown) = (0, 0, 0);
        for _ in 0..100 {
            let jump = noisy(&mut random, steps, 0.04, |i| if 2 * i < steps { 0.9 } else { 0.55 });
            jumps += u32::from(sustained(&series(jump.clone(), Some(0.04)), Direction::Down).is_some());
            unknown += u32::from(sustained(&series(jump, None), Direction::Down).is_some());
            let drift = noisy(&mut random, steps, 0.04, |i| 0.9 - 0.5 * i as f64 / steps as f64);
            drifts += u32::from(sustained(&series(drift, Some(0.04)), Direction::Down).is_some());
        }
        assert!(jumps >= 95 && drifts >= 80, "{jumps} {drifts} of 100 at {steps} steps");
        assert!(unknown >= if steps < 40 { 0 } else { 90 }, "{unknown} of 100 at {steps} steps");
    }
}
