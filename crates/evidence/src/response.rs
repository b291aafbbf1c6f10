//! What the pass shows of one response: its values and its tokens, borrowed from the batch that it stands in.

/// One response. A number that was not logged is NaN; a column that the log lacks is `None`.
#[derive(Clone, Copy, Debug)]
pub struct Response<'a> {
    /// Trainer step.
    pub step: i64,
    /// Hash of the group's id: the same in every shard. Groups are told apart by (step, group).
    pub group: u64,
    /// Scan unit (the upper 24 bits) and place in it: the order of the log, in which trainers lay out a step.
    pub place: u64,
    /// Hash of what it is (step, ids, values): samples are drawn by it, whatever the order of files.
    pub hash: u64,
    /// Task or data source, "" where the log names none.
    pub slice: &'a str,
    /// A row of an evaluation (`split`).
    pub held_out: bool,
    /// Mini-batch of the step that the log's `logprob_new` was computed at.
    pub update: Option<i64>,
    /// Version of the sampler's weights.
    pub version: Option<i64>,
    /// Final reward.
    pub reward: f32,
    /// Parts of the reward, in the order of the names that [`crate::Evidence::new`] was given.
    pub parts: &'a [f32],
    /// Advantage of the response, where the log holds one a response (else `advantages` has them).
    pub advantage: Option<f32>,
    /// Hash of the prompt.
    pub prompt: Option<u64>,
    /// Tokens of the prompt.
    pub prompt_len: Option<i64>,
    /// Why generation ended, as logged.
    pub finish: Option<&'a str>,
    /// Whether the response was cut.
    pub truncated: Option<bool>,
    /// Ids of the tokens; `i32::MIN` where one was not logged.
    pub tokens: Option<&'a [i32]>,
    /// Whether a token is trained on (1); `None` means that all are.
    pub mask: Option<&'a [u8]>,
    /// ln π_old(y); empty in a log of texts.
    pub logprob: &'a [f32],
    /// H of π_old.
    pub entropy: Option<&'a [f32]>,
    /// ln μ(y), the sampler's.
    pub rollout: Option<&'a [f32]>,
    /// ln π_θ(y) at loss time.
    pub new: Option<&'a [f32]>,
    /// ln π_ref(y).
    pub reference: Option<&'a [f32]>,
    /// Advantages of the tokens, where the log holds one a token.
    pub advantages: Option<&'a [f32]>,
    /// Importance weights that were applied.
    pub is_weight: Option<&'a [f32]>,
    /// Measured gradient norms.
    pub grad_norm: Option<&'a [f32]>,
    /// Turn of each token.
    pub turns: Option<&'a [i32]>,
}

impl Response<'_> {
    /// Number of tokens.
    #[must_use]
    pub fn len(&self) -> usize {
        self.logprob.len().max(self.tokens.map_or(0, <[i32]>::len))
    }

    /// Whether it has no token.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether token `t` is trained on.
    #[must_use]
    #[inline]
    pub fn is_trained(&self, t: usize) -> bool {
        self.mask.is_none_or(|mask| mask[t] == 1)
    }

    /// The advantage of token `t`; NaN where none is logged.
    #[must_use]
    #[inline]
    pub fn advantage_at(&self, t: usize) -> f32 {
        match self.advantages {
            Some(advantages) => advantages[t],
            None => self.advantage.unwrap_or(f32::NAN),
        }
    }
}
