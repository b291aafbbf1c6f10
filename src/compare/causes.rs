//! The causes of each arm side by side: who has which, and who could not be checked.

use super::NamedRun;
use super::result::{ArmCause, CauseRow};
use crate::analyze::result::{Cause, CauseCode, Confidence};

/// One row a cause that any run has, in the order of explanations.
pub fn rows(arms: &[&[NamedRun]]) -> Vec<CauseRow> {
    let row = |code: &CauseCode| {
        let arms: Vec<ArmCause> = arms.iter().map(|runs| of_arm(*code, runs)).collect();
        CauseRow { code: *code, sentence: sentence(*code, &arms), arms }
    };
    let found = |row: &CauseRow| row.arms.iter().any(|arm| arm.likely + arm.possible > 0);
    CauseCode::ALL.iter().map(row).filter(found).collect()
}

fn of_arm(code: CauseCode, runs: &[NamedRun]) -> ArmCause {
    let mut arm = ArmCause { runs: runs.len() as u64, ..ArmCause::default() };
    let mut best: Option<&Cause> = None;
    for run in runs {
        let diagnosis = &run.analysis.diagnosis;
        arm.name.clone_from(&run.arm);
        arm.not_checked += u64::from(diagnosis.not_checked.iter().any(|n| n.code == code));
        if let Some(cause) = diagnosis.causes.iter().find(|cause| cause.code == code) {
            *(if cause.confidence == Confidence::Likely { &mut arm.likely } else { &mut arm.possible }) += 1;
            best = best.filter(|known| known.confidence <= cause.confidence).or(Some(cause));
        }
    }
    arm.message = best.map(|cause| cause.message.clone());
    arm
}

/// Who has it, who has not, who could not tell.
fn sentence(code: CauseCode, arms: &[ArmCause]) -> String {
    let of = |arm: &ArmCause, runs: u64| match arm.runs {
        1 => String::new(),
        all => format!(" in {runs} of {all} runs"),
    };
    let one = |arm: &ArmCause| match arm {
        ArmCause { likely: 0, possible: 0, .. } => format!("{}: {}", arm.name, arm.not_seen()),
        ArmCause { likely: 0, .. } => format!("{}: possible{}", arm.name, of(arm, arm.possible)),
        _ => format!("{}: likely{}", arm.name, of(arm, arm.likely)),
    };
    let told: Vec<String> = arms.iter().map(one).collect();
    format!("{}: {}", code.name(), told.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_that_could_not_be_checked_does_not_speak_for_its_arm() {
        let arm = |not_checked| ArmCause { name: "a".into(), runs: 3, not_checked, ..ArmCause::default() };
        let said = |not_checked| sentence(CauseCode::DeadGroups, &[arm(not_checked)]);
        assert_eq!(said(0), "dead_groups: a: not found");
        assert_eq!(said(1), "dead_groups: a: not found in 2 of 3 runs, 1 could not be checked");
        assert_eq!(said(3), "dead_groups: a: could not be checked");
    }
}
