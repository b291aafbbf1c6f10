//! What the measures say of each claim, in words.

use super::candidates::CandidateClaims;
use super::norms::ClassNorms;
use super::relations::NormRelations;
use crate::finish::ratios::mean;
use stapo_base::format::{grouped, number, number_or_dash, percent, percent_or_dash};
use stapo_result::{
    ClaimId, ClaimRow, ClaimVerdict, MeasuredChange, S2tSummary, SpuriousTokens, StepRow, Totals,
};

/// A rank correlation of norm and p below this is one.
const FALLS_WITH_P: f64 = -0.5;
/// The same of norm and H at a fixed p, where H moves the norm by no more than √2.
const FALLS_WITH_ENTROPY: f64 = -0.2;
/// The paper's short peaks.
const FEW: f64 = 3e-4;
/// Most.
const MOST: f64 = 0.5;
/// Nearly all.
const NEARLY_ALL: f64 = 0.9;
/// Less of the gradient energy does not matter.
const MATTERS: f64 = 0.01;
/// A rank correlation of predicted and measured change above this is one.
const PREDICTS: f64 = 0.2;

/// What rows are made of.
pub struct Facts<'a> {
    /// How the norm goes with p and H.
    pub relations: NormRelations,
    /// Norms by class.
    pub classes: ClassNorms,
    /// What the candidates add up to.
    pub candidates: CandidateClaims,
    /// What S2T's tokens are to the update.
    pub spurious: &'a SpuriousTokens,
    /// The share of them below the median entropy of their step.
    pub below_median: Option<f64>,
    /// The mask.
    pub s2t: &'a S2tSummary,
    /// The run.
    pub totals: &'a Totals,
    /// Its steps.
    pub steps: &'a [StepRow],
    /// Measured against predicted change.
    pub measured: Option<&'a MeasuredChange>,
}

/// What is found of one claim.
struct Found {
    value: Option<f64>,
    beside: Option<String>,
    holds: bool,
    why: String,
}

/// What a claim cannot be checked without.
type Missing = &'static str;

const NO_NORM: Missing =
    "the norm is an estimate from p and H here, and would check itself: log sum_pi_sq or grad_norm";
const NOTHING_TAKEN: Missing = "S2T takes no token of this run";

/// One row a claim, in the order of their names' declaration.
pub fn rows(facts: &Facts<'_>) -> Vec<ClaimRow> {
    ClaimId::ALL.into_iter().map(|id| row(id, facts)).collect()
}

fn row(id: ClaimId, facts: &Facts<'_>) -> ClaimRow {
    let (claim, paper) = words(id);
    let found = match id {
        ClaimId::NormFallsWithP => norm_falls_with_p(facts),
        ClaimId::NormFallsWithEntropy => norm_falls_with_entropy(facts),
        ClaimId::SpuriousNormIsLargest => spurious_norm_is_largest(facts),
        ClaimId::Rare => rare(facts),
        ClaimId::ConfidentPolicy => confident_policy(facts),
        ClaimId::DrawnRarely => drawn_rarely(facts),
        ClaimId::EntropyRises => entropy_rises(facts),
        ClaimId::CarriesTheUpdate => carries_the_update(facts),
        ClaimId::PredictsTheChange => predicts_the_change(facts),
        ClaimId::ContributesLittle => {
            Err("one log cannot tell: `stapo-analyze replay` with the objectives dapo, stapo and \
                                           random masks them, and as many others")
        }
        ClaimId::DrivesInstability => {
            Err("one log cannot tell: `stapo-analyze compare` with an arm without a mask, one \
                                           with S2T, and one with a random mask")
        }
    };
    let (claim, paper) = (claim.to_owned(), paper.to_owned());
    match found {
        Ok(Found { value, beside, holds, why }) => {
            let verdict = if holds { ClaimVerdict::Holds } else { ClaimVerdict::Fails };
            ClaimRow { id, claim, value, beside, paper, verdict, why }
        }
        Err(why) => {
            let verdict = ClaimVerdict::Unchecked;
            ClaimRow { id, claim, value: None, beside: None, paper, verdict, why: why.into() }
        }
    }
}

