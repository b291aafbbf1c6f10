"""Makes assets/demo/run.parquet, the log inside of `stapo-analyze demo`, from the sample run.

Every seventh group of every step of notebooks-data/grpo.parquet, without the columns that the main
job can do without; numbers are rounded to 13 bits of mantissa (a relative 6e-5), so that the file
stays below 500 kB. Needs numpy and pyarrow:

    python assets/demo/make_demo.py
"""

import pathlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEPT_BITS = 13
COLUMNS = ["step", "group_id", "sample_id", "reward", "advantage", "prompt_ids", "token_ids"]
COLUMNS += ["logprob", "entropy", "grad_norm"]


def rounded(values):
    drop = 23 - KEPT_BITS
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32).astype(np.uint64)
    bits = ((bits + (1 << (drop - 1))) >> drop) << drop
    return bits.astype(np.uint32).view(np.float32)


def main():
    table = pq.read_table(ROOT / "notebooks-data" / "grpo.parquet", columns=COLUMNS)
    groups = table["group_id"].to_numpy()
    steps = table["step"].to_numpy()
    kept = np.zeros(len(groups), dtype=bool)
    for step in np.unique(steps):
        of_step = steps == step
        kept |= of_step & np.isin(groups, np.unique(groups[of_step])[::7])
    # The program writes the tokenizer beside the log.
    metadata = {**table.schema.metadata, b"tokenizer": b"tokenizer.json"}
    table = table.filter(pa.array(kept))
    for name in ["logprob", "entropy", "grad_norm"]:
        column = table[name].combine_chunks()
        lists = pa.ListArray.from_arrays(column.offsets, pa.array(rounded(column.values.to_numpy())))
        table = table.set_column(table.schema.get_field_index(name), name, lists)
    table = table.replace_schema_metadata(metadata)
    leaves = {f"{name}.list.element": "BYTE_STREAM_SPLIT" for name in ["logprob", "entropy", "grad_norm"]}
    path = ROOT / "assets" / "demo" / "run.parquet"
    repeated = ["prompt_ids.list.element", "token_ids.list.element", "step", "group_id", "sample_id", "reward", "advantage"]
    pq.write_table(
        table,
        path,
        compression="zstd",
        compression_level=19,
        column_encoding=leaves,
        use_dictionary=repeated,
    )
    print(table.num_rows, "responses,", path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
