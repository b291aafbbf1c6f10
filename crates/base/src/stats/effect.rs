//! Sizes of an effect: how often one value is above another.

/// Cliff's delta: the share of pairs with `y` above `x` minus the share with `y` below; from −1 to
/// 1. `None` where a sample is empty.
#[must_use]
pub fn cliffs_delta(x: &[f64], y: &[f64]) -> Option<f64> {
    if x.is_empty() || y.is_empty() {
        return None;
    }
    let mut sorted = x.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let net = y.iter().map(|v| {
        let below = sorted.partition_point(|x| x < v);
        let above = sorted.len() - sorted.partition_point(|x| x <= v);
        below as f64 - above as f64
    });
    Some(net.sum::<f64>() / (x.len() as f64 * y.len() as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deltas_count_pairs() {
        assert_eq!(cliffs_delta(&[1.0, 2.0, 3.0], &[2.0, 4.0]), Some((0.0 + 3.0) / 6.0));
        assert_eq!(cliffs_delta(&[1.0], &[1.0]), Some(0.0));
        assert_eq!(cliffs_delta(&[], &[1.0]), None);
    }
}
