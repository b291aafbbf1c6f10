//! Most late groups give no signal.
//! Measured: groups without any advantage (with equal rewards, where none is logged) in the last third of the steps, and the
//! share of the run's tokens in such groups.
//! Null: a level of one half. A note with its cost, never a fault: a run that has solved its questions ends like this.
//! Misses: nothing.
//! Looks alike: rewards that differ while advantages are 0, which is said.

use super::percent;
use crate::{Cause, Code, Confidence, Examined, Finding, Measures, Need, Null, Proof};
use stapo_evidence::Column;

const LEVEL: f64 = 0.5;

/// The row.
pub const CAUSE: Cause = Cause {
    code: Code::DeadGroups,
    null: Null::Level { bound: LEVEL, why: "half of what is drawn at the end teaches nothing" },
    needs: &[Need::Column(Column::Reward)],
    symptoms: &[],
    follows: &[],
    examine,
};

fn examine(measures: &Measures<'_>) -> Examined {
    let dead = measures.dead();
    let [late, run] = [dead.late, dead.groups].map(|[all, dead]| dead as f64 / all.max(1) as f64);
    if late <= LEVEL {
        return None;
    }
    let are_most = |part: u64| 2 * part > dead.late[1];
    let told = if are_most(dead.mixed) {
        "; in most of them rewards differ, and all advantages are 0: a filter, a mask or a division takes them"
    } else if are_most(dead.solved) {
        "; most of them are solved: draw harder questions"
    } else if are_most(dead.failed) {
        "; in most of them every response has the lowest reward: draw easier questions, or look at the grader"
    } else {
        "; the responses of a group have the same reward"
    };
    let why = vec![
        Proof::new("groups without an advantage in the last third", late, "below 0.5"),
        Proof::new("over the run", run, "–"),
        Proof::new("share of the tokens in such groups", dead.cost, "–"),
        Proof::new("of the late ones, solved", dead.solved as f64 / dead.late[1].max(1) as f64, "–"),
    ];
    let sentence = format!(
        "{} of the groups in the last third of the steps have no advantage ({} over the run, {} of its tokens){told}",
        percent(late),
        percent(run),
        percent(dead.cost)
    );
    let finding = Finding::likely(Code::DeadGroups, late, sentence, why);
    Some(finding.with(Confidence::Note).from_step(dead.from))
}
