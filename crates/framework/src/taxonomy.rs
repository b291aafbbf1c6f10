//! The taxonomy of tokens by probability, entropy and sign of the advantage.

use stapo_base::named;

named! {
    /// A token's class: the eight of the paper's early table, and a ninth without advantage.
    #[repr(u8)]
    pub enum TokenClass {
        /// A > 0, p ≥ τ_p, H ≥ τ_h.
        PositiveHighPHighH = "positive_high_p_high_h",
        /// A > 0, p ≥ τ_p, H < τ_h.
        PositiveHighPLowH = "positive_high_p_low_h",
        /// A > 0, p < τ_p, H ≥ τ_h: exploratory.
        PositiveLowPHighH = "positive_low_p_high_h",
        /// A > 0, p < τ_p, H < τ_h: spurious.
        PositiveLowPLowH = "positive_low_p_low_h",
        /// A < 0, p ≥ τ_p, H ≥ τ_h.
        NegativeHighPHighH = "negative_high_p_high_h",
        /// A < 0, p ≥ τ_p, H < τ_h.
        NegativeHighPLowH = "negative_high_p_low_h",
        /// A < 0, p < τ_p, H ≥ τ_h.
        NegativeLowPHighH = "negative_low_p_high_h",
        /// A < 0, p < τ_p, H < τ_h.
        NegativeLowPLowH = "negative_low_p_low_h",
        /// A = 0: nothing to learn from.
        ZeroAdvantage = "zero_advantage",
    }
}

impl TokenClass {
    /// The class of a token; an advantage of NaN counts as none.
    #[inline]
    #[must_use]
    pub fn of(advantage: f32, low_probability: bool, low_entropy: bool) -> Self {
        Self::ALL[Self::code_of(advantage, low_probability, low_entropy)]
    }

    /// `of(..) as usize` without branches, for counting in hot loops. Always below 9.
    #[inline]
    #[must_use]
    pub fn code_of(advantage: f32, low_probability: bool, low_entropy: bool) -> usize {
        let signed =
            usize::from(advantage < 0.0) * 4 + usize::from(low_probability) * 2 + usize::from(low_entropy);
        if (advantage > 0.0) | (advantage < 0.0) { signed } else { 8 }
    }

    /// Short label for charts and tables.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::PositiveHighPHighH => "A>0, high p, high H",
            Self::PositiveHighPLowH => "A>0, high p, low H",
            Self::PositiveLowPHighH => "A>0, low p, high H (exploratory)",
            Self::PositiveLowPLowH => "A>0, low p, low H (spurious)",
            Self::NegativeHighPHighH => "A<0, high p, high H",
            Self::NegativeHighPLowH => "A<0, high p, low H",
            Self::NegativeLowPHighH => "A<0, low p, high H",
            Self::NegativeLowPLowH => "A<0, low p, low H",
            Self::ZeroAdvantage => "A=0",
        }
    }

    /// What the paper says of this class; None for A = 0, which it does not list.
    #[must_use]
    pub fn paper_row(self) -> Option<&'static PaperRow> {
        PAPER_TABLE.iter().find(|row| row.class == self)
    }
}

/// A qualitative entry of the paper's tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Low.
    Low,
    /// High.
    High,
    /// Higher than every other class.
    Highest,
}

/// The direction in which a class moves the entropy, by the paper's lemma.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trend {
    /// Entropy rises.
    Up,
    /// Entropy falls.
    Down,
}

/// One class in the tables of arXiv 2602.15620.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaperRow {
    /// The class described.
    pub class: TokenClass,
    /// Gradient norm: the late table where it lists the class (A > 0), else the early one.
    pub norm: Level,
    /// Entropy change; the two tables agree.
    pub entropy: Trend,
    /// Spurious risk, late table only (A > 0).
    pub risk: Option<Level>,
    /// Learning potential, early table.
    pub potential: Level,
}

/// The paper's tables (late: four rows with A > 0; early: eight rows), merged.
pub const PAPER_TABLE: [PaperRow; 8] = [
    row(TokenClass::PositiveHighPHighH, Level::Low, Trend::Down, Some(Level::Low), Level::High),
    row(TokenClass::PositiveHighPLowH, Level::Low, Trend::Down, Some(Level::Low), Level::Low),
    row(TokenClass::PositiveLowPHighH, Level::High, Trend::Up, Some(Level::Low), Level::High),
    row(TokenClass::PositiveLowPLowH, Level::Highest, Trend::Up, Some(Level::High), Level::Low),
    row(TokenClass::NegativeHighPHighH, Level::Low, Trend::Up, None, Level::High),
    row(TokenClass::NegativeHighPLowH, Level::Low, Trend::Up, None, Level::Low),
    row(TokenClass::NegativeLowPHighH, Level::High, Trend::Down, None, Level::High),
    row(TokenClass::NegativeLowPLowH, Level::High, Trend::Down, None, Level::Low),
];

const fn row(
    class: TokenClass,
    norm: Level,
    entropy: Trend,
    risk: Option<Level>,
    potential: Level,
) -> PaperRow {
    PaperRow { class, norm, entropy, risk, potential }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn codes_follow_the_order() {
        for (code, class) in TokenClass::ALL.into_iter().enumerate() {
            assert_eq!(class as usize, code);
        }
    }

    #[test]
    fn classes_follow_the_three_tests() {
        assert_eq!(TokenClass::of(1.0, true, true), TokenClass::PositiveLowPLowH);
        assert_eq!(TokenClass::of(1.0, true, false), TokenClass::PositiveLowPHighH);
        assert_eq!(TokenClass::of(-1.0, false, true), TokenClass::NegativeHighPLowH);
        assert_eq!(TokenClass::of(0.0, true, true), TokenClass::ZeroAdvantage);
        assert_eq!(TokenClass::of(-0.0, true, true), TokenClass::ZeroAdvantage);
        assert_eq!(TokenClass::of(f32::NAN, true, true), TokenClass::ZeroAdvantage);
    }

    #[test]
    fn the_paper_lists_every_class_but_zero() {
        for class in TokenClass::ALL {
            assert_eq!(class.paper_row().is_none(), class == TokenClass::ZeroAdvantage);
        }
        let spurious = TokenClass::PositiveLowPLowH.paper_row().unwrap();
        assert_eq!((spurious.norm, spurious.risk), (Level::Highest, Some(Level::High)));
    }
}
