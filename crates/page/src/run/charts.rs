//! The three charts of the first screen: reward, entropy, and what proves the cause.

use stapo_result::offpolicy::Difference;

use super::{Run, in_words};
use crate::chart::{Along, Band, Chart, Lines, Series, Unit, palette};
use crate::document::{Block, Figure, Text};
use crate::told::fifth;
use crate::words;

/// The edge of the usual clip: two policies that differ by less typically move no token out of it.
pub(super) const CLIP: f64 = 1.28;

/// All that the log has.
pub(super) fn figures(run: &Run<'_>) -> Vec<Block> {
    let mut all: Vec<Figure> = [reward(run), entropy(run), third(run)].into_iter().flatten().collect();
    // Where one is not logged another stands in for it.
    for stand_in in [parts(run), quantity(run, "length"), quantity(run, "dead_groups")].into_iter().flatten()
    {
        if all.len() < 3 && all.iter().all(|figure| figure.title != stand_in.title) {
            all.push(stand_in);
        }
    }
    all.into_iter().map(Block::Figure).collect()
}

/// The reward over its whole range; its thick end is the mean that the sentence names.
pub(super) fn reward(run: &Run<'_>) -> Option<Figure> {
    let course = run.told.course?;
    let signal = run.told.signal("reward")?;
    let mut series = Series::new(words::reward(course.end), signal.points.clone());
    series.end = end_of(&signal.points).map(|from| (from, course.end));
    // In the same range it stands beside the reward.
    let held_out = run.told.signal("held_out").filter(|signal| {
        let inside = |v: f64| !v.is_finite() || (course.floor..=course.top).contains(&v);
        signal.points.iter().all(|point| inside(point.1))
    });
    let mut all = vec![series];
    all.extend(
        held_out.map(|signal| Series {
            colour: palette::SECOND,
            ..Series::new("held-out", signal.points.clone())
        }),
    );
    let onset = run.told.losses.iter().find(|loss| loss.name == "reward");
    let top = words::limit(course.top);
    Some(Figure {
        title: "Reward".into(),
        note: format!("of {top}, mean of a step; thick: the last fifth").into(),
        label: format!(
            "{} to {} of {top}{}",
            words::reward(course.start),
            words::reward(course.end),
            held_out
                .and_then(|signal| fifth(&signal.points, true))
                .map_or_else(String::new, |end| { format!(", held-out {} at the end", words::reward(end)) })
        ),
        chart: Chart::Lines(Lines {
            range: Some(course.floor.min(0.0)..course.top),
            series: all,
            onset: onset.map(|loss| (loss.step as f64, format!("falls from step {}", loss.step))),
            ..Lines::default()
        }),
        file: None,
    })
}

fn entropy(run: &Run<'_>) -> Option<Figure> {
    let signal = run.told.signal("entropy")?;
    let last = fifth(&signal.points, true)?;
    let mut series = Series::new(words::sig(last, 2), signal.points.clone());
    series.end = end_of(&signal.points).map(|from| (from, last));
    let high = signal.points.iter().map(|p| p.1).filter(|v| v.is_finite()).fold(0.0, f64::max);
    let low = signal.points.iter().map(|p| p.1).filter(|v| v.is_finite()).fold(f64::INFINITY, f64::min);
    // From zero, but for decades.
    let range = (low > high / 50.0).then(|| 0.0..ceiling(high));
    let change = run.told.change("entropy");
    Some(Figure {
        title: "Entropy".into(),
        note: "nats a token".into(),
        label: format!(
            "entropy over steps, up to {}, {} at the end",
            words::sig(high, 2),
            words::sig(last, 2)
        ),
        chart: Chart::Lines(Lines {
            range,
            series: vec![series],
            onset: change.map(|change| {
                (
                    change.step as f64,
                    format!("{} from step {}", if change.up { "rises" } else { "falls" }, change.step),
                )
            }),
            ..Lines::default()
        }),
        file: None,
    })
}

