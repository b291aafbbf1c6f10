//! Simulated token logs of a language before the causes between policies.

use crate::made::{Made, Sampler, Text};
use crate::simulated_runs::sum;
use crate::tables::{Count, head, row};
use rayon::prelude::*;
use stapo_diagnosis::{Code, Confidence, Measures, Outcome, examine_all};
use stapo_evidence::Evidence;

/// One healthy token log for so many logs of rewards, and one sick one: they take longer.
const HEALTHY: u64 = 10;
const SICK: u64 = 40;
/// What rewards and advantages show: these logs are not about them.
const OTHERS: [Code; 3] = [Code::UninformativeReward, Code::DeadGroups, Code::DuplicateRollouts];

/// Logs of one kind.
pub struct Kind {
    pub name: &'static str,
    /// Causes that name it; none in healthy ones.
    pub causes: &'static [Code],
    made: Made,
}

/// What was said of them.
pub struct Policies {
    pub kind: Kind,
    /// A cause is likely (healthy), or it is among the first two (sick).
    pub found: Count,
    /// What else was likely, and how often.
    pub likely: Vec<(Code, u64)>,
    /// Mean root of the mean square of ln π_old − ln μ at the first step.
    pub gap: f64,
}

fn kinds() -> Vec<Kind> {
    let log = Made { text: Text::Language, groups: 16, length: 40, drift: 0.08, ..Made::default() };
    let gap = |sampler| Made { sampler, ..log };
    let of = |name, causes, made| Kind { name, causes, made };
    vec![
        of("moves away from its reference", &[], log),
        of("moves little", &[], Made { drift: 0.02, ..log }),
        of("answers of 120 tokens", &[], Made { length: 120, groups: 8, ..log }),
        of("3 steps", &[], Made { steps: 3, ..log }),
        of("no reference logged", &[], Made { edit: |columns| columns.reference = None, ..log }),
        of(
            "a sampler one step old",
            &[],
            Made { edit: |columns| columns.version -= 1, ..gap(Sampler::Behind(0.9)) },
        ),
        of("weights in few bits", &[Code::PrecisionGap], gap(Sampler::Coarse(0.6))),
        of("another prompt", &[Code::OtherContext], gap(Sampler::OtherPrompt)),
        of("temperature 0.7", &[Code::SamplerTemperature], gap(Sampler::Tempered(0.7))),
        of("temperature 1.3", &[Code::SamplerTemperature], gap(Sampler::Tempered(1.3))),
        of("temperature 0.7, raw values logged", &[Code::SamplerTemperature], gap(Sampler::TemperedRaw(0.7))),
        of("top-k of 5", &[Code::SamplerTruncation], gap(Sampler::TopK(5))),
        of("weights never sent", &[Code::SamplerFrozen], Made { drift: 0.2, ..gap(Sampler::Frozen) }),
        of("weights half as far", &[Code::StaleSampler], Made { drift: 0.25, ..gap(Sampler::Behind(0.5)) }),
        of("weights spoilt from step 3 on", &[Code::SyncCorruptsWeights], gap(Sampler::SpoiltFrom(3))),
        of(
            "positions without padding",
            &[Code::PositionShifted],
            Made { groups: 48, ..gap(Sampler::NoPadding) },
        ),
        of("dropout in the trainer", &[Code::TrainerDisagreesWithItself], Made { noise: 0.3, ..log }),
        of("a KL term", &[Code::KlOutweighs], Made { pull: 0.15, ..log }),
        of("an entropy bonus", &[Code::EntropyPushed], Made { push: 0.04, ..log }),
        of(
            "entropies one token late",
            &[Code::MisalignedLog],
            Made { edit: |columns| columns.entropy.rotate_right(1), ..log },
        ),
    ]
}

struct One {
    found: bool,
    likely: Vec<Code>,
    gap: f64,
}

