//! Random next-token distributions of many shapes, for the property tests of the framework.

use proptest::prelude::*;

use stapo_base::stats::random::Random;

/// One token drawn from one distribution, with the sums that logs usually lack.
#[derive(Debug, Clone)]
pub(super) struct Sampled {
    pub vocab_size: u32,
    pub logprob: f64,
    pub entropy: f64,
    pub sum_pi_sq: f64,
    pub sum_pi_sq_log_pi: f64,
    pub conditional_collision: f64,
    pub heaviest_other: f64,
}

#[derive(Debug, Clone, Copy)]
enum Shape {
    SparseDirichlet,
    Peaked,
    NearUniform,
    TwoLevel,
    PowerLaw,
    Gaussian,
}

/// Vocabularies from 2 to 200,000 on a logarithmic scale.
pub(super) fn sampled_token() -> impl Strategy<Value = Sampled> {
    let shape = prop_oneof![
        Just(Shape::SparseDirichlet),
        Just(Shape::Peaked),
        Just(Shape::NearUniform),
        Just(Shape::TwoLevel),
        Just(Shape::PowerLaw),
        Just(Shape::Gaussian),
    ];
    (shape, 0.0..1.0_f64, 0.0..1.0_f64, 0.0..1.0_f64, any::<u64>()).prop_map(
        |(shape, size, knob, pick, seed)| {
            // Large vocabularies are slow to draw: squared, so that most are small.
            let vocab_size = (2.0 * 100_000.0_f64.powf(size * size.sqrt())).round() as usize;
            let logits = logits(shape, vocab_size.max(2), knob, &mut Random::splitmix(seed));
            sample(&logits, pick)
        },
    )
}

fn logits(shape: Shape, vocab_size: usize, knob: f64, random: &mut Random) -> Vec<f64> {
    let heavy = 1 + (knob * knob * vocab_size as f64 * 0.9) as usize;
    (0..vocab_size)
        .map(|i| match shape {
            // ln of u^{1/α} approximates a Dirichlet of small α.
            Shape::SparseDirichlet => (1.0 - random.unit()).ln() / (0.02 + knob),
            Shape::Peaked => {
                if i == 0 {
                    40.0 * knob
                } else {
                    random.unit()
                }
            }
            Shape::NearUniform => 0.1 * knob * random.unit(),
            Shape::TwoLevel => {
                if i < heavy {
                    30.0 * (1.0 - knob)
                } else {
                    0.0
                }
            }
            Shape::PowerLaw => -(0.5 + 6.0 * knob) * ((i + 1) as f64).ln(),
            Shape::Gaussian => 12.0 * knob * random.normal(),
        })
        .collect()
}

fn sample(logits: &[f64], pick: f64) -> Sampled {
    let mode = (0..logits.len()).max_by(|&a, &b| logits[a].total_cmp(&logits[b])).unwrap_or(0);
    let other = (0..logits.len()).filter(|&i| i != mode);
    let rest = compensated(other.map(|i| (logits[i] - logits[mode]).exp()));
    // ln_1p, so that the mode of a peaked distribution keeps its digits.
    let logs: Vec<f64> = logits.iter().map(|l| l - logits[mode] - rest.ln_1p()).collect();
    let chosen = ((pick * logs.len() as f64) as usize).min(logs.len() - 1);
    let sum = |f: &dyn Fn(f64) -> f64, skip: Option<usize>| -> f64 {
        compensated(logs.iter().enumerate().filter(|(i, _)| Some(*i) != skip).map(|(_, &l)| f(l)))
    };
    let others = sum(&f64::exp, Some(chosen));
    let square = |l: f64| (2.0 * l).exp();
    Sampled {
        vocab_size: logs.len() as u32,
        // From the others' mass, so that p near 1 keeps its complement.
        logprob: if others < 0.5 { (-others).ln_1p() } else { logs[chosen] },
        entropy: sum(&|l| -l * l.exp(), None),
        sum_pi_sq: sum(&square, None),
        sum_pi_sq_log_pi: sum(&|l| l * square(l), None),
        conditional_collision: sum(&square, Some(chosen)) / (others * others),
        heaviest_other: logs
            .iter()
            .enumerate()
            .filter(|(i, _)| *i != chosen)
            .map(|(_, l)| l.exp() / others)
            .fold(0.0, f64::max),
    }
}

/// Neumaier's sum: a hundred thousand tiny tokens beside a certain one must not vanish.
fn compensated(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for term in terms {
        let next = sum + term;
        lost += if sum.abs() >= term.abs() { (sum - next) + term } else { (term - next) + sum };
        sum = next;
    }
    sum + lost
}
