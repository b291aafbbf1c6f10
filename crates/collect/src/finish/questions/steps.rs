//! What was collected at each step.

use std::collections::BTreeMap;

use crate::collect::questions::step_facts::StepFacts;

/// By step.
pub type Steps = BTreeMap<i64, StepFacts>;