/// The next round number, for the top of an axis.
fn ceiling(high: f64) -> f64 {
    if high <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(high.log10().floor());
    [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0].into_iter().find(|m| m * power >= high).unwrap_or(10.0) * power
}

/// What proves the first cause; without one the check that is nearest to its limit.
fn third(run: &Run<'_>) -> Option<Figure> {
    let cause = run.told.first_cause();
    let code = cause.map_or("", |cause| cause.code.as_str());
    let found = match code {
        "other_context" => by_place(run).or_else(|| gap(run, Gap::Sampler)),
        "retokenised"
        | "sampler_frozen"
        | "stale_sampler"
        | "sync_corrupts_weights"
        | "position_shifted"
        | "sampler_truncation"
        | "sampler_temperature"
        | "precision_gap"
        | "correction_empties_the_batch" => gap(run, Gap::Sampler),
        "trainer_disagrees_with_itself" | "large_updates" => gap(run, Gap::Update),
        "kl_outweighs" | "wrong_start" => gap(run, Gap::Reference),
        "unbounded_ratio" => quantity(run, "largest_ratio"),
        "truncation" => quantity(run, "truncated"),
        "dead_groups" | "phantom_advantage" | "duplicate_rollouts" | "wrong_groups" => {
            quantity(run, "dead_groups")
        }
        "advantage_blowup"
        | "advantage_missing"
        | "advantage_contradicts_reward"
        | "no_negative_signal"
        | "no_positive_signal" => quantity(run, "advantage_size"),
        "reward_hacking" | "uninformative_reward" | "held_out_falls" => parts(run),
        "spurious_tokens" => quantity(run, "spurious_energy_share"),
        "entropy_consumed" | "entropy_pushed" | "entropy_of_another_policy" => {
            quantity(run, "effective_number")
        }
        _ => None,
    };
    let lost = || {
        run.told
            .losses
            .iter()
            .find(|loss| loss.name != "reward" && loss.name != "entropy")
            .and_then(|loss| quantity(run, &loss.name))
    };
    let other = || gap(run, Gap::Sampler).or_else(|| parts(run)).or_else(|| quantity(run, "truncated"));
    let mut figure = found.or_else(lost).or_else(other).or_else(|| quantity(run, "length"))?;
    if let (Chart::Lines(lines), Some(onset)) = (&mut figure.chart, cause.and_then(|cause| cause.onset)) {
        let first = run.steps.first().copied().unwrap_or(0);
        if lines.along == Along::Steps && lines.onset.is_none() && onset > first {
            lines.onset = Some((onset as f64, format!("from step {onset}")));
        }
    }
    Some(figure)
}

/// Which two policies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    Sampler,
    Update,
    Reference,
}

/// Beyond this a log ratio counts as this: one token that a policy would never draw is no typical one.
const HELD: f64 = 5.0;

/// By what factor probabilities typically differ. Of log ratios that are far out the largest alone is known.
pub(super) fn typical(difference: &Difference) -> f64 {
    let beyond = (difference.max_abs.powi(2) - HELD.powi(2)).max(0.0) / difference.tokens.max(1) as f64;
    (2.0 * difference.k2 - beyond).max(0.0).sqrt().min(HELD).exp()
}

/// The typical ratio of two policies over the steps.
pub(super) fn ratios(run: &Run<'_>, gap: Gap) -> Vec<(f64, f64)> {
    if gap == Gap::Reference {
        let steps = run.answers.kl_reference.iter().flat_map(|kl| &kl.steps);
        // Only the third estimate of KL is there: d²/2 of small differences.
        return steps.map(|row| (row.step as f64, (2.0 * row.k3).max(0.0).sqrt().min(5.0).exp())).collect();
    }
    let steps = run.answers.offpolicy.iter().flat_map(|off| &off.steps);
    let points = steps.filter_map(|row| {
        let difference = if gap == Gap::Sampler { &row.differences.engine } else { &row.differences.update };
        Some((row.step as f64, typical(difference.as_ref()?)))
    });
    points.collect()
}

