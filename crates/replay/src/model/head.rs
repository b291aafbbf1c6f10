//! The last norm, the output matrix and log-softmax, for the rows that predict a token of a response
//! only, in chunks of rows: the logits of all tokens never exist together. Always in float32, since
//! log-probabilities are what everything else is computed from.

use std::ops::Range;

use burn::tensor::{IndexingUpdateOp, Int, Tensor, TensorData};

use super::gradients::Gradients;
use super::ops::Compute;
use super::policy::Policy;
use super::sequence::{Pack, TokenStats};

/// Logits that exist at one time.
const CHUNK: usize = 1 << 22;

/// What the way back needs.
pub(super) struct HeadTape {
    x: Tensor<2>,
    normed: Tensor<2>,
    /// π of every chunk; computed again where they would be too large.
    distributions: Vec<Tensor<2>>,
}

/// Measures all response tokens of a pack from the last layer's output.
pub(super) fn forward(
    compute: &Compute,
    policy: &Policy,
    pack: &Pack,
    hidden: Tensor<2>,
    keep: bool,
) -> (TokenStats, Option<HeadTape>) {
    let (x, normed) = normalise(compute, policy, pack, hidden);
    let mut stats = TokenStats::default();
    let mut distributions = vec![];
    let keep_distributions = keep && pack.targets.len() * policy.config.vocab_size <= CHUNK;
    for rows in chunks(pack, policy) {
        let (pi, part) = compute.kernels.distributions(logits(policy, &normed, &rows), &pack.targets[rows]);
        stats.append(part);
        if keep_distributions {
            distributions.push(pi);
        }
    }
    (stats, keep.then_some(HeadTape { x, normed, distributions }))
}

/// Gradient of Σ c ln π with respect to the last layer's output.
pub(super) fn backward(
    compute: &Compute,
    policy: &Policy,
    pack: &Pack,
    tape: HeadTape,
    coefficients: &[f32],
    gradients: &mut Gradients,
) -> Tensor<2> {
    let HeadTape { x, normed, distributions } = tape;
    let mut kept = distributions.into_iter();
    let mut parts = vec![];
    for rows in chunks(pack, policy) {
        let targets = &pack.targets[rows.clone()];
        let pi = match kept.next() {
            Some(pi) => pi,
            None => compute.kernels.distributions(logits(policy, &normed, &rows), targets).0,
        };
        let d_logits = compute.kernels.logit_gradient(pi, targets, &coefficients[rows.clone()]);
        parts.push(d_logits.clone().matmul(policy.parameters[policy.layout.head].clone()));
        if gradients.wants(policy.layout.head) {
            gradients.add_at(policy.layout.head, d_logits.transpose().matmul(cut(&normed, &rows)));
        }
    }
    let d_normed = Tensor::cat(parts, 0);
    drop(normed);
    let weight = &policy.parameters[policy.layout.norm];
    let (dx, d_weight) = compute.kernels.norm_backward(d_normed, x, weight, policy.config.rms_norm_eps, None);
    gradients.add_at(policy.layout.norm, d_weight);
    let all = Tensor::zeros([pack.ids.len(), policy.config.hidden_size], &compute.device);
    all.select_assign(0, picks(compute, pack), dx, IndexingUpdateOp::Add)
}

/// Probabilities of every token after the last one read.
pub(super) fn last_distribution(
    compute: &Compute,
    policy: &Policy,
    pack: &Pack,
    hidden: Tensor<2>,
) -> Tensor<2> {
    let (_, normed) = normalise(compute, policy, pack, hidden);
    let rows = pack.targets.len().saturating_sub(1)..pack.targets.len();
    let targets = &pack.targets[rows.clone()];
    compute.kernels.distributions(logits(policy, &normed, &rows), targets).0
}

fn normalise(compute: &Compute, policy: &Policy, pack: &Pack, hidden: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
    let x = hidden.select(0, picks(compute, pack));
    compute.kernels.norm(x, &policy.parameters[policy.layout.norm], policy.config.rms_norm_eps)
}

fn logits(policy: &Policy, normed: &Tensor<2>, rows: &Range<usize>) -> Tensor<2> {
    cut(normed, rows).matmul(policy.parameters[policy.layout.head].clone().transpose())
}

fn cut(tensor: &Tensor<2>, rows: &Range<usize>) -> Tensor<2> {
    let [total, width] = tensor.dims();
    if *rows == (0..total) { tensor.clone() } else { tensor.clone().slice([rows.clone(), 0..width]) }
}

fn chunks(pack: &Pack, policy: &Policy) -> impl Iterator<Item = Range<usize>> {
    let (total, size) = (pack.targets.len(), (CHUNK / policy.config.vocab_size).max(1));
    (0..total.div_ceil(size)).map(move |c| c * size..((c + 1) * size).min(total))
}

fn picks(compute: &Compute, pack: &Pack) -> Tensor<1, Int> {
    let rows: Vec<i32> = pack.picks.iter().map(|r| *r as i32).collect();
    Tensor::from_data(TensorData::new(rows, [pack.picks.len()]), &compute.device)
}
