//! Whether another step fits into the time that is left.

use std::time::{Duration, Instant};

/// A deadline, and how long steps of all arms have taken.
pub struct StepClock {
    deadline: Option<Instant>,
    begun: Instant,
    longest: Duration,
}

impl StepClock {
    /// No step is done yet.
    pub fn new(deadline: Option<Instant>) -> Self {
        Self { deadline, begun: Instant::now(), longest: Duration::ZERO }
    }

    /// A step begins, of this arm or the next one.
    pub fn step_begins(&mut self) {
        self.begun = Instant::now();
    }

    /// A step ended.
    pub fn step_done(&mut self) {
        self.longest = self.longest.max(self.begun.elapsed());
    }

    /// Whether the deadline is past, or would be at the end of a step as long as the longest so far.
    pub fn is_up(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() + self.longest >= deadline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_would_not_fit_is_not_begun() {
        assert!(!StepClock::new(None).is_up());
        let soon = Instant::now() + Duration::from_secs(60);
        let clock = |longest| StepClock { deadline: Some(soon), begun: Instant::now(), longest };
        assert!(!clock(Duration::from_secs(30)).is_up());
        assert!(clock(Duration::from_secs(90)).is_up());
        assert!(StepClock::new(Some(Instant::now())).is_up());
    }
}
