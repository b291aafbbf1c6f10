//! Who collects: program, machine, and what its mathematics gives.

use crate::plan::Plan;
use stapo_framework::fast_math;
use stapo_store::parts::{Fingerprint, Producer};

/// This program on this machine, with the tables of a plan.
pub fn producer(plan: &Plan) -> Producer {
    let environment = if cfg!(target_env = "musl") { "-musl" } else { "" };
    Producer {
        program: env!("CARGO_PKG_VERSION").into(),
        target: format!("{}-{}{environment}", std::env::consts::ARCH, std::env::consts::OS),
        kernel: kernel(plan).to_string(),
    }
}

/// What `exp` and `ln` of this machine give: directly, and in the framework's tables.
fn kernel(plan: &Plan) -> Fingerprint {
    let mut fingerprint = Fingerprint::of(format!("{:?}", plan.kernel).as_bytes());
    for i in 0..64 {
        let x = f64::from(i) * 0.73 - 21.0;
        for value in [x.exp(), (x.abs() + 0.1).ln(), fast_math::exp(x), x.abs().sqrt(), 1.3_f64.powi(i)] {
            fingerprint.word(value.to_bits());
        }
    }
    fingerprint
}
