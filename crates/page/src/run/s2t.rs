//! The tab of S2T: what it takes on this run, the taxonomy, other thresholds, other rules.

use std::collections::BTreeMap;

use stapo_framework::s2t::Population;
use stapo_framework::taxonomy::TokenClass;
use stapo_result::{ClaimId, ClaimVerdict, Sweep};

use super::Run;
use super::norms;
use crate::causes;
use crate::chart::{Axis, Bar, Bars, Chart, Plane, Unit};
use crate::document::{Block, Figure, Fold, Place, Row, Section, Tab, Table, Text, Thresholds, Tokens};
use crate::told::State;
use crate::words;

/// For the first screen: share, energy, where its tokens come from, whether it matters here.
pub(super) fn in_one_line(run: &Run<'_>) -> Option<Text> {
    let full = run.full?;
    let energy = full.spurious.energy_share.or(full.s2t.energy_share)?;
    let random = as_many_at_random(run)
        .map(|share| format!(" (as many at random: {})", words::percent(share)))
        .unwrap_or_default();
    let sure =
        full.claims.iter().find(|claim| claim.id == ClaimId::ConfidentPolicy).and_then(|claim| claim.value);
    let from =
        sure.map(|sure| format!("; {} of them where the policy was unsure", words::percent(1.0 - sure)));
    let matters = match run.told.state {
        State::Healthy => "The run does well without it.",
        _ if run.told.first_cause().is_some_and(|cause| cause.code == "spurious_tokens") => {
            "It is what ails this run."
        }
        _ => "Not what ails this run.",
    };
    Some(Text::from(format!(
        "Would silence {} of the tokens, {} of the gradient{random}{}. {matters}",
        words::percent(full.s2t.fraction),
        words::percent(energy),
        from.unwrap_or_default()
    )))
}

/// The paper's claims, checked on this run.
fn claims(run: &Run<'_>) -> Vec<Block> {
    let mut table = Table::new(&["Claim", "here", "this run", "paper"]).of_file("claims");
    for row in run.full.iter().flat_map(|full| &full.claims) {
        let value = row.value.map(|value| claimed(row.id, value)).unwrap_or_default();
        let beside = row.beside.as_deref().map(words::stopped).unwrap_or_default();
        let facts =
            [value, beside].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
        let why = causes::marked(&words::capital(&words::stopped(&row.why)));
        let facts =
            if facts.is_empty() { Text::new() } else { Text::quoting(words::stopped(&facts)).say(" ") };
        table.rows.push(Row {
            id: Some(format!("claim-{}", row.id.name())),
            cells: vec![
                words::capital(&row.claim).into(),
                row.verdict.name().into(),
                facts.and(why),
                Text::quoting(row.paper.as_str()),
            ],
            strong: row.verdict == ClaimVerdict::Fails,
        });
    }
    if table.rows.is_empty() {
        return Vec::new();
    }
    std::iter::once(Block::Table(table)).chain(norms::by_probability(run)).collect()
}

/// The number that decides a claim, in its unit.
fn claimed(id: ClaimId, value: f64) -> String {
    match id {
        ClaimId::NormFallsWithP | ClaimId::NormFallsWithEntropy | ClaimId::PredictsTheChange => {
            words::sig(value, 2)
        }
        ClaimId::SpuriousNormIsLargest => format!("{}×", words::sig(value, 2)),
        _ if value <= 1.0 => words::percent(value),
        _ => format!("{}×", words::sig(value, 2)),
    }
}

/// As many tokens, drawn among those with an advantage, carry their share on average.
fn as_many_at_random(run: &Run<'_>) -> Option<f64> {
    let (positive, negative) = run.signs?;
    let pushed = positive + negative;
    (pushed > 0).then(|| run.full.map(|full| full.s2t.silenced as f64 / pushed as f64))?
}

pub(super) fn sections(run: &Run<'_>) -> Vec<Section> {
    if run.full.is_none() {
        return Vec::new();
    }
    let section = |id, title: &'static str, blocks: Vec<Block>| {
        let place = Place::Tab(Tab::S2t);
        (!blocks.is_empty()).then(|| Section { id, title: title.into(), place, blocks, in_terminal: false })
    };
    let mut about: Vec<Block> = in_one_line(run).into_iter().map(Block::plain).collect();
    about.push(Block::Table(facts(run)));
    let all = [
        section("claims", "The paper's claims, on this run", claims(run)),
        section("mask", "What it takes here", about),
        section("thresholds", "Other thresholds", thresholds(run)),
        section("classes", "Gradient of a token, by class", classes(run)),
        section("plane", "Probability and entropy", plane(run)),
        section("rules", "Other rules on the same tokens", rules(run)),
    ];
    all.into_iter().flatten().collect()
}

