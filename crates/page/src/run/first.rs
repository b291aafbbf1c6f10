//! The first screen: what is wrong in a sentence, what proves it, what to do.

use super::responses::Store;
use super::{Run, charts, in_words, proof, shown};
use crate::causes;
use crate::document::{Block, Fact, Facts, FactsKind, MIND, Place, Section, Style, Text};
use crate::told::{Cause, Course, State, Sure, fifth};
use crate::words;

pub(super) fn sections(run: &Run<'_>, store: &Store) -> Vec<Section> {
    let (title, facts) = proof::facts(run);
    let healthy = run.told.state == State::Healthy;
    let section =
        |id, title: Text, place, blocks, in_terminal| Section { id, title, place, blocks, in_terminal };
    let mut all = vec![
        section("said", sentence(run), Place::Headline, vec![], true),
        section(
            "proof",
            title.into(),
            Place::Proof,
            vec![Block::Facts(Facts { kind: FactsKind::Proof, rows: facts })],
            true,
        ),
        section("action", "What to do".into(), Place::Action, action(run), true),
        section("charts", Text::new(), Place::Charts, charts::figures(run), false),
    ];
    if let Some(reward) = charts::reward(run) {
        // The terminal has room for one line of it.
        all.push(section("reward", Text::new(), Place::Headline, vec![Block::Figure(reward)], true));
    }
    if let Some((title, blocks)) = shown::tokens(run, store) {
        all.push(section("shown", title, Place::Shown, blocks, !healthy));
    }
    all.push(section("notes", Text::new(), Place::Notes, vec![Block::notes(notes(run))], false));
    all
}

/// At most 18 words: the cause, then what the reward does.
pub(super) fn sentence(run: &Run<'_>) -> Text {
    let told = &run.told;
    let cause = told.first_cause().map(|cause| {
        let known = causes::plain(&cause.code).map(|plain| plain.sentence.to_owned());
        known.unwrap_or_else(|| words::capital(&words::stopped(&cause.code.replace('_', " "))))
    });
    let reward = reward(run);
    match cause {
        Some(cause) => Text::new().say(format!("{cause} ")).and(reward),
        None => reward,
    }
}

fn reward(run: &Run<'_>) -> Text {
    let told = &run.told;
    let ends = |course: Course| {
        format!(
            "{} to {} of {}",
            words::reward(course.start),
            words::reward(course.end),
            words::limit(course.top)
        )
    };
    let loss = told.losses.first();
    match (told.state, told.course) {
        (State::NotFinite, _) => {
            let onset =
                told.causes.iter().find(|cause| cause.code == "not_finite").and_then(|cause| cause.onset);
            let step = onset.map_or_else(|| "some step".into(), |step| format!("step {step}"));
            format!("From {step} on, not a number.").into()
        }
        (State::Collapsed | State::Damaged, course) => match (loss, course) {
            (Some(loss), _) => {
                let of = |slice: &String| Text::from(" of ").log(charts::short(slice));
                let of = loss.slice.as_ref().map(of).unwrap_or_default();
                let what = if loss.name == "reward" {
                    Text::from("The reward").and(of).say(" fell")
                } else {
                    Text::quoting(words::capital(&in_words(&loss.name))).and(of).say(" fell")
                };
                what.say(format!(
                    " from {} to {} from step {}.",
                    words::reward(loss.before),
                    words::reward(loss.after),
                    loss.step
                ))
            }
            (None, Some(course)) => format!(
                "It had reward {} and ends at {}.",
                words::reward(course.best),
                words::reward(course.end)
            )
            .into(),
            (None, None) => "It lost what it had.".into(),
        },
        (State::NotLearning, Some(course)) => {
            format!("The reward stays at {} of {}.", words::reward(course.end), words::limit(course.top))
                .into()
        }
        (State::Suspicious, Some(course)) if proof::gained(course).is_some_and(|gained| gained > 0.1) => {
            format!("The run still learns: reward {}.", ends(course)).into()
        }
        (State::Suspicious, Some(course)) => format!("Reward {}.", ends(course)).into(),
        (State::Healthy, Some(course)) => {
            let grows = proof::gained(course).is_some_and(|gained| gained > 0.05);
            let entropy = entropy(run);
            format!(
                "{}: reward {}.{entropy}",
                if grows { "It learns" } else { "It stays at its best" },
                ends(course)
            )
            .into()
        }
        (State::Undecided, Some(course)) => {
            let steps = stapo_base::format::counted(run.steps.len() as u64, "step", "steps");
            if proof::gained(course).is_some_and(|gained| gained > 0.1) {
                format!("Too noisy to say after {steps}: reward {}.", ends(course)).into()
            } else {
                format!("No gain yet in {steps}: reward {}.", ends(course)).into()
            }
        }
        (State::Unknown, Some(course)) => {
            format!("Too little in the log to say: reward {}.", ends(course)).into()
        }
        (_, None) => "No reward in the log.".into(),
    }
}

