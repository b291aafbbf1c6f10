"""The canonical columns of a token log and their types; what each is for is in the project's docs/formats.md."""

import pyarrow as pa

# One value a response.
RESPONSE = {
    "update": pa.int64(), "group_id": pa.string(), "sample_id": pa.string(), "source": pa.string(),
    "policy_version": pa.int64(), "reward": pa.float32(), "advantage_seq": pa.float32(),
    "finish_reason": pa.string(), "truncated": pa.bool_(), "prompt_ids": pa.list_(pa.int32()),
    "prompt_text": pa.string(), "response_text": pa.string(),
}  # fmt: skip

# One value a token.
TOKEN = {
    "token_id": pa.int32(), "token_text": pa.string(), "logprob": pa.float32(),
    "logprob_rollout": pa.float32(), "logprob_new": pa.float32(), "logprob_ref": pa.float32(),
    "entropy": pa.float32(), "advantage": pa.float32(), "token_reward": pa.float32(),
    "mask": pa.bool_(), "is_weight": pa.float32(), "kl": pa.float32(), "clipped": pa.bool_(),
    "grad_norm": pa.float32(), "sum_pi_sq": pa.float64(), "sum_pi_sq_log_pi": pa.float64(),
    "logprob_after": pa.float32(), "entropy_after": pa.float32(), "turn": pa.int32(),
}  # fmt: skip

# Parts of the reward, one column each: `reward/format`.
REWARD_PART = "reward/"

SCHEMA_VERSION = "1"


def schema(names, metadata):
    """The Parquet schema of a file that holds these columns, in one order whatever theirs."""
    types = {"step": pa.int64()} | RESPONSE | {name: pa.list_(kind) for name, kind in TOKEN.items()}
    types |= {name: pa.float32() for name in sorted(names) if name.startswith(REWARD_PART)}
    return pa.schema([(name, kind) for name, kind in types.items() if name in names], metadata)


def encodings(schema):
    """Floats do not repeat: a dictionary only costs, splitting their bytes saves a tenth."""
    leaves = {f"{f.name}.list.element" if pa.types.is_list(f.type) else f.name: f.type for f in schema}
    floats = [path for path, kind in leaves.items() if pa.types.is_floating(getattr(kind, "value_type", kind))]
    return {"use_dictionary": [path for path in leaves if path not in floats], "use_byte_stream_split": floats}
