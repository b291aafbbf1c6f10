//! Which candidates of kept siblings are spurious: thresholds are known only after the pass.

use std::collections::HashMap;

use crate::analyze::collect::questions::siblings::Sibling;
use crate::analyze::collect::tally::BatchKey;
use crate::framework::s2t::is_low_entropy;

/// τ_h by batch.
#[derive(Clone, Debug, Default)]
pub struct SpuriousPlaces(HashMap<BatchKey, f64>);

impl SpuriousPlaces {
    /// From the batches and their thresholds.
    pub fn new<'a>(batches: impl IntoIterator<Item = (&'a BatchKey, &'a Option<f64>)>) -> Self {
        Self(batches.into_iter().filter_map(|(key, tau_h)| Some((*key, (*tau_h)?))).collect())
    }

    /// The places of a response's spurious tokens.
    pub fn of<'a>(&self, sibling: &'a Sibling) -> impl Iterator<Item = usize> + use<'a> {
        let tau_h = self.0.get(&sibling.batch).copied();
        let is_spurious = move |place: &usize| {
            let entropy = sibling.entropy.get(*place);
            tau_h.zip(entropy).is_some_and(|(tau_h, entropy)| is_low_entropy(*entropy, tau_h))
        };
        sibling.candidates.iter().map(|place| *place as usize).filter(is_spurious)
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::analyze::collect::rows::Row;

    /// A response of these ids.
    pub fn sibling(ids: &[i32], reward: f32) -> Sibling {
        Sibling {
            batch: BatchKey { step: 0, update: None },
            row: Row::default(),
            reward,
            right: None,
            advantage: 0.0,
            trained: ids.len() as u32,
            parts: Vec::new(),
            push: vec![0.0; ids.len()],
            entropy: vec![0.5; ids.len()],
            ids: ids.to_vec(),
            candidates: Vec::new(),
        }
    }

    #[test]
    fn the_threshold_of_the_batch_decides() {
        let batch = BatchKey { step: 0, update: None };
        let places = SpuriousPlaces::new([(&batch, &Some(0.5))]);
        let mut one = sibling(&[1, 2, 3], 0.0);
        one.entropy = vec![0.1, 0.4, 0.6];
        one.candidates = vec![1, 2];
        assert_eq!(places.of(&one).collect::<Vec<_>>(), [1]);
        assert_eq!(SpuriousPlaces::default().of(&one).count(), 0);
    }
}