fn facts(run: &Run<'_>) -> Table {
    let mut table = Table::new(&["", "#this run", "#paper"]);
    let Some(full) = run.full else { return table };
    let s2t = &full.s2t;
    let or_dash = |value: Option<String>| Text::from(value.unwrap_or_else(|| "–".into()));
    let shares = full.steps.iter().map(|row| row.silenced_ratio);
    let (low, high) = shares.fold((f64::INFINITY, 0.0), |(a, b): (f64, f64), v| (a.min(v), b.max(v)));
    let range = if low <= high {
        format!("{} to {}", words::percent(low), words::percent(high))
    } else {
        "–".into()
    };
    for (name, value, paper) in [
        (
            "Tokens it silences",
            Text::from(format!("{} ({})", words::count(s2t.silenced as f64), words::percent(s2t.fraction))),
            "about 0.01 %",
        ),
        ("By step", range.into(), ""),
        ("Rare tokens that it leaves", words::count(s2t.exploratory as f64).into(), "exploratory"),
        ("Rare is a probability below", words::sig(s2t.tau_p, 2).into(), "0.002"),
        (
            "Its cut-off: entropy below, nats",
            or_dash(s2t.median_tau_h.map(|h| words::sig(h, 2))),
            "a quantile of rare tokens",
        ),
    ] {
        table.push(vec![name.into(), value, paper.into()]);
    }
    table
}

/// Sliders over the candidates, and a few settings as a table.
fn thresholds(run: &Run<'_>) -> Vec<Block> {
    let mut blocks: Vec<Block> =
        live(run).map(|live| Block::Tokens(Tokens::Thresholds(live))).into_iter().collect();
    blocks.extend(run.full.and_then(|full| settings(&full.sweep)));
    blocks
}

/// Candidates that the page has room for.
const CANDIDATES: usize = 16_000;

/// What the sliders need; nothing where the mask is no quantile of the candidates, or they are too many.
fn live(run: &Run<'_>) -> Option<Thresholds> {
    let full = run.full?;
    let own = full.s2t.entropy_quantile.filter(|_| full.s2t.population == Population::Candidates)?;
    let mut points = full.candidates.points.clone();
    let mut complete = full.candidates.complete_below;
    if points.len() > CANDIDATES {
        points.sort_by(|a, b| a.logprob.total_cmp(&b.logprob));
        complete = complete.min(f64::from(points[CANDIDATES].logprob).exp());
        points.truncate(CANDIDATES);
        points.retain(|point| f64::from(point.logprob).exp() < complete);
    }
    let mut probability: Vec<f64> =
        [1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 0.001, 0.002, 0.005, 0.01, 0.02].into();
    probability.push(full.s2t.tau_p);
    probability.retain(|stop| *stop <= complete);
    let quantile: Vec<f64> = (1..=20).map(|twentieth| f64::from(twentieth) / 20.0).chain([own]).collect();
    let ordered = |mut stops: Vec<f64>| {
        stops.sort_by(f64::total_cmp);
        stops.dedup();
        stops
    };
    let (probability, quantile) = (ordered(probability), ordered(quantile));
    let place = |stops: &[f64], own: f64| stops.iter().position(|stop| *stop == own);
    let own = (place(&probability, full.s2t.tau_p)?, place(&quantile, own)?);
    let mut batches: BTreeMap<(i64, Option<i64>), Vec<[f32; 3]>> = BTreeMap::new();
    for point in points {
        let batch = batches.entry((point.step, point.update)).or_default();
        batch.push([point.logprob, point.entropy, point.grad_norm]);
    }
    for batch in batches.values_mut() {
        batch.sort_by(|a, b| a[1].total_cmp(&b[1]).then(a[0].total_cmp(&b[0])));
    }
    Some(Thresholds {
        probability,
        quantile,
        own,
        batches: batches.into_values().collect(),
        tokens: run.tokens,
        energy: full.totals.gradient_energy,
    })
}

/// For readers without script.
fn settings(sweep: &Sweep) -> Option<Block> {
    let mut head = vec!["Probability below".to_owned()];
    head.extend(sweep.quantile.iter().map(|q| format!("#quantile {q}")));
    let mut table = Table::new(&head).of_file("sweep");
    for (p, row) in sweep.tau_p.iter().zip(sweep.cells.rows()) {
        let cells = row.iter().map(|cell| {
            let energy = cell.energy_share.map(|share| format!(", {}", words::percent(share)));
            Text::from(words::count(cell.silenced) + &energy.unwrap_or_default())
        });
        table.push(std::iter::once(Text::from(format!("{p}"))).chain(cells).collect());
    }
    (!sweep.cells.is_empty()).then(|| {
        Block::Fold(Fold {
            id: None,
            summary: format!("{} settings: tokens, share of the gradient", sweep.cells.len()).into(),
            blocks: vec![Block::Table(table)],
            open: false,
        })
    })
}

