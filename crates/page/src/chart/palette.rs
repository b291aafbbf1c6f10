//! Colours by role. The light one stands in the SVG, so that a file alone is right; a page's style sheet puts the
//! variable of the role in its place, which is how dark pages and the colour of a state come in.

use std::fmt::Write as _;

use plotters::style::RGBColor;

const fn rgb(hex: u32) -> RGBColor {
    RGBColor((hex >> 16) as u8, (hex >> 8) as u8, hex as u8)
}

/// A role: its colour, the variable of the style sheet, and a dash.
struct Role {
    colour: RGBColor,
    variable: &'static str,
    dash: &'static str,
}

// Each hex is unique, since the style sheet finds the role by it.
macro_rules! roles { ($($(#[$doc:meta])* $name:ident $light:literal $variable:literal $dash:literal)*) => {
    $($(#[$doc])* pub const $name: RGBColor = rgb($light);)*
    const ROLES: &[Role] = &[$(Role { colour: rgb($light), variable: $variable, dash: $dash }),*];
} }
roles! {
    /// Words that are read.
    TEXT 0x1c1f23 "ink" ""
    /// Labels of axes.
    MUTED 0x5b6570 "muted" ""
    /// The line that values stand on.
    AXIS 0xc3cad2 "axis" ""
    /// Levels behind values.
    GRID 0xeef1f4 "grid" ""
    /// What is measured.
    LINE 0x44546a "line" ""
    /// What proves the state, in the state's colour.
    PROOF 0xd55e00 "state" ""
    /// A second thing beside it.
    SECOND 0x7d8896 "second" ""
    /// What a healthy run has.
    BAND 0xe8edf2 "band" ""
    /// Where something begins.
    ONSET 0x5b6571 "muted" "12 12"
    /// A second run.
    PROOF_DASHED 0xd55e01 "state" "20 12"
    /// A run or an arm that is held against another.
    OTHER 0x0b5fae "other" "20 12"
    /// A third one.
    THIRD 0x9a4b00 "third" "6 10"
    /// Many tokens.
    DENSITY 0x2b4561 "line" ""
}

/// The rules of a style sheet: author rules beat presentation attributes, so no `style=` is needed.
#[must_use]
pub fn css() -> String {
    let mut out = String::new();
    for Role { colour: c, variable, dash } in ROLES {
        let hex = format!("#{:02X}{:02X}{:02X}", c.0, c.1, c.2);
        let _ = write!(out, "svg [fill=\"{hex}\"]{{fill:var(--{variable})}}");
        let dash = if dash.is_empty() { String::new() } else { format!(";stroke-dasharray:{dash}") };
        let _ = writeln!(out, "svg [stroke=\"{hex}\"]{{stroke:var(--{variable}){dash}}}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::ROLES;

    #[test]
    fn a_colour_has_one_role() {
        for (i, role) in ROLES.iter().enumerate() {
            assert!(ROLES[..i].iter().all(|other| other.colour != role.colour), "{}", role.variable);
        }
    }
}
