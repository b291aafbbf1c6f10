//! The first screen: whether it is the mask, the differences that say so, curves, what to do.

use stapo_base::format::{amount, counted, grouped};
use stapo_framework::rules::Rule;
use stapo_result::replay::{
    Difference, FEWEST_PROMPTS, FEWEST_SEEDS, Finding, Metric, OldPolicy, ReplayResult, ReplayWarning,
    ReplayWarningCode,
};

use super::{curves, leading, mean};
use crate::document::{Block, Excerpt, Fact, Place, Row, Section, Style, Table, Text, Tokens};
use crate::hostile::Hostile;
use crate::words;

/// Differences on the first screen; all of them are in their tab.
const ROWS: usize = 4;
/// Tokens on the first screen.
const SHOWN: usize = 3;

pub(super) fn sections(result: &ReplayResult) -> Vec<Section> {
    let section = |id, title: Text, place, blocks: Vec<Block>| Section {
        id,
        title,
        place,
        blocks,
        // In few lines: warnings before tokens.
        in_terminal: match place {
            Place::Charts => false,
            Place::Shown => result.warnings.is_empty(),
            Place::Notes => !result.warnings.is_empty(),
            _ => true,
        },
    };
    let verdict = &result.verdict;
    let mut found = vec![section("answer", Text::quoting(&*verdict.headline), Place::Headline, Vec::new())];
    // What would be enough is what to do.
    if !verdict.detail.is_empty() && result.missing().is_empty() && result.unfinished.is_empty() {
        found.push(section("beside", Text::quoting(&*verdict.detail), Place::Headline, Vec::new()));
    }
    let charts: Vec<Block> = charts(result).into_iter().map(Block::Figure).collect();
    if !charts.is_empty() {
        found.push(section("charts", Text::new(), Place::Charts, charts));
    }
    if let Some(blocks) = proof(result) {
        let title = Text::new().with(Style::Term("margin"), "Right over wrong").say(" answers, nats a token");
        found.push(section("proof", title, Place::Proof, blocks));
    }
    found.push(section("action", "What to do".into(), Place::Action, action(result)));
    if let Some(blocks) = shown(result) {
        found.push(section("shown", "Silenced, and what it would rather say".into(), Place::Shown, blocks));
    }
    found.push(section("notes", "Behind it".into(), Place::Notes, vec![Block::notes(notes(result))]));
    found
}

/// Three: the differences, the margin, the entropy; where nothing is held out, what mini-batches say.
fn charts(result: &ReplayResult) -> Vec<crate::document::Figure> {
    let over = "held-out answers, over mini-batches";
    let all = [
        curves::intervals(result),
        curves::of_holdout(result, "Right over wrong, nats a token", over, |m| m.margin),
        curves::of_holdout(result, "Entropy", over, |m| Some(m.entropy)),
        curves::of_holdout(result, "Log-probability of right answers", over, |m| m.correct_logprob),
        curves::of_batches(result, "Entropy", "of each mini-batch before it is trained on", |batch| {
            Some(batch.first()?.mean_entropy)
        }),
        curves::of_batches(result, "Divergence from the start", "nats a token, over mini-batches", |batch| {
            Some(batch.first()?.kl_to_start)
        }),
    ];
    all.into_iter().flatten().take(3).collect()
}

/// What decides, then the entropy, which decides nothing.
fn proof(result: &ReplayResult) -> Option<Vec<Block>> {
    let deciding: Vec<&Difference> = result.differences.iter().filter(|d| d.decides).collect();
    let first = deciding.first()?;
    let mut table = Table::new(&["", "#difference", "#interval"]).of_file("replay_differences");
    for difference in deciding.iter().take(ROWS) {
        table.rows.push(row(difference, ""));
    }
    let entropy = |d: &&Difference| {
        d.metric == Metric::Entropy && (d.objective, d.baseline) == (first.objective, first.baseline)
    };
    if let Some(difference) = result.differences.iter().find(entropy) {
        table.rows.push(row(difference, "entropy: "));
    }
    let shuffles = Text::new().with(Style::Term("shuffle"), "shuffles");
    let note = match first.interval {
        None => Text::from(format!("No interval below {FEWEST_PROMPTS} prompts or {FEWEST_SEEDS} "))
            .and(shuffles)
            .say("."),
        Some(_) => Text::from(format!(
            "95 % for {} together, over {} × {} ",
            counted(deciding.len() as u64, "difference", "differences"),
            counted(first.prompts, "held-out prompt", "held-out prompts"),
            first.shuffles
        ))
        .and(shuffles)
        .say("; the entropy's own decides nothing."),
    };
    Some(vec![Block::Table(table), Block::note(note)])
}

