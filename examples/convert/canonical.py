"""What the converters of this folder share: opening pickles without running them, and writing
the canonical nested Parquet (a row a response, token columns as lists of equal length).

Needs torch, numpy and pyarrow. Checked by test_converters.py.
"""

import argparse
import io
import os
import pickle
import re
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch

SCHEMA_VERSION = "1"
ROWS_PER_GROUP = 64

RESPONSE = {
    "step": pa.int64(), "update": pa.int32(), "group_id": pa.string(), "sample_id": pa.string(),
    "source": pa.string(), "split": pa.string(), "policy_version": pa.int64(),
    "reward": pa.float32(), "advantage_seq": pa.float32(), "prompt_len": pa.int32(),
    "response_len": pa.int32(), "finish_reason": pa.string(), "truncated": pa.bool_(),
    "prompt_ids": pa.list_(pa.int32()), "prompt_text": pa.string(), "response_text": pa.string(),
}  # fmt: skip
TOKEN = {
    "token_id": pa.int32(), "logprob": pa.float32(), "logprob_rollout": pa.float32(),
    "logprob_ref": pa.float32(), "entropy": pa.float32(), "advantage": pa.float32(),
    "token_reward": pa.float32(), "value": pa.float32(), "return": pa.float32(),
    "mask": pa.bool_(), "is_weight": pa.float32(), "kl": pa.float32(), "sum_pi_sq": pa.float64(),
}  # fmt: skip


class ConvertError(Exception):
    """Something the user can act on."""


# ---------------------------------------------------------------- pickles, without their code


class Stub(dict):
    """Stands for an object whose class is not known here: keeps what it was made of."""

    def __new__(cls, *args, **kwargs):
        self = super().__new__(cls)
        self.args, self.state = args, None
        return self

    def __init__(self, *args, **kwargs):
        super().__init__()

    def __setstate__(self, state):
        self.state = state

    def __hash__(self):
        return id(self)

    def append(self, item):
        self.args += (item,)

    def extend(self, items):
        self.args += tuple(items)


def _tensor_from_bytes(data):
    return torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)


def _tensordict(cls, state):
    return state["_tensordict"]


def _tensordict_consolidated(metadata, storage, *_):
    """A tensordict packed into one buffer of bytes: name -> (dtype, shape, start, ...)."""
    tensors = dict(metadata.get("non_tensors", {}))
    for name, (dtype, shape, start, *_more) in metadata["leaves"].items():
        dtype = getattr(torch, dtype.removeprefix("torch."))
        size = int(np.prod(shape)) * dtype.itemsize
        tensors[name] = storage[start : start + size].clone().view(dtype).view(shape)
    for name in [n for n in tensors if n.startswith("<NJT_VALUES>")]:
        plain = name.removeprefix("<NJT_VALUES>")
        parts = {k: tensors.pop(f"<NJT_{k.upper()}>{plain}", None) for k in ("values", "offsets", "lengths")}
        tensors[plain] = _jagged(parts)
    return tensors


def _reconstructor(cls, base, state):
    return cls() if issubclass(cls, Stub) else cls(state)


def _jagged(parts):
    """The rows of a jagged tensor, as a list."""
    values, offsets = parts["values"], parts["offsets"].tolist()
    lengths = parts.get("lengths")
    ends = offsets[1:] if lengths is None else [o + n for o, n in zip(offsets, lengths.tolist())]
    return [values[start:end] for start, end in zip(offsets, ends)]


REPLACED = {
    ("torch._tensor", "_rebuild_from_type_v2"): lambda make, kind, args, state: make(*args),
    ("torch.nested._internal.nested_tensor", "_rebuild_njt"): _jagged,
    ("torch.storage", "_load_from_bytes"): _tensor_from_bytes,
    ("tensordict._reductions", "_make_td"): _tensordict,
    ("tensordict._reductions", "_rebuild_tensordict_files_consolidated"): _tensordict_consolidated,
    ("copyreg", "_reconstructor"): _reconstructor,
}
ALLOWED = re.compile(
    r"builtins (set|frozenset|list|dict|tuple|bytearray|int|float|complex|bool|str|bytes|slice|range|object)"
    r"|collections (OrderedDict|defaultdict|deque)"
    r"|_?io BytesIO|_codecs encode|pathlib (Pure)?PosixPath"
    r"|numpy(\._?core)?\.(multiarray|numeric) (_reconstruct|scalar|_frombuffer)"
    r"|numpy (ndarray|dtype|bool_|u?int\d+|float\d+|str_)|numpy\.dtypes \w+DType"
    r"|torch(\.storage)? (\w+Storage|Size|device|dtype|[a-z]+\d+|bool|strided|jagged|Tensor)"
    r"|torch\._utils (_rebuild_tensor(_v2|_v3)?|_rebuild_parameter)"
    r"|torch\.serialization _get_layout"
    r"|torch\.nested\._internal\.nested_tensor NestedTensor"
)


class SafeUnpickler(pickle.Unpickler):
    """Makes numbers, texts, containers, arrays and tensors; everything else becomes a Stub."""

    def find_class(self, module, name):
        module = {"__builtin__": "builtins", "copy_reg": "copyreg"}.get(module, module)
        if (module, name) in REPLACED:
            return REPLACED[module, name]
        if ALLOWED.fullmatch(f"{module} {name}"):
            return super().find_class(module, name)
        return type(name.split(".")[-1], (Stub,), {"__module__": f"stub.{module}"})


class SafePickle:
    """What torch.load wants of a pickle module."""

    Unpickler = SafeUnpickler

    @staticmethod
    def load(file, **kwargs):
        return SafeUnpickler(file, **kwargs).load()


