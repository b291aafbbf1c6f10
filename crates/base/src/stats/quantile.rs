//! Quantiles with linear interpolation, bit for bit as numpy's default method computes them.

/// The `q`-quantile of an ascending slice; None if it is empty or `q` is not in [0, 1].
#[must_use]
pub fn linear_quantile<T: Copy + Into<f64>>(sorted: &[T], q: f64) -> Option<f64> {
    let (index, fraction) = position(sorted.len(), q)?;
    let below = (*sorted.get(index)?).into();
    let above = sorted.get(index + 1).map_or(below, |&value| value.into());
    Some(interpolate(below, above, fraction))
}

/// The `q`-quantile of a slice in any order, which is reordered; linear time. None if it is empty
/// or `q` is not in [0, 1]. NaN sorts last.
#[must_use]
pub fn select_quantile<T: Copy + Into<f64>>(values: &mut [T], q: f64) -> Option<f64> {
    let (index, fraction) = position(values.len(), q)?;
    let by_value = |a: &T, b: &T| (*a).into().total_cmp(&(*b).into());
    let (_, &mut below, rest) = values.select_nth_unstable_by(index, by_value);
    let below = below.into();
    let above = rest.iter().copied().min_by(by_value).map_or(below, Into::into);
    Some(interpolate(below, above, fraction))
}

/// The order statistic below the quantile, and the way to the next one.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn position(len: usize, q: f64) -> Option<(usize, f64)> {
    if len == 0 || !(0.0..=1.0).contains(&q) {
        return None;
    }
    let position = (len - 1) as f64 * q;
    Some((position.floor() as usize, position.fract()))
}

/// numpy's `_lerp`: from the nearer end, so that it is monotone and exact at both ends.
pub fn interpolate(below: f64, above: f64, fraction: f64) -> f64 {
    let difference = above - below;
    if fraction >= 0.5 { above - difference * (1.0 - fraction) } else { below + difference * fraction }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Values printed by numpy 2.4.
    #[test]
    fn same_bits_as_numpy() {
        let values = [0.1, 0.2, 0.35, 0.7, 1.9, 2.3, 3.1];
        for (q, expected) in [
            (0.0, 0.1),
            (0.1, 0.16000000000000003),
            (0.25, 0.275),
            (0.33, 0.347),
            (0.5, 0.7),
            (0.75, 2.0999999999999996),
            (0.8, 2.22),
            (0.9, 2.62),
            (1.0, 3.1),
        ] {
            assert_eq!(linear_quantile(&values, q), Some(expected), "{q}");
        }
        let singles = [0.1_f32, 0.3, 0.7];
        for (q, expected) in [
            (0.2, 0.18000000566244126),
            (0.4, 0.2600000098347664),
            (0.6, 0.38000000715255733),
            (0.8, 0.5399999976158143),
        ] {
            assert_eq!(linear_quantile(&singles, q), Some(expected), "{q}");
            assert_eq!(select_quantile(&mut [0.7_f32, 0.1, 0.3], q), Some(expected), "{q}");
        }
    }

    #[test]
    fn nothing_of_nothing() {
        assert_eq!(linear_quantile::<f64>(&[], 0.5), None);
        assert_eq!(select_quantile::<f32>(&mut [], 0.5), None);
        assert_eq!(linear_quantile(&[1.0], 1.5), None);
        assert_eq!(linear_quantile(&[1.0], f64::NAN), None);
        assert_eq!(linear_quantile(&[4.25_f32], 0.75), Some(4.25));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 500, ..ProptestConfig::default() })]
        #[test]
        fn selecting_equals_sorting(mut values in prop::collection::vec(0.0..9.0_f32, 1..200), q in 0.0..=1.0_f64) {
            let mut sorted = values.clone();
            sorted.sort_by(f32::total_cmp);
            prop_assert_eq!(select_quantile(&mut values, q), linear_quantile(&sorted, q));
        }
    }
}
