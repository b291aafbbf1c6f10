//! The columns of a batch, and the trained tokens of one response in them.

use std::ops::Range;

use arrow_buffer::ScalarBuffer;

use stapo_base::simd;
use stapo_batch::batch::TokenBatch;
use stapo_batch::columns::Column;

macro_rules! columns {
    ($($field:ident $type:ty, $doc:literal;)*) => {
        /// Columns of a stretch of tokens; an empty one was not logged.
        #[derive(Clone, Copy, Debug, Default)]
        pub struct Columns<'a> { $(#[doc = $doc] pub $field: &'a [$type],)* }

        impl<'a> Columns<'a> {
            /// The tokens of `range`.
            pub fn slice(&self, range: Range<usize>) -> Self {
                Self { $($field: self.$field.get(range.clone()).unwrap_or_default(),)* }
            }
        }

        /// Columns of picked tokens.
        #[derive(Debug, Default)]
        pub struct PickedColumns {
            $($field: Vec<$type>,)*
            runs: Vec<Range<usize>>,
        }

        impl PickedColumns {
            /// Copies the tokens `picks` of `columns`.
            pub fn fill(&mut self, columns: &Columns<'_>, picks: &[u32]) {
                find_runs(picks, &mut self.runs);
                $(
                    self.$field.clear();
                    if !columns.$field.is_empty() {
                        for run in &self.runs {
                            self.$field.extend_from_slice(&columns.$field[run.clone()]);
                        }
                    }
                )*
            }

            /// The copies.
            pub fn columns(&self) -> Columns<'_> {
                Columns { $($field: &self.$field,)* }
            }
        }
    };
}

columns! {
    logprob f32, "ln p.";
    entropy f32, "H.";
    advantage f32, "A.";
    token_id i32, "Token ids.";
    logprob_new f32, "ln p at the update.";
    logprob_rollout f32, "ln p as the inference engine gave it.";
    logprob_ref f32, "ln p of the reference.";
    turn i32, "Turns.";
    grad_norm f32, "Measured norms.";
    sum_pi_sq f64, "Σ π².";
    sum_pi_sq_log_pi f64, "Σ π² ln π.";
    entropy_after f32, "H after the update.";
    clipped u8, "Whether the trainer clipped the token.";
}

/// The stretches of neighbours among ascending tokens: masks leave whole turns out.
fn find_runs(picks: &[u32], runs: &mut Vec<Range<usize>>) {
    runs.clear();
    for run in picks.chunk_by(|a, b| a + 1 == *b) {
        runs.push(run[0] as usize..run[0] as usize + run.len());
    }
}

impl<'a> Columns<'a> {
    /// All tokens of a batch; `advantage` is [`TokenBatch::advantages`].
    pub fn of(batch: &'a TokenBatch, advantage: &'a Option<ScalarBuffer<f32>>) -> Self {
        let floats = |column| batch.floats(column).unwrap_or_default();
        let doubles = |column| batch.doubles(column).unwrap_or_default();
        Self {
            logprob: floats(Column::Logprob),
            entropy: floats(Column::Entropy),
            advantage: advantage.as_ref().map_or(&[], |a| &a[..]),
            token_id: batch.token_ids().unwrap_or_default(),
            logprob_new: floats(Column::LogprobNew),
            logprob_rollout: floats(Column::LogprobRollout),
            logprob_ref: floats(Column::LogprobRef),
            turn: batch.tokens.ints.get(Column::Turn).map_or(&[], |b| &b[..]),
            grad_norm: floats(Column::GradNorm),
            sum_pi_sq: doubles(Column::SumPiSq),
            sum_pi_sq_log_pi: doubles(Column::SumPiSqLogPi),
            entropy_after: floats(Column::EntropyAfter),
            clipped: batch.tokens.flags.get(Column::Clipped).map_or(&[], |b| &b[..]),
        }
    }

    /// Whether log-probability, entropy and advantage of every token are there.
    pub fn is_complete(&self, tokens: usize) -> bool {
        let finite = |column: &[f32]| column.len() == tokens && simd::all(column, f32::is_finite);
        finite(self.logprob) && finite(self.entropy) && finite(self.advantage)
    }

    /// Log-probability, entropy and advantage, where each has so many tokens.
    pub fn required(&self, tokens: usize) -> Option<[&'a [f32]; 3]> {
        let columns = [self.logprob, self.entropy, self.advantage];
        columns.iter().all(|column| column.len() == tokens).then_some(columns)
    }

    /// Whether log-probability, entropy and advantage of token `t` are there.
    pub fn has(&self, t: usize) -> bool {
        let finite = |column: &[f32]| column.get(t).is_some_and(|v| v.is_finite());
        finite(self.logprob) && finite(self.entropy) && finite(self.advantage)
    }

    /// Number of tokens.
    pub fn len(&self) -> usize {
        self.logprob.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picked_tokens_are_copied() {
        let (logprob, token_id) = ([-1.0, -2.0, -3.0, -4.0, -5.0], [1, 2, 3, 4, 5]);
        let whole = Columns { logprob: &logprob, token_id: &token_id, ..Columns::default() };
        let mut picked = PickedColumns::default();
        for picks in [&[0, 1, 3, 4][..], &[2], &[], &[0, 1, 2, 3, 4], &[1, 4]] {
            picked.fill(&whole, picks);
            let ids: Vec<i32> = picks.iter().map(|t| token_id[*t as usize]).collect();
            let found = picked.columns();
            assert_eq!((found.token_id, found.len()), (&ids[..], ids.len()));
            assert!(found.entropy.is_empty());
        }
    }
}