fn gap(run: &Run<'_>, gap: Gap) -> Option<Figure> {
    let points = ratios(run, gap);
    let last = fifth(&points, true)?;
    let high = points.iter().map(|p| p.1).filter(|v| v.is_finite()).fold(1.0, f64::max);
    let first = points.first()?.0;
    let healthy = run.told.first_cause().is_none();
    let mut series = Series { colour: palette::PROOF, ..Series::new(words::times(last), points.clone()) };
    series.end = end_of(&points).map(|from| (from, last));
    let (title, healthy_label) = match gap {
        Gap::Sampler => ("Trainer against sampler", Some("healthy: inside the clip, 1.28×")),
        Gap::Update => ("Move within a step", Some("healthy: inside the clip, 1.28×")),
        Gap::Reference => ("Distance to the reference", None),
    };
    let band = healthy_label.map(|label| Band {
        points: vec![(first, 1.0, CLIP), (run.last_step(), 1.0, CLIP)],
        label: label.into(),
    });
    Some(Figure {
        title: title.into(),
        note: Text::new().with(crate::document::Style::Term("gap"), "typical ratio").say(if healthy {
            ": the check nearest to its limit"
        } else {
            " of probabilities"
        }),
        label: format!("typical ratio of {}, up to {}", title.to_lowercase(), words::times(high)),
        chart: Chart::Lines(Lines {
            range: (high < 20.0).then(|| 1.0..(high * 1.05).max(1.4)),
            unit: Unit::Times,
            series: vec![series],
            band,
            ..Lines::default()
        }),
        file: None,
    })
}

/// The gap by place in the answer: prompts differ most where nothing of the answer is known.
fn by_place(run: &Run<'_>) -> Option<Figure> {
    let evidence = |what: &str| {
        let all = &run.told.first_cause()?.evidence;
        all.iter().find(|evidence| evidence.what == what).map(|evidence| evidence.value.min(HELD).exp())
    };
    let measured = evidence("gap at the first token").zip(evidence("gap from the twentieth token on"));
    let known = match measured {
        // The very numbers that prove it.
        Some((first, later)) => vec![(first, "1st token"), (later, "20th and later")],
        None => places(run)?,
    };
    let last = known.last()?;
    let points: Vec<(f64, f64)> =
        known.iter().enumerate().map(|(i, (ratio, _))| (i as f64, *ratio)).collect();
    let high = points.iter().map(|p| p.1).fold(1.4, f64::max);
    Some(Figure {
        title: "Trainer against sampler, by place".into(),
        note: Text::new()
            .with(crate::document::Style::Term("gap"), "typical ratio")
            .say(" by place in the answer"),
        label: format!(
            "typical ratio of trainer and sampler: {} at the first token, {} later",
            words::times(points[0].1),
            words::times(last.0)
        ),
        chart: Chart::Lines(Lines {
            along: Along::Places(known.iter().map(|(_, name)| (*name).to_owned()).collect()),
            range: Some(1.0..high * 1.05),
            unit: Unit::Times,
            series: vec![Series {
                colour: palette::PROOF,
                ..Series::new(words::times(last.0), points.clone())
            }],
            band: Some(Band {
                points: vec![(0.0, 1.0, 1.1), (points.len() as f64 - 1.0, 1.0, 1.1)],
                label: "healthy: at most 1.1×".into(),
            }),
            onset: None,
        }),
        file: None,
    })
}

