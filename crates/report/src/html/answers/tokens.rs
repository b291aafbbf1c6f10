//! Tokens that matter beyond S2T: clipped, far from the reference, punished.

use maud::{Markup, html};

use super::offpolicy::ids;
use crate::page::{Kind, Sheet};
use crate::text::token_or_id;
use stapo_base::format::{amount, grouped as count, number, percent_or_dash};
use stapo_result::Answers;
use stapo_result::clipping::ClipCorners;

const CORNERS: [&str; 5] =
    ["tokens", "above, A > 0 (cut)", "below, A < 0 (cut)", "above, A < 0 (kept)", "below, A > 0 (kept)"];

fn corners(name: String, found: &ClipCorners) -> [String; 5] {
    let ClipCorners { high_positive, low_negative, high_negative, low_positive } = *found;
    [name, count(high_positive), count(low_negative), count(high_negative), count(low_positive)]
}

/// Clipping by side.
pub fn clipping(answers: &Answers) -> Option<Markup> {
    let clipping = answers.clipping.as_ref()?;
    let mut sheet = Sheet::new(&CORNERS);
    sheet.push(corners("all".into(), &clipping.corners));
    if clipping.updates.len() > 1 {
        for row in &clipping.updates {
            sheet.push(corners(format!("update {}", row.update), &row.corners));
        }
    }
    clipping.by_probability.iter().for_each(|row| sheet.push(corners(row.bin.clone(), &row.corners)));
    let mut top = Sheet::new(&CORNERS).with(Kind::Code, "tokens");
    for row in &clipping.top {
        top.push(corners(token_or_id(row.token.as_deref(), row.token_id), &row.corners));
    }
    let range = format!(
        "Ratios above 1 + {} or below 1 − {}. Two corners are cut; the other two keep their gradient, however large the ratio.",
        clipping.clip_high, clipping.clip_low
    );
    Some(html! {
        (sheet.folded("Clipping by side, update and probability", None, &range))
        @if !top.is_empty() { (top.folded("Tokens most often beyond the clip", None, "")) }
    })
}

/// KL to the reference.
pub fn reference(answers: &Answers) -> Option<Markup> {
    let kl = answers.kl_reference.as_ref()?;
    let breakdown = kl.breakdown.as_ref()?;
    let note = format!("k1 is {}, k3 {} over {} tokens.", number(kl.k1), number(kl.k3), count(kl.tokens));
    ids("Tokens that carry the KL to the reference", &breakdown.largest_k3_share, &note)
}

/// Rare tokens in confident states that are punished.
pub fn punished(answers: &Answers) -> Option<Markup> {
    let punished = answers.punished_rare.as_ref()?;
    let mut sheet = Sheet::new(&["token", "tokens", "share of energy"]).with(Kind::Code, "token");
    for row in &punished.top {
        let name = token_or_id(row.token.as_deref(), row.token_id);
        sheet.push([name, amount(row.tokens), percent_or_dash(row.energy_share)]);
    }
    let note = format!(
        "The mirror of the spurious tokens: A < 0, p below τₚ, entropy below τₕ. {} tokens, {} of the gradient energy{}.",
        amount(punished.tokens),
        percent_or_dash(punished.energy_share),
        if punished.exact { "" } else { " (estimated from a sample)" }
    );
    Some(sheet.folded("Rare tokens that are punished", None, &note))
}
