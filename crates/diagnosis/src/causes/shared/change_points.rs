//! The search for the steps at which something changed: once, or twice.

use std::ops::Range;

/// Ends of windows that are tried at the most, in all pairs.
const MOST_ENDS: usize = 256;

/// Steps next to each other, by their places, and what it gains to judge them apart.
pub type Stretch = (f64, Range<usize>);

/// The steps that it gains most to judge apart from all others.
pub struct ChangePoints {
    /// On one side of a step.
    pub once: Option<Stretch>,
    /// Between two steps.
    pub twice: Option<Stretch>,
}

impl ChangePoints {
    /// Of so many steps; `gain` is above 0 where these differ from all others as they should.
    pub fn of(steps: usize, gain: impl Fn(&Range<usize>) -> f64) -> Self {
        let best = |places: &mut dyn Iterator<Item = Range<usize>>| {
            let gains = places.map(|places| (gain(&places), places)).filter(|(gain, _)| *gain > 0.0);
            gains.max_by(|a, b| a.0.total_cmp(&b.0))
        };
        let once = best(&mut (1..steps).flat_map(|at| [0..at, at..steps]));
        Self { once, twice: two_ends(steps, best) }
    }
}

/// The best window that neither begins nor ends with the run, with its gain. Where steps are many, every second, third, …
/// is tried as an end, and then those around the best.
fn two_ends(
    steps: usize,
    best: impl Fn(&mut dyn Iterator<Item = Range<usize>>) -> Option<Stretch>,
) -> Option<Stretch> {
    let stride = steps.div_ceil(MOST_ENDS).max(1);
    let ends = || (1..steps).step_by(stride);
    let near = |end: usize| end.saturating_sub(stride).max(1)..(end + stride).min(steps);
    let (_, coarse) =
        best(&mut ends().flat_map(|from| ends().filter(move |to| *to > from).map(move |to| from..to)))?;
    let starts = near(coarse.start).filter(|from| *from < coarse.end);
    let (_, finer) = best(&mut starts.map(|from| from..coarse.end))?;
    best(&mut near(coarse.end).filter(|to| *to > finer.start).map(|to| finer.start..to))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// The squared difference between the means inside and outside, larger inside; weighed by both counts.
    fn found(values: &[f64]) -> [Option<Range<usize>>; 2] {
        let mean = |some: &[f64]| some.iter().sum::<f64>() / some.len() as f64;
        let gain = |places: &Range<usize>| {
            let outside = [&values[..places.start], &values[places.end..]].concat();
            let more = mean(&values[places.clone()]) - mean(&outside);
            (places.len() * outside.len()) as f64 * more.max(0.0).powi(2)
        };
        let ChangePoints { once, twice } = ChangePoints::of(values.len(), gain);
        [once, twice].map(|found| found.map(|(_, places)| places))
    }

    #[test]
    fn a_step_and_a_window_are_found_where_they_are() {
        let rises = [0.0, 0.0, 0.0, 1.0, 1.0];
        assert_eq!(found(&rises)[0], Some(3..5));
        assert_eq!(found(&[1.0, 1.0, 0.0, 0.0])[0], Some(0..2));
        let between = |window: Range<usize>, steps: usize| -> Vec<f64> {
            (0..steps).map(|at| f64::from(u8::from(window.contains(&at)))).collect()
        };
        assert_eq!(found(&between(2..5, 9))[1], Some(2..5));
        // Not all ends are tried at first.
        let [start, end, steps] = [MOST_ENDS + 3, MOST_ENDS + 90, 3 * MOST_ENDS];
        assert_eq!(found(&between(start..end, steps))[1], Some(start..end));
    }

    #[test]
    fn nothing_is_found_where_nothing_changes() {
        assert_eq!(found(&[1.0; 8]), [None, None]);
        assert_eq!(found(&[1.0]), [None, None]);
    }
}
