"""One response as a row of plain numpy arrays, whatever the trainer has: tensors, arrays, lists."""

import numpy as np
import pyarrow as pa

from .columns import RESPONSE, REWARD_PART, TOKEN


def array(values):
    """A tensor on any device, an array or a list as numpy; lists of unequal length stay lists."""
    if hasattr(values, "detach"):
        values = values.detach()
        return (values.float() if str(values.dtype) == "torch.bfloat16" else values).cpu().numpy()
    if isinstance(values, (list, tuple)):
        # numpy cannot take tensors of another device, nor say their size.
        values = [array(v) if hasattr(v, "detach") else v for v in values]
        if len({np.size(v) for v in values}) > 1:
            return [array(v) if np.ndim(v) else v for v in values]
    return np.asarray(values)


def row(step, columns):
    """A row whose token columns all have one value a token. Columns that are None are left out."""
    row = {"step": int(step)} | {name: value for name, value in columns.items() if value is not None}
    if np.ndim(row.get("advantage", [])) == 0:  # one for the whole response
        row["advantage_seq"] = row.pop("advantage")
    unknown = [n for n in row if n != "step" and n not in RESPONSE and n not in TOKEN and not n.startswith(REWARD_PART)]
    if unknown or "token_id" not in row:
        known = ", ".join([*RESPONSE, *TOKEN])
        raise ValueError(f"unknown columns: {unknown or 'none'}; token_id is needed; known: {known}, reward/<name>")
    for name, value in row.items():
        kind = TOKEN.get(name) or RESPONSE.get(name)
        if name in TOKEN or name == "prompt_ids":
            row[name] = value = np.array(array(value), _dtype(name, kind))  # a copy: a view would keep the batch alive
            if name in TOKEN and np.shape(value) != np.shape(row["token_id"]):
                where = f"step {step}, group {row.get('group_id')}, sample {row.get('sample_id')}"
                raise ValueError(f"{where}: {name} has shape {np.shape(value)}, token_id {np.shape(row['token_id'])}")
        elif name != "step":
            value = array(value)
            row[name] = str(value) if kind == pa.string() else value.item()
    return row


# pyarrow's own table of these needs pandas in some versions.
_DTYPES = {
    pa.int32(): np.int32, pa.int64(): np.int64, pa.float32(): np.float32, pa.float64(): np.float64,
    pa.bool_(): np.bool_, pa.string(): object,
}  # fmt: skip


def _dtype(name, kind):
    return np.int32 if name == "prompt_ids" else _DTYPES[kind]
