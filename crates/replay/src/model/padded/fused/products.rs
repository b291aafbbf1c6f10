//! Matrix products by name: which of cubek's kernels multiplies, and what it writes.

use burn::tensor::{DType, Tensor as Burn};
use burn_cubecl::kernel::matmul::init_matmul_output;
use burn_cubecl::tensor::CubeTensor;
use burn_cubecl::{CubeBackend, CubeDevice};
use cubek::matmul::definition::{MatmulElems, MatmulGlobalElems};
use cubek::matmul::launch::launch_ref;
use cubek::matmul::multi_level::Strategy as Kernel;
use cubek::matmul::multi_level::components::tile::TileMatmulKind;
use cubek::matmul::multi_level::routines::batch::simple::SimpleArgs;
use cubek::matmul::routine::BlueprintStrategy;
use cubek::matmul::strategy::Strategy;
use cubek::std::InputBinding;

use super::parts::parts;
use super::tensors::{element, taken};

/// Numbers of bfloat16 that the copy engine's alignment of 16 bytes holds.
const ALIGNED: usize = 8;

/// The product of two factors, summed and written in float32. Float32 factors are multiplied in parts that
/// bfloat16 holds ([`parts`]): what the tensor cores make of float32 itself is TensorFloat-32, 2⁻¹¹.
pub fn product<const D: usize>(a: &Burn<D>, b: &Burn<D>) -> Option<Burn<D>> {
    if a.dtype() == DType::F32 && b.dtype() == DType::F32 {
        return product_of_rounded(&in_parts(a, true)?, &in_parts(b, false)?);
    }
    product_of_rounded(a, b)
}

/// The first or the second factor in parts, made as the factor lies in memory.
fn in_parts<const D: usize>(x: &Burn<D>, first: bool) -> Option<Burn<D>> {
    let turned = |x: Burn<D>| x.swap_dims(D - 2, D - 1);
    let lies = x.clone().try_into_primitive::<CubeBackend>().ok()?;
    let strides = lies.meta.strides();
    if strides[D - 1] != 1 && strides[D - 2] == 1 {
        return parts(&turned(x.clone()), first, first).map(turned);
    }
    parts(x, first, !first)
}

fn product_of_rounded<const D: usize>(a: &Burn<D>, b: &Burn<D>) -> Option<Burn<D>> {
    let a = a.clone().try_into_primitive::<CubeBackend>().ok()?;
    let b = b.clone().try_into_primitive::<CubeBackend>().ok()?;
    if !matches!(a.device, CubeDevice::Cuda(_)) || a.dtype != DType::BF16 || b.dtype != DType::BF16 {
        return None;
    }
    let out = init_matmul_output(&a, &b, DType::F32);
    let (from, to) = (element(&a), element(&out));
    for strategy in strategies(aligned(&a) && aligned(&b)) {
        let mut elements = MatmulElems::from_globals(&MatmulGlobalElems { lhs: from, rhs: from, out: to });
        let factor = |t: &CubeTensor| InputBinding::new(t.clone().binding(), from);
        let place = out.clone().binding();
        if launch_ref(&strategy, &out.client, factor(&a), factor(&b), place, &mut elements).is_ok() {
            return Some(taken(out));
        }
    }
    None
}

/// Whether the copy engine can read a tensor.
fn aligned(tensor: &CubeTensor) -> bool {
    tensor.meta.strides().iter().all(|stride| *stride == 1 || *stride % ALIGNED == 0)
}

/// The kernels that are tried. Of those that were measured on an H200 with the shapes of a 0.6B model the
/// first is the fastest or nearly so for each; it needs Hopper's copy engine. The last runs everywhere.
fn strategies(aligned: bool) -> Vec<Strategy> {
    let arguments = SimpleArgs { tile_matmul: TileMatmulKind::Mma, multi_rows: false };
    let simple = Kernel::SimpleCyclicMma(BlueprintStrategy::Inferred(arguments)).into();
    let fast = aligned.then(|| Kernel::SpecializedTmaMma(BlueprintStrategy::default()).into());
    fast.into_iter().chain([simple, Strategy::Auto]).collect()
}
