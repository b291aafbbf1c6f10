#!/usr/bin/env python3
"""Trains small policies with one thing made wrong on purpose, sixteen at once, and saves what a trainer would log.

    python3 benches/ward/train.py FOLDER [BATCH …]     # then to_parquet.py FOLDER, then verdicts.py FOLDER

Needs PyTorch, safetensors and a GPU with 40 GB (an H200 takes 1.5 to 2.5 minutes for sixteen runs of 30 steps). runs.json
lists batches of runs, each with a name, a seed and what differs from DEFAULTS (settings.py); it has those of
docs/diagnosis.md. The policy is notebooks-data/model; the task is additions in two turns (task.py).
"""
import json
import pathlib
import sys

import numpy as np
import torch

from batch import Batch
from sampler import Sampler
from settings import DEFAULTS, MODEL, ROWS
from task import Task, advantages
from trainer import Trainer


def is_logged(run, step):
    regular = step % run["log_every"] == 0 or step == run["steps"] - 1
    return run["log_from"] <= step < run["steps"] and regular


def rows_of(i, run, step, batch, trained, kept, rewards, advantage, values, update, lag):
    """What is logged of a run's step."""
    for j in np.flatnonzero(kept[i]):
        start, end = batch.prompt[i, j], batch.lengths[i, j]
        response, scored = slice(start, end), slice(start - 1, end - 1)
        lists = {name: value[i, j, scored].astype(np.float32) for name, value in values.items()}
        lists |= dict(prompt_ids=batch.tokens[i, j, :start], token_ids=batch.tokens[i, j, response])
        lists |= dict(mask=trained[i, j, response], turn=batch.turn[i, j, response])
        lists |= dict(logprob_rollout=batch.rollout[i, j, response])
        given = {} if run["critic"] else dict(advantage=advantage[i, j, 0])
        lists |= dict(advantage=advantage[i, j, scored].astype(np.float32)) if run["critic"] else {}
        parts = {f"reward/{name}": value[i, j] for name, value in batch.parts.items() if name in run["weights"]}
        yield lists, parts | given | dict(
            step=step, group_id=step * (ROWS // run["group"]) + j // run["group"], sample_id=j % run["group"],
            update=update[i, j], policy_version=step - lag, reward=rewards[i, j],
            truncated=batch.cut[i, j],
        )  # fmt: skip


def save(folder, run, rows):
    """Lists end to end with their lengths, and one value a response of everything else."""
    lists, scalars = zip(*rows)
    columns = {f"value/{name}": np.array([row[name] for row in scalars]) for name in scalars[0]}
    for name in lists[0]:
        columns[f"list/{name}"] = np.concatenate([row[name] for row in lists])
        columns[f"length/{name}"] = np.array([len(row[name]) for row in lists])
    np.savez_compressed(folder / f"{run['name']}.npz", **columns)


def trained_together(runs, folder):
    task, trainer = Task(MODEL / "tokenizer.json"), Trainer(runs)
    randoms = [np.random.default_rng(run["seed"]) for run in runs]
    logged = [[] for _ in runs]
    for step in range(max(run["steps"] for run in runs)):
        for run in runs:
            run.update(run["late"] if run["switch"] == step else {})
        weights, lags = trainer.samplers_weights(step)
        prompts = [task.prompts(run, random, ROWS) for run, random in zip(runs, randoms)]
        batch = Batch(runs, task, prompts, Sampler(runs, task).sample(weights, prompts))
        rewards = batch.rewards(runs, step, randoms)
        trainer.score(batch)
        paid, kept, mask = rewards - trainer.penalties(), batch.kept(runs, rewards), batch.trained(runs)
        advantage = np.stack([advantages(run, step, paid[i], randoms[i]) for i, run in enumerate(runs)])
        advantage = trainer.of_tokens(batch, rewards, advantage)
        values, update = trainer.train(step, batch, advantage, kept, randoms)
        advantage = advantage.cpu().numpy()
        for i, run in enumerate(runs):
            if is_logged(run, step):
                logged[i] += rows_of(i, run, step, batch, mask, kept, rewards, advantage, values, update, lags[i])
        right = " ".join(f"{value:.2f}" for value in batch.parts["answer"].mean(1))
        print(f"step {step}: right answers {right}", flush=True)
    for run, rows in zip(runs, logged):
        save(folder, run, rows)


def main():
    torch.manual_seed(1)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    batches = json.load(open(pathlib.Path(__file__).with_name("runs.json")))
    for number in [int(word) for word in sys.argv[2:]] or range(len(batches)):
        trained_together([DEFAULTS | run for run in batches[number]], folder)


if __name__ == "__main__":
    main()
