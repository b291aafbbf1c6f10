//! What is known beside the evidence: what became of the run, and the claims about spurious tokens.

use crate::Symptom;
use crate::measure::right::is_right;
use crate::state::{self, Verdict};

/// Of a part's range, below which it never left the floor.
const NEVER: f64 = 0.05;

/// What became of the run, as far as causes are asked by it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// What stands behind its state.
    pub symptom: Option<Symptom>,
    /// Where that began.
    pub onset: Option<i64>,
    /// Parts of the reward that fall for good while the reward does not.
    pub fallen_parts: Vec<FallenPart>,
    /// z of the reward's gain from its start to its end.
    pub reward_gain_z: Option<f64>,
    /// A part that is named after right answers never left the floor: its best fifth is below a twentieth of its range.
    pub never_right: bool,
    /// The claims about spurious tokens, where they could be checked.
    pub spurious: Option<Spurious>,
}

impl Outcome {
    /// What the judge of reward and parts says. Parts that fall are of interest where the reward itself does not.
    #[must_use]
    pub fn of(verdict: &Verdict, spurious: Option<Spurious>) -> Self {
        let symptom = match verdict.outcome {
            state::Outcome::Damaged | state::Outcome::Collapsed => Some(Symptom::Damaged),
            state::Outcome::NotLearning => Some(Symptom::NotLearning),
            _ => None,
        };
        let reward_fell = verdict.damage.iter().any(|hit| hit.series == "reward");
        let parts = verdict.damage.iter().filter(|hit| hit.slice.is_none()).chain(&verdict.soft);
        let fallen_parts = parts.filter(|_| !reward_fell).map(|hit| FallenPart {
            name: hit.series.clone(),
            before: hit.from,
            after: hit.to,
            step: hit.since,
        });
        Self {
            symptom,
            onset: verdict.damage.iter().map(|hit| hit.since).min(),
            fallen_parts: fallen_parts.collect(),
            reward_gain_z: verdict.gain.map(|gain| gain.z),
            never_right: verdict.courses.iter().any(|course| {
                let gain = &course.gain;
                course.slice.is_none()
                    && is_right(&course.series)
                    && gain.best - gain.floor < NEVER * (gain.top - gain.floor)
            }),
            spurious,
        }
    }
}

/// A part of the reward that fell.
#[derive(Clone, Debug, PartialEq)]
pub struct FallenPart {
    /// Its name.
    pub name: String,
    /// Mean before.
    pub before: f64,
    /// Mean from `step` on.
    pub after: f64,
    /// Where it fell.
    pub step: i64,
}

/// Three of the framework's claims, as numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spurious {
    /// Share of the mask's candidates that are rare for the sampler, too; none where it logs nothing.
    pub rare_for_sampler: Option<f64>,
    /// Their share of the gradient energy over their share of tokens with A ≠ 0.
    pub energy_over_tokens: f64,
    /// Their share of the gradient energy.
    pub energy: f64,
    /// The first step at which there is one.
    pub first_step: Option<i64>,
}
