//! What every chart is.

use crate::draw::Scenes;
use stapo_base::tables::DataFrame;

/// A chart with what belongs to it.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Name of its files.
    pub name: &'static str,
    /// Title.
    pub title: String,
    /// One sentence: how to read it.
    pub reading: String,
    /// Sample sizes, estimates, what was left out.
    pub notes: Vec<String>,
    /// The drawing.
    pub scenes: Scenes,
    /// The numbers.
    pub table: DataFrame,
}

/// A chart that the log holds no data for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Title.
    pub title: &'static str,
    /// What it needs.
    pub needs: String,
}

impl Missing {
    /// A chart that is left out.
    pub(crate) fn new(title: &'static str, needs: impl Into<String>) -> Self {
        Self { title, needs: needs.into() }
    }
}

/// A chart, or why there is none.
pub type Drawn = Result<Chart, Missing>;

/// Height of most charts in pixels, without the title.
pub(crate) const HEIGHT: u32 = 360;
