//! What the data supports, in plain words. The findings are those of [`Difference`]: nothing is judged here.

use stapo_base::format::counted;
use stapo_framework::rules::Rule;
use stapo_result::replay::{Difference, FEWEST_PROMPTS, FEWEST_SEEDS, Finding, ReplayResult, ReplayVerdict};

/// The sentences that a page begins with.
pub fn verdict(result: &ReplayResult) -> ReplayVerdict {
    let said = |word, headline: String, detail: String| ReplayVerdict { word, headline, detail };
    if !result.unfinished.is_empty() {
        let (done, all) = (result.arms.len(), result.arms.len() + result.unfinished.len());
        let headline = format!("The time was up with {done} of {all} arms complete.");
        return said("Not complete", headline, "Go on with the same command and --resume.".into());
    }
    if result.summary.iter().all(|row| row.finished == 0) {
        let stopped = counted(result.arms.len() as u64, "arm", "arms");
        return said("Nothing to compare", format!("All {stopped} stopped early."), String::new());
    }
    if result.is_lost() {
        let headline =
            "Every arm is further from its start than a guess: nothing here speaks of the objectives.";
        return said("Policy lost", headline.into(), "Lower --lr.".into());
    }
    let mut deciding = result.differences.iter().filter(|difference| difference.decides);
    let Some(first) = deciding.next() else { return without_any(result) };
    let lost: Vec<Rule> = result.lost().iter().map(|(arm, _)| arm.objective).collect();
    if let Some(rule) = [first.objective, first.baseline].into_iter().find(|rule| lost.contains(rule)) {
        let headline =
            format!("{rule} is further from its start than a guess: it says nothing of its objective.");
        return said("Policy lost", headline, "Lower --lr.".into());
    }
    let is_mask = first.baseline == Rule::Random;
    match first.finding {
        Finding::TooLittle => too_little(result, first, is_mask),
        finding => {
            let differs = finding == Finding::Differs;
            let word = match (is_mask, differs) {
                (true, true) => "It is the mask",
                (true, false) => "Not shown to be the mask",
                (false, true) => "A difference",
                (false, false) => "No difference shown",
            };
            let second = deciding.find(|d| d.objective == first.objective);
            said(word, in_full(first), second.map(in_short).unwrap_or_default())
        }
    }
}

/// One objective alone, or nothing held out that tells right from wrong.
fn without_any(result: &ReplayResult) -> ReplayVerdict {
    let (word, headline) = match result.summary.as_slice() {
        [one] => {
            ("One objective", format!("{} was replayed alone: nothing to compare it with.", one.objective))
        }
        _ => (
            "Too little to tell",
            "No held-out prompt has right and wrong answers that two objectives were measured on.".to_owned(),
        ),
    };
    ReplayVerdict { word, headline, detail: String::new() }
}

/// "stapo minus random: right over wrong answers +0.012 nats a token (+0.004 to +0.020), 40 prompts × 3 shuffles."
fn in_full(difference: &Difference) -> String {
    let (mean, interval) = difference.shown();
    format!(
        "{} minus {}: right over wrong answers {mean} nats a token ({}), {} × {}.",
        difference.objective,
        difference.baseline,
        interval.unwrap_or_default(),
        counted(difference.prompts, "prompt", "prompts"),
        counted(difference.shuffles, "shuffle", "shuffles"),
    )
}

/// "Minus dapo: +0.010 (+0.001 to +0.019), a difference."
fn in_short(difference: &Difference) -> String {
    let (mean, interval) = difference.shown();
    let finding = match difference.finding {
        Finding::Differs => "a difference",
        Finding::Undecided => "no difference shown",
        Finding::TooLittle => "too little to tell",
    };
    let interval = interval.map(|interval| format!(" ({interval})")).unwrap_or_default();
    format!("{} minus {}: {mean}{interval}, {finding}.", difference.objective, difference.baseline)
}

fn too_little(result: &ReplayResult, first: &Difference, is_mask: bool) -> ReplayVerdict {
    let about = match is_mask {
        true => "Whether it is the mask".to_owned(),
        false => format!("Whether {} differs from {}", first.objective, first.baseline),
    };
    let headline = format!(
        "{about} stays open: {} of {FEWEST_PROMPTS} held-out prompts with right and wrong answers, {} of {FEWEST_SEEDS} shuffles.",
        first.prompts.min(FEWEST_PROMPTS),
        first.shuffles.min(FEWEST_SEEDS),
    );
    let detail = format!("Enough would be {}.", result.missing().join(" and "));
    ReplayVerdict { word: "Too little to tell", headline, detail }
}
