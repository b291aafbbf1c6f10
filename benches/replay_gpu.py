"""Whole training updates of a Qwen3 shape on a GPU: this program beside PyTorch, in one run.

    cargo build --release --features cuda
    python benches/replay_gpu.py --program target/release/stapo-analyze [--shapes 0.6B,1.7B] [--lengths 1024,4096]
                                 [--dtypes bf16,float32] [--tokens 8192] [--updates 6] [--arguments=--gradient-checkpointing]
                                 [--lora 16]

Makes a checkpoint with random weights (transformers) and a log of responses of one length, then measures whole
updates (forward, statistics, backward, global clip, AdamW) of `tokens` tokens each. PyTorch runs eagerly, as
trainers do: SDPA attention, fused AdamW, autocast for bf16; float32 of this program stands beside PyTorch with
TensorFloat-32 and with float32 products. The first two updates of each are warm-up (kernels are compiled then); of
the rest the median counts. With --lora both train an adapter of that rank: PyTorch by PEFT, where it is installed, on a
model in bfloat16 (float32 for float32). Tokens are response tokens of both. Memory is the most that PyTorch's allocator had given
out, and the most that nvidia-smi said of this program beyond what was taken before. The losses of the last update
are printed beside each other. Needs torch, transformers, pyarrow and a CUDA device; prints one row a case.
"""

import argparse
import gc
import json
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy
import pyarrow
import pyarrow.parquet
import torch
from transformers import AutoModelForCausalLM, Qwen3Config, Qwen3ForCausalLM

SHAPES = {
    "0.6B": dict(hidden_size=1024, intermediate_size=3072, num_hidden_layers=28, num_attention_heads=16),
    "1.7B": dict(hidden_size=2048, intermediate_size=6144, num_hidden_layers=28, num_attention_heads=16),
    "4B": dict(hidden_size=2560, intermediate_size=9728, num_hidden_layers=36, num_attention_heads=32),
    "8B": dict(
        hidden_size=4096, intermediate_size=12288, num_hidden_layers=36, num_attention_heads=32,
        tie_word_embeddings=False,
    ),
}
VOCABULARY, PROMPT, WARM_UP = 151_936, 16, 2
BESIDE = {"bf16": ["bf16"], "float32": ["TF32", "float32"]}


def checkpoint(shape, folder):
    common = dict(
        vocab_size=VOCABULARY, num_key_value_heads=8, head_dim=128, tie_word_embeddings=True,
        rope_theta=1_000_000.0, max_position_embeddings=40_960, dtype=torch.bfloat16,
    )
    torch.manual_seed(0)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"):
        model = Qwen3ForCausalLM(Qwen3Config(**common | SHAPES[shape]))
    torch.set_default_dtype(torch.float32)
    model.save_pretrained(folder, max_shard_size="1GB")
    del model
    torch.cuda.empty_cache()


def rows(length, tokens, updates):
    random = numpy.random.default_rng(0)
    count = max(1, tokens // length) * updates
    ids = random.integers(0, VOCABULARY, (count, length), dtype=numpy.int32)
    return [
        dict(
            step=0, group_id=i // 4, sample_id=i % 4, reward=float(i % 2), advantage=float(1 - 2 * (i % 2)),
            prompt_ids=ids[i, :PROMPT], token_ids=ids[i, PROMPT:],
            logprob=numpy.full(length - PROMPT, -numpy.log(VOCABULARY), dtype=numpy.float32),
        )
        for i in range(count)
    ]


def write_log(rows, path):
    lists = {"prompt_ids": pyarrow.int32(), "token_ids": pyarrow.int32(), "logprob": pyarrow.float32()}
    columns = {
        name: pyarrow.array([row[name] for row in rows], pyarrow.list_(lists[name]) if name in lists else None)
        for name in rows[0]
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), path)


def pytorch(folder, rows, batch, dtype, lora=None):
    try:
        return updates_of_pytorch(folder, rows, batch, dtype, lora)
    except torch.OutOfMemoryError:
        return None, torch.cuda.max_memory_allocated(), float("nan")
    finally:
        gc.collect()
        torch.cuda.empty_cache()


def trained_by_pytorch(folder, dtype, lora):
    kept = torch.bfloat16 if lora and dtype == "bf16" else torch.float32
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=kept, device_map="cuda")
    if lora:
        from peft import LoraConfig, get_peft_model

        layers = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
        model = get_peft_model(model, LoraConfig(r=lora, lora_alpha=2 * lora, target_modules=layers))
    return model


