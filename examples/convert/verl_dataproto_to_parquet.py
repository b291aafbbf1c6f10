#!/usr/bin/env python3
"""verl DataProto dumps (.dp, tq_batch.pt) to canonical Parquet.

    python verl_dataproto_to_parquet.py DUMP_DIR -o run.parquet

Reads DataProto.save_to_disk files in all their serialisations (torch, consolidated tensordict,
numpy), `tq_batch.pt` of the V1 trainer, and plain dicts of tensors, without verl and without
tensordict. verl's own dumps (skip.rollout) hold the rollout side only: to have the trainer's
side, call batch.save_to_disk(path) after the advantages are computed, with `entropys` put back
into the batch. Needs torch, numpy, pyarrow. Checked by test_converters.py.
"""

import io
import sys

import numpy as np
import torch
from canonical import ConvertError, SafePickle, Stub, array, files, load, main, number, rows_of, step_of

STREAMS = {
    "logprob": ("old_log_probs",),
    "logprob_rollout": ("rollout_log_probs",),
    "logprob_ref": ("ref_log_prob", "ref_log_probs"),
    "entropy": ("entropys", "entropy"),
    "advantage": ("advantages",),
    "return": ("returns",),
    "value": ("values",),
    "token_reward": ("token_level_scores", "rm_scores", "token_level_rewards"),
    "is_weight": ("rollout_is_weights",),
    "sum_pi_sq": ("sum_pi_squared",),
}


def tensor_of(encoded):
    """verl's numpy form of a tensor: (dtype, shape, bytes), or (layout, list of these)."""
    if len(encoded) == 2:
        return [tensor_of(part) for part in encoded[1]]
    dtype, shape, data = encoded
    flat = torch.frombuffer(bytearray(np.asarray(data).tobytes()), dtype=torch.uint8)
    return flat.view(getattr(torch, dtype)).view(tuple(shape))


def load_bytes(data):
    """A batch that was serialised inside of the dump."""
    stream = io.BytesIO(data)
    if data[:2] != b"PK":
        return SafePickle.load(stream)
    return torch.load(stream, map_location="cpu", pickle_module=SafePickle, weights_only=False)


def unpack(dump):
    """(tensors, non-tensors, meta) of whatever was dumped."""
    if isinstance(dump, Stub) and isinstance(dump.state, tuple) and len(dump.state) == 3:
        batch, others, meta = dump.state
        if isinstance(batch, io.BytesIO):
            batch = batch.getvalue()
        if isinstance(batch, bytes):
            batch = load_bytes(batch)
        if isinstance(batch, tuple):
            batch = {name: tensor_of(value) for name, value in batch[2].items()}
        return batch or {}, others or {}, meta or {}
    if isinstance(dump, dict) and "tensordict" in dump:
        meta = {"global_steps": dump.get("global_steps")}
        return dict(dump["tensordict"]), {"uid": dump.get("keys")}, meta
    if isinstance(dump, dict) and "batch" in dump:
        return dict(dump["batch"]), dump.get("non_tensor_batch") or {}, dump.get("meta_info") or {}
    if isinstance(dump, dict) and "responses" in dump:
        return dump, {}, {}
    raise ConvertError("no DataProto, tq_batch or dict of tensors in it")


def group_of(uid):
    """V1 keys are uid_session_index."""
    parts = str(uid).rsplit("_", 2)
    return parts[0] if len(parts) == 3 and parts[1].isdigit() and parts[2].isdigit() else str(uid)


def rows_of_batch(tensors, others, step):
    if "responses" not in tensors:
        raise ConvertError(f"no `responses` among {', '.join(sorted(tensors)) or 'nothing'}")
    responses = rows_of(tensors["responses"])
    known = {"prompts", "attention_mask", "response_mask"}.union(*STREAMS.values())
    used = {n: v for n, v in tensors.items() if n in known and isinstance(v, (torch.Tensor, np.ndarray, list))}
    column = {name: rows_of(value) for name, value in used.items()}
    short = [name for name, rows in column.items() if len(rows) != len(responses)]
    if short:
        raise ConvertError(f"{', '.join(short)}: not as many rows as `responses` ({len(responses)})")
    per_row = {n: v for n, v in others.items() if v is not None and len(v) == len(responses)}
    for i, response in enumerate(responses):
        width = len(response)
        attention = column["attention_mask"][i] if "attention_mask" in column else None
        mask = column["response_mask"][i] if "response_mask" in column else None
        length = width
        if attention is not None and len(attention) >= width:
            length = int((attention[len(attention) - width :] != 0).sum())
        elif mask is not None and len(mask) == width:
            length = int(np.flatnonzero(mask)[-1]) + 1 if np.any(mask) else 0
        sample = per_row["request_id"][i] if "request_id" in per_row else i
        row = {"step": step, "sample_id": str(sample), "token_id": response[:length]}
        if "prompts" in column:
            prompt = column["prompts"][i]
            before = None if attention is None else attention[: len(attention) - width]
            padded = before is not None and len(before) == len(prompt)
            row["prompt_ids"] = prompt[before != 0] if padded else prompt
        if mask is not None:
            row["mask"] = mask[:length] != 0
        for name, raws in STREAMS.items():
            raw = next((r for r in raws if r in column), None)
            values = None if raw is None else np.atleast_1d(column[raw][i])
            # One weight for the whole response (sequence-level correction).
            if values is not None and len(values) == 1 and width > 1:
                values = np.repeat(values, length)
            row[name] = None if values is None else values[:length]
        if row["token_reward"] is not None:
            row["reward"] = float(np.nansum(row["token_reward"]))
        elif "score" in per_row:
            row["reward"] = number(per_row["score"][i])
        if "uid" in per_row:
            row["group_id"] = group_of(per_row["uid"][i])
        if "data_source" in per_row:
            row["source"] = str(per_row["data_source"][i])
        yield row


def steps(arguments):
    for path in files(arguments.inputs, "*.dp", "tq_batch.pt"):
        if path.name == "new_batch.dp":
            continue  # prompts only
        try:
            tensors, others, meta = unpack(load(path))
            step = array(meta.get("global_steps"))
            step = step_of(path) if step is None or step.dtype == object else int(step.max())
            if step is None:
                print(f"{path}: names no step, taken as 0", file=sys.stderr)
            yield list(rows_of_batch(tensors, others, step or 0))
        except ConvertError as error:
            raise ConvertError(f"{path}: {error}") from error


if __name__ == "__main__":
    main(__doc__, "verl", steps)
