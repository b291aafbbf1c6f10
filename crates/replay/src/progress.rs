//! What a replay tells of its progress.

/// Told how far a replay is.
pub trait ReplayProgress {
    /// So many tokens are ahead, over all arms.
    fn ahead(&self, tokens: u64);
    /// An arm begins.
    fn arm(&self, name: &str);
    /// Some tokens were trained on.
    fn trained(&self, tokens: u64);
    /// Some tokens were trained on by an earlier start.
    fn skipped(&self, tokens: u64);
    /// Something worth a line.
    fn say(&self, text: &str);
}

/// No one looks.
pub struct NoProgress;

impl ReplayProgress for NoProgress {
    fn ahead(&self, _: u64) {}
    fn arm(&self, _: &str) {}
    fn trained(&self, _: u64) {}
    fn skipped(&self, _: u64) {}
    fn say(&self, _: &str) {}
}
