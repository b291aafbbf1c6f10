//! The tab of groups and tasks: slices, groups without signal and their cost, pass@k, cut answers.

use stapo_result::SliceRow;
use stapo_result::groups::StepGroupOutcomes;

use super::Run;
use crate::chart::{Along, Bar, Bars, Chart, Lines, Series, palette};
use crate::document::{Block, Figure, Fold, Place, Section, Tab, Table, Text};
use crate::hostile::visible;
use crate::words;

pub(super) fn sections(run: &Run<'_>) -> Vec<Section> {
    let section = |id, title: &'static str, blocks: Vec<Block>| {
        let place = Place::Tab(Tab::Groups);
        (!blocks.is_empty()).then(|| Section { id, title: title.into(), place, blocks, in_terminal: false })
    };
    let all = [
        section("parts", "Parts of the reward", parts(run)),
        section("outcomes", "Groups by outcome", outcomes(run)),
        section("passes", "pass@k", passes(run)),
        section("slices", "Slices", slices(run)),
        section("cuts", "Cut answers", cuts(run)),
    ];
    all.into_iter().flatten().collect()
}

fn parts(run: &Run<'_>) -> Vec<Block> {
    let parts = &run.answers.reward_parts;
    if parts.is_empty() {
        return Vec::new();
    }
    let mut table = Table::new(&["Part", "#start", "#end", "#mean"]).of_file("steps");
    for part in parts {
        let points: Vec<(f64, f64)> = part.steps.iter().map(|row| (row.step as f64, row.mean)).collect();
        let of = |last| crate::told::fifth(&points, last).map_or_else(|| "–".into(), words::reward);
        table.push(vec![
            Text::quoting(part.name.as_str()),
            of(false).into(),
            of(true).into(),
            words::reward(part.mean).into(),
        ]);
    }
    vec![Block::plain("Means of the first and the last fifth of the steps."), Block::Table(table)]
}

fn outcomes(run: &Run<'_>) -> Vec<Block> {
    let Some(groups) = &run.answers.groups else { return Vec::new() };
    let all = groups.counts.all_right + groups.counts.all_wrong + groups.counts.mixed;
    let dead = groups.counts.dead as f64 / all.max(1) as f64;
    let says = Text::from(format!(
        "{} of the groups had no signal, with {} of the trained tokens. Right is ",
        words::percent(dead),
        words::percent(groups.token_share.dead)
    ))
    .log(groups.rule.as_str())
    .say(".");
    let rows = [
        (
            "all right",
            groups.counts.all_right,
            groups.token_share.all_right,
            groups.energy_share.map(|e| e.all_right),
        ),
        ("mixed", groups.counts.mixed, groups.token_share.mixed, groups.energy_share.map(|e| e.mixed)),
        (
            "all wrong",
            groups.counts.all_wrong,
            groups.token_share.all_wrong,
            groups.energy_share.map(|e| e.all_wrong),
        ),
        (
            "of these with an advantage",
            groups.counts.phantom,
            groups.token_share.phantom,
            groups.energy_share.map(|e| e.phantom),
        ),
        ("without signal", groups.counts.dead, groups.token_share.dead, groups.energy_share.map(|e| e.dead)),
    ];
    let mut table =
        Table::new(&["Outcome", "#groups", "#share of tokens", "#share of gradient"]).of_file("groups");
    for (name, count, tokens, energy) in rows {
        let energy = energy.map_or_else(|| "–".into(), words::percent);
        table.push(vec![
            name.into(),
            words::count(count as f64).into(),
            words::percent(tokens).into(),
            energy.into(),
        ]);
    }
    let points = |of: fn(&StepGroupOutcomes) -> u64| -> Vec<(f64, f64)> {
        groups.steps.iter().map(|row| (row.step as f64, of(row) as f64 / row.groups.max(1) as f64)).collect()
    };
    let series = vec![
        Series::new("right", points(|row| row.counts.all_right)),
        Series { colour: palette::SECOND, ..Series::new("wrong", points(|row| row.counts.all_wrong)) },
        Series { colour: palette::PROOF, ..Series::new("no signal", points(|row| row.counts.dead)) },
    ];
    vec![
        Block::plain(says),
        Block::Figure(Figure {
            title: "Groups over the steps".into(),
            note: "share that is all right, all wrong, without signal".into(),
            label: "groups by outcome over the steps".into(),
            chart: Chart::Lines(Lines {
                range: Some(0.0..1.0),
                unit: crate::chart::Unit::Percent,
                series,
                ..Lines::default()
            }),
            file: Some("groups"),
        }),
        Block::Table(table),
    ]
}