def updates_of_pytorch(folder, rows, batch, dtype, lora):
    torch.cuda.reset_peak_memory_stats()
    torch.backends.cuda.matmul.allow_tf32 = dtype == "TF32"
    model = trained_by_pytorch(folder, dtype, lora)
    model.train()
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-6, weight_decay=0.0, fused=True)
    times = []
    for first in range(0, len(rows), batch):
        part = rows[first : first + batch]
        ids = torch.tensor(
            numpy.stack([numpy.concatenate([r["prompt_ids"], r["token_ids"]]) for r in part]), device="cuda"
        ).long()
        old = torch.tensor(numpy.stack([r["logprob"] for r in part]), device="cuda")
        advantage = torch.tensor([[r["advantage"]] for r in part], device="cuda")
        torch.cuda.synchronize()
        begun = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16, enabled=dtype == "bf16"):
            logits = model(ids, use_cache=False).logits[:, PROMPT - 1 : -1]
        chosen = torch.log_softmax(logits.float(), -1).gather(-1, ids[:, PROMPT:, None])[..., 0]
        ratio = (chosen - old).exp()
        loss = -torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.28) * advantage).mean()
        del logits
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        loss.item()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begun)
    tokens = batch * (len(rows[0]["token_ids"]))
    return tokens / statistics.median(times[WARM_UP:]), torch.cuda.max_memory_allocated(), float(loss)


def used_memory():
    query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    return int(subprocess.run(query, capture_output=True, text=True).stdout.split()[0]) << 20


def ours(program, folder, log, batch, dtype, arguments):
    out = Path(tempfile.mkdtemp())
    command = [
        program, "replay", log, "--model", folder, "--device", "cuda:0", "--objective", "dapo", "--holdout", "0",
        "--no-shuffle", "--minibatch", str(batch), "--lr", "1e-6", "--old", "log", "--report", str(out),
    ]
    command += (["--bf16"] if dtype == "bf16" else []) + arguments.arguments.split()
    command += ["--lora", str(arguments.lora)] if arguments.lora else []
    before, peak = used_memory(), 0
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    begun = time.perf_counter()
    while process.poll() is None and time.perf_counter() - begun < arguments.limit:
        peak = max(peak, used_memory() - before)
        time.sleep(0.5)
    process.kill()
    said = process.communicate()[0]
    timing = out / "timing.json"
    if not timing.exists():
        return None, peak, said[-1500:]
    updates = json.loads(timing.read_text())["arms"][0]["updates"]
    speeds = [u["tokens_per_second"] for u in updates]
    loss = json.loads((out / "replay.json").read_text())["arms"][0]["updates"][-1]["loss"]
    shutil.rmtree(out, ignore_errors=True)
    plan = next((line for line in said.splitlines() if "AdamW" in line), "")
    return statistics.median(speeds[WARM_UP:]), peak, f"{plan}; loss {loss:.6f}, updates {[round(s) for s in speeds]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", type=Path, required=True)
    for name, default in [("shapes", "0.6B"), ("lengths", "1024"), ("dtypes", "bf16")]:
        parser.add_argument(f"--{name}", default=default)
    parser.add_argument("--tokens", type=int, default=8192)
    parser.add_argument("--updates", type=int, default=6)
    parser.add_argument("--limit", type=float, default=300, help="seconds for one case of this program")
    parser.add_argument("--arguments", default="", help="more arguments of this program")
    parser.add_argument("--lora", type=int, help="train an adapter of this rank")
    parser.add_argument("--skip-pytorch", action="store_true")
    arguments = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}; response tokens/s, peak memory")
    print("| shape | batch | products | PyTorch | this program | ratio | PyTorch's memory | ours |\n|---|---|---|---|---|---|---|---|")
    work = Path(tempfile.mkdtemp())
    for shape in arguments.shapes.split(","):
        folder = work / shape
        checkpoint(shape, folder)
        for length in map(int, arguments.lengths.split(",")):
            batch = max(1, arguments.tokens // length)
            data = rows(length, arguments.tokens, arguments.updates)
            log = work / "log.parquet"
            write_log(data, log)
            for dtype in arguments.dtypes.split(","):
                mine, peak, said = ours(arguments.program, folder, log, batch, dtype, arguments)
                print(f"<!-- {said} -->", flush=True)
                for beside in BESIDE[dtype]:
                    theirs, their_peak, their_loss = (
                        (0, 0, 0) if arguments.skip_pytorch else pytorch(folder, data, batch, beside, arguments.lora)
                    )
                    ratio = f"{mine / theirs:.2f}" if mine and theirs else "-"
                    print(
                        f"| {shape} | {batch} × {length} | {dtype}, PyTorch {beside} | {theirs or 0:,.0f} | {mine or 0:,.0f} "
                        f"| {ratio} | {their_peak / 1e9:.1f} GB | {peak / 1e9:.1f} GB |",
                        flush=True,
                    )
                    print(f"<!-- PyTorch's last loss {their_loss:.6f} -->", flush=True)
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
