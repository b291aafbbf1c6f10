//! Responses that stand in a log more than once.

use crate::analyze::collect::signs::facts::ResponseFact;
use crate::ingest::NEVER_TWICE;

/// Whether nobody draws its tokens twice by chance.
pub fn is_unique(fact: &ResponseFact) -> bool {
    -f64::from(fact.surprisal) * f64::from(fact.length) < f64::from(NEVER_TWICE)
}