/// "Entropy falls ninefold.", where it is that much.
fn entropy(run: &Run<'_>) -> String {
    let Some(signal) = run.told.signal("entropy") else { return String::new() };
    let (Some(start), Some(end)) = (fifth(&signal.points, false), fifth(&signal.points, true)) else {
        return String::new();
    };
    let fold = (start / end).max(end / start);
    const FOLDS: [&str; 8] =
        ["threefold", "fourfold", "fivefold", "sixfold", "sevenfold", "eightfold", "ninefold", "tenfold"];
    let word = (3..=10).zip(FOLDS).find(|(n, _)| (fold - f64::from(*n)).abs() <= 0.5).map(|(_, word)| word);
    let word = word
        .map(str::to_owned)
        .or_else(|| (fold > 10.5 && fold.is_finite()).then(|| format!("{}-fold", words::sig(fold, 2))));
    word.map(|word| format!(" Entropy {} {word}.", if end < start { "falls" } else { "rises" }))
        .unwrap_or_default()
}

fn action(run: &Run<'_>) -> Vec<Block> {
    let told = &run.told;
    let mut blocks = Vec::new();
    if let Some(cause) = told.first_cause() {
        let plain = causes::plain(&cause.code);
        let from_page = plain.map(|plain| plain.to_do(&run.provenance.framework)).unwrap_or_default();
        if from_page.is_empty() {
            blocks.push(Block::step(Text::quoting(words::capital(&words::stopped(&cause.advice)))));
        }
        blocks.extend(from_page);
        blocks.push(Block::plain(
            Text::new()
                .link("How it was found", "#causes")
                .say(" · ")
                .link("about this cause", format!("#about-{}", cause.code)),
        ));
        return blocks;
    }
    if told.state == State::Healthy {
        blocks.push(Block::step("Nothing to mend."));
    }
    if let Some(missing) = &run.missing {
        blocks.push(Block::step(Text::quoting(words::capital(&words::stopped(&missing.1)))));
    }
    blocks.extend(cheaper(run));
    if told.course.is_none() {
        blocks.push(Block::step("Log the reward of each answer."));
    } else if matches!(told.state, State::Undecided | State::Unknown) && run.missing.is_none() {
        blocks.push(Block::step("Train on and look again: too few steps tell nothing."));
    }
    let has_held_out = run.provenance.evaluation_responses.is_some_and(|count| count > 0);
    if !has_held_out && told.state == State::Healthy {
        blocks.push(Block::step("Log a held-out score: none is in the log."));
        blocks.push(options(
            &run.provenance.framework,
            &[("verl", "trainer.test_freq=5"), ("TRL", "eval_strategy=\"steps\"")],
        ));
    }
    blocks.push(Block::plain(Text::new().link("All that was checked", "#causes")));
    blocks
}

/// Groups with one reward for all cost samples and teach nothing.
fn cheaper(run: &Run<'_>) -> Vec<Block> {
    let Some(dead) = run.told.signal("dead_groups") else { return Vec::new() };
    let fine: Vec<f64> = dead.points.iter().map(|p| p.1).filter(|v| v.is_finite()).collect();
    let mean = fine.iter().sum::<f64>() / fine.len().max(1) as f64;
    let Some(end) = fifth(&dead.points, true).filter(|_| mean > 0.2) else { return Vec::new() };
    vec![
        Block::step(format!(
            "Cheaper: {} of the groups ({} at the end) had one reward for all: no signal.",
            words::percent(mean),
            words::percent(end)
        )),
        options(
            &run.provenance.framework,
            &[
                ("verl", "algorithm.filter_groups.enable=True"),
                ("TRL", "num_generations"),
                ("prime-rl", "orchestrator.train.filter_zero_advantages"),
                ("slime", "--dynamic-sampling-filter-path"),
            ],
        ),
    ]
}

