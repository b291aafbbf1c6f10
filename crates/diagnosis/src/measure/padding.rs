//! The gap against the padding on the left of a prompt: the step's longest prompt less its own.

use super::Measures;
use stapo_evidence::policies::StartResponse;
use std::collections::BTreeMap;

/// Lengths that differ, for a correlation.
const LENGTHS: usize = 8;
/// For a comparison of the least padded with the others.
const FEWEST: usize = 3;

/// The gap of the first step's responses by padding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Padding {
    /// Rank correlation of padding and mean d², over prompts of different length; NaN where these are few.
    pub correlation: f64,
    /// Its z without a connection.
    pub z: f64,
    /// Root mean square of d in the quarter with the least padding.
    pub little: f64,
    /// In the others.
    pub much: f64,
}

impl Measures<'_> {
    /// The gap against padding; none where lengths of prompts are not logged or do not differ.
    #[must_use]
    pub fn padding(&self) -> Option<Padding> {
        let start = self.evidence.policies.start.get()?;
        let mut lengths: BTreeMap<i64, (f64, u64)> = BTreeMap::new();
        for StartResponse { tokens, squares, prompt } in start.responses.values() {
            if let Some(length) = prompt.0 {
                let (sum, count) = lengths.entry(length).or_default();
                *sum += squares.value();
                *count += tokens;
            }
        }
        // Longest first: padding rises.
        let by_padding: Vec<(f64, u64)> =
            lengths.into_values().rev().filter(|(_, tokens)| *tokens > 0).collect();
        let n = by_padding.len();
        if n < FEWEST {
            return None;
        }
        let mut order: Vec<usize> = (0..n).collect();
        let mean = |i: usize| by_padding[i].0 / by_padding[i].1 as f64;
        order.sort_by(|a, b| mean(*a).total_cmp(&mean(*b)));
        let apart: f64 = order.iter().enumerate().map(|(rank, i)| (rank as f64 - *i as f64).powi(2)).sum();
        let size = n as f64;
        let correlation =
            if n < LENGTHS { f64::NAN } else { 1.0 - 6.0 * apart / (size * (size * size - 1.0)) };
        let rms = |part: &[(f64, u64)]| {
            let (sum, tokens) =
                part.iter().fold((0.0, 0), |(sum, tokens), part| (sum + part.0, tokens + part.1));
            (sum / tokens.max(1) as f64).sqrt()
        };
        let (little, much) = by_padding.split_at(n.div_ceil(4));
        Some(Padding {
            correlation,
            z: correlation * (size - 1.0).sqrt(),
            little: rms(little),
            much: rms(much),
        })
    }
}
