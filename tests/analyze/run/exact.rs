//! Exact sums recomputed from the checkpoint: exact mode equals them, intervals contain them,
//! signs agree.

use stapo_analyze::analyze::AnalyzeSettings;
use stapo_analyze::analyze::result::NormSource;
use stapo_analyze::framework::batch::{BatchKernel, BatchSettings, TokenBlock, TokenSlices, flags};
use stapo_analyze::framework::entropy_change::{EntropyDirection, exact_change};
use stapo_analyze::ingest::{Column, IngestSettings, Run, Silent, UserMap, read_all};

use super::support::sample;

/// What a log-probability in f32 leaves of q.
const F32_ERROR: f64 = 6e-8;

#[test]
fn exact_norms_equal_the_measured_ones_and_lie_in_the_intervals() {
    let batches = read_all(&[sample("reference/exact.parquet")], &IngestSettings::default()).unwrap();
    let kernel = BatchKernel::new(&BatchSettings { vocab_size: 256, clip: None, temperature: 1.0 });
    let (mut estimated, mut exact) = (TokenBlock::default(), TokenBlock::default());
    let (mut tokens, mut decided) = (0, 0);
    for batch in &batches {
        let advantages = batch.advantages().unwrap();
        let columns = TokenSlices {
            logprob: batch.floats(Column::Logprob).unwrap(),
            entropy: batch.floats(Column::Entropy).unwrap(),
            advantage: &advantages,
            ..TokenSlices::default()
        };
        let with_sums = TokenSlices {
            sum_pi_sq: batch.doubles(Column::SumPiSq),
            sum_pi_sq_log_pi: batch.doubles(Column::SumPiSqLogPi),
            ..columns
        };
        let norms = batch.floats(Column::GradNorm).unwrap();
        let mut start = 0;
        while start < norms.len() {
            kernel.gradients(&columns.block_at(start), &mut estimated);
            kernel.entropy_changes(&columns.block_at(start), &mut estimated);
            kernel.gradients(&with_sums.block_at(start), &mut exact);
            kernel.entropy_changes(&with_sums.block_at(start), &mut exact);
            for i in 0..estimated.len() {
                let weight = f64::from(advantages[start + i]);
                if weight == 0.0 {
                    continue;
                }
                tokens += 1;
                let truth = f64::from(norms[start + i]);
                let q = 1.0 - estimated.probability[i];
                let slack = 4.0 * F32_ERROR * weight.abs() + 1e-6 * truth;
                assert!(estimated.norm_sq_low[i].sqrt() <= truth + slack);
                assert!(estimated.norm_sq_high[i].sqrt() >= truth - slack);
                assert_eq!(exact.flags[i] & flags::EXACT, flags::EXACT);
                assert!((exact.norm_sq[i].sqrt() - truth).abs() <= slack, "{truth} {q}");
                let change = exact_change(
                    f64::from(columns.logprob[start + i]),
                    exact.probability[i],
                    f64::from(columns.entropy[start + i]),
                    with_sums.sum_pi_sq.unwrap()[start + i],
                    with_sums.sum_pi_sq_log_pi.unwrap()[start + i],
                ) * weight;
                let noise = 1e-6 * weight.abs();
                assert!(estimated.change_low[i] <= change + noise);
                assert!(estimated.change_high[i] >= change - noise);
                match EntropyDirection::ALL[usize::from(estimated.direction[i])] {
                    EntropyDirection::Up => assert!(change >= -noise),
                    EntropyDirection::Down => assert!(change <= noise),
                    _ => continue,
                }
                decided += 1;
            }
            start += estimated.len();
        }
    }
    assert!(tokens > 30_000, "{tokens}");
    assert!(decided as f64 > 0.85 * tokens as f64, "{decided} of {tokens}");
}

#[test]
fn the_best_source_is_used_and_named() {
    let energy = |unused: &[&str]| {
        let arguments: Vec<String> = unused.iter().map(|column| format!("{column}=")).collect();
        let map = UserMap::parse(&arguments).unwrap();
        let settings = IngestSettings { map, ..IngestSettings::default() };
        let run = Run::open(&[sample("reference/exact.parquet")], &settings).unwrap();
        let analysis = stapo_analyze::analyze::analyze(&run, &AnalyzeSettings::default(), &Silent).unwrap();
        (analysis.core.totals, analysis.entropy_change)
    };
    let (measured, changes) = energy(&[]);
    let (exact, _) = energy(&["grad_norm"]);
    let (estimated, without) = energy(&["grad_norm", "sum_pi_sq", "sum_pi_sq_log_pi"]);
    let sources = [&measured, &exact, &estimated].map(|totals| totals.gradient_source);
    assert_eq!(sources, [NormSource::Measured, NormSource::Exact, NormSource::Estimated]);
    assert!((exact.gradient_energy / measured.gradient_energy - 1.0).abs() < 1e-6);
    assert!((estimated.gradient_energy / measured.gradient_energy - 1.0).abs() < 0.05);
    assert!(estimated.gradient_energy_low < measured.gradient_energy);
    assert!(estimated.gradient_energy_high > measured.gradient_energy);
    assert_eq!(measured.gradient_energy_low, measured.gradient_energy);
    assert_eq!(changes.predicted_low, changes.predicted_high);
    assert!(without.predicted_low < changes.predicted_low);
    assert!(without.predicted_high > changes.predicted_high);
}
