#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use crate::collision::collision_bounds;
use crate::collision_table::{ENTROPY_ERROR, TABLE_SLACK};
use crate::entropy_change::{EntropyDirection, certified_direction, change_interval};
use crate::feasible::ConditionalState;
use crate::norm::SquaredNorm;
use proptest::prelude::*;

const V: u32 = 256;

fn kernel(clip: Option<ClipRange>, temperature: f64) -> BatchKernel {
    BatchKernel::new(&BatchSettings { vocab_size: V, clip, temperature })
}

fn computed(kernel: &BatchKernel, columns: &TokenSlices<'_>) -> TokenBlock {
    let mut block = TokenBlock::default();
    kernel.gradients(columns, &mut block);
    kernel.entropy_changes(columns, &mut block);
    block
}

#[test]
fn missing_and_hostile_values_leave_no_trace() {
    let bad = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
    let mut rows = vec![[-1.0, 1.0, 1.0]];
    for column in 0..3 {
        for value in bad {
            let mut row = [-1.0, 1.0, 1.0];
            row[column] = value;
            rows.push(row);
        }
    }
    let column = |c: usize| rows.iter().map(|row| row[c]).collect::<Vec<f32>>();
    let (logprob, entropy, advantage) = (column(0), column(1), column(2));
    let norms = vec![2.0; rows.len()];
    let squares = vec![2.0; rows.len()];
    let columns = TokenSlices {
        logprob: &logprob,
        entropy: &entropy,
        advantage: &advantage,
        grad_norm: Some(&norms),
        sum_pi_sq: Some(&squares),
        logprob_new: Some(&logprob),
        ..TokenSlices::default()
    };
    let block = computed(&kernel(None, 1.0), &columns);
    assert_eq!((block.len(), block.norm_sq[0]), (10, 4.0));
    for i in 1..LANES {
        assert_eq!(block.flags[i], flags::MISSING, "{i}");
        let values = [block.probability[i], block.weight[i], block.norm_sq_low[i], block.norm_sq[i]];
        assert_eq!(values, [0.0; 4], "{i}");
        assert_eq!((block.norm_sq_high[i], block.change_low[i], block.change_high[i]), (0.0, 0.0, 0.0));
        assert_eq!(block.direction[i], EntropyDirection::Unchanged as u8);
    }
}

#[test]
fn the_best_source_wins() {
    let columns = TokenSlices {
        logprob: &[-1.0; 4],
        entropy: &[1.5; 4],
        advantage: &[2.0; 4],
        grad_norm: Some(&[0.5, f32::NAN, f32::NAN]),
        sum_pi_sq: Some(&[0.3, 0.3, f64::NAN]),
        ..TokenSlices::default()
    };
    let block = computed(&kernel(None, 2.0), &columns);
    assert_eq!(&block.flags[..4], &[flags::MEASURED | flags::EXACT, flags::EXACT, 0, 0]);
    let sources = [GradientSource::Measured, GradientSource::Exact, GradientSource::Estimated];
    assert_eq!(std::array::from_fn(|i| gradient_source(block.flags[i])), sources);
    assert_eq!(block.norm_sq[0], 0.25);
    // (1 − 2p + C)·w²/T².
    let exact = 1.0 - 2.0 * (-1.0_f64).exp() + 0.3;
    assert!((block.norm_sq[1] - exact).abs() < 1e-12);
    assert!(block.norm_sq_low[2] < exact && exact < block.norm_sq_high[2]);
}

#[test]
fn ratios_weigh_and_clip() {
    let columns = TokenSlices {
        logprob: &[-1.0; 4],
        entropy: &[1.5; 4],
        advantage: &[1.0, 1.0, -1.0, -1.0],
        logprob_new: Some(&[-0.5, f32::NAN, -2.0, -0.5]),
        ..TokenSlices::default()
    };
    let block = computed(&kernel(Some(ClipRange { low: 0.2, high: 0.28 }), 1.0), &columns);
    let expected = [0.0, 1.0, 0.0, -(0.5_f64.exp())];
    for (i, weight) in expected.into_iter().enumerate() {
        assert!((block.weight[i] - weight).abs() < 1e-13, "{i}");
        assert_eq!(block.flags[i], if weight == 0.0 { flags::CLIPPED } else { 0 });
    }
}

