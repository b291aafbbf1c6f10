//! The browser of responses: search, filters, one response with its prompt, its group beside it.

use maud::{Markup, html};

use super::rollouts_data::Rollouts;
use crate::page::unbroken;
use stapo_base::format::grouped as count;
use stapo_result::cases::GROUP_RESPONSES;

/// What a response can be asked for.
const OUTCOMES: [(&str, &str); 8] = [
    ("", "all"),
    ("pass", "reward above 0"),
    ("fail", "reward 0 or below"),
    ("cut", "cut"),
    ("spurious", "with spurious tokens"),
    ("positive", "A above 0"),
    ("negative", "A below 0"),
    ("group", "groups drawn at random"),
];

/// The browser; the script fills it.
pub fn browser(of: &Rollouts) -> Markup {
    html! {
        div.view.js #rollouts {
            p {
                (count(of.rows.len() as u64)) " responses: the riskiest, the best, the worst, cut ones"
                @if of.groups > 0 {
                    ", and "
                    @if of.whole_groups { "all" } @else { "up to " (GROUP_RESPONSES) " responses" }
                    " of " (of.groups) " groups drawn at random"
                }
                "."
                @if of.left_out > 0 { " " (count(of.left_out as u64)) " more that were kept do not fit this page." }
            }
            form.controls #rollout-controls {
                label { "Text or token id " input type="search" id="rollout-search" autocomplete="off"; } " "
                label { "Step " select #rollout-step { option value="" { "all" } } } " "
                label { "Group " select #rollout-group { option value="" { "all" } } } " "
                label {
                    "Show "
                    select #rollout-outcome {
                        @for (value, name) in OUTCOMES { option value=(value) { (name) } }
                    }
                }
                " "
                label { "Reward from " input type="number" id="rollout-low" step="any"; } " "
                label { "to " input type="number" id="rollout-high" step="any"; } " "
                output #rollout-count {}
            }
            div.rollouts {
                ol #rollout-list {}
                div #rollout-shown {}
            }
            p.note {
                "Any other response: " code #rollout-command data-run=(of.run) { "stapo-analyze show " (of.run) " " (unbroken("--group G --sample S")) }
            }
        }
    }
}
