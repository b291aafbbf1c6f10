//! Whole responses as heat maps: by surprisal, entropy or gradient norm.

use std::fmt::Write as _;
use std::ops::Range;

use crate::analyze::RunAnalysis;
use crate::analyze::result::{FlagKind, ResponseView};
use crate::report::numbers::{count, number};
use crate::report::text::{escape_xml, token_gap, token_in_context, token_label};

/// Shades of a heat map.
const LEVELS: f32 = 7.0;
/// Bytes that a token takes in the page, about.
const TOKEN_BYTES: usize = 110;

/// A response and the tokens of it that are shown.
pub type View<'a> = (&'a ResponseView, Range<usize>);

/// The responses of the page: the riskiest, of long ones the part around their flagged tokens.
pub fn choose(analysis: &RunAnalysis, budget: usize) -> Vec<View<'_>> {
    let tokens = budget / TOKEN_BYTES;
    let shown = analysis.responses.len().min(tokens / 40);
    let share = tokens / shown.max(1);
    let mut spare = tokens;
    let mut views = Vec::new();
    for view in analysis.responses.iter().take(shown) {
        let limit = share.min(spare);
        let length = view.texts.len().min(limit);
        let focus = view.flagged.first().map_or(0, |f| f.0 as usize);
        let start = focus.saturating_sub(length / 2).min(view.texts.len() - length);
        spare -= length;
        views.push((view, start..start + length));
    }
    views
}

/// Largest values, which have the darkest shade.
struct Scale {
    surprisal: f32,
    entropy: f32,
    norm: f32,
}

/// Writes the heat maps.
pub fn write(out: &mut String, analysis: &RunAnalysis, views: &[View<'_>]) {
    if views.is_empty() {
        return;
    }
    let top = |values: fn(&ResponseView) -> &[f32]| {
        let all = views.iter().flat_map(|(v, range)| values(v).get(range.clone()).unwrap_or(&[]));
        all.copied().filter(|x| x.is_finite()).fold(1e-6_f32, f32::max)
    };
    let scale =
        Scale { surprisal: top(|v| &v.surprisal), entropy: top(|v| &v.entropy), norm: top(|v| &v.grad_norm) };
    let _ = write!(
        out,
        "<section id=\"responses\"><h2>Responses</h2>\n<p>The {} responses with the most unexplained surprise. ◆ marks spurious, ○ exploratory tokens; struck-through tokens are not trained on. Hover or focus for numbers.</p>\n<div class=\"heat\"><span id=\"heat-label\">Shade by</span>",
        views.len()
    );
    let choices = [
        ("s", "surprisal −ln p", scale.surprisal, "nats"),
        ("h", "entropy H", scale.entropy, "nats"),
        ("g", "gradient norm", scale.norm, ""),
    ];
    for (index, (id, name, most, unit)) in choices.iter().enumerate() {
        let _ = write!(
            out,
            "<input type=\"radio\" name=\"heat\" id=\"heat-{id}\"{}><label for=\"heat-{id}\">{name} <small>0 to {} {unit}</small></label>",
            if index == 0 { " checked" } else { "" },
            number(f64::from(*most))
        );
    }
    for (index, (view, range)) in views.iter().enumerate() {
        write_view(out, index, view, range.clone(), &scale);
    }
    out.push_str("</div>");
    if views.len() < analysis.responses.len() {
        let _ = write!(out, "<p>{} more do not fit this page.</p>", analysis.responses.len() - views.len());
    }
    out.push_str("</section>\n");
}

fn write_view(out: &mut String, index: usize, view: &ResponseView, range: Range<usize>, scale: &Scale) {
    let id = view
        .sample_id
        .as_deref()
        .map_or_else(|| format!("response {}", view.row), |s| format!("response {}", token_label(s)));
    let _ = write!(
        out,
        "<details class=\"view\" id=\"r{index}\"{}><summary><b>Step {}</b> <span>{}{}, {} tokens{}; unexplained surprise {} nats</span></summary>",
        if index == 0 { " open" } else { "" },
        view.step,
        escape_xml(&id),
        view.group_id
            .as_deref()
            .map_or(String::new(), |g| format!(" of group {}", escape_xml(&token_label(g)))),
        count(view.length),
        view.reward.map_or(String::new(), |r| format!(", reward {}", number(r))),
        number(view.risk)
    );
    if (range.len() as u64) < view.length {
        let first = view.first_position + range.start as u64;
        let _ =
            write!(out, "<p>Tokens {} to {} of it.</p>", count(first), count(first + range.len() as u64 - 1));
    }
    let gap = token_gap(&view.texts);
    out.push_str("<p class=\"text\">");
    for token in range {
        write_token(out, view, token, scale);
        out.push_str(gap);
    }
    out.push_str("</p></details>\n");
}

fn write_token(out: &mut String, view: &ResponseView, token: usize, scale: &Scale) {
    let at = |values: &[f32]| values.get(token).copied().unwrap_or(f32::NAN);
    let (surprisal, entropy, norm) = (at(&view.surprisal), at(&view.entropy), at(&view.grad_norm));
    let flag = view.flagged.iter().find(|f| f.0 as usize == token).map(|f| f.1);
    out.push_str("<i class=\"");
    for (name, value, most) in
        [("s", surprisal, scale.surprisal), ("h", entropy, scale.entropy), ("g", norm, scale.norm)]
    {
        let level = level(value, most);
        if level > 0 {
            let _ = write!(out, "{name}{level} ");
        }
    }
    out.push_str(match flag {
        Some(FlagKind::Spurious) => "sp\" tabindex=\"0",
        Some(FlagKind::Exploratory) => "ex\" tabindex=\"0",
        None if view.trained.get(token) == Some(&false) => "un",
        None => "",
    });
    let value = |v: f32| if v.is_finite() { number(f64::from(v)) } else { "–".into() };
    let _ = write!(
        out,
        "\" data-t=\"p {} · H {} · A {} · ‖g‖ {}\">{}</i>",
        value((-surprisal).exp()),
        value(entropy),
        value(at(&view.advantage)),
        value(norm),
        view.texts.get(token).map_or(String::new(), |t| escape_xml(&token_in_context(t)))
    );
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn level(value: f32, most: f32) -> u8 {
    if value.is_finite() { (value / most * LEVELS).round().clamp(0.0, LEVELS) as u8 } else { 0 }
}
