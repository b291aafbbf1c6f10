//! The level of methods: arms of several seeds.

use super::named_run::NamedRun;
use super::result::{Level, Said};
use super::reward_scale;
use stapo_levels::{MethodsLevel, Metric, Role, RunGroups, compare_methods, sentences};

/// The totals of runs: without rewards where they are on scales of their own, without right answers where those are the
/// rewards, without lengths where some are counted in characters.
pub fn without_scales(runs: &[&NamedRun]) -> Vec<RunGroups> {
    let Some((first, others)) = runs.split_first() else { return Vec::new() };
    let groups = || runs.iter().map(|run| &run.analysis.clusters.groups);
    let are_apart = others.iter().any(|other| reward_scale::apart([first, other]).is_some());
    let left_out = [
        (Metric::Reward, are_apart),
        (Metric::RightAnswers, !are_apart && groups().all(RunGroups::are_answers_the_reward)),
        (
            Metric::Length,
            others.iter().any(|other| other.analysis.in_characters != first.analysis.in_characters),
        ),
    ];
    let left_out = left_out.into_iter().filter(|(_, is)| *is);
    let without = |groups: &RunGroups| {
        left_out.clone().fold(groups.clone(), |groups, (metric, _)| groups.without(metric))
    };
    groups().map(without).collect()
}

/// The reward, else the first metric that all runs have.
pub fn primary(totals: &[RunGroups]) -> Metric {
    let known = |metric: &Metric| totals.iter().all(|run| run.has(*metric));
    Metric::ALL.into_iter().find(known).unwrap_or(Metric::Reward)
}

/// Arms against each other, where any has several runs. The first is the baseline; one that is called random is the
/// random mask.
pub fn methods(arms: &[&[NamedRun]], totals: &[RunGroups], primary: Metric) -> Option<MethodsLevel> {
    if arms.len() < 2 || arms.iter().all(|arm| arm.len() < 2) {
        return None;
    }
    let mut rest = totals;
    let mut roles = Vec::new();
    for (place, arm) in arms.iter().enumerate() {
        let (runs, others) = rest.split_at(arm.len().min(rest.len()));
        rest = others;
        let role = match place {
            0 => Role::Baseline,
            _ if arm[0].arm.to_lowercase().contains("random") => Role::Random,
            _ => Role::Method,
        };
        roles.push(stapo_levels::Arm { name: &arm[0].arm, role, runs });
    }
    Some(compare_methods(&roles, primary))
}

/// What is said of methods.
pub fn said(methods: Option<&MethodsLevel>) -> Vec<Said> {
    let lines = methods.map(sentences::methods).filter(|lines| !lines.is_empty());
    lines.map(|lines| Said { level: Level::Methods, run: None, lines }).into_iter().collect()
}
