//! Everything else of an analysis.

use std::collections::BTreeMap;

use stapo_analyze::analyze::result::*;
use stapo_analyze::framework::taxonomy::TokenClass;

use super::{Random, Spec, candidates, token_text};

type Outcome = BTreeMap<i64, (u64, u64, Option<f64>)>;

pub fn steps(spec: &Spec, _: &[CandidatePoint], outcome: &Outcome, random: &mut Random) -> Vec<StepRow> {
    let row = |index: usize| {
        let step = 12 * index as i64;
        let (candidates, silenced, tau_h) = outcome.get(&step).copied().unwrap_or((0, 0, None));
        let place = index as f64 / spec.steps.max(2) as f64;
        let mean = 0.42 - 0.2 * place + 0.02 * random.next();
        StepRow {
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
            entropy_change: StepChange {
                predicted_low: Some(-0.01),
                predicted_high: Some(0.002),
                lemma: Some(-0.02),
                measured: Some(-0.003),
            },
            ..StepRow::default()
        }
    };
    (0..spec.steps).map(row).collect()
}

pub fn totals(spec: &Spec, tokens: u64) -> Totals {
    Totals {
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
        gradient_source: "estimated".into(),
        estimated_norms: tokens / 2,
        mean_norm: Some(0.24),
        mean_norm_positive: Some(0.17),
        max_norm: Some(3.3),
        ..Totals::default()
    }
}

pub fn warnings(hostile: bool) -> Vec<Warning> {
    let name = if hostile { "</script><img src=x onerror=window.hacked=1>\u{202E}" } else { " banana" };
    vec![
        Warning {
            code: WarningCode::MaskConcentration,
            message: format!("One string takes 31 % of the mask: {name}"),
            hint: "Look at its cases; if it is a format tag, leave it out of the mask.".into(),
            evidence: vec![Evidence { step: Some(12), what: name.into(), value: 0.31 }],
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
                class: class.name().into(),
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
                ..ClassRow::default()
            }
        })
        .collect()
}

pub fn entropy_change() -> EntropyChange {
    let bin = |i: i32| {
        let x = f64::from(i - 10).powi(3) / 2_000.0;
        let m = 0.01 * f64::from(i - 10) / 10.0 - 0.002;
        ChangeBin {
            predicted_from: x - 0.01,
            predicted_to: x + 0.01,
            tokens: 12_000,
            mean_predicted: x,
            mean_measured: m,
            measured_quartiles: [m - 0.03, m - 0.004, m + 0.02],
        }
    };
    EntropyChange {
        certified_up: 9_000,
        certified_down: 81_000,
        ambiguous: 8_000,
        predicted_low: Some(-0.02),
        predicted_high: Some(0.01),
        lemma: Some(-0.01),
        measured: Some(MeasuredChange {
            tokens: 240_000,
            complete: true,
            mean: Some(-0.001),
            pearson: Some(0.04),
            spearman: Some(0.09),
            standard_error: Some(0.002),
            bins: (0..20).map(bin).collect(),
        }),
        ..EntropyChange::default()
    }
}

pub fn correlations() -> Vec<Correlation> {
    vec![Correlation {
        x: "grad_norm".into(),
        y: "prob".into(),
        tokens: 90_000,
        complete: true,
        pearson: Some(-0.93),
        spearman: Some(-0.97),
        sampling_error: 0.0,
    }]
}

pub fn profiles() -> Vec<EntropyProfile> {
    let profile = |(i, period): (usize, &str)| EntropyProfile {
        period: period.into(),
        first_step: 48 * i as i64,
        last_step: 48 * i as i64 + 36,
        tokens: 200_000,
        entropy: (0..=100).map(|q| (f64::from(q) / 100.0).powi(6 + i as i32) * 3.2).collect(),
    };
    ["early", "middle", "late"].into_iter().enumerate().map(profile).collect()
}

pub fn vocabulary(spec: &Spec) -> Vocabulary {
    let row = |i: u64| VocabularyRow {
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
    };
    let rows: Vec<_> = (0..60).map(row).collect();
    Vocabulary {
        distinct: Some(60),
        silenced: Some(Concentration {
            tokens: 168,
            distinct: 41,
            top1_share: 0.3,
            top5_share: 0.5,
            top10_share: 0.7,
            herfindahl: 0.1,
        }),
        exploratory: None,
        top: rows[..50].to_vec(),
        rows,
    }
}

