//! Several parts whose names say what is right: each may be of a task of its own (`math_correct`,
//! `code_correct`), and then none of them says it of the whole run.

/// By chance two verdicts of the same answers are never right together in so few of all runs.
const CHANCE: f64 = 0.001;

/// How often the part that was chosen and the best of its rivals are above 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Rivals {
    /// Responses that have either.
    responses: u64,
    chosen: u64,
    rival: u64,
    together: u64,
}

impl Rivals {
    /// Notes the two of a response; NaN is none.
    #[inline]
    pub fn add(&mut self, chosen: f32, rival: f32) {
        let (chosen, rival, is_known) = (chosen > 0.0, rival > 0.0, !(chosen.is_nan() && rival.is_nan()));
        self.responses += u64::from(is_known);
        self.chosen += u64::from(chosen);
        self.rival += u64::from(rival);
        self.together += u64::from(chosen && rival);
    }

    /// Adds those of another worker.
    pub fn merge(&mut self, other: &Self) {
        self.responses += other.responses;
        self.chosen += other.chosen;
        self.rival += other.rival;
        self.together += other.together;
    }

    /// Whether a rival is right where the chosen part is not.
    pub fn knows_more(&self) -> bool {
        self.rival > self.together
    }

    /// Whether they are of different answers: never right together, more seldom than chance would have it.
    /// A part that is never right says nothing of what its rival is right about.
    pub fn are_apart(&self) -> bool {
        let miss = 1.0 - self.rival as f64 / self.responses.max(1) as f64;
        let by_chance = self.chosen as f64 * miss.ln();
        self.knows_more() && self.together == 0 && (self.chosen == 0 || by_chance < CHANCE.ln())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(counts: &[(f32, f32, usize)]) -> Rivals {
        let mut rivals = Rivals::default();
        for (chosen, rival, times) in counts {
            (0..*times).for_each(|_| rivals.add(*chosen, *rival));
        }
        rivals
    }

    #[test]
    fn parts_of_different_tasks_are_never_right_together() {
        assert!(of(&[(1.0, 0.0, 20), (0.0, 1.0, 30), (0.0, 0.0, 50)]).are_apart());
        assert!(of(&[(1.0, f32::NAN, 20), (f32::NAN, 1.0, 30), (0.0, f32::NAN, 50)]).are_apart());
        assert!(of(&[(0.0, 1.0, 30), (0.0, 0.0, 50)]).are_apart(), "one of them is never right");
    }

    #[test]
    fn parts_of_the_same_answers_are_not_apart() {
        assert!(!of(&[(1.0, 0.0, 20), (0.0, 1.0, 30), (1.0, 1.0, 1), (0.0, 0.0, 50)]).are_apart());
        assert!(!of(&[(1.0, 0.0, 3), (0.0, 1.0, 3), (0.0, 0.0, 90)]).are_apart(), "by chance");
        assert!(!of(&[(1.0, 0.0, 50), (0.0, 0.0, 50)]).are_apart(), "the rival is never right");
        assert!(!Rivals::default().are_apart());
    }
}
