"""Additions in two turns: prompts, what the environment says between the turns, and the parts of the reward."""
import json

import numpy as np


class Task:
    def __init__(self, tokenizer):
        self.ids = json.load(open(tokenizer))["model"]["vocab"]
        self.bos, self.eos, self.zero = self.ids["<bos>"], self.ids["<eos>"], self.ids["0"]
        self.observation = self.of("wait check :")
        self.answer = self.of("answer is")

    def of(self, words):
        return [self.ids[word] for word in words.split()]

    def prompts(self, run, random, rows):
        """As many prompts as groups, each as often as a group has responses, with its sum."""
        drawn = []
        for _ in range(rows // run["group"]):
            kind = run["prompts"]
            many = {"easy": 2, "hard": 3, "hardest": 4}.get(kind, 3 if random.random() < 0.7 else 2)
            largest = lambda: 1000 if kind == "easy" or random.random() < 0.9 else 100
            numbers = [int(random.integers(10, largest())) for _ in range(many)]
            ids = [self.bos]
            for place, number in enumerate(numbers):
                ids += [self.ids["+"]] * (place > 0) + [self.zero + int(digit) for digit in str(number)]
            drawn += [(ids + self.of("= ?"), sum(numbers))] * run["group"]
        return drawn

    def parts(self, ids, expected, used):
        """Whether the last turn's answer is right, whether it has the form of one, and the part of the budget used."""
        answer = self.answered(ids)
        return {"answer": float(answer == expected), "format": float(answer is not None), "length": used}

    def answered(self, ids):
        if not ids or ids[-1] != self.eos:
            return None
        for place in range(len(ids) - 2, 0, -1):
            if ids[place - 1 : place + 1] == self.answer:
                digits = ids[place + 1 : -1]
                plain = digits and len(digits) <= 6 and all(self.zero <= d < self.zero + 10 for d in digits)
                return int("".join(str(d - self.zero) for d in digits)) if plain else None
        return None


def advantages(run, step, rewards, random):
    """Rewards relative to their group or their batch, with what is wrong with them."""
    groups, size = rewards.reshape(-1, run["group"]), run["group"]
    spread, above = groups.std(1, ddof=min(1, size - 1), keepdims=True), groups - groups.mean(1, keepdims=True)
    estimators = {
        "grpo": lambda: above / (spread + 1e-4),
        "dr_grpo": lambda: above,
        "rloo": lambda: above * size / (size - 1),
        "reinforce": lambda: groups - groups.mean(),
        "batch_norm": lambda: (groups - groups.mean()) / (groups.std() + 1e-6),
        "group_then_batch": lambda: above / (above.std() + 1e-6),
    }
    relative = estimators[run["estimator"]]()
    if step < run["from"]:
        return relative.reshape(-1)
    draw = lambda: random.permuted(np.tile(np.arange(run["group"]), (len(groups), 1)), axis=1)
    made = {
        None: lambda: relative,
        "positive_only": lambda: np.maximum(relative, 0),
        "negative_only": lambda: np.minimum(relative, 0),
        "flipped": lambda: relative * np.where(random.random((len(groups), 1)) < run["share"], -1, 1),
        "next_group": lambda: np.roll(relative, 1, 0),
        "shuffled": lambda: np.take_along_axis(relative, draw(), 1),
        "no_baseline": lambda: groups,
        "phantom": lambda: relative + (spread < 1e-9) * (2 * random.random(groups.shape) - 1),
    }
    return made[run["advantage"]]().reshape(-1)