#[test]
fn blocks_cover_a_chunk() {
    let values = vec![-1.0_f32; BLOCK + 3];
    let columns = TokenSlices { logprob: &values, entropy: &values[..5], ..TokenSlices::default() };
    assert_eq!(columns.block_at(0).logprob.len(), BLOCK);
    assert_eq!(columns.block_at(BLOCK).logprob.len(), 3);
    assert!(columns.block_at(BLOCK).entropy.is_empty());
    assert!(columns.block_at(9 * BLOCK).logprob.is_empty());
}

fn check(
    block: &TokenBlock,
    i: usize,
    logprob: f32,
    entropy: f32,
    advantage: f32,
) -> Result<(), TestCaseError> {
    let (logprob, entropy, weight) = (f64::from(logprob), f64::from(entropy), f64::from(advantage));
    let state = ConditionalState::new(logprob, entropy, f64::from(V - 1).ln());
    let bounds = collision_bounds(state.conditional_entropy, V - 1);
    let norm = SquaredNorm::estimated(&state, &bounds, weight * weight);
    let at = format!("{logprob} {entropy} {weight} {state:?}");
    prop_assert!((block.probability[i] / state.probability - 1.0).abs() < 1e-12, "{at}");
    if state.complement > 1e-20 {
        let off = (f64::from(block.conditional_entropy[i]) - state.conditional_entropy).abs();
        prop_assert!(off < ENTROPY_ERROR, "{at} {off}");
    }
    let slack = weight * weight * state.complement.powi(2) * TABLE_SLACK;
    prop_assert!(block.norm_sq_low[i] <= norm.low * (1.0 + 1e-12), "{at}");
    prop_assert!(block.norm_sq_low[i] >= norm.low - slack, "{at}");
    prop_assert!(block.norm_sq_high[i] >= norm.high * (1.0 - 1e-12), "{at}");
    prop_assert!(block.norm_sq_high[i] <= norm.high + slack, "{at}");
    if state.feasible {
        let change = change_interval(logprob, &state, &bounds).times_weight(weight);
        prop_assert!(block.change_low[i] <= change.low, "{at} {change:?} {}", block.change_low[i]);
        prop_assert!(block.change_high[i] >= change.high, "{at} {change:?} {}", block.change_high[i]);
        let ln_mass = state.ln_complement + bounds.ln_heaviest;
        let direction = certified_direction(logprob, entropy, ln_mass, weight) as u8;
        let unsure = block.direction[i] == EntropyDirection::Ambiguous as u8;
        prop_assert!(unsure || block.direction[i] == direction, "{at}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 300, ..ProptestConfig::default() })]
    #[test]
    fn blocks_agree_with_single_tokens_and_round_outward(
        tokens in prop::collection::vec((-14.0..4.0_f32, 0.0..1.05_f32, -3.0..3.0_f32), 1..BLOCK),
    ) {
        let logprob: Vec<f32> = tokens.iter().map(|t| -t.0.exp()).collect();
        // Mostly feasible entropies: a share of the range that p leaves.
        let entropy: Vec<f32> = tokens
            .iter()
            .zip(&logprob)
            .map(|(t, &l)| {
                let s = ConditionalState::new(f64::from(l), 0.0, f64::from(V - 1).ln());
                let share = f64::from(t.1) * s.complement * f64::from(V - 1).ln();
                (s.clamped_entropy(f64::from(l)) + share) as f32
            })
            .collect();
        let advantage: Vec<f32> = tokens.iter().map(|t| t.2).collect();
        let columns = TokenSlices {
            logprob: &logprob, entropy: &entropy, advantage: &advantage, ..TokenSlices::default()
        };
        let block = computed(&kernel(None, 1.0), &columns);
        for i in 0..tokens.len() {
            check(&block, i, logprob[i], entropy[i], advantage[i])?;
        }
    }
}
