//! The last norm, the output matrix and log-softmax, for the tokens that predict one of a response, in
//! chunks of rows. Softmax and sums are float32. So is the product, of parts that survive a device's
//! rounding of factors ([`Head`]); only where the layers' products are rounded to bfloat16, and the device
//! has no kernels of ours, the output is its plain product of float32 factors.

use std::ops::Range;

use burn::tensor::{Device, Int, Tensor, TensorData};

use super::super::gradients::Gradients;
use super::super::host_values::host_values;
use super::super::policy::Policy;
use super::super::sequence::TokenStats;
use super::batch::Padded;
#[cfg(feature = "cuda")]
use super::fused;
use super::norm;
use super::products::{Products, Split};

/// Rows of a chunk at most.
pub const CHUNK_ROWS: usize = 2048;
/// Logits of a chunk at most (two gibibytes).
pub const CHUNK: usize = 1 << 29;
/// Numbers that are measured of a token.
pub const MEASURED: usize = 5;

/// The output of a policy.
pub struct Output<'a> {
    policy: &'a Policy,
    device: &'a Device,
    products: &'a Products,
    head: Head,
    /// Logits that may be kept for the way back.
    kept_logits: usize,
}

/// The output matrix as its forward product takes it.
enum Head {
    /// As the device multiplies float32.
    Plain,
    /// In parts that rounding to TensorFloat-32 does not touch.
    Split(Box<Split>),
    /// In parts of bfloat16, side by side.
    #[cfg(feature = "cuda")]
    Parts(Tensor<2>),
}

/// What the way back needs.
pub struct OutputTape {
    x: Tensor<2>,
    normed: Tensor<2>,
    chunks: Vec<Chunk>,
}

/// What softmax says about some rows.
struct Chunk {
    rows: Range<usize>,
    /// ln Σ exp of the logits.
    log_sum: Tensor<2>,
    /// 1 − π of the target, summed from the others.
    others: Tensor<2>,
    /// Computed again where they would be too many.
    logits: Option<Tensor<2>>,
}

impl<'a> Output<'a> {
    pub fn new(policy: &'a Policy, device: &'a Device, products: &'a Products, kept_logits: usize) -> Self {
        let head = Head::new(&policy.parameters[policy.layout.head], products);
        Self { policy, device, products, head, kept_logits }
    }

    /// What is measured of every response token, still on the device, as rows of five numbers.
    pub fn forward(
        &self,
        padded: &Padded,
        hidden: &Tensor<2>,
        keep: bool,
    ) -> (Tensor<2>, Option<OutputTape>) {
        let (x, normed) = self.normalise(padded, hidden);
        let targets = padded.targets(self.device);
        let keep_logits = keep && padded.output_rows() * self.vocabulary() <= self.kept_logits;
        let (mut measured, mut chunks) = (vec![], vec![]);
        for rows in self.chunks(padded) {
            let logits = self.logits(&normed, &rows);
            let (table, log_sum, others) = self.measure(&logits, cut_ints(&targets, &rows));
            measured.push(table);
            if keep {
                chunks.push(Chunk { rows, log_sum, others, logits: keep_logits.then_some(logits) });
            }
        }
        (joined(measured), keep.then_some(OutputTape { x, normed, chunks }))
    }

    /// Gradient of Σ c ln π with respect to the last layer's output.
    pub fn backward(
        &self,
        padded: &Padded,
        tape: OutputTape,
        coefficients: &[f32],
        gradients: &mut Gradients,
    ) -> Tensor<2> {
        let rows = padded.output_rows();
        let mut c = coefficients.to_vec();
        c.resize(rows, 0.0);
        let c: Tensor<2> = Tensor::from_data(TensorData::new(c, [rows, 1]), self.device);
        let targets = padded.targets(self.device);
        let OutputTape { x, normed, chunks } = tape;
        let mut parts = vec![];
        for Chunk { rows, log_sum, others, logits } in chunks {
            let logits = logits.unwrap_or_else(|| self.logits(&normed, &rows));
            let c = cut(&c, &rows);
            let d_logits = self.logit_gradient(logits, cut_ints(&targets, &rows), log_sum, others, c);
            let d_logits = self.products.factor(d_logits);
            let head = self.policy.layout.head;
            parts.push(self.products.input_gradient(&d_logits, head));
            if gradients.wants(head) {
                let factor = self.products.factor(cut(&normed, &rows));
                gradients.add_at(head, self.products.product(d_logits.transpose(), factor));
            }
        }
        let weight = &self.policy.parameters[self.policy.layout.norm];
        let (dx, d_weight) = norm::backward(joined(parts), x, weight, self.policy.config.rms_norm_eps, None);
        gradients.add_at(self.policy.layout.norm, d_weight);
        // Every token takes its row, or the row of zeros behind the last.
        let zeros = Tensor::zeros([1, self.policy.config.hidden_size], self.device);
        Tensor::cat(vec![dx, zeros], 0).select(0, padded.places(self.device))
    }

    /// Probabilities of every token after the last one read.
    pub fn last_distribution(&self, padded: &Padded, hidden: &Tensor<2>) -> Vec<f32> {
        let (_, normed) = self.normalise(padded, hidden);
        let last = padded.picked().saturating_sub(1);
        host_values(&burn::tensor::activation::softmax(self.logits(&normed, &(last..last + 1)), 1))
    }

