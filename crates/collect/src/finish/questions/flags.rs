//! The spurious tokens by what was noted of them in the pass: slices, bands, corrections.

use std::collections::HashMap;

use crate::collect::questions::difference::BANDS;
use crate::collect::questions::slice_keys::REPLICATES;
use crate::finish::claims::CandidateClaims;
use crate::finish::flagged::FlaggedSource;
use crate::finish::ratios::share;
use crate::plan::Plan;
use stapo_base::error::Result;
use stapo_result::FlagKind;
use stapo_result::corrections::{BandOverlap, SpuriousOverlap};
use stapo_result::offpolicy::Difference;

/// Spurious tokens of one value, by random group.
pub type ByReplicate = [u64; REPLICATES];

/// What the candidates add up to once thresholds are known.
#[derive(Clone, Debug, Default)]
pub struct CandidateFlags {
    /// Spurious tokens.
    pub spurious: u64,
    /// Of these, with an engine difference.
    pub compared: u64,
    /// Of these, whose weight each correction sets to 0.
    pub removed: Vec<u64>,
    /// Of these, with a ratio outside of each band.
    pub outside: [u64; 3],
    /// Candidates with an engine difference.
    pub candidates_compared: u64,
    /// Of these, with a ratio outside of each band.
    pub candidates_outside: [u64; 3],
    /// Spurious tokens by key, for each dimension.
    pub slices: Vec<HashMap<u64, ByReplicate>>,
    /// What the paper's claims need of them.
    pub claims: CandidateClaims,
}

impl CandidateFlags {
    /// How far spurious tokens and tokens of unlike policies are the same; `None` where none is
    /// compared.
    pub fn overlap(&self, engine: Option<&Difference>) -> Option<SpuriousOverlap> {
        let engine = engine?;
        let outside = [engine.outside_0_9_1_1, engine.outside_0_5_2, engine.outside_0_2_5];
        let band = |i: usize| {
            let all = outside[i] * engine.tokens as f64;
            BandOverlap {
                low: BANDS[i].0,
                high: BANDS[i].1,
                candidates_outside: share(self.candidates_outside[i] as f64, self.candidates_compared as f64),
                spurious_outside: share(self.outside[i] as f64, self.compared as f64),
                outside_spurious: share(self.outside[i] as f64, all),
            }
        };
        (self.compared > 0).then(|| SpuriousOverlap {
            candidates: self.candidates_compared,
            spurious: self.compared,
            bands: (0..BANDS.len()).map(band).collect(),
        })
    }

    /// Goes over all candidates.
    pub fn count(source: &FlaggedSource, plan: &Plan) -> Result<Self> {
        let asked = &plan.questions;
        let mut flags = Self {
            removed: vec![0; asked.corrections.len()],
            slices: vec![HashMap::new(); asked.dimensions.len()],
            ..Self::default()
        };
        source.candidates.for_each(|candidate| {
            let Some((_, tau_h)) = source.threshold(candidate) else { return Ok(()) };
            let kind = FlaggedSource::kind(candidate, tau_h);
            let is_spurious = kind == FlagKind::Spurious;
            flags.claims.add(candidate, kind, &plan.rule);
            let facts = &candidate.facts;
            let ratio = facts.engine.exp();
            let outside = BANDS.map(|(low, high)| u64::from(ratio < low || ratio > high));
            let compared = facts.engine.is_finite();
            if compared {
                flags.candidates_compared += 1;
                flags.candidates_outside.iter_mut().zip(outside).for_each(|(a, b)| *a += b);
            }
            if !is_spurious {
                return Ok(());
            }
            flags.spurious += 1;
            if compared {
                flags.compared += 1;
                flags.outside.iter_mut().zip(outside).for_each(|(a, b)| *a += b);
                for (removed, rule) in flags.removed.iter_mut().zip(&asked.corrections) {
                    *removed += u64::from(rule.weight(ratio, &facts.response).0 == 0.0);
                }
            }
            for (counts, key) in flags.slices.iter_mut().zip(&facts.slices) {
                counts.entry(*key).or_insert([0; REPLICATES])[usize::from(facts.replicate) % REPLICATES] += 1;
            }
            Ok(())
        })?;
        Ok(flags)
    }
}
