"""Per-token logs of an RL run, as stapo-analyze reads them: copy this file beside your trainer.

    log = TokenLog("token_log", vocab_size=151936, temperature=1.0, top_p=1.0, algorithm="grpo",
                   every=10, responses=256)
    if log.wants(step):
        stats = logit_stats(logits, response_ids, temperature=1.0)      # logits (B, T, V)
        log.add_batch(step, length=mask.sum(-1), group_id=group, reward=reward, advantage=advantage,
                      token_id=response_ids, logprob=stats.logprob, entropy=stats.entropy,
                      sum_pi_sq=stats.sum_pi_sq)
        log.finish(step)                                                # the step is complete
    $ stapo-analyze token_log --report out/

A row is a response, token columns are lists. Every rank of a step writes its own file,
`token_log/step_00000010/rank_00000.parquet`, under a temporary name first; the last rank adds
`STABLE`, without which stapo-analyze leaves the step alone. Needs pyarrow and numpy; torch only for tensors.
"""

import hashlib
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

# Canonical columns, see "What a log needs" in the project's README.
RESPONSE = {
    "update": pa.int32(), "group_id": pa.string(), "sample_id": pa.string(), "source": pa.string(),
    "policy_version": pa.int64(), "reward": pa.float32(), "advantage_seq": pa.float32(),
    "finish_reason": pa.string(), "truncated": pa.bool_(), "prompt_ids": pa.list_(pa.int32()),
    "prompt_text": pa.string(), "response_text": pa.string(),
}  # fmt: skip
TOKEN = {
    "token_id": pa.int32(), "token_text": pa.string(), "logprob": pa.float32(),
    "logprob_rollout": pa.float32(), "logprob_new": pa.float32(), "logprob_ref": pa.float32(),
    "entropy": pa.float32(), "advantage": pa.float32(), "token_reward": pa.float32(),
    "mask": pa.bool_(), "is_weight": pa.float32(), "kl": pa.float32(), "clipped": pa.bool_(),
    "grad_norm": pa.float32(), "sum_pi_sq": pa.float64(), "sum_pi_sq_log_pi": pa.float64(),
    "logprob_after": pa.float32(), "entropy_after": pa.float32(), "turn": pa.int32(),
}  # fmt: skip
SCHEMA_VERSION = "1"


