#!/usr/bin/env python3
"""A real GRPO training on a CPU, its token log, and what stapo-analyze says about it.

    python trl_demo.py --stapo-analyze ../../target/release/stapo-analyze

The policy is the sample checkpoint (a Qwen3 of 1.6 M parameters that adds numbers step by step), the
reward is 1 for the right sum and 0 otherwise. Needs trl, torch, pyarrow; nothing is downloaded.
Run with TRL 1.16.0, transformers 5.22.2, torch 2.15.0, accelerate 1.15.0, Python 3.11.
"""

import argparse
import random
import shutil
import subprocess
import sys
from pathlib import Path

import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer
from trl_logger import TokenLogMixin

MODEL = Path(__file__).resolve().parents[2] / "notebooks-data/model"


class Trainer(TokenLogMixin, GRPOTrainer):
    """GRPO that leaves a token log."""


def problems(count, seed):
    """Sums of three or four numbers, a token a digit: `<bos> 8 6 9 + 6 0 6 + 1 9 6 = ?`"""
    rng = random.Random(seed)
    for _ in range(count):
        numbers = [rng.randint(100, 999) for _ in range(rng.choice([3, 3, 4]))]
        prompt = " + ".join(" ".join(str(n)) for n in numbers)
        yield {"prompt": f"<bos> {prompt} = ?", "answer": str(sum(numbers))}


def exact_answer(completions, answer, **_):
    """1 where the text ends with `the answer is` and the right digits."""
    said = [text.rpartition("answer is")[2].replace(" ", "") for text in completions]
    return [float(s == a) for s, a in zip(said, answer)]


def tokenizer():
    return PreTrainedTokenizerFast(
        tokenizer_file=str(MODEL / "tokenizer.json"), bos_token="<bos>", eos_token="<eos>", pad_token="<pad>",
        padding_side="left", clean_up_tokenization_spaces=False,
    )  # fmt: skip


def train(folder, steps, seed=0, model=MODEL, token_log=None, **settings):
    """Trains and logs under `folder`; the trainer is returned."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # the matrices are tiny: more threads only wait for each other
    arguments = {
        "output_dir": str(folder / "trainer"), "max_steps": steps, "per_device_train_batch_size": 64,
        "num_generations": 8, "max_completion_length": 200, "temperature": 1.0, "learning_rate": 1.5e-4,
        "lr_scheduler_type": "constant", "loss_type": "dapo", "epsilon_high": 0.28, "beta": 0.0, "seed": seed,
        "logging_steps": 1, "save_strategy": "no", "report_to": "none", "use_cpu": True, "bf16": False,
    } | settings  # fmt: skip
    trainer = Trainer(
        model=AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32),
        processing_class=tokenizer(), reward_funcs=exact_answer, args=GRPOConfig(**arguments),
        train_dataset=Dataset.from_list(list(problems(2000, seed))),
        token_log={"folder": folder / "token_log"} | (token_log or {}),
    )  # fmt: skip
    trainer.train()
    return trainer


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("trl_demo_out"), help="where everything is written")
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--every", type=int, default=1, help="log the steps that this divides")
    parser.add_argument("--responses", type=int, help="log about that many responses a step")
    parser.add_argument("--stapo-analyze", default=shutil.which("stapo-analyze"), help="the program [PATH]")
    arguments = parser.parse_args()
    if not arguments.stapo_analyze:
        sys.exit("error: stapo-analyze is not on the PATH; say where it is with --stapo-analyze")
    log = arguments.folder / "token_log"
    if log.exists():
        sys.exit(f"error: {log} is there already; remove it or choose another --folder")
    sampling = {"every": arguments.every, "responses": arguments.responses}
    train(arguments.folder, arguments.steps, token_log=sampling)
    report = [str(log), "--tokenizer", str(MODEL / "tokenizer.json"), "--report", str(arguments.folder / "report")]
    for command in (["check", str(log)], report):
        print("\n$ stapo-analyze", *command, flush=True)
        subprocess.run([arguments.stapo_analyze, *command, "-q"], check=True)


if __name__ == "__main__":
    main()
