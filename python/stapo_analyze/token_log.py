"""The writer of token logs, for any trainer.

    log = TokenLog("token_log", vocab_size=151936, temperature=1.0, algorithm="grpo", every=10, responses=256)
    if log.wants(step):
        stats = logit_stats(logits, response_ids, temperature=1.0)      # logits (B, T, V)
        log.add_batch(step, length=mask.sum(-1), group_id=group, reward=reward, advantage=advantage,
                      token_id=response_ids, logprob=stats.logprob, entropy=stats.entropy,
                      sum_pi_sq=stats.sum_pi_sq)
        log.finish(step)                                                # the step is complete
    $ stapo-analyze token_log --report out/

A row is a response, token columns are lists. Every rank of a step writes its own file,
`token_log/step_00000010/rank_00000.parquet`, under a temporary name first; the last rank adds
`STABLE`, without which stapo-analyze leaves the step alone.
"""

import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from . import run_folder
from .columns import SCHEMA_VERSION, TOKEN, encodings, schema
from .rows import array, row


class TokenLog:
    """Writes `folder/step_N/rank_R.parquet`, one step after the other.

    every          log the steps that it divides
    responses      log about that many responses a step, over all ranks: whole groups, by a hash of step and
                   group. Where a group is spread over ranks, it can be cut at the end of a rank's share.
    rank, ranks    this process, and how many write into `folder`
    run_id         names the run in every file; fresh if not given, but the same on all ranks
    tokenizer      saved beside the log as tokenizer.json: a transformers tokenizer, or a file
    buffer_tokens  kept in memory before they go to disk; with `responses`, the chosen ones are kept instead
    metadata       anything else worth knowing: clip_low, clip_high, loss_type, …

    A folder that holds a log already: a training that begins at a later step goes on with it, and what
    was logged from that step on is set aside; one that begins before its first step sets all of it aside.
    """

    def __init__(self, folder: "str | os.PathLike[str]", *, vocab_size: int, temperature: float, top_p: float = 1.0,
                 algorithm: str = "grpo", framework: str = "", every: int = 1, responses: "int | None" = None,
                 rank: int = 0, ranks: int = 1, run_id: "str | None" = None, tokenizer: Any = None,
                 buffer_tokens: int = 1 << 20, **metadata: Any) -> None:  # fmt: skip
        if every < 1 or (responses is not None and responses < 1) or not 0 <= rank < ranks:
            raise ValueError(f"every={every}, responses={responses}, rank={rank} of {ranks}: impossible")
        self.folder, self.every = Path(folder), every
        self.chosen: range | None = None
        self.rank, self.ranks, self.run_id, self.tokenizer = rank, ranks, run_id, tokenizer
        self.buffer_tokens, self.share = buffer_tokens, None if responses is None else max(1, responses // ranks)
        known = {"vocab_size": vocab_size, "temperature": temperature, "top_p": top_p, "algorithm": algorithm}
        known |= {"framework": framework, "schema_version": SCHEMA_VERSION} | metadata
        self.metadata = {name: str(value) for name, value in known.items() if value not in (None, "")}
        self.started = False
        self._reset()

    def wants(self, step: int) -> bool:
        """Whether this step is logged. Ask before computing anything for the log."""
        return step % self.every == 0 if self.chosen is None else step in self.chosen

    def choose(self, first: int, span: int) -> bool:
        """One generation feeds the steps from `first` on, `span` of them: all are logged if `every` divides one
        of them, else none. Without it, several passes over one generation would be logged in part: always the
        first one, say."""
        last = first + span
        self.chosen = range(first, last) if -(-first // self.every) * self.every < last else range(0)
        return len(self.chosen) > 0

    def start(self, step: int) -> None:
        """The training begins at `step`: claims the folder. The first response does it, too. With several ranks,
        call it on rank 0 first, and give the others its `run_id`."""
        if self.started:
            return
        if self.rank > 0 and self.run_id is None:
            raise ValueError(f"rank {self.rank} of {self.ranks} does not know the run: give all ranks the same run_id")
        self.started = True
        if self.rank == 0:
            self.run_id = run_folder.claim(self.folder, step, self.run_id)
            run_folder.save_tokenizer(self.folder, self.tokenizer)
        self.metadata["run_id"] = str(self.run_id)
        if self.tokenizer is not None:
            self.metadata.setdefault("tokenizer", run_folder.TOKENIZER)

    def add(self, step: int, **columns: Any) -> None:
        """One response: scalars, and a list a token column. Columns that are None are left out."""
        if self.wants(step):
            self._begin(step)
            self._keep(row(step, columns))

    def add_batch(self, step: int, *, length: Any, **columns: Any) -> None:
        """Many responses, right-padded: (B, T) token columns are cut to `length` (B,)."""
        if not self.wants(step):
            return
        self._begin(step)
        length = [int(n) for n in array(length)]
        arrays = {name: array(values) for name, values in columns.items() if values is not None}
        wrong = [f"{name} ({len(values)})" for name, values in arrays.items() if len(values) != len(length)]
        if wrong:
            raise ValueError(f"step {step}: {', '.join(wrong)}: not as many rows as lengths ({len(length)})")
        for i, n in enumerate(length):
            values = {name: column[i] for name, column in arrays.items()}
            self._keep(row(step, {name: v[:n] if name in TOKEN and np.ndim(v) else v for name, v in values.items()}))

    def finish(self, step: "int | None" = None) -> None:
        """Gives the step's file its name; the last rank to finish (with or without responses) marks the step."""
        if step is not None and self.wants(step):
            self._begin(step)
        if self.step is None:
            return
        rows = [row for _, group in sorted(self.groups.values(), key=lambda g: g[0]) for row in group]
        self._write(rows + self.pending)
        folder = run_folder.step_folder(self.folder, self.step)
        if self.writer is not None:
            self.writer.add_key_value_metadata({"responses_seen": str(self.seen)})
            self.writer.close()
            os.replace(self.temporary, folder / f"rank_{self.rank:05}.parquet")
        (folder / f".rank_{self.rank:05}.done").touch()
        if len(list(folder.glob(".rank_*.done"))) >= self.ranks:
            (folder / "STABLE").touch()
        self._reset()

    def __enter__(self) -> "TokenLog":
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            self.finish()
            return
        if self.writer is not None:
            self.writer.close()
            self.temporary.unlink(missing_ok=True)
        self._reset()

    def _reset(self):
        self.step = self.writer = self.schema = self.bar = None
        self.pending, self.groups = [], {}
        self.seen = self.kept = self.pending_tokens = 0

    def _begin(self, step):
        """Opens the step; what this rank wrote of it before is written anew."""
        if step == self.step:
            return
        self.finish()
        self.start(step)
        self.step = step
        folder = run_folder.step_folder(self.folder, step)
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
        generation = self.chosen.start if self.chosen else self.step  # the same groups in all passes
        place = hashlib.blake2b(f"{generation}/{key}".encode(), digest_size=8).hexdigest()
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
            self.schema = schema(there, self.metadata)
            self.temporary = run_folder.step_folder(self.folder, self.step) / f".rank_{self.rank:05}.parquet.tmp"
            self.writer = pq.ParquetWriter(self.temporary, self.schema, compression="zstd", **encodings(self.schema))
        elif not there <= set(self.schema.names):
            self._widen(there)
        columns = [pa.array([row.get(f.name) for row in rows], f.type) for f in self.schema]
        self.writer.write_table(pa.Table.from_arrays(columns, schema=self.schema))

    def _widen(self, there):
        """Writes what is on disk anew with columns that came late: a log must not stop the training."""
        self.writer.close()
        narrow = self.temporary.with_suffix(".narrow")
        os.replace(self.temporary, narrow)
        self.schema = schema(there | set(self.schema.names), self.metadata)
        self.writer = pq.ParquetWriter(self.temporary, self.schema, compression="zstd", **encodings(self.schema))
        try:
            with pq.ParquetFile(narrow) as before:
                for number in range(before.num_row_groups):
                    group = before.read_row_group(number)
                    known = set(group.schema.names)
                    columns = [
                        group[f.name].combine_chunks() if f.name in known else pa.nulls(len(group), f.type)
                        for f in self.schema
                    ]
                    self.writer.write_table(pa.Table.from_arrays(columns, schema=self.schema))
        finally:
            narrow.unlink(missing_ok=True)
