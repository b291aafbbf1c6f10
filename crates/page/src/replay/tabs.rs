//! What stands behind the first screen: objectives, curves, tokens.

use stapo_base::format::{amount, counted, grouped, number, percent_or_dash};
use stapo_result::replay::{Case, Metric, ReplayResult};

use super::first::{excerpt, finding};
use super::{arms_of, curves};
use crate::document::{Block, Excerpt, Fact, Figure, Fold, Place, Section, Style, Tab, Table, Text, Tokens};
use crate::words;

/// Flagged tokens on the page; `replay.json` has all.
const CASES: usize = 300;

pub(super) fn sections(result: &ReplayResult) -> Vec<Section> {
    let section = |id, title: &'static str, tab, blocks: Vec<Block>| {
        let place = Place::Tab(tab);
        (!blocks.is_empty()).then_some(Section { id, title: title.into(), place, blocks, in_terminal: false })
    };
    [
        section("trained", "What was trained", Tab::Objectives, trained(result)),
        section("ends", "Where each objective ended", Tab::Objectives, ends(result)),
        section("differences", "All differences", Tab::Objectives, differences(result)),
        section("settings", "Settings", Tab::Objectives, vec![settings(result)]),
        section("held-out", "Held-out answers", Tab::Curves, of_holdout(result)),
        section("batches", "Mini-batches", Tab::Curves, of_batches(result)),
        section("drifts", "Drift", Tab::Curves, drift(result)),
        section("cases", "Flagged tokens, and what the policy would rather say", Tab::Tokens, cases(result)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn trained(result: &ReplayResult) -> Vec<Block> {
    let mut table = Table::new(&["Objective", "#shuffles", "#updates", "#silenced", "#share", "rule", "log"]);
    for row in &result.summary {
        let arms = arms_of(result, row.objective);
        let updates =
            arms.iter().map(|arm| arm.updates.len()).sum::<usize>() as f64 / arms.len().max(1) as f64;
        let shuffles = match row.stopped {
            0 => grouped(row.finished),
            n => format!("{} ({n} stopped)", row.finished),
        };
        let log = arms.first().map(|arm| Text::new().link("tokens", arm.token_log.clone()));
        table.push(vec![
            row.objective.name().into(),
            shuffles.into(),
            amount(updates).into(),
            row.silenced.map_or_else(|| "–".into(), amount).into(),
            percent_or_dash(row.silenced_share).into(),
            Text::quoting(row.rule.replace("τ_h", "τₕ")),
            log.unwrap_or_default(),
        ]);
    }
    vec![
        Block::Table(table),
        Block::note(
            "Updates and silenced tokens are of one shuffle. A log of tokens can be analysed like any other.",
        ),
    ]
}

fn ends(result: &ReplayResult) -> Vec<Block> {
    let shown: Vec<Metric> = Metric::ALL
        .into_iter()
        .filter(|metric| result.summary.iter().any(|row| row.metrics.iter().any(|m| m.metric == *metric)))
        .collect();
    if shown.is_empty() {
        return Vec::new();
    }
    let head: Vec<String> = ["Objective".to_owned()]
        .into_iter()
        .chain(shown.iter().map(|metric| format!("#{}", short(*metric))))
        .collect();
    let mut table = Table::new(&head).of_file("replay_summary");
    let cell = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |v| words::sig(v, 4)).into();
    if let Some(start) = &result.start {
        let values = shown.iter().map(|metric| cell(metric.of_holdout(start)));
        table.push([Text::from("before any update")].into_iter().chain(values).collect());
    }
    for row in &result.summary {
        let value = |metric: &Metric| row.metrics.iter().find(|m| m.metric == *metric).map(|m| m.mean);
        let name = Text::from(row.objective.name());
        table.push([name].into_iter().chain(shown.iter().map(|metric| cell(value(metric)))).collect());
    }
    vec![
        Block::Table(table),
        Block::note(
            "Means over shuffles; on held-out answers, of which each prompt counts the same. The gradient norm is of what was trained on.",
        ),
    ]
}

fn short(metric: Metric) -> &'static str {
    match metric {
        Metric::Margin => "right over wrong",
        Metric::Auc => "AUC",
        Metric::CorrectLogprob => "ln p right",
        Metric::WrongLogprob => "ln p wrong",
        Metric::Entropy => "entropy",
        Metric::KlToStart => "from the start",
        Metric::GradNorm => "gradient norm",
    }
}

fn differences(result: &ReplayResult) -> Vec<Block> {
    if result.differences.is_empty() {
        return Vec::new();
    }
    let mut table =
        Table::new(&["Difference", "of", "#mean", "#95 % interval", "#prompts", "#shuffles", "finding"])
            .of_file("replay_differences");
    for difference in &result.differences {
        let (mean, interval) = difference.shown();
        table.push(vec![
            format!("{} − {}", difference.objective, difference.baseline).into(),
            difference.metric.label().into(),
            mean.into(),
            interval.unwrap_or_else(|| "–".into()).into(),
            grouped(difference.prompts).into(),
            grouped(difference.shuffles).into(),
            finding(difference).into(),
        ]);
    }
    vec![
        Block::plain(
            "One metric decides: its intervals hold for all its differences together. The others are shown and decide nothing. An interval is over prompts and shuffles; it says nothing of another log.",
        ),
        Block::Table(table),
    ]
}

