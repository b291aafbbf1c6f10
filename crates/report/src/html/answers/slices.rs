//! Tokens by the values of a dimension.

use maud::{Markup, html};

use crate::page::Sheet;
use crate::text::prose;
use stapo_base::format::{grouped as count, none, number_or_dash, percent, percent_or_dash};
use stapo_result::Answers;

/// One table a dimension.
pub fn slices(answers: &Answers) -> Option<Markup> {
    let interval = |of: Option<[f64; 2]>| {
        of.map_or_else(none, |[low, high]| format!("{} – {}", percent(low), percent(high)))
    };
    let tables = answers.slices.iter().filter(|(_, rows)| rows.len() > 1).map(|(name, rows)| {
        let mut sheet = Sheet::new(&[
            "value",
            "tokens",
            "entropy",
            "probability",
            "share of energy",
            "95 % interval",
            "spurious",
            "95 % interval of the share",
            "clipped",
            "engine k3",
        ]);
        for row in rows {
            sheet.push([
                prose(&row.value),
                count(row.tokens),
                number_or_dash(row.mean_entropy),
                number_or_dash(row.mean_prob),
                percent_or_dash(row.energy_share),
                interval(row.energy_share_interval),
                row.spurious.map_or_else(none, count),
                interval(row.spurious_share_interval),
                percent_or_dash(row.clipped_share),
                number_or_dash(row.engine_k3),
            ]);
        }
        sheet.without_empty().folded(&format!("Tokens by {}", prose(name)), Some("slices"), "")
    });
    let tables: Vec<Markup> = tables.collect();
    (!tables.is_empty()).then(|| html! { @for table in &tables { (table) } })
}
