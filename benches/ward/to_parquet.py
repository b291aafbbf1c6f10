#!/usr/bin/env python3
"""Logs of train.py as Parquet (needs numpy and pyarrow): to_parquet.py FOLDER"""
import pathlib
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

KINDS = {"mask": pa.bool_(), "turn": pa.int16(), "token_ids": pa.int32(), "prompt_ids": pa.int32()}


def table(columns):
    made = {}
    for name in columns.files:
        kind, _, name_of = name.partition("/")
        if kind == "value":
            values = columns[name]
            made[name_of] = pa.array(values.astype(np.float32) if values.dtype == np.float64 else values)
        elif kind == "list":
            ends = np.concatenate([[0], np.cumsum(columns[f"length/{name_of}"])]).astype(np.int32)
            values = pa.array(columns[name]).cast(KINDS.get(name_of, pa.float32()))
            made[name_of] = pa.ListArray.from_arrays(pa.array(ends), values)
    made["finish_reason"] = pa.array(np.where(columns["value/truncated"], "length", "stop"))
    return pa.table(made).replace_schema_metadata({"schema_version": "1", "vocab_size": "256", "framework": "torch"})


for path in sorted(pathlib.Path(sys.argv[1]).glob("*.npz")):
    pq.write_table(table(np.load(path)), path.with_suffix(".parquet"), compression="zstd")
