"""What runs have in common, and what each of them may change."""
import pathlib

import torch

MODEL = pathlib.Path(__file__).resolve().parents[2] / "notebooks-data" / "model"
ROWS, MINIBATCHES, TURN_TOKENS = 256, 4, (128, 80)
DEFAULTS = dict(
    steps=30, log_every=3, log_from=0, group=8, prompts="mixed", perturb=0, lr=1.5e-4, max_grad=1.0, epochs=1, kl=0.0,
    entropy_bonus=0.0, clip_low=0.2, clip_high=0.28, temperature=1.0, top_p=1.0, raw_logprob=False, bits=0, lags=[0],
    ratio_to="old", budget=TURN_TOKENS, weights={"answer": 1.0, "format": 0.2}, noise=0.0, grader_fails=0.0,
    advantage=None, share=0.0, train_observation=False, estimator="grpo", critic=False, objective="clip", kl_reward=0.0,
    drop_dead=False, drop_cut=False, warmup=0, **{"from": 0}, switch=None, late={},
)  # fmt: skip
DEVICE = "cuda"


def column(runs, name):
    return torch.tensor([float(run[name]) for run in runs], device=DEVICE)
