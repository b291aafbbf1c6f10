//! Objectives that had to do without something, or that differ in more than their name says.

use super::subject::{Subject, warning};
use stapo_batch::columns::Column;
use stapo_framework::rules::Rule;
use stapo_result::replay::{ReplayWarning, ReplayWarningCode};

/// Baselines that differ from stapo in more than the mask.
const OTHER_MEANS: [Rule; 4] = [Rule::Grpo, Rule::DrGrpo, Rule::Gspo, Rule::Sapo];

/// All of them.
pub fn warnings(subject: &Subject<'_>) -> Vec<ReplayWarning> {
    [other_baseline(subject), logged_advantages(subject)].into_iter().flatten().collect()
}

fn other_baseline(subject: &Subject<'_>) -> Option<ReplayWarning> {
    let objectives = &subject.settings.objectives;
    let first = objectives.first().filter(|first| OTHER_MEANS.contains(first))?;
    objectives.contains(&Rule::Stapo).then(|| {
        warning(
            ReplayWarningCode::Objective,
            format!(
                "{first} averages and clips otherwise than stapo: their difference is not the mask’s alone"
            ),
            "compare stapo with dapo, its base, or with random: --objective dapo,stapo,random",
        )
    })
}

fn logged_advantages(subject: &Subject<'_>) -> Option<ReplayWarning> {
    let centred = subject.run.has(Column::Reward) && subject.run.has(Column::GroupId);
    let used = subject.settings.objectives.contains(&Rule::DrGrpo);
    (used && !centred).then(|| {
        warning(
            ReplayWarningCode::Objective,
            "dr_grpo uses the logged advantages: rewards and groups are not logged".into(),
            "log reward and group_id",
        )
    })
}
