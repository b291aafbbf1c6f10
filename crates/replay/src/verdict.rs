//! What the data supports, in plain words; "no difference" is a finding.

use stapo_base::format::{counted, number};
use stapo_result::replay::{Difference, FEWEST_SEEDS, OldPolicy, ReplayResult, ReplayVerdict};

/// The sentences that a report begins with.
pub fn verdict(result: &ReplayResult) -> ReplayVerdict {
    let policy = if result.model.surrogate { "a surrogate policy fitted to the log" } else { "the policy" };
    ReplayVerdict { headline: headline(result), detail: detail(result, policy) }
}

fn headline(result: &ReplayResult) -> String {
    let finished: Vec<&str> =
        result.summary.iter().filter(|s| s.finished > 0).map(|s| s.objective.name()).collect();
    let [first, others @ ..] = finished.as_slice() else {
        return if result.unfinished.is_empty() {
            "No arm came to its end".into()
        } else {
            out_of_time(result)
        };
    };
    if !result.unfinished.is_empty() {
        return out_of_time(result);
    }
    if result.is_lost() {
        return "The policy is lost in every arm: nothing here speaks of the objectives".into();
    }
    if others.is_empty() {
        return format!("{first} alone was replayed: nothing to compare it with");
    }
    let tested = result.differences.iter().any(|d| d.p_value.is_some());
    let supported: Vec<&Difference> = result.differences.iter().filter(|d| d.supported).collect();
    if result.training.seeds < 2 {
        return format!("One seed: differences between {} cannot be told from chance", list(&finished));
    }
    if result.training.seeds < FEWEST_SEEDS {
        return format!("Two seeds: differences between {} cannot be told from chance", list(&finished));
    }
    if !tested {
        return "All arms gave the same numbers in every seed: no difference".into();
    }
    if supported.is_empty() {
        return format!(
            "No difference between {} that {} seeds support",
            list(&finished),
            result.training.seeds
        );
    }
    // Quality first: metrics are declared in the order of their weight.
    let Some(shown) = supported.iter().min_by_key(|d| d.metric) else { return String::new() };
    let more = supported.len() - 1;
    let rest = match more {
        0 => String::new(),
        1 => "; one more difference is supported".into(),
        n => format!("; {n} more differences are supported"),
    };
    format!("{} {} {} in {}{rest}", shown.objective, side(shown), shown.baseline, shown.metric.label())
}

fn out_of_time(result: &ReplayResult) -> String {
    let (done, all) = (result.arms.len(), result.arms.len() + result.unfinished.len());
    format!("The time was up with {done} of {all} arms complete: --resume goes on with the others")
}

fn side(difference: &Difference) -> &'static str {
    if difference.mean > 0.0 { "is above" } else { "is below" }
}

fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).into(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

fn detail(result: &ReplayResult, policy: &str) -> String {
    let data = &result.data;
    let mut text = format!(
        "An off-policy replay: {policy} was trained on {} ({}, {}), once for each of {} × {}; the responses were drawn by the logged policy, not by the one in training.",
        counted(data.responses, "logged response", "logged responses"),
        counted(data.tokens, "token", "tokens"),
        counted(data.steps, "step", "steps"),
        counted(result.summary.len() as u64, "objective", "objectives"),
        counted(result.training.seeds, "seed", "seeds")
    );
    if result.data.holdout_responses > 0 {
        text.push_str(&format!(" Correct means {}.", data.correct));
    }
    if let Some((first, last)) = drift(result) {
        let way = match data.steps {
            1 => format!("was {}", number(first)),
            _ => format!("went from {} to {}", number(first), number(last)),
        };
        text.push_str(&format!(
            " Its distance from the logged policy, mean |ln ρ| before a step’s first update, {way}",
        ));
        let recomputed =
            result.arms.iter().flat_map(|a| &a.steps).filter(|s| s.old == OldPolicy::Recompute).count();
        let all = result.arms.iter().map(|a| a.steps.len()).sum::<usize>();
        text.push_str(&match recomputed {
            0 => "; old log-probabilities are the log’s.".to_owned(),
            n if n == all => "; old log-probabilities were recomputed at every step.".into(),
            n => format!("; old log-probabilities were recomputed in {n} of {all} steps."),
        });
    }
    text
}

/// Mean drift of the arms at their first and at their last step.
fn drift(result: &ReplayResult) -> Option<(f64, f64)> {
    let mean =
        |values: Vec<f64>| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let first = result.arms.iter().filter_map(|a| a.steps.first()?.drift).collect();
    let last = result.arms.iter().filter_map(|a| a.steps.last()?.drift).collect();
    Some((mean(first)?, mean(last)?))
}