/// A row stands out where it decides and differs.
fn row(difference: &Difference, of: &'static str) -> Row {
    let (mean, interval) = difference.shown();
    let strong = difference.decides && difference.finding == Finding::Differs;
    let sign = if strong { "≠ " } else { "" };
    let cells = vec![
        format!("{sign}{of}{} − {}", difference.objective, difference.baseline).into(),
        mean.into(),
        interval.unwrap_or_else(|| "too little to tell".into()).into(),
    ];
    Row { id: None, cells, strong }
}

/// A finding in words; what decides nothing has none.
pub(super) fn finding(difference: &Difference) -> &'static str {
    match difference.finding {
        Finding::TooLittle => "too little",
        _ if !difference.decides => "",
        Finding::Differs => "differs",
        Finding::Undecided => "not shown",
    }
}

fn action(result: &ReplayResult) -> Vec<Block> {
    let mut steps: Vec<Text> = Vec::new();
    if !result.unfinished.is_empty() {
        steps.push(Text::from("Go on with the same command and ").code("--resume").say("."));
    }
    steps.extend(result.warnings.iter().filter(|w| is_serious(w)).map(hint).take(2));
    let missing = result.missing();
    if !missing.is_empty() {
        let options = missing.into_iter().map(|what| match what.split_once(" with ") {
            Some((option, rest)) => Text::new().code(option.to_owned()).say(format!(" with {rest}")),
            None if what.starts_with("--") => Text::new().code(what),
            None => what.into(),
        });
        steps.push(Text::from("For a verdict: ").and(Text::joined(options, " and ")).say("."));
    }
    let first = result.differences.iter().find(|difference| difference.decides);
    match first.map(|difference| (difference, difference.finding)) {
        Some((difference, Finding::Differs)) if difference.mean > 0.0 => {
            steps.push(
                "Try it in a live run: a replay learns from old answers, so it shows a direction.".into(),
            );
        }
        Some((_, Finding::Differs)) => {
            steps.push(
                Text::from("It does harm on this data. A narrower mask: lower ").code("--tau-p").say("."),
            );
        }
        Some((difference, Finding::Undecided)) => {
            let seeds = 2 * difference.shuffles;
            steps.push(
                Text::from("A narrower interval: ")
                    .code(format!("--seeds {seeds}"))
                    .say(", or more held-out prompts (")
                    .code("--holdout")
                    .say(", ")
                    .code("--steps")
                    .say(")."),
            );
        }
        _ => {}
    }
    let silences = result.summary.iter().any(|row| row.silenced.is_some_and(|n| n > 0.0));
    if result.cases.is_empty() && silences {
        steps.push(Text::from("See what is silenced: ").code("--explain").say("."));
    }
    if steps.is_empty() {
        steps.push("Name two objectives or more: the first is the baseline.".into());
    }
    steps.into_iter().map(Block::step).collect()
}

/// What makes all else mean little.
fn is_serious(warning: &ReplayWarning) -> bool {
    matches!(
        warning.code,
        ReplayWarningCode::Surrogate
            | ReplayWarningCode::OtherPolicy
            | ReplayWarningCode::PolicyLost
            | ReplayWarningCode::ArmStopped
            | ReplayWarningCode::NoHoldout
    )
}

fn hint(warning: &ReplayWarning) -> Text {
    sentence(&warning.hint)
}

/// With a capital, unless it begins with the name of an objective, and a full stop.
fn sentence(text: &str) -> Text {
    let text = words::stopped(text);
    let is_name = text.split(' ').next().is_some_and(|word| Rule::objective(word).is_some());
    Text::quoting(if is_name { text } else { words::capital(&text) })
}

/// What a warning is about, in a word that fits beside it.
fn label(code: ReplayWarningCode) -> &'static str {
    match code {
        ReplayWarningCode::Surrogate => "Surrogate",
        ReplayWarningCode::OtherPolicy => "Policy",
        ReplayWarningCode::Drift => "Drift",
        ReplayWarningCode::PolicyLost => "Lost",
        ReplayWarningCode::ArmStopped => "Stopped",
        ReplayWarningCode::TimeLimit => "Time",
        ReplayWarningCode::LearningRate => "Rate",
        ReplayWarningCode::NothingSilenced => "Mask",
        ReplayWarningCode::Skipped => "Left out",
        ReplayWarningCode::NoHoldout => "Held out",
        ReplayWarningCode::Objective => "Objective",
    }
}

fn shown(result: &ReplayResult) -> Option<Vec<Block>> {
    let mut list: Vec<Excerpt> = Vec::new();
    let spurious = result.cases.iter().filter(|case| case.spurious && case.token.is_some());
    for case in spurious {
        let excerpt = excerpt(case);
        if list.len() < SHOWN && list.iter().all(|known| known.token != excerpt.token) {
            list.push(excerpt);
        }
    }
    (!list.is_empty()).then(|| vec![Block::Tokens(Tokens::Excerpts(list))])
}

