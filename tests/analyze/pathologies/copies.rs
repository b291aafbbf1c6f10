//! Siblings that are one response, written over and over.

use stapo_analyze::analyze::result::CauseCode;

use super::maker::Maker;
use super::run::{Fault, Shape};
use super::{SHAPE, analysis_of, told};

/// Every response becomes the first of its group.
#[test]
fn groups_of_copies_are_not_called_solved() {
    let shape = Shape { steps: 8, ..SHAPE };
    let mut log = Maker::run(Fault::Nothing, shape, 5);
    let mut first = 0;
    for i in 0..log.steps.len() {
        if (log.steps[i], log.groups[i]) != (log.steps[first], log.groups[first]) {
            first = i;
        }
        log.rewards[i] = log.rewards[first];
        log.advantages[i] = 0.0;
        log.ids[i] = log.ids[first].clone();
        for column in log.values.iter_mut().chain([&mut log.references, &mut log.token_advantages]) {
            if let Some(copied) = column.get(first).cloned() {
                column[i] = copied;
            }
        }
        for column in [&mut log.turns, &mut log.masks] {
            if let Some(copied) = column.get(first).cloned() {
                column[i] = copied;
            }
        }
        log.parts.iter_mut().for_each(|(_, values)| values[i] = values[first]);
    }
    let found = analysis_of(&log, shape);
    let cause = found.diagnosis.causes.iter().find(|cause| cause.code == CauseCode::DeadGroups);
    let said = cause.map(|cause| cause.message.as_str()).unwrap_or_default();
    assert!(said.contains("the same, token by token"), "{}", told(&found));
}