/// The claim, and what the paper says of it.
fn words(id: ClaimId) -> (&'static str, &'static str) {
    match id {
        ClaimId::NormFallsWithP => ("a token's gradient norm falls with its probability", "falls"),
        ClaimId::NormFallsWithEntropy => ("at a fixed probability the norm falls with entropy", "falls"),
        ClaimId::SpuriousNormIsLargest => {
            ("what S2T takes has the largest norms of A > 0", "the highest of four classes")
        }
        ClaimId::Rare => ("S2T takes a few tokens in ten thousand", "about 0.01 %, peaks of 0.03 %"),
        ClaimId::ConfidentPolicy => ("it takes what a policy drew that was sure", "low entropy"),
        ClaimId::DrawnRarely => {
            ("what is rare for the trainer is rare for the sampler", "one policy draws and trains")
        }
        ClaimId::EntropyRises => ("an update on them raises entropy", "rises"),
        ClaimId::CarriesTheUpdate => {
            ("they carry more of the update than as many others", "abnormally large updates")
        }
        ClaimId::PredictsTheChange => {
            ("the predicted entropy change orders tokens as the measured one", "by its lemma")
        }
        ClaimId::ContributesLittle => ("what they say contributes little to the answer", "little"),
        ClaimId::DrivesInstability => ("they drive instability", "they do"),
    }
}

/// Of how many tokens it is said, where these are not all.
fn sampled(facts: &Facts<'_>) -> String {
    let NormRelations { tokens, weight, .. } = facts.relations;
    if weight > 1.0 {
        format!("; of {} tokens, 1 of {weight}", grouped(tokens as u64))
    } else {
        String::new()
    }
}

