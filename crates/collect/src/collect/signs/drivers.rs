//! The tokens with the largest gradient norms of the run, with every fact that is logged.

use std::cmp::Ordering;

use crate::collect::ranking::{Ranked, Ranking};
use stapo_batch::batch::Id;
use stapo_result::DRIVERS;

/// A token with a large gradient norm.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Driver {
    /// ‖g‖².
    pub energy: f64,
    /// Step.
    pub step: i64,
    /// Mini-batch as logged.
    pub update: Option<i64>,
    /// Group.
    pub group: Id,
    /// Response id.
    pub sample: Id,
    /// Scan unit and ordinal in it.
    pub place: (u32, u64),
    /// Position in the response.
    pub position: i32,
    /// Token id, or the missing one.
    pub token_id: i32,
    /// ln p.
    pub logprob: f32,
    /// H.
    pub entropy: f32,
    /// A.
    pub advantage: f32,
    /// ln p at the loss, and as the sampler gave it; NaN where not logged.
    pub others: [f32; 2],
    /// Bits of the framework's flags.
    pub flags: u8,
    /// Steps between sampler and trainer.
    pub lag: Option<i64>,
    /// Turn.
    pub turn: Option<i32>,
    /// Whether the response was cut.
    pub truncated: Option<bool>,
    /// Reward; NaN where not logged.
    pub reward: f32,
    /// Ids around it.
    pub context: Vec<i32>,
    /// Texts around it, where logged.
    pub texts: Option<Vec<Box<str>>>,
    /// Which of the context it is.
    pub centre: usize,
}

impl Ranked for Driver {
    fn energy(&self) -> f64 {
        self.energy
    }

    /// Ties go by place in the end, so that the list does not depend on the order of files.
    fn rank(&self, other: &Self) -> Ordering {
        let key = |d: &Self| (d.step, d.update, d.position, d.token_id);
        other
            .energy
            .total_cmp(&self.energy)
            .then_with(|| key(self).cmp(&key(other)))
            .then_with(|| self.group.cmp(&other.group))
            .then_with(|| self.sample.cmp(&other.sample))
            .then_with(|| self.logprob.total_cmp(&other.logprob))
            .then_with(|| self.entropy.total_cmp(&other.entropy))
            .then_with(|| self.context.cmp(&other.context))
            .then_with(|| self.place.cmp(&other.place))
    }
}

/// The largest so far, largest first.
pub type TopDrivers = Ranking<Driver, DRIVERS>;
