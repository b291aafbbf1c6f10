//! The reward rises while a part of it falls.
//!
//! Statistic: lasting changes of the total and of its parts (see `stats::sustained` for their false
//! alarms), and how much of the advantage length explains within groups.
//! Threshold: a part that was damaged while the total rose for good is likely; while the total
//! stood still it is only possible: then something else took the part away.

use super::super::patient::{Finding, Patient, at, found, number, percent};
use super::within_groups::explained;
use crate::analyze::collect::signs::facts::ResponseFact;
use crate::analyze::result::{CauseCode, Confidence, Damage};
use crate::ingest::Column;
use crate::stats::sustained::Direction;

/// Length that explains this much of the advantage is named.
const LENGTH_EXPLAINS: f64 = 0.25;

/// Looks for it.
pub fn examine(patient: &Patient<'_>) -> Finding {
    if !patient.has(Column::Reward) || patient.plan.reward_parts.is_empty() {
        return Finding::NotChecked("the parts of the reward, as columns reward/<name>");
    }
    let is_part = |damage: &&Damage| damage.signal.starts_with("reward/");
    let fallen: Vec<&Damage> = patient.changes.damage.iter().filter(is_part).collect();
    let Some(first) = fallen.first() else { return Finding::Absent };
    let total_fell = patient.changes_of("reward").any(|change| change.direction == Direction::Down);
    let rise = patient.changes_of("reward").find(|change| change.direction == Direction::Up);
    if total_fell {
        return Finding::Absent;
    }
    let advantage = |f: &ResponseFact| f64::from(f.advantage);
    let length = |f: &ResponseFact| f64::from(f.length);
    let by_length = explained(patient.groups(), &advantage, &[&length]).map_or(0.0, |e| e.share);
    let mut evidence: Vec<_> = fallen.iter().map(|d| at(d.from_step, &d.signal, d.after)).collect();
    evidence.push(number("share of the advantage that length explains within groups", by_length));
    let names: Vec<String> =
        fallen.iter().map(|d| format!("{} fell {:.2} → {:.2}", d.signal, d.before, d.after)).collect();
    let because = match by_length {
        share if share > LENGTH_EXPLAINS => {
            format!("; length alone explains {} of the advantage", percent(share))
        }
        _ => String::new(),
    };
    let Some(rise) = rise else {
        return found(
            CauseCode::RewardHacking,
            Confidence::Possible,
            Some(first.from_step),
            format!("{} while the reward stood still{because}", names.join(", ")),
            "look at what the total is made of: a part that is lost should cost reward",
            evidence,
        );
    };
    evidence.push(at(rise.onset, "reward", rise.after));
    found(
        CauseCode::RewardHacking,
        Confidence::Likely,
        Some(first.from_step.min(rise.onset)),
        format!("the reward rose {:.2} → {:.2} while {}{because}", rise.before, rise.after, names.join(", ")),
        "read late responses with a high reward; take out or bound the part that is gamed, and weigh the \
         part that you want",
        evidence,
    )
}
