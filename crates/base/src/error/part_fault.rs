//! Why a part is refused.

use std::path::PathBuf;

/// Why a part cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartFault {
    /// Another file.
    #[error("not a part that stapo-analyze wrote")]
    NotAPart,
    /// Another file in place of a plan.
    #[error("not a plan of stapo-analyze")]
    NotAPlan,
    /// Another file in place of what `merge` asks to look for.
    #[error("not a look that `merge` asked for")]
    NotALook,
    /// A part of `collect` where a merged one is needed.
    #[error("the part has no plan inside")]
    NotMerged,
    /// It ends too early.
    #[error("the part is cut short")]
    Truncated,
    /// A checksum does not fit, or what is inside does not fit together.
    #[error("the part is damaged ({place})")]
    Damaged {
        /// Where.
        place: String,
    },
    /// Another format.
    #[error("it has format {found}, this program writes {expected}")]
    OtherFormat {
        /// Its format.
        found: u32,
        /// Ours.
        expected: u32,
    },
    /// Another version of the program.
    #[error("it is of version {found}, this program is {expected}")]
    OtherProgram {
        /// Its version.
        found: String,
        /// Ours.
        expected: String,
    },
    /// Another kind of machine.
    #[error("it was written on {found}, this program was built for {expected}")]
    OtherTarget {
        /// Its target.
        found: String,
        /// Ours.
        expected: String,
    },
    /// Another `exp` or `ln`.
    #[error("it was written by a machine whose exponentials and logarithms round otherwise")]
    OtherKernel,
    /// Another plan.
    #[error("the part belongs to plan {found}, not to {expected}")]
    OtherPlan {
        /// Its plan.
        found: String,
        /// The one that is merged.
        expected: String,
    },
    /// A look where a state is expected, or the other way round.
    #[error("the part holds `{found}`, not `{expected}`")]
    OtherKind {
        /// What it holds.
        found: String,
        /// What was expected.
        expected: String,
    },
    /// Two parts cover the same.
    #[error("the part covers what {} covers, too", other.display())]
    Duplicate {
        /// The other one.
        other: PathBuf,
    },
    /// Shards whose parts lie beside those that were given.
    #[error("what was collected of {missing} lies here and was not given")]
    NotGiven {
        /// Which shards.
        missing: String,
    },
    /// Shards that no part covers.
    #[error("there is no part of {missing}")]
    Missing {
        /// Which shards.
        missing: String,
    },
}

impl PartFault {
    /// What to do next.
    pub(super) fn hint(&self) -> &'static str {
        match self {
            Self::NotAPart => "give parts (*.part) that `collect` or `merge` wrote",
            Self::NotAPlan => "give the plan.json that `plan` wrote",
            Self::NotALook => "give the look-1.json (or 2, 3, …) that `merge` wrote",
            Self::NotMerged => "write it with `merge --plan plan.json PARTS -o run.part`",
            Self::Truncated | Self::Damaged { .. } => "delete it and run `collect` for its shard again",
            Self::OtherFormat { .. } | Self::OtherProgram { .. } => {
                "use one version of the program for plan, collect and merge: make the plan again with this one"
            }
            Self::OtherTarget { .. } | Self::OtherKernel => {
                "collect and merge on machines of one kind, with the same program"
            }
            Self::OtherPlan { .. } => "the plan was made anew: delete the old parts and collect again",
            Self::OtherKind { .. } => "look at the file's name: was it given in place of another one?",
            Self::Duplicate { .. } => "merge each shard once: leave one of the two out",
            Self::NotGiven { .. } => "give all parts, or the folder that they are in: nothing was written",
            Self::Missing { .. } => "run `collect` for these shards, then merge again: nothing was written",
        }
    }
}