fn passes(run: &Run<'_>) -> Vec<Block> {
    let Some(groups) = run.answers.groups.as_ref().filter(|groups| groups.pass_at.len() > 1) else {
        return Vec::new();
    };
    let ks: Vec<u64> = groups.pass_at.keys().copied().collect();
    let last = groups.steps.len() - groups.steps.len().div_ceil(5);
    let mean = |steps: &[StepGroupOutcomes], k: &u64| {
        let fine: Vec<f64> = steps.iter().filter_map(|row| row.pass_at.get(k).copied()).collect();
        if fine.is_empty() { f64::NAN } else { fine.iter().sum::<f64>() / fine.len() as f64 }
    };
    let first = groups.steps.len().div_ceil(5);
    let line = |steps: &[StepGroupOutcomes]| -> Vec<(f64, f64)> {
        ks.iter().enumerate().map(|(i, k)| (i as f64, mean(steps, k))).collect()
    };
    let series = vec![
        Series { colour: palette::SECOND, ..Series::new("start", line(&groups.steps[..first])) },
        Series::new("end", line(&groups.steps[last..])),
    ];
    vec![Block::Figure(Figure {
        title: Text::new(),
        note: "Share of prompts with a right answer among k, at the start and at the end.".into(),
        label: "pass@k at the start and at the end".into(),
        chart: Chart::Lines(Lines {
            along: Along::Places(ks.iter().map(|k| format!("k = {k}")).collect()),
            range: Some(0.0..1.0),
            unit: crate::chart::Unit::Percent,
            series,
            ..Lines::default()
        }),
        file: Some("groups"),
    })]
}

fn slices(run: &Run<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    for (name, rows) in &run.answers.slices {
        let mut table =
            Table::new(&["", "#tokens", "#entropy", "#gradient", "#S2T", "#clipped"]).of_file("slices");
        for row in rows.iter().take(40) {
            let percent = |share: Option<f64>| Text::from(share.map_or_else(|| "–".into(), words::percent));
            table.push(vec![
                Text::quoting(row.value.as_str()),
                words::percent(row.token_share).into(),
                row.mean_entropy.map_or_else(|| "–".into(), |entropy| words::sig(entropy, 2)).into(),
                percent(row.energy_share),
                percent(row.spurious_share),
                percent(row.clipped_share),
            ]);
        }
        if let Some(bars) = bars(name, rows) {
            blocks.push(Block::Figure(bars));
        }
        blocks.push(Block::Fold(Fold {
            id: None,
            summary: Text::from("By ").log(name.as_str()).say(": tokens, entropy, gradient, S2T"),
            blocks: vec![Block::Table(table)],
            open: false,
        }));
    }
    blocks
}

/// The gradient of a token of each slice as a multiple of the mean.
fn bars(name: &str, rows: &[SliceRow]) -> Option<Figure> {
    let known: Vec<(&SliceRow, f64)> = rows
        .iter()
        .filter(|row| row.token_share > 0.0)
        .filter_map(|row| Some((row, row.energy_share? / row.token_share)))
        .take(12)
        .collect();
    let largest = known.iter().map(|known| known.1).fold(0.0, f64::max);
    let bars = known.iter().map(|(row, times)| Bar {
        name: visible(&row.value, 24),
        value: *times,
        words: format!("{}×", words::sig(*times, 2)),
        proof: *times == largest && *times > 1.5,
    });
    (known.len() > 1).then(|| Figure {
        title: Text::from("Gradient of a token by ").log(name),
        note: "as a multiple of the mean".into(),
        label: "gradient energy of a token by slice".into(),
        chart: Chart::Bars(Bars { bars: bars.collect(), level: Some((1.0, "mean".into())) }),
        file: Some("slices"),
    })
}

fn cuts(run: &Run<'_>) -> Vec<Block> {
    let Some(cut) = run.answers.truncated.as_ref().filter(|cut| cut.responses > 0) else { return Vec::new() };
    let share = cut.responses as f64 / cut.known.max(1) as f64;
    let reward =
        |ended: &stapo_result::questions::Ended| ended.mean_reward.map_or_else(|| "–".into(), words::reward);
    vec![Block::plain(format!(
        "{} of the answers were cut. Their reward is {}, that of the others {}.",
        words::percent(share),
        reward(&cut.cut),
        reward(&cut.finished)
    ))]
}
