//! The metrics: each a sum over a sum, so that groups and steps can be resampled.

use super::classes::StepClasses;
use super::fraction::Fraction;
use super::metric_names as names;
use super::result::{Family, Unit};
use stapo_framework::taxonomy::TokenClass;
use stapo_result::ComparedRun;
use stapo_result::{ClusterSum, ClusterSums};

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
    /// What it is of.
    pub family: Family,
    /// Whether it is of the family that was named in advance.
    pub primary: bool,
    /// Unit.
    pub unit: Unit,
    /// Whether it has no values below 0; of shares and tokens the unit says so.
    pub never_negative: bool,
    /// What a log needs for it.
    pub needs: Needs,
    /// Where its fractions come from.
    pub source: Source,
}

/// What a log needs for a metric.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// In words.
    pub words: &'static str,
    is_logged: fn(&ComparedRun) -> bool,
}

/// What every log that is analysed has.
const ADVANTAGES: Needs = Needs { words: "tokens with an advantage", is_logged: |_| true };
const REWARDS: Needs =
    Needs { words: "the column `reward`", is_logged: |run| run.totals.mean_reward.is_some() };
const CLIPS: Needs =
    Needs { words: "the column `logprob_new` or `clipped`", is_logged: |run| run.totals.clipped.is_some() };

impl Metric {
    /// Of what a reader of a training run asks for first.
    fn primary(self) -> Self {
        Self { primary: true, ..self }
    }

    fn never_negative(self) -> Self {
        Self { never_negative: true, ..self }
    }

    fn needing(self, needs: Needs) -> Self {
        Self { needs, ..self }
    }

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
    pub fn of_step(&self, classes: &StepClasses) -> Option<Fraction> {
        match self.source {
            Source::Clusters(..) => None,
            Source::ClassTokens(class) => Some(classes.token_share(class)),
            Source::ClassEnergy(class) => Some(classes.energy_share(class)),
        }
    }

    /// Whether the whole is a number of tokens, so that an upper limit can be given where none of
    /// them was seen.
    #[must_use]
    pub fn counts_tokens(&self) -> bool {
        match self.source {
            Source::Clusters(_, whole) => matches!(whole, [ClusterSum::Tokens | ClusterSum::Complete]),
            Source::ClassTokens(_) => true,
            Source::ClassEnergy(_) => false,
        }
    }

    /// Whether the log of a run can tell.
    #[must_use]
    pub fn is_known(&self, analysis: &ComparedRun) -> bool {
        (self.needs.is_logged)(analysis)
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
    use Unit as U;
    const ENERGY: &[S] = &[S::PositiveEnergy, S::NegativeEnergy];
    type Sums = &'static [S];
    let framework = |name: &str, label: &str, unit, part: Sums, whole: Sums| Metric {
        name: name.into(),
        label: label.into(),
        family: Family::Framework,
        primary: false,
        unit,
        never_negative: false,
        needs: ADVANTAGES,
        source: Source::Clusters(part, whole),
    };
    let energy = |name: &str, label: &str, part| framework(name, label, U::Share, part, ENERGY);
    let mut all = vec![
        framework(names::REWARD, "mean reward", U::Number, &[S::Reward], &[S::Rewarded])
            .primary()
            .needing(REWARDS),
        framework(names::ENTROPY, "mean entropy", U::Nats, &[S::Entropy], &[S::Complete])
            .primary()
            .never_negative(),
        framework(names::LENGTH, "length of responses", U::Tokens, &[S::Tokens], &[S::Responses]).primary(),
        framework(names::SILENCED_RATIO, "silenced tokens", U::Share, &[S::Silenced], &[S::Tokens]),
        framework("candidate_ratio", "candidates", U::Share, &[S::Candidates], &[S::Tokens]),
        energy(names::SPURIOUS_ENERGY_SHARE, "energy of silenced tokens", &[S::SilencedEnergy]),
        energy("exploratory_energy_share", "energy of exploratory tokens", &[S::ExploratoryEnergy]),
        energy("positive_energy_share", "energy of tokens with A > 0", &[S::PositiveEnergy]),
        framework("energy_per_token", "gradient energy a token", U::Number, ENERGY, &[S::Complete])
            .never_negative(),
        framework("zero_advantage_share", "tokens with A = 0", U::Share, &[S::Zero], &[S::Complete]),
        framework("clipped_share", "clipped tokens", U::Share, &[S::Clipped], &[S::Tokens]).needing(CLIPS),
        framework("risk", "spurious risk of tokens with A > 0", U::Nats, &[S::Risk], &[S::Positive]),
    ];
    type OfClass = fn(TokenClass) -> Source;
    let shares: [(&str, &str, OfClass); 2] = [
        ("class_share", "tokens with", Source::ClassTokens),
        ("energy_share", "energy of tokens with", Source::ClassEnergy),
    ];
    for (name, label, source) in shares {
        all.extend(CLASSES.map(|class| Metric {
            name: format!("{name}.{}", class.name()),
            label: format!("{label} {}", class.label()),
            family: Family::Classes,
            primary: false,
            unit: U::Share,
            never_negative: false,
            needs: ADVANTAGES,
            source: source(class),
        }));
    }
    all
}
