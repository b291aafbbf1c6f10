//! `stapo-analyze devices`.

use std::io::Write;

use super::outcome::{Outcome, stdout};
use super::terminal::visible;
use stapo_base::error::Result;
use stapo_base::format::bytes;
use stapo_replay::device::{DeviceFacts, devices};

/// Lists what `--device` can name, one a line.
pub fn run(out: &mut dyn Write) -> Result<Outcome> {
    let devices = devices();
    for DeviceFacts { name, card, memory, free } in &devices {
        let card = card.as_deref().unwrap_or("the processor");
        let memory = memory.map_or(String::new(), |m| format!(", {} of memory", bytes(m)));
        let free = free.map_or(String::new(), |m| format!(", {} free", bytes(m)));
        stdout(writeln!(out, "{name:<8} {}{memory}{free}", visible(card)))?;
    }
    if devices.len() == 1 {
        let why = if cfg!(feature = "cuda") {
            "no CUDA device was found: NVIDIA's driver (libcuda.so.1) has to be installed and see one"
        } else if cfg!(feature = "wgpu") {
            "no card was found: its Vulkan driver and the loader (libvulkan.so.1) have to be installed"
        } else {
            "built for the processor alone: --features cuda or --features vulkan add devices"
        };
        stdout(writeln!(out, "{why}"))?;
    }
    Ok(Outcome::Fine)
}
