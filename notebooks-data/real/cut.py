"""Cuts the real runs of this folder out of the logs that training wrote.

    python cut.py SOURCE [DESTINATION]

SOURCE holds the whole logs (healthy.parquet, ..., arms/grpo_1.parquet, ..., tokenizer.json). Every response is kept, no
value is changed; columns go that a run's fault does not show in, so that all of them together stay below 12 MB. What is left
is enough for the same state and the same causes. Needs pyarrow.
"""

import json
import pathlib
import sys

import pyarrow.parquet as pq

# What every run keeps: who, what it was paid, what was drawn, and what trainer and sampler thought of it.
SCALARS = (
    "step group_id sample_id update policy_version task reward reward/correct reward/format advantage "
    "truncated finish_reason"
).split()
LISTS = "prompt_ids token_ids mask turn logprob_rollout logprob entropy".split()

# What some need beside it.
RUNS = {
    "healthy": ["logprob_new", "logprob_ref"],  # what the sick ones are held against has all of it
    "healthy_two_turns_lag1": [],
    "other_prompt": [],
    "dropout_1": ["logprob_new"],  # update 0 has the weights that logprob was computed with
    "kl_weight_1": ["logprob_new", "logprob_ref"],  # the pull is a slope of one on the other
    "coin_json": [],
    "weights_never_sent": ["logprob_ref"],  # the sampler stays where the reference is
    "arms/grpo_1": [],
    "arms/stapo_1": [],
}


# Log-probabilities and entropies compress better byte by byte.
ENCODING = "BYTE_STREAM_SPLIT"


def cut(source: pathlib.Path, target: pathlib.Path, extra: list[str]) -> int:
    """Writes the columns of one run, one row group a file; returns its size in bytes."""
    table = pq.read_table(source)
    columns = [name for name in SCALARS + LISTS + extra if name in table.column_names]
    floats = [f"{name}.list.element" for name in columns if name.startswith(("logprob", "entropy"))]
    target.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(
        table.select(columns),
        target,
        compression="zstd",
        compression_level=19,
        # Words and small numbers repeat; log-probabilities hardly do.
        use_dictionary=[name for name in SCALARS if name in columns] + [f"{name}.list.element" for name in LISTS[:4]],
        column_encoding={name: ENCODING for name in floats},
        row_group_size=table.num_rows,
        data_page_size=1 << 20,
    )
    return target.stat().st_size



def main() -> None:
    source = pathlib.Path(sys.argv[1])
    target = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else pathlib.Path(__file__).parent
    total = 0
    for name, extra in RUNS.items():
        size = cut(source / f"{name}.parquet", target / f"{name}.parquet", extra)
        total += size
        print(f"{name:24s} {size:>9,d}")
    # The same tokenizer, without the blanks between its words.
    words = json.loads((source / "tokenizer.json").read_text(encoding="utf-8"))
    path = target / "tokenizer.json"
    path.write_text(json.dumps(words, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
    total += path.stat().st_size
    print(f"{'tokenizer.json':24s} {path.stat().st_size:>9,d}\n{'in all':24s} {total:>9,d}")


if __name__ == "__main__":
    main()
