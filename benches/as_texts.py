"""Writes a log of tokens as frameworks write texts: verl's `rollout_data_dir` and TRL's `log_completions`.

    python benches/as_texts.py RUN.parquet OUT [--tokenizer tokenizer.json]

OUT/verl/{step}.jsonl and OUT/trl/completions_{step}.parquet hold what those two would have written of the run: each response
once, its texts (decoded by the tokenizer, else its ids as words), its reward and parts; TRL's has the advantage and no
reward but its functions'.
"""

import argparse
import json
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def decoder(path):
    """From ids to texts, of a byte-level tokenizer.json."""
    if path is None:
        return lambda ids: " ".join(f"w{i}" for i in ids)
    with open(path, encoding="utf-8") as file:
        config = json.load(file)
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {chr(byte): byte for byte in plain}
    rest = [byte for byte in range(256) if byte not in plain]
    letters.update({chr(256 + at): byte for at, byte in enumerate(rest)})
    pieces = {i: bytes(letters[c] for c in piece) for piece, i in config["model"]["vocab"].items() if all(c in letters for c in piece)}
    special = {token["id"] for token in config["added_tokens"]}
    return lambda ids: b"".join(pieces.get(i, b"") for i in ids if i not in special).decode("utf-8", "replace")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("run")
    arguments.add_argument("out")
    arguments.add_argument("--tokenizer")
    arguments = arguments.parse_args()
    text = decoder(arguments.tokenizer)
    table = pq.read_table(arguments.run)
    frame = table.to_pandas()
    named = {"token_ids": "token_id"}
    frame = frame.rename(columns=named)
    keys = [key for key in ("step", "group_id", "sample_id") if key in frame]
    if "update" in frame and "sample_id" in frame:
        frame = frame.drop_duplicates(keys)
    parts = [name for name in frame if name.startswith("reward/")]
    slices = [name for name in ("task", "source", "finish_reason") if name in frame]
    verl, trl = os.path.join(arguments.out, "verl"), os.path.join(arguments.out, "trl")
    os.makedirs(verl, exist_ok=True)
    os.makedirs(trl, exist_ok=True)
    if "advantage" in frame and not np.isscalar(frame["advantage"].iloc[0]):
        frame["advantage"] = [float(np.nanmax(a)) if len(a) and np.isfinite(a).any() else float("nan") for a in frame["advantage"]]
    has_prompts = "prompt_ids" in frame
    # TRL's reward is a weighted sum of what its functions gave: parts that make no such sum are none of them.
    if parts:
        values, rewards = frame[parts].to_numpy(float), frame["reward"].to_numpy(float)
        known = np.isfinite(values).all(1) & np.isfinite(rewards)
        weights = np.linalg.lstsq(values[known], rewards[known], rcond=None)[0]
        made = bool(np.abs(values[known] @ weights - rewards[known]).max() < 1e-4)
    functions = parts if parts and made else []
    for step, rows in frame.groupby("step", sort=True):
        prompts = [text(ids) for ids in rows["prompt_ids"]] if has_prompts else [f"question {group}" for group in rows["group_id"]]
        answers = [text(ids) for ids in rows["token_id"]]
        with open(os.path.join(verl, f"{step}.jsonl"), "w", encoding="utf-8") as file:
            for at, (prompt, answer) in enumerate(zip(prompts, answers)):
                row = rows.iloc[at]
                line = {"input": prompt, "output": answer, "gts": None, "score": float(row["reward"]), "step": int(step)}
                line.update({name.removeprefix("reward/"): float(row[name]) for name in parts})
                line.update({name: row[name] for name in slices})
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
        columns = {"step": [int(step)] * len(rows), "prompt": prompts, "completion": answers}
        for name in functions or ["reward"]:
            columns[name.removeprefix("reward/") if functions else "reward_func"] = rows[name].astype(float).tolist()
        columns["advantage"] = rows["advantage"].astype(float).tolist()
        pq.write_table(pa.table(columns), os.path.join(trl, f"completions_{step:05}.parquet"))


if __name__ == "__main__":
    main()