fn one(kind: &Kind, seed: u64) -> One {
    let made = Made { seed: seed + 1, ..kind.made };
    let (mut squares, mut tokens) = (0.0, 0_u64);
    let mut evidence = Evidence::new(vec![]);
    made.each(|response| {
        evidence.add(response);
        if response.step == 0 {
            for (old, mu) in response.logprob.iter().zip(response.rollout.unwrap()) {
                squares += f64::from((old - mu).clamp(-5.0, 5.0)).powi(2);
                tokens += 1;
            }
        }
    });
    let outcome = Outcome::default();
    let findings =
        examine_all(&Measures::new(&evidence, &outcome)).findings.into_iter().map(|ranked| ranked.finding);
    let (likely, possible): (Vec<_>, Vec<_>) = findings
        .filter(|finding| finding.confidence < Confidence::Note && !OTHERS.contains(&finding.code))
        .partition(|finding| finding.confidence == Confidence::Likely);
    let found = match kind.causes {
        [] => !likely.is_empty(),
        causes => likely.iter().chain(&possible).take(2).any(|finding| causes.contains(&finding.code)),
    };
    let likely =
        likely.iter().map(|finding| finding.code).filter(|code| !kind.causes.contains(code)).collect();
    One { found, likely, gap: (squares / tokens as f64).sqrt() }
}

/// Logs of every kind, fewer than of rewards.
pub fn draw(runs: u64) -> Vec<Policies> {
    let of = |kind: Kind| {
        let one_for = if kind.causes.is_empty() { HEALTHY } else { SICK };
        let drawn: Vec<One> =
            (0..runs.div_ceil(one_for)).into_par_iter().map(|seed| one(&kind, seed)).collect();
        let mut found = Count::default();
        let mut likely: Vec<(Code, u64)> = Vec::new();
        for log in &drawn {
            found.add(log.found);
            for code in &log.likely {
                match likely.iter_mut().find(|known| known.0 == *code) {
                    Some(known) => known.1 += 1,
                    None => likely.push((*code, 1)),
                }
            }
        }
        likely.sort_by_key(|known| (std::cmp::Reverse(known.1), known.0));
        let gap = drawn.iter().map(|log| log.gap).sum::<f64>() / drawn.len() as f64;
        Policies { kind, found, likely, gap }
    };
    kinds().into_iter().map(of).collect()
}

/// A row of each kind.
pub fn table(policies: &[Policies]) -> String {
    let mut table = head(&[
        "log",
        "logs",
        "gap at first",
        "a likely cause",
        "the cause among the first two",
        "also likely",
    ]);
    for of_kind in policies {
        let (count, found) = (of_kind.found, of_kind.found.found.to_string());
        let (alarms, named) = match of_kind.kind.causes.is_empty() {
            true => (format!("{found} (at most {})", count.bound()), "–".into()),
            false => ("–".into(), found),
        };
        let also: Vec<String> =
            of_kind.likely.iter().map(|(code, times)| format!("`{code}` {times}")).collect();
        let also = if also.is_empty() || of_kind.kind.causes.is_empty() && count.found == 0 {
            "–".into()
        } else {
            also.join(", ")
        };
        let name = match of_kind.kind.causes.is_empty() {
            true => format!("healthy: {}", of_kind.kind.name),
            false => of_kind.kind.name.to_owned(),
        };
        table += &row(&[name, count.of.to_string(), format!("{:.3}", of_kind.gap), alarms, named, also]);
    }
    table
}

/// Alarms on healthy logs.
pub fn alarms(policies: &[Policies]) -> Count {
    sum(policies.iter().filter(|of_kind| of_kind.kind.causes.is_empty()).map(|of_kind| of_kind.found))
}

/// Sick logs whose cause is among the first two.
pub fn named(policies: &[Policies]) -> Count {
    sum(policies.iter().filter(|of_kind| !of_kind.kind.causes.is_empty()).map(|of_kind| of_kind.found))
}
