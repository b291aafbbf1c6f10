//! AdamW with PyTorch's rule and defaults of RL trainers.

use burn::tensor::Tensor;
use rayon::prelude::*;

use super::gradients::Gradients;
use super::ops::{AdamRule, Compute};
use super::padded;
use super::policy::Policy;
use crate::device::shares_host_memory;

/// Settings of the optimizer; the learning rate is given with every step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdamWSettings {
    /// β₁, β₂.
    pub betas: (f64, f64),
    /// ε, added to the root of the second moment.
    pub eps: f64,
    /// Decoupled decay, of every parameter.
    pub weight_decay: f64,
}

impl Default for AdamWSettings {
    fn default() -> Self {
        Self { betas: (0.9, 0.999), eps: 1e-8, weight_decay: 0.0 }
    }
}

/// The optimizer with its moments.
#[derive(Debug, Clone)]
pub struct AdamW {
    pub(super) settings: AdamWSettings,
    pub(super) steps: u64,
    /// First and second moment of every parameter that is trained, from the first step on.
    pub(super) moments: Vec<[Tensor<2>; 2]>,
}

impl AdamW {
    /// No step taken yet.
    pub fn new(settings: AdamWSettings) -> Self {
        Self { settings, steps: 0, moments: vec![] }
    }

    /// Steps taken.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// One update of what is trained, with a learning rate. A parameter without gradient counts as one of
    /// zero.
    pub fn step(&mut self, policy: Policy, gradients: Gradients, lr: f64) -> Policy {
        let device = policy.device();
        self.steps += 1;
        let rule = self.rule(lr);
        if self.moments.is_empty() {
            self.moments = policy.trained().iter().map(|p| [p.zeros_like(), p.zeros_like()]).collect();
        }
        let Policy { config, layout, mut parameters, origin } = policy;
        let trained = parameters.split_off(layout.frozen);
        let gradients = gradients.tensors.into_iter().skip(layout.frozen);
        let moments = std::mem::take(&mut self.moments);
        let work: Vec<_> = trained.into_iter().zip(gradients).zip(moments).collect();
        type Work = ((Tensor<2>, Option<Tensor<2>>), [Tensor<2>; 2]);
        type Step<'a> = &'a (dyn Fn(Tensor<2>, Tensor<2>, Tensor<2>, Tensor<2>) -> [Tensor<2>; 3] + Sync);
        let update = |((w, g), [m, v]): Work, step: Step<'_>| {
            let g = g.unwrap_or_else(|| w.zeros_like());
            let [w, m, v] = step(w, g, m, v);
            (w, [m, v])
        };
        let (trained, moments): (Vec<_>, Vec<_>) = if shares_host_memory(&device) {
            let kernels = Compute::new(&device).kernels;
            work.into_par_iter().map(|w| update(w, &|w, g, m, v| kernels.adamw(w, g, m, v, rule))).unzip()
        } else {
            // A device has a queue for every thread, and burn's do not wait for each other where one
            // updates in place what another still reads: one thread only.
            work.into_iter().map(|w| update(w, &|w, g, m, v| padded::adamw(w, g, m, v, rule))).unzip()
        };
        self.moments = moments;
        parameters.extend(trained);
        Policy { config, layout, parameters, origin }
    }

    fn rule(&self, lr: f64) -> AdamRule {
        let AdamWSettings { betas: (beta1, beta2), eps, weight_decay } = self.settings;
        // Beyond this the corrections are 1 to the last digit.
        let steps = self.steps.min(1 << 24) as i32;
        AdamRule {
            keep: (1.0 - lr * weight_decay) as f32,
            gain1: (1.0 - beta1) as f32,
            beta2: beta2 as f32,
            gain2: (1.0 - beta2) as f32,
            step: (lr / (1.0 - beta1.powi(steps))) as f32,
            root: (1.0 - beta2.powi(steps)).sqrt() as f32,
            eps: eps as f32,
        }
    }
}
