//! Rewards on scales of their own: 0 or 1 in one run, −1 or 1 in the other. Then the means of rewards do not say
//! which run is better; right answers do, where both logs tell them.

use super::named_run::NamedRun;
use stapo_base::format::number;
use stapo_result::SignalName;

/// No part of a reward is worth so little that a run which earns nothing else has a range so many times smaller.
const FAR: f64 = 50.0;

/// The rewards of a run, as far as they show their scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// They are two.
    Two([f64; 2]),
    /// They are many, from one end to the other.
    Many([f64; 2]),
}

impl Scale {
    fn of(run: &NamedRun) -> Option<Self> {
        let signal = run.analysis.diagnosis.signals.iter().find(|signal| signal.name == SignalName::Reward);
        let two = run.analysis.two_rewards.map(|two| Self::Two(two.map(f64::from)));
        two.or_else(|| signal?.range.map(Self::Many))
    }

    /// Whether two runs cannot be rewarded alike. The lower rewards of one may be the higher ones of the other, and a
    /// run may lack rewards that the other has, so many rewards seldom tell.
    fn is_apart(self, other: Self) -> bool {
        match (self, other) {
            (Self::Two(a), Self::Two(b)) => a != b && a[1] != b[0] && b[1] != a[0],
            (Self::Two(two), Self::Many(many)) | (Self::Many(many), Self::Two(two)) => {
                (two[0] < 0.0 && many[0] >= 0.0) || (many[1] - many[0]) >= FAR * (two[1] - two[0])
            }
            (Self::Many(_), Self::Many(_)) => false,
        }
    }

    /// `0 or 1`, `0 to 1.2`.
    pub fn text(self) -> String {
        let (Self::Two(ends) | Self::Many(ends)) = self;
        let whole = |end: f64| end.fract() == 0.0 && end.abs() < 1e6;
        let [low, high] =
            ends.map(|end| if whole(end) { format!("{end:.0}").replace('-', "−") } else { number(end) });
        let between = if matches!(self, Self::Two(_)) { "or" } else { "to" };
        format!("{low} {between} {high}")
    }
}

/// The scales of two runs that are apart.
pub fn apart(runs: [&NamedRun; 2]) -> Option<[Scale; 2]> {
    let [a, b] = runs.map(Scale::of);
    a.zip(b).filter(|(a, b)| a.is_apart(*b)).map(|(a, b)| [a, b])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_is_written_as_its_ends() {
        assert_eq!(Scale::Two([-1.0, 1.0]).text(), "−1 or 1");
        assert_eq!(Scale::Many([0.0, 1.2]).text(), "0 to 1.20");
    }

    #[test]
    fn rewards_that_cannot_be_of_one_scale_are_apart() {
        use Scale::{Many, Two};
        for (a, b) in [
            (Two([0.0, 1.0]), Two([-1.0, 1.0])),
            (Two([0.0, 1.0]), Two([0.0, 100.0])),
            (Two([-1.0, 1.0]), Many([0.0, 1.2])),
            (Two([0.0, 1.0]), Many([0.0, 100.0])),
        ] {
            assert!(a.is_apart(b) && b.is_apart(a), "{a:?} {b:?}");
        }
        for (a, b) in [
            (Two([0.0, 1.0]), Two([0.0, 1.0])),
            // −1 for a bad format, 0 for a wrong answer, 1 for a right one.
            (Two([-1.0, 0.0]), Two([0.0, 1.0])),
            (Two([0.0, 0.1]), Many([0.0, 1.1])),
            (Two([0.0, 1.0]), Many([-0.5, 1.0])),
            (Many([0.0, 1.0]), Many([-1.0, 50.0])),
        ] {
            assert!(!a.is_apart(b) && !b.is_apart(a), "{a:?} {b:?}");
        }
    }
}
