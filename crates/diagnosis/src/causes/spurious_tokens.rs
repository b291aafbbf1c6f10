//! Spurious tokens carry a large part of the energy.
//! Measured: the energy share of the mask's candidates, over their share of tokens (claims, `carries_the_update`).
//! Null: a level: silencing a tenth of the energy changes every update; and ten times the energy of a token with
//! A ≠ 0, since a policy that is unsure everywhere draws rare tokens all the time that are like the others.
//! Misses: what is spurious and not rare.
//! Looks alike: a gap between trainer and sampler, where most are rare for the trainer alone: mend that first.

use crate::{Cause, Code, Confidence, Examined, Finding, Measures, Need, Null, Proof, Symptom};

const SHARE: f64 = 0.1;
const MENTIONED: f64 = 0.01;
const TIMES: f64 = 10.0;
const LARGER: f64 = 2.0;
/// Below this most are rare for the trainer alone.
const RARE_FOR_BOTH: f64 = 0.5;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::SpuriousTokens,
    null: Null::Level { bound: SHARE, why: "silencing them changes every update by a tenth" },
    needs: &[Need::Claims],
    symptoms: &[Symptom::Damaged],
    follows: &[
        Code::TrainerDisagreesWithItself,
        Code::OtherContext,
        Code::Retokenised,
        Code::SamplerFrozen,
        Code::StaleSampler,
        Code::PrecisionGap,
        Code::EntropyPushed,
    ],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let claims = measures.outcome.spurious?;
    if claims.energy < MENTIONED || claims.energy_over_tokens < LARGER {
        return None;
    }
    let is_rare = claims.rare_for_sampler.is_none_or(|share| share >= RARE_FOR_BOTH);
    let aside = if is_rare { "" } else { "; most are rare for the trainer alone: mend that gap first" };
    let mut why = vec![
        Proof::new("share of the gradient energy", claims.energy, "below 0.1"),
        Proof::new("times the energy of a token", claims.energy_over_tokens, "below 10"),
    ];
    why.extend(
        claims
            .rare_for_sampler
            .map(|share| Proof::new("share rare for the sampler, too", share, "above 0.9")),
    );
    let sentence = format!(
        "rare tokens of rewarded responses carry {:.1} % of the gradient energy, {:.0} times what as many tokens \
         carry{aside}",
        100.0 * claims.energy,
        claims.energy_over_tokens,
    );
    let is_likely = claims.energy >= SHARE && claims.energy_over_tokens >= TIMES && is_rare;
    let confidence = if is_likely { Confidence::Likely } else { Confidence::Note };
    let finding = Finding::likely(Code::SpuriousTokens, claims.energy, sentence, why).with(confidence);
    Some(finding.from_step(claims.first_step))
}
