#!/bin/sh
# The model's checks against PyTorch values on a graphics device, or on Mesa's software Vulkan where there is
# none (Debian: apt install mesa-vulkan-drivers). Run from the repository; needs no PyTorch. The feature
# `wgpu` has not been built by us yet: what is checked so far is the same tensor operations on the processor.
#
#     sh examples/replay/parity_on_wgpu.sh
set -eu
# Without a graphics card the software device is the only one; it has to be asked for.
export CUBECL_WGPU_DEFAULT_DEVICE="${CUBECL_WGPU_DEFAULT_DEVICE:-Cpu}"
export STAPO_REPLAY_DEVICE="${STAPO_REPLAY_DEVICE:-wgpu}"
exec cargo test --release --features wgpu --test replay_model -- --test-threads 1 \
    forward_passes_match_transformers gradients_match_pytorch updates_match_torch_adamw_with_decay
