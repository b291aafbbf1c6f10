//! Cutting and joining token batches.

use std::ops::Range;

use arrow_array::{Array, StringArray};
use arrow_buffer::{ArrowNativeType, ScalarBuffer};

use crate::batch::{Id, MISSING_FLAG, MISSING_ID, ResponseColumns, TokenBatch, TokenColumns};
use crate::columns::{Column, PerColumn};
use crate::hash::Mixer;

/// What `split` says of responses that are not trained on, whatever the case.
const EVALUATION: [&str; 6] = ["eval", "evaluation", "val", "valid", "validation", "test"];

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
        TokenBatch { tokens: self.tokens.concat(&empty, self.token_count(), 0), ..self.clone() }
    }

    /// Appends the tokens of `next`, which continues this batch's last response. The two may come
    /// from files with different columns: what one of them does not have is missing there.
    pub fn extend_last(&mut self, next: &TokenBatch) {
        let spread = self.tokens.floats.get(Column::Advantage).is_some()
            != next.tokens.floats.get(Column::Advantage).is_some();
        let (before, added) = (self.token_count(), next.token_count());
        // One advantage a token beats one a response, which then stands for each of its tokens.
        let advantages = spread.then(|| {
            let of = |batch: &TokenBatch, tokens: usize| {
                batch.advantages().map_or_else(|| vec![f32::NAN; tokens], |values| values.to_vec())
            };
            [of(self, before), of(next, added)].concat()
        });
        self.tokens = self.tokens.concat(&next.tokens, before, added);
        if let Some(advantages) = advantages {
            self.tokens.floats.set(Column::Advantage, advantages.into());
        }
        self.responses.complete_last(&next.responses);
        if let Some(end) = self.offsets.last_mut() {
            *end += added;
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

    /// A log that has the version of the weights by token: a response is as stale as its first.
    pub fn derive_policy_version(&mut self) {
        let Some(versions) = self.tokens.ints.get(Column::TokenVersion) else { return };
        if self.responses.ints.get(Column::PolicyVersion).is_some() {
            return;
        }
        let oldest = |i: usize| versions[self.range(i)].iter().filter(|v| **v >= 0).min();
        let oldest = (0..self.len()).map(|i| oldest(i).map(|v| i64::from(*v))).collect();
        self.responses.ints.set(Column::PolicyVersion, oldest);
    }

    /// A log that has rewards by token (all of it at the last one, say): that of a response is their sum; missing where
    /// none of them is known. Where all tokens have the same, it is that of the response, written to each of them.
    pub fn sum_token_rewards(&mut self) {
        let Some(rewards) = self.tokens.floats.get(Column::TokenReward) else { return };
        let of = |i: usize| {
            let mut known = rewards[self.range(i)].iter().copied().filter(|reward| reward.is_finite());
            let Some(first) = known.next() else { return f32::NAN };
            match known.clone().all(|reward| reward == first) {
                true => first,
                false => known.fold(f64::from(first), |sum, reward| sum + f64::from(reward)) as f32,
            }
        };
        let sums = (0..self.len()).map(of).collect();
        self.responses.floats.set(Column::Reward, sums);
    }

    /// Keeps some tokens of each response, counted from its first.
    pub fn keep(&mut self, kept: &[Range<usize>]) {
        fn those<T: ArrowNativeType>(values: &ScalarBuffer<T>, kept: &[Range<usize>]) -> ScalarBuffer<T> {
            kept.iter().flat_map(|range| values[range.clone()].iter().copied()).collect::<Vec<T>>().into()
        }
        let shifted = |(range, from): (&Range<usize>, &usize)| range.start + from..range.end + from;
        let ranges: Vec<Range<usize>> = kept.iter().zip(&self.offsets).map(shifted).collect();
        let tokens = &self.tokens;
        self.tokens = TokenColumns {
            floats: tokens.floats.map(|values| those(values, &ranges)),
            doubles: tokens.doubles.map(|values| those(values, &ranges)),
            ints: tokens.ints.map(|values| those(values, &ranges)),
            flags: tokens.flags.map(|values| those(values, &ranges)),
            texts: tokens.texts.as_ref().map(|texts| {
                let text = |t: usize| texts.is_valid(t).then(|| texts.value(t));
                ranges.iter().cloned().flatten().map(text).collect()
            }),
        };
        self.offsets.truncate(1);
        for range in kept {
            self.offsets.push(self.token_count() + range.len());
        }
    }

    /// Where positions counted the tokens that were cut in front of a response, they count from its
    /// first token now. `cut` says how many those were.
    pub fn count_positions_from(&mut self, cut: impl Fn(usize) -> usize) {
        let offsets = &self.offsets;
        let Some(positions) = self.tokens.ints.get_mut(Column::Position) else { return };
        let cut = |i: usize| i32::try_from(cut(i)).unwrap_or(0);
        let counted =
            |i: &usize| cut(*i) > 0 && positions[offsets[*i]..offsets[*i + 1]].first() == Some(&cut(*i));
        let responses: Vec<usize> = (0..offsets.len() - 1).filter(counted).collect();
        if responses.is_empty() {
            return;
        }
        let mut from_first = positions.to_vec();
        for i in responses {
            from_first[offsets[i]..offsets[i + 1]].iter_mut().filter(|p| **p >= 0).for_each(|p| *p -= cut(i));
        }
        *positions = from_first.into();
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
    /// Takes from `next`, which is more of the last response, what that one does not have yet.
    fn complete_last(&mut self, next: &Self) {
        fn fill<T: Clone>(
            ours: &mut PerColumn<Vec<T>>,
            theirs: &PerColumn<Vec<T>>,
            responses: usize,
            none: T,
            is_missing: impl Fn(&T) -> bool,
        ) {
            for (column, values) in theirs.iter() {
                let Some(first) = values.first() else { continue };
                if ours.get(column).is_none() {
                    ours.set(column, vec![none.clone(); responses]);
                }
                if let Some(last) = ours.get_mut(column).and_then(|v| v.last_mut()).filter(|v| is_missing(v))
                {
                    *last = first.clone();
                }
            }
        }
        let n = self.step.len();
        fill(&mut self.ids, &next.ids, n, Id::Missing, |id| *id == Id::Missing);
        fill(&mut self.ints, &next.ints, n, None, Option::is_none);
        fill(&mut self.floats, &next.floats, n, f32::NAN, |v| v.is_nan());
        fill(&mut self.texts, &next.texts, n, None, Option::is_none);
        fill(&mut self.flags, &next.flags, n, None, Option::is_none);
        self.others.complete_last(&next.others, n);
        for (name, values) in &next.reward_parts {
            if !self.reward_parts.iter().any(|(known, _)| known == name) {
                let mut part = vec![f32::NAN; n];
                part.iter_mut().last().zip(values.first()).into_iter().for_each(|(last, v)| *last = *v);
                self.reward_parts.push((name.clone(), part));
            }
        }
    }

    fn slice(&self, r: Range<usize>) -> Self {
        let starts = r.start == 0;
        Self { open_start: self.open_start.clone().filter(|_| starts), ..self.pick(&r.collect::<Vec<_>>()) }
    }

    /// Some of the responses, wherever they stand.
    pub fn pick(&self, chosen: &[usize]) -> Self {
        fn those<T: Clone>(values: &[T], chosen: &[usize]) -> Vec<T> {
            chosen.iter().map(|i| values[*i].clone()).collect()
        }
        Self {
            step: those(&self.step, chosen),
            ids: self.ids.map(|v| those(v, chosen)),
            ints: self.ints.map(|v| those(v, chosen)),
            floats: self.floats.map(|v| those(v, chosen)),
            texts: self.texts.map(|v| those(v, chosen)),
            flags: self.flags.map(|v| those(v, chosen)),
            prompt_ids: self.prompt_ids.as_ref().map(|v| those(v, chosen)),
            reward_parts: self.reward_parts.iter().map(|(n, v)| (n.clone(), those(v, chosen))).collect(),
            others: self.others.pick(chosen),
            open_start: None,
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

    /// One after the other; a column that only one of them has is missing on the other's tokens.
    fn concat(&self, next: &Self, tokens: usize, added: usize) -> Self {
        fn join<T: ArrowNativeType>(
            a: &PerColumn<ScalarBuffer<T>>,
            b: &PerColumn<ScalarBuffer<T>>,
            (tokens, added): (usize, usize),
            missing: impl Fn(Column) -> T,
        ) -> PerColumn<ScalarBuffer<T>> {
            let mut joined = PerColumn::default();
            for &column in Column::ALL {
                let (a, b) = (a.get(column), b.get(column));
                if a.is_none() && b.is_none() {
                    continue;
                }
                let mut all = Vec::with_capacity(tokens + added);
                a.into_iter().for_each(|a| all.extend_from_slice(a));
                all.resize(tokens, missing(column));
                b.into_iter().for_each(|b| all.extend_from_slice(b));
                all.resize(tokens + added, missing(column));
                joined.set(column, all.into());
            }
            joined
        }
        let lengths = (tokens, added);
        // No mask means that all tokens are trained on.
        let flag = |column| if column == Column::Mask { 1 } else { MISSING_FLAG };
        let texts = (self.texts.is_some() || next.texts.is_some()).then(|| {
            fn of(texts: &Option<StringArray>, n: usize) -> impl Iterator<Item = Option<&str>> {
                texts.iter().flat_map(|t| t.iter()).chain(std::iter::repeat(None)).take(n)
            }
            of(&self.texts, tokens).chain(of(&next.texts, added)).collect()
        });
        Self {
            floats: join(&self.floats, &next.floats, lengths, |_| f32::NAN),
            doubles: join(&self.doubles, &next.doubles, lengths, |_| f64::NAN),
            ints: join(&self.ints, &next.ints, lengths, |_| MISSING_ID),
            flags: join(&self.flags, &next.flags, lengths, flag),
            texts,
        }
    }
}

impl ResponseColumns {
    /// A hash of the prompt of a response, where logged.
    #[must_use]
    pub fn prompt_hash(&self, index: usize) -> Option<u64> {
        if let Some(ids) = self.prompt_ids.as_ref().and_then(|prompts| prompts[index].as_ref()) {
            let pairs = ids.chunks(2).map(|pair| {
                let second = pair.get(1).map_or(0, |id| u64::from(id.cast_unsigned()) + 1);
                (second << 32) | u64::from(pair[0].cast_unsigned())
            });
            return Some(pairs.fold(Mixer::new(ids.len() as u64), Mixer::with).word());
        }
        let text = self.texts.get(Column::PromptText)?[index].clone()?;
        Some(Mixer::new(1).with_id(Some(&Id::Text(text))).word())
    }

    /// Whether a response is of evaluation, by `split`. What says nothing, or something else, is trained on.
    pub fn is_evaluation(&self, response: usize) -> bool {
        let split = self.texts.get(Column::Split).and_then(|splits| splits[response].as_deref());
        split.is_some_and(|split| EVALUATION.iter().any(|name| split.trim().eq_ignore_ascii_case(name)))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::batch::Origin;

    fn part(tokens: usize, advantage: Option<f32>) -> TokenBatch {
        let mut batch = TokenBatch {
            origin: Origin::default(),
            offsets: vec![0, tokens],
            responses: ResponseColumns { step: vec![3], ..Default::default() },
            tokens: TokenColumns::default(),
        };
        batch.tokens.floats.set(Column::Logprob, vec![-1.0; tokens].into());
        if let Some(advantage) = advantage {
            batch.responses.floats.set(Column::AdvantageSeq, vec![advantage]);
        }
        batch
    }

    #[test]
    fn parts_with_different_columns_keep_all_of_them() {
        let mut before = part(2, Some(0.5));
        before.tokens.flags.set(Column::Mask, vec![0, 1].into());
        let mut next = part(3, None);
        next.tokens.floats.set(Column::Entropy, vec![2.0; 3].into());
        next.tokens.floats.set(Column::Advantage, vec![1.0, 2.0, 3.0].into());
        next.tokens.texts = Some(StringArray::from(vec!["a", "b", "c"]));
        next.responses.floats.set(Column::Reward, vec![1.0]);
        before.extend_last(&next);
        assert_eq!(before.offsets, [0, 5]);
        assert_eq!(before.mask().unwrap(), [0, 1, 1, 1, 1]);
        assert_eq!(&before.floats(Column::Entropy).unwrap()[2..], [2.0; 3]);
        assert!(before.floats(Column::Entropy).unwrap()[..2].iter().all(|v| v.is_nan()));
        assert_eq!(before.floats(Column::Advantage).unwrap(), [0.5, 0.5, 1.0, 2.0, 3.0]);
        assert_eq!(before.token_text(4), Some("c"));
        assert_eq!(before.token_text(0), None);
        assert_eq!(before.responses.floats.get(Column::Reward).unwrap(), &[1.0]);
    }
}
