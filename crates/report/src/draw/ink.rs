//! The palette: Okabe–Ito, which colour-blind readers can tell apart, with a lighter set for dark
//! pages. Charts name an ink, never a colour, so that the page's theme decides.

use plotters::style::{RGBAColor, ShapeStyle};

/// Plotters counts whole pixels; charts are drawn at this many units a pixel, so that curves are
/// not bent to a grid.
pub const UNITS: u32 = 10;

/// A colour by its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ink {
    /// Titles and values.
    Text,
    /// Axis labels and notes.
    Muted,
    /// Axis lines.
    Axis,
    /// Grid lines.
    Grid,
    /// The page behind the chart.
    Paper,
    /// Silenced tokens.
    Spurious,
    /// Candidates that are kept.
    Exploratory,
    /// A third series.
    Green,
    /// A fourth series.
    Purple,
    /// A fifth series.
    Orange,
    /// Counts, shown by opacity.
    Density,
    /// Bars that are not singled out.
    Neutral,
}

impl Ink {
    /// All inks, in the order of their codes.
    pub const ALL: [Self; 12] = [
        Self::Text,
        Self::Muted,
        Self::Axis,
        Self::Grid,
        Self::Paper,
        Self::Spurious,
        Self::Exploratory,
        Self::Green,
        Self::Purple,
        Self::Orange,
        Self::Density,
        Self::Neutral,
    ];

    /// Name in the page's style sheet.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Muted => "muted",
            Self::Axis => "axis",
            Self::Grid => "grid",
            Self::Paper => "paper",
            Self::Spurious => "spurious",
            Self::Exploratory => "exploratory",
            Self::Green => "green",
            Self::Purple => "purple",
            Self::Orange => "orange",
            Self::Density => "density",
            Self::Neutral => "neutral",
        }
    }

    /// Red, green and blue on white paper.
    #[must_use]
    pub fn light(self) -> [u8; 3] {
        match self {
            Self::Text => [0x1b, 0x1f, 0x24],
            Self::Muted => [0x57, 0x60, 0x6a],
            Self::Axis => [0x8a, 0x93, 0x9e],
            Self::Grid => [0xe4, 0xe7, 0xeb],
            Self::Paper => [0xff, 0xff, 0xff],
            Self::Spurious => [0xd5, 0x5e, 0x00],
            Self::Exploratory => [0x00, 0x72, 0xb2],
            Self::Green => [0x00, 0x8a, 0x65],
            Self::Purple => [0xb0, 0x5c, 0x8c],
            Self::Orange => [0xc0, 0x80, 0x00],
            Self::Density => [0x2b, 0x45, 0x61],
            Self::Neutral => [0x86, 0x91, 0x9e],
        }
    }

    /// Red, green and blue on a dark page.
    #[must_use]
    pub fn dark(self) -> [u8; 3] {
        match self {
            Self::Text => [0xe8, 0xea, 0xed],
            Self::Muted => [0xa3, 0xac, 0xb7],
            Self::Axis => [0x6f, 0x78, 0x84],
            Self::Grid => [0x2d, 0x33, 0x3b],
            Self::Paper => [0x15, 0x18, 0x1c],
            Self::Spurious => [0xff, 0x8f, 0x4d],
            Self::Exploratory => [0x5a, 0xb4, 0xf0],
            Self::Green => [0x3c, 0xcf, 0xa2],
            Self::Purple => [0xe2, 0x9c, 0xc6],
            Self::Orange => [0xf0, 0xb4, 0x29],
            Self::Density => [0xa9, 0xc9, 0xec],
            Self::Neutral => [0x8b, 0x96, 0xa3],
        }
    }
}

/// How a line is broken, so that series differ without colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dash {
    /// Unbroken.
    #[default]
    Solid,
    /// Long strokes.
    Long,
    /// Short strokes.
    Short,
    /// Dots.
    Dots,
}

impl Dash {
    /// All of them, in the order of their codes.
    pub const ALL: [Self; 4] = [Self::Solid, Self::Long, Self::Short, Self::Dots];

    /// Lengths of stroke and gap; `None` where unbroken.
    #[must_use]
    pub fn lengths(self) -> Option<[f32; 2]> {
        match self {
            Self::Solid => None,
            Self::Long => Some([8.0, 4.0]),
            Self::Short => Some([4.0, 3.0]),
            Self::Dots => Some([1.5, 3.0]),
        }
    }
}

/// What a line or an area is drawn with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pen {
    /// Colour by role.
    pub ink: Ink,
    /// Breaks of the line.
    pub dash: Dash,
    /// Opacity.
    pub alpha: f64,
    /// Width of lines in pixels.
    pub width: f64,
}

impl Pen {
    /// An unbroken, opaque line of 1 px.
    #[must_use]
    pub fn new(ink: Ink) -> Self {
        Self { ink, dash: Dash::Solid, alpha: 1.0, width: 1.0 }
    }

    /// With another width.
    #[must_use]
    pub fn width(self, width: f64) -> Self {
        Self { width, ..self }
    }

    /// With breaks.
    #[must_use]
    pub fn dash(self, dash: Dash) -> Self {
        Self { dash, ..self }
    }

    /// With an opacity.
    #[must_use]
    pub fn alpha(self, alpha: f64) -> Self {
        Self { alpha, ..self }
    }

    /// For plotters, which passes a colour and a width to its backend and nothing else: red
    /// carries the ink, green the dash. [`Pen::decode`] reads them back.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub(super) fn style(self, filled: bool) -> ShapeStyle {
        ShapeStyle {
            color: self.color(),
            filled,
            stroke_width: (self.width * f64::from(UNITS)).round() as u32,
        }
    }

    /// See [`Pen::style`].
    pub(super) fn color(self) -> RGBAColor {
        RGBAColor(self.ink as u8, self.dash as u8, 0, self.alpha)
    }

    /// The pen that [`Pen::style`] encoded.
    pub(super) fn decode(rgb: (u8, u8, u8), alpha: f64, width: u32) -> Self {
        Self {
            ink: Ink::ALL.get(usize::from(rgb.0)).copied().unwrap_or(Ink::Text),
            dash: Dash::ALL.get(usize::from(rgb.1)).copied().unwrap_or_default(),
            alpha,
            width: f64::from(width) / f64::from(UNITS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_follow_the_order() {
        for (code, ink) in Ink::ALL.into_iter().enumerate() {
            assert_eq!(ink as usize, code);
        }
        for (code, dash) in Dash::ALL.into_iter().enumerate() {
            assert_eq!(dash as usize, code);
        }
    }

    /// WCAG's contrast of text and of marks on their paper.
    #[test]
    fn inks_stand_out_from_the_paper() {
        let luminance = |rgb: [u8; 3]| {
            let linear = rgb.map(|c| {
                let c = f64::from(c) / 255.0;
                if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
            });
            0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        };
        let contrast = |a: f64, b: f64| (a.max(b) + 0.05) / (a.min(b) + 0.05);
        for ink in Ink::ALL {
            let need = match ink {
                Ink::Text => 7.0,
                Ink::Muted => 4.5,
                Ink::Paper | Ink::Grid => continue,
                _ => 3.0,
            };
            for (color, paper) in [(ink.light(), Ink::Paper.light()), (ink.dark(), Ink::Paper.dark())] {
                let found = contrast(luminance(color), luminance(paper));
                assert!(found >= need, "{}: {found:.2}", ink.name());
            }
        }
    }
}