fn estimated(facts: &Facts<'_>) -> &'static str {
    if facts.classes.estimated { "; norms are estimated from p and H" } else { "" }
}

fn signed(value: Option<f64>) -> String {
    value
        .map_or_else(|| number_or_dash(None), |v| if v > 0.0 { format!("+{}", number(v)) } else { number(v) })
}

fn norm_falls_with_p(facts: &Facts<'_>) -> Result<Found, Missing> {
    let value = facts.relations.with_p.ok_or("no two tokens differ in p and in norm")?;
    let holds = value < FALLS_WITH_P;
    let why = if holds {
        "p decides the norm; at a fixed p entropy moves it by √2 at most"
    } else {
        "the norm does not follow p here"
    };
    Ok(Found {
        value: Some(value),
        beside: None,
        holds,
        why: format!("{why}{}{}", estimated(facts), sampled(facts)),
    })
}

fn norm_falls_with_entropy(facts: &Facts<'_>) -> Result<Found, Missing> {
    if facts.classes.estimated {
        return Err(NO_NORM);
    }
    let NormRelations { with_entropy, at_fixed_p, .. } = facts.relations;
    let value = at_fixed_p.ok_or("too few tokens of about the same p differ in entropy")?;
    let turns = with_entropy.is_some_and(|all| all > 0.0 && value < 0.0);
    let why = if turns {
        "over all tokens it rises, since p decides there, and improbable tokens come from uncertain states"
    } else {
        "within 200 chunks of tokens of about the same p"
    };
    Ok(Found {
        value: Some(value),
        beside: Some(format!("beside {} over all tokens", signed(with_entropy))),
        holds: value < FALLS_WITH_ENTROPY,
        why: format!("{why}{}", sampled(facts)),
    })
}

fn spurious_norm_is_largest(facts: &Facts<'_>) -> Result<Found, Missing> {
    let classes = &facts.classes;
    if classes.estimated {
        return Err(NO_NORM);
    }
    let value = classes.times_mean(&classes.spurious).ok_or(NOTHING_TAKEN)?;
    let others = [
        ("the other candidates", classes.exploratory, true),
        ("the rest of A > 0", classes.positive, true),
        ("rare tokens of A < 0", classes.negative_rare, false),
        ("the rest of A < 0", classes.negative, false),
    ];
    let others = others.map(|(name, norms, positive)| (name, classes.times_mean(&norms), positive));
    let larger = |positive: bool| {
        let known = others.iter().filter(move |other| other.2 == positive);
        known.filter(|other| other.1.is_some_and(|times| times > value)).map(|other| other.0).next()
    };
    let why = match (larger(true), larger(false)) {
        (Some(name), _) => format!("{name} have larger ones"),
        (None, Some(name)) => format!("the largest of A > 0; not of all: {name} have larger ones"),
        (None, None) => "the largest of all".into(),
    };
    let beside = others.iter().filter_map(|(name, times, _)| Some(format!("{} {name}", number((*times)?))));
    Ok(Found {
        value: Some(value),
        beside: Some(format!("times the mean; {}", beside.collect::<Vec<_>>().join(", "))),
        holds: larger(true).is_none(),
        why: format!("{why}{}", sampled(facts)),
    })
}

fn rare(facts: &Facts<'_>) -> Result<Found, Missing> {
    let complete = facts.totals.tokens - facts.totals.missing;
    let value = mean(facts.s2t.silenced as f64, complete).ok_or("no token has all values")?;
    let of_steps = || facts.steps.iter().map(|row| row.silenced_ratio);
    let (least, most) = (of_steps().fold(f64::INFINITY, f64::min), of_steps().fold(0.0, f64::max));
    let holds = value <= FEW;
    let why = if holds {
        "as few as the paper has".to_owned()
    } else {
        format!(
            "{} times the paper's peaks: it is no rare event here that an improbable token is drawn",
            number(value / FEW)
        )
    };
    let beside = (least <= most).then(|| format!("in steps {} to {}", percent(least), percent(most)));
    Ok(Found { value: Some(value), beside, holds, why })
}

fn confident_policy(facts: &Facts<'_>) -> Result<Found, Missing> {
    let value = facts.below_median.ok_or(NOTHING_TAKEN)?;
    let holds = value > MOST;
    let why = if holds {
        "most are below the median entropy of their step"
    } else {
        "most are above the median entropy of their step: τ_h is a quantile among rare tokens, and these come from \
         uncertain states; S2T takes ordinary rare draws, not mistakes of a policy that was sure"
    };
    let beside = format!(
        "with τ_h at {} nats, and a mean entropy of {}",
        number_or_dash(facts.s2t.median_tau_h.or(facts.s2t.entropy_threshold)),
        number_or_dash(facts.totals.mean_entropy)
    );
    Ok(Found { value: Some(value), beside: Some(beside), holds, why: why.into() })
}

fn drawn_rarely(facts: &Facts<'_>) -> Result<Found, Missing> {
    let spurious = facts.spurious;
    let value = spurious.candidates_rare_for_sampler.ok_or(match facts.s2t.candidates {
        0 => "no token with A > 0 is below τ_p",
        _ => "log logprob_rollout, what the sampler said",
    })?;
    let why = if value >= NEARLY_ALL {
        "they were rare when they were drawn"
    } else if value >= MOST {
        "some are rare for the trainer alone: a gap between trainer and sampler makes them so"
    } else {
        "most are rare for the trainer alone: mend the gap first"
    };
    let (all, taken) = (grouped(spurious.candidates_compared), percent_or_dash(spurious.rare_for_sampler));
    let beside = Some(format!("of {all} tokens with A > 0 and p < τ_p; {taken} of those that S2T takes"));
    Ok(Found { value: Some(value), beside, holds: value >= NEARLY_ALL, why: why.into() })
}

fn entropy_rises(facts: &Facts<'_>) -> Result<Found, Missing> {
    let taken = &facts.candidates.spurious;
    let value = mean(taken.up as f64, taken.tokens).ok_or(NOTHING_TAKEN)?;
    let measured = mean(taken.measured_change, taken.measured);
    let holds = value > NEARLY_ALL;
    let why = if holds {
        "certified from p and H for one step on the token alone: p ≤ e^(−H)"
    } else {
        "for the others p and H do not decide the direction"
    };
    let beside =
        measured.map(|change| format!("measured after the update: {} nats on average", signed(Some(change))));
    Ok(Found { value: Some(value), beside, holds, why: why.into() })
}

fn carries_the_update(facts: &Facts<'_>) -> Result<Found, Missing> {
    if facts.s2t.silenced == 0 {
        return Err(NOTHING_TAKEN);
    }
    let (share, times) = facts.classes.spurious_energy().ok_or("no token has a gradient")?;
    let why = match (times > 1.0, share > MATTERS) {
        (true, true) => "above 1 % of the gradient energy: it matters",
        (true, false) => "below 1 % of the gradient energy: it hardly matters",
        (false, _) => "others carry as much or more",
    };
    Ok(Found {
        value: Some(share),
        beside: Some(format!(
            "of the gradient energy without clipping; as many at random: {}",
            percent(share / times)
        )),
        holds: times > 1.0,
        why: format!("{why}{}{}", estimated(facts), sampled(facts)),
    })
}

fn predicts_the_change(facts: &Facts<'_>) -> Result<Found, Missing> {
    let measured = facts.measured.ok_or("log entropy_after, the entropy after the update")?;
    let value = measured.spearman.ok_or("predicted or measured changes do not differ")?;
    let holds = value > PREDICTS;
    let why = if holds {
        "the token's own step shows in the change after the whole update"
    } else {
        "an update is a sum over many tokens: what one adds at its own position drowns in it"
    };
    Ok(Found {
        value: Some(value),
        beside: Some(format!("over {} tokens", grouped(measured.tokens))),
        holds,
        why: why.into(),
    })
}
