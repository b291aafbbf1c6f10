//! Whole responses as heat maps: some for everyone, more to browse with scripts.

use std::ops::Range;

use maud::{Markup, html};

use super::heat::{self, Scale};
use super::material::Material;
use super::rollouts;
use crate::page::Section;
use crate::text::{passage, token_gap, token_label};
use stapo_base::format::{grouped as count, number};
use stapo_result::{ResponseView, ShownFor};

/// A few responses, and the data of more for the page's script.
pub fn section(of: &Material<'_>) -> Option<Section> {
    let views = &of.views;
    if views.is_empty() {
        return None;
    }
    let scale = Scale::of(&of.analysis.responses);
    let body = html! {
        p { "◆ marks spurious, ○ exploratory tokens; struck-through tokens are not trained on. Hover or focus a token for its numbers." } "\n"
        div.heat {
            (heat::switches(&scale)) "\n"
            @if let Some(rollouts) = &of.rollouts { (rollouts::browser(rollouts)) "\n" }
            h3 { "A spread of them" }
            @for (index, (view, range)) in views.iter().enumerate() {
                (heat_map(index, view, range.clone(), &scale)) "\n"
            }
        }
    };
    Some(Section { id: "responses", link: "Responses", heading: "Responses", body })
}

/// Why a response is shown.
fn reason(kind: ShownFor) -> &'static str {
    match kind {
        ShownFor::Risk => "most unexplained surprise",
        ShownFor::HighReward => "high reward",
        ShownFor::LowReward => "low reward",
        ShownFor::Truncated => "cut",
        ShownFor::Group => "of a random group",
    }
}

fn heat_map(index: usize, view: &ResponseView, range: Range<usize>, scale: &Scale) -> Markup {
    let gap = token_gap(&view.texts);
    let first = view.first_position + range.start as u64;
    let reasons: Vec<&str> = view.shown_for.iter().map(|kind| reason(*kind)).collect();
    html! {
        details.view id={ "r" (index) } open[index == 0] {
            summary {
                b { "Step " (view.step) } " "
                span {
                    "response " (view.sample_id.as_deref().map_or_else(|| view.row.to_string(), token_label))
                    @if let Some(group) = &view.group_id { " of group " (token_label(group)) }
                    ", " (count(view.length)) " tokens"
                    @if let Some(reward) = view.reward { ", reward " (number(reward)) }
                    @if let Some(ending) = &view.ending { ", ended: " (token_label(ending)) }
                    @if view.risk > 0.0 { "; unexplained surprise " (number(view.risk)) " nats" }
                    @if !reasons.is_empty() { " (" (reasons.join(", ")) ")" }
                }
            }
            @if let Some(prompt) = &view.prompt { p.prompt { (passage(prompt)) } }
            @if (range.len() as u64) < view.length {
                p { "Tokens " (count(first)) " to " (count(first + range.len() as u64 - 1)) " of it." }
            }
            p.text { @for place in range { (heat::token(view, place, scale)) (gap) } }
        }
    }
}
