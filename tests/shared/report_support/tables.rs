//! Everything else of an analysis.

use std::collections::BTreeMap;

use stapo_analyze::analyze::result::*;
use stapo_analyze::framework::taxonomy::TokenClass;

use super::spec::{Spec, token_text};
use stapo_analyze::stats::random::Random;

type Outcome = BTreeMap<i64, (u64, u64, Option<f64>)>;

pub fn steps(spec: &Spec, _: &[CandidatePoint], outcome: &Outcome, random: &mut Random) -> Vec<StepRow> {
    let row = |index: usize| {
        let step = 12 * index as i64;
        let (candidates, silenced, tau_h) = outcome.get(&step).copied().unwrap_or((0, 0, None));
        let place = index as f64 / spec.steps.max(2) as f64;
        let mean = 0.42 - 0.2 * place + 0.02 * random.unit();
        with!(StepRow {
            step,
            tokens: 50_000,
            responses: 512,
            groups: Some(64),
            zero_advantage_groups: Some(20),
            mean_reward: Some(0.61 + 0.33 * (1.0 - (-4.0 * place).exp())),
            reward_std: Some(0.3),
            mean_length: Some(97.6),
            mean_entropy: Some(mean),
            entropy_quantiles: Some(EntropyQuantiles::from_values(
                [0.0, 0.001, 0.01, 0.08, 1.4, 1.8, 2.7, 3.4, 4.6].map(|v| v * mean),
            )),
            mean_prob: Some(0.87),
            positive: 18_000,
            negative: 9_000,
            zero_advantage: 23_000,
            gradient_energy: 4_000.0,
            gradient_energy_low: 3_900.0,
            gradient_energy_high: 4_200.0,
            positive_energy: 1_200.0,
            max_norm: Some(3.1),
            candidates,
            tau_h,
            silenced,
            exploratory: candidates - silenced,
            silenced_ratio: silenced as f64 / 50_000.0,
            spurious_energy_share: Some(0.006),
            exploratory_energy_share: Some(0.002),
            class_tokens: [6_000, 11_900, 20, 80, 3_000, 5_800, 40, 160, 23_000],
            class_energy_shares: [0.22, 0.06, 0.002, 0.006 * (1.2 - place), 0.5, 0.19, 0.006, 0.016, 0.0],
            entropy_change: with!(StepChange {
                predicted_low: Some(-0.01),
                predicted_high: Some(0.002),
                lemma: Some(-0.02),
                measured: Some(-0.003),
            }),
        })
    };
    (0..spec.steps).map(row).collect()
}

pub fn totals(spec: &Spec, tokens: u64) -> Totals {
    with!(Totals {
        tokens,
        responses: 512 * spec.steps as u64,
        groups: Some(64 * spec.steps as u64),
        zero_advantage_groups: Some(20 * spec.steps as u64),
        steps: spec.steps as u64,
        batches: spec.steps as u64,
        positive: tokens / 3,
        negative: tokens / 6,
        zero_advantage: tokens - tokens / 3 - tokens / 6,
        mean_reward: Some(0.86),
        mean_length: Some(97.6),
        mean_entropy: Some(0.31),
        mean_prob: Some(0.87),
        gradient_energy: 44_000.0,
        gradient_energy_low: 43_000.0,
        gradient_energy_high: 46_000.0,
        positive_energy: 13_000.0,
        gradient_source: NormSource::Estimated,
        estimated_norms: tokens / 2,
        mean_norm: Some(0.24),
        mean_norm_positive: Some(0.17),
        max_norm: Some(3.3),
    })
}

pub fn warnings(hostile: bool) -> Vec<Warning> {
    let name = if hostile { "</script><img src=x onerror=window.hacked=1>\u{202E}" } else { " banana" };
    vec![
        Warning {
            code: WarningCode::MaskConcentration,
            message: format!("One string takes 31 % of the mask: {name}"),
            hint: "Look at its cases; if it is a format tag, leave it out of the mask.".into(),
            evidence: vec![with!(Evidence { step: Some(12), what: name.into(), value: 0.31, healthy: None })],
        },
        Warning {
            code: WarningCode::EstimatedGradients,
            message: "Gradient norms are estimated from p and H.".into(),
            hint: "Log `sum_pi_sq` or `grad_norm` to make them exact.".into(),
            evidence: Vec::new(),
        },
    ]
}

