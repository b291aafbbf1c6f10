//! CUDA devices of this machine: which there are, and how burn's kernels for them are compiled and kept.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use burn::tensor::Device;
use cubecl::config::cache::CacheConfig;
use cubecl::config::streaming::StreamPolicy;
use cubecl::config::{CubeClRuntimeConfig, RuntimeConfig};

use super::{DeviceFacts, opened};
use stapo_base::error::{Error, Result};

/// The device of this number.
pub fn open(name: &str, index: usize) -> Result<Device> {
    configure();
    if cubecl::Device::cuda(index).is_err() {
        let there = devices().len();
        let driver = "install NVIDIA's driver (libcuda.so.1; `nvidia-smi` then lists the devices)";
        return Err(Error::Usage {
            message: match there {
                0 => format!("--device {name}: no CUDA device was found"),
                _ => format!("--device {name}: this machine has CUDA devices 0 to {}", there - 1),
            },
            hint: match there {
                0 => format!("{driver}, or use --device cpu"),
                _ => "`stapo-analyze devices` lists them".into(),
            },
        });
    }
    opened(
        name,
        Device::cuda(index),
        "kernels are compiled while the program runs: install the CUDA toolkit's libnvrtc and headers \
         (packages cuda-nvrtc and cuda-cudart-dev of the driver's version) and set CUDA_PATH to it, or use \
         --device cpu",
    )
}

/// All devices with their memory.
pub fn devices() -> Vec<DeviceFacts> {
    configure();
    let facts = |index: usize| {
        let device = cubecl::Device::cuda(index).ok()?;
        let client = device.client();
        let properties = client.properties();
        Some(DeviceFacts {
            name: format!("cuda:{index}"),
            card: Device::cuda(index).identity().map(|i| i.name),
            memory: properties.memory.max_memory(),
            free: free(index),
        })
    };
    (0..).map_while(facts).collect()
}

/// Bytes of a device that no program had taken when it was first looked at: what this program takes
/// afterwards is its own to plan with.
fn free(index: usize) -> Option<u64> {
    static FIRST_SEEN: Mutex<BTreeMap<usize, u64>> = Mutex::new(BTreeMap::new());
    let mut seen = FIRST_SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(bytes) = seen.get(&index) {
        return Some(*bytes);
    }
    let (bytes, _) = cudarc::driver::CudaContext::new(index).ok()?.mem_get_info().ok()?;
    seen.insert(index, bytes as u64);
    Some(bytes as u64)
}

/// Compiled and measured kernels are kept in the user's cache folder: the first replay of a shape
/// compiles for minutes, the next ones begin at once. And one queue, whatever thread asks: tensors of
/// another queue would have to be waited for, and its memory is not shared. A `cubecl.toml` may say the
/// rest.
fn configure() {
    let mut config = CubeClRuntimeConfig::from_current_dir().override_from_env();
    config.compilation.cache = true;
    config.streaming.policy = StreamPolicy::Single;
    config.environment.path = CacheConfig::Global;
    // Where it is set already it was set by this function.
    CubeClRuntimeConfig::try_set(config);
}
