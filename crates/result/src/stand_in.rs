//! What stands in for a column that is not logged, so that the rest of a run can be told.

/// Columns that are not logged and that 0 stands in for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StandIn {
    /// Of the log-probability: the log holds texts.
    pub logprob: bool,
    /// Of the entropy.
    pub entropy: bool,
    /// Of the advantage.
    pub advantage: bool,
}

impl StandIn {
    /// Whether there is any: nothing can be said of gradients and of spurious tokens.
    pub fn any(self) -> bool {
        self.logprob || self.entropy || self.advantage
    }
}
