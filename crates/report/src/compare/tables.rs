//! The comparison as tables: one sheet each for page and Markdown.

use maud::html;

use super::shown_arms::{left_out, shown};
use crate::page::{Kind, Section, Sheet, note};
use crate::text::{prose, token_or_id};
use stapo_base::format::{grouped as count, none, number, number_or_dash, percent};
use stapo_compare::Comparison;
use stapo_compare::result::DistributionChange;

/// Runs of a table at most.
const RUNS: usize = 200;

/// How the distributions of the arms that are shown changed.
pub fn distributions(comparison: &Comparison) -> impl Iterator<Item = &DistributionChange> {
    let names: Vec<&str> =
        shown(comparison).into_iter().map(|place| comparison.arms[place].name.as_str()).collect();
    comparison.distributions.iter().filter(move |change| names.contains(&change.run.as_str()))
}

/// The section: all tables, folded.
pub fn section(comparison: &Comparison) -> Section {
    let spurious = spurious(comparison, usize::MAX);
    let body = html! {
        (stability(comparison, RUNS).folded(
            "Stability of the entropy",
            Some("compare_runs"),
            "In nats, of the mean entropy of the logged steps. Spread: each step against the line through its neighbours. Slope: median of the slopes of all pairs of steps. Collapsed: what the run’s own analysis calls an entropy collapse.",
        ))
        (runs(comparison).folded("Runs", Some("compare_runs"), ""))
        @for change in distributions(comparison) {
            @let name = prose(&change.run);
            (movers(change, usize::MAX).folded(
                &format!("Tokens that moved most: {name}"),
                Some("compare_tokens"),
                "Intervals from random groups of prompts, not corrected for picking the largest.",
            ))
            (regions(change).folded(
                &format!("Regions of the plane that moved most: {name}"),
                Some("compare_regions"),
                "",
            ))
        }
        @if let Some(said) = left_out(comparison) { (note(&format!("Of tokens and regions that moved: {said}"))) }
        @if !spurious.is_empty() {
            (spurious.folded(
                "Spurious tokens side by side",
                Some("compare_spurious"),
                "Silenced occurrences of all occurrences.",
            ))
        }
    };
    Section { id: "tables", link: "Tables", heading: "Tables", body }
}

fn interval(low: f64, high: f64) -> String {
    format!("{} to {}", number(low * 100.0), number(high * 100.0))
}

/// Tokens whose share changed most.
pub fn movers(change: &DistributionChange, rows: usize) -> Sheet {
    let columns = ["token", "baseline", "run", "difference (points)", "interval"];
    let mut sheet = Sheet::new(&columns).with(Kind::Code, "token");
    for t in change.tokens.iter().take(rows) {
        sheet.push([
            token_or_id(t.token.as_deref(), t.token_id),
            percent(t.share.baseline),
            percent(t.share.other),
            number(t.share.difference * 100.0),
            interval(t.share.ci_low, t.share.ci_high),
        ]);
    }
    sheet
}

fn regions(change: &DistributionChange) -> Sheet {
    let columns = ["probability, entropy", "baseline", "run", "difference (points)", "interval"];
    let mut sheet = Sheet::new(&columns);
    for r in &change.regions {
        sheet.push([
            format!(
                "p {} to {}, H {} to {}",
                number(10_f64.powf(r.log10_prob[0])),
                number(10_f64.powf(r.log10_prob[1])),
                number(r.entropy[0]),
                number(r.entropy[1])
            ),
            percent(r.share.baseline),
            percent(r.share.other),
            number(r.share.difference * 100.0),
            interval(r.share.ci_low, r.share.ci_high),
        ]);
    }
    sheet
}

/// How steady the entropy of every run was.
pub fn stability(comparison: &Comparison, rows: usize) -> Sheet {
    let mut sheet = Sheet::new(&[
        "run",
        "first H",
        "last H",
        "spread",
        "largest fall",
        "largest rise",
        "slope / 100 steps",
        "collapsed from",
        "late reward",
    ]);
    for run in comparison.runs.iter().take(rows) {
        let s = &run.stability;
        sheet.push([
            prose(&run.name),
            number_or_dash(s.first_entropy),
            number_or_dash(s.last_entropy),
            number_or_dash(s.spread),
            number_or_dash(s.drawdown),
            number_or_dash(s.run_up),
            number_or_dash(s.slope_per_100_steps),
            s.collapse_step.map_or_else(none, |step| format!("step {step}")),
            number_or_dash(s.late_reward),
        ]);
    }
    sheet
}

fn runs(comparison: &Comparison) -> Sheet {
    let columns = ["run", "arm", "steps", "tokens", "responses", "groups", "silenced", "own warnings"];
    let mut sheet = Sheet::new(&columns).with(Kind::Text, "arm").with(Kind::Words, "own warnings");
    for run in comparison.runs.iter().take(RUNS) {
        let codes: Vec<&str> = run.warnings.iter().map(|code| code.name()).collect();
        let warnings = codes.join(", ").replace('_', " ");
        sheet.push([
            prose(&run.name),
            prose(&run.arm),
            match (run.first_step, run.last_step) {
                (Some(first), Some(last)) => format!("{} ({first} to {last})", count(run.steps)),
                _ => "0".into(),
            },
            count(run.tokens),
            count(run.responses),
            run.groups.map_or_else(none, count),
            count(run.silenced),
            if warnings.is_empty() { "none".into() } else { prose(&warnings) },
        ]);
    }
    sheet
}

/// Which tokens are spurious, run by run.
pub fn spurious(comparison: &Comparison, rows: usize) -> Sheet {
    let places = shown(comparison);
    let arms = places.iter().map(|place| prose(&comparison.arms[*place].name));
    let columns: Vec<String> = ["token".to_owned()].into_iter().chain(arms).collect();
    let mut sheet = Sheet::new(&columns).with(Kind::Code, "token");
    for t in comparison.spurious_vocabulary.iter().take(rows) {
        let of_arms = places.iter().filter_map(|place| t.silenced.get(*place).zip(t.occurrences.get(*place)));
        let counts = of_arms.map(|(silenced, all)| format!("{} of {}", count(*silenced), count(*all)));
        sheet.push(
            [token_or_id(t.token.as_deref(), t.token_id)].into_iter().chain(counts).collect::<Vec<String>>(),
        );
    }
    sheet
}
