#!/usr/bin/env python3
"""oat buffers (--dump_replay_every, --dump_all_buffer) to canonical Parquet.

    python oat_to_parquet.py SAVE_PATH -o run.parquet

Reads buffer_stepNNNNN.pkl and all_buffer.pkl without oat: token ids, the sampler's
log-probabilities and rewards. oat dumps neither entropies nor advantages. Needs torch, numpy,
pyarrow. Checked by test_converters.py.
"""

import sys
from collections import deque

import numpy as np
from canonical import array, files, load, main, step_of


def transitions(item):
    """All transitions in nested lists, one list a rank."""
    fields = item if isinstance(item, dict) and "response_ids" in item else getattr(item, "state", None)
    if isinstance(fields, dict) and "response_ids" in fields:
        yield fields
    elif isinstance(item, (list, tuple, deque)):
        for part in item:
            yield from transitions(part)


def rows(dump, step):
    for i, transition in enumerate(transitions(dump)):
        ids = array(transition["response_ids"])
        rewards = array(transition.get("rewards"))
        mask = transition.get("loss_mask")
        logprobs = transition.get("response_logprobs")
        text = {n: transition.get(n) for n in ("prompt", "response")}
        yield {
            "step": step,
            "sample_id": str(i),
            "reward": None if rewards is None else float(np.sum(rewards)),
            "prompt_ids": array(transition.get("prompt_ids")),
            "prompt_text": text["prompt"] if isinstance(text["prompt"], str) else None,
            "response_text": text["response"] if isinstance(text["response"], str) else None,
            "token_id": ids,
            "logprob_rollout": array(logprobs) if logprobs is not None and len(logprobs) else None,
            "token_reward": rewards if rewards is not None and np.ndim(rewards) and len(rewards) == len(ids) else None,
            # One flag for the whole response.
            "mask": np.broadcast_to(np.asarray(True if mask is None else mask, bool), ids.shape),
        }


def steps(arguments):
    for path in files(arguments.inputs, "buffer_step*.pkl", "all_buffer.pkl"):
        step = step_of(path)
        if step is None:
            print(f"{path}: names no step, taken as 0", file=sys.stderr)
        yield list(rows(load(path), step or 0))


if __name__ == "__main__":
    main(__doc__, "oat", steps)
