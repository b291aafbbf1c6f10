//! Which responses of a log are read.

use std::ops::Range;

use crate::step_range::StepRange;
use stapo_batch::batch::ResponseColumns;

/// Which responses are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Those of these steps; of all where none are named.
    pub steps: Option<StepRange>,
    /// Not those of evaluation.
    pub training_only: bool,
}

impl Scope {
    /// Whether nothing is left out, whatever the log has.
    pub fn is_all(&self) -> bool {
        self.steps.is_none() && !self.training_only
    }

    /// Whether responses of a step are read.
    pub fn has_step(&self, step: i64) -> bool {
        self.steps.is_none_or(|steps| steps.contains(step))
    }

    /// Whether a response is read.
    pub fn contains(&self, responses: &ResponseColumns, response: usize) -> bool {
        self.has_step(responses.step[response]) && !(self.training_only && responses.is_evaluation(response))
    }

    /// Whether a response would be read if it were none of evaluation.
    pub fn leaves_out_evaluation(&self, responses: &ResponseColumns, response: usize) -> bool {
        self.training_only && responses.is_evaluation(response) && self.has_step(responses.step[response])
    }

    /// The stretches of responses that are read.
    pub fn stretches(&self, responses: &ResponseColumns) -> Vec<Range<usize>> {
        let all = 0..responses.step.len();
        if self.is_all() {
            return vec![all];
        }
        let inside: Vec<bool> = all.map(|response| self.contains(responses, response)).collect();
        let mut start = 0;
        let runs = inside.chunk_by(|a, b| a == b).map(|run| {
            start += run.len();
            (start - run.len()..start, run[0])
        });
        runs.filter(|(_, inside)| *inside).map(|(range, _)| range).collect()
    }
}

#[cfg(test)]
mod tests {
    use stapo_batch::columns::Column;

    use super::*;

    fn stretches(scope: Scope, steps: &[i64], splits: Option<&[Option<&str>]>) -> Vec<Range<usize>> {
        let mut responses = ResponseColumns { step: steps.to_vec(), ..Default::default() };
        if let Some(splits) = splits {
            responses.texts.set(Column::Split, splits.iter().map(|split| split.map(Into::into)).collect());
        }
        scope.stretches(&responses)
    }

    #[test]
    fn stretches_are_those_of_the_steps() {
        let scope = Scope { steps: Some(StepRange { first: 2, last: 3 }), training_only: false };
        assert_eq!(stretches(scope, &[1, 2, 3, 3, 4, 2, 9], None), [1..4, 5..6]);
        assert_eq!(stretches(scope, &[2, 3], None).first(), Some(&(0..2)));
        assert_eq!(stretches(scope, &[1, 9], None), Vec::<Range<usize>>::new());
    }

    #[test]
    fn evaluation_is_left_out_where_only_training_is_read() {
        let splits = [Some("train"), Some("Eval"), None, Some(" TEST "), Some("testimony"), Some("valid")];
        let scope = |training_only| Scope { steps: None, training_only };
        assert_eq!(stretches(scope(true), &[0; 6], Some(&splits)), [0..1, 2..3, 4..5]);
        assert_eq!(stretches(scope(true), &[0; 6], None).first(), Some(&(0..6)));
        assert_eq!(stretches(scope(false), &[0; 6], Some(&splits)).first(), Some(&(0..6)));
    }
}
