//! The causes of each arm side by side: who has which, and who could not be checked.

use super::named_run::NamedRun;
use super::result::{ArmCause, CauseRow};
use stapo_base::format::{few_names, words};
use stapo_result::{Cause, CauseCode, Confidence};

/// One row a cause that any run has, in the order in which the runs name them.
pub fn rows(arms: &[&[NamedRun]]) -> Vec<CauseRow> {
    let named = arms.iter().copied().flatten().flat_map(|run| &run.analysis.diagnosis.causes);
    let mut codes: Vec<&CauseCode> = Vec::new();
    for cause in named.filter(|cause| cause.confidence != Confidence::Note) {
        if !codes.contains(&&cause.code) {
            codes.push(&cause.code);
        }
    }
    let row = |code: &CauseCode| {
        let arms: Vec<ArmCause> = arms.iter().map(|runs| of_arm(code, runs)).collect();
        CauseRow { code: code.clone(), sentence: sentence(code, &arms), arms }
    };
    codes.into_iter().map(row).collect()
}

fn of_arm(code: &CauseCode, runs: &[NamedRun]) -> ArmCause {
    let mut arm = ArmCause { runs: runs.len() as u64, ..ArmCause::default() };
    let mut best: Option<&Cause> = None;
    for run in runs {
        let diagnosis = &run.analysis.diagnosis;
        arm.name.clone_from(&run.arm);
        arm.not_checked += u64::from(diagnosis.not_checked.iter().any(|n| n.code == *code));
        if let Some(cause) = diagnosis.causes.iter().find(|cause| cause.code == *code) {
            *(if cause.confidence == Confidence::Likely { &mut arm.likely } else { &mut arm.possible }) += 1;
            best = best.filter(|known| known.confidence <= cause.confidence).or(Some(cause));
        }
    }
    arm.message = best.map(|cause| cause.message.clone());
    arm
}

/// Who has it, who has not, who could not tell.
fn sentence(code: &CauseCode, arms: &[ArmCause]) -> String {
    let of = |arm: &ArmCause, runs: u64| match arm.runs {
        1 => String::new(),
        all => format!(" in {runs} of {all} runs"),
    };
    let one = |arm: &ArmCause| match arm {
        ArmCause { likely: 0, possible: 0, .. } => (2, arm.not_seen()),
        ArmCause { likely: 0, .. } => (1, format!("possible{}", of(arm, arm.possible))),
        _ => (0, format!("likely{}", of(arm, arm.likely))),
    };
    // Arms of which the same is said are named together, the surest first.
    let mut told: Vec<((u8, String), Vec<&str>)> = Vec::new();
    for arm in arms {
        let found = one(arm);
        match told.iter_mut().find(|(said, _)| *said == found) {
            Some((_, names)) => names.push(&arm.name),
            None => told.push((found, vec![&arm.name])),
        }
    }
    told.sort_by_key(|((rank, _), _)| *rank);
    // Who has it is always named; who has not, only among few.
    let named = |rank: u8, names: &[&str]| if rank < 2 { names.join(", ") } else { few_names(names) };
    let parts: Vec<String> =
        told.iter().map(|((rank, said), names)| format!("{said}: {}", named(*rank, names))).collect();
    format!("{}: {}", words(code.name()), parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_that_could_not_be_checked_does_not_speak_for_its_arm() {
        let arm = |not_checked| ArmCause { name: "a".into(), runs: 3, not_checked, ..ArmCause::default() };
        let said = |not_checked| sentence(&CauseCode::new("dead_groups"), &[arm(not_checked)]);
        assert_eq!(said(0), "dead groups: not found: a");
        assert_eq!(said(1), "dead groups: not found in 2 of 3 runs, 1 could not be checked: a");
        assert_eq!(said(3), "dead groups: could not be checked: a");
    }

    #[test]
    fn arms_of_which_the_same_is_said_are_named_together() {
        let arm = |name: &str, likely, possible| ArmCause {
            name: name.into(),
            runs: 1,
            likely,
            possible,
            ..ArmCause::default()
        };
        let arms = [arm("a", 0, 0), arm("b_1", 0, 1), arm("c", 1, 0), arm("d", 0, 0)];
        let said = sentence(&CauseCode::new("reward_hacking"), &arms);
        assert_eq!(said, "reward hacking: likely: c; possible: b_1; not found: a, d");
        let many: Vec<ArmCause> = (0..14).map(|n| arm(&format!("arm{n}"), u64::from(n < 5), 0)).collect();
        let said = sentence(&CauseCode::new("reward_hacking"), &many);
        assert_eq!(said, "reward hacking: likely: arm0, arm1, arm2, arm3, arm4; not found: 9 others");
    }
}
