//! Reward curves whose truth is known: shapes of the mean over the run, and noise of several kinds.

use stapo_curves::{CanonicalName, CurveRun, Series};

/// Uniform and normal numbers (SplitMix64, Steele et al. 2014; Box and Muller 1958).
pub struct Random(u64);

impl Random {
    pub fn new(seed: &[u64]) -> Self {
        let mut random = Self(0x9e37_79b9_7f4a_7c15);
        for part in seed {
            random.0 ^= part.wrapping_mul(0xff51_afd7_ed55_8ccd);
            random.next();
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Student's t with three degrees of freedom, of variance 1.
    fn heavy(&mut self) -> f64 {
        let chi: f64 = (0..3).map(|_| self.normal().powi(2)).sum();
        self.normal() / chi.sqrt()
    }

    fn binomial(&mut self, n: u32, p: f64) -> f64 {
        f64::from((0..n).map(|_| u32::from(self.uniform() < p)).sum::<u32>())
    }
}

/// How the rows scatter around the mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    Normal,
    /// Shares of right answers.
    Binomial,
    Heavy,
    /// Three times as noisy at the end.
    Grows,
    /// A row is all right or all wrong.
    Coarse,
}

pub const NOISES: [Noise; 5] = [Noise::Normal, Noise::Binomial, Noise::Heavy, Noise::Grows, Noise::Coarse];

pub type Shape = (&'static str, fn(f64) -> f64);

fn logistic(t: f64, middle: f64, width: f64) -> f64 {
    1.0 / (1.0 + (-(t - middle) / width).exp())
}

fn within(t: f64, from: f64, to: f64) -> f64 {
    f64::from(u8::from(t > from && t < to))
}

/// Runs that learned, or stood at their top.
pub const HEALTHY: [Shape; 12] = [
    ("exponential", |t| 0.7 - 0.5 * (-4.0 * t).exp()),
    ("sigmoid", |t| 0.1 + 0.7 * logistic(t, 0.5, 0.1)),
    ("line", |t| 0.3 + 0.3 * t),
    ("fast, then flat", |t| 0.6 - 0.45 * (-t / 0.02).exp()),
    ("sudden and late", |t| 0.1 + 0.5 * within(t, 0.7, 2.0)),
    ("peak, eases", |t| 0.2 + 0.5 * (t / 0.4).min(1.0) - 0.05 * ((t - 0.5) / 0.4).clamp(0.0, 1.0)),
    ("at its top", |_| 0.95),
    ("late from 0", |t| 0.5 * logistic(t, 0.75, 0.05)),
    ("negative", |t| 0.2 - 0.7 * (-5.0 * t).exp()),
    ("dip", |t| 0.3 + 0.4 * (t / 0.3).min(1.0) - 0.45 * within(t, 0.35, 0.5)),
    ("dip at start", |t| 0.6 + 0.1 * t - 0.5 * within(t, 0.05, 0.2)),
    ("bumps of epochs", |t| 0.3 + 0.4 * t + 0.06 * (10.0 * std::f64::consts::PI * t).sin()),
];

/// Runs that did not learn.
pub const FLAT: [Shape; 3] = [("flat", |_| 0.4), ("flat below 0", |_| -0.3), ("flat near 0", |_| 0.02)];

/// Runs that fell for good.
pub const FALLS: [Shape; 5] = [
    ("sudden 0.8 to 0.6", |t| 0.8 - 0.2 * within(t, 0.6, 2.0)),
    ("sudden 0.8 to 0.4", |t| 0.8 - 0.4 * within(t, 0.6, 2.0)),
    ("learned, falls to 0.4", |t| 0.2 + 0.5 * (t / 0.4).min(1.0) - 0.3 * ((t - 0.6) / 0.2).clamp(0.0, 1.0)),
    ("learned, falls to 0", |t| 0.2 + 0.5 * (t / 0.4).min(1.0) - 0.7 * within(t, 0.75, 2.0)),
    ("slow 0.6 to 0.3", |t| 0.6 - 0.3 * t),
];

/// Rows around a mean, with noise of standard deviation `sd` and lag-1 autocorrelation `rho`.
pub fn rows(random: &mut Random, means: &[f64], noise: Noise, sd: f64, rho: f64) -> Vec<f64> {
    let n = means.len();
    let mut level = 0.0;
    let mut correlated = |random: &mut Random, heavy: bool, warm_up: bool| {
        for _ in 0..if warm_up { 40 } else { 1 } {
            let shock = if heavy { random.heavy() } else { random.normal() };
            level = rho * level + (1.0 - rho * rho).sqrt() * shock;
        }
        level
    };
    let noise =
        if noise == Noise::Binomial && means.iter().any(|m| *m < 0.0) { Noise::Normal } else { noise };
    let trials = ((0.25 / (sd * sd)).round() as u32).max(2);
    let row = |(at, mean): (usize, &f64)| {
        let p = mean.clamp(0.0, 1.0);
        let mut level = |random: &mut Random| correlated(random, noise == Noise::Heavy, at == 0);
        match noise {
            Noise::Normal | Noise::Heavy => mean + sd * level(random),
            Noise::Grows => mean + sd * (0.3 + 1.4 * at as f64 / n as f64) * level(random),
            Noise::Coarse => f64::from(u8::from(random.uniform() < p)),
            Noise::Binomial if rho == 0.0 => random.binomial(trials, p) / f64::from(trials),
            Noise::Binomial => {
                let spread = ((mean * (1.0 - mean)).max(1e-4) / f64::from(trials)).sqrt();
                ((mean + level(random) * spread) * f64::from(trials)).round().clamp(0.0, f64::from(trials))
                    / f64::from(trials)
            }
        }
    };
    means.iter().enumerate().map(row).collect()
}

/// The means of a shape over so many rows.
pub fn means(shape: fn(f64) -> f64, rows: usize) -> Vec<f64> {
    (0..rows).map(|at| shape(at as f64 / (rows - 1) as f64)).collect()
}

/// A run of one curve, from its first step on.
pub fn run_of(values: Vec<f64>) -> CurveRun {
    let steps: Vec<f64> = (1..=values.len()).map(|step| step as f64).collect();
    let reward = Series { column: "reward".into(), steps: steps.clone(), values };
    CurveRun {
        series: [(CanonicalName::Reward, reward)].into(),
        steps,
        from_start: true,
        ..CurveRun::default()
    }
}

/// A fault of a whole run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    None,
    Flat,
    HeldOutFalls,
    PartFalls,
    Truncation,
    /// Falls for a sixth of the run with a KL of some 5, and recovers.
    KlDip,
    KlDamage,
}

pub const FAULTS: [Fault; 7] = [
    Fault::None,
    Fault::Flat,
    Fault::HeldOutFalls,
    Fault::PartFalls,
    Fault::Truncation,
    Fault::KlDip,
    Fault::KlDamage,
];

/// A run with all its curves.
pub fn whole_run(random: &mut Random, n: usize, fault: Fault) -> CurveRun {
    let mut pick = |values: &[f64]| values[(random.uniform() * values.len() as f64) as usize];
    let (sd, rho) = (pick(&[0.03, 0.07, 0.15]), pick(&[0.0, 0.0, 0.3]));
    let (cut, held_gain) = (pick(&[0.0, 0.02, 0.1, 0.3]), pick(&[1.0, 1.0, 0.3, 0.0]));
    let mut between = |from: f64, to: f64| from + (to - from) * random.uniform();
    let (low, gain, speed) = (between(0.1, 0.5), between(0.2, 0.4), between(2.0, 8.0));
    let (kl_gain, longer, consumed) = (between(20.0, 150.0), between(-0.3, 0.5), between(0.0, 2.5));
    let dip = if fault == Fault::KlDip { between(0.15, 0.5) } else { between(0.4, 0.7) };
    let t: Vec<f64> = (0..n).map(|at| at as f64 / (n - 1) as f64).collect();
    let steps: Vec<f64> = (1..=n).map(|step| step as f64).collect();
    let mut noise = |scale: f64| rows(random, &vec![0.0; n], Noise::Normal, scale, rho);
    let learned = |t: f64| 1.0 - (-speed * t).exp();
    let mean = |t: f64| {
        let healthy = low + gain * learned(t);
        match fault {
            Fault::Flat => low,
            Fault::KlDip => healthy - 0.9 * (healthy - 0.05) * within(t, dip, dip + 0.17),
            Fault::KlDamage => healthy - 0.8 * (healthy - 0.1) * within(t, dip, 2.0),
            _ => healthy,
        }
    };
    let mut of = |scale: f64, value: &dyn Fn(f64, f64) -> f64| -> Vec<f64> {
        t.iter().zip(noise(scale)).map(|(t, e)| value(*t, e)).collect()
    };
    let reward = of(sd, &|t, e| mean(t) + e);
    let kl = of(0.2, &|t, e| {
        let healthy = 0.002 * (kl_gain.ln() * t.sqrt() + e).exp();
        match fault {
            Fault::KlDip => healthy.max(5.0 * (-((t - dip - 0.08) / 0.06).powi(2) + e).exp()),
            Fault::KlDamage if t > dip => 3.0 * e.exp(),
            _ => healthy,
        }
    });
    let length = of(0.06, &|t, e| 300.0 * (longer * t + e).exp());
    let truncated = of(0.03, &|t, e| {
        let share =
            if fault == Fault::Truncation { 0.02 + 0.5 * ((t - 0.3) / 0.5).clamp(0.0, 1.0) } else { cut };
        (share + e).clamp(0.0, 1.0)
    });
    let gradient = of(0.4, &|_, e| 0.3 * e.exp());
    let entropy = of(0.05, &|t, e| 0.6 * (-consumed * t + e).exp());
    let correct = of(if fault == Fault::PartFalls { 0.05 } else { sd }, &|t, e| match fault {
        Fault::PartFalls => 0.5 - 0.35 * ((t - 0.3) / 0.5).clamp(0.0, 1.0) + e,
        _ => mean(t) + e,
    });
    let form = of(0.03, &|t, e| 0.9 - 0.6 * (-20.0 * t).exp() + e);
    let held = of(0.02, &|t, e| match fault {
        Fault::HeldOutFalls => 0.3 + 0.25 * (t / 0.3).min(1.0) - 0.25 * ((t - 0.4) / 0.5).clamp(0.0, 1.0) + e,
        _ => 0.3 + 0.25 * held_gain * learned(t) + e,
    });
    let series =
        |column: &str, values: Vec<f64>| Series { column: column.into(), steps: steps.clone(), values };
    let every = (n / 25).max(1);
    let thinned = |values: &[f64]| values.iter().copied().step_by(every).collect::<Vec<f64>>();
    CurveRun {
        series: [
            (CanonicalName::Reward, series("reward", reward)),
            (CanonicalName::Kl, series("kl", kl)),
            (CanonicalName::Length, series("length", length)),
            (CanonicalName::Truncated, series("clipped_ratio", truncated)),
            (CanonicalName::GradNorm, series("grad_norm", gradient)),
            (CanonicalName::Entropy, series("entropy", entropy)),
        ]
        .into(),
        parts: vec![series("rewards/correct/mean", correct), series("rewards/format/mean", form)],
        held_out: vec![Series { column: "eval/acc".into(), steps: thinned(&steps), values: thinned(&held) }],
        steps,
        from_start: true,
        ..CurveRun::default()
    }
}
