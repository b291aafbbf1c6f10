//! Corrections for a sampler that is not the trainer: what each does to the weight of a token.
//!
//! r = π_old/μ is the ratio of trainer to sampler, d = ln r, s = Σ d over the T trained tokens of a
//! response. Bounds of truncation and of IcePop are on r; those of the masks (MIS) on μ/π_old, as in
//! verl's `rollout_rs`.

use std::fmt;
use std::str::FromStr;

/// The differences of one response.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ResponseRatios {
    /// T.
    pub tokens: u64,
    /// s.
    pub sum: f64,
    /// Σ (e^d − 1 − d).
    pub k3: f64,
    /// Largest e^d − 1 − d.
    pub largest_k3: f64,
    /// Smallest d.
    pub smallest: f64,
}

/// How k3 of a response's tokens is put into one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Fold {
    /// Sum.
    Sum,
    /// Mean.
    Mean,
    /// Largest.
    Max,
}

/// A correction with its bounds.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Correction {
    /// min(r, C).
    TokenTis(f64),
    /// r inside of the bounds, else 0.
    TokenIcePop(f64, f64),
    /// 1 inside of the bounds, else 0.
    TokenMis(f64, f64),
    /// min(e^s, C) for all tokens of the response, s within ±20 as in verl: no response is dropped.
    SequenceTis(f64),
    /// 1 for responses with e^−s inside of the bounds, else 0.
    SequenceMis(f64, f64),
    /// 1 for responses with e^{−s/T} inside of the bounds, else 0.
    GeometricMis(f64, f64),
    /// 1 for responses whose k3 is at most this, else 0.
    SequenceK3(Fold, f64),
    /// 0 for responses with any r below this, else 1.
    Veto(f64),
}

/// verl clamps differences of tokens and of responses to ± this before it takes their exponential.
pub const VERL_BOUND: f64 = 20.0;
/// Cap of truncation.
pub const TIS_CAP: f64 = 2.0;
/// Bounds of IcePop.
pub const ICEPOP_BOUNDS: (f64, f64) = (0.5, 5.0);
/// Bounds of the masks by token and by response.
pub const MIS_BOUNDS: (f64, f64) = (0.5, 2.0);
/// Bounds of the mask by the geometric mean of a response.
pub const GEOMETRIC_MIS_BOUNDS: (f64, f64) = (0.999, 1.001);

/// Their authors' defaults.
pub const DEFAULTS: [Correction; 8] = [
    Correction::TokenTis(TIS_CAP),
    Correction::TokenIcePop(ICEPOP_BOUNDS.0, ICEPOP_BOUNDS.1),
    Correction::TokenMis(MIS_BOUNDS.0, MIS_BOUNDS.1),
    Correction::SequenceTis(TIS_CAP),
    Correction::SequenceMis(MIS_BOUNDS.0, MIS_BOUNDS.1),
    Correction::GeometricMis(GEOMETRIC_MIS_BOUNDS.0, GEOMETRIC_MIS_BOUNDS.1),
    Correction::SequenceK3(Fold::Mean, 0.01),
    Correction::Veto(1e-4),
];

impl Correction {
    /// Whether all tokens of a response get the same weight.
    #[must_use]
    pub fn is_of_responses(&self) -> bool {
        !matches!(self, Self::TokenTis(_) | Self::TokenIcePop(..) | Self::TokenMis(..))
    }

    /// Whether it drops tokens, instead of weighing them by the ratio.
    #[must_use]
    pub fn is_mask(&self) -> bool {
        !matches!(self, Self::TokenTis(_) | Self::TokenIcePop(..) | Self::SequenceTis(_))
    }

    /// The weight of a token of ratio `r`, and whether it is the uncapped one: r of rules that weigh by
    /// the ratio, 1 of masks. Rules of tokens look at `ratio` alone, the others at the response alone.
    #[inline(always)]
    #[must_use]
    pub fn weight(&self, ratio: f64, response: &ResponseRatios) -> (f64, bool) {
        let kept = |inside: bool| (f64::from(u8::from(inside)), inside);
        match *self {
            Self::TokenTis(cap) => (if ratio > cap { cap } else { ratio }, ratio <= cap),
            Self::TokenIcePop(low, high) => {
                let inside = (ratio >= low) & (ratio <= high);
                (if inside { ratio } else { 0.0 }, inside)
            }
            Self::TokenMis(low, high) => kept((ratio <= 1.0 / low) & (ratio >= 1.0 / high)),
            Self::SequenceTis(cap) => {
                let inside = response.sum <= cap.ln();
                (if inside { response.sum.max(-VERL_BOUND).exp() } else { cap }, inside)
            }
            Self::SequenceMis(low, high) => kept(within(-response.sum, low, high)),
            Self::GeometricMis(low, high) => {
                kept(within(-response.sum / response.tokens.max(1) as f64, low, high))
            }
            Self::SequenceK3(fold, high) => kept(match fold {
                Fold::Sum => response.k3 <= high,
                Fold::Mean => response.k3 / response.tokens.max(1) as f64 <= high,
                Fold::Max => response.largest_k3 <= high,
            }),
            Self::Veto(least) => kept(response.smallest >= least.ln()),
        }
    }
}

/// Whether e^log lies within the bounds.
fn within(log: f64, low: f64, high: f64) -> bool {
    log >= low.ln() && log <= high.ln()
}

