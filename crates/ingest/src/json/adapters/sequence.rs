//! A whole sequence (prompt, response, tool outputs) to one response in canonical columns.

use std::ops::Range;

use super::super::field::{Field, Numbers, Object};
use super::context::Bad;

/// Prompt and response with the streams that belong to them; all vectors have one entry a token.
#[derive(Default)]
pub(super) struct Sequence {
    /// Token ids of prompt and response.
    pub(super) ids: Vec<f64>,
    /// Whether the model sampled the token: the response reaches from the first such token to the
    /// last and keeps what tools wrote in between.
    pub(super) sampled: Vec<bool>,
    /// Whether the token is trained on.
    pub(super) trained: Vec<bool>,
    /// Canonical name, raw name and values of each stream.
    pub(super) streams: Vec<(&'static str, &'static str, Vec<f64>)>,
}

impl Sequence {
    /// Where the response lies: from the first sampled token to the last one.
    pub(super) fn response(&self) -> Range<usize> {
        let start = self.sampled.iter().position(|s| *s).unwrap_or(self.ids.len());
        let end = self.sampled.iter().rposition(|s| *s).map_or(start, |last| last + 1);
        start..end
    }

    /// Writes `prompt_ids`, `token_id`, `mask` and the streams of the response into `row`.
    pub(super) fn write(self, row: &mut Object) -> Result<(), Bad> {
        let n = self.ids.len();
        let response = self.response();
        let mut prompt = self.ids;
        let mut ids = prompt.split_off(response.start);
        ids.truncate(response.len());
        row.set("prompt_ids", Field::Numbers(Numbers::whole(prompt)));
        row.set("token_id", Field::Numbers(Numbers::whole(ids)));
        let trained = self.trained.get(response.clone()).unwrap_or_default();
        row.set("mask", Field::Bools(trained.iter().copied().map(Some).collect()));
        for (name, raw, values) in self.streams {
            if values.len() != n {
                return Err(Bad::length(raw, values.len(), "token ids", n));
            }
            let mut values = Field::Numbers(Numbers::floats(values));
            values.cut(response.clone());
            row.set(name, values);
        }
        Ok(())
    }
}
