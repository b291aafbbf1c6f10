"""Makes the log inside of `stapo-analyze demo`: half of a real run of SmolLM2-135M-Instruct (Apache-2.0) whose trainer
saw prompts without the system message.

Every second group of every step of notebooks-data/real/other_prompt.parquet; numbers are rounded to 13 bits of mantissa
(a relative 6e-5), and of the tokenizer only the tokens that occur are kept, so that both stay below 500 kB. Needs numpy and
pyarrow:

    python assets/demo/make_demo.py
"""

import json
import pathlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEPT_BITS = 13
DATA = ROOT / "notebooks-data" / "real"
NUMBERS = ["logprob", "logprob_rollout", "entropy"]


def rounded(values):
    drop = 23 - KEPT_BITS
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32).astype(np.uint64)
    bits = ((bits + (1 << (drop - 1))) >> drop) << drop
    return bits.astype(np.uint32).view(np.float32)


def main():
    table = pq.read_table(DATA / "other_prompt.parquet")
    groups = table["group_id"].to_numpy()
    steps = table["step"].to_numpy()
    kept = np.zeros(len(groups), dtype=bool)
    for step in np.unique(steps):
        of_step = steps == step
        kept |= of_step & np.isin(groups, np.unique(groups[of_step])[::2])
    # The program writes the tokenizer beside the log.
    metadata = {**table.schema.metadata, b"tokenizer": b"tokenizer.json"}
    table = table.filter(pa.array(kept))
    for name in NUMBERS:
        column = table[name].combine_chunks()
        lists = pa.ListArray.from_arrays(column.offsets, pa.array(rounded(column.values.to_numpy())))
        table = table.set_column(table.schema.get_field_index(name), name, lists)
    table = table.replace_schema_metadata(metadata)
    leaves = {f"{name}.list.element": "BYTE_STREAM_SPLIT" for name in NUMBERS}
    path = ROOT / "assets" / "demo" / "run.parquet"
    lists = ["prompt_ids.list.element", "token_ids.list.element", "mask.list.element"]
    repeated = lists + [field.name for field in table.schema if not str(field.type).startswith("list")]
    pq.write_table(
        table,
        path,
        compression="zstd",
        compression_level=19,
        column_encoding=leaves,
        use_dictionary=repeated,
    )
    used = set()
    for name in ["prompt_ids", "token_ids"]:
        used.update(table[name].combine_chunks().values.to_pylist())
    tokenizer = json.loads((DATA / "tokenizer.json").read_text())
    tokenizer["added_tokens"] = [token for token in tokenizer["added_tokens"] if token["id"] in used]
    model = tokenizer["model"]
    model["vocab"] = {text: i for text, i in model["vocab"].items() if i in used}
    model["merges"] = []
    (ROOT / "assets" / "demo" / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False))
    print(table.num_rows, "responses,", path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
