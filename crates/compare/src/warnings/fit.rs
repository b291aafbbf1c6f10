//! How the arms fit the baseline: steps, prompts, seeds.

use super::warning::{NONE, warning};
use crate::result::{AlignmentSummary, Arm, CompareCode, CompareWarning, Drawn};
use crate::settings::StepAlignment;
use crate::sides::Sides;
use stapo_base::format::{few_names, grouped};
use stapo_base::stats::serial::FEWEST_STEPS;

/// Warnings about how an arm fits the baseline.
pub fn of_sides(sides: &Sides, baseline: &Arm, arm: &Arm) -> Vec<CompareWarning> {
    let mut found = Vec::new();
    let (first, name, steps) = (&baseline.name, &arm.name, sides.len());
    let counted = Drawn::Steps.counted(steps as u64);
    let are = if steps == 1 { "is" } else { "are" };
    let seeds = baseline.runs.len() > 1 && arm.runs.len() > 1;
    // Where none is aligned, that is all there is to say.
    if (1..FEWEST_STEPS).contains(&steps) && !seeds {
        found.push(warning(
            CompareCode::FewSteps,
            format!("only {counted} of {first} and {name} {are} aligned: groups are drawn instead of steps"),
            "the result holds for these steps, not for the runs: log more of them",
            &[("steps", steps as f64)],
        ));
    }
    let [left, right] = sides.unaligned;
    if left + right > 0 || sides.alignment.method != StepAlignment::Exact {
        let how = match sides.alignment.method {
            StepAlignment::Exact => "by their number",
            StepAlignment::Nearest => "with the nearest",
            StepAlignment::Progress => "by progress, so tests do not pair them",
        };
        found.push(warning(
            CompareCode::UnalignedSteps,
            format!(
                "{counted} of {first} and {name} {are} aligned, {how}; {left} of {first} and {right} of {name} have no partner and are left out"
            ),
            "log both runs at the same steps, or choose --align-steps",
            &[("aligned", steps as f64), ("baseline_unaligned", left as f64), ("other_unaligned", right as f64)],
        ));
    }
    if !sides.prompts.logged {
        found.push(warning(
            CompareCode::UnpairedPrompts,
            format!("prompts of {first} and {name} are not logged in both: groups are not paired"),
            "log `prompt_ids` or `prompt_text`: pairs of the same prompt make intervals narrower",
            &NONE,
        ));
    }
    found
}

/// What is said of all arms at once: with eight of them it would be the same seven times.
pub fn of_arms(arms: &[Arm], alignment: &[AlignmentSummary]) -> Vec<CompareWarning> {
    let Some((baseline, others)) = arms.split_first() else { return Vec::new() };
    unpaired(&baseline.name, alignment).into_iter().chain(one_seed(baseline, others)).collect()
}

/// Arms whose shared prompts are told one by one.
const SHARING: usize = 4;

/// Prompts that an arm does not share with the baseline.
fn unpaired(first: &str, alignment: &[AlignmentSummary]) -> Option<CompareWarning> {
    let alone = |a: &&AlignmentSummary| {
        a.prompts_logged && (a.baseline_groups_unaligned, a.other_groups_unaligned) != (0, 0)
    };
    let found: Vec<&AlignmentSummary> = alignment.iter().filter(alone).collect();
    let message = match found.as_slice() {
        [] => return None,
        [one] => format!(
            "{} prompts are in {first} and {} at the same step; {} groups of {first} and {} of {} have no partner there",
            grouped(one.prompts),
            one.run,
            grouped(one.baseline_groups_unaligned),
            grouped(one.other_groups_unaligned),
            one.run
        ),
        many if many.len() > SHARING => {
            let shared = || many.iter().map(|a| a.prompts);
            let [least, most] = [shared().min(), shared().max()].map(|n| grouped(n.unwrap_or(0)));
            let count = if least == most { least } else { format!("{least} to {most}") };
            format!("{first} shares few prompts at the same step: {count} with each of {} others", many.len())
        }
        many => {
            let of = |a: &&AlignmentSummary| {
                let [left, right] = [a.baseline_groups_unaligned, a.other_groups_unaligned].map(grouped);
                format!("{} with {} ({left} and {right} groups are alone)", grouped(a.prompts), a.run)
            };
            let shared: Vec<String> = many.iter().map(of).collect();
            format!("{first} shares few prompts at the same step: {}", shared.join(", "))
        }
    };
    let paired = found.iter().map(|a| a.prompts).min().unwrap_or(0);
    Some(warning(
        CompareCode::UnpairedPrompts,
        message,
        "steps with other prompts are drawn without pairing their groups: use the same order of prompts for all runs",
        &[("paired", paired as f64)],
    ))
}

/// Arms that are held against the baseline with one run on a side.
fn one_seed(baseline: &Arm, others: &[Arm]) -> Option<CompareWarning> {
    let is_one = |arm: &&Arm| baseline.runs.len() < 2 || arm.runs.len() < 2;
    let found: Vec<&Arm> = others.iter().filter(is_one).collect();
    let names: Vec<&str> = found.iter().map(|arm| arm.name.as_str()).collect();
    let least = found.iter().map(|arm| arm.runs.len()).min()?;
    Some(warning(
        CompareCode::OneSeed,
        format!(
            "{} and {}: one run on a side, so the test speaks of these runs, not of the methods",
            baseline.name,
            few_names(&names)
        ),
        "train more seeds of each and give them as arms: --arm NAME=A,B,C",
        &[("baseline_runs", baseline.runs.len() as f64), ("other_runs", least as f64)],
    ))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_for_many_arms_is_said_once() {
        let arm = |name: &str, runs: usize| Arm {
            name: name.into(),
            runs: (0..runs).map(|n| format!("{name}{n}")).collect(),
        };
        let fit = |run: &str, alone: u64| AlignmentSummary {
            run: run.into(),
            method: StepAlignment::Exact,
            steps: 11,
            baseline_unaligned: 0,
            other_unaligned: 0,
            prompts: 3,
            baseline_groups_unaligned: alone,
            other_groups_unaligned: alone + 1,
            prompts_logged: true,
        };
        let arms = [arm("base", 2), arm("a", 1), arm("b", 1), arm("c", 2)];
        let said: Vec<String> = of_arms(&arms, &[fit("a", 4), fit("b", 5), fit("c", 6)])
            .into_iter()
            .map(|warning| warning.message)
            .collect();
        let shared = "base shares few prompts at the same step: 3 with a (4 and 5 groups are alone), 3 with b (5 and 6 groups are alone), 3 with c (6 and 7 groups are alone)";
        let seeds = "base and a, b: one run on a side, so the test speaks of these runs, not of the methods";
        assert_eq!(said, [shared, seeds]);
        let many: Vec<Arm> = (0..9).map(|n| arm(&format!("arm{n}"), 1)).collect();
        let fits: Vec<AlignmentSummary> = many[1..].iter().map(|arm| fit(&arm.name, 4)).collect();
        let said: Vec<String> = of_arms(&many, &fits).into_iter().map(|warning| warning.message).collect();
        assert_eq!(said[0], "arm0 shares few prompts at the same step: 3 with each of 8 others");
        assert!(said[1].starts_with("arm0 and 8 others: one run on a side"), "{}", said[1]);
        let one = of_arms(&arms[..2], &[fit("a", 4)]);
        assert!(
            one[0]
                .message
                .starts_with("3 prompts are in base and a at the same step; 4 groups of base and 5 of a")
        );
        assert!(of_arms(&[arm("base", 2), arm("c", 2)], &[]).is_empty());
    }
}
