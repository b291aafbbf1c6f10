#!/usr/bin/env python3
"""Real GRPO trainings with one thing made wrong on purpose, to see whether the report names it.

    python trl_faults.py hot runs/hot && stapo-analyze runs/hot/token_log --report out/

`python trl_faults.py --list` names the faults. A run is 20 generations of 64 responses, two updates each:
a few minutes on one core. All runs log the sampler's own log-probabilities and a reference.
"""

import argparse
import random
from pathlib import Path

import torch
from trl import GRPOTrainer

from stapo_analyze.trl import TokenLogMixin
from sums import exact_answer, trainer, well_formed

# Rewards are kept apart, so that the parts are in the log: answer, format, and what a fault adds.
HONEST = {"answer": 1.0, "format": 0.2}
FAULTS = {
    "healthy": "nothing",
    "hot": "learning rate 3e-3 instead of 1.5e-4",
    "temperature": "the sampler draws at temperature 0.6, the trainer scores at 1",
    "flipped": "the advantages of 35 % of the groups have the wrong sign",
    "noise": "the reward is a coin flip; answers are scored, with weight 0",
    "hacked": "the reward is mostly length: 0.2 · (answer + format) + tokens / 200",
    "positive_only": "negative advantages are set to 0",
    "stale": "the sampler is the policy of six optimizer steps ago",
}


def answer(completions, answer, **_):
    return exact_answer(completions, answer)


def format(completions, **_):
    return well_formed(completions)


def coin(completions, **_):
    return [float(random.random() < 0.5) for _ in completions]


def length(completion_ids, **_):
    return [len(ids) / 200 for ids in completion_ids]


REWARDS = {"noise": HONEST | {"answer": 0.0, "format": 0.0, "coin": 1.0},
           "hacked": {"answer": 0.2, "format": 0.2, "length": 1.0}}  # fmt: skip


class Faulty(TokenLogMixin, GRPOTrainer):
    """GRPO with a fault and a token log."""

    def __init__(self, *args, fault, **kwargs):
        super().__init__(*args, **kwargs)
        self.fault, self.sampler_temperature, self.weights = fault, self.temperature, []
        if fault == "temperature":
            self.sampler_temperature = self.generation_config.temperature = 0.6

    def _generate_single_turn(self, prompt_ids, *args, **kwargs):
        """The completions, and what the sampler itself thought of them."""
        stale = self._swap(6) if self.fault == "stale" else None
        completion_ids, _ = super()._generate_single_turn(prompt_ids, *args, **kwargs)
        logprobs = [self._sampler_logprobs(p, c) for p, c in zip(prompt_ids, completion_ids)]
        if stale is not None:
            self.model.load_state_dict(stale)
        return completion_ids, logprobs

    def _swap(self, ago):
        """Loads the weights of so many optimizer steps ago; the present ones are returned."""
        now = {name: values.clone() for name, values in self.model.state_dict().items()}
        self.weights.append((self.state.global_step, now))
        self.weights = [w for w in self.weights if w[0] >= self.state.global_step - ago]
        self.model.load_state_dict(self.weights[0][1])
        return now

    def _sampler_logprobs(self, prompt, completion):
        ids = torch.tensor([[*prompt, *completion]])
        with torch.no_grad():
            logits = self.model(ids).logits[0, len(prompt) - 1 : -1] / self.sampler_temperature
        return logits.log_softmax(-1).gather(-1, ids[0, len(prompt) :, None])[:, 0].tolist()

    def _generate_and_score_completions(self, inputs):
        out = super()._generate_and_score_completions(inputs)
        advantages = out["advantages"]
        if self.fault == "flipped":
            groups = torch.rand(len(advantages) // self.num_generations) < 0.35
            advantages[groups.repeat_interleave(self.num_generations)] *= -1
        elif self.fault == "positive_only":
            advantages.clamp_(min=0)
        elif self.fault == "stale":
            out["stapo_policy_version"].fill_(self.weights[0][0])
        return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fault", nargs="?", choices=FAULTS, default="healthy")
    parser.add_argument("folder", nargs="?", type=Path, default=Path("run"), help="where the token log is written")
    parser.add_argument("--list", action="store_true", help="name the faults")
    parser.add_argument("--generations", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.list:
        print(*(f"{name:14} {what}" for name, what in FAULTS.items()), sep="\n")
        return
    random.seed(arguments.seed)
    weights = REWARDS.get(arguments.fault, HONEST)
    trainer(
        Faulty, arguments.folder, 2 * arguments.generations, seed=arguments.seed,
        reward_funcs=[globals()[name] for name in weights], reward_weights=list(weights.values()),
        extra={"fault": arguments.fault, "token_log": arguments.folder / "token_log"},
        per_device_train_batch_size=32, steps_per_generation=2, gradient_accumulation_steps=1, beta=1e-3,
        learning_rate=3e-3 if arguments.fault == "hot" else 1.5e-4,
    ).train()  # fmt: skip


if __name__ == "__main__":
    main()