pub fn sweep(points: &[CandidatePoint], tokens: u64) -> Sweep {
    let (tau_p, quantile) = (vec![0.0005, 0.001, 0.002, 0.005, 0.01], vec![0.25, 0.5, 0.75, 0.9, 1.0]);
    let mut cells = Vec::new();
    for t in &tau_p {
        for q in &quantile {
            let outcome = candidates::mask(points, *t, *q);
            let silenced = outcome.values().map(|o| o.1).sum::<u64>() as f64;
            cells.push(SweepCell {
                tau_p: *t,
                quantile: *q,
                candidates: outcome.values().map(|o| o.0).sum::<u64>() as f64,
                silenced,
                fraction: silenced / tokens as f64,
                energy_share: Some(silenced * 1e-5),
                positive_energy_share: Some(silenced * 3e-5),
                overlap: Some(0.5),
                exact: true,
            });
        }
    }
    Sweep { tau_p, quantile, cells, exact: true, sampling_rate: 1.0 }
}

pub fn strategies(silenced: u64, candidates: u64) -> Vec<StrategyRow> {
    let mut rows = Vec::new();
    for (strategy, gain) in [("low_entropy", 1.0), ("random", 0.93), ("high_entropy", 0.82)] {
        for q in [0.25, 0.5, 0.75, 0.9, 1.0] {
            rows.push(StrategyRow {
                strategy: strategy.into(),
                quantile: Some(q),
                silenced: silenced as f64 * q,
                energy_share: Some(0.008 * q * (gain + (1.0 - gain) * q)),
                positive_energy_share: Some(0.02),
                overlap: Some(0.4),
                exact: true,
            });
        }
    }
    for strategy in ["fullmask", "probability_only"] {
        rows.push(StrategyRow {
            strategy: strategy.into(),
            quantile: None,
            silenced: candidates as f64,
            energy_share: Some(if strategy == "fullmask" { 0.008 } else { 0.024 }),
            positive_energy_share: Some(0.02),
            overlap: Some(0.7),
            exact: true,
        });
    }
    rows
}

const RULES: [&str; 11] = [
    "stapo_v5",
    "stapo_v1",
    "fullmask",
    "entropy20",
    "clip_cov",
    "kl_cov",
    "ar",
    "stare",
    "cispo",
    "sapo",
    "gspo",
];

pub fn rules() -> Vec<RuleRow> {
    let row = |(i, rule): (usize, &&str)| RuleRow {
        rule: (*rule).into(),
        description: "What it does.".into(),
        silenced: 168.0 * i as f64,
        damped: 10.0,
        silenced_share: 0.0003 * i as f64,
        energy_kept: Some(1.0 - 0.05 * i as f64),
        positive_energy_kept: Some(0.98),
        negative_energy_kept: Some(1.0),
        exact: true,
        note: (i == 8).then(|| "no ratio is logged".into()),
        ..RuleRow::default()
    };
    RULES.iter().enumerate().map(row).collect()
}

pub fn overlap() -> RuleOverlap {
    let share = |i: usize, j: usize| 1.0 / (1.0 + (i as f64 - j as f64).powi(2));
    let grid = |f: &dyn Fn(usize, usize) -> f64| -> Vec<Vec<f64>> {
        (0..11).map(|i| (0..11).map(|j| f(i, j)).collect()).collect()
    };
    RuleOverlap {
        rules: RULES.iter().map(|r| (*r).to_owned()).collect(),
        touched: (0..11).map(|i| 168.0 * 3_f64.powi(i)).collect(),
        both: grid(&|i, j| 100.0 * share(i, j)),
        jaccard: grid(&share).into_iter().map(|r| r.into_iter().map(Some).collect()).collect(),
        exact: true,
    }
}

pub fn provenance(hostile: bool) -> Provenance {
    let path = if hostile { "runs/<img src=x onerror=window.hacked=1>.parquet" } else { "runs/grpo.parquet" };
    Provenance {
        program: "0.1.0".into(),
        files: vec![FileReport { path: path.into(), bytes: 12_345_678 }],
        framework: "canonical".into(),
        layout: "nested".into(),
        vocab_size: 256,
        gradient_source: "estimated".into(),
        temperature: 1.0,
        token_text: Some("tokenizer.json".into()),
        statements: vec!["Quantiles of the entropy are within 0.4 %.".into()],
        ..Provenance::default()
    }
}

pub fn plane(random: &mut Random) -> Plane {
    let axes = (AxisSpec { low: -8.0, high: 0.0, bins: 160 }, AxisSpec { low: 0.0, high: 6.0, bins: 120 });
    let mut cells = BTreeMap::new();
    for _ in 0..60_000 {
        let h = 4.5 * random.next().powi(5);
        let x = -(random.next().powi(3) * (0.2 + h)).min(7.9);
        let key = ((((x + 8.0) / 8.0) * 159.99) as u16, ((h / 6.0) * 119.99) as u16);
        *cells.entry(key).or_insert(0_u64) += 9;
    }
    let cells = cells.into_iter().map(|((x, y), n)| PlaneCell {
        x,
        y,
        positive: n / 3,
        negative: n / 3,
        zero: n / 3,
        positive_energy: n as f64 * 0.01,
        negative_energy: n as f64 * 0.01,
    });
    Plane { log10_prob: axes.0, entropy: axes.1, cells: cells.collect() }
}
