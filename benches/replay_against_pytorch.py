"""Whole training updates of the sample model: this program beside PyTorch, alternating in one run.

    pip install torch transformers pyarrow
    cargo bench --bench replay --no-run && python benches/replay_against_pytorch.py [rounds] [updates] [threads]
    python benches/replay_against_pytorch.py --device cuda --program target/release/stapo-analyze [...]   # replay_gpu.py

Both take mini-batches of sixteen responses from notebooks-data/grpo.parquet, compute the `dapo` loss, its
gradient, the global clip and an AdamW step, on as many threads (two), and count response tokens (prompt tokens and
padding are not counted for either). PyTorch runs eagerly on padded batches, with transformers' Qwen3, as
trainers do it. On a machine that has other work, compare with one thread and by processor seconds: PyTorch's
threads wait for each other in a loop, and such waiting counts as work.
"""

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet
import torch
from transformers import AutoModelForCausalLM

ROOT = Path(__file__).resolve().parent.parent
RESPONSES, MINIBATCHES = 16, 32


def read():
    columns = ["prompt_ids", "token_ids", "logprob", "advantage"]
    table = pyarrow.parquet.ParquetFile(ROOT / "notebooks-data/grpo.parquet").read_row_group(0, columns)
    rows = table.slice(0, RESPONSES * MINIBATCHES).to_pylist()
    return [minibatch(rows[i : i + RESPONSES]) for i in range(0, len(rows), RESPONSES)]


def minibatch(rows):
    lengths = [len(r["prompt_ids"]) + len(r["token_ids"]) for r in rows]
    shape = (len(rows), max(lengths))
    ids, attention = torch.zeros(shape, dtype=torch.long), torch.zeros(shape, dtype=torch.long)
    mask, old = torch.zeros(shape), torch.zeros(shape)
    for i, (row, length) in enumerate(zip(rows, lengths)):
        start = len(row["prompt_ids"])
        ids[i, :length] = torch.tensor(row["prompt_ids"] + row["token_ids"])
        attention[i, :length] = 1
        mask[i, start:length] = 1
        old[i, start:length] = torch.tensor(row["logprob"])
    advantage = torch.tensor([row["advantage"] for row in rows])[:, None]
    return ids, attention, mask[:, 1:], old[:, 1:], advantage


def update(model, optimizer, batch):
    ids, attention, mask, old, advantage = batch
    optimizer.zero_grad(set_to_none=True)
    logits = model(ids, attention_mask=attention).logits[:, :-1]
    chosen = torch.log_softmax(logits, -1).gather(-1, ids[:, 1:, None])[..., 0]
    ratio = ((chosen - old) * mask).exp()
    surrogate = torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.28) * advantage)
    loss = -(surrogate * mask).sum() / mask.sum()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return int(mask.sum())


def pytorch(model, optimizer, batches, updates):
    start, processor, tokens = time.perf_counter(), time.process_time(), 0
    for i in range(updates):
        tokens += update(model, optimizer, batches[i % len(batches)])
    seconds = time.perf_counter() - start
    return tokens / seconds, tokens / (time.process_time() - processor)


def ours(updates, threads):
    command = ["cargo", "bench", "--quiet", "--bench", "replay", "--", str(updates), str(threads)]
    out = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    result = json.loads(out.strip().splitlines()[-1])
    share = result["update_seconds"] / result["processor_seconds"]
    return result["tokens_per_second"], result["tokens_per_second"] * share


def main():
    if sys.argv[1:3] == ["--device", "cuda"]:
        import replay_gpu

        del sys.argv[1:3]
        return replay_gpu.main()
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    updates = int(sys.argv[2]) if len(sys.argv) > 2 else 64
    threads = int(sys.argv[3]) if len(sys.argv) > 3 else 2
    torch.set_num_threads(threads)
    model = AutoModelForCausalLM.from_pretrained(ROOT / "notebooks-data/model", dtype=torch.float32)
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6, weight_decay=0.0)
    batches = read()
    pytorch(model, optimizer, batches, 2)
    print(f"torch {torch.__version__}, {threads} threads, {updates} updates a round; response tokens/s")
    print("| round | PyTorch | this program | ratio | ratio per processor second |")
    print("|---|---|---|---|---|")
    ratios = []
    for index in range(rounds):
        theirs, mine = pytorch(model, optimizer, batches, updates), ours(updates, threads)
        ratios.append((mine[0] / theirs[0], mine[1] / theirs[1]))
        print(
            f"| {index + 1} | {theirs[0]:,.0f} | {mine[0]:,.0f} | {ratios[-1][0]:.2f} | {ratios[-1][1]:.2f} |",
            flush=True,
        )
    clock, processor = (statistics.median(column) for column in zip(*ratios))
    print(f"median ratio {clock:.2f} (per processor second {processor:.2f})")


if __name__ == "__main__":
    main()
