//! Advantages that are what rounding leaves of 0: the reward minus the mean of equal ones is a few units of its
//! last place.

use stapo_base::stats::quantile::select_quantile;

/// Advantages below this part of the usual size are what rounding leaves.
pub const ROUNDING: f64 = 1e-4;
/// Groups that the usual size needs.
const FEWEST: usize = 5;

/// The root mean square of the advantages of a group, by their sum of squares.
#[must_use]
#[allow(clippy::cast_possible_truncation)]
pub fn size_of_group(squares: f64, responses: u64) -> f32 {
    (squares / responses.max(1) as f64).sqrt() as f32
}

/// The usual size of an advantage: the median of the sizes of groups whose rewards differ, which rounding cannot
/// change, nor fewer than half of the groups that are far out. `None` of too few groups.
#[must_use]
pub fn usual_size(of_groups: impl Iterator<Item = f32>) -> Option<f64> {
    let mut sizes: Vec<f32> = of_groups.filter(|size| *size > 0.0).collect();
    if sizes.len() < FEWEST { None } else { select_quantile(&mut sizes, 0.5) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_groups_that_are_far_out_change_nothing() {
        let sizes = |far: usize| (0..11).map(move |i| if i < far { 3e4 } else { 1.0 });
        assert_eq!([0, 1, 5].map(|far| usual_size(sizes(far))), [Some(1.0); 3]);
        assert_eq!(usual_size([1.0; 4].into_iter()), None);
        assert_eq!(size_of_group(8.0, 2), 2.0);
    }
}