class TokenLog:
    """Writes `folder/step_N/rank_R.parquet`, one step after the other.

    every          log the steps that it divides
    responses      log about that many responses a step, over all ranks: whole groups, by a hash of step and
                   group. Where a group is spread over ranks, it can be cut at the end of a rank's share.
    rank, ranks    this process, and how many write into `folder`
    buffer_tokens  kept in memory before they go to disk; with `responses`, the chosen ones are kept instead
    metadata       anything else worth knowing: clip_low, clip_high, tokenizer, loss_type, …
    """

    def __init__(self, folder, *, vocab_size, temperature, top_p=1.0, algorithm="grpo", framework="",
                 every=1, responses=None, rank=0, ranks=1, buffer_tokens=1 << 20, **metadata):  # fmt: skip
        if every < 1 or (responses is not None and responses < 1) or not 0 <= rank < ranks:
            raise ValueError(f"every={every}, responses={responses}, rank={rank} of {ranks}: impossible")
        self.folder, self.every, self.rank, self.ranks = Path(folder), every, rank, ranks
        self.buffer_tokens, self.share = buffer_tokens, None if responses is None else max(1, responses // ranks)
        known = {"vocab_size": vocab_size, "temperature": temperature, "top_p": top_p, "algorithm": algorithm}
        known |= {"framework": framework, "schema_version": SCHEMA_VERSION} | metadata
        self.metadata = {name: str(value) for name, value in known.items() if value not in (None, "")}
        self._reset()

    def wants(self, step):
        """Whether this step is logged. Ask before computing anything for the log."""
        return step % self.every == 0

    def add(self, step, **columns):
        """One response: scalars, and a list a token column. Columns that are None are left out."""
        if self.wants(step):
            self._begin(step)
            self._keep(_row(step, columns))

    def add_batch(self, step, *, length, **columns):
        """Many responses, right-padded: (B, T) token columns are cut to `length` (B,)."""
        if not self.wants(step):
            return
        self._begin(step)
        length = [int(n) for n in _array(length)]
        arrays = {name: _array(values) for name, values in columns.items() if values is not None}
        wrong = [f"{name} ({len(values)})" for name, values in arrays.items() if len(values) != len(length)]
        if wrong:
            raise ValueError(f"step {step}: {', '.join(wrong)}: not as many rows as lengths ({len(length)})")
        for i, n in enumerate(length):
            row = {name: values[i] for name, values in arrays.items()}
            self._keep(_row(step, {name: v[:n] if name in TOKEN and np.ndim(v) else v for name, v in row.items()}))

    def finish(self, step=None):
        """Gives the step's file its name; the last rank to finish (with or without responses) marks the step."""
        if step is not None and self.wants(step):
            self._begin(step)
        if self.step is None:
            return
        rows = [row for _, group in sorted(self.groups.values(), key=lambda g: g[0]) for row in group]
        self._write(rows + self.pending)
        folder = self._folder()
        if self.writer is not None:
            self.writer.add_key_value_metadata({"responses_seen": str(self.seen)})
            self.writer.close()
            os.replace(self.temporary, folder / f"rank_{self.rank:05}.parquet")
        (folder / f".rank_{self.rank:05}.done").touch()
        if len(list(folder.glob(".rank_*.done"))) >= self.ranks:
            (folder / "STABLE").touch()
        self._reset()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            return self.finish()
        if self.writer is not None:
            self.writer.close()
            self.temporary.unlink(missing_ok=True)
        self._reset()

    def _reset(self):
        self.step = self.writer = self.schema = self.bar = None
        self.pending, self.groups = [], {}
        self.seen = self.kept = self.pending_tokens = 0

    def _folder(self):
        return self.folder / f"step_{self.step:08}"

    def _begin(self, step):
        """Opens the step; one that was logged before (a resumed run) is written anew."""
        if step == self.step:
            return
        self.finish()
        self.step = step
        folder = self._folder()
        folder.mkdir(parents=True, exist_ok=True)
        for stale in ("STABLE", f".rank_{self.rank:05}.done", f"rank_{self.rank:05}.parquet"):
            (folder / stale).unlink(missing_ok=True)

    def _keep(self, row):
        self.seen += 1
        if self.share is None:
            self.pending.append(row)
            self.pending_tokens += len(row["token_id"])
            if self.pending_tokens >= self.buffer_tokens:
                self._write(self.pending)
                self.pending, self.pending_tokens = [], 0
            return
        # The groups of lowest hash that fit. One that is dropped bars all of higher hash, so that
        # the choice does not depend on the order of arrival.
        key = row.get("group_id", row.get("sample_id", str(self.seen)))
        place = hashlib.blake2b(f"{self.step}/{key}".encode(), digest_size=8).hexdigest()
        if self.bar is not None and place >= self.bar:
            return
        self.groups.setdefault(place, (self.seen, []))[1].append(row)
        self.kept += 1
        while self.kept > self.share and len(self.groups) > 1:
            self.bar = max(self.groups)
            self.kept -= len(self.groups.pop(self.bar)[1])

    def _write(self, rows):
        if not rows:
            return
        there = {name for row in rows for name in row}
        if self.writer is None:
            types = {"step": pa.int64()} | RESPONSE | {name: pa.list_(t) for name, t in TOKEN.items()}
            types |= {name: pa.float32() for name in sorted(there) if name.startswith("reward/")}
            self.schema = pa.schema([(n, t) for n, t in types.items() if n in there], self.metadata)
            self.temporary = self._folder() / f".rank_{self.rank:05}.parquet.tmp"
            self.writer = pq.ParquetWriter(self.temporary, self.schema, compression="zstd", **_encodings(self.schema))
        late = there - set(self.schema.names)
        if late:
            raise ValueError(f"step {self.step}: {', '.join(sorted(late))} was not in the step's first responses")
        columns = [pa.array([row.get(f.name) for row in rows], f.type) for f in self.schema]
        self.writer.write_table(pa.Table.from_arrays(columns, schema=self.schema))


def _array(values):
    """A tensor on any device, an array or a list as numpy; lists of unequal length stay lists."""
    if hasattr(values, "detach"):
        values = values.detach()
        return (values.float() if str(values.dtype) == "torch.bfloat16" else values).cpu().numpy()
    if isinstance(values, (list, tuple)) and len({np.size(v) for v in values}) > 1:
        return [_array(v) if np.ndim(v) else v for v in values]
    return np.asarray(values)


def _row(step, columns):
    """A row whose token columns all have one value a token."""
    row = {"step": int(step)} | {name: value for name, value in columns.items() if value is not None}
    if np.ndim(row.get("advantage", [])) == 0:  # one for the whole response
        row["advantage_seq"] = row.pop("advantage")
    unknown = [n for n in row if n != "step" and n not in RESPONSE and n not in TOKEN and not n.startswith("reward/")]
    if unknown or "token_id" not in row:
        known = ", ".join([*RESPONSE, *TOKEN])
        raise ValueError(f"unknown columns: {unknown or 'none'}; token_id is needed; known: {known}, reward/<name>")
    for name, value in row.items():
        kind = TOKEN.get(name) or RESPONSE.get(name)
        if name in TOKEN or name == "prompt_ids":
            dtype = np.int32 if name == "prompt_ids" else object if kind == pa.string() else kind.to_pandas_dtype()
            row[name] = value = np.array(_array(value), dtype)  # a copy: a view would keep the batch alive
            if name in TOKEN and np.shape(value) != np.shape(row["token_id"]):
                where = f"step {step}, group {row.get('group_id')}, sample {row.get('sample_id')}"
                raise ValueError(f"{where}: {name} has shape {np.shape(value)}, token_id {np.shape(row['token_id'])}")
        elif name != "step":
            value = _array(value)
            row[name] = str(value) if kind == pa.string() else value.item()
    return row


def _encodings(schema):
    """Floats do not repeat: a dictionary only costs, splitting their bytes saves a tenth."""
    leaves = {f"{f.name}.list.element" if pa.types.is_list(f.type) else f.name: f.type for f in schema}
    floats = [p for p, t in leaves.items() if pa.types.is_floating(getattr(t, "value_type", t))]
    return {"use_dictionary": [p for p in leaves if p not in floats], "use_byte_stream_split": floats}


# ---------------------------------------------------------------- from logits


class LogitStats(NamedTuple):
    """Of each position, for the distribution π = softmax(logits / T) and the token k there."""

    logprob: object  # ln π_k
    entropy: object  # −Σ π ln π, nats
    sum_pi_sq: object  # Σ π², in double precision: what is made of it cancels
    sum_pi_sq_log_pi: object  # Σ π² ln π
    score_norm: object  # ‖e_k − π‖; the gradient of the logits has the norm |w| times this, w = ρA


def logit_stats(logits, token_ids, *, temperature=1.0, chunk_values=1 << 24):
    """What the log needs of logits (…, V) at the tokens (…), torch or numpy.

    Works through `chunk_values` logits at a time, in single precision (double if the logits are),
    with four temporaries of that size: 256 MB at the default, whatever the batch. Nothing cancels:
    the largest probability is 1/(1 + rest), and the *other* tokens' squares are summed directly,
    since 1 − 2p + Σπ² is noise in single precision.
    """
    if hasattr(logits, "detach"):
        from torch import cat

        one, tokens = _chunk_in_torch, token_ids.reshape(-1).long()
    else:
        one, cat, logits, tokens = _chunk_in_numpy, np.concatenate, np.asarray(logits), np.ravel(token_ids).astype(int)
    flat = logits.reshape(-1, logits.shape[-1])
    if len(tokens) != len(flat):
        raise ValueError(f"{len(tokens)} tokens for {len(flat)} positions of logits")
    rows = max(1, chunk_values // flat.shape[-1])
    parts = [one(flat[i : i + rows], tokens[i : i + rows], temperature) for i in range(0, max(1, len(flat)), rows)]
    return LogitStats(*(cat(part).reshape(np.shape(token_ids)) for part in zip(*parts)))


def _chunk_in_torch(logits, tokens, temperature):
    import torch

    with torch.no_grad():
        x = logits.detach().to(torch.promote_types(logits.dtype, torch.float32), copy=True).div_(temperature)
        double = x.dtype if x.device.type == "mps" else torch.float64  # MPS has no double precision
        k = tokens.unsqueeze(-1)
        top, mode = x.max(-1, keepdim=True)
        x.sub_(top)
        e = x.exp()
        log_z = e.scatter_(-1, mode, 0).sum(-1, keepdim=True).log1p_()  # ln Σ exp(x − max)
        e.scatter_(-1, mode, 1)
        logprob = x.gather(-1, k) - log_z
        x.masked_fill_(e == 0, 0)  # 0 · ∞ is 0 here
        pi = e.mul_(log_z.neg().exp())
        entropy = log_z - (pi * x).sum(-1, keepdim=True)
        x.sub_(log_z).mul_(pi).mul_(pi)
        s = x.sum(-1, keepdim=True)
        q = -torch.expm1(logprob)
        others = pi.scatter_(-1, k, 0).square_().sum(-1, keepdim=True)
        # p² of the log-probability as it is stored, so that a reader can take it off again.
        c = others.to(double) + (2 * logprob.float().to(double)).exp()
        norm = (q * q + others).sqrt()
        return [v.squeeze(-1) for v in (logprob, entropy, c, s.to(double), norm)]


def _chunk_in_numpy(logits, tokens, temperature):
    dtype = np.promote_types(logits.dtype, np.float32)
    x = np.array(logits, dtype) / dtype.type(temperature)
    row = np.arange(len(x))
    mode = x.argmax(-1)
    x -= x[row, mode, None]
    e = np.exp(x)
    e[row, mode] = 0
    log_z = np.log1p(e.sum(-1))
    e[row, mode] = 1
    logprob = x[row, tokens] - log_z
    x[e == 0] = 0
    e *= np.exp(-log_z)[:, None]
    entropy = log_z - (e * x).sum(-1)
    x -= log_z[:, None]
    x *= e
    x *= e
    s = x.sum(-1)
    q = -np.expm1(logprob)
    e[row, tokens] = 0
    others = np.square(e, out=e).sum(-1)
    c = others.astype(np.float64) + np.exp(2 * logprob.astype(np.float32).astype(np.float64))
    return logprob, entropy, c, s.astype(np.float64), np.sqrt(q * q + others)