    fn normalise(&self, padded: &Padded, hidden: &Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let x = hidden.clone().select(0, padded.picks(self.device));
        let weight = &self.policy.parameters[self.policy.layout.norm];
        (x.clone(), norm::forward(x, weight, self.policy.config.rms_norm_eps))
    }

    fn logits(&self, normed: &Tensor<2>, rows: &Range<usize>) -> Tensor<2> {
        let normed = cut(normed, rows);
        match &self.head {
            Head::Split(head) => return Split::new(normed).product_transposed(head),
            #[cfg(feature = "cuda")]
            Head::Parts(head) => {
                let product = |normed| fused::product(&normed, &head.clone().transpose());
                if let Some(logits) = fused::parts(&normed, true, false).and_then(product) {
                    return logits;
                }
            }
            Head::Plain => {}
        }
        normed.matmul(self.policy.parameters[self.policy.layout.head].clone().transpose())
    }

    /// c (onehot − π), with 1 − π of the target from the sum of the others.
    fn logit_gradient(
        &self,
        logits: Tensor<2>,
        targets: Tensor<2, Int>,
        log_sum: Tensor<2>,
        others: Tensor<2>,
        c: Tensor<2>,
    ) -> Tensor<2> {
        #[cfg(feature = "cuda")]
        if let Some(d) =
            fused::logit_gradient(&targets, [&logits, &log_sum, &others, &c], self.products.rounds())
        {
            return d;
        }
        let pushed = (c.clone() * others).expand(logits.dims());
        ((logits - log_sum).exp() * c.neg()).mask_where(self.chosen(targets), pushed)
    }

    /// ln π, entropy, Σ π², Σ π² ln π and ‖onehot − π‖² of every row; ln Σ exp; and Σ π of the others.
    fn measure(&self, logits: &Tensor<2>, targets: Tensor<2, Int>) -> (Tensor<2>, Tensor<2>, Tensor<2>) {
        #[cfg(feature = "cuda")]
        if let Some(measured) = fused::measure(logits, &targets) {
            return measured;
        }
        let largest = logits.clone().max_dim(1);
        let log_sum = largest.clone() + (logits.clone() - largest).exp().sum_dim(1).log();
        let chosen = logits.clone().gather(1, targets.clone()) - log_sum.clone();
        let log_pi = logits.clone() - log_sum.clone();
        let pi = log_pi.clone().exp();
        let entropy = (pi.clone() * log_pi.clone()).sum_dim(1).neg();
        let weighted = (pi.clone().square() * log_pi).sum_dim(1);
        let rest = pi.mask_fill(self.chosen(targets), 0.0);
        let (others, squares) = (rest.clone().sum_dim(1), rest.square().sum_dim(1));
        let sum_pi_sq = squares.clone() + chosen.clone().exp().square();
        let norm = squares + others.clone().square();
        (Tensor::cat(vec![chosen, entropy, sum_pi_sq, weighted, norm], 1), log_sum, others)
    }

    /// Where the logits of the targets are.
    fn chosen(&self, targets: Tensor<2, Int>) -> Tensor<2, burn::tensor::Bool> {
        let size = self.vocabulary();
        let all = Tensor::<1, Int>::arange(0..size as i64, self.device).reshape([1, size]);
        let rows = targets.dims()[0];
        all.expand([rows, size]).equal(targets.expand([rows, size]))
    }

    fn chunks(&self, padded: &Padded) -> impl Iterator<Item = Range<usize>> + use<> {
        let (total, size) = (padded.output_rows(), (CHUNK / self.vocabulary()).clamp(1, CHUNK_ROWS));
        (0..total).step_by(size).map(move |first| first..(first + size).min(total))
    }

    fn vocabulary(&self) -> usize {
        self.policy.config.vocab_size
    }
}

impl Head {
    fn new(head: &Tensor<2>, products: &Products) -> Self {
        #[cfg(feature = "cuda")]
        if let Some(parts) = fused::parts(head, false, false) {
            return Self::Parts(parts);
        }
        if products.rounds() { Self::Plain } else { Self::Split(Box::new(Split::new(head.clone()))) }
    }
}

/// The statistics of response tokens from a table of them.
pub fn stats(table: &[f32], tokens: usize) -> TokenStats {
    let column = |c: usize| table.iter().skip(c).step_by(MEASURED).take(tokens).copied().collect();
    TokenStats {
        logprob: column(0),
        entropy: column(1),
        sum_pi_sq: column(2),
        sum_pi_sq_log_pi: column(3),
        logit_grad_sq: column(4),
    }
}

/// Some rows.
pub fn cut(tensor: &Tensor<2>, rows: &Range<usize>) -> Tensor<2> {
    let [total, width] = tensor.dims();
    if *rows == (0..total) { tensor.clone() } else { tensor.clone().slice([rows.clone(), 0..width]) }
}

fn cut_ints(tensor: &Tensor<2, Int>, rows: &Range<usize>) -> Tensor<2, Int> {
    tensor.clone().slice([rows.clone(), 0..1])
}

fn joined(mut parts: Vec<Tensor<2>>) -> Tensor<2> {
    if parts.len() == 1 { parts.remove(0) } else { Tensor::cat(parts, 0) }
}
