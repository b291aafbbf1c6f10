//! Where tensors live. The only place that names a device of burn: everything else takes what it gets.

#[cfg(feature = "cuda")]
mod cuda;

use burn::tensor::Device;

use stapo_base::error::{Error, Result};

/// The device that `--device` names: `cpu`, and behind the features of the same names `wgpu`,
/// `wgpu:N` (also `vulkan`), `cuda`, `cuda:N`.
pub fn parse_device(name: &str) -> Result<Device> {
    let (kind, index) = match name.split_once(':') {
        None => (name, None),
        Some((kind, index)) => match index.parse::<usize>() {
            Ok(index) => (kind, Some(index)),
            Err(_) => return Err(unknown(name, "the number after the colon is not one")),
        },
    };
    match (kind, index) {
        ("cpu", None) => Ok(Device::flex()),
        ("cpu", Some(_)) => Err(unknown(name, "the processor has no number; --threads says how much of it")),
        ("wgpu" | "vulkan", index) => wgpu(name, index),
        ("cuda", index) => cuda(name, index.unwrap_or(0)),
        _ => Err(unknown(name, "not a device")),
    }
}

/// Whether the tensors of a device lie in memory that the processor can read as it is, so that our
/// own fused loops can work on them without a copy.
pub fn shares_host_memory(device: &Device) -> bool {
    *device == Device::flex()
}

/// Bytes of memory that a device had free, or has, where it says.
#[cfg(feature = "cuda")]
pub fn memory_of(device: &Device) -> Option<u64> {
    if shares_host_memory(device) {
        return None;
    }
    let at = |(index, _): &(usize, DeviceFacts)| Device::cuda(*index) == *device;
    cuda_devices().into_iter().enumerate().find(at).and_then(|(_, facts)| facts.free.or(facts.memory))
}

/// Bytes of memory that a device has, where it says.
#[cfg(not(feature = "cuda"))]
pub fn memory_of(_device: &Device) -> Option<u64> {
    None
}

/// A device that tensors can be on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceFacts {
    /// What `--device` calls it.
    pub name: String,
    /// What its maker calls it, where it says.
    pub card: Option<String>,
    /// Bytes of its own memory, where it has some and says.
    pub memory: Option<u64>,
    /// Bytes that were free when the program first looked, where it says.
    pub free: Option<u64>,
}

/// The devices of this machine that the program was built for, the processor first.
#[must_use]
pub fn devices() -> Vec<DeviceFacts> {
    let processor = DeviceFacts { name: "cpu".into(), card: None, memory: None, free: None };
    std::iter::once(processor).chain(cuda_devices()).chain(wgpu_device()).collect()
}

/// The card that `wgpu` takes by itself; it says nothing of its name and memory.
#[cfg(feature = "wgpu")]
fn wgpu_device() -> Option<DeviceFacts> {
    wgpu("wgpu", None).ok()?;
    let card = Some("the best card that its driver offers".into());
    Some(DeviceFacts { name: "wgpu".into(), card, memory: None, free: None })
}

#[cfg(not(feature = "wgpu"))]
fn wgpu_device() -> Option<DeviceFacts> {
    None
}

#[cfg(feature = "cuda")]
fn cuda_devices() -> Vec<DeviceFacts> {
    cuda::devices()
}

#[cfg(not(feature = "cuda"))]
fn cuda_devices() -> Vec<DeviceFacts> {
    Vec::new()
}

#[cfg(feature = "wgpu")]
fn wgpu(name: &str, index: Option<usize>) -> Result<Device> {
    use burn::tensor::DeviceKind;
    opened(
        name,
        Device::wgpu(index.map_or(DeviceKind::DefaultDevice, DeviceKind::DiscreteGpu)),
        "give a device that this machine has (wgpu takes the best one it finds), or --device cpu",
    )
}

#[cfg(not(feature = "wgpu"))]
fn wgpu(name: &str, _index: Option<usize>) -> Result<Device> {
    Err(not_built(name, "vulkan"))
}

#[cfg(feature = "cuda")]
fn cuda(name: &str, index: usize) -> Result<Device> {
    cuda::open(name, index)
}

#[cfg(not(feature = "cuda"))]
fn cuda(name: &str, _index: usize) -> Result<Device> {
    Err(not_built(name, "cuda"))
}

/// The device, if it takes a tensor: burn panics where there is none, on a thread of its own first.
#[cfg(any(feature = "wgpu", feature = "cuda"))]
fn opened(name: &str, device: Device, hint: &str) -> Result<Device> {
    use std::sync::{Arc, Mutex, PoisonError};
    let said = Arc::new(Mutex::new(None));
    let first = said.clone();
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert_with(|| panic.payload_as_str().unwrap_or("it cannot be opened").to_owned());
    }));
    let tried = std::panic::catch_unwind(|| {
        burn::tensor::Tensor::<1>::ones([1], &device).add_scalar(1.0).into_data()
    });
    std::panic::set_hook(print);
    if tried.is_ok() {
        return Ok(device);
    }
    let said = said.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
    Err(Error::Usage {
        message: format!("--device {name}: {}", said.chars().take(300).collect::<String>()),
        hint: hint.into(),
    })
}

#[cfg(not(all(feature = "wgpu", feature = "cuda")))]
fn not_built(name: &str, feature: &str) -> Error {
    Error::Usage {
        message: format!("--device {name}: this program was built without it"),
        hint: format!("build with --features {feature}, or use --device cpu"),
    }
}

fn unknown(name: &str, why: &str) -> Error {
    Error::Usage {
        message: format!("--device {name}: {why}"),
        hint: "give cpu, wgpu, wgpu:N, cuda or cuda:N".into(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_or_refused_with_a_way_out() {
        assert!(shares_host_memory(&parse_device("cpu").unwrap()));
        for (name, part) in [("cpu:1", "number"), ("gpu", "not a device"), ("cuda:x", "not one")] {
            let error = parse_device(name).unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
            assert!(error.hint().unwrap().contains("cpu"));
        }
    }

    #[cfg(not(feature = "cuda"))]
    #[test]
    fn a_device_that_was_not_built_names_its_feature() {
        assert!(parse_device("cuda:0").unwrap_err().hint().unwrap().contains("--features cuda"));
    }
}
