//! What the number of a cause is held against.

/// What holds of a run without the cause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Null {
    /// Equality in every healthy run, but for rounding: there is no rate of false alarms.
    Identity {
        /// What rounding may leave.
        rounding: f64,
    },
    /// A distribution: false alarms at this rate, over all looks together.
    Chance {
        /// The rate.
        alpha: f64,
        /// How often it looks.
        looks: u32,
    },
    /// A bound where there is no distribution.
    Level {
        /// Beyond it is the cause.
        bound: f64,
        /// Where it comes from.
        why: &'static str,
    },
}

impl Null {
    /// Whether it is one of equality.
    #[must_use]
    pub const fn is_identity(&self) -> bool {
        matches!(self, Self::Identity { .. })
    }
}
