//! The run as tables that unfold.

use maud::html;

use super::material::Material;
use crate::candidates::thinned;
use crate::page::Section;
use crate::tables;
use stapo_base::format::{grouped as count, number_or_dash};
use stapo_result::RunAnalysis;

/// Steps that are listed at most.
const STEPS: usize = 400;

/// All tables, folded.
pub fn section(of: &Material<'_>) -> Option<Section> {
    let analysis = of.analysis;
    let steps = thinned(&analysis.steps.iter().collect::<Vec<_>>(), STEPS);
    let more = match analysis.steps.len() - steps.len() {
        0 => String::new(),
        left_out => format!("{} more steps are in the file.", count(left_out as u64)),
    };
    let rules = tables::rules(analysis);
    let body = html! {
        (tables::steps(&steps).folded("Steps", Some("steps"), &more))
        (tables::classes(analysis).folded("Classes of tokens", Some("taxonomy"), &signs(analysis)))
        @if !rules.is_empty() {
            (rules.folded(
                "Rules on the same tokens",
                Some("rules"),
                "Against the base objective of the log; energy kept is a share of its gradient energy. Counts are of tokens with a gradient: what clipping cuts is in none of them.",
            ))
        }
    };
    Some(Section { id: "tables", link: "Tables", heading: "Tables", body })
}

/// How many tokens raise and lower their entropy for certain.
fn signs(analysis: &RunAnalysis) -> String {
    let change = &analysis.entropy_change;
    let measured = change.measured.as_ref().map_or(String::new(), |measured| {
        format!(
            " Measured after the update: mean change {}, rank correlation with the prediction {}.",
            number_or_dash(measured.mean),
            number_or_dash(measured.spearman)
        )
    });
    format!(
        "Up and down: tokens whose first-order effect on their own entropy is certain from p and H alone; open: not \
         decided by them. Of {} tokens with a gradient, {} are certain to raise their entropy, {} to lower it, {} are open.{measured}",
        count(change.certified_up + change.certified_down + change.ambiguous),
        count(change.certified_up),
        count(change.certified_down),
        count(change.ambiguous)
    )
}
