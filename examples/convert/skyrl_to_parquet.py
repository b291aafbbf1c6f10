#!/usr/bin/env python3
"""SkyRL training batches (trainer.dump_data_batch=true) to canonical Parquet.

    python skyrl_to_parquet.py EXPORT_PATH/dumped_data -o run.parquet

Reads global_step_N_training_input.pkl without SkyRL. Sequences are padded on the left; the
response is where response_mask is 1. SkyRL drops rewards and prompt ids before it dumps: groups
come from `policy_prompt_boundaries`, rewards are missing. Needs torch, numpy, pyarrow. Checked
by test_converters.py.
"""

import numpy as np
import torch
from canonical import ConvertError, _tensor_from_bytes, array, files, load, main, step_of

STREAMS = {
    "logprob": "action_log_probs",
    "logprob_rollout": "rollout_logprobs",
    "logprob_ref": "base_action_log_probs",
    "advantage": "advantages",
    "return": "returns",
    "value": "values",
    "kl": "kl",
}


def tensor_of(blob):
    """A tensor from one of the forms SkyRL has pickled it in."""
    if isinstance(blob, dict):
        if blob.get("format") == "numpy":
            return np.frombuffer(blob["data"], np.dtype(blob["dtype"])).reshape(blob["shape"])
        blob = blob.get("data")
    if isinstance(blob, bytes):
        blob = _tensor_from_bytes(blob)
    return array(blob) if isinstance(blob, (torch.Tensor, np.ndarray)) else None


def unpack(batch):
    state = getattr(batch, "state", None)
    if isinstance(state, dict) and "batch_dict" in state:
        return {n: tensor_of(b) for n, b in state["batch_dict"].items()}, state.get("metadata") or {}
    if isinstance(batch, dict) and "sequences" in batch:
        return {n: tensor_of(b) for n, b in batch.items()}, {}
    raise ConvertError("not a SkyRL training batch")


def groups_of(metadata, count):
    """The group of each row."""
    if metadata.get("uids") is not None:
        return [str(uid) for uid in metadata["uids"]]
    groups = [None] * count
    for number, (start, stop) in enumerate(metadata.get("policy_prompt_boundaries") or []):
        groups[start:stop] = [str(number)] * (stop - start)
    return groups[:count]


def rows(tensors, metadata, step):
    for name in ("sequences", "attention_mask", "loss_mask"):
        if tensors.get(name) is None:
            raise ConvertError(f"no `{name}` in the batch")
    sequences, attention = tensors["sequences"], tensors["attention_mask"]
    loss = tensors["loss_mask"]
    response = tensors.get("response_mask")
    response = loss if response is None else response
    width = response.shape[1]
    groups = groups_of(metadata, len(sequences))
    for i, ids in enumerate(sequences):
        at = np.flatnonzero(response[i])
        # From the first to the last token of the response: observations lie in between.
        window = slice(at[0], at[-1] + 1) if len(at) else slice(0, 0)
        begin = len(ids) - width + (at[0] if len(at) else width)
        mask = loss[i][window] != 0
        row = {
            "step": step,
            "group_id": groups[i] if i < len(groups) else None,
            "sample_id": str(i),
            "prompt_ids": ids[:begin][attention[i][:begin] != 0],
            "token_id": ids[len(ids) - width :][window],
            "mask": mask,
        }
        for name, raw in STREAMS.items():
            values = tensors.get(raw)
            row[name] = None if values is None else values[i][window].astype(np.float32)
        if row["logprob_rollout"] is not None:
            # Observations were not sampled: their 0.0 is no log-probability.
            row["logprob_rollout"][~mask] = np.nan
        yield row


def steps(arguments):
    for path in files(arguments.inputs, "*_training_input.pkl"):
        try:
            yield list(rows(*unpack(load(path)), step_of(path) or 0))
        except ConvertError as error:
            raise ConvertError(f"{path}: {error}") from error


if __name__ == "__main__":
    main(__doc__, "SkyRL", steps)