/// A flagged token in its context, with the most probable tokens at its place.
pub(super) fn excerpt(case: &stapo_result::replay::Case) -> Excerpt {
    let named = |text: Option<&String>, id: u32| {
        Hostile::new(text.cloned().unwrap_or_else(|| stapo_base::format::token_of_id(id)))
    };
    let mut facts = Text::new().say(format!(
        "probability {}, entropy {}; rather",
        words::chance(case.probability),
        words::sig(case.entropy, 2)
    ));
    for (i, other) in case.alternatives.iter().take(3).enumerate() {
        facts = facts
            .say(if i == 0 { " " } else { ", " })
            .log_code(named(other.token.as_ref(), other.token_id))
            .say(format!(" {}", words::percent(other.probability)));
    }
    Excerpt {
        before: Hostile::new(&*case.before),
        token: named(case.token.as_ref(), case.token_id),
        after: Hostile::new(&*case.after),
        facts,
        link: None,
    }
}

fn notes(result: &ReplayResult) -> Vec<Fact> {
    let mut rows: Vec<Fact> = Vec::new();
    // The verdict says it already.
    let told = |warning: &&ReplayWarning| warning.code != ReplayWarningCode::TimeLimit;
    for warning in result.warnings.iter().filter(told) {
        let mut text = sentence(&warning.message);
        if !is_serious(warning) {
            text = text.say(" ").and(hint(warning));
        }
        rows.push(Fact::new(label(warning.code), text));
    }
    rows.push(Fact::new("Policy", policy(result)));
    rows.extend(mask(result).map(|mask| Fact::new("Mask", mask)));
    let right = Text::from("Right is ").log(&*result.data.correct).say(".");
    rows.push(Fact::new("Held out", held_out(result).and(right)));
    rows.extend(drift(result).map(|drift| Fact::new(Text::new().with(Style::Term("drift"), "Drift"), drift)));
    rows.push(Fact::new(
        "Off-policy",
        "The answers were drawn by the logged policy, not by the one in training: a live run would draw others.",
    ));
    rows
}

fn policy(result: &ReplayResult) -> Text {
    let model = &result.model;
    let parameters = format!(" ({} parameters)", grouped(model.parameters));
    let text = match &model.path {
        Some(path) => Text::new().log_code(path.as_str()).say(parameters),
        None => Text::from("A surrogate fitted to the log").say(parameters),
    };
    match &model.adapter {
        Some(adapter) => text.say(format!(
            ", of which a LoRA adapter of {} is trained (rank {}, alpha {})",
            grouped(adapter.parameters),
            adapter.rank,
            adapter.alpha
        )),
        None => text,
    }
}

/// How many tokens a mask takes out.
fn mask(result: &ReplayResult) -> Option<Text> {
    let rows = result.summary.iter().filter(|row| row.silenced.is_some());
    let one = |row: &stapo_result::replay::ArmSummary| {
        format!(
            "{} silences {} ({})",
            row.objective,
            amount(row.silenced.unwrap_or(0.0)),
            words::percent(row.silenced_share.unwrap_or(0.0))
        )
        .into()
    };
    let lead = leading(result);
    let wanted = rows.filter(|row| Some(row.objective) == lead || row.objective == Rule::Random);
    let text = Text::joined(wanted.map(one), ", ");
    (!text.is_empty()).then(|| text.say(" of the trained tokens, a shuffle."))
}

fn held_out(result: &ReplayResult) -> Text {
    match result.data.holdout_responses {
        0 => "Nothing. ".into(),
        n => format!(
            "{} to {}, never trained on. ",
            counted(n, "answer", "answers"),
            counted(result.data.holdout_prompts, "prompt", "prompts")
        )
        .into(),
    }
}

/// Mean drift at the first and at the last step, and whose old log-probabilities were used.
fn drift(result: &ReplayResult) -> Option<Text> {
    let first: Vec<f64> = result.arms.iter().filter_map(|arm| arm.steps.first()?.drift).collect();
    let last: Vec<f64> = result.arms.iter().filter_map(|arm| arm.steps.last()?.drift).collect();
    let [first, last] = [mean(&first)?, mean(&last)?].map(|drift| words::times(drift.exp()));
    let way =
        if result.data.steps > 1 { format!("{first} at first, {last} at the last step") } else { first };
    let steps = || result.arms.iter().flat_map(|arm| &arm.steps);
    let recomputed = steps().filter(|step| step.old == OldPolicy::Recompute).count();
    let old = match recomputed {
        0 => "old log-probabilities are the log's".to_owned(),
        n if n == steps().count() => "old log-probabilities were recomputed".into(),
        n => format!("old log-probabilities were recomputed in {n} of {} steps", steps().count()),
    };
    Some(format!("{way}; {old}.").into())
}
