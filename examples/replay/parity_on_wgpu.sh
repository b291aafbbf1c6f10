#!/bin/sh
# The replay's checks against PyTorch values on a graphics device, or on Mesa's software Vulkan where there is
# none (Debian: apt install mesa-vulkan-drivers): models, gradients and AdamW updates of tiny checkpoints, then
# all objectives of notebooks-data/reference/parity.json through the command line. Run from the repository;
# needs no PyTorch. On software Vulkan the objectives take about two minutes of processor time each.
#
#     sh examples/replay/parity_on_wgpu.sh
set -eu
export STAPO_REPLAY_DEVICE="${STAPO_REPLAY_DEVICE:-wgpu}"
exec cargo test --release --features wgpu --test model --test replay -- --test-threads 1 \
    forward_passes_match_transformers gradients_match_pytorch updates_match_torch_adamw_with_decay \
    losses_gradients_and_masks_are_those_of_pytorch
