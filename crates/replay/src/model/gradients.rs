//! Gradients of all parameters.

use std::collections::BTreeMap;

use burn::tensor::Tensor;

use super::host_values::host_values;
use super::policy::Policy;
use super::sums::sums_of_squares;
use crate::device::shares_host_memory;

/// A gradient for every parameter of a policy.
#[derive(Debug, Clone)]
pub struct Gradients {
    /// In the order of the policy's parameters; nothing where nothing was added.
    pub(super) tensors: Vec<Option<Tensor<2>>>,
    /// So many of the first parameters are not trained.
    frozen: usize,
    head: usize,
}

/// Euclidean norms of a gradient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GradientNorms {
    /// Over all parameters, as trainers clip it.
    pub global: f64,
    /// Of the output matrix alone. With tied embeddings it has the embedding's share too, as
    /// `lm_head.weight.grad` has in PyTorch. Zero where only an adapter is trained.
    pub lm_head: f64,
}

impl Gradients {
    /// No gradient yet.
    pub(super) fn none(policy: &Policy) -> Self {
        let (frozen, head) = (policy.layout.frozen, policy.layout.head);
        Self { tensors: vec![None; policy.parameters.len()], frozen, head }
    }

    /// Both norms, from one look at the gradients.
    pub fn norms(&self) -> GradientNorms {
        let known: Vec<(usize, &Tensor<2>)> =
            self.tensors.iter().enumerate().filter_map(|(slot, t)| Some((slot, t.as_ref()?))).collect();
        let tensors: Vec<&Tensor<2>> = known.iter().map(|(_, tensor)| *tensor).collect();
        let on_host = tensors.first().is_none_or(|t| shares_host_memory(&t.device()));
        let squares: Vec<f64> = match on_host {
            true => tensors.into_iter().map(sum_of_squares).collect(),
            false => sums_of_squares(&tensors),
        };
        let of_head = known.iter().zip(&squares).find(|((slot, _), _)| *slot == self.head);
        GradientNorms {
            global: squares.iter().fold(0.0, |a, b| a + b).sqrt(),
            lm_head: of_head.map_or(0.0, |(_, square)| square.sqrt()),
        }
    }

    /// Every gradient of what is trained under the name it has in a checkpoint, row by row.
    pub fn by_name(&self, policy: &Policy) -> BTreeMap<String, Vec<f32>> {
        let mut named = BTreeMap::new();
        for (parameter, tensor) in policy.layout.parameters.iter().zip(&self.tensors).skip(self.frozen) {
            let values = tensor.as_ref().map_or_else(|| vec![0.0; parameter.len()], host_values);
            let mut rest = values.as_slice();
            for piece in &parameter.pieces {
                let (part, after) = rest.split_at(piece.len());
                named.insert(piece.name.clone(), part.to_vec());
                rest = after;
            }
        }
        named
    }

    /// Multiplies all gradients.
    pub fn scale(&mut self, factor: f64) {
        for tensor in self.tensors.iter_mut().flatten() {
            tensor.inplace(|t| t.mul_scalar(factor));
        }
    }

    /// Adds other gradients of the same policy.
    pub fn add(&mut self, other: Self) {
        for (slot, tensor) in other.tensors.into_iter().enumerate() {
            if let Some(tensor) = tensor {
                self.add_at(slot, tensor);
            }
        }
    }

    /// Whether the parameter at a place is trained.
    pub(super) fn wants(&self, slot: usize) -> bool {
        slot >= self.frozen
    }

    /// Adds where the parameter is trained.
    pub(super) fn add_at(&mut self, slot: usize, tensor: Tensor<2>) {
        if !self.wants(slot) {
            return;
        }
        let sum = match self.tensors[slot].take() {
            None => tensor,
            Some(before) => before + tensor,
        };
        self.tensors[slot] = Some(sum);
    }

    pub(super) fn take_at(&mut self, slot: usize) -> Option<Tensor<2>> {
        self.tensors[slot].take()
    }
}

fn sum_of_squares(tensor: &Tensor<2>) -> f64 {
    host_values(tensor).iter().fold(0.0, |sum, v| sum + f64::from(*v) * f64::from(*v))
}
