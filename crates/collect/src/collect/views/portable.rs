//! Kept responses as plain lists, to be written: they are shared otherwise.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Draw, DrawKey, KeptResponse, KeptResponses, Shelf};

/// Ranks with responses, shelf by shelf, and the responses of the groups that were drawn.
#[derive(Serialize, Deserialize)]
pub struct Portable {
    shelves: [Vec<(f64, KeptResponse)>; 4],
    draw: Vec<(DrawKey, Vec<KeptResponse>)>,
}

impl Clone for KeptResponses {
    fn clone(&self) -> Self {
        let shelves = self.shelves.each_ref().map(|s| Shelf { kept: s.kept.clone(), ..*s });
        Self { shelves, draw: Draw(self.draw.0.clone()) }
    }
}

impl From<KeptResponses> for Portable {
    fn from(from: KeptResponses) -> Self {
        let own = |response: Arc<KeptResponse>| KeptResponse::clone(&response);
        let draw = from.draw.0.into_iter();
        Self {
            shelves: from
                .shelves
                .map(|shelf| shelf.kept.into_iter().map(|(rank, r)| (rank, own(r))).collect()),
            draw: draw.map(|(key, group)| (key, group.into_iter().map(own).collect())).collect(),
        }
    }
}

impl From<Portable> for KeptResponses {
    fn from(from: Portable) -> Self {
        let mut kept = Self::default();
        for (shelf, responses) in kept.shelves.iter_mut().zip(from.shelves) {
            responses.into_iter().for_each(|(rank, response)| shelf.add(rank, Arc::new(response)));
        }
        for (key, group) in from.draw {
            group.into_iter().for_each(|response| kept.draw.add(key.clone(), Arc::new(response)));
        }
        kept
    }
}
