//! What an adapter adds to y = x Wᵀ: s (x Aᵀ) Bᵀ, in that order, so that W + s B A never exists; and its
//! gradients. The same on the processor and on devices: they differ in how they multiply.

use burn::tensor::Tensor;

use super::super::gradients::Gradients;
use super::super::layout::{AdapterPart, Layout};

/// How matrices are multiplied.
pub trait Multiply {
    /// A tensor as a factor.
    fn factor(&self, x: Tensor<2>) -> Tensor<2>;
    /// The product of two factors.
    fn product(&self, a: Tensor<2>, b: Tensor<2>) -> Tensor<2>;
    /// The parameter at a place, as a factor.
    fn parameter(&self, slot: usize) -> Tensor<2>;
}

/// y with the adapter's part added, of a factor x and the matrix at a place.
pub fn added(m: &impl Multiply, layout: &Layout, weight: usize, x: &Tensor<2>, y: Tensor<2>) -> Tensor<2> {
    let parts = layout.adapter_of(weight);
    if parts.is_empty() {
        return y;
    }
    let ([rows, width], device) = (y.dims(), y.device());
    let mut columns = vec![];
    let mut end = 0;
    // Parts without an adapter, such as keys where only queries and values have one.
    let fill = |columns: &mut Vec<Tensor<2>>, from: usize, to: usize| {
        if from < to {
            columns.push(Tensor::zeros([rows, to - from], &device));
        }
    };
    for part in parts {
        fill(&mut columns, end, part.columns.start);
        columns.push(m.product(narrow(m, layout, part, x), m.parameter(part.b).transpose()));
        end = part.columns.end;
    }
    fill(&mut columns, end, width);
    y + if columns.len() == 1 { columns.remove(0) } else { Tensor::cat(columns, 1) }
}

/// dx with the adapter's share added, s (dy B) A, of a factor dy.
pub fn input_gradient(
    m: &impl Multiply,
    layout: &Layout,
    weight: usize,
    dy: &Tensor<2>,
    dx: Tensor<2>,
) -> Tensor<2> {
    let share = |part: &AdapterPart| m.product(d_narrow(m, layout, part, dy), m.parameter(part.a));
    layout.adapter_of(weight).iter().fold(dx, |dx, part| dx + share(part))
}

/// Adds dA = s (dy B)ᵀ x and dB = s dyᵀ (x Aᵀ), of factors dy and x.
pub fn add_gradients(
    m: &impl Multiply,
    layout: &Layout,
    weight: usize,
    dy: &Tensor<2>,
    x: &Tensor<2>,
    gradients: &mut Gradients,
) {
    for part in layout.adapter_of(weight) {
        let d_narrow = d_narrow(m, layout, part, dy);
        gradients.add_at(part.a, m.product(d_narrow.transpose(), x.clone()));
        gradients.add_at(part.b, m.product(cut(dy, part).transpose(), narrow(m, layout, part, x)));
    }
}

/// s x Aᵀ, a few numbers a token: cheaper to compute again than to keep.
fn narrow(m: &impl Multiply, layout: &Layout, part: &AdapterPart, x: &Tensor<2>) -> Tensor<2> {
    m.factor(m.product(x.clone(), m.parameter(part.a).transpose()).mul_scalar(layout.adapter_scale()))
}

/// s dy B.
fn d_narrow(m: &impl Multiply, layout: &Layout, part: &AdapterPart, dy: &Tensor<2>) -> Tensor<2> {
    m.factor(m.product(cut(dy, part), m.parameter(part.b)).mul_scalar(layout.adapter_scale()))
}

fn cut(dy: &Tensor<2>, part: &AdapterPart) -> Tensor<2> {
    let [rows, width] = dy.dims();
    if part.columns == (0..width) { dy.clone() } else { dy.clone().slice([0..rows, part.columns.clone()]) }
}
