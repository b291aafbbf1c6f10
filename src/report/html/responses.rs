//! Whole responses as heat maps: by surprisal, entropy or gradient norm.

use std::ops::Range;

use maud::{Markup, html};

use super::material::Material;
use super::views::View;
use crate::analyze::result::{FlagKind, ResponseView};
use crate::report::numbers::{count, none, number};
use crate::report::page::Section;
use crate::report::text::{token_gap, token_in_context, token_label};

/// Shades of a heat map.
const LEVELS: f32 = 7.0;

/// Largest values, which have the darkest shade.
struct Scale {
    surprisal: f32,
    entropy: f32,
    norm: f32,
}

impl Scale {
    fn of(views: &[View<'_>]) -> Self {
        let top = |values: fn(&ResponseView) -> &[f32]| {
            let all = views.iter().flat_map(|(v, range)| values(v).get(range.clone()).unwrap_or(&[]));
            all.copied().filter(|x| x.is_finite()).fold(1e-6_f32, f32::max)
        };
        Self { surprisal: top(|v| &v.surprisal), entropy: top(|v| &v.entropy), norm: top(|v| &v.grad_norm) }
    }
}

/// The section.
pub fn section(of: &Material<'_>) -> Option<Section> {
    let views = &of.views;
    if views.is_empty() {
        return None;
    }
    let scale = Scale::of(views);
    let choices = [
        ("s", "surprisal −ln p", scale.surprisal, "nats"),
        ("h", "entropy H", scale.entropy, "nats"),
        ("g", "gradient norm", scale.norm, ""),
    ];
    let left_out = of.analysis.responses.len() - views.len();
    let body = html! {
        p { "The " (views.len()) " responses with the most unexplained surprise. ◆ marks spurious, ○ exploratory tokens; struck-through tokens are not trained on. Hover or focus for numbers." } "\n"
        div.heat {
            span #heat-label { "Shade by" }
            @for (index, (id, name, most, unit)) in choices.iter().enumerate() {
                input type="radio" name="heat" id={ "heat-" (id) } checked[index == 0];
                label for={ "heat-" (id) } {
                    (name) " " small { "0 to " (number(f64::from(*most))) " " (unit) }
                }
            }
            @for (index, (view, range)) in views.iter().enumerate() {
                (heat_map(index, view, range.clone(), &scale)) "\n"
            }
        }
        @if left_out > 0 { p { (left_out) " more do not fit this page." } }
    };
    Some(Section { id: "responses", link: "Responses", heading: "Responses", body })
}

fn heat_map(index: usize, view: &ResponseView, range: Range<usize>, scale: &Scale) -> Markup {
    let gap = token_gap(&view.texts);
    let first = view.first_position + range.start as u64;
    html! {
        details.view id={ "r" (index) } open[index == 0] {
            summary {
                b { "Step " (view.step) } " "
                span {
                    "response " (view.sample_id.as_deref().map_or_else(|| view.row.to_string(), token_label))
                    @if let Some(group) = &view.group_id { " of group " (token_label(group)) }
                    ", " (count(view.length)) " tokens"
                    @if let Some(reward) = view.reward { ", reward " (number(reward)) }
                    "; unexplained surprise " (number(view.risk)) " nats"
                }
            }
            @if (range.len() as u64) < view.length {
                p { "Tokens " (count(first)) " to " (count(first + range.len() as u64 - 1)) " of it." }
            }
            p.text { @for token in range { (heat(view, token, scale)) (gap) } }
        }
    }
}

fn heat(view: &ResponseView, token: usize, scale: &Scale) -> Markup {
    let at = |values: &[f32]| values.get(token).copied().unwrap_or(f32::NAN);
    let (surprisal, entropy, norm) = (at(&view.surprisal), at(&view.entropy), at(&view.grad_norm));
    let flag = view.flagged.iter().find(|f| f.0 as usize == token).map(|f| f.1);
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
        None if view.trained.get(token) == Some(&false) => "un",
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
    let text = view.texts.get(token).map_or(String::new(), |t| token_in_context(t));
    html! { i class=(class.trim_end()) tabindex=[flag.map(|_| "0")] data-t=(facts) { (text) } }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn level(value: f32, most: f32) -> u8 {
    if value.is_finite() { (value / most * LEVELS).round().clamp(0.0, LEVELS) as u8 } else { 0 }
}
