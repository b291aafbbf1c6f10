//! The shades of a heat map: by surprisal, entropy or gradient norm.

use maud::{Markup, html};

use crate::text::token_in_context;
use stapo_base::format::{none, number};
use stapo_result::{FlagKind, ResponseView};

/// Shades of a heat map.
const LEVELS: f32 = 7.0;

/// Largest values, which have the darkest shade.
pub struct Scale {
    surprisal: f32,
    entropy: f32,
    norm: f32,
}

impl Scale {
    /// The scale of all responses that can be shown.
    pub fn of(views: &[ResponseView]) -> Self {
        let top = |values: fn(&ResponseView) -> &[f32]| {
            let all = views.iter().flat_map(values);
            all.copied().filter(|x| x.is_finite()).fold(1e-6_f32, f32::max)
        };
        Self { surprisal: top(|v| &v.surprisal), entropy: top(|v| &v.entropy), norm: top(|v| &v.grad_norm) }
    }

    /// Surprisal, entropy and norm.
    pub fn largest(&self) -> [f32; 3] {
        [self.surprisal, self.entropy, self.norm]
    }
}

/// What the shades can follow; the switches stand before what they shade.
pub fn switches(scale: &Scale) -> Markup {
    let choices = [
        ("s", "surprisal −ln p", scale.surprisal, "nats"),
        ("h", "entropy H", scale.entropy, "nats"),
        ("g", "gradient norm", scale.norm, ""),
    ];
    html! {
        span #heat-label { "Shade by" }
        @for (index, (id, name, most, unit)) in choices.iter().enumerate() {
            input type="radio" name="heat" id={ "heat-" (id) } checked[index == 0];
            label for={ "heat-" (id) } {
                (name) " " small { "0 to " (number(f64::from(*most))) " " (unit) }
            }
        }
    }
}

/// A token of a response.
pub fn token(view: &ResponseView, place: usize, scale: &Scale) -> Markup {
    let at = |values: &[f32]| values.get(place).copied().unwrap_or(f32::NAN);
    let (surprisal, entropy, norm) = (at(&view.surprisal), at(&view.entropy), at(&view.grad_norm));
    let flag = view.flagged.iter().find(|f| f.0 as usize == place).map(|f| f.1);
    let shades = [("s", surprisal, scale.surprisal), ("h", entropy, scale.entropy), ("g", norm, scale.norm)];
    let mut class = String::new();
    for (name, value, most) in shades {
        let level = level(value, most);
        if level > 0 {
            class.push_str(&format!("{name}{level} "));
        }
    }
    class.push_str(match flag {
        Some(FlagKind::Spurious) => "sp",
        Some(FlagKind::Exploratory) => "ex",
        None if view.trained.get(place) == Some(&false) => "un",
        None => "",
    });
    let value = |v: f32| if v.is_finite() { number(f64::from(v)) } else { none() };
    let facts = format!(
        "p {} · H {} · A {} · ‖g‖ {}",
        value((-surprisal).exp()),
        value(entropy),
        value(at(&view.advantage)),
        value(norm)
    );
    let text = view.texts.get(place).map_or(String::new(), |t| broken(t));
    html! { i class=(class.trim_end()) tabindex=[flag.map(|_| "0")] data-t=(facts) { (text) } }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn level(value: f32, most: f32) -> u8 {
    if value.is_finite() { (value / most * LEVELS).round().clamp(0.0, LEVELS) as u8 } else { 0 }
}

/// A token in running text; its line breaks also break the line.
pub fn broken(text: &str) -> String {
    token_in_context(text).replace('↵', "↵\n")
}
