//! The metrics: each a sum over a sum, so that groups and steps can be resampled.

use super::result::{Family, Unit};
use crate::analyze::RunCore;
use crate::analyze::result::{ClusterSum, ClusterSums, StepRow};
use crate::framework::taxonomy::TokenClass;

/// A part over a whole.
pub type Fraction = [f64; 2];

/// The value of a fraction; `None` where there is nothing.
#[must_use]
pub fn value([part, whole]: Fraction) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

/// Where the fractions of a metric come from.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// Sums of a cluster: the parts of the numerator, those of the denominator.
    Clusters(&'static [ClusterSum], &'static [ClusterSum]),
    /// Tokens of a class; known by step only.
    ClassTokens(TokenClass),
    /// Energy of a class; known by step only.
    ClassEnergy(TokenClass),
}

/// A metric.
#[derive(Clone, Debug)]
pub struct Metric {
    /// Name in `compare.json`.
    pub name: String,
    /// What it is, in words.
    pub label: String,
    /// p-values are adjusted within a family.
    pub family: Family,
    /// Its unit.
    pub unit: Unit,
    /// Where its fractions come from.
    pub source: Source,
}

impl Metric {
    /// The fraction of a cluster; `None` for metrics that are known by step only.
    #[must_use]
    pub fn of_cluster(&self, sums: &ClusterSums) -> Option<Fraction> {
        match self.source {
            Source::Clusters(part, whole) => {
                let sum = |of: &[ClusterSum]| of.iter().map(|s| sums[*s as usize]).sum::<f64>();
                Some([sum(part), sum(whole)])
            }
            _ => None,
        }
    }

    /// The fraction of a step; `None` for metrics that clusters have.
    #[must_use]
    pub fn of_step(&self, row: &StepRow) -> Option<Fraction> {
        match self.source {
            Source::Clusters(..) => None,
            Source::ClassTokens(class) => {
                let all = row.class_tokens.iter().sum::<u64>();
                Some([row.class_tokens[class as usize] as f64, all as f64])
            }
            Source::ClassEnergy(class) => {
                let energy = row.gradient_energy;
                Some([row.class_energy_shares[class as usize] * energy, energy])
            }
        }
    }

    /// Whether the log of a run can tell.
    #[must_use]
    pub fn is_known(&self, analysis: &RunCore) -> bool {
        match self.name.as_str() {
            "reward" => analysis.totals.mean_reward.is_some(),
            "clipped_share" => analysis.totals.clipped.is_some(),
            _ => true,
        }
    }

    /// What a log needs for it.
    #[must_use]
    pub fn needs(&self) -> &'static str {
        match self.name.as_str() {
            "reward" => "the column `reward`",
            "clipped_share" => "the column `logprob_new` or `clipped`",
            _ => "tokens with an advantage",
        }
    }
}

/// Classes that have no metric of their own above.
const CLASSES: [TokenClass; 6] = [
    TokenClass::PositiveHighPHighH,
    TokenClass::PositiveHighPLowH,
    TokenClass::NegativeHighPHighH,
    TokenClass::NegativeHighPLowH,
    TokenClass::NegativeLowPHighH,
    TokenClass::NegativeLowPLowH,
];

/// All metrics, the most asked for first.
#[must_use]
pub fn metrics() -> Vec<Metric> {
    use ClusterSum as S;
    const ENERGY: &[S] = &[S::PositiveEnergy, S::NegativeEnergy];
    let framework = |name: &str, label: &str, unit, part, whole| Metric {
        name: name.into(),
        label: label.into(),
        family: Family::Framework,
        unit,
        source: Source::Clusters(part, whole),
    };
    let mut all = vec![
        framework("entropy", "mean entropy", Unit::Nats, &[S::Entropy], &[S::Complete]),
        framework("reward", "mean reward", Unit::Number, &[S::Reward], &[S::Rewarded]),
        framework("length", "length of responses", Unit::Tokens, &[S::Tokens], &[S::Responses]),
        framework("silenced_ratio", "silenced tokens", Unit::Share, &[S::Silenced], &[S::Tokens]),
        framework("candidate_ratio", "candidates", Unit::Share, &[S::Candidates], &[S::Tokens]),
        framework(
            "spurious_energy_share",
            "energy of silenced tokens",
            Unit::Share,
            &[S::SilencedEnergy],
            ENERGY,
        ),
        framework(
            "exploratory_energy_share",
            "energy of exploratory tokens",
            Unit::Share,
            &[S::ExploratoryEnergy],
            ENERGY,
        ),
        framework(
            "positive_energy_share",
            "energy of tokens with A > 0",
            Unit::Share,
            &[S::PositiveEnergy],
            ENERGY,
        ),
        framework("energy_per_token", "gradient energy a token", Unit::Number, ENERGY, &[S::Complete]),
        framework("zero_advantage_share", "tokens with A = 0", Unit::Share, &[S::Zero], &[S::Complete]),
        framework("clipped_share", "clipped tokens", Unit::Share, &[S::Clipped], &[S::Tokens]),
        framework("risk", "spurious risk of tokens with A > 0", Unit::Nats, &[S::Risk], &[S::Positive]),
    ];
    for class in CLASSES {
        all.push(Metric {
            name: format!("class_share.{}", class.name()),
            label: format!("tokens with {}", class.label()),
            family: Family::Classes,
            unit: Unit::Share,
            source: Source::ClassTokens(class),
        });
    }
    for class in CLASSES {
        all.push(Metric {
            name: format!("energy_share.{}", class.name()),
            label: format!("energy of tokens with {}", class.label()),
            family: Family::Classes,
            unit: Unit::Share,
            source: Source::ClassEnergy(class),
        });
    }
    all
}
