//! The embedded font (Inter, SIL Open Font License): widths for the layout, outlines for PNGs.

use std::sync::OnceLock;

use ttf_parser::{Face, GlyphId};

/// The faces, parsed once.
struct Faces {
    regular: Option<Face<'static>>,
    bold: Option<Face<'static>>,
}

fn faces() -> &'static Faces {
    static FACES: OnceLock<Faces> = OnceLock::new();
    FACES.get_or_init(|| Faces {
        regular: Face::parse(include_bytes!("../../assets/fonts/Inter-Regular-subset.otf"), 0).ok(),
        bold: Face::parse(include_bytes!("../../assets/fonts/Inter-SemiBold-subset.otf"), 0).ok(),
    })
}

/// The regular or the semi-bold face.
pub(super) fn face(bold: bool) -> Option<&'static Face<'static>> {
    let faces = faces();
    if bold { faces.bold.as_ref() } else { faces.regular.as_ref() }
}

/// The glyph of a character; characters that the font lacks are shown as a box.
pub(super) fn glyph(face: &Face<'_>, c: char) -> GlyphId {
    face.glyph_index(c).or_else(|| face.glyph_index('□')).unwrap_or(GlyphId(0))
}

/// Width of a glyph over the font's size.
pub(super) fn advance(face: &Face<'_>, glyph: GlyphId) -> f64 {
    f64::from(face.glyph_hor_advance(glyph).unwrap_or(0)) / f64::from(face.units_per_em())
}

/// Width of a line of text of this size.
#[must_use]
pub fn width(text: &str, size: f64, bold: bool) -> f64 {
    match face(bold) {
        Some(face) => text.chars().map(|c| advance(face, glyph(face, c))).sum::<f64>() * size,
        None => 0.6 * size * text.chars().count() as f64,
    }
}

/// The longest beginning of a text that fits a width, with an ellipsis where something was cut.
#[must_use]
pub fn fit(text: &str, size: f64, limit: f64) -> String {
    if width(text, size, false) <= limit {
        return text.to_owned();
    }
    let room = limit - width("…", size, false);
    let mut cut: String = taken(text.chars(), size, room).collect();
    cut.push('…');
    cut
}

/// A text that fits a width, with an ellipsis in its middle where something was cut: names of runs often differ
/// at their ends.
#[must_use]
pub fn fit_ends(text: &str, size: f64, limit: f64) -> String {
    if width(text, size, false) <= limit {
        return text.to_owned();
    }
    let half = (limit - width("…", size, false)) / 2.0;
    let mut end: Vec<char> = taken(text.chars().rev(), size, half).collect();
    end.reverse();
    taken(text.chars(), size, half).chain(['…']).chain(end).collect()
}

/// A text in two lines, broken at the blank that is nearest to its middle.
#[must_use]
pub fn halves(text: &str) -> (&str, &str) {
    let blanks = text.char_indices().filter(|c| c.1 == ' ').map(|c| c.0);
    let middle = blanks.min_by_key(|at| at.abs_diff(text.len() / 2)).unwrap_or(0);
    let (first, second) = text.split_at(middle);
    (first, second.trim_start())
}

/// The first characters, as many as there is room for.
fn taken(characters: impl Iterator<Item = char>, size: f64, room: f64) -> impl Iterator<Item = char> {
    let mut left = room;
    characters.take_while(move |c| {
        left -= width(c.encode_utf8(&mut [0; 4]), size, false);
        left >= 0.0
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn both_faces_hold_what_charts_write() {
        for bold in [false, true] {
            let face = face(bold).unwrap();
            for c in "azAZ09 τπΔₚₕ·×−–—≥≤√→↵⇥␣…‹›⁰¹²³⁴⁵⁶⁷⁸⁹⁻%□".chars()
            {
                assert!(face.glyph_index(c).is_some(), "{c}");
            }
        }
    }

    #[test]
    fn text_is_cut_to_its_room() {
        assert_eq!(fit("short", 10.0, 100.0), "short");
        let cut = fit(&"w".repeat(10_000), 10.0, 100.0);
        assert!(cut.ends_with('…') && width(&cut, 10.0, false) <= 100.0 && cut.len() > 8, "{cut}");
        let cut = fit_ends("grpo-lr1e-6-clip-higher-seed0", 10.0, 100.0);
        assert!(cut.starts_with("grpo-") && cut.ends_with("seed0") && cut.contains('…'), "{cut}");
        assert!(width(&cut, 10.0, false) <= 100.0);
        assert_eq!(halves("energy of silenced tokens"), ("energy of", "silenced tokens"));
        assert_eq!(halves("entropy"), ("", "entropy"));
    }
}
