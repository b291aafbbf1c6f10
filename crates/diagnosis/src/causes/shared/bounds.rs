//! How sure a share is.

/// The lower and upper end of the share that `hits` of `tries` tell (Wilson, 99.9 %).
pub fn share_bounds(hits: u64, tries: u64) -> [f64; 2] {
    const Z: f64 = 3.29;
    let (n, p) = (tries.max(1) as f64, hits as f64 / tries.max(1) as f64);
    let centre = p + Z * Z / (2.0 * n);
    let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    [((centre - half) / scale).max(0.0), ((centre + half) / scale).min(1.0)]
}