fn settings(result: &ReplayResult) -> Block {
    let t = &result.training;
    let minibatch = t.minibatch.map_or_else(|| "the log's own".into(), |n| counted(n, "answer", "answers"));
    let rows = vec![
        Fact::new(
            "AdamW",
            format!(
                "learning rate {}, β {} and {}, ε {}, weight decay {}, {} of warm-up",
                rate(t.learning_rate),
                t.betas.0,
                t.betas.1,
                rate(t.eps),
                t.weight_decay,
                counted(t.warmup, "update", "updates")
            ),
        ),
        Fact::new(
            "Mini-batches",
            format!(
                "{minibatch}, {}, {}",
                counted(t.epochs, "epoch", "epochs"),
                if t.shuffled { "shuffled within a step" } else { "in the log's order" }
            ),
        ),
        Fact::new("Gradient", format!("norm clipped to {}", t.max_grad_norm)),
        Fact::new("Mask", format!("τₚ {}", number(t.tau_p))),
        Fact::new("To the start", format!("weight {} of the divergence", t.kl_beta)),
        Fact::new(
            "Old policy",
            Text::new()
                .code(format!("--old {}", t.old))
                .say(format!(", recomputed from a drift of {} on", t.drift_limit)),
        ),
        Fact::new("Advantages", Text::quoting(&*result.data.advantages)),
        Fact::new("Device", Text::quoting(&*t.device)),
    ];
    Block::notes(rows)
}

/// A rate as people write it: 0.003, 1.5e-4.
fn rate(rate: f64) -> String {
    if (1e-3..1e4).contains(&rate) || rate == 0.0 { format!("{rate}") } else { format!("{rate:e}") }
}

fn blocks(figures: impl IntoIterator<Item = Option<Figure>>) -> Vec<Block> {
    figures.into_iter().flatten().map(Block::Figure).collect()
}

fn of_holdout(result: &ReplayResult) -> Vec<Block> {
    let over = "over mini-batches trained";
    let kl = Text::new().with(Style::Term("k3"), "Divergence from the start");
    let mut found = blocks([
        curves::of_holdout(result, "Right above wrong (AUC)", over, |m| m.auc),
        curves::of_holdout(result, "Log-probability a token of right answers", over, |m| m.correct_logprob),
        curves::of_holdout(result, "Log-probability a token of wrong answers", over, |m| m.wrong_logprob),
        curves::of_holdout(result, kl, "nats a token, over mini-batches trained", |m| Some(m.kl_to_start)),
    ]);
    if !found.is_empty() && result.training.seeds > 1 {
        found.insert(
            0,
            Block::plain(
                "Lines are means over shuffles. The margin and the entropy stand on the first screen.",
            ),
        );
    }
    found
}

fn of_batches(result: &ReplayResult) -> Vec<Block> {
    blocks([
        curves::of_batches(result, "Entropy", "mean of each mini-batch before it is trained on", |batch| {
            Some(batch.first()?.mean_entropy)
        }),
        curves::of_batches(
            result,
            "Gradient norm",
            "before it is clipped; objectives that average otherwise have another scale",
            |batch| super::mean(&batch.iter().map(|update| update.grad_norm).collect::<Vec<_>>()),
        ),
        curves::of_batches(
            result,
            "Divergence from the start",
            "nats a token, over the mini-batch's logged tokens",
            |batch| Some(batch.first()?.kl_to_start),
        ),
    ])
}

fn drift(result: &ReplayResult) -> Vec<Block> {
    let mut found = blocks([curves::drift(result)]);
    if !found.is_empty() {
        found.push(Block::note(
            "The further it drifts, the less the logged answers are what this policy would say.",
        ));
    }
    found
}

fn cases(result: &ReplayResult) -> Vec<Block> {
    let shown = &result.cases[..result.cases.len().min(CASES)];
    let steps: Vec<&[Case]> = shown.chunk_by(|a, b| a.step == b.step).collect();
    let mut found: Vec<Block> = steps
        .iter()
        .enumerate()
        .map(|(i, cases)| {
            let spurious = cases.iter().filter(|case| case.spurious).count();
            let rest = cases.len() - spurious;
            let step = cases.first().map_or(0, |case| case.step);
            let excerpts: Vec<Excerpt> = cases
                .iter()
                .map(|case| {
                    let mut excerpt = excerpt(case);
                    let kind = if case.spurious { "silenced · " } else { "kept · " };
                    excerpt.facts = Text::from(kind).and(excerpt.facts);
                    excerpt
                })
                .collect();
            Block::Fold(Fold {
                id: None,
                summary: format!("Step {step}: {spurious} silenced, {rest} kept").into(),
                blocks: vec![Block::Tokens(Tokens::Excerpts(excerpts))],
                open: i == 0,
            })
        })
        .collect();
    if shown.len() < result.cases.len() {
        found.push(Block::note(format!("{} of {}; replay.json has all.", shown.len(), result.cases.len())));
    }
    found
}
