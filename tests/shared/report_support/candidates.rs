//! Candidates, the mask over them, and tokens in their context.

use std::collections::BTreeMap;

use stapo_analyze::analyze::result::*;
use stapo_analyze::framework::s2t::{EntropyCut, Population, S2tSettings};

use super::spec::{Spec, token_text};
use stapo_analyze::stats::random::Random;

/// Rare tokens with A > 0, in the order of the engine.
pub fn points(spec: &Spec, random: &mut Random) -> Vec<CandidatePoint> {
    let mut points = Vec::new();
    for step in 0..spec.steps {
        for _ in 0..spec.rare_per_step {
            let p = if random.unit() < spec.candidate_share {
                0.002 * (1e-3_f64).powf(random.unit())
            } else {
                0.002 + 0.017 * random.unit()
            };
            let low = random.unit() < 0.7;
            let entropy = if low { 0.05 + 0.7 * random.unit() } else { 0.7 + 2.2 * random.unit() };
            let advantage = 0.2 + 1.5 * random.unit();
            points.push(with!(CandidatePoint {
                step: 12 * step as i64,
                update: None,
                token_id: Some((random.unit().powi(2) * 60.0) as i32),
                logprob: p.ln() as f32,
                entropy: entropy as f32,
                advantage: advantage as f32,
                grad_norm: (advantage * (1.1 + 0.2 * random.unit())) as f32,
            }));
        }
    }
    points.sort_by(|a, b| (a.step).cmp(&b.step).then(a.entropy.total_cmp(&b.entropy)));
    points
}

/// Candidates, silenced tokens and τ_h of every step, by the library's own rule.
pub fn mask(points: &[CandidatePoint], tau_p: f64, q: f64) -> BTreeMap<i64, (u64, u64, Option<f64>)> {
    let settings =
        S2tSettings { tau_p, entropy: EntropyCut::Quantile(q), population: Population::Candidates };
    let rule = settings.rule();
    let mut steps: BTreeMap<i64, Vec<&CandidatePoint>> = BTreeMap::new();
    for point in points.iter().filter(|p| rule.is_candidate(p.logprob, p.advantage)) {
        steps.entry(point.step).or_default().push(point);
    }
    let outcome = steps.into_iter().map(|(step, found)| {
        let mut entropies: Vec<f32> = found.iter().map(|p| p.entropy).collect();
        let tau_h = settings.threshold(&mut entropies);
        let cut = tau_h.unwrap_or(f64::NEG_INFINITY);
        let silenced =
            found.iter().filter(|p| rule.is_silenced(p.logprob, p.entropy, p.advantage, cut)).count();
        (step, (found.len() as u64, silenced as u64, tau_h))
    });
    outcome.collect()
}

/// The candidates with their context, as the engine ranks them.
pub fn flagged(
    spec: &Spec,
    points: &[CandidatePoint],
    outcome: &BTreeMap<i64, (u64, u64, Option<f64>)>,
    random: &mut Random,
) -> Vec<FlaggedToken> {
    let mut flagged = Vec::new();
    for (index, point) in points.iter().enumerate() {
        if f64::from(point.logprob).exp() >= 0.002 {
            continue;
        }
        let tau_h = outcome.get(&point.step).and_then(|o| o.2).unwrap();
        let entropy = f64::from(point.entropy);
        let words = |random: &mut Random| -> Vec<String> {
            (0..12).map(|_| token_text((random.unit() * 60.0) as usize, spec.hostile)).collect()
        };
        let id = point.token_id.unwrap_or(0);
        flagged.push(FlaggedToken {
            kind: if entropy < tau_h { FlagKind::Spurious } else { FlagKind::Exploratory },
            step: point.step,
            update: None,
            group_id: Some(format!("{}", index / 8)),
            sample_id: Some(format!("{}-{}", index / 8, index % 8)),
            row: index as u64 / 2,
            position: (random.unit() * 110.0) as i64,
            token_id: Some(i64::from(id)),
            token: Some(token_text(id as usize, spec.hostile)),
            logprob: f64::from(point.logprob),
            entropy,
            advantage: f64::from(point.advantage),
            grad_norm: f64::from(point.grad_norm),
            grad_norm_low: f64::from(point.grad_norm) * 0.97,
            grad_norm_high: f64::from(point.grad_norm) * 1.03,
            norm_source: NormSource::Estimated,
            tau_h,
            risk: (-f64::from(point.logprob) - entropy).max(0.0),
            change_low: 0.001 + random.unit() * 0.01,
            change_high: 0.02 + random.unit() * 0.01,
            measured_change: Some(random.unit() - 0.5),
            reward: Some(1.0),
            group_passes: Some(3),
            group_size: Some(8),
            before: words(random),
            after: words(random),
        });
    }
    flagged.sort_by(|a, b| a.kind.cmp(&b.kind).then(b.risk.total_cmp(&a.risk)));
    flagged
}

/// Whole responses.
pub fn responses(spec: &Spec, random: &mut Random) -> Vec<ResponseView> {
    let (count, length) = spec.responses;
    let one = |index: usize| {
        let ids: Vec<i32> = (0..length).map(|_| (random.unit() * 60.0) as i32).collect();
        let mut draw = |scale: f64| -> Vec<f32> {
            (0..length).map(|_| (scale * random.unit().powi(4)) as f32).collect()
        };
        let kinds = [ShownFor::Risk, ShownFor::HighReward, ShownFor::LowReward, ShownFor::Truncated];
        with!(ResponseView {
            shown_for: vec![kinds[index % kinds.len()]],
            prompt: Some(token_text(3 * index, spec.hostile)),
            ending: Some(if index % 4 == 3 { "length" } else { "stop" }.into()),
            step: 12 * index as i64,
            update: None,
            group_id: Some(format!("{index}")),
            sample_id: Some(format!("{index}-0")),
            row: index as u64 * 7,
            reward: Some(if index % 4 == 2 { 0.0 } else { 1.0 }),
            risk: 12.0 - index as f64,
            length: length as u64,
            first_position: 0,
            texts: ids.iter().map(|id| token_text(*id as usize, spec.hostile)).collect(),
            token_ids: ids,
            trained: (0..length).map(|i| i > 2).collect(),
            surprisal: draw(9.0),
            entropy: draw(3.0),
            advantage: vec![0.8; length],
            grad_norm: draw(1.2),
            flagged: vec![
                (length as u32 / 3, FlagKind::Spurious),
                (length as u32 / 2, FlagKind::Exploratory),
            ],
        })
    };
    (0..count).map(one).collect()
}
