//! What the user should know of a replay, and do.

use super::ReplaySettings;
use super::objective::build;
use super::result::{ReplayResult, Warning, WarningCode};
use crate::format::grouped;
use crate::ingest::Run;

/// A checkpoint that gave the log differs by rounding only.
const SAME_POLICY: f64 = 0.02;
/// Learning rates that differ by more than this factor are worth a word.
const RATE_FACTOR: f64 = 3.0;

/// Baselines that differ from stapo in more than the mask.
const OTHER_MEANS: [&str; 4] = ["grpo", "dr_grpo", "gspo", "sapo"];

/// All warnings of a replay.
pub fn warnings(
    result: &ReplayResult,
    run: &Run,
    settings: &ReplaySettings,
    (correct, wrong): (usize, usize),
) -> Vec<Warning> {
    let mut found = Vec::new();
    let mut add =
        |code, message: String, hint: &str| found.push(Warning { code, message, hint: hint.into() });
    if let Some(fit) = &result.model.fit {
        let correlation = fit.correlation.map_or("not known".into(), |c| format!("{c:.2}"));
        add(
            WarningCode::Surrogate,
            format!(
                "the policy is a surrogate of {} parameters fitted to the log in {} updates, not the policy that was trained; correlation of its log-probabilities with the logged ones: {correlation} over {} tokens",
                grouped(result.model.parameters),
                grouped(fit.updates),
                grouped(fit.tokens)
            ),
            "give the checkpoint that the run started from: --model DIR",
        );
    }
    for arm in result.arms.iter().filter_map(|a| a.stopped.as_ref().map(|s| (a, s))) {
        let (arm, stop) = arm;
        let tokens: Vec<String> =
            stop.tokens.iter().map(|t| format!("{} at {} ({})", t.token_id, t.position, t.sample)).collect();
        add(
            WarningCode::ArmStopped,
            format!(
                "{} with seed {} stopped at update {} (step {}, mini-batch {}): {}; tokens to look at: {}",
                arm.objective,
                arm.seed,
                stop.update,
                stop.step,
                stop.minibatch,
                stop.reason,
                tokens.join(", ")
            ),
            "lower --lr, or look at these tokens in the log",
        );
    }
    let first_drift = result.arms.first().and_then(|a| a.steps.first()?.drift);
    if let Some(drift) = first_drift.filter(|d| *d > SAME_POLICY && !result.model.surrogate) {
        add(
            WarningCode::OtherPolicy,
            format!(
                "before any update the model’s log-probabilities differ from the log’s by {drift:.3} on average"
            ),
            "check that --model is the checkpoint that wrote the first step of this log",
        );
    }
    let largest = result.arms.iter().flat_map(|a| &a.steps).filter_map(|s| s.drift).fold(0.0, f64::max);
    if largest >= settings.drift_limit && !result.model.surrogate {
        let recomputed = result.arms.iter().flat_map(|a| &a.steps).any(|s| s.old == "recompute");
        add(
            WarningCode::Drift,
            format!(
                "the replay drifts up to {largest:.3} (mean |ln ρ|) from the policy that drew the responses{}",
                if recomputed { "; old log-probabilities were recomputed where it was" } else { "" }
            ),
            "the further it drifts, the less the logged responses are what this policy would say: replay fewer steps (--steps), or lower --lr",
        );
    }
    if settings.seeds < 3 && settings.objectives.len() > 1 {
        add(
            WarningCode::FewSeeds,
            "with fewer than three seeds, differences between arms cannot be told from the order of mini-batches"
                .into(),
            "give --seeds 5",
        );
    }
    let is_random = |name: &String| build(name, &settings.objective).is_some_and(|o| o.is_random());
    let single = result.arms.iter().all(|a| a.updates.iter().all(|u| u.minibatch == 0));
    if settings.seeds > 1 && (!settings.shuffle || single) && !settings.objectives.iter().all(is_random) {
        add(
            WarningCode::SeedsAlike,
            "seeds change nothing here but random masks: the order of mini-batches is fixed".into(),
            "leave --no-shuffle out, or give a smaller --minibatch",
        );
    }
    let logged = run.metadata.get("learning_rate").and_then(|v| v.trim().parse::<f64>().ok());
    let rate = settings.optimizer.learning_rate;
    if let Some(logged) =
        logged.filter(|l| *l > 0.0 && !(1.0 / RATE_FACTOR..=RATE_FACTOR).contains(&(rate / l)))
    {
        add(
            WarningCode::LearningRate,
            format!("this replay’s learning rate is {rate:e}, the log says {logged:e}"),
            "give --lr with the run’s own rate to see effects of its size",
        );
    }
    for row in &result.summary {
        if row.silenced == Some(0.0) && row.finished > 0 {
            add(
                WarningCode::NothingSilenced,
                format!("{} silenced no token: it trained as its base does", row.objective),
                "replay more steps, or raise --tau-p",
            );
        }
    }
    let skipped: u64 = result.data.skipped.iter().map(|s| s.responses).sum();
    if skipped > 0 {
        let reasons: Vec<String> =
            result.data.skipped.iter().map(|s| format!("{} ({})", s.reason, grouped(s.responses))).collect();
        add(
            WarningCode::Skipped,
            format!("{} responses cannot be replayed: {}", grouped(skipped), reasons.join(", ")),
            "log complete prompt_ids and token_ids",
        );
    }
    if result.data.incomplete_tokens > 0 {
        add(
            WarningCode::Skipped,
            format!(
                "{} trained tokens lack an old log-probability or an advantage and are not trained on",
                grouped(result.data.incomplete_tokens)
            ),
            "log them, or give --old recompute where only log-probabilities are missing",
        );
    }
    if result.data.holdout_responses == 0 {
        add(
            WarningCode::NoHoldout,
            "nothing is held out: what an arm keeps or loses is not measured".into(),
            "give --holdout 0.2",
        );
    } else if correct == 0 || wrong == 0 {
        add(
            WarningCode::NoHoldout,
            format!(
                "the held-out responses are {correct} correct and {wrong} wrong ones: their separation is not defined"
            ),
            "hold out more prompts (--holdout), or log rewards",
        );
    }
    let first = settings.objectives.first().map_or("", String::as_str);
    if OTHER_MEANS.contains(&first) && settings.objectives.iter().any(|o| o == "stapo") {
        add(
            WarningCode::Objective,
            format!(
                "{first} averages and clips otherwise than stapo: their difference is not the mask’s alone"
            ),
            "compare stapo with dapo, its base, or with random: --objective dapo,stapo,random",
        );
    }
    if settings.objectives.iter().any(|o| o == "dr_grpo") && !has_centred_rewards(run) {
        add(
            WarningCode::Objective,
            "dr_grpo uses the logged advantages: rewards and groups are not logged".into(),
            "log reward and group_id",
        );
    }
    found
}

fn has_centred_rewards(run: &Run) -> bool {
    use crate::ingest::Column;
    run.has(Column::Reward) && run.has(Column::GroupId)
}
