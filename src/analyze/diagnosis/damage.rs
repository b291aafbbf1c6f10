//! What got worse for good.

use super::signals::{Role, Series};
use crate::analyze::result::{Damage, Onset};
use crate::stats::sustained::{Change, Direction};

/// A loss counts from this part of a single response's standard deviation on …
const NOTICED: f64 = 0.2;
/// … and from this part of what was reached above the floor (of what was left below the ceiling, of a cost).
const LOST: f64 = 0.1;
/// More responses that are cut, or loop, count from this share on.
const MORE_HARM: f64 = 0.1;
/// Entropy below this part of where it came from has collapsed.
const COLLAPSED: f64 = 0.15;
/// Entropy above this multiple, and so many nats, has exploded; …
const EXPLODED_MULTIPLE: f64 = 2.5;
const EXPLODED_NATS: f64 = 0.5;
/// … or if it went this part of the way to that of random tokens, which it cannot exceed.
const WAY_TO_RANDOM: f64 = 0.5;
/// Near the floor: within this part of the range of single responses.
const NEAR_FLOOR: f64 = 0.1;

/// All lasting changes of a run's signals.
pub struct Changes {
    /// What got worse, the earliest first.
    pub damage: Vec<Damage>,
    /// All of them, the earliest first.
    pub onsets: Vec<Onset>,
    /// By signal.
    pub found: Vec<(String, Change)>,
}

/// Looks for lasting changes; `random_entropy` is ln V.
pub fn changes(series: &[Series], random_entropy: f64) -> Changes {
    let mut changes = Changes { damage: Vec::new(), onsets: Vec::new(), found: Vec::new() };
    for series in series {
        for direction in [Direction::Down, Direction::Up] {
            let Some(change) = series.change(direction) else { continue };
            let onset = Onset { signal: series.name.clone(), step: change.onset, direction };
            if is_damage(series, &change, random_entropy) {
                changes.damage.push(Damage {
                    signal: series.name.clone(),
                    from_step: change.onset,
                    before: change.before,
                    after: change.after,
                });
            }
            changes.onsets.push(onset);
            changes.found.push((series.name.clone(), change));
        }
    }
    changes.damage.sort_by_key(|damage| damage.from_step);
    changes.onsets.sort_by_key(|onset| onset.step);
    changes
}

fn is_damage(series: &Series, change: &Change, random_entropy: f64) -> bool {
    let fall = change.before - change.after;
    match (series.role, change.direction) {
        (Role::Goal, Direction::Down) => series.range.is_some_and(|[floor, _, deviation]| {
            fall >= NOTICED * deviation && fall >= LOST * (change.before - floor)
        }),
        (Role::Cost, Direction::Up) => series.range.is_some_and(|[_, ceiling, deviation]| {
            -fall >= NOTICED * deviation && -fall >= LOST * (ceiling - change.before)
        }),
        (Role::Harm, Direction::Up) => -fall >= MORE_HARM,
        (Role::Entropy, Direction::Down) => change.after <= COLLAPSED * change.before,
        (Role::Entropy, Direction::Up) => {
            let multiplied = change.after >= EXPLODED_MULTIPLE * change.before && -fall >= EXPLODED_NATS;
            multiplied || -fall >= WAY_TO_RANDOM * (random_entropy - change.before)
        }
        _ => false,
    }
}

/// Whether what the run was trained for is near its floor at the end; `goal` is the signal that says
/// so best.
pub fn at_floor(goal: &Series) -> bool {
    let (Some([low, high, _]), Some(end)) = (goal.range, goal.end()) else { return false };
    high > low && end - low <= NEAR_FLOOR * (high - low)
}