/// The gap over all steps at the first places of answers.
fn places(run: &Run<'_>) -> Option<Vec<(f64, &'static str)>> {
    let rows = &run.answers.offpolicy.as_ref()?.breakdown.as_ref()?.first_tokens;
    let of = |from: usize, to: usize| {
        let part = rows.get(from..to.min(rows.len())).filter(|part| !part.is_empty())?;
        let tokens: f64 = part.iter().map(|row| row.tokens as f64).sum();
        let sum: f64 = part.iter().map(|row| row.tokens as f64 * 2.0 * row.k3).sum();
        (tokens > 0.0).then(|| (sum / tokens).max(0.0).sqrt().min(5.0).exp())
    };
    let places = [(0, 1, "1st"), (1, 3, "2–3"), (3, 8, "4–8"), (8, 16, "9–16"), (16, 32, "17–32")];
    let known: Vec<(f64, &str)> =
        places.into_iter().filter_map(|(from, to, name)| Some((of(from, to)?, name))).collect();
    (!known.is_empty()).then_some(known)
}

/// Parts of the reward, a line each.
fn parts(run: &Run<'_>) -> Option<Figure> {
    let parts = &run.answers.reward_parts;
    let colours = [palette::PROOF, palette::LINE, palette::SECOND];
    let series: Vec<Series> = parts
        .iter()
        .take(3)
        .zip(colours)
        .map(|(part, colour)| {
            let points = part.steps.iter().map(|row| (row.step as f64, row.mean)).collect();
            Series { colour, ..Series::new(short(&part.name), points) }
        })
        .collect();
    (series.len() > 1).then(|| Figure {
        title: "Parts of the reward".into(),
        note: "mean of a step".into(),
        label: "parts of the reward over steps".into(),
        chart: Chart::Lines(Lines { series, ..Lines::default() }),
        file: None,
    })
}

/// A name that fits beside a line.
pub(super) fn short(name: &str) -> String {
    let name = crate::hostile::visible(name, 14);
    name.replace('_', " ")
}

fn quantity(run: &Run<'_>, name: &str) -> Option<Figure> {
    let signal = run.told.signal(name)?;
    let last = fifth(&signal.points, true)?;
    let unit = unit(name);
    let word = if unit == Unit::Percent { words::percent(last) } else { words::sig(last, 2) };
    let title = words::capital(&in_words(name));
    let mut series = Series { colour: palette::PROOF, ..Series::new(word.clone(), signal.points.clone()) };
    series.end = end_of(&signal.points).map(|from| (from, last));
    let change = run.told.change(name);
    Some(Figure {
        title: Text::quoting(title.clone()),
        note: note(name).into(),
        label: format!("{title} over steps, {word} at the end"),
        chart: Chart::Lines(Lines {
            unit,
            series: vec![series],
            onset: change.map(|change| {
                (
                    change.step as f64,
                    format!("{} from step {}", if change.up { "rises" } else { "falls" }, change.step),
                )
            }),
            ..Lines::default()
        }),
        file: None,
    })
}

pub(super) fn unit(name: &str) -> Unit {
    match name {
        "truncated"
        | "repetition"
        | "dead_groups"
        | "clipped_share"
        | "spurious_energy_share"
        | "pass_rate" => Unit::Percent,
        _ => Unit::Plain,
    }
}

fn note(name: &str) -> &'static str {
    match name {
        "truncated" | "repetition" => "share of the answers",
        "dead_groups" => "share of the groups",
        "clipped_share" => "share of the tokens",
        "spurious_energy_share" => "share of the gradient energy",
        "length" => "tokens an answer",
        "advantage_size" => "largest of an answer",
        "effective_number" => "tokens the update is spread over",
        "largest_ratio" => "new policy over old, largest of a step",
        _ => "mean of a step",
    }
}

/// Where the last fifth begins.
fn end_of(points: &[(f64, f64)]) -> Option<f64> {
    let fine: Vec<f64> = points.iter().filter(|p| p.1.is_finite()).map(|p| p.0).collect();
    let count = fine.len().div_ceil(5);
    (fine.len() > 4).then(|| fine.get(fine.len() - count).copied())?
}