/// Options of the trainer that wrote the log, or of the first two.
fn options(framework: &str, all: &[(&'static str, &'static str)]) -> Block {
    let framework = framework.to_lowercase();
    let known: Vec<_> =
        all.iter().filter(|(trainer, _)| framework.contains(&trainer.to_lowercase())).collect();
    let wanted = if known.is_empty() { all.iter().take(2).collect() } else { known };
    let rows =
        wanted.into_iter().map(|(trainer, option)| Fact::new(*trainer, Text::new().code(*option))).collect();
    Block::Facts(Facts { kind: FactsKind::Options, rows })
}

fn notes(run: &Run<'_>) -> Vec<Fact> {
    let told = &run.told;
    let mut rows = Vec::new();
    let found: Vec<&str> = told.causes.iter().map(|cause| cause.code.as_str()).collect();
    let open: Vec<&str> = told.not_checked.iter().map(|(code, _)| code.as_str()).collect();
    let ruled_out: Vec<Text> = causes::all()
        .iter()
        .filter(|cause| !found.contains(&cause.code) && !open.contains(&cause.code))
        .map(|cause| Text::from(cause.name))
        .collect();
    let rest = ruled_out.len().saturating_sub(RULED_OUT);
    let mut list = Text::joined(ruled_out.into_iter().take(RULED_OUT), " · ");
    if rest > 0 {
        list = list.say(" · ").link(format!("{rest} more"), "#causes");
    }
    rows.push(Fact::new("Ruled out", list));
    let first = told.first_cause().map(|cause| cause.code.as_str());
    let follows: Vec<Text> = told
        .causes
        .iter()
        .filter(|cause| Some(cause.code.as_str()) != first)
        .map(consequence)
        .take(3)
        .collect();
    if !follows.is_empty() {
        rows.push(Fact::new(
            if first.is_some() { "Also seen" } else { "Seen" },
            Text::joined(follows, " · "),
        ));
    }
    // Of texts one line says what all of these need.
    let shown = if run.texts_in.is_some() { 0 } else { 3 };
    let mut open: Vec<Text> = told
        .not_checked
        .iter()
        .take(shown)
        .map(|(code, needs)| Text::from(causes::name(code)).say(": log ").log(first_words(needs)))
        .collect();
    if run.provenance.evaluation_responses.is_none()
        && told.not_checked.iter().all(|not| not.0 != "held_out_falls")
    {
        open.insert(0, Text::new().say("held-out score: no column ").code("split"));
    }
    if run.texts_in.is_some() {
        let count = stapo_base::format::counted(told.not_checked.len() as u64, "cause", "causes");
        open.push(Text::new().say(format!("{count} that need ")).code("logprob"));
    }
    if !open.is_empty() {
        rows.push(Fact::new("Not checked", Text::joined(open, " · ")));
    }
    let warnings = super::signals::told_warnings(run).len() as u64;
    if warnings > 0 {
        let count = stapo_base::format::counted(warnings, "warning", "warnings");
        rows.push(Fact::new(MIND, Text::new().link(format!("{count} about the log"), "#warnings")));
    }
    if let Some(mask) = super::s2t::in_one_line(run) {
        rows.push(Fact::new(Text::new().with(Style::Term("s2t"), "S2T"), mask.say(" ").link("More", "#s2t")));
    }
    rows
}

/// Causes that are named as ruled out; the rest is in its tab.
const RULED_OUT: usize = 11;

fn consequence(cause: &Cause) -> Text {
    let name = causes::name(&cause.code);
    let why = cause.follows_from.as_deref().map(|from| format!(" (follows from {})", causes::name(from)));
    let sure = if cause.sure == Sure::Possible { ", possible" } else { "" };
    Text::new().link(name, format!("#about-{}", cause.code)).say(why.unwrap_or_default() + sure)
}

fn first_words(needs: &str) -> String {
    needs.split(" (").next().unwrap_or(needs).to_owned()
}
