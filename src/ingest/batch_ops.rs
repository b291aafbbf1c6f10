//! Cutting and joining token batches.

use std::ops::Range;

use arrow_array::StringArray;
use arrow_buffer::{ArrowNativeType, ScalarBuffer};

use crate::ingest::batch::{ResponseColumns, TokenBatch, TokenColumns};
use crate::ingest::schema::columns::Column;

impl TokenBatch {
    /// Some of the responses; token buffers are shared, not copied.
    pub fn slice(&self, responses: Range<usize>) -> TokenBatch {
        let (from, to) = (self.offsets[responses.start], self.offsets[responses.end]);
        let offsets = self.offsets[responses.start..=responses.end].iter().map(|o| o - from).collect();
        let mut origin = self.origin;
        origin.first_response += responses.start as u64;
        TokenBatch {
            origin,
            offsets,
            responses: self.responses.slice(responses),
            tokens: self.tokens.slice(from, to - from),
        }
    }

    /// A copy that shares no buffers: what is kept for long must not keep a whole batch alive.
    pub fn detached(&self) -> TokenBatch {
        let empty = TokenColumns::default();
        TokenBatch { tokens: self.tokens.concat(&empty), ..self.clone() }
    }

    /// Appends the tokens of `next`, which continues this batch's last response.
    pub fn extend_last(&mut self, next: &TokenBatch) {
        self.tokens = self.tokens.concat(&next.tokens);
        if let Some(end) = self.offsets.last_mut() {
            *end += next.token_count();
        }
    }

    /// A log that has the ratio instead of the new log-probability: ln π_new = ln π_old + ln ρ.
    pub fn derive_new_logprob(&mut self) {
        let Some(ratio) = self.tokens.floats.take(Column::Ratio) else { return };
        let known = self.tokens.floats.get(Column::LogprobNew).is_some();
        let Some(old) = self.tokens.floats.get(Column::Logprob).filter(|_| !known) else { return };
        let sum = |(old, ratio): (&f32, &f32)| (old + ratio.ln()).min(0.0);
        let new: Vec<f32> =
            old.iter().zip(ratio.iter()).map(sum).map(|v| if v.is_finite() { v } else { f32::NAN }).collect();
        self.tokens.floats.set(Column::LogprobNew, new.into());
    }

    /// Drops a position column that says nothing new: 0, 1, 2, … in every response.
    pub fn drop_plain_positions(&mut self) {
        let Some(positions) = self.tokens.ints.get(Column::Position) else { return };
        let plain = (0..self.len()).all(|i| {
            let of_response = &positions[self.range(i)];
            of_response.iter().zip(0i32..).map(|(p, t)| u32::from(*p != t)).sum::<u32>() == 0
        });
        if plain {
            self.tokens.ints.take(Column::Position);
        }
    }
}

impl ResponseColumns {
    fn slice(&self, r: Range<usize>) -> Self {
        fn cut<T: Clone>(v: &[T], r: &Range<usize>) -> Vec<T> {
            v[r.clone()].to_vec()
        }
        Self {
            step: cut(&self.step, &r),
            ids: self.ids.map(|v| cut(v, &r)),
            ints: self.ints.map(|v| cut(v, &r)),
            floats: self.floats.map(|v| cut(v, &r)),
            texts: self.texts.map(|v| cut(v, &r)),
            flags: self.flags.map(|v| cut(v, &r)),
            prompt_ids: self.prompt_ids.as_ref().map(|v| cut(v, &r)),
            reward_parts: self.reward_parts.iter().map(|(n, v)| (n.clone(), cut(v, &r))).collect(),
        }
    }
}

impl TokenColumns {
    fn slice(&self, from: usize, len: usize) -> Self {
        Self {
            floats: self.floats.map(|b| b.slice(from, len)),
            doubles: self.doubles.map(|b| b.slice(from, len)),
            ints: self.ints.map(|b| b.slice(from, len)),
            flags: self.flags.map(|b| b.slice(from, len)),
            texts: self.texts.as_ref().map(|t| t.slice(from, len)),
        }
    }

    /// Both parts come from one file, so they have the same columns; columns that only `next` has
    /// are left out.
    fn concat(&self, next: &Self) -> Self {
        fn join<T: ArrowNativeType>(a: &ScalarBuffer<T>, b: Option<&ScalarBuffer<T>>) -> ScalarBuffer<T> {
            let mut all = a.to_vec();
            all.extend_from_slice(b.map(|b| &b[..]).unwrap_or_default());
            all.into()
        }
        let mut out = Self::default();
        for (c, a) in self.floats.iter() {
            out.floats.set(c, join(a, next.floats.get(c)));
        }
        for (c, a) in self.doubles.iter() {
            out.doubles.set(c, join(a, next.doubles.get(c)));
        }
        for (c, a) in self.ints.iter() {
            out.ints.set(c, join(a, next.ints.get(c)));
        }
        for (c, a) in self.flags.iter() {
            out.flags.set(c, join(a, next.flags.get(c)));
        }
        let rest = next.texts.iter().flat_map(|t| t.iter());
        out.texts = self.texts.as_ref().map(|t| t.iter().chain(rest).collect::<StringArray>());
        out
    }
}