pub fn taxonomy(tokens: u64) -> Vec<ClassRow> {
    let norms = [0.42, 0.05, 1.02, 1.11, 0.44, 0.06, 0.98, 1.05, 0.0];
    TokenClass::ALL
        .into_iter()
        .zip(norms)
        .map(|(class, norm)| {
            let some = (norm > 0.0).then_some(norm);
            ClassRow {
                class,
                label: class.label().into(),
                tokens: tokens / 9,
                token_share: 1.0 / 9.0,
                energy: norm * norm * 1_000.0,
                energy_share: Some(norm / 6.0),
                mean_norm: some,
                mean_norm_low: some.map(|n| n * 0.95),
                mean_norm_high: some.map(|n| n * 1.06),
                norm_sample: tokens / 9,
                norm_ratio: some.map(|n| n / 0.24),
                entropy_up: 100,
                entropy_down: 50,
                entropy_ambiguous: 10,
                paper_norm: class.paper_row().map(|_| "low".into()),
                paper_entropy: None,
                paper_risk: None,
                paper_potential: None,
            }
        })
        .collect()
}

pub fn entropy_change() -> EntropyChange {
    let bin = |i: i32| {
        let x = f64::from(i - 10).powi(3) / 2_000.0;
        let m = 0.01 * f64::from(i - 10) / 10.0 - 0.002;
        with!(ChangeBin {
            predicted_from: x - 0.01,
            predicted_to: x + 0.01,
            tokens: 12_000,
            mean_predicted: x,
            mean_measured: m,
            measured_quartiles: [m - 0.03, m - 0.004, m + 0.02],
        })
    };
    with!(EntropyChange {
        certified_up: 9_000,
        certified_down: 81_000,
        ambiguous: 8_000,
        predicted_low: Some(-0.02),
        predicted_high: Some(0.01),
        lemma: Some(-0.01),
        measured: Some(with!(MeasuredChange {
            tokens: 240_000,
            complete: true,
            mean: Some(-0.001),
            pearson: Some(0.04),
            spearman: Some(0.09),
            standard_error: Some(0.002),
            bins: (0..20).map(bin).collect(),
        })),
    })
}

pub fn claims() -> Vec<ClaimRow> {
    let row = |id| ClaimRow {
        id,
        claim: "a token's gradient norm falls with its probability".into(),
        value: Some(-0.97),
        beside: Some("over all tokens".into()),
        paper: "falls".into(),
        verdict: ClaimVerdict::Holds,
        why: "p decides the norm".into(),
    };
    ClaimId::ALL.into_iter().map(row).collect()
}

pub fn vocabulary(spec: &Spec) -> Vocabulary {
    let row = |i: u64| {
        with!(VocabularyRow {
            token_id: i as i64,
            token: Some(token_text(i as usize, spec.hostile)),
            positive: 90_000 / (i + 1),
            negative: 40_000 / (i + 2),
            zero: 100,
            candidates: 60 / (i + 1) + 2,
            silenced: 50 / (i + 1),
            exploratory: 60 / (i + 1) + 2 - 50 / (i + 1),
            positive_energy: 3.0,
            negative_energy: 2.0,
        })
    };
    let rows: Vec<_> = (0..60).map(row).collect();
    with!(Vocabulary {
        distinct: Some(60),
        silenced: Some(with!(Concentration {
            tokens: 168,
            distinct: 41,
            top1_share: 0.3,
            top5_share: 0.5,
            top10_share: 0.7,
            herfindahl: 0.1,
        })),
        exploratory: None,
        top: rows[..50].to_vec(),
        rows,
    })
}

pub fn provenance(hostile: bool) -> Provenance {
    let path = if hostile { "runs/<img src=x onerror=window.hacked=1>.parquet" } else { "runs/grpo.parquet" };
    with!(Provenance {
        program: "stapo-analyze 0.1.0".into(),
        files: vec![with!(FileReport { path: path.into(), bytes: 12_345_678 })],
        framework: "canonical".into(),
        layout: "nested".into(),
        vocab_size: 256,
        gradient_source: Some(NormSource::Estimated),
        temperature: 1.0,
        token_text: Some("tokenizer.json".into()),
        statements: vec!["Quantiles of the entropy are within 0.4 %.".into()],
    })
}

pub fn plane(random: &mut Random) -> Plane {
    let axes = (
        with!(AxisSpec { low: -8.0, high: 0.0, bins: 160 }),
        with!(AxisSpec { low: 0.0, high: 6.0, bins: 120 }),
    );
    let mut cells = BTreeMap::new();
    for _ in 0..60_000 {
        let h = 4.5 * random.unit().powi(5);
        let x = -(random.unit().powi(3) * (0.2 + h)).min(7.9);
        let key = ((((x + 8.0) / 8.0) * 159.99) as u16, ((h / 6.0) * 119.99) as u16);
        *cells.entry(key).or_insert(0_u64) += 9;
    }
    let cells = cells.into_iter().map(|((x, y), n)| {
        with!(PlaneCell {
            x,
            y,
            positive: n / 3,
            negative: n / 3,
            zero: n / 3,
            positive_energy: n as f64 * 0.01,
            negative_energy: n as f64 * 0.01,
        })
    });
    with!(Plane { log10_prob: axes.0, entropy: axes.1, cells: cells.collect() })
}
