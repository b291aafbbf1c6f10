//! Totals of groups of responses, and where their tokens lie: what comparisons rest on. Only collected where asked for.

use stapo_levels::RunGroups;

/// Random groups that token counts are kept in; their scatter gives the error of a share.
pub const REPLICATES: usize = 16;

/// What a comparison needs of a run beside its analysis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunClusters {
    /// Totals of groups.
    pub groups: RunGroups,
    /// Whether groups were so many that several share their totals, and prompts are not told apart.
    pub coarse: bool,
    /// Tokens of every cell of the plane, by random group; cells as in `Plane` (x, y).
    pub plane: Vec<((u16, u16), [u64; REPLICATES])>,
    /// Tokens of every id, by random group.
    pub ids: Vec<(i32, [u64; REPLICATES])>,
}