/// `token_tis_2`, `token_icepop_0.5_5`, … `veto_1e-4`.
impl fmt::Display for Correction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::TokenTis(cap) => write!(f, "token_tis_{}", Number(cap)),
            Self::TokenIcePop(low, high) => write!(f, "token_icepop_{}_{}", Number(low), Number(high)),
            Self::TokenMis(low, high) => write!(f, "token_mis_{}_{}", Number(low), Number(high)),
            Self::SequenceTis(cap) => write!(f, "sequence_tis_{}", Number(cap)),
            Self::SequenceMis(low, high) => write!(f, "sequence_mis_{}_{}", Number(low), Number(high)),
            Self::GeometricMis(low, high) => write!(f, "geometric_mis_{}_{}", Number(low), Number(high)),
            Self::SequenceK3(fold, high) => {
                let fold = match fold {
                    Fold::Sum => "sum",
                    Fold::Mean => "mean",
                    Fold::Max => "max",
                };
                write!(f, "sequence_{fold}_k3_{}", Number(high))
            }
            Self::Veto(least) => write!(f, "veto_{}", Number(least)),
        }
    }
}

struct Number(f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 1e-3 { write!(f, "{:e}", self.0) } else { write!(f, "{}", self.0) }
    }
}

/// Reads what [`Display`](fmt::Display) writes.
impl FromStr for Correction {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        type Make = fn(&[f64]) -> Correction;
        let rules: [(&str, usize, Make); 10] = [
            ("token_tis_", 1, |b| Self::TokenTis(b[0])),
            ("token_icepop_", 2, |b| Self::TokenIcePop(b[0], b[1])),
            ("token_mis_", 2, |b| Self::TokenMis(b[0], b[1])),
            ("sequence_tis_", 1, |b| Self::SequenceTis(b[0])),
            ("sequence_mis_", 2, |b| Self::SequenceMis(b[0], b[1])),
            ("geometric_mis_", 2, |b| Self::GeometricMis(b[0], b[1])),
            ("sequence_sum_k3_", 1, |b| Self::SequenceK3(Fold::Sum, b[0])),
            ("sequence_mean_k3_", 1, |b| Self::SequenceK3(Fold::Mean, b[0])),
            ("sequence_max_k3_", 1, |b| Self::SequenceK3(Fold::Max, b[0])),
            ("veto_", 1, |b| Self::Veto(b[0])),
        ];
        let rule = rules.iter().find(|(prefix, ..)| text.starts_with(prefix));
        let (prefix, count, make) = rule.ok_or_else(|| {
            let names: Vec<String> = DEFAULTS.iter().map(ToString::to_string).collect();
            format!("no such correction; write one as {}", names.join(", "))
        })?;
        let bounds: Option<Vec<f64>> =
            text[prefix.len()..].split('_').map(|bound| bound.parse().ok().filter(|b| *b > 0.0)).collect();
        match bounds {
            Some(bounds) if bounds.len() == *count && bounds.is_sorted() => Ok(make(&bounds)),
            _ => Err(format!("{prefix} takes {count} ascending numbers above 0, joined by _")),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written() {
        for rule in DEFAULTS.into_iter().chain([Correction::SequenceK3(Fold::Max, 0.3)]) {
            assert_eq!(rule.to_string().parse::<Correction>().unwrap(), rule);
        }
        assert_eq!(Correction::Veto(1e-4).to_string(), "veto_1e-4");
        assert_eq!(Correction::TokenTis(2.0).to_string(), "token_tis_2");
        for bad in ["token_tis", "token_tis_0", "token_mis_2_0.5", "token_mis_2", "tis_2", "veto_x"] {
            assert!(bad.parse::<Correction>().is_err(), "{bad}");
        }
    }

    #[test]
    fn weights_follow_their_definitions() {
        let response = ResponseRatios { tokens: 2, sum: 1.0, k3: 0.4, largest_k3: 0.3, smallest: -1.0 };
        let weight = |rule: &str, r: f64| rule.parse::<Correction>().unwrap().weight(r, &response).0;
        assert_eq!(weight("token_tis_2", 3.0), 2.0);
        assert_eq!(weight("token_icepop_0.5_5", 0.4), 0.0);
        assert_eq!(weight("token_icepop_0.5_5", 3.0), 3.0);
        // Bounds on μ/π_old: r = 3 is 1/3 there.
        assert_eq!(weight("token_mis_0.25_2", 3.0), 1.0);
        assert_eq!(weight("token_mis_0.25_2", 0.4), 0.0);
        assert_eq!(weight("sequence_tis_2", 1.0), 2.0);
        assert_eq!(weight("sequence_mis_0.3_2", 1.0), 1.0);
        assert_eq!(weight("sequence_mis_0.5_2", 1.0), 0.0);
        assert_eq!(weight("geometric_mis_0.6_1.5", 1.0), 1.0);
        assert_eq!(weight("sequence_mean_k3_0.2", 1.0), 1.0);
        assert_eq!(weight("sequence_sum_k3_0.2", 1.0), 0.0);
        assert_eq!(weight("veto_0.5", 1.0), 0.0);
        let far = ResponseRatios { sum: 800.0, ..response };
        assert_eq!(Correction::SequenceTis(2.0).weight(1.0, &far).0, 2.0);
        // e^−800 is no f64; verl's clamp keeps it from being dropped, which no truncation does.
        let near = ResponseRatios { sum: -800.0, ..response };
        assert_eq!(Correction::SequenceTis(2.0).weight(1.0, &near), ((-20.0_f64).exp(), true));
    }
}