def load(path):
    """The content of a .pt, .pkl or .dp file."""
    try:
        with open(path, "rb") as file:
            start = file.read(4)
        if start.startswith(b"PK"):
            return torch.load(path, map_location="cpu", pickle_module=SafePickle, weights_only=False)
        if not start.startswith(b"\x80"):
            raise ConvertError(f"{path}: neither a pickle nor a torch file")
        with open(path, "rb") as file:
            return SafePickle.load(file)
    except (pickle.UnpicklingError, EOFError, RuntimeError, ValueError) as error:
        raise ConvertError(f"{path}: cannot be read ({error}); is it complete?") from error


# ---------------------------------------------------------------- values


def array(value):
    """A tensor, array or list as numpy; None stays None."""
    if value is None:
        return None
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu()
        return (value.float() if value.dtype == torch.bfloat16 else value).numpy()
    return np.asarray(value)


def rows_of(batch):
    """The rows of a padded tensor, a jagged tensor or a list."""
    if isinstance(batch, torch.Tensor):
        return [array(row) for row in batch.unbind()]
    return [array(row) for row in batch]


def number(value):
    """A scalar as float, or None."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def step_of(path):
    """The step in the name of a file or of its folder."""
    for name in (Path(path).name, Path(path).resolve().parent.name):
        found = re.search(r"(?:^|step_?|rollout_)(\d+)(?:\D|$)", name)
        if found:
            return int(found.group(1))
    return None


# ---------------------------------------------------------------- output


class Writer:
    """Writes rows (dicts of canonical columns) to a temporary name; `close` gives it its own."""

    def __init__(self, out, framework):
        self.out, self.framework = Path(out), framework
        self.temporary = self.out.with_name(f".{self.out.name}.{os.getpid()}.tmp")
        self.writer = self.schema = None
        self.responses = self.tokens = 0

    def add(self, rows):
        """Writes the responses of one step."""
        rows = [checked(row) for row in rows]
        if not rows:
            return
        if self.writer is None:
            self._open(rows)
        unknown = {name for row in rows for name in row if row[name] is not None} - set(self.schema.names)
        if unknown:
            print(f"left out, not in the first step: {', '.join(sorted(unknown))}", file=sys.stderr)
        columns = [pa.array([row.get(f.name) for row in rows], f.type) for f in self.schema]
        self.writer.write_table(pa.Table.from_arrays(columns, schema=self.schema), ROWS_PER_GROUP)
        self.responses += len(rows)
        self.tokens += sum(len(row["token_id"]) for row in rows)

    def _open(self, rows):
        there = {name for row in rows for name in row if row[name] is not None}
        types = RESPONSE | {name: pa.list_(kind) for name, kind in TOKEN.items()}
        types |= {name: pa.float32() for name in sorted(there) if name.startswith("reward/")}
        metadata = {"schema_version": SCHEMA_VERSION, "framework": self.framework}
        self.schema = pa.schema([(n, t) for n, t in types.items() if n in there], metadata=metadata)
        leaves = {f"{f.name}.list.element" if pa.types.is_list(f.type) else f.name: f.type for f in self.schema}
        floats = [p for p, t in leaves.items() if pa.types.is_floating(getattr(t, "value_type", t))]
        self.writer = pq.ParquetWriter(
            self.temporary, self.schema, compression="zstd", compression_level=3,
            use_dictionary=[p for p in leaves if p not in floats], use_byte_stream_split=floats,
        )  # fmt: skip

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if self.writer is not None:
            self.writer.close()
        if kind is None and self.writer is not None:
            os.replace(self.temporary, self.out)
        elif self.temporary.exists():
            self.temporary.unlink()
        if kind is None and self.writer is None:
            raise ConvertError("no responses found: nothing was written")


def checked(row):
    """A row whose token columns all have one value a token."""
    length = len(row["token_id"])
    for name in TOKEN:
        values = row.get(name)
        if values is not None and len(values) != length:
            raise ConvertError(
                f"step {row.get('step')}, sample {row.get('sample_id')}: {len(values)} values of {name}, "
                f"but {length} response tokens"
            )
    row.setdefault("response_len", length)
    if row.get("prompt_ids") is not None:
        row.setdefault("prompt_len", len(row["prompt_ids"]))
    return row


def main(description, framework, rows_of_file, add_arguments=None):
    """The command line of a converter: FILE… -o out.parquet."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("inputs", nargs="+", metavar="FILE", help="files or folders of dumps")
    parser.add_argument("-o", "--output", required=True, help="the Parquet file to write")
    if add_arguments:
        add_arguments(parser)
    arguments = parser.parse_args()
    try:
        with Writer(arguments.output, framework) as writer:
            for rows in rows_of_file(arguments):
                writer.add(rows)
    except (ConvertError, OSError) as error:
        sys.exit(f"error: {error}")
    print(f"{writer.responses} responses, {writer.tokens} tokens -> {arguments.output}", file=sys.stderr)


def files(inputs, *patterns):
    """The files behind the arguments; folders are searched for the patterns, in natural order."""
    found = []
    for given in map(Path, inputs):
        if given.is_dir():
            inside = {f for p in patterns for f in given.rglob(p)}
            found += sorted(inside, key=lambda f: [int(t) if t.isdigit() else t for t in re.split(r"(\d+)", str(f))])
        elif given.exists():
            found.append(given)
        else:
            raise ConvertError(f"{given}: no such file or folder")
    if not found:
        raise ConvertError(f"no {' or '.join(patterns)} under {', '.join(map(str, inputs))}")
    return found