fn classes(run: &Run<'_>) -> Vec<Block> {
    let rows = run.full.iter().flat_map(|full| &full.taxonomy).filter(|row| row.tokens > 0);
    let bars: Vec<Bar> = rows
        .filter_map(|row| {
            let times = row.norm_ratio?;
            let (words, proof) =
                (format!("{}×", words::sig(times, 2)), row.class == TokenClass::PositiveLowPLowH);
            Some(Bar { name: class(row.class).into(), value: times, words, proof })
        })
        .collect();
    if bars.is_empty() {
        return Vec::new();
    }
    vec![Block::Figure(Figure {
        title: Text::new(),
        note: "Mean norm as a multiple of the mean; H is the entropy, S2T's class in colour.".into(),
        label: "mean gradient norm of a token by class".into(),
        chart: Chart::Bars(Bars { bars, level: Some((1.0, "mean".into())) }),
        file: Some("taxonomy"),
    })]
}

/// A class in words.
fn class(class: TokenClass) -> &'static str {
    match class {
        TokenClass::PositiveHighPHighH => "rewarded, common, high H",
        TokenClass::PositiveHighPLowH => "rewarded, common, low H",
        TokenClass::PositiveLowPHighH => "rewarded, rare, high H",
        TokenClass::PositiveLowPLowH => "S2T: rewarded, rare, low H",
        TokenClass::NegativeHighPHighH => "punished, common, high H",
        TokenClass::NegativeHighPLowH => "punished, common, low H",
        TokenClass::NegativeLowPHighH => "punished, rare, high H",
        TokenClass::NegativeLowPLowH => "punished, rare, low H",
        TokenClass::ZeroAdvantage => "no advantage",
    }
}

fn plane(run: &Run<'_>) -> Vec<Block> {
    let Some(full) = run.full.filter(|full| !full.plane.cells.is_empty()) else { return Vec::new() };
    let plane = &full.plane;
    // Two bins are one: half of the bytes, and no less is seen at this size.
    let (columns, rows) = (plane.log10_prob.bins.div_ceil(2), plane.entropy.bins.div_ceil(2));
    let mut cells = vec![vec![0.0; columns]; rows];
    for cell in &plane.cells {
        let at = cells.get_mut(usize::from(cell.y) / 2).and_then(|row| row.get_mut(usize::from(cell.x) / 2));
        if let Some(count) = at {
            *count += (cell.positive + cell.negative + cell.zero) as f64;
        }
    }
    let (low, high) = (plane.log10_prob.low, plane.log10_prob.high);
    let decades = [-6.0, -3.0, 0.0].into_iter().filter(|e| (low..=high).contains(e));
    let ticks = decades.map(|e: f64| (e, words::chance(10f64.powf(e)))).collect();
    let silenced = full.cases.top.iter().filter(|case| case.kind == stapo_result::FlagKind::Spurious);
    let marks = silenced.map(|case| (case.logprob / std::f64::consts::LN_10, case.entropy)).collect();
    vec![Block::Figure(Figure {
        title: Text::new(),
        note: "Tokens by probability and entropy, darker is more; dots are those S2T would silence.".into(),
        label: "tokens by probability and entropy".into(),
        chart: Chart::Plane(Plane {
            cells,
            x: Axis::named(low..high, ticks),
            y: Axis::linear(plane.entropy.low..plane.entropy.high, Unit::Plain, 4),
            marks,
            cuts: [
                Some((full.s2t.tau_p.max(1e-12).log10(), "rare")),
                full.s2t.median_tau_h.map(|h| (h, "S2T's cut-off")),
            ],
        }),
        file: Some("plane"),
    })]
}

fn rules(run: &Run<'_>) -> Vec<Block> {
    let Some(full) = run.full.filter(|full| !full.rules.is_empty()) else { return Vec::new() };
    let mut table =
        Table::new(&["Rule", "what it does", "#silenced", "#damped", "#gradient left"]).of_file("rules");
    for row in &full.rules {
        table.push(vec![
            Text::new().code(row.rule.name()),
            Text::quoting(row.description.as_str()),
            words::count(row.silenced).into(),
            words::count(row.damped).into(),
            row.energy_kept.map_or_else(|| "–".into(), words::percent).into(),
        ]);
    }
    let summary =
        format!("{} rules: tokens they silence or damp, what they leave of the gradient", full.rules.len());
    vec![Block::Fold(Fold {
        id: None,
        summary: summary.into(),
        blocks: vec![Block::Table(table)],
        open: false,
    })]
}
