//! What was over before the end.

use stapo_analyze::analyze::RunAnalysis;

use super::paid::regraded;
use super::run::Shape;
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
