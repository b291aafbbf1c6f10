//! Which policy ratios are taken against.

use stapo_base::named;

named! {
    /// Where the ratio's denominator comes from.
    #[derive(Default)]
    pub enum OldPolicy {
        /// The log.
        Log = "log",
        /// The replayed policy at the start of the step.
        Recompute = "recompute",
        /// The log while the drift is small.
        #[default]
        Auto = "auto",
    }
}
