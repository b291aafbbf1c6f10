//! Numbers by chance, the same on every machine.

/// splitmix64: entry `at` of a stream of a seed is known without those before it.
#[derive(Clone, Copy)]
pub struct Stream(u64);

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

fn mixed(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Stream {
    pub fn new(seed: u64, stream: u64) -> Self {
        Self(mixed(mixed(seed.wrapping_add(STEP)).wrapping_add(stream.wrapping_mul(STEP))))
    }

    /// In [0, 1).
    pub fn unit(self, at: usize) -> f64 {
        (mixed(self.0.wrapping_add((at as u64 + 1).wrapping_mul(STEP))) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Near normal, of variance 1/3.
    pub fn bell(self, at: usize) -> f64 {
        let u = |i| self.unit(4 * at + i);
        u(0) + u(1) + u(2) + u(3) - 2.0
    }
}

/// The entries of a stream one after the other.
pub struct Draws {
    stream: Stream,
    at: usize,
}

impl Draws {
    /// The draws of run `number` of the family with this name.
    pub fn new(family: &str, number: u64) -> Self {
        let name = family.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self { stream: Stream::new(name, number), at: 0 }
    }

    /// In [0, 1).
    pub fn unit(&mut self) -> f64 {
        self.at += 1;
        self.stream.unit(self.at)
    }

    /// Below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        ((self.unit() * n as f64) as usize).min(n - 1)
    }

    /// Exponential with mean 1.
    pub fn waiting(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    /// Standard normal (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let length = (2.0 * self.waiting()).sqrt();
        length * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Student's t with two degrees of freedom: no variance.
    pub fn heavy(&mut self) -> f64 {
        self.normal() / self.waiting().sqrt()
    }

    /// In [0, 1], with the peak of a beta distribution (Kumaraswamy, which has a closed form).
    pub fn peaked(&mut self, a: f64, b: f64) -> f64 {
        (1.0 - (1.0 - self.unit()).powf(1.0 / b)).powf(1.0 / a)
    }

    /// A process of variance 1 with this correlation from step to step.
    pub fn process(&mut self, steps: usize, correlation: f64) -> Vec<f64> {
        let mut x = self.normal();
        let rest = (1.0 - correlation * correlation).sqrt();
        (0..steps)
            .map(|_| {
                x = correlation * x + rest * self.normal();
                x
            })
            .collect()
    }
}

/// Straight lines through points of (share of the run, level).
pub fn levels(steps: usize, points: &[(f64, f64)]) -> Vec<f64> {
    let at = |step: usize| {
        let x = step as f64 / (steps.max(2) - 1) as f64;
        let right = points.iter().position(|point| point.0 >= x).unwrap_or(points.len() - 1).max(1);
        let ((x0, y0), (x1, y1)) = (points[right - 1], points[right]);
        y0 + (y1 - y0) * ((x - x0) / (x1 - x0)).clamp(0.0, 1.0)
    };
    (0..steps).map(at).collect()
}
