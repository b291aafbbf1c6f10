//! Names and sentences that `replay.html` and `replay.md` share.

use crate::run_name;
use crate::text::prose;
use stapo_base::format::grouped as count;
use stapo_result::replay::Adapter;
use stapo_result::replay::ReplayResult;

/// The log's name.
pub fn name(result: &ReplayResult) -> String {
    run_name::by_files(&result.data.files.iter().map(String::as_str).collect::<Vec<_>>())
}

/// What the policy is, in words.
pub fn policy(result: &ReplayResult) -> String {
    let parameters = count(result.model.parameters);
    match &result.model.path {
        Some(path) => format!("{} ({parameters} parameters{})", prose(path), adapter(result)),
        None => format!("a surrogate fitted to the log ({parameters} parameters)"),
    }
}

/// How much of the policy is trained, where it is not all of it.
fn adapter(result: &ReplayResult) -> String {
    let told = |adapter: &Adapter| {
        let Adapter { rank, alpha, .. } = adapter;
        format!("; trained is a LoRA adapter of {}, rank {rank}, alpha {alpha}", count(adapter.parameters))
    };
    result.model.adapter.as_ref().map(told).unwrap_or_default()
}

/// What holds for every replay; also in `replay.md`.
pub fn statements(result: &ReplayResult) -> Vec<String> {
    let mut found = vec![
        "A replay is off-policy: every arm learns from responses that the logged policy drew. A live run would have drawn others, and its effects can add up or die out where a replay shows nothing.".to_owned(),
        "All arms see the same responses in the same order, from the same start; between them only the objective differs, so a supported difference is an effect of the objective on this data, at this learning rate.".into(),
        format!("Correct means {}. Log-probabilities and entropies on the hold-out are of logged responses; they say how the policy rates them, not what it would answer.", result.data.correct),
        "Divergences are k3 estimates over logged tokens, not over the policy’s own.".into(),
    ];
    if result.model.surrogate {
        found.push("The policy is a surrogate: small, and fitted to this log. It shows what the objectives do to a policy of its kind, not to the one that was trained.".into());
    }
    if result.training.seeds > 1 {
        found.push("Seeds change the order of mini-batches within a step and the random masks. They do not change the data: intervals say nothing about another log.".into());
    }
    found
}
